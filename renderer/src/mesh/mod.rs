//! Triangle models: meshes, materials, textures, nodes and what moves them.
//!
//! A model is data alone; [`crate::gltf`] makes one from a file. Its pose at an instant is a pure
//! function of time.

mod bounds;
mod bvh;
mod image;
mod material;
mod node;
mod pack;
mod pose;
mod surface;
mod tangent;
mod track;

pub use bounds::Bounds;
pub use bvh::{Bvh, Node as BvhNode};
pub use image::Image;
pub(crate) use image::level_sizes;
pub use material::{Alpha, Material, Mipmaps, TextureUse, Wrap};
pub use node::{Light, LightKind, Local, ModelCamera, Node, Placement, Skin};
pub use pose::Pose;
pub use surface::{Binding, Mesh, Target, Triangle, Vertex};
pub use tangent::generate_tangents;
pub use track::{Interpolation, Property, Track};

pub(crate) use pack::{Layout, attribute_words, frame_words, image_starts, static_words};

/// A model: everything that a glTF scene brings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Name, for people.
    pub name: String,
    /// Meshes, each with its hierarchy of boxes.
    pub meshes: Vec<Mesh>,
    /// Materials that triangles refer to.
    pub materials: Vec<Material>,
    /// Pictures that materials refer to.
    pub images: Vec<Image>,
    /// Nodes, every parent before its children.
    pub nodes: Vec<Node>,
    /// Where meshes stand. Object ids in the frame are indices into this plus 1, after those of
    /// the analytic objects.
    pub placements: Vec<Placement>,
    /// Skins that placements refer to.
    pub skins: Vec<Skin>,
    /// Animation of node properties.
    pub tracks: Vec<Track>,
    /// Lights.
    pub lights: Vec<Light>,
    /// Cameras.
    pub cameras: Vec<ModelCamera>,
}

impl Model {
    /// Whether vertices of a placement's mesh move against each other: skinned or morphed.
    #[must_use]
    pub fn is_deformed(&self, placement: &Placement) -> bool {
        placement.skin.is_some() || !self.meshes[placement.mesh].targets.is_empty()
    }

    /// For each picture whether it holds colours, which are averaged as light, rather than numbers.
    #[must_use]
    pub fn colour_images(&self) -> Vec<bool> {
        let mut colour = vec![false; self.images.len()];
        for material in &self.materials {
            for texture in [material.base_texture, material.emission_texture].into_iter().flatten() {
                colour[texture.image] = true;
            }
        }
        colour
    }

    /// Triangles of all placements together.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.placements.iter().map(|p| self.meshes[p.mesh].triangles.len()).sum()
    }

    /// Makes everything that a device is given at `time` seconds, without one, and says how many
    /// elements of 16 bytes it takes. For tests: no model may make this fail.
    pub fn packed_elements(&self, time: f64) -> usize {
        let layout = Layout::new(self);
        let fixed = static_words(self, &self.images, &layout).len() + attribute_words(self).len();
        fixed + frame_words(self, &layout, time, time - 0.03, 1).len()
    }

    /// Bounds of everything at `time` seconds, in the world. What an animation throws beyond all
    /// numbers is left out, so that they are finite.
    #[must_use]
    pub fn bounds(&self, time: f64) -> Bounds {
        const FAR: f32 = 1e12;
        let pose = self.pose(time);
        let mut all = Bounds::EMPTY;
        let mut grow = |point: glam::Vec3| {
            if point.is_finite() {
                all.grow(point.clamp(glam::Vec3::splat(-FAR), glam::Vec3::splat(FAR)));
            }
        };
        for placement in &self.placements {
            let mesh = &self.meshes[placement.mesh];
            let to_world = self.placement_transform(placement, &pose);
            if self.is_deformed(placement) {
                for vertex in self.deformed(placement, &pose) {
                    grow(to_world.transform_point3(vertex.position));
                }
            } else {
                let bounds = mesh.bounds().transformed(&to_world);
                grow(bounds.low);
                grow(bounds.high);
            }
        }
        if all.is_empty() { Bounds { low: glam::Vec3::ZERO, high: glam::Vec3::ZERO } } else { all }
    }
}
