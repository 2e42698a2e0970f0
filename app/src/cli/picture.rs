//! Reading the picture that `process` works on.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use image::{ImageFormat, ImageReader, Limits};
use network::geometry::{Extent, Geometry, MAX_SIDE};

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
    let name = path.display();
    // Looked at before it is opened: opening a pipe waits for its other end.
    let length = std::fs::metadata(path).with_context(|| format!("cannot read {name}"))?;
    if !length.is_file() {
        bail!("cannot read {name}: it is not a file");
    }
    if length.len() == 0 {
        bail!("{name} is empty (0 bytes); give a PNG, JPEG or BMP picture");
    }
    let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
    decode(BufReader::new(file), &name)
}

/// Reads a picture from bytes; `name` is only used in messages.
///
/// # Errors
/// As [`read`].
pub fn decode(mut reader: impl BufRead + Seek, name: &dyn std::fmt::Display) -> Result<Picture> {
    let mut head = [0; 16];
    let got = reader.read(&mut head).with_context(|| format!("cannot read {name}"))?;
    let format = image::guess_format(&head[..got])
        .ok()
        // The library may know more formats, for environments; what this command takes is what it says.
        .filter(|format| matches!(format, ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Bmp))
        .with_context(|| format!("{name} is not a PNG, JPEG or BMP picture (unknown first bytes)"))?;
    reader.seek(SeekFrom::Start(0)).with_context(|| format!("cannot read {name}"))?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(2 << 30);
    let mut decoder = ImageReader::with_format(reader, format);
    decoder.limits(limits);
    let decoded = decoder.decode().map_err(|error| anyhow!(messages::shortened(&error)));
    let image = decoded.with_context(|| format!("cannot decode {name}"))?;
    if image.color().has_alpha() {
        tracing::warn!("{name}: transparency is ignored");
    }
    let rgb = image.into_rgb8();
    let extent = Extent::new(rgb.width(), rgb.height());
    Geometry::new(extent).with_context(|| format!("cannot process {name}"))?;
    Ok(Picture { extent, rgb: rgb.into_raw() })
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
