//! Exact differences.

use serde::Serialize;

use super::Rgb8;

/// The first pixel that differs, in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FirstPixel {
    /// Column.
    pub x: u32,
    /// Row.
    pub y: u32,
    /// RGB of the first picture.
    pub a: [u8; 3],
    /// RGB of the second picture.
    pub b: [u8; 3],
}

/// Exact differences of two pictures of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Pixels of one picture.
    pub pixels: usize,
    /// Pixels with a difference.
    pub different_pixels: usize,
    /// Channel values with a difference.
    pub different_values: usize,
    /// Channel values that are exactly one code apart.
    pub one_code: usize,
    /// Largest difference in codes.
    pub largest: u8,
    /// The first difference.
    pub first: Option<FirstPixel>,
}

impl Counts {
    /// Counts; pictures of different sizes are compared up to the shorter one.
    pub fn of(a: &Rgb8, b: &Rgb8) -> Self {
        let width = a.extent().width;
        let mut counts = Self { pixels: a.extent().pixels(), ..Self::default() };
        for (i, (&a, &b)) in a.pixels().iter().zip(b.pixels()).enumerate().filter(|(_, (a, b))| a != b) {
            counts.different_pixels += 1;
            for distance in (0..3).map(|c| a[c].abs_diff(b[c])).filter(|&d| d > 0) {
                counts.different_values += 1;
                counts.one_code += usize::from(distance == 1);
                counts.largest = counts.largest.max(distance);
            }
            let at = i as u32;
            counts.first.get_or_insert(FirstPixel { x: at % width, y: at / width, a, b });
        }
        counts
    }

    /// Whether the pictures are equal.
    pub const fn equal(&self) -> bool {
        self.different_pixels == 0
    }
}

/// Peak signal-to-noise ratio of two 8-bit pictures in dB, peak 255, over all channels; infinite for equal ones.
/// Compares up to the shorter one.
pub fn psnr(a: &[u8], b: &[u8]) -> f64 {
    let square = |(a, b): (&u8, &u8)| u64::from(a.abs_diff(*b)).pow(2);
    let sum: u64 = a.iter().zip(b).map(square).sum();
    let mse = sum as f64 / a.len().min(b.len()).max(1) as f64;
    10.0 * (255.0 * 255.0 / mse).log10()
}
