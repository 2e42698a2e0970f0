//! Separable filters over planes of f32, edges repeated.

use rayon::prelude::*;

use crate::geometry::Extent;

/// One channel of a picture.
pub(super) type Plane = Vec<f32>;

/// Weights at -r..=r for a radius r.
pub(super) type Kernel = Vec<f32>;

/// A kernel of the function's values at -r..=r.
pub(super) fn kernel(radius: usize, value: impl Fn(f32) -> f32) -> Kernel {
    (-(radius as i64)..=radius as i64).map(|x| value(x as f32)).collect()
}

/// The kernel with its weights summing to 1.
pub(super) fn normalised(mut kernel: Kernel) -> Kernel {
    let sum: f32 = kernel.iter().sum();
    kernel.iter_mut().for_each(|weight| *weight /= sum);
    kernel
}

/// The plane filtered with one kernel along rows and one along columns.
pub(super) fn separable(plane: &[f32], extent: Extent, along_x: &[f32], along_y: &[f32]) -> Plane {
    let (width, height) = (extent.width as usize, extent.height as usize);
    let mut across = vec![0.0; plane.len()];
    across.par_chunks_exact_mut(width).enumerate().for_each(|(y, out)| {
        let row = &plane[y * width..][..width];
        let radius = along_x.len() / 2;
        for (x, out) in out.iter_mut().enumerate() {
            let taps = along_x.iter().enumerate();
            *out = taps.map(|(i, weight)| weight * row[clamped(x + i, radius, width)]).sum();
        }
    });
    let mut down = vec![0.0; plane.len()];
    down.par_chunks_exact_mut(width).enumerate().for_each(|(y, out)| {
        let radius = along_y.len() / 2;
        for (i, weight) in along_y.iter().enumerate() {
            let row = &across[clamped(y + i, radius, height) * width..][..width];
            out.iter_mut().zip(row).for_each(|(out, value)| *out += weight * value);
        }
    });
    down
}

/// `shifted - radius`, within `0..size`.
const fn clamped(shifted: usize, radius: usize, size: usize) -> usize {
    let at = shifted.saturating_sub(radius);
    if at < size { at } else { size - 1 }
}
