//! The picture of a virtual display, as Xvfb keeps it in a memory-mapped file in the X window
//! dump format: a header of big-endian words, a colour map, then rows of pixels.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt as _;
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

/// Looks at single pixels of the screen that Xvfb maps to a file, which stays open: microseconds a look.
#[derive(Debug)]
pub struct Eye {
    file: fs::File,
    size: [u32; 2],
    /// Where the pixels begin, and bytes of a row of them.
    start: u64,
    stride: u32,
    big_endian: bool,
}

impl Eye {
    /// Opens the dump.
    ///
    /// # Errors
    /// When the file cannot be read or is no 32-bit dump.
    pub fn open(file: &Path) -> io::Result<Self> {
        let file = fs::File::open(file)?;
        let mut words = [0; 100];
        file.read_exact_at(&mut words, 0)?;
        let word = |index: usize| u32::from_be_bytes([0, 1, 2, 3].map(|byte| words[index * 4 + byte]));
        if word(11) != 32 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no 32-bit window dump"));
        }
        Ok(Self {
            file,
            size: [word(4), word(5)],
            start: u64::from(word(0)) + 12 * u64::from(word(19)),
            stride: word(12),
            big_endian: word(7) != 0,
        })
    }

    /// The pixel in column `x` of row `y`, as it is now.
    ///
    /// # Errors
    /// When the file cannot be read or does not reach so far.
    pub fn pixel(&self, x: u32, y: u32) -> io::Result<[u8; 3]> {
        if x >= self.size[0] || y >= self.size[1] {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("no pixel {x}, {y} in the dump")));
        }
        let mut raw = [0; 4];
        self.file.read_exact_at(&mut raw, self.start + u64::from(y) * u64::from(self.stride) + 4 * u64::from(x))?;
        let word = if self.big_endian { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) };
        let [_, r, g, b] = word.to_be_bytes();
        Ok([r, g, b])
    }
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
        let (picture, eye) = (read(file.path())?, Eye::open(file.path())?);
        for (x, y, one) in picture.enumerate_pixels() {
            assert_eq!(eye.pixel(x, y)?, one.0);
        }
        assert!(eye.pixel(3, 0).is_err() && eye.pixel(0, 2).is_err());
        fs::write(file.path(), dump(3, 2, 16))?;
        assert!(Eye::open(file.path()).is_err());
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
