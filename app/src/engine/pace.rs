//! How much of the network goes into one submission.
//!
//! Drivers stop submissions that run for seconds, and a window has to answer while a frame is computed. Work is
//! therefore submitted in slices that take about a wanted time on this device, as measured on the slices before.

use std::ops::Range;
use std::time::Duration;

/// Multiply-accumulates of the first slice: milliseconds on a slow CPU.
const FIRST_BUDGET: f64 = 8e6;
/// A slice is at most this much larger than the one before it.
const GROWTH: f64 = 4.0;

/// Chooses slices of a wanted duration.
#[derive(Clone, Debug)]
pub struct Pace {
    target: Duration,
    budget: f64,
}

impl Pace {
    /// Slices that take about `target` each.
    pub fn new(target: Duration) -> Self {
        Self { target, budget: FIRST_BUDGET }
    }

    /// Whole frames in one submission each, however long they take: for devices without a watchdog.
    pub fn unsliced() -> Self {
        Self { target: Duration::from_secs(3600), budget: f64::INFINITY }
    }

    /// How long some work will take, as far as is known.
    pub fn predicts(&self, work: u64) -> Duration {
        let seconds = work as f64 / self.budget * self.target.as_secs_f64();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// Multiply-accumulates of usual steps that take so long, as far as is known.
    pub fn work_of(&self, took: Duration) -> u64 {
        (self.budget * took.as_secs_f64() / self.target.as_secs_f64()) as u64
    }

    /// How long a slice is wished to take.
    pub fn target(&self) -> Duration {
        self.target
    }

    /// Wishes for slices of another duration.
    pub fn set_target(&mut self, target: Duration) {
        self.budget *= target.as_secs_f64() / self.target.as_secs_f64();
        self.target = target;
    }

    /// Steps from `start` that fit in a slice: at least one, unless `start` is the end.
    ///
    /// `cost` gives the multiply-accumulates of a step, or as many as a usual one has that takes as long.
    pub fn slice(&self, start: usize, end: usize, cost: impl Fn(usize) -> u64) -> Range<usize> {
        let mut sum = 0.0;
        let mut stop = start;
        while stop < end {
            sum += cost(stop) as f64;
            if stop > start && sum > self.budget {
                break;
            }
            stop += 1;
        }
        start..stop
    }

    /// Learns from a finished slice of `work` multiply-accumulates.
    pub fn finished(&mut self, work: u64, took: Duration) {
        let seconds = took.as_secs_f64().max(1e-5);
        let wanted = work as f64 * self.target.as_secs_f64() / seconds;
        if self.budget.is_infinite() {
            return;
        }
        // A slice far below the budget (the end of the frame, one large step) says little about a full one.
        if (work as f64) < 0.25 * self.budget && took < self.target {
            return;
        }
        self.budget = wanted.clamp(self.budget / GROWTH, self.budget * GROWTH).max(1.0);
    }
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_cover_everything_once() {
        let pace = Pace::new(Duration::from_millis(25));
        let costs: Vec<u64> = (0..100).map(|i| (i * 7 % 13) * 1_000_000).collect();
        let mut at = 0;
        while at < costs.len() {
            let slice = pace.slice(at, costs.len(), |i| costs[i]);
            assert_eq!(slice.start, at);
            assert!(slice.end > at);
            at = slice.end;
        }
        assert_eq!(pace.slice(100, 100, |_| 1), 100..100);
    }

    #[test]
    fn unsliced_frames_stay_whole() {
        let mut pace = Pace::unsliced();
        assert_eq!((pace.slice(0, 500, |_| 1 << 40), pace.predicts(1 << 60)), (0..500, Duration::ZERO));
        pace.finished(1 << 40, Duration::from_secs(20));
        assert_eq!(pace.slice(0, 500, |_| 1 << 40), 0..500);
        // At first nothing is known, and a frame seems long.
        assert!(Pace::new(Duration::from_millis(25)).predicts(1 << 40) > Duration::from_secs(10));
    }

    #[test]
    fn a_slow_step_counts_for_what_it_takes() {
        let mut pace = Pace::new(Duration::from_millis(25));
        for target in [25, 8] {
            pace.set_target(Duration::from_millis(target));
            // Eight steps of a quarter of the wished time each, whatever their work.
            let step = pace.work_of(Duration::from_micros(250 * target + 1));
            assert_eq!(pace.slice(0, 8, |_| step), 0..3);
        }
        assert_eq!(Pace::unsliced().slice(0, 8, |_| Pace::unsliced().work_of(Duration::from_secs(9))), 0..8);
    }

    #[test]
    fn a_step_over_the_budget_goes_alone() {
        let pace = Pace::new(Duration::from_millis(25));
        assert_eq!(pace.slice(0, 3, |_| 1 << 40), 0..1);
    }

    #[test]
    fn the_budget_follows_the_device() {
        let mut pace = Pace::new(Duration::from_millis(20));
        for _ in 0..20 {
            // 1 Gmac a second.
            let work = pace.budget as u64;
            pace.finished(work, Duration::from_secs_f64(work as f64 / 1e9));
        }
        assert!((pace.budget - 20e6).abs() < 1e6, "{}", pace.budget);
        pace.finished(20, Duration::from_micros(1));
        assert!((pace.budget - 20e6).abs() < 1e6, "a tiny slice changed it to {}", pace.budget);
    }
}
