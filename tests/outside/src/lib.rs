//! Every parser of outside data as a function of bytes. The fuzzer in `tests/fuzz` calls these, and the test beside them
//! replays its corpus. Each parser may refuse with a sentence; what it accepts must be usable. Anything else panics.
//!
//! Documents are also reached by [edits](edit) of a good one, so that a few bytes lead far into it.

#![forbid(unsafe_code)]

mod capture;
mod edit;
mod fixture;
mod import;
mod model;
mod renderer_data;
mod small;

use std::path::Path;

pub use capture::small as small_capture;

/// A parser, ready to be given bytes.
pub type Check = Box<dyn Fn(&[u8])>;

/// A parser of outside data.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    /// Makes what it works with; a folder of files ends with the check.
    pub make: fn() -> Check,
    /// Whether a decoder of others may panic, which the parser catches.
    pub catches: bool,
}

/// All of them.
pub const TARGETS: [Target; 17] = [
    target("cache", small::cache),
    target("camera-path", renderer_data::camera_path),
    target("capture", capture::check),
    target("container", model::container),
    target("fixture", fixture::check),
    target("gltf", renderer_data::gltf),
    target("import", import::document),
    Target { catches: true, ..target("import-exr", import::exr) },
    target("model", model::manifest),
    Target { catches: true, ..target("panorama", renderer_data::panorama) },
    target("picture", small::picture),
    target("preset", small::preset),
    target("profile", small::profile),
    target("registry", small::registry),
    target("scene", renderer_data::scene),
    target("settings", small::settings),
    target("side", small::side),
];

const fn target(name: &'static str, make: fn() -> Check) -> Target {
    Target { name, make, catches: false }
}

/// The target of a name.
#[must_use]
pub fn find(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}

/// Writes a file into a scratch folder.
fn put(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("a scratch folder can be written");
}

/// Most characters of a refusal: all lines of a list of problems, and the path before it.
const LONGEST: usize = 8000;

/// What a person is told: short, whatever it quotes, and nothing in it that a terminal obeys.
fn sentence(message: &str) {
    assert!(!message.trim().is_empty(), "a refusal without a reason");
    let length = message.chars().count();
    assert!(length < LONGEST, "{length} characters of a message: {}", messages::shortened(message));
    assert!(!message.contains(|c: char| c.is_control() && c != '\n'), "{message:?}");
}

/// The two parts of an input: before and after its first zero byte.
fn halves(bytes: &[u8]) -> (&[u8], &[u8]) {
    let at = bytes.iter().position(|&byte| byte == 0);
    at.map_or((bytes, &[]), |at| (&bytes[..at], &bytes[at + 1..]))
}
