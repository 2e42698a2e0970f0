//! Scenes as data: rigid objects of analytic shapes, their animation, materials and lights.

mod animation;
mod asset;
mod builtin;
mod environment;
mod material;
mod shape;

pub use animation::{Animation, Joint};
pub use environment::{Environment, Surroundings};
pub use material::{Material, Pattern};
pub use shape::{Primitive, Shape, Sphere};

use crate::mesh::Model;
use crate::path::CameraPath;
use crate::transform::Rigid;
use glam::Vec3;
use std::borrow::Cow;
use std::sync::Arc;

/// A rigid object: shapes that move together.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// What it is, for people.
    pub name: &'static str,
    /// Where it is at each instant.
    pub animation: Animation,
    /// Its shapes, in its own space.
    pub primitives: Vec<Primitive>,
}

impl Instance {
    /// A sphere in the object's own space around all its shapes; `None` when one is endless.
    #[must_use]
    pub fn bound(&self) -> Option<Sphere> {
        let mut bounds = Vec::with_capacity(self.primitives.len());
        for primitive in &self.primitives {
            bounds.push(primitive.shape.bound()?);
        }
        Some(Sphere::around(&bounds))
    }
}

/// A glowing sphere that lights its surroundings, fixed to an instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lamp {
    /// Index of the instance it belongs to.
    pub instance: usize,
    /// Centre in that instance's space.
    pub centre: Vec3,
    /// Radius, metres.
    pub radius: f32,
    /// Radiance of its surface, linear RGB.
    pub radiance: Vec3,
}

/// The sun: a small disc, infinitely far away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Unit vector towards it.
    pub direction: Vec3,
    /// Angular radius of the disc, radians; wide discs give soft shadows.
    pub angular_radius: f32,
    /// Radiance that a white surface facing it reflects, linear RGB.
    pub radiance: Vec3,
}

/// A smooth sky.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sky {
    /// Radiance straight up, linear RGB.
    pub zenith: Vec3,
    /// Radiance at the horizon.
    pub horizon: Vec3,
    /// Light from below, off the ground.
    pub bounce: Vec3,
    /// Haze: 1 / metres.
    pub haze: f32,
    /// How far ambient-occlusion rays reach, metres.
    pub occlusion_distance: f32,
}

/// A scene: everything but the instant and the camera.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Name, for people and for `--scene`.
    pub name: Cow<'static, str>,
    /// The objects. Object ids in the frame are indices into this plus 1.
    pub instances: Vec<Instance>,
    /// Materials the primitives refer to.
    pub materials: Vec<Material>,
    /// Lamps besides the sun.
    pub lamps: Vec<Lamp>,
    /// The sun.
    pub sun: Sun,
    /// Sky and haze.
    pub sky: Sky,
    /// Image-based light; without, the smooth [`Scene::sky`] is all there is around.
    pub environment: Option<Environment>,
    /// Exposure, stops: the picture is `2^exposure` times as bright.
    pub exposure: f32,
    /// Scene value, after the exposure, that is shown as white; the program's start value.
    pub paper_white: f32,
    /// Radius that point and spot lights of the model are given, metres: 0 for hard shadows.
    pub light_radius: f32,
    /// A triangle model among the objects.
    pub model: Option<Arc<Model>>,
    /// The scripted camera.
    pub path: CameraPath,
    /// Cameras that the model brings, by name.
    pub cameras: Vec<(String, CameraPath)>,
    /// Nearest and farthest hit, metres.
    pub range: [f32; 2],
    /// How scene time becomes time of the animation.
    pub clock: Clock,
    /// Seed of all noise in the picture.
    pub seed: u32,
}

/// Animation time as a line over scene time. Cameras go by scene time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Animation seconds at scene time 0.
    pub start: f64,
    /// Animation seconds a scene second; 0 stands still.
    pub speed: f64,
}

impl Default for Clock {
    fn default() -> Self {
        Self { start: 0.0, speed: 1.0 }
    }
}

impl Clock {
    /// Animation seconds at `time` scene seconds.
    #[must_use]
    pub fn at(&self, time: f64) -> f64 {
        self.start + self.speed * time
    }
}

impl Scene {
    /// The scene that comes with the program.
    #[must_use]
    pub fn builtin() -> Self {
        builtin::scene()
    }

    /// The same scene under light that comes evenly from all sides: what a surface looks like does
    /// not depend on how it is turned.
    #[must_use]
    pub fn evenly_lit(self) -> Self {
        let sky = Sky { zenith: Vec3::ONE, horizon: Vec3::ONE, bounce: Vec3::ONE, haze: 0.0, ..self.sky };
        let model = self.model.map(|model| match model.lights.is_empty() {
            true => model,
            false => Arc::new(Model { lights: Vec::new(), ..Model::clone(&model) }),
        });
        let environment = self.environment.map(|_| Environment::SKY);
        let sun = Sun { radiance: Vec3::ZERO, ..self.sun };
        Self { sun, sky, environment, exposure: 0.0, lamps: Vec::new(), model, ..self }
    }

    /// The same scene with other noise.
    #[must_use]
    pub fn with_seed(self, seed: u32) -> Self {
        Self { seed, ..self }
    }

    /// World transforms of all instances at `time` seconds of scene time.
    #[must_use]
    pub fn poses(&self, time: f64) -> Vec<Rigid> {
        let time = self.clock.at(time);
        self.instances.iter().map(|i| i.animation.at(time)).collect()
    }

    /// Shapes of all instances together.
    #[must_use]
    pub fn primitive_count(&self) -> usize {
        self.instances.iter().map(|i| i.primitives.len()).sum()
    }
}
