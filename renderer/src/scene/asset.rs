//! Scenes around a triangle model.

use super::{Clock, Environment, Scene, Sky, Sun};
use crate::camera::Camera;
use crate::fly::FlySettings;
use crate::mesh::{Bounds, Model};
use crate::path::{CameraKey, CameraPath, Round};
use glam::Vec3;
use std::sync::Arc;

/// Vertical field of view of the camera that frames a model, radians.
const FOV_Y: f32 = 0.7;
/// Seconds of its slow way to and fro.
const SWAY: f64 = 24.0;
/// Light of the sky where the model has lights of its own.
const DIM: f32 = 0.15;

/// Width over height of pictures that a model is framed for; in narrower ones it is cut.
const ASPECT: f32 = 4.0 / 3.0;
/// Part of a picture that the model may fill.
const FILL: f32 = 0.94;

/// Reach of occlusion rays, and metres flown a second, as parts of a model's radius.
const OCCLUSION: f32 = 0.3;
const FLIGHT: f32 = 0.5;

/// A camera that sees all of the model, a little from above, and sways before its front.
fn framing(bounds: &Bounds) -> CameraPath {
    let centre = bounds.centre();
    let half = bounds.size() * 0.5;
    let key = |angle: f32| {
        let (s, c) = angle.sin_cos();
        let direction = Vec3::new(s, 0.4, c).normalize();
        let camera = Camera::looking_at(centre + direction, centre, FOV_Y);
        let (axes, extent) = (camera.axes(), camera.half_extent(ASPECT) * FILL);
        // As near as all corners allow.
        let corner = |i: u32| Vec3::from_array([0, 1, 2].map(|k| if i >> k & 1 == 0 { -half[k] } else { half[k] }));
        let distance = (0..8).map(corner).map(|p| {
            let side = (p.dot(axes.right).abs() / extent.x).max(p.dot(axes.up).abs() / extent.y);
            side - p.dot(axes.forward)
        });
        let distance = distance.fold(1e-4, f32::max);
        CameraKey { position: centre + direction * distance, target: centre }
    };
    CameraPath::Round(Round { keys: [0.45, 0.7, 0.45, 0.2].map(key).to_vec(), seconds: SWAY, fov_y: FOV_Y })
}

impl Scene {
    /// Nothing but the sky that models stand under.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            name: "empty".into(),
            instances: Vec::new(),
            materials: Vec::new(),
            lamps: Vec::new(),
            sun: Sun {
                direction: Vec3::new(0.45, 0.72, 0.53).normalize(),
                angular_radius: 0.022,
                radiance: Vec3::new(1.3, 1.2, 1.05),
            },
            sky: Sky {
                zenith: Vec3::new(0.16, 0.26, 0.46),
                horizon: Vec3::new(0.50, 0.54, 0.58),
                bounce: Vec3::new(0.16, 0.15, 0.14),
                haze: 0.0,
                occlusion_distance: 1.0,
            },
            environment: Some(Environment::SKY),
            exposure: 0.0,
            paper_white: 1.0,
            light_radius: 0.0,
            model: None,
            path: CameraPath::Round(Round { keys: Vec::new(), seconds: 1.0, fov_y: FOV_Y }),
            cameras: Vec::new(),
            range: [1e-3, 400.0],
            clock: Clock::default(),
            seed: 0,
        }
    }

    /// How fast a person flies through the scene: past a model in a few seconds, whatever its size.
    #[must_use]
    pub fn flight(&self) -> FlySettings {
        let usual = FlySettings::default();
        match self.model {
            Some(_) => FlySettings { speed: FLIGHT * self.sky.occlusion_distance / OCCLUSION, ..usual },
            None => usual,
        }
    }

    /// A scene of one model: under a sun and a clear sky, or under a dim sky where the model
    /// brings lights of its own. The scripted camera sways before the model; the model's own
    /// cameras are in [`Scene::cameras`].
    #[must_use]
    pub fn around(model: Model) -> Self {
        let bounds = model.bounds_in_motion();
        let radius = (bounds.size().length() * 0.5).clamp(1e-4, 1e6);
        let lit = !model.lights.is_empty();
        let light = if lit { DIM } else { 1.0 };
        let cameras = model.camera_paths();
        let far = |from: Vec3| (from - bounds.centre()).length() + 4.0 * radius;
        let farthest = cameras.iter().flat_map(|(_, path)| path.positions()).map(far).fold(40.0 * radius, f32::max);
        let usual = Self::empty();
        let sun = Sun { radiance: if lit { Vec3::ZERO } else { usual.sun.radiance }, ..usual.sun };
        let Sky { zenith, horizon, bounce, .. } = usual.sky;
        Self {
            name: model.name.clone().into(),
            sun,
            sky: Sky {
                zenith: zenith * light,
                horizon: horizon * light,
                bounce: bounce * light,
                occlusion_distance: OCCLUSION * radius,
                ..usual.sky
            },
            path: framing(&bounds),
            cameras,
            range: [(1e-5 * radius).clamp(1e-7, 1e-3), farthest],
            model: Some(Arc::new(model)),
            ..usual
        }
    }

    /// The scene with the scripted camera replaced by one of the model's; `None` when it has none
    /// of that name.
    #[must_use]
    pub fn seen_from(mut self, camera: &str) -> Option<Self> {
        self.path = self.cameras.iter().find(|(name, _)| name == camera)?.1.clone();
        Some(self)
    }
}
