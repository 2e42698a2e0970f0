//! Analytic shapes.

use glam::Vec3;

/// A sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Centre.
    pub centre: Vec3,
    /// Radius, metres.
    pub radius: f32,
}

impl Sphere {
    /// A sphere around all of `parts`: around the middle of their box, not the smallest one.
    #[must_use]
    pub fn around(parts: &[Self]) -> Self {
        let low = parts.iter().map(|s| s.centre - s.radius);
        let high = parts.iter().map(|s| s.centre + s.radius);
        let (Some(low), Some(high)) = (low.reduce(Vec3::min), high.reduce(Vec3::max)) else {
            return Self { centre: Vec3::ZERO, radius: 0.0 };
        };
        let centre = (low + high) * 0.5;
        let reach = |s: &Self| (s.centre - centre).length() + s.radius;
        Self { centre, radius: parts.iter().map(reach).fold(0.0, f32::max) }
    }
}

/// A shape in the space of its object. Lengths in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// The endless plane y = 0.
    Ground,
    /// A box along the axes.
    Box {
        /// Centre.
        centre: Vec3,
        /// Half of each side.
        half: Vec3,
    },
    /// A sphere.
    Sphere(Sphere),
    /// A cylinder with round ends.
    Capsule {
        /// Centre of one end.
        from: Vec3,
        /// Centre of the other end.
        to: Vec3,
        /// Radius.
        radius: f32,
    },
    /// A cylinder with flat ends.
    Cylinder {
        /// Centre of one end.
        from: Vec3,
        /// Centre of the other end.
        to: Vec3,
        /// Radius.
        radius: f32,
    },
    /// An infinitely thin ring with an inside and an outside.
    Band {
        /// Centre.
        centre: Vec3,
        /// Unit axis.
        axis: Vec3,
        /// Radius.
        radius: f32,
        /// Half of its extent along the axis.
        half_width: f32,
    },
    /// A rectangle of wire mesh in the plane z = `centre.z`.
    Lattice {
        /// Centre.
        centre: Vec3,
        /// Half of its extent in x and y.
        half: [f32; 2],
        /// Distance from wire to wire.
        pitch: f32,
        /// Width of a wire.
        wire: f32,
    },
}

impl Shape {
    /// A sphere around the shape; `None` for an endless one.
    #[must_use]
    pub fn bound(&self) -> Option<Sphere> {
        let sphere = |centre, radius| Some(Sphere { centre, radius });
        match *self {
            Self::Ground => None,
            Self::Box { centre, half } => sphere(centre, half.length()),
            Self::Sphere(s) => Some(s),
            Self::Capsule { from, to, radius } => sphere((from + to) * 0.5, (to - from).length() * 0.5 + radius),
            Self::Cylinder { from, to, radius } => {
                sphere((from + to) * 0.5, ((to - from).length() * 0.5).hypot(radius))
            }
            Self::Band { centre, radius, half_width, .. } => sphere(centre, radius.hypot(half_width)),
            Self::Lattice { centre, half, .. } => sphere(centre, half[0].hypot(half[1])),
        }
    }
}

/// A shape with its material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Primitive {
    /// The shape.
    pub shape: Shape,
    /// Index of the material in the scene.
    pub material: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_their_shapes() {
        let box_bound = Shape::Box { centre: Vec3::X, half: Vec3::new(1.0, 2.0, 3.0) }.bound().unwrap();
        assert!((Vec3::new(2.0, 2.0, 3.0) - box_bound.centre).length() <= box_bound.radius + 1e-5);
        let rod = Shape::Cylinder { from: Vec3::ZERO, to: Vec3::Y * 2.0, radius: 0.5 };
        let bound = rod.bound().unwrap();
        assert!((Vec3::new(0.5, 2.0, 0.0) - bound.centre).length() <= bound.radius + 1e-5);
        assert_eq!(Shape::Ground.bound(), None);
    }

    #[test]
    fn a_sphere_around_spheres_holds_them() {
        let parts = [
            Sphere { centre: Vec3::new(-2.0, 0.0, 1.0), radius: 0.5 },
            Sphere { centre: Vec3::new(3.0, 1.0, 0.0), radius: 1.0 },
        ];
        let all = Sphere::around(&parts);
        for s in parts {
            assert!((s.centre - all.centre).length() + s.radius <= all.radius + 1e-5);
        }
        assert_eq!(Sphere::around(&[]).radius, 0.0);
    }
}
