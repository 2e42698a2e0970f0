//! Structural similarity (Wang et al. 2004).

use serde::Serialize;

use super::Rgb8;
use super::convolve::{kernel, normalised, separable};
use crate::geometry::Extent;

/// Radius and deviation of the Gaussian window, in pixels.
const RADIUS: usize = 5;
const DEVIATION: f32 = 1.5;
/// `(0.01 * 255)^2` and `(0.03 * 255)^2`.
const C1: f32 = 6.5025;
const C2: f32 = 58.5225;

/// Mean structural similarity, 1 for equal pictures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ssim {
    /// Of the luma `0.299 R + 0.587 G + 0.114 B` of the 8-bit codes.
    pub luma: f64,
    /// Mean of the three channels' own.
    pub rgb: f64,
}

/// Structural similarity of two pictures of one size: an 11x11 Gaussian window of deviation 1.5, K1 = 0.01, K2 = 0.03,
/// peak 255. Windows that stick out count only where the picture is too small for any other.
pub fn ssim(a: &Rgb8, b: &Rgb8) -> Ssim {
    let extent = a.extent();
    let channel = |picture: &Rgb8, c: usize| -> Vec<f32> { picture.pixels().iter().map(|p| f32::from(p[c])).collect() };
    let luma = |picture: &Rgb8| -> Vec<f32> {
        let weighted = |&[r, g, b]: &[u8; 3]| 0.299 * f32::from(r) + 0.587 * f32::from(g) + 0.114 * f32::from(b);
        picture.pixels().iter().map(weighted).collect()
    };
    let rgb = (0..3).map(|c| mean(&channel(a, c), &channel(b, c), extent)).sum::<f64>() / 3.0;
    Ssim { luma: mean(&luma(a), &luma(b), extent), rgb }
}

fn mean(a: &[f32], b: &[f32], extent: Extent) -> f64 {
    let window = normalised(kernel(RADIUS, |x| (-x * x / (2.0 * DEVIATION * DEVIATION)).exp()));
    let smooth = |plane: &[f32]| separable(plane, extent, &window, &window);
    let product = |a: &[f32], b: &[f32]| -> Vec<f32> { a.iter().zip(b).map(|(a, b)| a * b).collect() };
    let (ma, mb) = (smooth(a), smooth(b));
    let (aa, bb, ab) = (smooth(&product(a, a)), smooth(&product(b, b)), smooth(&product(a, b)));
    let value = |i: usize| {
        let (ma, mb) = (ma[i], mb[i]);
        let (va, vb, cov) = (aa[i] - ma * ma, bb[i] - mb * mb, ab[i] - ma * mb);
        (2.0 * ma * mb + C1) * (2.0 * cov + C2) / ((ma * ma + mb * mb + C1) * (va + vb + C2))
    };
    let inside = |size: u32| {
        let size = size as usize;
        if size > 2 * RADIUS { RADIUS..size - RADIUS } else { 0..size }
    };
    let (columns, rows) = (inside(extent.width), inside(extent.height));
    let width = extent.width as usize;
    let count = columns.len() * rows.len();
    let sum: f64 = rows.flat_map(|y| columns.clone().map(move |x| y * width + x)).map(|i| f64::from(value(i))).sum();
    sum / count.max(1) as f64
}
