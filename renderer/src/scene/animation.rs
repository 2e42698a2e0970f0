//! Rigid animation as data: a chain of joints, each a pure function of time.

use crate::transform::Rigid;
use glam::{Quat, Vec3};
use std::f64::consts::TAU;

/// One link of an animation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// Stays as it is.
    Fixed(Rigid),
    /// Turns about an axis through the origin at a steady rate.
    Spin {
        /// Unit axis.
        axis: Vec3,
        /// Turns a second.
        rate: f64,
        /// Turn at time 0.
        phase: f64,
    },
    /// Turns to and fro about an axis through the origin.
    Swing {
        /// Unit axis.
        axis: Vec3,
        /// Largest angle, radians.
        amplitude: f32,
        /// Swings a second.
        rate: f64,
        /// Part of a swing at time 0.
        phase: f64,
    },
    /// Moves to and fro.
    Slide {
        /// Largest displacement, metres.
        reach: Vec3,
        /// Periods a second.
        rate: f64,
        /// Part of a period at time 0.
        phase: f64,
    },
}

impl Joint {
    /// The transform at `time` seconds.
    #[must_use]
    pub fn at(&self, time: f64) -> Rigid {
        // The phase is reduced in f64, so that long runs stay smooth.
        let angle = |rate: f64, phase: f64| ((time * rate + phase).rem_euclid(1.0) * TAU) as f32;
        match *self {
            Self::Fixed(rigid) => rigid,
            Self::Spin { axis, rate, phase } => Rigid::new(Quat::from_axis_angle(axis, angle(rate, phase)), Vec3::ZERO),
            Self::Swing { axis, amplitude, rate, phase } => {
                let turned = amplitude * angle(rate, phase).sin();
                Rigid::new(Quat::from_axis_angle(axis, turned), Vec3::ZERO)
            }
            Self::Slide { reach, rate, phase } => Rigid::at(reach * angle(rate, phase).sin()),
        }
    }

    /// Whether the transform is the same at every time.
    #[must_use]
    pub fn is_still(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }
}

/// A chain of joints from the world to the object: the first is the outermost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Animation(pub Vec<Joint>);

impl Animation {
    /// Something that stands still.
    #[must_use]
    pub fn still(rigid: Rigid) -> Self {
        Self(vec![Joint::Fixed(rigid)])
    }

    /// The object's transform at `time` seconds.
    #[must_use]
    pub fn at(&self, time: f64) -> Rigid {
        self.0.iter().fold(Rigid::IDENTITY, |outer, joint| outer.then_in(joint.at(time)))
    }

    /// Whether the object never moves.
    #[must_use]
    pub fn is_still(&self) -> bool {
        self.0.iter().all(Joint::is_still)
    }

    /// A ball of `radius` that rolls on the plane y = 0 without slipping, around a circle of
    /// `path_radius` about `centre` (on the plane), `rate` rounds a second.
    #[must_use]
    pub fn rolling(centre: Vec3, path_radius: f32, radius: f32, rate: f64) -> Self {
        let turn = |axis, rate| Joint::Spin { axis, rate, phase: 0.0 };
        Self(vec![
            Joint::Fixed(Rigid::at(centre)),
            turn(Vec3::Y, rate),
            Joint::Fixed(Rigid::at(Vec3::new(path_radius, radius, 0.0))),
            // Moving towards -z of the turning frame, so the top turns towards -z as well.
            turn(Vec3::NEG_X, rate * f64::from(path_radius / radius)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_are_periodic_and_start_where_told() {
        let spin = Joint::Spin { axis: Vec3::Y, rate: 0.25, phase: 0.0 };
        assert_eq!(spin.at(0.0), Rigid::IDENTITY);
        let (a, b) = (spin.at(1.0), spin.at(1.0 + 4.0 * 1000.0));
        assert!((a.point(Vec3::X) - b.point(Vec3::X)).length() < 1e-6);
        assert!((a.point(Vec3::X) - Vec3::NEG_Z).length() < 1e-6, "a quarter turn");
        let slide = Joint::Slide { reach: Vec3::Y, rate: 1.0, phase: 0.25 };
        assert!((slide.at(0.0).translation - Vec3::Y).length() < 1e-6);
    }

    #[test]
    fn a_rolling_ball_does_not_slip() {
        let animation = Animation::rolling(Vec3::new(1.0, 0.0, 2.0), 2.5, 0.4, 0.1);
        for i in 0..20 {
            let time = f64::from(i) * 0.37;
            let pose = animation.at(time);
            assert!((pose.translation.y - 0.4).abs() < 1e-5);
            let contact = Vec3::new(pose.translation.x, 0.0, pose.translation.z);
            // The material point in contact barely moves while the centre does.
            let local = pose.inverse_point(contact);
            let after = animation.at(time + 1e-3);
            let slipped = (after.point(local) - contact).length();
            let travelled = (after.translation - pose.translation).length();
            assert!(travelled > 1e-3, "the ball rolls");
            assert!(slipped < travelled * 0.02, "{slipped} against {travelled}");
        }
    }

    #[test]
    fn still_things_are_known_to_be_still() {
        assert!(Animation::still(Rigid::IDENTITY).is_still());
        assert!(!Animation::rolling(Vec3::ZERO, 1.0, 0.2, 0.1).is_still());
    }
}
