//! The scene that comes with the program: a small square with turning sculptures in low sun.
//!
//! It is made to show what a denoising and anti-aliasing network does: hard edges, fine and
//! coarse textures, soft shadows, wires and rods near the size of a pixel, and objects that
//! roll, swing and tumble at different speeds under a moving camera.

mod moving;
mod paint;
mod still;

use super::{Animation, Clock, Instance, Lamp, Primitive, Scene, Shape, Sky, Sphere, Sun};
use crate::path::{CameraKey, CameraPath, Round};
use glam::Vec3;
use paint::Paint;

/// The built-in scene.
pub(super) fn scene() -> Scene {
    let mut build = Builder::default();
    still::add(&mut build);
    moving::add(&mut build);
    Scene {
        name: "square".into(),
        instances: build.instances,
        materials: Paint::ALL.iter().map(|p| p.material()).collect(),
        lamps: build.lamps,
        sun: Sun {
            direction: Vec3::new(0.70, 0.52, 0.36).normalize(),
            angular_radius: 0.022,
            radiance: Vec3::new(1.75, 1.36, 0.92),
        },
        sky: Sky {
            zenith: Vec3::new(0.075, 0.185, 0.46),
            horizon: Vec3::new(0.50, 0.54, 0.58),
            bounce: Vec3::new(0.14, 0.115, 0.09),
            haze: 0.010,
            occlusion_distance: 2.2,
        },
        environment: None,
        exposure: 0.0,
        paper_white: 1.0,
        light_radius: 0.0,
        model: None,
        path: camera_path(),
        cameras: Vec::new(),
        range: [1e-3, 400.0],
        clock: Clock::default(),
        seed: 0,
    }
}

/// A slow walk around the front of the square.
fn camera_path() -> CameraPath {
    let key = |position: [f32; 3], target: [f32; 3]| CameraKey { position: position.into(), target: target.into() };
    CameraPath::Round(Round {
        keys: vec![
            key([0.6, 2.0, 8.6], [0.0, 1.45, -1.4]),
            key([3.6, 1.7, 7.6], [0.3, 1.5, -1.6]),
            key([6.4, 2.4, 5.2], [-0.3, 1.4, -1.4]),
            key([3.0, 3.2, 6.0], [-0.9, 1.2, -1.6]),
            key([-2.4, 2.7, 6.4], [0.3, 1.3, -1.6]),
            key([-5.4, 1.8, 5.8], [0.6, 1.5, -1.4]),
        ],
        seconds: 36.0,
        fov_y: 0.82,
    })
}

/// Collects instances.
#[derive(Default)]
struct Builder {
    instances: Vec<Instance>,
    lamps: Vec<Lamp>,
}

impl Builder {
    fn add(&mut self, name: &'static str, animation: Animation, shapes: Vec<(Shape, Paint)>) {
        let primitives = shapes.into_iter().map(|(shape, paint)| Primitive { shape, material: paint as usize });
        self.instances.push(Instance { name, animation, primitives: primitives.collect() });
    }

    /// Lets a glowing sphere of the instance added last light the scene.
    fn lamp(&mut self, centre: Vec3, radius: f32, paint: Paint) {
        self.lamps.push(Lamp {
            instance: self.instances.len().saturating_sub(1),
            centre,
            radius,
            radiance: paint.material().emission,
        });
    }
}

fn block(centre: [f32; 3], size: [f32; 3]) -> Shape {
    Shape::Box { centre: centre.into(), half: Vec3::from(size) * 0.5 }
}

fn ball(centre: [f32; 3], radius: f32) -> Shape {
    Shape::Sphere(Sphere { centre: centre.into(), radius })
}

fn rod(from: [f32; 3], to: [f32; 3], radius: f32) -> Shape {
    Shape::Capsule { from: from.into(), to: to.into(), radius }
}

fn column(from: [f32; 3], to: [f32; 3], radius: f32) -> Shape {
    Shape::Cylinder { from: from.into(), to: to.into(), radius }
}

fn band(axis: Vec3, radius: f32, half_width: f32) -> Shape {
    Shape::Band { centre: Vec3::ZERO, axis, radius, half_width }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu_data;

    #[test]
    fn fits_the_tables_of_the_shaders() {
        let scene = scene();
        assert!(scene.instances.len() <= gpu_data::MAX_INSTANCES);
        assert!(scene.primitive_count() <= gpu_data::MAX_PRIMITIVES);
        assert!(scene.materials.len() <= gpu_data::MAX_MATERIALS);
        assert!(scene.lamps.len() <= gpu_data::MAX_LAMPS);
    }

    #[test]
    fn every_reference_is_good() {
        let scene = scene();
        for instance in &scene.instances {
            assert!(!instance.primitives.is_empty(), "{} is empty", instance.name);
            for p in &instance.primitives {
                assert!(p.material < scene.materials.len());
            }
        }
        assert!(scene.lamps.iter().all(|l| l.instance < scene.instances.len()));
        for (i, paint) in Paint::ALL.iter().enumerate() {
            assert_eq!(*paint as usize, i, "the order of the table is that of the names");
        }
    }

    #[test]
    fn several_things_move_and_several_stand() {
        let scene = scene();
        let still = |i: &&Instance| i.animation.is_still();
        let standing = scene.instances.iter().filter(still).count();
        assert!(standing >= 5 && scene.instances.len() - standing >= 8);
    }

    #[test]
    fn the_camera_stays_clear_of_everything_solid() {
        let scene = scene();
        for step in 0..360 {
            let time = f64::from(step) * 0.1;
            let eye = scene.path.at(time).position;
            for (instance, pose) in scene.instances.iter().zip(scene.poses(time)) {
                let Some(bound) = instance.bound() else {
                    continue;
                };
                if bound.radius < 1.5 {
                    let gap = (pose.point(bound.centre) - eye).length() - bound.radius;
                    assert!(gap > 0.05, "inside {} at {time} s", instance.name);
                }
            }
        }
    }
}
