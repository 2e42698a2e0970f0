//! `manifest.json`: what each committed SPIR-V module was made from, and its interface.

use crate::spirv::Reflection;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The compiler whose output is committed. Another version is a change of its own, with new
/// hashes.
pub const COMPILER: &str = "glslang crate 0.9.1 (glslang-sys 0.9.2), no optimiser";
/// What the modules are compiled for.
pub const TARGET: &str = "Vulkan 1.3, SPIR-V 1.6";

/// The whole manifest.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Manifest {
    /// Always [`COMPILER`].
    pub compiler: String,
    /// Always [`TARGET`].
    pub target: String,
    /// Entries by shader name.
    pub shaders: BTreeMap<String, Entry>,
}

impl Default for Manifest {
    fn default() -> Self {
        Self { compiler: COMPILER.to_owned(), target: TARGET.to_owned(), shaders: BTreeMap::new() }
    }
}

/// One shader.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Entry {
    /// Source path under `glsl/`.
    pub source: String,
    /// SHA-256 of the source file.
    pub source_sha256: String,
    /// Every file included, directly or not: path under `glsl/` to its SHA-256.
    pub includes: BTreeMap<String, String>,
    /// Macro definitions.
    pub defines: Vec<String>,
    /// SHA-256 of `spv/<name>.spv`.
    pub spirv_sha256: String,
    /// The module's interface.
    #[serde(flatten)]
    pub interface: Reflection,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// When the text is not JSON of this form.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The manifest as committed: indented JSON with a final newline.
    ///
    /// # Errors
    /// Never for a manifest in memory; the error type is the serializer's.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

/// SHA-256 in lower-case hexadecimal.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
