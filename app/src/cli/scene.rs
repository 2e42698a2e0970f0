//! Which scene is shown: the built-in one, one that comes with the program, a scene folder, or a glTF file.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use renderer::gltf::{self, Progress};
use renderer::{Scene, folder};

use super::progress;
use super::surroundings::LightArgs;
use crate::engine::catalog::{self, BUILTIN, Place};

/// Names of the arguments that choose a scene and where to look at it from, for those that draw none.
pub const CHOICE: [&str; 4] = ["scene", "asset_scene", "camera", "camera_path"];

/// Arguments that choose a scene.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SceneArgs {
    /// The scene: a name that `nrview scenes` lists, a scene folder, or a glTF 2.0 file (.gltf or .glb).
    #[arg(long, value_name = "NAME|FOLDER|FILE", default_value = BUILTIN)]
    pub scene: String,
    /// Which scene of a glTF file, by name or number [default: the file's default scene].
    #[arg(long, value_name = "NAME|N")]
    pub asset_scene: Option<String>,
    /// The camera of the scene to look through [default: the scene's first one, or one that sees all of it].
    #[arg(long, value_name = "NAME", conflicts_with = "camera_path")]
    pub camera: Option<String>,
    /// A recorded camera path to look along.
    #[arg(long, value_name = "FILE")]
    pub camera_path: Option<PathBuf>,
    #[command(flatten)]
    pub light: LightArgs,
}

/// The error, with the file's name unless it tells it already.
fn named(path: &Path, error: gltf::Error) -> anyhow::Error {
    let name = path.display().to_string();
    if error.to_string().contains(&name) { error.into() } else { anyhow::Error::new(error).context(name) }
}

impl SceneArgs {
    /// A scene by name, with its own camera.
    pub fn of(scene: &str) -> Self {
        Self {
            scene: scene.to_owned(),
            asset_scene: None,
            camera: None,
            camera_path: None,
            light: LightArgs::default(),
        }
    }

    /// Whether anything is chosen but the default.
    pub fn is_chosen(&self) -> bool {
        self.scene != BUILTIN
            || self.asset_scene.is_some()
            || self.camera.is_some()
            || self.camera_path.is_some()
            || self.light != LightArgs::default()
    }

    /// Whether it has to be loaded from a file.
    pub fn is_file(&self) -> bool {
        self.scene != BUILTIN || self.light.is_file()
    }

    /// Loads the scene. `report` hears of every step and says whether to go on.
    ///
    /// # Errors
    /// The scene cannot be loaded, or has no such camera.
    pub fn load(&self, report: &(dyn Fn(Progress) -> bool + Sync)) -> Result<Scene> {
        let path = self.camera_path.as_deref().map(folder::load_path).transpose()?;
        let panorama = self.light.panorama()?;
        let mut scene = self.light.apply(self.load_place(report)?, panorama)?;
        if let Some(path) = path {
            scene.path = path;
        }
        Ok(scene)
    }

    fn load_place(&self, report: &(dyn Fn(Progress) -> bool + Sync)) -> Result<Scene> {
        let begun = std::time::Instant::now();
        let place = catalog::find(&self.scene)?;
        if self.asset_scene.is_some() && !matches!(place, Place::File(_)) {
            bail!("--asset-scene chooses a scene of a glTF file, and {} is none; leave it out", self.scene);
        }
        let scene = match place {
            Place::Builtin => {
                if let Some(camera) = &self.camera {
                    bail!("the built-in scene has no camera {}; leave --camera out", messages::quoted(camera));
                }
                return Ok(Scene::builtin());
            }
            Place::File(path) => Scene::around(
                gltf::load_scene(&path, self.asset_scene.as_deref(), report).map_err(|error| named(&path, error))?,
            ),
            Place::Folder(path) => folder::load(&path, report).map_err(|error| match error {
                folder::Error::Model(error) => named(&path, error),
                other => other.into(),
            })?,
        };
        let (triangles, pictures) =
            scene.model.as_ref().map_or((0, 0), |model| (model.triangle_count(), model.images.len()));
        let names: Vec<String> = scene.cameras.iter().map(|(name, _)| name.clone()).collect();
        tracing::info!(
            "scene {}: {triangles} triangles, {pictures} textures, cameras {names:?}, loaded in {:.1?}",
            self.scene,
            begun.elapsed()
        );
        let Some(camera) = &self.camera else { return Ok(scene) };
        scene.seen_from(camera).with_context(|| match names.as_slice() {
            [] => format!("{} has no cameras; leave --camera out", self.scene),
            names => {
                format!("{} has no camera {}; it has {}", self.scene, messages::quoted(camera), messages::listed(names))
            }
        })
    }

    /// Loads the scene with a progress bar on the terminal.
    ///
    /// # Errors
    /// See [`SceneArgs::load`].
    pub fn load_with_bar(&self) -> Result<Scene> {
        let bar = progress::bar(1, "scene");
        let scene = self.load(&|step| {
            bar.set_length(u64::from(step.total));
            bar.set_position(u64::from(step.done));
            true
        });
        bar.finish_and_clear();
        scene
    }
}
