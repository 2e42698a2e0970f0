//! Meshes.

use super::accessor::{checked_count, gathered, indices, vectors_of};
use super::error::{Error, Result};
use super::limits::Data;
use crate::mesh::{Binding, Material, Mesh, Target, Triangle, Vertex, generate_tangents};
use glam::{Vec2, Vec3, Vec4};
use gltf::Semantic;
use gltf::mesh::{Mode, Primitive};

/// Most triangles, vertices and morph targets of one mesh.
const TRIANGLE_LIMIT: usize = 32 << 20;
const VERTEX_LIMIT: usize = 32 << 20;
const TARGET_LIMIT: usize = 256;
/// Farthest that a vertex may be from the origin, so that no product of lengths overflows.
const FARTHEST: f32 = 1e12;

/// A mesh of all primitives that are made of triangles; points and lines are left out.
/// `materials` has one more at its end, for primitives without. `go_on` is asked before each
/// primitive and often while the hierarchy is made.
pub(super) fn mesh(
    data: &Data,
    materials: &[Material],
    source: &gltf::Mesh<'_>,
    go_on: &(impl Fn() -> Result<()> + Sync),
) -> Result<Mesh> {
    let mut mesh = Mesh::default();
    for primitive in source.primitives() {
        go_on()?;
        let default = materials.len() - 1;
        let material = primitive.material().index().unwrap_or(default);
        let part = part(data, source, &primitive, material, &materials[material])?;
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
    let built = mesh.built(&|| go_on().is_ok());
    go_on()?;
    Ok(built)
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

/// One primitive as a mesh, with the vertices that its triangles use and no others: primitives
/// often share long lists.
fn part(
    data: &Data,
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
    let listed = checked_count(&positions)?;
    let same = |what: &str, found: usize| {
        if found == listed { Ok(()) } else { Err(broken(format!("it has {found} {what} for {listed} positions"))) }
    };
    let has_normals = primitive.get(&Semantic::Normals).is_some();
    let corners = match primitive.indices() {
        Some(accessor) => Some(indices(data, &accessor, listed)?),
        None => None,
    };
    let (order, triangles) = arrange(mode, corners.as_deref(), listed, has_normals, material as u32);
    let order = order.as_deref();
    let count = order.map_or(listed, <[u32]>::len);
    data.limits.triangles(triangles.len())?;
    data.limits.vertices(count)?;
    let positions = vectors_of::<3>(data, &positions, order)?;
    if positions.as_flattened().iter().any(|v| v.abs() > FARTHEST) {
        return Err(broken(format!("a vertex is farther than {FARTHEST:e} from the origin")));
    }
    let mut vertices: Vec<Vertex> =
        positions.into_iter().map(|p| Vertex { position: p.into(), ..Vertex::default() }).collect();

    if let Some(normals) = primitive.get(&Semantic::Normals) {
        same("normals", normals.count())?;
        let normals = vectors_of::<3>(data, &normals, order)?;
        for (vertex, n) in vertices.iter_mut().zip(normals) {
            vertex.normal = Vec3::from(n).normalize_or(Vec3::Z);
        }
    }
    let tangents = primitive.get(&Semantic::Tangents).filter(|_| has_normals);
    let has_tangents = tangents.is_some();
    if let Some(tangents) = tangents {
        same("tangents", tangents.count())?;
        let tangents = vectors_of::<4>(data, &tangents, order)?;
        for (vertex, [x, y, z, w]) in vertices.iter_mut().zip(tangents) {
            vertex.tangent = Vec3::new(x, y, z).normalize_or(Vec3::X).extend(if w < 0.0 { -1.0 } else { 1.0 });
        }
    }
    for set in 0..2 {
        if let Some(uv) = primitive.get(&Semantic::TexCoords(set)) {
            same("texture coordinates", uv.count())?;
            let uv = vectors_of::<2>(data, &uv, order)?;
            for (vertex, uv) in vertices.iter_mut().zip(uv) {
                vertex.uv[set as usize] = Vec2::from(uv);
            }
        }
    }
    if let Some(colors) = primitive.get(&Semantic::Colors(0)) {
        same("colours", colors.count())?;
        let colors = gathered(data, &colors, order)?;
        if !matches!(colors.width, 3 | 4) {
            return Err(broken(format!("its colours have {} numbers", colors.width)));
        }
        for (vertex, color) in vertices.iter_mut().zip(colors.values.chunks_exact(colors.width)) {
            let code = |v: f32| (v.clamp(0.0, 1.0) * 255.0).round() as u8;
            vertex.color = [color[0], color[1], color[2], color.get(3).copied().unwrap_or(1.0)].map(code);
        }
    }

    let bindings = bindings(data, primitive, &same, order)?;
    let targets = targets(data, primitive, &same, order)?;
    let mut mesh = Mesh { vertices, triangles, bindings, targets, ..Mesh::default() };
    if !has_normals {
        flatten(&mut mesh);
    }
    if let (false, Some(texture)) = (has_tangents, look.normal_texture) {
        generate_tangents(&mut mesh.vertices, &mesh.triangles, texture.set as usize);
    }
    Ok(mesh)
}

/// Which vertices of the list are used, in the order of the part (all of them as they are, where
/// there is no order), and the triangles. Triangles without normals are flat, so that no two
/// share a vertex.
fn arrange(
    mode: Mode,
    corners: Option<&[u32]>,
    listed: usize,
    shared: bool,
    material: u32,
) -> (Option<Vec<u32>>, Vec<Triangle>) {
    let all: Vec<u32>;
    let corners = match corners {
        Some(corners) => corners,
        None => {
            all = (0..listed as u32).collect();
            &all
        }
    };
    let triangle = |corners: [u32; 3]| Triangle { corners, material };
    if !shared {
        let order: Vec<u32> = assemble(mode, corners).flatten().collect();
        let count = (order.len() / 3) as u32;
        return (Some(order), (0..count).map(|i| triangle([3 * i, 3 * i + 1, 3 * i + 2])).collect());
    }
    let assembled = assemble(mode, corners);
    // A part of a long list is sorted instead of going through all of it.
    if corners.len() < listed / 8 {
        let mut order = corners.to_vec();
        order.sort_unstable();
        order.dedup();
        let place = |vertex: u32| order.binary_search(&vertex).map_or(0, |place| place as u32);
        let triangles = assembled.map(|corners| triangle(corners.map(place))).collect();
        return (Some(order), triangles);
    }
    let mut places = vec![0; listed];
    corners.iter().for_each(|&vertex| places[vertex as usize] = 1);
    let order: Vec<u32> = (0..listed as u32).filter(|&vertex| places[vertex as usize] != 0).collect();
    if order.len() == listed {
        return (None, assembled.map(triangle).collect());
    }
    (0..).zip(&order).for_each(|(place, &vertex)| places[vertex as usize] = place);
    let triangles = assembled.map(|corners| triangle(corners.map(|vertex| places[vertex as usize]))).collect();
    (Some(order), triangles)
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
    data: &Data,
    primitive: &Primitive<'_>,
    same: &impl Fn(&str, usize) -> Result<()>,
    order: Option<&[u32]>,
) -> Result<Vec<Binding>> {
    let (joints, weights) = (primitive.get(&Semantic::Joints(0)), primitive.get(&Semantic::Weights(0)));
    let (Some(joints), Some(weights)) = (joints, weights) else { return Ok(Vec::new()) };
    same("joint bindings", joints.count())?;
    same("joint weights", weights.count())?;
    let (joints, weights) = (vectors_of::<4>(data, &joints, order)?, vectors_of::<4>(data, &weights, order)?);
    let binding = |(joints, weights): ([f32; 4], [f32; 4])| {
        let weights = weights.map(|w| w.max(0.0));
        let sum: f32 = weights.iter().sum();
        let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
        Binding { joints: joints.map(|j| j as u16), weights: weights.map(|w| w * scale) }
    };
    Ok(joints.into_iter().zip(weights).map(binding).collect())
}

fn targets(
    data: &Data,
    primitive: &Primitive<'_>,
    same: &impl Fn(&str, usize) -> Result<()>,
    order: Option<&[u32]>,
) -> Result<Vec<Target>> {
    let read = |accessor: Option<gltf::Accessor<'_>>| -> Result<Vec<Vec3>> {
        let Some(accessor) = accessor else { return Ok(Vec::new()) };
        same("displacements", accessor.count())?;
        let values = vectors_of::<3>(data, &accessor, order)?;
        Ok(values.into_iter().map(Vec3::from).collect())
    };
    let target = |t: gltf::mesh::MorphTarget<'_>| {
        Ok(Target { positions: read(t.positions())?, normals: read(t.normals())?, tangents: read(t.tangents())? })
    };
    primitive.morph_targets().map(target).collect()
}

/// Normals of triangles that share no vertex.
fn flatten(mesh: &mut Mesh) {
    for corners in mesh.vertices.as_chunks_mut::<3>().0 {
        let [a, b, c] = corners.map(|v| v.position);
        let normal = (b - a).cross(c - a).normalize_or(Vec3::Z);
        for vertex in corners {
            vertex.normal = normal;
            vertex.tangent = Vec4::from((normal.any_orthonormal_vector(), 1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_vertices_that_are_used_are_kept() {
        let corners = [[7, 900, 8], [900, 7, 9]].concat();
        let wanted = [[0, 3, 1], [3, 0, 2]];
        // By sorting in a long list, by marking in a short one, and apart where flat.
        for listed in [10_000, 901] {
            let (order, triangles) = arrange(Mode::Triangles, Some(&corners), listed, true, 5);
            assert_eq!(order.as_deref(), Some(&[7, 8, 9, 900][..]));
            assert_eq!(triangles.iter().map(|t| t.corners).collect::<Vec<_>>(), wanted);
            assert!(triangles.iter().all(|t| t.material == 5));
        }
        let (order, triangles) = arrange(Mode::Triangles, Some(&corners), 901, false, 0);
        assert_eq!((order.unwrap(), triangles[1].corners), (corners, [3, 4, 5]));
        let (order, triangles) = arrange(Mode::TriangleStrip, None, 4, true, 0);
        assert_eq!((order, triangles[1].corners), (None, [2, 1, 3]));
    }
}
