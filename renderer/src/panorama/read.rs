//! The pixels of a file.

use super::error::{Error, Result};
use exr::prelude::{ReadChannels as _, ReadLayers as _};
use image::{DynamicImage, ImageDecoder as _, codecs::hdr::HdrDecoder};
use std::fs::File;
use std::io::{Cursor, Read as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Most bytes of a file, and most pixels.
const FILE_LIMIT: u64 = 1 << 30;
const PIXEL_LIMIT: u64 = 64 << 20;
/// Fewest bytes that a row takes in either format.
const ROW_BYTES: u64 = 4;

/// All bytes of a file of acceptable size.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    // Looked at before it is opened: opening a pipe waits for its other end.
    let data = std::fs::metadata(path).map_err(failed)?;
    if !data.is_file() {
        return Err(failed(std::io::Error::other("it is not a regular file")));
    }
    let file = File::open(path).map_err(failed)?;
    if data.len() > FILE_LIMIT {
        return Err(Error::TooLarge { path: path.to_owned(), what: "bytes", count: data.len(), limit: FILE_LIMIT });
    }
    let mut bytes = Vec::new();
    file.take(FILE_LIMIT).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

type Pixels = (u32, u32, Vec<[f32; 3]>);

/// Width, height and linear RGB, rows from the top.
pub(super) fn pixels(path: &Path, bytes: &[u8]) -> Result<Pixels> {
    let broken = |reason: String| Error::Broken { path: path.to_owned(), reason: messages::shortened(&reason) };
    // The decoders are not ours: a panic of theirs is a broken file.
    let guarded = |f: &dyn Fn() -> Result<Pixels>| {
        catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| Err(broken("it cannot be decoded".to_owned())))
    };
    if bytes.starts_with(b"#?") {
        guarded(&|| hdr(path, bytes, &broken))
    } else if bytes.starts_with(&[0x76, 0x2f, 0x31, 0x01]) {
        guarded(&|| exr(path, bytes, &broken))
    } else {
        Err(Error::Format { path: path.to_owned() })
    }
}

/// Refuses sizes beyond the limit, and more rows than the bytes can hold.
fn check(path: &Path, bytes: &[u8], width: u64, height: u64, broken: &dyn Fn(String) -> Error) -> Result<()> {
    let count = width.saturating_mul(height);
    if count > PIXEL_LIMIT {
        return Err(Error::TooLarge { path: path.to_owned(), what: "pixels", count, limit: PIXEL_LIMIT });
    }
    if count == 0 || (bytes.len() as u64) < ROW_BYTES * height {
        return Err(broken(format!("{} bytes cannot hold {width}x{height} pixels", bytes.len())));
    }
    Ok(())
}

fn hdr(path: &Path, bytes: &[u8], broken: &dyn Fn(String) -> Error) -> Result<Pixels> {
    let decoder = HdrDecoder::new(Cursor::new(bytes)).map_err(|e| broken(e.to_string()))?;
    let (width, height) = decoder.dimensions();
    check(path, bytes, width.into(), height.into(), broken)?;
    let DynamicImage::ImageRgb32F(picture) = DynamicImage::from_decoder(decoder).map_err(|e| broken(e.to_string()))?
    else {
        return Err(broken("it holds no RGB".to_owned()));
    };
    Ok((width, height, picture.into_raw().as_chunks::<3>().0.to_vec()))
}

fn exr(path: &Path, bytes: &[u8], broken: &dyn Fn(String) -> Error) -> Result<Pixels> {
    // The header first: a small file may name a huge picture.
    let meta = exr::meta::MetaData::read_from_buffered(Cursor::new(bytes), false).map_err(|e| broken(e.to_string()))?;
    for header in &meta.headers {
        check(path, bytes, header.layer_size.0 as u64, header.layer_size.1 as u64, broken)?;
    }
    let image = exr::prelude::read()
        .no_deep_data()
        .largest_resolution_level()
        .rgb_channels(
            |size, _| (size.0, vec![[0.0_f32; 3]; size.0 * size.1]),
            |(width, pixels): &mut (usize, Vec<[f32; 3]>), at, (r, g, b): (f32, f32, f32)| {
                pixels[at.1 * *width + at.0] = [r, g, b];
            },
        )
        .first_valid_layer()
        .all_attributes()
        .from_buffered(Cursor::new(bytes))
        .map_err(|e| broken(e.to_string()))?;
    let size = image.layer_data.size;
    Ok((size.0 as u32, size.1 as u32, image.layer_data.channel_data.pixels.1))
}
