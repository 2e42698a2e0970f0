//! Reading the pictures that `process`, `capture` and `compare` work on.

use std::fmt::Display;
use std::io::Cursor;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use image::{ImageFormat, ImageReader, Limits};
use network::geometry::{Extent, Geometry, MAX_SIDE};
use renderer::jpeg;

use super::read;

/// Most bytes of a file: more than the largest picture has without any compression.
const MOST_BYTES: u64 = 1 << 30;
/// Most bytes that decoding one may take.
const MOST_DECODED: u64 = 2 << 30;

/// An 8-bit RGB picture, rows from the top.
pub struct Picture {
    /// Size in pixels.
    pub extent: Extent,
    /// Three bytes a pixel.
    pub rgb: Vec<u8>,
}

/// Reads a PNG, JPEG or BMP file of a size that the network accepts.
///
/// # Errors
/// A missing, empty or unreadable file, one that is no picture, or a size without a geometry.
pub fn read(path: &Path) -> Result<Picture> {
    sized(read_any(path)?, &path.display())
}

/// Reads a PNG, JPEG or BMP file of any size up to [`MAX_SIDE`].
///
/// # Errors
/// A missing, empty or unreadable file, or one that is no picture.
pub fn read_any(path: &Path) -> Result<Picture> {
    let name = path.display();
    let bytes = read::bytes(path, MOST_BYTES).with_context(|| format!("cannot read {name}"))?;
    if bytes.is_empty() {
        bail!("{name} is empty (0 bytes); give a PNG, JPEG or BMP picture");
    }
    pixels(&bytes, &name)
}

/// Reads a picture from bytes; `name` is only used in messages.
///
/// # Errors
/// As [`read`].
pub fn decode(bytes: &[u8], name: &dyn Display) -> Result<Picture> {
    sized(pixels(bytes, name)?, name)
}

/// The picture, if the network accepts its size.
fn sized(picture: Picture, name: &dyn Display) -> Result<Picture> {
    Geometry::new(picture.extent).with_context(|| format!("cannot process {name}"))?;
    Ok(picture)
}

fn pixels(bytes: &[u8], name: &dyn Display) -> Result<Picture> {
    let format = image::guess_format(&bytes[..bytes.len().min(16)])
        .ok()
        // The library may know more formats, for environments; what these commands take is what they say.
        .filter(|format| matches!(format, ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Bmp))
        .with_context(|| format!("{name} is not a PNG, JPEG or BMP picture (unknown first bytes)"))?;
    let decoder = || {
        let mut limits = Limits::default();
        limits.max_image_width = Some(MAX_SIDE);
        limits.max_image_height = Some(MAX_SIDE);
        limits.max_alloc = Some(MOST_DECODED);
        let mut decoder = ImageReader::with_format(Cursor::new(bytes), format);
        decoder.limits(limits);
        decoder
    };
    let undecoded = |error| anyhow!(messages::shortened(&error)).context(format!("cannot decode {name}"));
    if format == ImageFormat::Jpeg {
        let (width, height) = decoder().into_dimensions().map_err(undecoded)?;
        jpeg::check(bytes, width, height).map_err(|reason| anyhow!("cannot decode {name}: it {reason}"))?;
    }
    let image = decoder().decode().map_err(undecoded)?;
    if image.color().has_alpha() {
        tracing::warn!("{name}: transparency is ignored");
    }
    let rgb = image.into_rgb8();
    Ok(Picture { extent: Extent::new(rgb.width(), rgb.height()), rgb: rgb.into_raw() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("in.png");
        std::fs::write(&path, bytes).expect("a file");
        read(&path).err().map_or_else(String::new, |error| format!("{error:#}"))
    }

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut out = std::io::Cursor::new(Vec::new());
        image::RgbImage::new(width, height).write_to(&mut out, image::ImageFormat::Png).expect("a PNG");
        out.into_inner()
    }

    /// A JPEG file of one grey, whose header then claims another size.
    fn jpeg(claimed: [u16; 2]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let picture = image::GrayImage::from_pixel(64, 64, image::Luma([99]));
        image::codecs::jpeg::JpegEncoder::new(&mut bytes).encode_image(&picture).expect("a JPEG");
        // The frame header: marker, length, precision, height, width.
        let at = bytes.windows(2).position(|pair| pair == [0xff, 0xc0]).expect("a frame") + 5;
        bytes[at..at + 2].copy_from_slice(&claimed[1].to_be_bytes());
        bytes[at + 2..at + 4].copy_from_slice(&claimed[0].to_be_bytes());
        bytes
    }

    #[test]
    fn a_small_file_is_not_decoded_as_a_huge_picture() {
        assert!(message(&jpeg([64, 64])).is_empty(), "{}", message(&jpeg([64, 64])));
        for claimed in [[16384, 16384], [16000, 9000], [16384, 64]] {
            let text = message(&jpeg(claimed));
            assert!(text.contains("cannot decode") && text.contains("cut off"), "{claimed:?}: {text}");
        }
        // Scan after scan over all of a large picture.
        let mut many = jpeg([16384, 16384]);
        many.resize(1 << 20, 0);
        many.extend([0xff, 0xda].repeat(1000));
        assert!(message(&many).contains("1001 scans"), "{}", message(&many));
    }

    #[test]
    fn bad_pictures_are_refused_with_a_reason() {
        assert!(message(b"").contains("empty (0 bytes)"));
        assert!(message(b"hello, this is text").contains("is not a PNG"));
        let cut = png(64, 64);
        assert!(message(&cut[..cut.len() / 2]).contains("cannot decode"));
        assert!(message(&png(28, 28)).contains("33 or more"), "{}", message(&png(28, 28)));
        assert!(message(&png(64, 20)).is_empty());
        assert!(read(Path::new("/no/such.png")).err().is_some_and(|e| format!("{e:#}").contains("cannot read")));
    }
}
