//! The picture of a virtual display, as Xvfb keeps it in a memory-mapped file in the X window
//! dump format: a header of big-endian words, a colour map, then rows of pixels.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use image::RgbImage;

/// Rectangle in pixels: left, top, width, height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub x: u32,
    /// Top edge.
    pub y: u32,
    /// Width, at least one.
    pub width: u32,
    /// Height, at least one.
    pub height: u32,
}

impl Rect {
    /// A rectangle from its left, top, width and height.
    pub fn new(x: u32, y: u32, width: u32, height: u32) -> Self {
        Self { x, y, width, height }
    }
}

/// Reads the screen that Xvfb maps to `file`.
///
/// # Errors
/// When the file cannot be read or is not a 32-bit dump of 24-bit colour.
pub fn read(file: &Path) -> io::Result<RgbImage> {
    let bytes = fs::read(file)?;
    decode(&bytes).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, format!("{} is no 24-bit window dump", file.display()))
    })
}

/// Reads one pixel of the screen that Xvfb maps to `file`.
///
/// # Errors
/// When the file cannot be read or is no 32-bit dump that reaches so far.
pub fn pixel(file: &Path, x: u32, y: u32) -> io::Result<[u8; 3]> {
    let mut file = fs::File::open(file)?;
    let mut words = [0; 100];
    file.read_exact(&mut words)?;
    let word = |index: usize| u32::from_be_bytes([0, 1, 2, 3].map(|byte| words[index * 4 + byte]));
    let (header, width, height, stride, colors) = (word(0), word(4), word(5), word(12), word(19));
    if word(11) != 32 || x >= width || y >= height {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("no pixel {x}, {y} in the dump")));
    }
    let at = u64::from(header) + 12 * u64::from(colors) + u64::from(y) * u64::from(stride) + 4 * u64::from(x);
    file.seek(SeekFrom::Start(at))?;
    let mut raw = [0; 4];
    file.read_exact(&mut raw)?;
    let [_, r, g, b] = if word(7) == 0 { u32::from_le_bytes(raw) } else { u32::from_be_bytes(raw) }.to_be_bytes();
    Ok([r, g, b])
}

fn decode(bytes: &[u8]) -> Option<RgbImage> {
    let word = |index: usize| -> Option<u32> {
        let word = bytes.get(index * 4..index * 4 + 4)?;
        Some(u32::from_be_bytes(word.try_into().ok()?))
    };
    let (header, width, height) = (word(0)? as usize, word(4)?, word(5)?);
    let (byte_order, bits, stride) = (word(7)?, word(11)?, word(12)? as usize);
    let colors = word(19)? as usize;
    if bits != 32 {
        return None;
    }
    let data = bytes.get(header + colors * 12..)?;
    let mut picture = RgbImage::new(width, height);
    for (x, y, pixel) in picture.enumerate_pixels_mut() {
        let at = y as usize * stride + x as usize * 4;
        let raw: [u8; 4] = data.get(at..at + 4)?.try_into().ok()?;
        // 0 is least significant byte first.
        let value = match byte_order {
            0 => u32::from_le_bytes(raw),
            _ => u32::from_be_bytes(raw),
        };
        let [_, r, g, b] = value.to_be_bytes();
        pixel.0 = [r, g, b];
    }
    Some(picture)
}

/// Mean absolute difference per channel of `area` in two pictures, 0 to 255.
///
/// # Panics
/// When `area` reaches outside a picture.
pub fn difference(a: &RgbImage, b: &RgbImage, area: Rect) -> f64 {
    let mut sum = 0u64;
    for y in area.y..area.y + area.height {
        for x in area.x..area.x + area.width {
            let (p, q) = (a.get_pixel(x, y).0, b.get_pixel(x, y).0);
            sum += p.iter().zip(q).map(|(&p, q)| u64::from(p.abs_diff(q))).sum::<u64>();
        }
    }
    sum as f64 / (f64::from(area.width) * f64::from(area.height) * 3.0)
}

/// Standard deviation of the brightness inside `area`: about 0 for a flat colour.
///
/// # Panics
/// When `area` reaches outside the picture.
pub fn contrast(picture: &RgbImage, area: Rect) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    for y in area.y..area.y + area.height {
        for x in area.x..area.x + area.width {
            let [r, g, b] = picture.get_pixel(x, y).0.map(f64::from);
            let value = (r + g + b) / 3.0;
            sum += value;
            squares += value * value;
        }
    }
    let count = f64::from(area.width) * f64::from(area.height);
    (squares / count - (sum / count).powi(2)).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(width: u32, height: u32, bits: u32) -> Vec<u8> {
        let mut words = [0u32; 25];
        words[0] = 100;
        words[4] = width;
        words[5] = height;
        words[11] = bits;
        words[12] = width * 4;
        words[19] = 1;
        let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
        bytes.extend([0; 12]);
        for i in 0..width * height {
            bytes.extend((0x0001_0203 * i).to_le_bytes());
        }
        bytes
    }

    #[test]
    fn dumps_are_decoded() {
        let picture = decode(&dump(3, 2, 32)).expect("a good dump");
        assert_eq!(picture.dimensions(), (3, 2));
        assert_eq!(picture.get_pixel(1, 1).0, [4, 8, 12]);
        assert!(decode(&dump(3, 2, 16)).is_none());
        assert!(decode(&dump(3, 2, 32)[..120]).is_none());
        assert!(decode(&[]).is_none());
    }

    #[test]
    fn a_pixel_is_that_of_the_whole_picture() -> io::Result<()> {
        let file = tempfile::NamedTempFile::new()?;
        fs::write(file.path(), dump(3, 2, 32))?;
        let picture = read(file.path())?;
        for (x, y, one) in picture.enumerate_pixels() {
            assert_eq!(pixel(file.path(), x, y)?, one.0);
        }
        assert!(pixel(file.path(), 3, 0).is_err() && pixel(file.path(), 0, 2).is_err());
        fs::write(file.path(), dump(3, 2, 16))?;
        assert!(pixel(file.path(), 0, 0).is_err());
        Ok(())
    }

    #[test]
    fn measures() {
        let black = RgbImage::new(4, 4);
        let mut half = black.clone();
        for y in 0..4 {
            half.put_pixel(0, y, image::Rgb([200, 200, 200]));
            half.put_pixel(1, y, image::Rgb([200, 200, 200]));
        }
        let all = Rect::new(0, 0, 4, 4);
        assert_eq!(difference(&black, &half, all), 100.0);
        assert_eq!(difference(&black, &half, Rect::new(2, 0, 2, 4)), 0.0);
        assert_eq!(contrast(&black, all), 0.0);
        assert_eq!(contrast(&half, all), 100.0);
    }
}
