//! FLIP for low dynamic range pictures (Andersson et al., "FLIP: A Difference Evaluator for Alternating Images", 2020).

use rayon::prelude::*;

use super::Rgb8;
use super::color::{from_opponent, hunt_lab, hyab, linear, opponent};
use super::convolve::{Plane, separable};
use super::flip_filters::{
    COLOR_EXPONENT, ColorFilter, Detectors, FEATURE_EXPONENT, KNEE_VALUE, Spread, color_filters,
};
use crate::geometry::Extent;

/// Pixels per degree of a 0.7 m wide display of 3840 pixels seen from 0.7 m, the usual setting.
pub const DEFAULT_PIXELS_PER_DEGREE: f32 = 67.020_645;

/// The perceived difference of every pixel, 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct FlipMap {
    /// Width and height.
    pub extent: Extent,
    /// One value a pixel, rows from the top.
    pub values: Vec<f32>,
    /// Pixels per degree of visual angle that were assumed.
    pub pixels_per_degree: f32,
}

impl FlipMap {
    /// Mean over all pixels.
    pub fn mean(&self) -> f64 {
        self.values.iter().map(|&v| f64::from(v)).sum::<f64>() / self.values.len().max(1) as f64
    }

    /// The smallest value that at least `share` (0 to 1) of the pixels do not exceed.
    pub fn percentile(&self, share: f64) -> f32 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f32::total_cmp);
        let rank = (share * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(0.0)
    }

    /// Largest value.
    pub fn largest(&self) -> f32 {
        self.values.iter().copied().fold(0.0, f32::max)
    }
}

/// FLIP of two pictures of one size, the first being the reference.
pub fn flip(reference: &Rgb8, test: &Rgb8, pixels_per_degree: f32) -> FlipMap {
    let extent = reference.extent();
    let ppd = pixels_per_degree.clamp(1.0, 400.0);
    let (a, b) = (planes(reference), planes(test));
    let color = color_difference(&filtered(&a, extent, ppd), &filtered(&b, extent, ppd));
    let (fa, fb) = (Features::of(&a[0], extent, ppd), Features::of(&b[0], extent, ppd));
    let values = color
        .into_par_iter()
        .enumerate()
        .map(|(i, color)| {
            let feature = (fa.edge[i] - fb.edge[i]).abs().max((fa.point[i] - fb.point[i]).abs());
            let feature = (feature / 2f32.sqrt()).powf(FEATURE_EXPONENT);
            color.powf(1.0 - feature).clamp(0.0, 1.0)
        })
        .collect();
    FlipMap { extent, values, pixels_per_degree: ppd }
}

/// The three planes of YCxCz.
fn planes(picture: &Rgb8) -> [Plane; 3] {
    let table: Vec<f32> = (0..=255).map(linear).collect();
    let pixels: Vec<[f32; 3]> =
        picture.pixels().par_iter().map(|p| opponent(p.map(|code| table[usize::from(code)]))).collect();
    std::array::from_fn(|channel| pixels.iter().map(|pixel| pixel[channel]).collect())
}

/// What the eye resolves of a picture, as L*a*b* with the Hunt effect.
fn filtered(planes: &[Plane; 3], extent: Extent, ppd: f32) -> Vec<[f32; 3]> {
    let filters = color_filters(ppd);
    let seen: [Plane; 3] = std::array::from_fn(|channel| {
        let mut sum = vec![0.0; extent.pixels()];
        for ColorFilter { line, share } in &filters[channel] {
            let part = separable(&planes[channel], extent, line, line);
            sum.iter_mut().zip(part).for_each(|(sum, value)| *sum += value * share);
        }
        sum
    });
    (0..extent.pixels())
        .into_par_iter()
        .map(|i| hunt_lab(from_opponent([seen[0][i], seen[1][i], seen[2][i]])))
        .collect()
}

/// Colour differences, redistributed to 0..=1.
fn color_difference(a: &[[f32; 3]], b: &[[f32; 3]]) -> Vec<f32> {
    let Spread { largest, knee } = Spread::new();
    let spread = |(&a, &b): (&[f32; 3], &[f32; 3])| {
        let e = hyab(a, b).powf(COLOR_EXPONENT);
        if e < knee { e * KNEE_VALUE / knee } else { KNEE_VALUE + (e - knee) / (largest - knee) * (1.0 - KNEE_VALUE) }
    };
    a.par_iter().zip(b).map(spread).collect()
}

/// Strength of edges and points.
struct Features {
    edge: Plane,
    point: Plane,
}

impl Features {
    fn of(luma: &[f32], extent: Extent, ppd: f32) -> Self {
        let luma: Plane = luma.iter().map(|y| (y + 16.0) / 116.0).collect();
        let Detectors { smooth, edge, point } = Detectors::new(ppd);
        let strength = |detector: &[f32]| {
            let across = separable(&luma, extent, detector, &smooth);
            let down = separable(&luma, extent, &smooth, detector);
            across.iter().zip(down).map(|(x, y)| x.hypot(y)).collect()
        };
        Self { edge: strength(&edge), point: strength(&point) }
    }
}
