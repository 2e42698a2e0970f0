//! Times of the last frames: how they are spread, and a plot.

use std::collections::VecDeque;

use egui::{Color32, Sense, Stroke, pos2, vec2};

/// Frames that a series remembers.
const LENGTH: usize = 240;
/// Frame times marked in the plot, in milliseconds: 120, 60 and 30 frames a second.
const LINES: [f32; 3] = [8.3, 16.7, 33.3];

/// Milliseconds of the last frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    values: VecDeque<f32>,
    /// Number of the last one, where they are counted.
    last: u64,
}

/// What a series comes to, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Summary {
    /// The smallest.
    pub min: f32,
    /// Half of them are at most this.
    pub p50: f32,
    /// 95 of 100 are at most this.
    pub p95: f32,
    /// 99 of 100 are at most this.
    pub p99: f32,
    /// How many there are.
    pub count: usize,
}

impl serde::Serialize for Series {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.summary().serialize(serializer)
    }
}

impl Series {
    /// Adds a time; the oldest one is forgotten.
    pub fn push(&mut self, ms: f64) {
        if self.values.len() == LENGTH {
            self.values.pop_front();
        }
        self.values.push_back(ms as f32);
    }

    /// Adds the time of the frame with a number, once.
    pub fn extend(&mut self, number: u64, ms: Option<f64>) {
        if let Some(ms) = ms.filter(|_| self.last != number) {
            self.last = number;
            self.push(ms);
        }
    }

    /// What the times come to, if there are any.
    pub fn summary(&self) -> Option<Summary> {
        let mut sorted: Vec<f32> = self.values.iter().copied().collect();
        sorted.sort_by(f32::total_cmp);
        // The smallest value that enough of them do not exceed.
        let rank = |percent: usize| {
            let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
            sorted.get(place).copied()
        };
        Some(Summary { min: *sorted.first()?, p50: rank(50)?, p95: rank(95)?, p99: rank(99)?, count: sorted.len() })
    }

    /// Draws the times as a line over marks of usual frame times.
    pub fn plot(&self, ui: &mut egui::Ui, width: f32) {
        let (area, _) = ui.allocate_exact_size(vec2(width, 48.0), Sense::hover());
        let painter = ui.painter_at(area);
        painter.rect_filled(area, 2.0, Color32::from_gray(16));
        let top = self.values.iter().copied().fold(20.0_f32, f32::max) * 1.05;
        let height = |ms: f32| area.bottom() - ms / top * area.height();
        for ms in LINES.into_iter().filter(|ms| *ms < top) {
            painter.hline(area.x_range(), height(ms), Stroke::new(1.0, Color32::from_gray(56)));
        }
        let step = area.width() / (LENGTH - 1) as f32;
        let place = |(index, ms): (usize, &f32)| pos2(area.left() + index as f32 * step, height(*ms));
        let points: Vec<_> = self.values.iter().enumerate().map(place).collect();
        painter.line(points, Stroke::new(1.0, Color32::from_rgb(120, 190, 255)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let mut series = Series::default();
        assert_eq!(series.summary(), None);
        (1..=100).rev().for_each(|ms| series.push(f64::from(ms)));
        assert_eq!(series.summary(), Some(Summary { min: 1.0, p50: 50.0, p95: 95.0, p99: 99.0, count: 100 }));
        let mut one = Series::default();
        one.push(4.0);
        assert_eq!(one.summary(), Some(Summary { min: 4.0, p50: 4.0, p95: 4.0, p99: 4.0, count: 1 }));
    }

    #[test]
    fn a_counted_frame_is_taken_once() {
        let mut series = Series::default();
        series.extend(0, None);
        series.extend(1, Some(3.0));
        series.extend(1, Some(9.0));
        assert_eq!(series.summary(), Some(Summary { min: 3.0, p50: 3.0, p95: 3.0, p99: 3.0, count: 1 }));
        series.extend(2, Some(1.0));
        assert_eq!(series.summary().map(|s| s.min), Some(1.0));
    }

    #[test]
    fn old_times_are_forgotten() {
        let mut series = Series::default();
        series.push(1.0);
        (0..LENGTH).for_each(|_| series.push(9.0));
        assert_eq!(series.summary().map(|s| s.min), Some(9.0));
    }
}
