//! Animated properties of nodes.

use glam::Quat;

/// What a track animates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// Translation, 3 numbers.
    Translation,
    /// Rotation, a unit quaternion x, y, z, w.
    Rotation,
    /// Scale, 3 numbers.
    Scale,
    /// Weights of the morph targets.
    Weights,
}

/// How values between keys come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The last key's value.
    Step,
    /// Straight from key to key; rotations along the shorter arc.
    Linear,
    /// Hermite splines: each key has an in-tangent, a value and an out-tangent.
    Cubic,
}

/// Keys of one property of one node; played again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Index of the node.
    pub node: usize,
    /// What is animated.
    pub property: Property,
    /// How.
    pub interpolation: Interpolation,
    /// Seconds after which it begins anew; 0 stands still at the first instant.
    pub duration: f64,
    /// Ascending times of the keys, seconds; at least one.
    pub times: Vec<f32>,
    /// The same number of values for each key.
    pub values: Vec<f32>,
}

impl Track {
    /// Numbers of one value.
    #[must_use]
    pub fn width(&self) -> usize {
        let per_key = self.values.len() / self.times.len().max(1);
        if self.interpolation == Interpolation::Cubic { per_key / 3 } else { per_key }
    }

    /// The value at `time` seconds, which may be of any sign and size.
    #[must_use]
    pub fn at(&self, time: f64) -> Vec<f32> {
        let t = if self.duration > 0.0 { time.rem_euclid(self.duration) as f32 } else { 0.0 };
        let width = self.width();
        let next = self.times.partition_point(|&key| key <= t);
        let last = self.times.len() - 1;
        let (a, b) = (next.saturating_sub(1), next.min(last));
        let cubic = self.interpolation == Interpolation::Cubic;
        // Part 0 is the in-tangent, 1 the value, 2 the out-tangent.
        let key = |index: usize, part: usize| {
            let first = if cubic { (3 * index + part) * width } else { index * width };
            &self.values[first..first + width]
        };
        if a == b || next == 0 || self.interpolation == Interpolation::Step {
            return key(a, 1).to_vec();
        }
        let span = self.times[b] - self.times[a];
        let f = if span > 0.0 { (t - self.times[a]) / span } else { 0.0 };
        let rotation = self.property == Property::Rotation && width == 4;
        if cubic {
            let (f2, f3) = (f * f, f * f * f);
            let terms = |i: usize| {
                (2.0 * f3 - 3.0 * f2 + 1.0) * key(a, 1)[i]
                    + span * (f3 - 2.0 * f2 + f) * key(a, 2)[i]
                    + (3.0 * f2 - 2.0 * f3) * key(b, 1)[i]
                    + span * (f3 - f2) * key(b, 0)[i]
            };
            (0..width).map(terms).collect()
        } else if rotation {
            let quat = |v: &[f32]| Quat::from_xyzw(v[0], v[1], v[2], v[3]);
            quat(key(a, 1)).slerp(quat(key(b, 1)), f).to_array().to_vec()
        } else {
            key(a, 1).iter().zip(key(b, 1)).map(|(a, b)| a + (b - a) * f).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(interpolation: Interpolation, values: &[f32]) -> Track {
        let property = Property::Translation;
        Track { node: 0, property, interpolation, duration: 2.0, times: vec![0.5, 1.5], values: values.to_vec() }
    }

    #[test]
    fn steps_and_lines() {
        let step = track(Interpolation::Step, &[1.0, 5.0]);
        let line = track(Interpolation::Linear, &[1.0, 5.0]);
        for (time, stepped, straight) in [(0.0, 1.0, 1.0), (1.0, 1.0, 3.0), (1.5, 5.0, 5.0), (1.9, 5.0, 5.0)] {
            assert_eq!(step.at(time), [stepped]);
            assert_eq!(line.at(time), [straight]);
            assert_eq!(line.at(time - 4.0), [straight], "it repeats");
        }
    }

    #[test]
    fn splines_have_the_given_slopes() {
        let cubic = track(Interpolation::Cubic, &[9.0, 1.0, 2.0, -3.0, 5.0, 9.0]);
        assert_eq!(cubic.width(), 1);
        assert_eq!((cubic.at(0.5), cubic.at(1.5)), (vec![1.0], vec![5.0]));
        let h = 1e-3;
        let slope = (cubic.at(0.5 + h)[0] - cubic.at(0.5)[0]) / h as f32;
        assert!((slope - 2.0).abs() < 0.05, "{slope}");
        let slope = (cubic.at(1.5)[0] - cubic.at(1.5 - h)[0]) / h as f32;
        assert!((slope + 3.0).abs() < 0.05, "{slope}");
    }

    #[test]
    fn rotations_take_the_shorter_arc() {
        let (a, b) = (Quat::from_rotation_y(0.2), -Quat::from_rotation_y(0.6));
        let values = [a.to_array(), b.to_array()].concat();
        let turn = Track { property: Property::Rotation, ..track(Interpolation::Linear, &values) };
        let middle = Quat::from_slice(&turn.at(1.0));
        assert!(middle.dot(Quat::from_rotation_y(0.4)).abs() > 0.999_99);
    }
}
