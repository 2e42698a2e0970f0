//! The light of a scene file.

use super::document::{LampDocument, SceneDocument};
use crate::gpu_data::MAX_LAMPS;
use crate::scene::{Animation, Instance, Lamp, Material, Primitive, Scene, Shape, Sky, Sphere, Sun};
use crate::transform::Rigid;
use glam::Vec3;

/// Replaces the light that the scene has from its model, where the file says so.
pub(super) fn apply(document: &SceneDocument, scene: &mut Scene) -> Result<(), String> {
    if let Some(sun) = &document.sun {
        let (sa, ca) = sun.azimuth.to_radians().sin_cos();
        let (se, ce) = sun.elevation.to_radians().sin_cos();
        scene.sun = Sun {
            direction: Vec3::new(sa * ce, se, -ca * ce),
            angular_radius: (sun.diameter * 0.5).to_radians(),
            radiance: Vec3::from(sun.color) * sun.intensity,
        };
    }
    if let Some(sky) = &document.sky {
        scene.sky = Sky {
            zenith: sky.zenith.into(),
            horizon: sky.horizon.into(),
            bounce: sky.ground.into(),
            haze: sky.haze,
            occlusion_distance: sky.occlusion_distance.unwrap_or(scene.sky.occlusion_distance),
        };
    }
    if document.lamps.len() > MAX_LAMPS {
        return Err(format!("it has {} lamps, and there can be {MAX_LAMPS}", document.lamps.len()));
    }
    for lamp in &document.lamps {
        add_lamp(scene, lamp);
    }
    scene.exposure = document.exposure;
    scene.light_radius = document.light_radius;
    Ok(())
}

fn add_lamp(scene: &mut Scene, lamp: &LampDocument) {
    let radiance = Vec3::from(lamp.color) * lamp.intensity;
    let ball = Shape::Sphere(Sphere { centre: Vec3::ZERO, radius: lamp.radius });
    let (instance, material) = (scene.instances.len(), scene.materials.len());
    scene.materials.push(Material::glowing(radiance));
    scene.instances.push(Instance {
        name: "lamp",
        animation: Animation::still(Rigid::at(lamp.position.into())),
        primitives: vec![Primitive { shape: ball, material }],
    });
    scene.lamps.push(Lamp { instance, centre: Vec3::ZERO, radius: lamp.radius, radiance });
}
