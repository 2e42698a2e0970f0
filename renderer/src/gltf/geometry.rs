//! Meshes.

use super::accessor::{indices, numbers, vectors};
use super::error::{Error, Result};
use crate::mesh::{Binding, Material, Mesh, Target, Triangle, Vertex, generate_tangents};
use glam::{Vec2, Vec3, Vec4};
use gltf::Semantic;
use gltf::mesh::{Mode, Primitive};

/// Most triangles, vertices and morph targets of one mesh.
const TRIANGLE_LIMIT: usize = 32 << 20;
const VERTEX_LIMIT: usize = 32 << 20;
const TARGET_LIMIT: usize = 256;

/// A mesh of all primitives that are made of triangles; points and lines are left out.
/// `materials` has one more at its end, for primitives without. `go_on` is asked before each
/// primitive.
pub(super) fn mesh(
    buffers: &[Vec<u8>],
    materials: &[Material],
    source: &gltf::Mesh<'_>,
    go_on: &impl Fn() -> Result<()>,
) -> Result<Mesh> {
    let mut mesh = Mesh::default();
    for primitive in source.primitives() {
        go_on()?;
        let default = materials.len() - 1;
        let material = primitive.material().index().unwrap_or(default);
        let part = part(buffers, source, &primitive, material, &materials[material])?;
        if part.triangles.is_empty() {
            continue;
        }
        append(&mut mesh, part);
        let check = |what: &'static str, count: usize, limit: usize| {
            let error = || Error::TooMany { what, count: count as u64, limit: limit as u64 };
            if count > limit { Err(error()) } else { Ok(()) }
        };
        check("triangles in one mesh", mesh.triangles.len(), TRIANGLE_LIMIT)?;
        check("vertices in one mesh", mesh.vertices.len(), VERTEX_LIMIT)?;
        check("morph targets in one mesh", mesh.targets.len(), TARGET_LIMIT)?;
    }
    Ok(mesh.built())
}

/// Appends a part; what only one side has is filled up on the other.
fn append(mesh: &mut Mesh, part: Mesh) {
    fn extend<T: Clone + Default>(all: &mut Vec<T>, before: usize, new: Vec<T>, count: usize) {
        if all.is_empty() && new.is_empty() {
            return;
        }
        all.resize(before, T::default());
        all.extend(new);
        all.resize(before + count, T::default());
    }
    let (before, count) = (mesh.vertices.len(), part.vertices.len());
    let moved = |t: &Triangle| Triangle { corners: t.corners.map(|i| i + before as u32), ..*t };
    mesh.triangles.extend(part.triangles.iter().map(moved));
    mesh.vertices.extend(part.vertices);
    extend(&mut mesh.bindings, before, part.bindings, count);
    mesh.targets.resize(mesh.targets.len().max(part.targets.len()), Target::default());
    let mut targets = part.targets.into_iter();
    for all in &mut mesh.targets {
        let new = targets.next().unwrap_or_default();
        extend(&mut all.positions, before, new.positions, count);
        extend(&mut all.normals, before, new.normals, count);
        extend(&mut all.tangents, before, new.tangents, count);
    }
}

/// One primitive as a mesh.
fn part(
    buffers: &[Vec<u8>],
    source: &gltf::Mesh<'_>,
    primitive: &Primitive<'_>,
    material: usize,
    look: &Material,
) -> Result<Mesh> {
    let broken = |reason: String| Error::broken("mesh", source.index(), reason);
    let mode = primitive.mode();
    if !matches!(mode, Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan) {
        return Ok(Mesh::default());
    }
    let Some(positions) = primitive.get(&Semantic::Positions) else { return Ok(Mesh::default()) };
    let positions = vectors::<3>(buffers, &positions)?;
    let count = positions.len();
    let mut vertices: Vec<Vertex> =
        positions.into_iter().map(|p| Vertex { position: p.into(), ..Vertex::default() }).collect();
    let same = |what: &str, found: usize| {
        if found == count { Ok(()) } else { Err(broken(format!("it has {found} {what} for {count} positions"))) }
    };

    let normals = primitive.get(&Semantic::Normals);
    let has_normals = normals.is_some();
    if let Some(normals) = normals {
        let normals = vectors::<3>(buffers, &normals)?;
        same("normals", normals.len())?;
        for (vertex, n) in vertices.iter_mut().zip(normals) {
            vertex.normal = Vec3::from(n).normalize_or(Vec3::Z);
        }
    }
    let tangents = primitive.get(&Semantic::Tangents).filter(|_| has_normals);
    let has_tangents = tangents.is_some();
    if let Some(tangents) = tangents {
        let tangents = vectors::<4>(buffers, &tangents)?;
        same("tangents", tangents.len())?;
        for (vertex, [x, y, z, w]) in vertices.iter_mut().zip(tangents) {
            vertex.tangent = Vec3::new(x, y, z).normalize_or(Vec3::X).extend(if w < 0.0 { -1.0 } else { 1.0 });
        }
    }
    for set in 0..2 {
        if let Some(uv) = primitive.get(&Semantic::TexCoords(set)) {
            let uv = vectors::<2>(buffers, &uv)?;
            same("texture coordinates", uv.len())?;
            for (vertex, uv) in vertices.iter_mut().zip(uv) {
                vertex.uv[set as usize] = Vec2::from(uv);
            }
        }
    }
    if let Some(colors) = primitive.get(&Semantic::Colors(0)) {
        let colors = numbers(buffers, &colors)?;
        if !matches!(colors.width, 3 | 4) {
            return Err(broken(format!("its colours have {} numbers", colors.width)));
        }
        same("colours", colors.values.len() / colors.width)?;
        for (vertex, color) in vertices.iter_mut().zip(colors.values.chunks_exact(colors.width)) {
            let code = |v: f32| (v.clamp(0.0, 1.0) * 255.0).round() as u8;
            vertex.color = [color[0], color[1], color[2], color.get(3).copied().unwrap_or(1.0)].map(code);
        }
    }

    let corners = match primitive.indices() {
        Some(accessor) => indices(buffers, &accessor, count)?,
        None => (0..count as u32).collect(),
    };
    let triangles: Vec<Triangle> =
        assemble(mode, &corners).map(|corners| Triangle { corners, material: material as u32 }).collect();
    let bindings = bindings(buffers, primitive, &same)?;
    let targets = targets(buffers, primitive, &same)?;
    let mut mesh = Mesh { vertices, triangles, bindings, targets, ..Mesh::default() };
    mesh = if has_normals { compacted(mesh) } else { faceted(&mesh) };
    if let (false, Some(texture)) = (has_tangents, look.normal_texture) {
        generate_tangents(&mut mesh.vertices, &mesh.triangles, texture.set as usize);
    }
    Ok(mesh)
}

/// Corners of the triangles that a list, strip or fan of vertices makes.
fn assemble(mode: Mode, corners: &[u32]) -> Box<dyn Iterator<Item = [u32; 3]> + '_> {
    match mode {
        Mode::TriangleStrip => Box::new(corners.windows(3).enumerate().map(|(i, w)| {
            // Every other triangle of a strip turns the other way.
            if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] }
        })),
        Mode::TriangleFan => {
            let first = corners.first().copied().unwrap_or(0);
            Box::new(corners.get(1..).unwrap_or_default().windows(2).map(move |w| [w[0], w[1], first]))
        }
        _ => Box::new(corners.as_chunks::<3>().0.iter().copied()),
    }
}

fn bindings(
    buffers: &[Vec<u8>],
    primitive: &Primitive<'_>,
    same: &impl Fn(&str, usize) -> Result<()>,
) -> Result<Vec<Binding>> {
    let (joints, weights) = (primitive.get(&Semantic::Joints(0)), primitive.get(&Semantic::Weights(0)));
    let (Some(joints), Some(weights)) = (joints, weights) else { return Ok(Vec::new()) };
    let (joints, weights) = (vectors::<4>(buffers, &joints)?, vectors::<4>(buffers, &weights)?);
    same("joint bindings", joints.len())?;
    same("joint weights", weights.len())?;
    let binding = |(joints, weights): ([f32; 4], [f32; 4])| {
        let weights = weights.map(|w| w.max(0.0));
        let sum: f32 = weights.iter().sum();
        let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
        Binding { joints: joints.map(|j| j as u16), weights: weights.map(|w| w * scale) }
    };
    Ok(joints.into_iter().zip(weights).map(binding).collect())
}

fn targets(
    buffers: &[Vec<u8>],
    primitive: &Primitive<'_>,
    same: &impl Fn(&str, usize) -> Result<()>,
) -> Result<Vec<Target>> {
    let read = |accessor: Option<gltf::Accessor<'_>>| -> Result<Vec<Vec3>> {
        let Some(accessor) = accessor else { return Ok(Vec::new()) };
        let values = vectors::<3>(buffers, &accessor)?;
        same("displacements", values.len())?;
        Ok(values.into_iter().map(Vec3::from).collect())
    };
    let target = |t: gltf::mesh::MorphTarget<'_>| {
        Ok(Target { positions: read(t.positions())?, normals: read(t.normals())?, tangents: read(t.tangents())? })
    };
    primitive.morph_targets().map(target).collect()
}

/// Vertices in another order, some of them several times or not at all, with other triangles.
fn rearranged(mesh: &Mesh, order: &[u32], triangles: Vec<Triangle>) -> Mesh {
    fn at<T: Clone>(values: &[T], order: &[u32]) -> Vec<T> {
        order.iter().filter_map(|&i| values.get(i as usize).cloned()).collect()
    }
    let target = |t: &Target| Target {
        positions: at(&t.positions, order),
        normals: at(&t.normals, order),
        tangents: at(&t.tangents, order),
    };
    Mesh {
        vertices: at(&mesh.vertices, order),
        triangles,
        bindings: at(&mesh.bindings, order),
        targets: mesh.targets.iter().map(target).collect(),
        ..Mesh::default()
    }
}

/// The mesh with flat triangles: no two share a vertex.
fn faceted(mesh: &Mesh) -> Mesh {
    let order: Vec<u32> = mesh.triangles.iter().flat_map(|t| t.corners).collect();
    let apart = |(i, t): (usize, &Triangle)| Triangle { corners: [0, 1, 2].map(|k| (3 * i + k) as u32), ..*t };
    let mut flat = rearranged(mesh, &order, mesh.triangles.iter().enumerate().map(apart).collect());
    for corners in flat.vertices.as_chunks_mut::<3>().0 {
        let [a, b, c] = corners.map(|v| v.position);
        let normal = (b - a).cross(c - a).normalize_or(Vec3::Z);
        for vertex in corners {
            vertex.normal = normal;
            vertex.tangent = Vec4::from((normal.any_orthonormal_vector(), 1.0));
        }
    }
    flat
}

/// The mesh without vertices that no triangle uses: primitives often share their lists.
fn compacted(mesh: Mesh) -> Mesh {
    const UNUSED: u32 = u32::MAX;
    let mut places = vec![UNUSED; mesh.vertices.len()];
    let mut order = Vec::new();
    let mut place = |vertex: u32| {
        let place = &mut places[vertex as usize];
        if *place == UNUSED {
            *place = order.len() as u32;
            order.push(vertex);
        }
        *place
    };
    let triangles: Vec<Triangle> =
        mesh.triangles.iter().map(|t| Triangle { corners: t.corners.map(&mut place), ..*t }).collect();
    if order.len() == mesh.vertices.len() { mesh } else { rearranged(&mesh, &order, triangles) }
}
