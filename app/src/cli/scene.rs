//! Which scene is shown: the built-in one or a glTF file.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use renderer::Scene;
use renderer::gltf::{self, Progress};

use super::progress;

/// Name of the scene that comes with the program.
const BUILTIN: &str = "builtin";

/// Arguments that choose a scene.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SceneArgs {
    /// The scene: `builtin`, or a glTF 2.0 file (.gltf or .glb).
    #[arg(long, value_name = "NAME|FILE", default_value = BUILTIN)]
    pub scene: String,
    /// The camera of the glTF file to look through [default: one that sees all of it].
    #[arg(long, value_name = "NAME")]
    pub camera: Option<String>,
}

/// The error, with the file's name unless it tells it already.
fn named(path: &Path, error: gltf::Error) -> anyhow::Error {
    let name = path.display().to_string();
    if error.to_string().contains(&name) { error.into() } else { anyhow::Error::new(error).context(name) }
}

impl SceneArgs {
    /// Whether it has to be loaded from a file.
    pub fn is_file(&self) -> bool {
        self.scene != BUILTIN
    }

    /// Loads the scene. `report` hears of every step and says whether to go on.
    ///
    /// # Errors
    /// The file cannot be loaded, or has no such camera.
    pub fn load(&self, report: &(dyn Fn(Progress) -> bool + Sync)) -> Result<Scene> {
        if !self.is_file() {
            if let Some(camera) = &self.camera {
                bail!("the built-in scene has no camera {camera:?}; leave --camera out");
            }
            return Ok(Scene::builtin());
        }
        let path = Path::new(&self.scene);
        let is_gltf = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gltf") || e.eq_ignore_ascii_case("glb"));
        if !is_gltf {
            bail!("unknown scene {:?}; there is {BUILTIN}, or give a .gltf or .glb file", self.scene);
        }
        let begun = std::time::Instant::now();
        let model = gltf::load(path, report).map_err(|error| named(path, error))?;
        let (triangles, pictures) = (model.triangle_count(), model.images.len());
        let scene = Scene::around(model);
        tracing::info!(
            "scene {}: {triangles} triangles, {pictures} textures, cameras {:?}, loaded in {:.1?}",
            path.display(),
            scene.cameras.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            begun.elapsed()
        );
        let Some(camera) = &self.camera else { return Ok(scene) };
        let names: Vec<String> = scene.cameras.iter().map(|(name, _)| name.clone()).collect();
        scene.seen_from(camera).with_context(|| match names.as_slice() {
            [] => format!("{} has no cameras; leave --camera out", self.scene),
            names => format!("{} has no camera {camera:?}; it has {}", self.scene, names.join(", ")),
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
