//! Boxes along the axes.

use glam::{Affine3A, Vec3, Vec3A};

/// A box along the axes; empty when a lower corner is above the upper one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower corner.
    pub low: Vec3,
    /// Upper corner.
    pub high: Vec3,
}

impl Bounds {
    /// Holds nothing.
    pub const EMPTY: Self = Self { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    /// Takes a point in.
    pub fn grow(&mut self, point: Vec3) {
        self.low = self.low.min(point);
        self.high = self.high.max(point);
    }

    /// Around both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Whether it holds no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.low.cmpgt(self.high).any()
    }

    /// Its middle.
    #[must_use]
    pub fn centre(&self) -> Vec3 {
        (self.low + self.high) * 0.5
    }

    /// Lengths of its sides; zero when empty.
    #[must_use]
    pub fn size(&self) -> Vec3 {
        (self.high - self.low).max(Vec3::ZERO)
    }

    /// Half of its surface, what a random ray meets it in proportion to.
    #[must_use]
    pub fn area(&self) -> f32 {
        let s = self.size();
        s.x * s.y + s.y * s.z + s.z * s.x
    }

    /// A box around the transformed box.
    #[must_use]
    pub fn transformed(&self, to: &Affine3A) -> Self {
        if self.is_empty() {
            return *self;
        }
        let centre = to.transform_point3(self.centre());
        let half = Vec3A::from(self.size() * 0.5);
        let m = to.matrix3;
        let reach = Vec3::from(m.x_axis.abs() * half.x + m.y_axis.abs() * half.y + m.z_axis.abs() * half.z);
        Self { low: centre - reach, high: centre + reach }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;

    #[test]
    fn a_turned_box_holds_its_corners() {
        let bounds = Bounds { low: Vec3::new(-1.0, 0.0, 2.0), high: Vec3::new(1.0, 3.0, 4.0) };
        let to = Affine3A::from_scale_rotation_translation(
            Vec3::new(1.0, -2.0, 0.5),
            Quat::from_rotation_x(0.7) * Quat::from_rotation_y(1.9),
            Vec3::new(5.0, 6.0, 7.0),
        );
        let outer = bounds.transformed(&to);
        for corner in 0..8 {
            let pick = |bit: usize, low: f32, high: f32| if corner >> bit & 1 == 0 { low } else { high };
            let p = Vec3::new(
                pick(0, bounds.low.x, bounds.high.x),
                pick(1, bounds.low.y, bounds.high.y),
                pick(2, bounds.low.z, bounds.high.z),
            );
            let q = to.transform_point3(p);
            assert!(q.cmpge(outer.low - 1e-4).all() && q.cmple(outer.high + 1e-4).all());
        }
        assert!(Bounds::EMPTY.transformed(&to).is_empty());
    }
}
