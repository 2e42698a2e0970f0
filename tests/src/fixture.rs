//! The parity fixtures under `tests/fixtures`.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::program::workspace;

/// Directory of one fixture.
///
/// # Panics
/// When there is none of that name.
pub fn folder(name: &str) -> PathBuf {
    let folder = workspace().join("tests/fixtures").join(name);
    assert!(folder.is_dir(), "no fixture {}", folder.display());
    folder
}

/// Names of all fixtures, sorted.
///
/// # Panics
/// When the folder cannot be read or is empty.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(workspace().join("tests/fixtures"))
        .expect("tests/fixtures is readable")
        .filter_map(Result::ok)
        .filter(|entry| entry.path().join("fixture.json").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(!names.is_empty(), "tests/fixtures holds no fixture");
    names
}

/// The `fixture.json` of a fixture.
///
/// # Panics
/// When it cannot be read.
pub fn description(name: &str) -> Value {
    let file = folder(name).join("fixture.json");
    let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// The `--model` argument that gives the weights a fixture was made with.
///
/// # Panics
/// When the fixture's description lacks it.
pub fn model(name: &str) -> String {
    let model = &description(name)["model"];
    let preset = model["preset"].as_str().expect("a fixture names its model");
    match (preset, &model["seed"]) {
        ("starter" | "identity", _) => preset.to_owned(),
        (_, seed) => format!("{preset}:{seed}"),
    }
}
