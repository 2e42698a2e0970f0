//! Whether samples of a time describe one steady state.

use serde::{Deserialize, Serialize};

/// Most that spread and drift of stationary samples may be.
pub const STATIONARY: f64 = 0.01;

/// Samples of one arm in milliseconds, summed up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The middle one.
    pub median: f64,
    /// The largest.
    pub max: f64,
    /// Middle deviation from the median, over the median.
    pub spread: f64,
    /// Change of the median from the first half of the samples to the second, over the median.
    pub drift: f64,
    /// Whether spread and drift are within [`STATIONARY`].
    pub stationary: bool,
    /// Every sample, in order.
    pub samples: Vec<f64>,
}

impl Spread {
    /// Sums up samples; `None` without any.
    pub fn of(samples: Vec<f64>) -> Option<Self> {
        let center = median(&samples)?;
        let scale = center.abs().max(f64::MIN_POSITIVE);
        let deviations: Vec<f64> = samples.iter().map(|sample| (sample - center).abs()).collect();
        let (first, second) = samples.split_at(samples.len() / 2);
        let drift = match (median(first), median(second)) {
            (Some(first), Some(second)) => (second - first).abs() / scale,
            _ => 0.0,
        };
        let spread = median(&deviations)? / scale;
        Some(Self {
            min: samples.iter().copied().fold(f64::INFINITY, f64::min),
            median: center,
            max: samples.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            spread,
            drift,
            stationary: spread <= STATIONARY && drift <= STATIONARY,
            samples,
        })
    }
}

/// The middle of some values; `None` without any.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_samples_are_stationary_and_others_are_not() {
        let steady = Spread::of(vec![10.0, 10.05, 9.98, 10.01, 10.02, 9.99, 30.0]).unwrap();
        assert!(steady.stationary, "{steady:?}");
        assert_eq!((steady.min, steady.max), (9.98, 30.0));
        let wide = Spread::of(vec![10.0, 11.0, 9.0, 12.0, 8.0, 10.0]).unwrap();
        assert!(wide.spread > STATIONARY && !wide.stationary);
        let drifting = Spread::of((0..40).map(|i| 10.0 + 0.01 * f64::from(i / 20 * 20)).collect()).unwrap();
        assert!(drifting.drift > STATIONARY && !drifting.stationary, "{drifting:?}");
        assert_eq!(Spread::of(vec![]), None);
    }
}
