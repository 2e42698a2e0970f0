//! Files for looking: OpenEXR with everything, PNG as presented.

use exr::prelude::{AnyChannel, AnyChannels, Encoding, FlatSamples, Image, Layer, LayerAttributes, WritableImage};

use super::error::CaptureError;
use super::frame::CapturedFrame;
use super::tensor::{DType, Tensor};

/// Names of a tensor's channels in the EXR file: the tensor's picture first, everything else in dotted groups.
fn channels(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "color" | "image" => &["R", "G", "B", "A"],
        "depth" => &["Z"],
        "motion" => &["motion.X", "motion.Y"],
        "proxy" => &["proxy.R", "proxy.G", "proxy.B"],
        "previous-history" => &["history.R", "history.G", "history.B"],
        "next-history" => &["next.R", "next.G", "next.B"],
        "published" => &["nr.R", "nr.G", "nr.B"],
        _ => return None,
    })
}

/// One part of f32 channels: the scene's colour as R, G, B, A, depth as Z, and dotted groups. Lossless (ZIP).
pub(super) fn exr(frame: &CapturedFrame) -> Result<Vec<u8>, CaptureError> {
    let fail = |problem: String| CaptureError::Encode { file: "frame.exr".into(), problem };
    let mut list: Vec<AnyChannel<FlatSamples>> = Vec::new();
    let mut size = (0, 0);
    for tensor in &frame.tensors {
        let Some(names) = channels(&tensor.name) else { continue };
        let [height, width, count] = tensor.shape;
        size = (width, height);
        for (channel, name) in names.iter().enumerate() {
            let values = (0..width * height).map(|i| tensor.value(i * count + channel)).collect();
            list.push(AnyChannel::new(*name, FlatSamples::F32(values)));
        }
    }
    let layer = Layer::new(
        size,
        LayerAttributes { software_name: Some("nrview".into()), ..LayerAttributes::default() },
        Encoding::SMALL_LOSSLESS,
        AnyChannels::sort(list.into_iter().collect()),
    );
    let mut out = std::io::Cursor::new(Vec::new());
    Image::from_layer(layer).write().to_buffered(&mut out).map_err(|error| fail(error.to_string()))?;
    Ok(out.into_inner())
}

/// An RGBA8 tensor as an RGB PNG that says that it is sRGB.
pub(super) fn png(file: &str, tensor: &Tensor) -> Result<Vec<u8>, CaptureError> {
    let fail = |problem: String| CaptureError::Encode { file: file.to_owned(), problem };
    let [height, width, _] = tensor.shape;
    if tensor.dtype != DType::U8 {
        return Err(fail("its pixels are no bytes".into()));
    }
    let rgb: Vec<u8> = tensor.bytes.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header().map_err(|error| fail(error.to_string()))?;
    writer.write_image_data(&rgb).map_err(|error| fail(error.to_string()))?;
    writer.finish().map_err(|error| fail(error.to_string()))?;
    Ok(out)
}
