//! What surrounds a scene and lights it from all sides.

use super::{Scene, Sun};
use crate::panorama::Panorama;
use glam::Vec3;
use std::sync::Arc;

/// Where the light from all around comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Surroundings {
    /// The built-in sky: drawn from [`Scene::sky`] and [`Scene::sun`].
    Sky,
    /// An equirectangular picture. The middle of the picture lies at -z before the rotation.
    Panorama(Arc<Panorama>),
}

/// Image-based light: seen behind everything, mirrored, and falling on every surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    /// Where it comes from.
    pub source: Surroundings,
    /// Turn of a panorama about +y, radians, counter-clockwise seen from above.
    pub rotation: f32,
    /// Factor on its radiance, not negative.
    pub intensity: f32,
}

impl Environment {
    /// The built-in sky as it is.
    pub const SKY: Self = Self { source: Surroundings::Sky, rotation: 0.0, intensity: 1.0 };

    /// A panorama as it is.
    #[must_use]
    pub fn panorama(panorama: Arc<Panorama>) -> Self {
        Self { source: Surroundings::Panorama(panorama), rotation: 0.0, intensity: 1.0 }
    }
}

impl Scene {
    /// The scene in other surroundings. A panorama brings its own sun, so the scene's goes out;
    /// set [`Scene::sun`] afterwards to have both.
    #[must_use]
    pub fn surrounded_by(self, environment: Environment) -> Self {
        let sun = match environment.source {
            Surroundings::Sky => self.sun,
            Surroundings::Panorama(_) => Sun { radiance: Vec3::ZERO, ..self.sun },
        };
        Self { environment: Some(environment), sun, ..self }
    }
}
