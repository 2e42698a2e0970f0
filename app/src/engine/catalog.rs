//! The scenes that come with the program: where they are, and which there are.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use renderer::folder;
use serde::Serialize;

/// Name of the scene that is part of the program itself.
pub const BUILTIN: &str = "builtin";
/// Environment variable that names another folder of scenes.
pub const VARIABLE: &str = "NRVIEW_SCENES";

/// A scene that can be asked for by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// What `--scene` takes.
    pub name: String,
    /// Title, for people.
    pub title: String,
    /// What is to be seen.
    pub description: String,
    /// Cameras that its folder names; the model may bring more.
    pub cameras: Vec<String>,
    /// The folder; none for the built-in scene.
    pub folder: Option<PathBuf>,
    /// Why it cannot be shown.
    pub broken: Option<String>,
}

/// The folder of scenes: the one that [`VARIABLE`] names, or `assets/scenes` beside or above the program or in the
/// present folder, or `share/nrview/scenes` of the place it is installed to.
pub fn folder() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Some(PathBuf::from(named));
    }
    let program = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    let above = program.iter().flat_map(|path| path.ancestors().skip(1));
    let beside = above.flat_map(|at| [at.join("assets/scenes"), at.join("share/nrview/scenes")]);
    beside.chain([PathBuf::from("assets/scenes")]).find(|path| path.is_dir())
}

/// All scenes: the built-in one, then those of the folder by name.
pub fn all() -> Vec<Entry> {
    let mut entries = vec![Entry {
        name: BUILTIN.to_owned(),
        title: "Square".to_owned(),
        description: "A small square of analytic shapes in low sun: turning sculptures, a carousel, thin wires."
            .to_owned(),
        cameras: Vec::new(),
        folder: None,
        broken: None,
    }];
    let mut folders: Vec<PathBuf> = folder()
        .and_then(|folder| std::fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join(folder::FILE).is_file())
        .collect();
    folders.sort();
    entries.extend(folders.iter().filter_map(|path| entry(path)));
    entries
}

fn entry(path: &Path) -> Option<Entry> {
    let name = path.file_name()?.to_str()?.to_owned();
    let (summary, broken) = match folder::summary(path) {
        Ok(summary) => (Some(summary), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let summary = summary.unwrap_or_else(|| folder::Summary {
        title: name.clone(),
        description: String::new(),
        cameras: Vec::new(),
    });
    let folder::Summary { title, description, cameras } = summary;
    Some(Entry { name, title, description, cameras, folder: Some(path.to_owned()), broken })
}

/// Where a scene comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// The program itself.
    Builtin,
    /// A scene folder.
    Folder(PathBuf),
    /// A glTF file.
    File(PathBuf),
}

/// The place that a name, a folder, or a file stands for.
///
/// # Errors
/// It stands for nothing.
pub fn find(text: &str) -> Result<Place> {
    if text == BUILTIN {
        return Ok(Place::Builtin);
    }
    let path = Path::new(text);
    let is = |kind: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(kind));
    if is("gltf") || is("glb") {
        return Ok(Place::File(path.to_owned()));
    }
    if path.file_name().is_some_and(|name| name == folder::FILE) {
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return Ok(Place::Folder(parent.to_owned()));
    }
    let plain = path.components().count() == 1;
    let shipped = folder().map(|scenes| scenes.join(path)).filter(|at| plain && at.join(folder::FILE).is_file());
    if let Some(at) = shipped {
        return Ok(Place::Folder(at));
    }
    if path.is_dir() {
        return path
            .join(folder::FILE)
            .is_file()
            .then(|| Place::Folder(path.to_owned()))
            .with_context(|| format!("{text} is no scene folder: it has no {}", folder::FILE));
    }
    let names: Vec<String> = all().into_iter().map(|entry| entry.name).collect();
    let others = match folder() {
        Some(_) => String::new(),
        None => format!(" (the folder assets/scenes, with more, was not found: name it with {VARIABLE})"),
    };
    anyhow::bail!(
        "unknown scene {}; there is {}{others}, or give a scene folder, or a .gltf or .glb file",
        messages::quoted(text),
        messages::listed(&names)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        assert_eq!(find("builtin").ok(), Some(Place::Builtin));
        assert_eq!(find("a/b.GLB").ok(), Some(Place::File("a/b.GLB".into())));
        assert_eq!(find("a/scene.json").ok(), Some(Place::Folder("a".into())));
        assert_eq!(find("scene.json").ok(), Some(Place::Folder(".".into())));
        let nothing = find("nowhere").unwrap_err().to_string();
        assert!(nothing.contains("nowhere") && nothing.contains(BUILTIN), "{nothing}");
        let empty = tempfile::tempdir().expect("a temporary directory");
        let refused = find(&empty.path().display().to_string()).unwrap_err().to_string();
        assert!(refused.contains("scene.json"), "{refused}");
    }

    #[test]
    fn the_shipped_scenes_are_found() {
        let all = all();
        assert_eq!(all[0].name, BUILTIN);
        for entry in &all {
            assert_eq!(entry.broken, None, "{}", entry.name);
        }
    }
}
