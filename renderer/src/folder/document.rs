//! The JSON of a scene folder.

use crate::path::{CameraKey, CameraPath, KeyDocument, Round};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The `format` of a scene file.
pub const FORMAT: &str = "nrview-scene";
const VERSION: u32 = 1;
/// Largest distance, metres, and largest brightness.
const FAR: f32 = 1e6;
const BRIGHT: f32 = 1e6;

/// Everything that a scene file can say.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SceneDocument {
    format: String,
    version: u32,
    pub title: String,
    #[serde(default)]
    pub description: String,
    /// A .gltf or .glb file of the folder.
    pub model: String,
    /// The camera at first: one of `cameras`, or one of the model's.
    pub camera: Option<String>,
    #[serde(default)]
    pub cameras: BTreeMap<String, CameraDocument>,
    pub sun: Option<SunDocument>,
    pub sky: Option<SkyDocument>,
    pub environment: Option<EnvironmentDocument>,
    /// Radius of the model's point and spot lights, metres.
    #[serde(default)]
    pub light_radius: f32,
    #[serde(default)]
    pub lamps: Vec<LampDocument>,
    /// Stops: the picture is 2 to this times as bright.
    #[serde(default)]
    pub exposure: f32,
    #[serde(default = "one")]
    pub paper_white: f32,
    #[serde(default)]
    pub animation: AnimationDocument,
}

/// A camera: one of three kinds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CameraDocument {
    pub keys: Option<Vec<KeyDocument>>,
    pub round: Option<RoundDocument>,
    pub file: Option<String>,
}

/// A smooth loop, the same time from key to key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoundDocument {
    seconds: f64,
    /// Vertical field of view, degrees.
    fov: f32,
    keys: Vec<Stop>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stop {
    position: [f32; 3],
    target: [f32; 3],
}

/// The sun. Angles are in degrees.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SunDocument {
    /// Turn to the right from -z.
    pub azimuth: f32,
    /// Above the horizon.
    pub elevation: f32,
    /// Diameter of its disc.
    pub diameter: f32,
    pub color: [f32; 3],
    pub intensity: f32,
}

/// The sky, the same as [`crate::scene::Sky`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SkyDocument {
    pub zenith: [f32; 3],
    pub horizon: [f32; 3],
    pub ground: [f32; 3],
    #[serde(default)]
    pub haze: f32,
    pub occlusion_distance: Option<f32>,
}

/// Light from all around: a picture, or the sky where there is none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnvironmentDocument {
    /// A .hdr or .exr file of the folder.
    pub file: Option<String>,
    /// Degrees, counter-clockwise seen from above.
    #[serde(default)]
    pub rotation: f32,
    #[serde(default = "one")]
    pub intensity: f32,
}

/// A glowing ball.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LampDocument {
    pub position: [f32; 3],
    pub radius: f32,
    pub color: [f32; 3],
    pub intensity: f32,
}

/// How the model's animation plays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AnimationDocument {
    pub speed: f64,
    /// Seconds of the animation at the beginning.
    pub start: f64,
}

impl Default for AnimationDocument {
    fn default() -> Self {
        Self { speed: 1.0, start: 0.0 }
    }
}

fn one() -> f32 {
    1.0
}

fn within(name: &str, value: f32, least: f32, most: f32) -> Result<(), String> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(format!("{name} {value} is not within {least} to {most}"))
    }
}

fn color(name: &str, value: [f32; 3]) -> Result<(), String> {
    value.iter().try_for_each(|v| within(name, *v, 0.0, BRIGHT))
}

impl SceneDocument {
    /// Refuses numbers out of range.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.format != FORMAT || self.version != VERSION {
            let (format, version) = (messages::quoted(&self.format), self.version);
            return Err(format!("its format is {format}, version {version}, not {FORMAT:?}, version {VERSION}"));
        }
        if self.title.is_empty() || self.title.len() > 100 || self.description.len() > 2000 {
            return Err("it needs a title of at most 100 bytes, and a description of at most 2000".to_owned());
        }
        if let Some(sun) = &self.sun {
            within("sun.azimuth", sun.azimuth, -360.0, 360.0)?;
            within("sun.elevation", sun.elevation, -90.0, 90.0)?;
            within("sun.diameter", sun.diameter, 0.0, 60.0)?;
            within("sun.intensity", sun.intensity, 0.0, BRIGHT)?;
            color("sun.color", sun.color)?;
        }
        if let Some(sky) = &self.sky {
            color("sky.zenith", sky.zenith)?;
            color("sky.horizon", sky.horizon)?;
            color("sky.ground", sky.ground)?;
            within("sky.haze", sky.haze, 0.0, 1e3)?;
            if let Some(distance) = sky.occlusion_distance {
                within("sky.occlusionDistance", distance, 0.0, FAR)?;
            }
        }
        if let Some(environment) = &self.environment {
            within("environment.rotation", environment.rotation, -360.0, 360.0)?;
            within("environment.intensity", environment.intensity, 0.0, BRIGHT)?;
        }
        within("lightRadius", self.light_radius, 0.0, FAR)?;
        for lamp in &self.lamps {
            lamp.position.iter().try_for_each(|v| within("lamps.position", *v, -FAR, FAR))?;
            within("lamps.radius", lamp.radius, 1e-4, FAR)?;
            within("lamps.intensity", lamp.intensity, 0.0, BRIGHT)?;
            color("lamps.color", lamp.color)?;
        }
        within("exposure", self.exposure, -20.0, 20.0)?;
        within("paperWhite", self.paper_white, 0.01, 100.0)?;
        within("animation.speed", self.animation.speed as f32, -100.0, 100.0)?;
        within("animation.start", self.animation.start as f32, -1e6, 1e6)
    }
}

impl RoundDocument {
    pub(super) fn path(&self) -> Result<CameraPath, String> {
        within("seconds", self.seconds as f32, 0.01, 1e6)?;
        within("fov", self.fov, 1.0, 150.0)?;
        if self.keys.is_empty() {
            return Err("a round needs at least one key".to_owned());
        }
        for stop in &self.keys {
            stop.position.iter().chain(&stop.target).try_for_each(|v| within("keys", *v, -FAR, FAR))?;
        }
        let key = |stop: &Stop| CameraKey { position: stop.position.into(), target: stop.target.into() };
        let keys = self.keys.iter().map(key).collect();
        Ok(CameraPath::Round(Round { keys, seconds: self.seconds, fov_y: self.fov.to_radians() }))
    }
}
