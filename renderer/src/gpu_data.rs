//! The scene and a view as the shaders read them (`scene_data.glsl`, field for field).

use crate::batch;
use crate::camera::Camera;
use crate::error::{Error, Result};
use crate::scene::{Primitive, Scene, Shape, Sphere, Surroundings};
use crate::transform::Rigid;
use crate::view::View;
use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// Most instances of a scene.
pub const MAX_INSTANCES: usize = 64;
/// Most primitives of a scene.
pub const MAX_PRIMITIVES: usize = 256;
/// Most materials of a scene.
pub const MAX_MATERIALS: usize = 64;
/// Most lamps of a scene besides the sun.
pub const MAX_LAMPS: usize = 4;

/// Radius of the bound of an endless object: always met.
const ENDLESS: f32 = 1e6;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct GpuCamera {
    right: [f32; 4],
    up: [f32; 4],
    forward: [f32; 4],
    position: [f32; 4],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct GpuLamp {
    position_radius: [f32; 4],
    radiance: [f32; 4],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct GpuFrame {
    camera: GpuCamera,
    previous: GpuCamera,
    sun_direction: [f32; 4],
    sun_radiance: [f32; 4],
    sky_zenith: [f32; 4],
    sky_horizon: [f32; 4],
    ground_bounce: [f32; 4],
    ranges: [f32; 4],
    lamps: [GpuLamp; MAX_LAMPS],
    batch_ends: [u32; 8],
    counts: [u32; 4],
    image: [u32; 4],
    jitter: [f32; 4],
    environment: [f32; 4],
    look: [f32; 4],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct GpuInstance {
    now: [[f32; 4]; 3],
    before: [[f32; 4]; 3],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct GpuBatch {
    bound: [f32; 4],
    range: [u32; 4],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct GpuPrimitive {
    a: [f32; 4],
    b: [f32; 4],
    meta: [u32; 4],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct GpuMaterial {
    base: [f32; 4],
    second: [f32; 4],
    emission: [f32; 4],
    gloss: [f32; 4],
}

/// Start of each table in the buffer, in binding order, and the end. Storage buffer offsets
/// are multiples of 256, the largest alignment a device may ask for.
pub(crate) const TABLES: [u64; 6] = {
    const fn after(start: u64, size: usize) -> u64 {
        (start + size as u64).next_multiple_of(256)
    }
    let instances = after(0, size_of::<GpuFrame>());
    let batches = after(instances, size_of::<GpuInstance>() * MAX_INSTANCES);
    let primitives = after(batches, size_of::<GpuBatch>() * MAX_PRIMITIVES);
    let materials = after(primitives, size_of::<GpuPrimitive>() * MAX_PRIMITIVES);
    let end = after(materials, size_of::<GpuMaterial>() * MAX_MATERIALS);
    [0, instances, batches, primitives, materials, end]
};

/// Bytes of all tables.
pub(crate) const TABLE_BYTES: u64 = TABLES[5];

// It travels inside the command stream, which takes 64 KiB at once.
const _: () = assert!(TABLE_BYTES <= 65536);

fn camera(camera: &Camera, aspect: f32) -> GpuCamera {
    let axes = camera.axes();
    let half = camera.half_extent(aspect);
    GpuCamera {
        right: axes.right.extend(half.x).to_array(),
        up: axes.up.extend(half.y).to_array(),
        forward: axes.forward.extend(0.0).to_array(),
        position: camera.position.extend(0.0).to_array(),
    }
}

/// A shape for the shaders; `meta[0]` is its kind, 1 to 7, as `scene_data.glsl` numbers them.
fn primitive(shape: &Shape, material: usize) -> GpuPrimitive {
    let (kind, a, b, wire) = match *shape {
        Shape::Ground => (1, Vec3::ZERO.extend(0.0), Vec3::ZERO.extend(0.0), 0.0),
        Shape::Box { centre, half } => (2, centre.extend(0.0), half.extend(0.0), 0.0),
        Shape::Sphere(s) => (3, s.centre.extend(s.radius), Vec3::ZERO.extend(0.0), 0.0),
        Shape::Capsule { from, to, radius } => (4, from.extend(radius), to.extend(0.0), 0.0),
        Shape::Cylinder { from, to, radius } => (5, from.extend(radius), to.extend(0.0), 0.0),
        Shape::Band { centre, axis, radius, half_width } => (6, centre.extend(radius), axis.extend(half_width), 0.0),
        Shape::Lattice { centre, half, pitch, wire } => {
            let half = Vec3::new(half[0], half[1], 0.0);
            (7, centre.extend(0.0), half.extend(pitch), wire)
        }
    };
    GpuPrimitive { a: a.to_array(), b: b.to_array(), meta: [kind, material as u32, wire.to_bits(), 0] }
}

fn too_many(scene: &Scene, what: &'static str, count: usize, limit: usize) -> Error {
    Error::TooMany { scene: scene.name.to_string(), what, count, limit }
}

fn check(scene: &Scene) -> Result<()> {
    let limit = |what: &'static str, count: usize, limit: usize| {
        if count > limit { Err(too_many(scene, what, count, limit)) } else { Ok(()) }
    };
    limit("objects", scene.instances.len(), MAX_INSTANCES)?;
    limit("shapes", scene.primitive_count(), MAX_PRIMITIVES)?;
    limit("materials", scene.materials.len(), MAX_MATERIALS)?;
    limit("lamps", scene.lamps.len(), MAX_LAMPS)?;
    for (name, material) in scene.instances.iter().flat_map(|i| {
        let name = i.name;
        i.primitives.iter().map(move |p| (name, p.material))
    }) {
        if material >= scene.materials.len() {
            return Err(Error::Reference {
                scene: scene.name.to_string(),
                from: name.to_owned(),
                what: "material",
                index: material,
                count: scene.materials.len(),
            });
        }
    }
    for lamp in &scene.lamps {
        if lamp.instance >= scene.instances.len() {
            return Err(Error::Reference {
                scene: scene.name.to_string(),
                from: "a lamp".to_owned(),
                what: "object",
                index: lamp.instance,
                count: scene.instances.len(),
            });
        }
    }
    Ok(())
}

/// All primitives, and the batches over them sorted by kind, which is the last word of a range.
/// A batch holds at least one primitive, so there are no more batches than primitives.
fn batches(scene: &Scene, now: &[Rigid]) -> (Vec<GpuBatch>, Vec<GpuPrimitive>) {
    let mut batches: Vec<GpuBatch> = Vec::new();
    let mut primitives = Vec::with_capacity(scene.primitive_count());
    for (i, (instance, pose)) in scene.instances.iter().zip(now).enumerate() {
        // An endless shape has a bound that every ray meets.
        let endless = Sphere { centre: Vec3::ZERO, radius: ENDLESS };
        let packed = |p: &Primitive| (primitive(&p.shape, p.material), p.shape.bound().unwrap_or(endless));
        let mut shapes: Vec<_> = instance.primitives.iter().map(packed).collect();
        shapes.sort_by_key(|(p, _)| p.meta[0]);
        for same in shapes.chunk_by_mut(|(a, _), (b, _)| a.meta[0] == b.meta[0]) {
            let runs = batch::split(same, &|(_, bound)| *bound);
            let mut rest = &*same;
            for length in runs {
                let (run, later) = rest.split_at(length);
                rest = later;
                let around = Sphere::around(&run.iter().map(|(_, bound)| *bound).collect::<Vec<_>>());
                // A little wider than the shapes, for rounding.
                let bound = pose.point(around.centre).extend(around.radius * 1.0001 + 1e-4).to_array();
                let first = primitives.len() as u32;
                primitives.extend(run.iter().map(|(p, _)| *p));
                let range = [i as u32, first, primitives.len() as u32, run[0].0.meta[0]];
                batches.push(GpuBatch { bound, range });
            }
        }
    }
    batches.sort_by_key(|b| b.range[3]);
    (batches, primitives)
}

/// What is added to the level of detail of textures: with more samples a pixel each of them
/// stands for a smaller part of it.
fn detail_bias(samples: u32) -> f32 {
    -0.5 * (samples.max(1) as f32).log2()
}

/// Cosine and sine of the turn, intensity, 1 where there is an environment.
fn environment(scene: &Scene) -> [f32; 4] {
    let Some(environment) = &scene.environment else { return [1.0, 0.0, 0.0, 0.0] };
    let turn = match environment.source {
        // The sky follows the sun.
        Surroundings::Sky => 0.0,
        Surroundings::Panorama(_) => environment.rotation,
    };
    let (sine, cosine) = turn.sin_cos();
    [cosine, sine, environment.intensity.max(0.0), 1.0]
}

/// All tables for one frame of `width` x `height` pixels, laid out as [`TABLES`] says.
///
/// # Errors
/// When the scene is larger than the tables or refers to something it doesn't have.
pub(crate) fn pack(scene: &Scene, view: &View, width: u32, height: u32) -> Result<Vec<u8>> {
    check(scene)?;
    let now = scene.poses(view.time);
    let before = scene.poses(view.previous_time);
    let aspect = width as f32 / height as f32;
    let effects =
        u32::from(view.effects.shadows) | u32::from(view.effects.ao) << 1 | u32::from(view.effects.reflections) << 2;

    let mut lamps = [GpuLamp::zeroed(); MAX_LAMPS];
    for (slot, lamp) in lamps.iter_mut().zip(&scene.lamps) {
        let centre = now[lamp.instance].point(lamp.centre);
        slot.position_radius = centre.extend(lamp.radius).to_array();
        slot.radiance = lamp.radiance.extend(0.0).to_array();
    }
    let instances: Vec<GpuInstance> =
        now.iter().zip(&before).map(|(now, before)| GpuInstance { now: now.rows(), before: before.rows() }).collect();
    let (batches, primitives) = batches(scene, &now);
    let batch_ends =
        std::array::from_fn(|kind| batches.iter().filter(|b| (b.range[3] as usize) <= kind).count() as u32);
    let [jx, jy] = view.applied_jitter();
    let frame = GpuFrame {
        camera: camera(&view.camera, aspect),
        previous: camera(&view.previous_camera, aspect),
        sun_direction: scene.sun.direction.extend(scene.sun.angular_radius.tan()).to_array(),
        sun_radiance: scene.sun.radiance.extend(0.0).to_array(),
        sky_zenith: scene.sky.zenith.extend(0.0).to_array(),
        sky_horizon: scene.sky.horizon.extend(0.0).to_array(),
        ground_bounce: scene.sky.bounce.extend(0.0).to_array(),
        ranges: [scene.sky.occlusion_distance, scene.sky.haze, scene.range[1], scene.range[0]],
        lamps,
        batch_ends,
        counts: [scene.instances.len() as u32, scene.lamps.len() as u32, effects, view.frame],
        image: [width, height, scene.seed, 0],
        jitter: [jx, jy, detail_bias(view.samples), 2.0 * view.camera.half_extent(aspect).y / height as f32],
        environment: environment(scene),
        look: [scene.exposure.exp2(), scene.light_radius.max(0.0), 0.0, 0.0],
    };

    let materials: Vec<GpuMaterial> = scene
        .materials
        .iter()
        .map(|m| GpuMaterial {
            base: m.base.extend(m.scale).to_array(),
            second: m.second.extend(m.detail).to_array(),
            emission: m.emission.extend(m.metallic).to_array(),
            gloss: [m.roughness, m.reflectance, f32::from(m.pattern as u8), 0.0],
        })
        .collect();

    let mut bytes = vec![0; TABLE_BYTES as usize];
    let mut put = |table: usize, data: &[u8]| {
        let start = TABLES[table] as usize;
        bytes[start..start + data.len()].copy_from_slice(data);
    };
    put(0, bytemuck::bytes_of(&frame));
    put(1, bytemuck::cast_slice(&instances));
    put(2, bytemuck::cast_slice(&batches));
    put(3, bytemuck::cast_slice(&primitives));
    put(4, bytemuck::cast_slice(&materials));
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_shader_blocks() {
        assert_eq!(size_of::<GpuFrame>(), 464);
        assert_eq!(size_of::<GpuInstance>(), 96);
        assert_eq!(size_of::<GpuBatch>(), 32);
        assert_eq!(size_of::<GpuPrimitive>(), 48);
        assert_eq!(size_of::<GpuMaterial>(), 64);
        assert!(TABLES.iter().all(|t| t % 256 == 0));
    }

    #[test]
    fn packing_depends_on_time_alone() {
        let scene = Scene::builtin();
        let view = View::scripted(&scene, 5, 30.0);
        let a = pack(&scene, &view, 320, 180).unwrap();
        assert_eq!(a, pack(&scene, &view, 320, 180).unwrap());
        assert_ne!(a, pack(&scene, &View::scripted(&scene, 6, 30.0), 320, 180).unwrap());
    }

    #[test]
    fn a_scene_that_does_not_fit_is_refused() {
        let mut scene = Scene::builtin();
        let view = View::scripted(&scene, 0, 30.0);
        let one = scene.instances[0].clone();
        scene.instances = vec![one; MAX_INSTANCES + 1];
        let error = pack(&scene, &view, 64, 64).unwrap_err().to_string();
        assert!(error.contains("65 objects") && error.contains("64"), "{error}");

        let mut scene = Scene::builtin();
        scene.materials.truncate(1);
        let error = pack(&scene, &view, 64, 64).unwrap_err().to_string();
        assert!(error.contains("material"), "{error}");
    }
}
