//! How alike two 8-bit pictures are: exact counts, PSNR, SSIM, FLIP.
//!
//! All of them work on the picture as it is presented, 8-bit sRGB. [`Counts`] decides equality; the others answer
//! look-alike questions: [`psnr`] with peak 255, [`ssim`] with the usual Gaussian window, [`flip`] at a stated number of
//! pixels per degree of visual angle.

mod color;
mod convolve;
mod counts;
mod flip;
mod flip_filters;
mod heat;
mod ssim;

pub use counts::{Counts, FirstPixel, psnr};
pub use flip::{DEFAULT_PIXELS_PER_DEGREE, FlipMap, flip};
pub use flip_filters::{TABLE_TAPS, shader_tables};
pub use heat::{heat_color, heat_map};
pub use ssim::{Ssim, ssim};

use crate::geometry::Extent;

/// An 8-bit RGB picture, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rgb8 {
    extent: Extent,
    bytes: Vec<u8>,
}

impl Rgb8 {
    /// A picture of `width * height * 3` bytes; `None` for another length or an empty picture.
    pub fn new(extent: Extent, bytes: Vec<u8>) -> Option<Self> {
        (extent.pixels() > 0 && bytes.len() == extent.pixels() * 3).then_some(Self { extent, bytes })
    }

    /// The RGB of RGBA bytes; `None` for another length or an empty picture.
    pub fn from_rgba(extent: Extent, rgba: &[u8]) -> Option<Self> {
        if rgba.len() != extent.pixels() * 4 {
            return None;
        }
        Self::new(extent, rgba.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect())
    }

    /// Width and height.
    pub const fn extent(&self) -> Extent {
        self.extent
    }

    /// Three bytes a pixel.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The pixels.
    pub fn pixels(&self) -> &[[u8; 3]] {
        self.bytes.as_chunks().0
    }
}

/// The pictures have different sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pictures of {a} and {b} cannot be compared; they must have one size")]
pub struct SizeMismatch {
    /// Of the first.
    pub a: Extent,
    /// Of the second.
    pub b: Extent,
}

/// Everything about two pictures.
#[derive(Clone, Debug)]
pub struct Likeness {
    /// Exact counts.
    pub counts: Counts,
    /// PSNR in dB, peak 255; infinite for equal pictures.
    pub psnr: f64,
    /// Structural similarity.
    pub ssim: Ssim,
    /// FLIP of every pixel.
    pub flip: FlipMap,
}

impl Likeness {
    /// Compares two pictures, the first being the reference; FLIP at `pixels_per_degree`.
    ///
    /// # Errors
    /// The sizes differ.
    pub fn of(a: &Rgb8, b: &Rgb8, pixels_per_degree: f32) -> Result<Self, SizeMismatch> {
        if a.extent != b.extent {
            return Err(SizeMismatch { a: a.extent, b: b.extent });
        }
        Ok(Self {
            counts: Counts::of(a, b),
            psnr: psnr(a.bytes(), b.bytes()),
            ssim: ssim(a, b),
            flip: flip(a, b, pixels_per_degree),
        })
    }
}

#[cfg(test)]
mod tests;
