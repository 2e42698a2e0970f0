//! Rigid transforms of instances.

use glam::{Mat3, Quat, Vec3};

/// A rotation followed by a translation: `world = rotation * local + translation`.
/// Lengths in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rigid {
    /// Unit quaternion.
    pub rotation: Quat,
    /// World position of the local origin.
    pub translation: Vec3,
}

impl Rigid {
    /// Leaves every point where it is.
    pub const IDENTITY: Self = Self { rotation: Quat::IDENTITY, translation: Vec3::ZERO };

    /// A transform from its parts.
    #[must_use]
    pub const fn new(rotation: Quat, translation: Vec3) -> Self {
        Self { rotation, translation }
    }

    /// Moves without turning.
    #[must_use]
    pub const fn at(translation: Vec3) -> Self {
        Self::new(Quat::IDENTITY, translation)
    }

    /// Moves, and turns by `angle` radians about the vertical axis.
    #[must_use]
    pub fn turned(translation: Vec3, angle: f32) -> Self {
        Self::new(Quat::from_rotation_y(angle), translation)
    }

    /// `self` after `inner`: `(self * inner)(p) = self(inner(p))`.
    #[must_use]
    pub fn then_in(self, inner: Self) -> Self {
        Self { rotation: (self.rotation * inner.rotation).normalize(), translation: self.point(inner.translation) }
    }

    /// World position of a local point.
    #[must_use]
    pub fn point(self, local: Vec3) -> Vec3 {
        self.rotation * local + self.translation
    }

    /// Local position of a world point.
    #[must_use]
    pub fn inverse_point(self, world: Vec3) -> Vec3 {
        self.rotation.conjugate() * (world - self.translation)
    }

    /// The three rows of the matrix `[R | t]`, as the shaders read it.
    #[must_use]
    pub fn rows(self) -> [[f32; 4]; 3] {
        let m = Mat3::from_quat(self.rotation).transpose();
        let t = self.translation;
        [m.x_axis.extend(t.x).to_array(), m.y_axis.extend(t.y).to_array(), m.z_axis.extend(t.z).to_array()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec4;

    fn sample() -> Rigid {
        Rigid::new(Quat::from_euler(glam::EulerRot::XYZ, 0.3, -1.1, 2.0), Vec3::new(1.0, -2.0, 0.5))
    }

    #[test]
    fn inverse_undoes_and_keeps_lengths() {
        let (a, b) = (Vec3::new(0.2, 3.0, -1.0), Vec3::new(-4.0, 0.1, 0.7));
        let r = sample();
        assert!((r.inverse_point(r.point(a)) - a).length() < 1e-5);
        assert!(((r.point(a) - r.point(b)).length() - (a - b).length()).abs() < 1e-5);
    }

    #[test]
    fn composition_applies_the_inner_first() {
        let (outer, inner) = (sample(), Rigid::turned(Vec3::new(0.0, 1.0, 2.0), 0.7));
        let p = Vec3::new(0.4, -0.3, 1.2);
        let both = outer.then_in(inner).point(p);
        assert!((both - outer.point(inner.point(p))).length() < 1e-5);
    }

    #[test]
    fn rows_are_the_matrix() {
        let (r, p) = (sample(), Vec3::new(0.4, -0.3, 1.2));
        let by_rows = r.rows().map(|row| Vec4::from_array(row).dot(p.extend(1.0)));
        assert!((Vec3::from_array(by_rows) - r.point(p)).length() < 1e-5);
    }
}
