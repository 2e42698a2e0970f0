//! The filters and the scale of FLIP, for the CPU and, as tables, for a shader.

use std::f32::consts::PI;

use super::color::{hunt_lab, hyab, linear};
use super::convolve::{Kernel, kernel, normalised};

/// Width in degrees of the feature detectors.
const FEATURE_WIDTH: f32 = 0.082;
/// Exponents of the colour and the feature difference.
pub(super) const COLOR_EXPONENT: f32 = 0.7;
pub(super) const FEATURE_EXPONENT: f32 = 0.5;
/// The share of the largest colour difference that maps to [`KNEE_VALUE`].
const KNEE: f32 = 0.4;
pub(super) const KNEE_VALUE: f32 = 0.95;

/// Contrast sensitivity of a channel: a sum of Gaussians `a * sqrt(pi / b) * exp(-pi^2 r^2 / b)`, r in degrees.
type Sensitivity = &'static [(f32, f32)];
const ACHROMATIC: Sensitivity = &[(1.0, 0.0047)];
const RED_GREEN: Sensitivity = &[(1.0, 0.0053)];
const BLUE_YELLOW: Sensitivity = &[(34.1, 0.04), (13.5, 0.025)];
/// The largest b above, which sets the filters' radius.
const WIDEST: f32 = 0.04;

/// One of the Gaussians of a channel's filter.
pub(super) struct ColorFilter {
    /// Its weights along a row or a column; they sum to 1.
    pub line: Kernel,
    /// Its share of the filter.
    pub share: f32,
}

/// The filters of Y, Cx and Cz at so many pixels per degree.
pub(super) fn color_filters(ppd: f32) -> [Vec<ColorFilter>; 3] {
    let radius = (3.0 * (WIDEST / (2.0 * PI * PI)).sqrt() * ppd).ceil() as usize;
    [ACHROMATIC, RED_GREEN, BLUE_YELLOW].map(|sensitivity: Sensitivity| {
        // Each Gaussian is separable; its share of the sum is its integral's share.
        let parts: Vec<(Kernel, f32)> = sensitivity
            .iter()
            .map(|&(a, b)| {
                let line = kernel(radius, |x| (-PI * PI * (x / ppd).powi(2) / b).exp());
                let sum: f32 = line.iter().sum();
                (normalised(line), a * (PI / b).sqrt() * sum * sum)
            })
            .collect();
        let total: f32 = parts.iter().map(|(_, weight)| weight).sum();
        parts.into_iter().map(|(line, weight)| ColorFilter { line, share: weight / total }).collect()
    })
}

/// The largest colour difference, and where its scale bends.
pub(super) struct Spread {
    /// Of any two colours.
    pub largest: f32,
    /// Maps to [`KNEE_VALUE`].
    pub knee: f32,
}

impl Spread {
    pub(super) fn new() -> Self {
        let (green, blue) = (hunt_lab([0.0, 1.0, 0.0]), hunt_lab([0.0, 0.0, 1.0]));
        let largest = hyab(green, blue).powf(COLOR_EXPONENT);
        Self { largest, knee: KNEE * largest }
    }
}

/// Detectors of edges and points along a row or a column, and the smoothing across it.
pub(super) struct Detectors {
    pub smooth: Kernel,
    pub edge: Kernel,
    pub point: Kernel,
}

impl Detectors {
    pub(super) fn new(ppd: f32) -> Self {
        let deviation = 0.5 * FEATURE_WIDTH * ppd;
        let radius = (3.0 * deviation).ceil() as usize;
        let gauss = |x: f32| (-x * x / (2.0 * deviation * deviation)).exp();
        Self {
            smooth: normalised(kernel(radius, gauss)),
            edge: balanced(kernel(radius, |x| -x * gauss(x))),
            point: balanced(kernel(radius, |x| (x * x / (deviation * deviation) - 1.0) * gauss(x))),
        }
    }
}

/// The kernel with its positive weights summing to 1 and its negative ones to -1.
fn balanced(mut kernel: Kernel) -> Kernel {
    let positive: f32 = kernel.iter().filter(|&&w| w > 0.0).sum();
    let negative: f32 = kernel.iter().filter(|&&w| w < 0.0).sum();
    kernel.iter_mut().for_each(|w| *w /= if *w > 0.0 { positive } else { -negative });
    kernel
}

/// Weights of a filter in [`shader_tables`]; its radius is half of them.
pub const TABLE_TAPS: usize = 21;

/// The tables of `shaders/glsl/view/flip.comp`, in its order: linear light of the 256 codes; the largest colour difference,
/// its knee and the shares of the two blue-yellow filters; the filters, each of [`TABLE_TAPS`] weights.
///
/// `None` where the filters are wider than the tables, beyond 74 pixels per degree.
pub fn shader_tables(ppd: f32) -> Option<Vec<f32>> {
    let Spread { largest, knee } = Spread::new();
    let [achromatic, red_green, blue_yellow] = color_filters(ppd);
    let Detectors { smooth, edge, point } = Detectors::new(ppd);
    let ([y], [cx], [a, b]) = (&achromatic[..], &red_green[..], &blue_yellow[..]) else { return None };
    let mut words: Vec<f32> = (0..=255).map(linear).collect();
    words.extend([largest, knee, a.share, b.share]);
    for line in [&y.line, &cx.line, &a.line, &b.line, &smooth, &edge, &point] {
        let border = TABLE_TAPS.checked_sub(line.len())? / 2;
        words.extend(std::iter::repeat_n(0.0, border));
        words.extend(line);
        words.extend(std::iter::repeat_n(0.0, border));
    }
    Some(words)
}
