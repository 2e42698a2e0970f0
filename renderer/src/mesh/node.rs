//! Nodes, and what hangs on them.

use glam::{Affine3A, Quat, Vec3};

/// Transform of a node in its parent's space: scale, then rotation, then translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Local {
    /// In parts, which can be animated.
    Parts {
        /// Translation, metres.
        translation: Vec3,
        /// Unit quaternion.
        rotation: Quat,
        /// Scale along the axes.
        scale: Vec3,
    },
    /// As a whole.
    Whole(Affine3A),
}

impl Local {
    /// The transform.
    #[must_use]
    pub fn affine(&self) -> Affine3A {
        match *self {
            Self::Parts { translation, rotation, scale } => {
                Affine3A::from_scale_rotation_translation(scale, rotation, translation)
            }
            Self::Whole(affine) => affine,
        }
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Index of the parent, which comes before.
    pub parent: Option<usize>,
    /// Transform at rest.
    pub local: Local,
    /// Weights of the morph targets at rest.
    pub weights: Vec<f32>,
}

/// A mesh that stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// The node it moves with.
    pub node: usize,
    /// Transform in the node's space, of an instance among many.
    pub offset: Affine3A,
    /// Index of the mesh.
    pub mesh: usize,
    /// Index of the skin; it replaces the node's transform.
    pub skin: Option<usize>,
}

/// Joints that a skin follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    /// Nodes, and the transform from the mesh's space to each one's at rest.
    pub joints: Vec<(usize, Affine3A)>,
}

/// Kind of a light; it shines along -z of its node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LightKind {
    /// From infinitely far; illuminance in lux.
    Directional,
    /// To all sides; intensity in candela.
    Point,
    /// Into a cone; intensity in candela.
    Spot {
        /// Angle from the axis up to which it is full, radians.
        inner: f32,
        /// Angle from the axis where it ends, radians.
        outer: f32,
    },
}

/// A light without size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light {
    /// The node it hangs on.
    pub node: usize,
    /// Its kind.
    pub kind: LightKind,
    /// Linear RGB times lux or candela.
    pub power: Vec3,
    /// Where its light ends, metres; infinite for none.
    pub range: f32,
}

/// A camera; it looks along -z of its node.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCamera {
    /// Name.
    pub name: String,
    /// The node it hangs on.
    pub node: usize,
    /// Vertical field of view, radians.
    pub fov_y: f32,
}
