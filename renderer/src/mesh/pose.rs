//! A model at an instant.

use super::node::{Local, Placement};
use super::surface::{Mesh, Vertex};
use super::track::Property;
use super::{Bounds, Model};
use crate::path::{CameraKey, CameraPath, Round};
use glam::{Affine3A, Quat, Vec3, Vec4};

/// Keys a second of the path of a moving camera, and most keys.
const CAMERA_KEYS: f64 = 20.0;
const MOST_KEYS: f64 = 2000.0;
/// Nodes that are placed for the keys of all cameras together, about.
const CAMERA_WORK: f64 = 3e7;

/// Where all nodes are, and how much each morph target counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    /// World from node space.
    pub worlds: Vec<Affine3A>,
    /// Weights of the morph targets of each node's mesh.
    pub weights: Vec<Vec<f32>>,
}

fn animate(local: &mut Local, property: Property, value: &[f32]) {
    // Only nodes whose transform is given in parts can be animated.
    let Local::Parts { translation, rotation, scale } = local else { return };
    match (property, value) {
        (Property::Translation, &[x, y, z]) => *translation = Vec3::new(x, y, z),
        (Property::Scale, &[x, y, z]) => *scale = Vec3::new(x, y, z),
        (Property::Rotation, &[x, y, z, w]) => {
            *rotation = Quat::from_vec4(Vec4::new(x, y, z, w).normalize_or(Vec4::W));
        }
        _ => {}
    }
}

impl Model {
    /// The model at `time` seconds.
    #[must_use]
    pub fn pose(&self, time: f64) -> Pose {
        let mut locals: Vec<Local> = self.nodes.iter().map(|n| n.local).collect();
        let mut weights: Vec<Vec<f32>> = self.nodes.iter().map(|n| n.weights.clone()).collect();
        for track in &self.tracks {
            let value = track.at(time);
            match track.property {
                Property::Weights => weights[track.node] = value,
                property => animate(&mut locals[track.node], property, &value),
            }
        }
        let mut worlds: Vec<Affine3A> = Vec::with_capacity(self.nodes.len());
        for (node, local) in self.nodes.iter().zip(&locals) {
            let parent = node.parent.map_or(Affine3A::IDENTITY, |p| worlds[p]);
            worlds.push(parent * local.affine());
        }
        Pose { worlds, weights }
    }

    /// World from a placement's mesh; skinned vertices are in the world already.
    #[must_use]
    pub fn placement_transform(&self, placement: &Placement, pose: &Pose) -> Affine3A {
        if placement.skin.is_some() { Affine3A::IDENTITY } else { pose.worlds[placement.node] * placement.offset }
    }

    /// Vertices of a placement's mesh after morphing and skinning.
    #[must_use]
    pub fn deformed(&self, placement: &Placement, pose: &Pose) -> Vec<Vertex> {
        let mesh = &self.meshes[placement.mesh];
        let mut vertices = mesh.vertices.clone();
        morph(mesh, &pose.weights[placement.node], &mut vertices);
        if let Some(skin) = placement.skin {
            let joints: Vec<Affine3A> =
                self.skins[skin].joints.iter().map(|&(node, inverse)| pose.worlds[node] * inverse).collect();
            let unbound = pose.worlds[placement.node] * placement.offset;
            skin_vertices(mesh, &joints, &unbound, &mut vertices);
        }
        vertices
    }

    /// Each camera's name and path; a moving camera's path is one round of its motion.
    #[must_use]
    pub fn camera_paths(&self) -> Vec<(String, CameraPath)> {
        let duration = self.tracks.iter().map(|t| t.duration).fold(0.0, f64::max);
        let key = |node: usize, time: f64| {
            let world = self.pose(time).worlds[node];
            let position = Vec3::from(world.translation);
            let position = if position.is_finite() { position } else { Vec3::ZERO };
            CameraKey { position, target: position + world.transform_vector3(Vec3::NEG_Z).normalize_or(Vec3::NEG_Z) }
        };
        // Every key needs the whole pose; where there is much of everything, cameras move less smoothly.
        let most =
            CAMERA_WORK / (self.nodes.len() + self.tracks.len()).max(1) as f64 / self.cameras.len().max(1) as f64;
        let path = |node: usize, fov_y: f32| {
            let moves = self.is_animated(node) && duration > 0.0;
            let keys = (duration * CAMERA_KEYS).ceil().clamp(4.0, most.clamp(4.0, MOST_KEYS));
            let keys = if moves { keys } else { 1.0 };
            let keys = keys as usize;
            let seconds = if moves { duration } else { 1.0 };
            let keys = (0..keys).map(|i| key(node, seconds * i as f64 / keys as f64)).collect();
            CameraPath::Round(Round { keys, seconds, fov_y })
        };
        self.cameras.iter().map(|c| (c.name.clone(), path(c.node, c.fov_y))).collect()
    }

    fn is_animated(&self, node: usize) -> bool {
        let mut at = Some(node);
        while let Some(node) = at {
            if self.tracks.iter().any(|t| t.node == node && t.property != Property::Weights) {
                return true;
            }
            at = self.nodes[node].parent;
        }
        false
    }

    /// Bounds over a round of the animation, from a few instants of it.
    #[must_use]
    pub fn bounds_in_motion(&self) -> Bounds {
        let duration = self.tracks.iter().map(|t| t.duration).fold(0.0, f64::max);
        let instants = if duration > 0.0 { 4 } else { 1 };
        let at = |i: i32| self.bounds(duration * f64::from(i) / f64::from(instants));
        (0..instants).map(at).fold(Bounds::EMPTY, Bounds::union)
    }
}

fn morph(mesh: &Mesh, weights: &[f32], vertices: &mut [Vertex]) {
    for (target, &weight) in mesh.targets.iter().zip(weights) {
        if weight == 0.0 {
            continue;
        }
        for (vertex, by) in vertices.iter_mut().zip(&target.positions) {
            vertex.position += *by * weight;
        }
        for (vertex, by) in vertices.iter_mut().zip(&target.normals) {
            vertex.normal += *by * weight;
        }
        for (vertex, by) in vertices.iter_mut().zip(&target.tangents) {
            vertex.tangent += by.extend(0.0) * weight;
        }
    }
    if !mesh.targets.is_empty() {
        for vertex in vertices {
            vertex.normal = vertex.normal.normalize_or(Vec3::Z);
        }
    }
}

fn skin_vertices(mesh: &Mesh, joints: &[Affine3A], unbound: &Affine3A, vertices: &mut [Vertex]) {
    for (vertex, binding) in vertices.iter_mut().zip(&mesh.bindings) {
        let mut sum = [Vec3::ZERO; 3];
        let mut total = 0.0;
        for (&joint, &weight) in binding.joints.iter().zip(&binding.weights) {
            let Some(joint) = joints.get(usize::from(joint)).filter(|_| weight != 0.0) else { continue };
            total += weight;
            sum[0] += joint.transform_point3(vertex.position) * weight;
            sum[1] += joint.transform_vector3(vertex.normal) * weight;
            sum[2] += joint.transform_vector3(vertex.tangent.truncate()) * weight;
        }
        if total == 0.0 {
            // A vertex that follows no joint stays with the node.
            sum = [
                unbound.transform_point3(vertex.position),
                unbound.transform_vector3(vertex.normal),
                unbound.transform_vector3(vertex.tangent.truncate()),
            ];
        }
        vertex.position = sum[0];
        vertex.normal = sum[1].normalize_or(Vec3::Z);
        vertex.tangent = sum[2].normalize_or(Vec3::X).extend(vertex.tangent.w);
    }
}
