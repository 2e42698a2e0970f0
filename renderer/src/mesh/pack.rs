//! A model as the shaders read it (`scene_mesh.glsl`): one buffer of 16-byte elements, whose
//! first part never changes and whose second part is one frame's, one of vertex attributes, and
//! one of texels.

use super::bvh::{self, Bvh};
use super::material::{Alpha, Material, Mipmaps, TextureUse, Wrap};
use super::node::LightKind;
use super::surface::Vertex;
use super::{Bounds, Image, Model, Pose};
use glam::{Affine3A, Vec2, Vec3, Vec4};
use std::f32::consts::PI;

/// Elements of each thing.
const HEADER: usize = 2;
const NODE: usize = 2;
const ATTRIBUTES: usize = 2;
const MATERIAL: usize = 5;
const TEXTURE: usize = 3;
const LIGHT: usize = 4;
const INSTANCE: usize = 11;

/// Bits of a triangle's last word above the material: to be seen from the back, alpha counts.
const DOUBLE_SIDED: u32 = 1 << 31;
const ALPHA: u32 = 1 << 30;

type Element = [u32; 4];

/// Where everything is, in elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    meshes: Vec<MeshPlace>,
    triangles: usize,
    materials: usize,
    textures: usize,
    /// First element of the part that changes from frame to frame.
    pub(crate) dynamic: usize,
    instances: usize,
    top: usize,
    /// First element of each deformed placement's vertices and of its nodes.
    deformed: Vec<Option<(usize, usize)>>,
    /// Number of all elements, and of those in the buffer of attributes.
    pub(crate) end: usize,
    pub(crate) attributes: usize,
    /// Whether alpha and pictures matter anywhere.
    pub(crate) alpha: bool,
    pub(crate) textured: bool,
}

/// First node, vertex and attribute element of a mesh, and its first triangle.
#[derive(Clone, Copy, Debug)]
struct MeshPlace {
    nodes: usize,
    vertices: usize,
    attributes: usize,
    triangle: usize,
}

impl Layout {
    /// Places everything.
    pub(crate) fn new(model: &Model) -> Self {
        let mut layout = Self::default();
        let mut at = HEADER;
        let mut take = |count: usize| {
            let start = at;
            at += count;
            start
        };
        let mut triangle = 0;
        for mesh in &model.meshes {
            layout.meshes.push(MeshPlace {
                nodes: take(NODE * mesh.bvh.nodes.len()),
                vertices: take(mesh.vertices.len()),
                attributes: layout.attributes,
                triangle,
            });
            layout.attributes += ATTRIBUTES * mesh.vertices.len();
            triangle += mesh.triangles.len();
        }
        layout.triangles = take(triangle);
        layout.materials = take(MATERIAL * model.materials.len());
        let textures = model.materials.iter().flat_map(Material::textures).flatten().count();
        layout.textures = take(TEXTURE * textures);
        layout.dynamic = take(LIGHT * model.lights.len());
        layout.instances = take(INSTANCE * model.placements.len());
        layout.top = take(NODE * (2 * model.placements.len()).max(1));
        for placement in &model.placements {
            let mesh = &model.meshes[placement.mesh];
            layout.deformed.push(
                model
                    .is_deformed(placement)
                    .then(|| (take(2 * mesh.vertices.len()), take(NODE * mesh.bvh.nodes.len()))),
            );
        }
        layout.end = at;
        layout.alpha = model.materials.iter().any(|m| m.alpha != Alpha::Opaque);
        layout.textured = textures > 0;
        layout
    }
}

fn floats(v: [f32; 4]) -> Element {
    v.map(f32::to_bits)
}

/// A unit vector in two 16-bit numbers: the octahedron unfolded.
fn octahedral(n: Vec3) -> u32 {
    let n = n / (n.x.abs() + n.y.abs() + n.z.abs()).max(f32::MIN_POSITIVE);
    let sign = |v: f32| if v >= 0.0 { 1.0 } else { -1.0 };
    let flat = Vec2::new(n.x, n.y);
    let folded = if n.z >= 0.0 {
        flat
    } else {
        Vec2::new((1.0 - flat.y.abs()) * sign(flat.x), (1.0 - flat.x.abs()) * sign(flat.y))
    };
    let snorm = |v: f32| u32::from((v.clamp(-1.0, 1.0) * 32767.0).round() as i16 as u16);
    snorm(folded.x) | snorm(folded.y) << 16
}

/// A tangent: the lowest bit is the sign of the bitangent.
fn tangent(t: Vec4) -> u32 {
    octahedral(t.truncate()) & !1 | u32::from(t.w < 0.0)
}

fn node_elements(nodes: &[bvh::Node]) -> impl Iterator<Item = Element> {
    nodes.iter().flat_map(|node| {
        let (low, high) = (node.bounds.low.to_array(), node.bounds.high.to_array());
        let with = |v: [f32; 3], word: u32| [v[0].to_bits(), v[1].to_bits(), v[2].to_bits(), word];
        [with(low, node.link), with(high, node.count | node.axis << 8)]
    })
}

fn position(vertex: &Vertex) -> Element {
    let [x, y, z] = vertex.position.to_array().map(f32::to_bits);
    [x, y, z, octahedral(vertex.normal)]
}

fn attributes(vertex: &Vertex) -> [Element; 2] {
    let [a, b] = vertex.uv;
    [floats([a.x, a.y, b.x, b.y]), [tangent(vertex.tangent), u32::from_le_bytes(vertex.color), 0, 0]]
}

/// The part that never changes. `images` are the model's pictures in the sizes that are used.
pub(crate) fn static_words(model: &Model, images: &[Image], layout: &Layout) -> Vec<Element> {
    let mut out: Vec<Element> = Vec::with_capacity(layout.dynamic);
    let word = |v: usize| v as u32;
    out.push([word(layout.top), word(layout.instances), word(layout.triangles), word(layout.materials)]);
    out.push([word(layout.textures), word(layout.dynamic), word(model.lights.len()), word(model.placements.len())]);
    for mesh in &model.meshes {
        out.extend(node_elements(&mesh.bvh.nodes));
        out.extend(mesh.vertices.iter().map(position));
    }
    for triangle in model.meshes.iter().flat_map(|m| &m.triangles) {
        let [a, b, c] = triangle.corners;
        let material = &model.materials[triangle.material as usize];
        let mut word = triangle.material;
        if material.double_sided {
            word |= DOUBLE_SIDED;
        }
        if material.alpha != Alpha::Opaque {
            word |= ALPHA;
        }
        out.push([a, b, c, word]);
    }
    let starts = image_starts(images);
    let mut textures = Vec::new();
    for material in &model.materials {
        out.extend(material_elements(material, images, &starts, &mut textures));
    }
    out.extend(textures);
    out
}

fn material_elements(
    m: &Material,
    images: &[Image],
    starts: &[u32],
    textures: &mut Vec<Element>,
) -> [Element; MATERIAL] {
    // 0 for none, else the texture's number plus 1.
    let slots = m.textures().map(|texture| {
        texture.map_or(0, |texture| {
            textures.extend(texture_elements(&texture, images, starts));
            (textures.len() / TEXTURE) as u32
        })
    });
    let (mode, cutoff) = match m.alpha {
        Alpha::Opaque => (0, 0.0),
        Alpha::Mask(cutoff) => (1, cutoff),
        Alpha::Blend => (2, 0.0),
    };
    [
        floats(m.base.to_array()),
        floats([m.emission.x, m.emission.y, m.emission.z, cutoff]),
        floats([m.metallic, m.roughness, m.normal_scale, m.occlusion_strength]),
        [mode | u32::from(m.unlit) << 2, slots[0], slots[1], slots[2]],
        [slots[3], slots[4], 0, 0],
    ]
}

fn texture_elements(t: &TextureUse, images: &[Image], starts: &[u32]) -> [Element; TEXTURE] {
    let image = &images[t.image];
    let wrap = |w: Wrap| match w {
        Wrap::Repeat => 0,
        Wrap::Clamp => 1,
        Wrap::Mirror => 2,
    };
    let mipmaps = match t.mipmaps {
        Mipmaps::None => 0,
        Mipmaps::Nearest => 1,
        Mipmaps::Linear => 2,
    };
    let filters = u32::from(t.smooth) << 4 | u32::from(t.smooth_small) << 6 | mipmaps << 7;
    let how = wrap(t.wrap[0]) | wrap(t.wrap[1]) << 2 | t.set << 5 | filters;
    let m = t.transform.matrix2.to_cols_array();
    let move_by = t.transform.translation;
    [[starts[t.image], image.width, image.height, how], floats(m), floats([move_by.x, move_by.y, 0.0, 0.0])]
}

/// First texel of each picture, which its mipmaps follow.
pub(crate) fn image_starts(images: &[Image]) -> Vec<u32> {
    let start = |at: &mut u64, image: &Image| {
        let here = *at as u32;
        *at += image.texels_with_mipmaps();
        Some(here)
    };
    images.iter().scan(0, start).collect()
}

/// What vertices have besides position and normal.
pub(crate) fn attribute_words(model: &Model) -> Vec<Element> {
    model.meshes.iter().flat_map(|mesh| &mesh.vertices).flat_map(attributes).collect()
}

/// The part of one frame, from [`Layout::dynamic`] to [`Layout::end`]. `first_id` is the object
/// id of the first placement.
pub(crate) fn frame_words(model: &Model, layout: &Layout, now: f64, before: f64, first_id: u32) -> Vec<Element> {
    let still = now.to_bits() == before.to_bits();
    let now = model.pose(now);
    let before = if still { now.clone() } else { model.pose(before) };
    let mut out: Vec<Element> = Vec::with_capacity(layout.end - layout.dynamic);
    out.extend(model.lights.iter().flat_map(|light| light_elements(light, &now)));
    let mut boxes = Vec::with_capacity(model.placements.len());
    let mut moving = Vec::new();
    for (i, placement) in model.placements.iter().enumerate() {
        let mesh = &model.meshes[placement.mesh];
        let place = layout.meshes[placement.mesh];
        let to_world = finite(model.placement_transform(placement, &now));
        let from_before = finite(model.placement_transform(placement, &before));
        let (mut nodes, mut vertices, mut bounds) = (place.nodes, place.vertices, mesh.bounds());
        if let Some((own_vertices, own_nodes)) = layout.deformed[i] {
            let shape = model.deformed(placement, &now);
            let earlier = if still { shape.clone() } else { model.deformed(placement, &before) };
            for (vertex, earlier) in shape.iter().zip(&earlier) {
                let [x, y, z] = earlier.position.to_array().map(f32::to_bits);
                moving.extend([position(vertex), [x, y, z, tangent(vertex.tangent)]]);
            }
            let refitted = mesh.refitted(&shape);
            bounds = refitted.first().map_or(Bounds::EMPTY, |root| root.bounds);
            moving.extend(node_elements(&refitted));
            (nodes, vertices) = (own_nodes, own_vertices);
        }
        boxes.push(bounds.transformed(&to_world));
        let deformed = u32::from(layout.deformed[i].is_some());
        let mirrored = u32::from(to_world.matrix3.determinant() < 0.0);
        let [nodes, vertices, attributes, triangle] =
            [nodes, vertices, place.attributes, place.triangle].map(|v| v as u32);
        out.push([nodes, vertices, attributes, triangle]);
        out.push([deformed, mirrored, first_id + i as u32, 0]);
        for affine in [to_world, invert(&to_world), from_before] {
            out.extend(rows(&affine));
        }
    }
    out.extend(top_elements(&boxes));
    out.resize(layout.top - layout.dynamic + NODE * (2 * boxes.len()).max(1), [0; 4]);
    out.extend(moving);
    out
}

/// The hierarchy over all placements; a leaf's link is the placement.
fn top_elements(boxes: &[Bounds]) -> Vec<Element> {
    let (bvh, order) = Bvh::build(boxes, 1, bvh::TOP_DEPTH, &|| true);
    let mut nodes = bvh.nodes;
    for node in nodes.iter_mut().filter(|n| n.count > 0) {
        node.link = order[node.link as usize];
    }
    if nodes.is_empty() {
        // A box that no ray meets.
        let nowhere = Vec3::splat(1e30);
        nodes.push(bvh::Node { bounds: Bounds { low: nowhere, high: nowhere }, link: 0, count: 0, axis: 0 });
    }
    node_elements(&nodes).collect()
}

/// What an animation throws beyond all numbers has vanished.
fn finite(affine: Affine3A) -> Affine3A {
    if affine.is_finite() { affine } else { Affine3A { matrix3: glam::Mat3A::ZERO, translation: Vec3::ZERO.into() } }
}

/// A flat or vanished instance is met by no ray: its inverse sends all rays nowhere.
fn invert(affine: &Affine3A) -> Affine3A {
    if affine.matrix3.determinant() == 0.0 {
        return Affine3A { matrix3: glam::Mat3A::ZERO, translation: Vec3::splat(1e30).into() };
    }
    affine.inverse()
}

fn rows(affine: &Affine3A) -> [Element; 3] {
    let m = affine.matrix3.transpose();
    let t = affine.translation;
    let row = |axis: glam::Vec3A, t: f32| floats([axis.x, axis.y, axis.z, t]);
    [row(m.x_axis, t.x), row(m.y_axis, t.y), row(m.z_axis, t.z)]
}

/// Position and kind, power and range, direction it shines to and cone.
fn light_elements(light: &super::Light, pose: &Pose) -> [Element; LIGHT] {
    let world = pose.worlds[light.node];
    let position = world.translation;
    let direction = world.transform_vector3(Vec3::NEG_Z).normalize_or(Vec3::NEG_Z);
    // A white surface sends on 1 / pi of what arrives.
    let power = light.power / PI;
    let (kind, scale, offset) = match light.kind {
        LightKind::Directional => (0.0, 0.0, 1.0),
        LightKind::Point => (1.0, 0.0, 1.0),
        LightKind::Spot { inner, outer } => {
            let scale = 1.0 / (inner.cos() - outer.cos()).max(1e-3);
            (1.0, scale, -outer.cos() * scale)
        }
    };
    let range = if light.range.is_finite() { light.range } else { 0.0 };
    [
        floats([position.x, position.y, position.z, kind]),
        floats([power.x, power.y, power.z, range]),
        floats([direction.x, direction.y, direction.z, 0.0]),
        floats([scale, offset, 0.0, 0.0]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the shader does.
    fn unfold(word: u32) -> Vec3 {
        let part = |bits: u32| f32::from(bits as u16 as i16) / 32767.0;
        let (x, y) = (part(word), part(word >> 16));
        let z = 1.0 - x.abs() - y.abs();
        let t = (-z).max(0.0);
        let fold = |v: f32| if v >= 0.0 { v - t } else { v + t };
        Vec3::new(fold(x), fold(y), z).normalize()
    }

    #[test]
    fn octahedral_directions_come_back() {
        for i in 0..500 {
            let (a, b) = (i as f32 * 0.7, i as f32 * 0.31);
            let n = Vec3::new(a.sin() * b.cos(), a.cos(), a.sin() * b.sin()).normalize();
            assert!((unfold(octahedral(n)) - n).length() < 2e-4, "{n}");
        }
        assert_eq!(unfold(octahedral(Vec3::NEG_Z)), Vec3::NEG_Z);
    }
}
