//! Equirectangular pictures of what surrounds a scene, from Radiance (.hdr) and OpenEXR files.
//!
//! Files are not trusted: sizes are read from the header and limited before anything is decoded.

mod bright;
mod error;
mod read;

pub use bright::{BRIGHT_SIZE, Bright, IRRADIANCE_SIZE};
pub use error::{Error, Result};

use std::path::Path;

/// Widest picture that is kept; wider ones are halved.
pub const WIDTH_LIMIT: u32 = 4096;
/// Largest radiance that is kept; what is brighter is cut to it.
pub const RADIANCE_LIMIT: f32 = 60_000.0;

/// A picture of all directions: x is the angle about +y, y the one from +y down.
#[derive(Clone, Debug, PartialEq)]
pub struct Panorama {
    /// Name, for people.
    pub name: String,
    width: u32,
    height: u32,
    pixels: Vec<[f32; 3]>,
    bright: Bright,
}

impl Panorama {
    /// Reads a `.hdr` or `.exr` file.
    ///
    /// # Errors
    /// One sentence about what is wrong with the file.
    pub fn load(path: &Path) -> Result<Self> {
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Self::from_bytes(&name, path, &read::bytes(path)?)
    }

    /// Reads the bytes of a file; `path` is only used in messages.
    ///
    /// # Errors
    /// One sentence about what is wrong with the file.
    pub fn from_bytes(name: &str, path: &Path, bytes: &[u8]) -> Result<Self> {
        let (width, height, pixels) = read::pixels(path, bytes)?;
        Self::new(name, width, height, pixels).map_err(|reason| Error::Unsuitable { path: path.to_owned(), reason })
    }

    /// A panorama of linear RGB radiance, rows from the top. Wide ones are halved until
    /// [`WIDTH_LIMIT`]; negative values become 0, values above [`RADIANCE_LIMIT`] are cut.
    ///
    /// # Errors
    /// What is wrong: it isn't about twice as wide as high, or holds something that is no number.
    pub fn new(name: &str, width: u32, height: u32, pixels: Vec<[f32; 3]>) -> std::result::Result<Self, String> {
        if pixels.len() as u64 != u64::from(width) * u64::from(height) {
            return Err(format!("it has {} values for {width}x{height} pixels", pixels.len()));
        }
        if height == 0 || !(1.9..=2.1).contains(&(f64::from(width) / f64::from(height))) {
            return Err(format!(
                "an equirectangular picture is twice as wide as high, and this one has {width}x{height}"
            ));
        }
        let mut pixels = pixels;
        for (i, value) in pixels.as_flattened_mut().iter_mut().enumerate() {
            if value.is_nan() {
                let pixel = i / 3;
                let (x, y) = (pixel % width as usize, pixel / width as usize);
                return Err(format!("pixel {x}, {y} is not a number"));
            }
            *value = value.clamp(0.0, RADIANCE_LIMIT);
        }
        let (mut width, mut height) = (width, height);
        while width > WIDTH_LIMIT {
            (width, height, pixels) = halved(width, height, &pixels);
        }
        let bright = Bright::of(width, height, &pixels);
        Ok(Self { name: name.to_owned(), width, height, pixels, bright })
    }

    /// Width and height in pixels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        [self.width, self.height]
    }

    /// Radiance, rows from the top.
    #[must_use]
    pub fn pixels(&self) -> &[[f32; 3]] {
        &self.pixels
    }

    /// What of it is so much brighter than the rest that it throws shadows.
    #[must_use]
    pub fn bright(&self) -> &Bright {
        &self.bright
    }
}

/// Every pixel the mean of four.
fn halved(width: u32, height: u32, pixels: &[[f32; 3]]) -> (u32, u32, Vec<[f32; 3]>) {
    let (w, h) = ((width / 2).max(1), (height / 2).max(1));
    let at = |x: u32, y: u32| pixels[(y.min(height - 1) * width + x.min(width - 1)) as usize];
    let mut out = Vec::with_capacity(w as usize * h as usize);
    for y in 0..h {
        for x in 0..w {
            let four = [at(2 * x, 2 * y), at(2 * x + 1, 2 * y), at(2 * x, 2 * y + 1), at(2 * x + 1, 2 * y + 1)];
            out.push(std::array::from_fn(|c| four.iter().map(|p| p[c]).sum::<f32>() * 0.25));
        }
    }
    (w, h, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_that_are_no_panoramas_are_refused() {
        let grey = |w: u32, h: u32| Panorama::new("p", w, h, vec![[0.5; 3]; (w * h) as usize]);
        assert!(grey(8, 4).is_ok());
        assert!(grey(8, 8).unwrap_err().contains("twice as wide"));
        assert!(grey(0, 0).unwrap_err().contains("twice as wide"));
        let mut pixels = vec![[0.5; 3]; 32];
        pixels[9][1] = f32::NAN;
        assert!(Panorama::new("p", 8, 4, pixels).unwrap_err().contains("pixel 1, 1"));
        assert!(Panorama::new("p", 8, 4, Vec::new()).unwrap_err().contains("values"));
    }

    #[test]
    fn extremes_are_cut_and_wide_ones_halved() {
        let mut pixels = vec![[1.0; 3]; 32];
        pixels[0] = [f32::INFINITY, -3.0, 2.0];
        let panorama = Panorama::new("p", 8, 4, pixels).unwrap();
        assert_eq!(panorama.pixels()[0], [RADIANCE_LIMIT, 0.0, 2.0]);
        let (w, h, half) = halved(4, 2, &[[[0.0; 3], [4.0; 3], [1.0; 3], [1.0; 3]], [[2.0; 3]; 4]].concat());
        assert_eq!((w, h, half), (2, 1, vec![[2.0; 3], [1.5; 3]]));
    }
}
