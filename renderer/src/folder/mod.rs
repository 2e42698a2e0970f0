//! Scene folders: a small JSON beside a model, with everything that the model does not say.
//!
//! The file is not trusted: unknown keys and numbers out of range are refused, and it refers to no
//! file outside its folder.

mod document;
mod error;
mod light;

pub use document::FORMAT;
pub use error::{Error, Result};

use crate::gltf::{self, Progress, source};
use crate::panorama::Panorama;
use crate::path::{CameraPath, PathDocument, path_of};
use crate::scene::{Clock, Environment, Scene};
use document::{CameraDocument, SceneDocument};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the JSON in a scene folder.
pub const FILE: &str = "scene.json";
/// Most bytes of a JSON file.
const JSON_LIMIT: u64 = 16 << 20;

/// What a folder says of its scene, without its model.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Title, for people.
    pub title: String,
    /// A sentence or two.
    pub description: String,
    /// Cameras that it names, the default one first. The model may bring more.
    pub cameras: Vec<String>,
}

/// Reads what a scene folder says, without loading its model.
///
/// # Errors
/// The file is not there, or wrong.
pub fn summary(folder: &Path) -> Result<Summary> {
    let document = read(&folder.join(FILE))?;
    let mut cameras: Vec<String> = document.cameras.keys().cloned().collect();
    if let Some(first) = &document.camera {
        cameras.sort_by_key(|name| name != first);
    }
    Ok(Summary { title: document.title, description: document.description, cameras })
}

/// Loads a scene folder. `report` is that of [`gltf::load`].
///
/// # Errors
/// One sentence about the first thing that is wrong with it.
pub fn load(folder: &Path, report: &(dyn Fn(Progress) -> bool + Sync)) -> Result<Scene> {
    let file = folder.join(FILE);
    let document = read(&file)?;
    let wrong = |reason: String| Error::Wrong { file: file.clone(), reason };
    let model = source::inside(folder, &document.model)?;
    let mut scene = Scene::around(gltf::load(&model, report)?);
    scene.name = document.title.clone().into();
    if let Some(around) = &document.environment {
        let environment = match &around.file {
            Some(name) => Environment::panorama(Arc::new(Panorama::load(&source::inside(folder, name)?)?)),
            None => Environment::SKY,
        };
        let (rotation, intensity) = (around.rotation.to_radians(), around.intensity);
        scene = scene.surrounded_by(Environment { rotation, intensity, ..environment });
    }
    light::apply(&document, &mut scene).map_err(wrong)?;
    scene.clock = Clock { start: document.animation.start, speed: document.animation.speed };
    scene.paper_white = document.paper_white;
    let mut cameras = Vec::new();
    for (name, camera) in &document.cameras {
        let path = camera_path(folder, camera).map_err(|error| match error {
            CameraError::Reason(reason) => {
                Error::Wrong { file: file.clone(), reason: format!("camera {}: {reason}", messages::quoted(name)) }
            }
            CameraError::Other(error) => error,
        })?;
        cameras.push((name.clone(), path));
    }
    cameras.append(&mut scene.cameras);
    let reach = cameras.iter().flat_map(|(_, path)| path.positions()).map(|p| p.length()).fold(0.0, f32::max);
    scene.range[1] = scene.range[1].max(2.0 * reach);
    scene.cameras = cameras;
    if let Some(camera) = &document.camera {
        let found = scene.cameras.iter().find(|(name, _)| name == camera);
        scene.path = found
            .ok_or_else(|| {
                wrong(format!("it has no camera {}, which is to be the first one", messages::quoted(camera)))
            })?
            .1
            .clone();
    }
    Ok(scene)
}

/// Reads a camera path from a file.
///
/// # Errors
/// It cannot be read, or is no path.
pub fn load_path(file: &Path) -> Result<CameraPath> {
    let wrong = |reason: String| Error::Wrong { file: file.to_owned(), reason };
    PathDocument::parse(&text(file)?).map_err(wrong)
}

fn read(file: &Path) -> Result<SceneDocument> {
    let wrong = |reason: String| Error::Wrong { file: file.to_owned(), reason };
    let document: SceneDocument =
        serde_json::from_str(&text(file)?).map_err(|error| wrong(messages::shortened(&error)))?;
    document.check().map_err(wrong)?;
    Ok(document)
}

fn text(file: &Path) -> Result<String> {
    let wrong = |reason: String| Error::Wrong { file: file.to_owned(), reason };
    let size = std::fs::metadata(file).map_or(0, |data| data.len());
    if size > JSON_LIMIT {
        return Err(wrong(format!("it has {size} bytes, and at most {JSON_LIMIT} are read")));
    }
    String::from_utf8(source::read_file(file, &|| Ok(()))?).map_err(|_| wrong("it is not text".to_owned()))
}

enum CameraError {
    Reason(String),
    Other(Error),
}

fn camera_path(folder: &Path, camera: &CameraDocument) -> Result<CameraPath, CameraError> {
    match (&camera.keys, &camera.round, &camera.file) {
        (Some(keys), None, None) => path_of(keys).map_err(CameraError::Reason),
        (None, Some(round), None) => round.path().map_err(CameraError::Reason),
        (None, None, Some(file)) => {
            let path: PathBuf = source::inside(folder, file).map_err(|error| CameraError::Other(error.into()))?;
            load_path(&path).map_err(CameraError::Other)
        }
        _ => Err(CameraError::Reason("give it either keys, a round, or the file of a path".to_owned())),
    }
}
