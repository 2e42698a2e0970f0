//! All shaders of nrview: GLSL sources, the SPIR-V compiled from them, and what a host
//! program has to know about each module.
//!
//! Sources live in `glsl/<subject>/<stem>.comp`, shared code in `glsl/include/`. The
//! `build-shaders` tool (feature `compiler`) compiles them to `spv/`, and writes
//! `manifest.json` and `src/generated.rs`; all of these are committed, so building this
//! crate needs neither a shader compiler nor a C++ compiler. See `docs/shaders.md`.

#![forbid(unsafe_code)]

mod generated;
mod info;
pub mod manifest;
pub mod sources;
pub mod spirv;

pub use info::{Binding, BindingKind, Shader, ShaderInfo, SpecConstant};

/// The shader with this exact name (`subject/stem` or `subject/stem.variant`).
#[must_use]
pub fn shader(name: &str) -> Option<&'static Shader> {
    let table = generated::SHADERS;
    let index = table.binary_search_by(|s| s.name.cmp(name)).ok()?;
    table.get(index)
}

/// Every shader, sorted by name.
pub fn all() -> impl Iterator<Item = &'static Shader> {
    generated::SHADERS.iter()
}
