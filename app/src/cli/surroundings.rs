//! Light and effects from the command line.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use renderer::panorama::Panorama;
use renderer::{Effects, Environment, Scene};
use serde::{Deserialize, Serialize};

/// Names of the arguments that change the light of a scene, for those that leave no light to change.
pub const LIGHT: [&str; 5] =
    ["environment", "environment_rotation", "environment_intensity", "exposure", "paper_white"];

/// Arguments that change the light of a scene.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub struct LightArgs {
    /// An equirectangular picture around the scene that lights it (.hdr or .exr) [default: the scene's own].
    #[arg(long, value_name = "FILE")]
    pub environment: Option<PathBuf>,
    /// Turn of the environment, degrees, counter-clockwise seen from above.
    #[arg(long, value_name = "DEGREES", allow_hyphen_values = true, value_parser = degrees)]
    pub environment_rotation: Option<f32>,
    /// Factor on the environment's light.
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub environment_intensity: Option<f32>,
    /// Exposure in stops: 1 doubles all light [default: the scene's].
    #[arg(long, value_name = "STOPS", allow_hyphen_values = true, value_parser = stops)]
    pub exposure: Option<f32>,
    /// Scene value, after the exposure, that is shown as white [default: the scene's].
    #[arg(long, value_name = "VALUE", value_parser = paper_white)]
    pub paper_white: Option<f32>,
}

fn within(text: &str, least: f32, most: f32) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| format!("{} is not a number", messages::quoted(text)))?;
    if (least..=most).contains(&value) { Ok(value) } else { Err(format!("{value} is not within {least} to {most}")) }
}

fn degrees(text: &str) -> Result<f32, String> {
    within(text, -360.0, 360.0)
}

fn factor(text: &str) -> Result<f32, String> {
    within(text, 0.0, 1e6)
}

fn stops(text: &str) -> Result<f32, String> {
    within(text, -20.0, 20.0)
}

fn paper_white(text: &str) -> Result<f32, String> {
    within(text, 0.05, 100.0)
}

impl LightArgs {
    /// Whether a file has to be read.
    pub fn is_file(&self) -> bool {
        self.environment.is_some()
    }

    /// The environment's picture, if there is one to read.
    ///
    /// # Errors
    /// The file cannot be an environment.
    pub fn panorama(&self) -> Result<Option<Arc<Panorama>>> {
        Ok(self.environment.as_deref().map(Panorama::load).transpose()?.map(Arc::new))
    }

    /// The scene in this light.
    ///
    /// # Errors
    /// The scene has no environment to turn or to scale.
    pub fn apply(&self, scene: Scene, panorama: Option<Arc<Panorama>>) -> Result<Scene> {
        let mut scene = match panorama {
            Some(panorama) => scene.surrounded_by(Environment::panorama(panorama)),
            None => scene,
        };
        if self.environment_rotation.is_some() || self.environment_intensity.is_some() {
            let environment = scene.environment.as_mut();
            let environment = environment.context("the scene has no environment; give one with --environment")?;
            if let Some(rotation) = self.environment_rotation {
                environment.rotation = rotation.to_radians();
            }
            environment.intensity = self.environment_intensity.unwrap_or(environment.intensity);
        }
        scene.exposure = self.exposure.unwrap_or(scene.exposure);
        scene.paper_white = self.paper_white.unwrap_or(scene.paper_white);
        Ok(scene)
    }
}

/// An effect that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The shadow ray.
    Shadows,
    /// The ambient-occlusion ray.
    Ao,
    /// The glossy-reflection ray.
    Reflections,
    /// The sub-pixel jitter.
    Jitter,
}

/// The effects without some of them.
pub fn effects(without: &[Part], jitter: bool) -> Effects {
    let has = |part: Part| !without.contains(&part);
    Effects {
        shadows: has(Part::Shadows),
        ao: has(Part::Ao),
        reflections: has(Part::Reflections),
        jitter: jitter && has(Part::Jitter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_ranges() {
        assert_eq!(stops("-2.5"), Ok(-2.5));
        assert!(stops("nan").is_err() && stops("99").is_err() && degrees("x").is_err() && paper_white("0").is_err());
    }

    #[test]
    fn values_reach_the_scene() {
        let args = LightArgs { exposure: Some(-1.0), paper_white: Some(2.0), ..LightArgs::default() };
        let scene = args.apply(Scene::builtin(), None).expect("there is nothing to refuse");
        assert_eq!((scene.exposure, scene.paper_white, scene.environment), (-1.0, 2.0, None));
        let turned = LightArgs { environment_rotation: Some(90.0), ..LightArgs::default() };
        assert!(turned.apply(Scene::builtin(), None).is_err());
        let scene = turned.apply(Scene::empty(), None).expect("a sky can be turned");
        assert!((scene.environment.expect("it is there").rotation - std::f32::consts::FRAC_PI_2).abs() < 1e-3);
    }

    #[test]
    fn effects_can_be_left_out_one_by_one() {
        assert_eq!(effects(&[], true), Effects::ALL);
        assert_eq!(effects(&[Part::Ao], false), Effects { ao: false, jitter: false, ..Effects::ALL });
    }
}
