//! Meshes.

use super::bounds::Bounds;
use super::bvh::{self, Bvh};
use glam::{Vec2, Vec3, Vec4};
use rayon::prelude::*;

/// Most triangles of a leaf.
const LEAF: usize = 4;

/// A vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// Position, metres.
    pub position: Vec3,
    /// Unit normal.
    pub normal: Vec3,
    /// Unit tangent; w is the sign of the bitangent.
    pub tangent: Vec4,
    /// Both sets of texture coordinates, (0, 0) the top left corner of a picture.
    pub uv: [Vec2; 2],
    /// Colour and alpha, linear, 255 is 1.
    pub color: [u8; 4],
}

impl Default for Vertex {
    fn default() -> Self {
        Self {
            position: Vec3::ZERO,
            normal: Vec3::Z,
            tangent: Vec4::new(1.0, 0.0, 0.0, 1.0),
            uv: [Vec2::ZERO; 2],
            color: [255; 4],
        }
    }
}

/// A triangle, counter-clockwise from its front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    /// Indices of the vertices.
    pub corners: [u32; 3],
    /// Index of the material.
    pub material: u32,
}

/// Four joints of a vertex and how much each counts; the weights add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Binding {
    /// Indices into the skin's joints.
    pub joints: [u16; 4],
    /// Weights.
    pub weights: [f32; 4],
}

/// A morph target: what is added to each vertex at weight 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// Added to positions; empty for nothing.
    pub positions: Vec<Vec3>,
    /// Added to normals; empty for nothing.
    pub normals: Vec<Vec3>,
    /// Added to tangents; empty for nothing.
    pub tangents: Vec<Vec3>,
}

/// A mesh with its hierarchy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertices.
    pub vertices: Vec<Vertex>,
    /// Triangles, in the order of the hierarchy.
    pub triangles: Vec<Triangle>,
    /// One for each vertex, or none.
    pub bindings: Vec<Binding>,
    /// Morph targets.
    pub targets: Vec<Target>,
    /// The hierarchy over the triangles.
    pub bvh: Bvh,
}

impl Mesh {
    /// Makes the hierarchy, which puts the triangles into its order. `go_on` is asked now and
    /// then; when it says no, the hierarchy is not to be used.
    #[must_use]
    pub fn built(mut self, go_on: &(dyn Fn() -> bool + Sync)) -> Self {
        let bounds: Vec<Bounds> = self.triangles.par_iter().map(|t| self.box_of(t, |v| v.position)).collect();
        let (bvh, order) = Bvh::build(&bounds, LEAF, bvh::MESH_DEPTH, go_on);
        self.triangles = order.into_par_iter().map(|i| self.triangles[i as usize]).collect();
        self.bvh = bvh;
        self
    }

    fn box_of(&self, triangle: &Triangle, position: impl Fn(&Vertex) -> Vec3) -> Bounds {
        bvh::around(triangle.corners.map(|i| position(&self.vertices[i as usize])))
    }

    /// Its box at rest.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bvh.nodes.first().map_or(Bounds::EMPTY, |root| root.bounds)
    }

    /// The hierarchy around vertices that have moved.
    pub(crate) fn refitted(&self, vertices: &[Vertex]) -> Vec<bvh::Node> {
        self.bvh.refit(|i| bvh::around(self.triangles[i as usize].corners.map(|v| vertices[v as usize].position)))
    }
}
