//! Nodes, and what hangs on them.

use super::accessor::vectors;
use super::error::{Error, Result};
use super::limits::Data;
use crate::mesh::{Light, LightKind, Local, Model, ModelCamera, Node, Placement, Skin};
use glam::{Affine3A, Mat4, Quat, Vec3, Vec4};
use gltf::json::extensions::scene::khr_lights_punctual as punctual;
use gltf::scene::Transform;
use gltf::{Document, Scene};

/// Extension for many instances of a node's mesh.
pub(super) const INSTANCING: &str = "EXT_mesh_gpu_instancing";

const NODE_LIMIT: u64 = 1 << 18;
const PLACEMENT_LIMIT: u64 = 1 << 16;
const DEFORMED_LIMIT: u64 = 1 << 18;
const LIGHT_LIMIT: u64 = 32;
const JOINT_LIMIT: u64 = 4096;
const CAMERA_LIMIT: u64 = 256;
/// Most nodes from a root to a leaf.
const DEPTH_LIMIT: u64 = 1024;
/// Farthest that a node may be from the origin, and largest scale.
const FARTHEST: f32 = 1e12;

/// Adds the nodes of a scene and everything on them to a model, whose meshes are there.
/// Returns the place of each node of the file in the model.
pub(super) fn add(
    document: &Document,
    data: &Data,
    scene: &Scene<'_>,
    model: &mut Model,
) -> Result<Vec<Option<usize>>> {
    let places = nodes(document, scene, model)?;
    let mut skins = vec![None; document.skins().count()];
    for source in document.nodes() {
        let Some(node) = places[source.index()] else { continue };
        if let Some(mesh) = source.mesh().filter(|mesh| !model.meshes[mesh.index()].triangles.is_empty()) {
            let mesh = mesh.index();
            let skin = match source.skin() {
                Some(skin) if !model.meshes[mesh].bindings.is_empty() => Some(match skins[skin.index()] {
                    Some(known) => known,
                    None => {
                        model.skins.push(self::skin(data, &skin, &places)?);
                        *skins[skin.index()].insert(model.skins.len() - 1)
                    }
                }),
                _ => None,
            };
            for offset in instances(document, data, &source)? {
                model.placements.push(Placement { node, offset, mesh, skin });
                limit("instances", model.placements.len() as u64, PLACEMENT_LIMIT)?;
            }
        }
        lights(document, &source, node, model)?;
        camera(document, &source, node, model);
    }
    if model.placements.is_empty() {
        return Err(Error::Empty);
    }
    let deformed = model.placements.iter().filter(|p| model.is_deformed(p));
    let vertices = deformed.map(|p| model.meshes[p.mesh].vertices.len() as u64).sum();
    limit("skinned or morphed vertices", vertices, DEFORMED_LIMIT)?;
    limit("triangles in all instances", model.triangle_count() as u64, u64::from(u32::MAX))?;
    limit("lights", model.lights.len() as u64, LIGHT_LIMIT)?;
    limit("cameras", model.cameras.len() as u64, CAMERA_LIMIT)?;
    Ok(places)
}

fn limit(what: &'static str, count: u64, limit: u64) -> Result<()> {
    if count > limit { Err(Error::TooMany { what, count, limit }) } else { Ok(()) }
}

/// The scene's nodes, parents first; a node that is reached twice is refused.
fn nodes(document: &Document, scene: &Scene<'_>, model: &mut Model) -> Result<Vec<Option<usize>>> {
    let count = document.nodes().count();
    limit("nodes", count as u64, NODE_LIMIT)?;
    let mut places = vec![None; count];
    let mut worlds: Vec<Affine3A> = Vec::new();
    let mut waiting: Vec<(gltf::Node<'_>, Option<usize>, u64)> = scene.nodes().map(|n| (n, None, 1)).collect();
    while let Some((source, parent, depth)) = waiting.pop() {
        let index = source.index();
        if places[index].is_some() {
            return Err(Error::broken("node", index, "it is its own ancestor or has two parents"));
        }
        let place = model.nodes.len();
        places[index] = Some(place);
        let weights = source.weights().or_else(|| source.mesh().and_then(|m| m.weights())).unwrap_or_default();
        let targets = source.mesh().map_or(0, |m| model.meshes[m.index()].targets.len());
        let mut weights = weights.to_vec();
        weights.resize(targets, 0.0);
        limit("levels of nodes", depth, DEPTH_LIMIT)?;
        let local = local(&source)?;
        let world = parent.map_or(Affine3A::IDENTITY, |parent| worlds[parent]) * local.affine();
        if !world.to_cols_array().iter().all(|v| v.abs() <= FARTHEST) {
            let reason = format!("its place or its scale in the scene is beyond {FARTHEST:e}");
            return Err(Error::broken("node", index, reason));
        }
        worlds.push(world);
        model.nodes.push(Node { parent, local, weights });
        waiting.extend(source.children().map(|child| (child, Some(place), depth + 1)));
    }
    Ok(places)
}

fn local(source: &gltf::Node<'_>) -> Result<Local> {
    let local = match source.transform() {
        Transform::Matrix { matrix } => Local::Whole(Affine3A::from_mat4(Mat4::from_cols_array_2d(&matrix))),
        Transform::Decomposed { translation, rotation, scale } => Local::Parts {
            translation: translation.into(),
            rotation: Quat::from_vec4(Vec4::from(rotation).normalize_or(Vec4::W)),
            scale: scale.into(),
        },
    };
    if local.affine().is_finite() {
        Ok(local)
    } else {
        Err(Error::broken("node", source.index(), "its transform is not finite"))
    }
}

fn skin(data: &Data, source: &gltf::Skin<'_>, places: &[Option<usize>]) -> Result<Skin> {
    let broken = |reason: String| Error::broken("skin", source.index(), reason);
    let count = source.joints().count();
    limit("joints in one skin", count as u64, JOINT_LIMIT)?;
    let inverse = match source.inverse_bind_matrices() {
        Some(accessor) => vectors::<16>(data, &accessor)?,
        None => vec![Mat4::IDENTITY.to_cols_array(); count],
    };
    if inverse.len() < count {
        return Err(broken(format!("it has {} matrices for {count} joints", inverse.len())));
    }
    let joint = |(node, matrix): (gltf::Node<'_>, [f32; 16])| {
        let place = places[node.index()];
        let place = place.ok_or_else(|| broken(format!("its joint {} is not in the scene", node.index())))?;
        Ok((place, Affine3A::from_mat4(Mat4::from_cols_array(&matrix))))
    };
    Ok(Skin { joints: source.joints().zip(inverse).map(joint).collect::<Result<_>>()? })
}

/// Offsets of a node's mesh: one, or those of EXT_mesh_gpu_instancing.
fn instances(document: &Document, data: &Data, source: &gltf::Node<'_>) -> Result<Vec<Affine3A>> {
    let Some(extension) = source.extension_value(INSTANCING) else { return Ok(vec![Affine3A::IDENTITY]) };
    let broken = |reason: &str| Error::broken("node", source.index(), format!("{INSTANCING}: {reason}"));
    let accessor = |name: &str| {
        let Some(index) = extension.get("attributes").and_then(|a| a.get(name)) else { return Ok(None) };
        let index = index.as_u64().and_then(|i| usize::try_from(i).ok());
        let accessor = index.and_then(|i| document.accessors().nth(i));
        accessor.map(Some).ok_or_else(|| broken(&format!("{name} is no accessor")))
    };
    for name in ["TRANSLATION", "ROTATION", "SCALE"] {
        if let Some(accessor) = accessor(name)? {
            limit("instances", accessor.count() as u64, PLACEMENT_LIMIT)?;
        }
    }
    let translations = accessor("TRANSLATION")?.map(|a| vectors::<3>(data, &a)).transpose()?;
    let rotations = accessor("ROTATION")?.map(|a| vectors::<4>(data, &a)).transpose()?;
    let scales = accessor("SCALE")?.map(|a| vectors::<3>(data, &a)).transpose()?;
    let counts = [translations.as_ref().map(Vec::len), rotations.as_ref().map(Vec::len), scales.as_ref().map(Vec::len)];
    let mut counts = counts.into_iter().flatten();
    let count = counts.next().ok_or_else(|| broken("it has no attributes"))?;
    if counts.any(|other| other != count) {
        return Err(broken("its attributes have different counts"));
    }
    let at = |i: usize| {
        let translation = translations.as_ref().map_or(Vec3::ZERO, |v| v[i].into());
        let rotation = rotations.as_ref().map_or(Vec4::W, |v| Vec4::from(v[i]).normalize_or(Vec4::W));
        let scale = scales.as_ref().map_or(Vec3::ONE, |v| v[i].into());
        Affine3A::from_scale_rotation_translation(scale, Quat::from_vec4(rotation), translation)
    };
    Ok((0..count).map(at).collect())
}

/// The light of a node, from the JSON, where every part may be missing.
fn lights(document: &Document, source: &gltf::Node<'_>, node: usize, model: &mut Model) -> Result<()> {
    use gltf::json::validation::Checked;
    let json = document.as_json();
    let here = json.nodes[source.index()].extensions.as_ref().and_then(|e| e.khr_lights_punctual.as_ref());
    let Some(index) = here.map(|l| l.light.value()) else { return Ok(()) };
    let all = json.extensions.as_ref().and_then(|e| e.khr_lights_punctual.as_ref());
    let broken = |reason: &str| Error::broken("light", index, reason);
    let light = all.and_then(|all| all.lights.get(index)).ok_or_else(|| broken("it is not there"))?;
    let kind = match &light.type_ {
        Checked::Valid(punctual::Type::Directional) => LightKind::Directional,
        Checked::Valid(punctual::Type::Point) => LightKind::Point,
        Checked::Valid(punctual::Type::Spot) => {
            let spot = light.spot.as_ref().ok_or_else(|| broken("a spot light needs a cone"))?;
            let outer = spot.outer_cone_angle.clamp(1e-3, std::f32::consts::FRAC_PI_2);
            LightKind::Spot { inner: spot.inner_cone_angle.clamp(0.0, outer), outer }
        }
        Checked::Invalid => return Err(broken("its type is not known")),
    };
    let power = Vec3::from(light.color).max(Vec3::ZERO) * light.intensity.max(0.0);
    if !power.is_finite() {
        return Err(broken("its intensity is not finite"));
    }
    let range = light.range.filter(|r| *r > 0.0).unwrap_or(f32::INFINITY);
    model.lights.push(Light { node, kind, power, range });
    Ok(())
}

/// The perspective camera of a node; others are left out.
fn camera(document: &Document, source: &gltf::Node<'_>, node: usize, model: &mut Model) {
    let json = document.as_json();
    let Some(camera) = json.nodes[source.index()].camera.and_then(|i| json.cameras.get(i.value())) else { return };
    let Some(lens) = &camera.perspective else { return };
    let name = source.name().map(str::to_owned).or_else(|| camera.name.clone());
    let name = name.unwrap_or_else(|| format!("camera {}", model.cameras.len()));
    model.cameras.push(ModelCamera { name, node, fov_y: lens.yfov.clamp(0.01, 3.0) });
}
