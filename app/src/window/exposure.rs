//! Paper white that follows the scene: from its brightness to the applied value, between two bounds.

use std::ops::RangeInclusive;

use network::frame::ranges;

use super::look::Look;

/// Ends of both bounds.
pub const BOUNDS: RangeInclusive<f32> = ranges::PAPER_WHITE;
/// Paper white over the scene's mean brightness (of the logarithm): the network then sees the mean as a middle grey.
const OVER_MEAN: f32 = 4.0;
/// A brightness that differs by less than this many stops changes nothing, so that noise moves nothing.
const DEAD: f32 = 0.15;
/// Seconds after which two thirds of a change have been made.
const SLOWNESS: f32 = 0.6;

/// What is asked for and what is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct White {
    /// The scene value asked for: the control's, or in automatic mode what the brightness suggests.
    pub requested: f32,
    /// The scene value that frames are made with.
    pub applied: f32,
    /// Whether it follows the scene.
    pub automatic: bool,
}

/// Follows the brightness of the scene.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exposure {
    applied: Option<f32>,
    /// Where the applied value is going.
    goal: Option<f32>,
    /// The last mean, as the logarithm to base two.
    mean: Option<f32>,
}

impl Exposure {
    /// The mean of the scene's brightness was measured: the mean of its logarithm to base two.
    pub fn measured(&mut self, mean: f32) {
        if mean.is_finite() {
            self.mean = Some(mean);
        }
    }

    /// Forgets everything: another scene.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Moves on by `seconds` and gives the paper white of the next frame.
    pub fn step(&mut self, look: &Look, seconds: f32) -> White {
        let Some(mean) = self.mean.filter(|_| look.auto_white) else {
            (self.applied, self.goal) = (None, None);
            return White { requested: look.paper_white, applied: look.paper_white, automatic: look.auto_white };
        };
        let requested = mean.exp2() * OVER_MEAN;
        let [low, high] = bounds(look);
        let wished = requested.clamp(low, high);
        let moved = |goal: f32| (wished / goal).log2().abs() > DEAD;
        // A bound that was moved counts at once.
        let goal = self.goal.filter(|goal| !moved(*goal) && (low..=high).contains(goal)).unwrap_or(wished);
        let from = self.applied.unwrap_or(look.paper_white.clamp(low, high)).clamp(low, high);
        let share = 1.0 - (-seconds.max(0.0) / SLOWNESS).exp();
        let applied = from * (goal / from).powf(share);
        (self.goal, self.applied) = (Some(goal), Some(applied));
        White { requested, applied, automatic: true }
    }
}

/// Both bounds, in order.
fn bounds(look: &Look) -> [f32; 2] {
    [look.white_low.min(look.white_high), look.white_low.max(look.white_high)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn automatic() -> Look {
        Look { auto_white: true, white_low: 0.5, white_high: 4.0, ..Look::default() }
    }

    fn settle(exposure: &mut Exposure, look: &Look) -> White {
        (0..200).fold(White::default(), |_, _| exposure.step(look, 0.05))
    }

    #[test]
    fn by_hand_it_is_what_was_asked_for() {
        let mut exposure = Exposure::default();
        exposure.measured(-3.0);
        let look = Look { paper_white: 2.5, ..Look::default() };
        let white = exposure.step(&look, 1.0);
        assert_eq!(white, White { requested: 2.5, applied: 2.5, automatic: false });
    }

    #[test]
    fn it_follows_the_scene_between_its_bounds() {
        let (mut exposure, look) = (Exposure::default(), automatic());
        // Nothing measured yet: the control's value.
        assert_eq!(exposure.step(&look, 0.1).applied, 1.0);
        exposure.measured(-1.0);
        let first = exposure.step(&look, 0.05);
        assert!(first.applied > 1.0 && first.applied < 1.2, "no jump: {first:?}");
        let white = settle(&mut exposure, &look);
        assert!((white.applied - 2.0).abs() < 0.01 && white.requested == 2.0, "{white:?}");
        // The picture does not blow out in the dark, however dark.
        exposure.measured(-20.0);
        let white = settle(&mut exposure, &look);
        assert!((white.applied - 0.5).abs() < 1e-3 && white.requested < 0.001, "{white:?}");
        exposure.measured(20.0);
        assert!((settle(&mut exposure, &look).applied - 4.0).abs() < 1e-3);
        // A bound that is moved counts at once.
        let lower = Look { white_high: 3.0, ..look };
        assert!(exposure.step(&lower, 0.0).applied <= 3.0);
    }

    #[test]
    fn noise_moves_nothing() {
        let (mut exposure, look) = (Exposure::default(), automatic());
        exposure.measured(-1.0);
        let settled = settle(&mut exposure, &look).applied;
        for mean in [-0.95, -1.1, -0.9, -1.05] {
            exposure.measured(mean);
            let now = exposure.step(&look, 0.05).applied;
            assert!((now - settled).abs() < 0.01, "{now} {settled}");
        }
        exposure.measured(f32::NAN);
        assert!(exposure.step(&look, 0.05).applied.is_finite());
        // Bounds the wrong way round are taken in order.
        let swapped = Look { white_low: 4.0, white_high: 0.5, ..look };
        assert!(exposure.step(&swapped, 0.05).applied >= 0.5);
    }
}
