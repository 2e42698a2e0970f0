//! Files the tool writes.

use shaders::manifest::Manifest;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Replaces `path` in one step, so that no reader ever sees half a file.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let folder = path.parent().ok_or("a path without a folder")?;
    fs::create_dir_all(folder)?;
    let temporary = path.with_extension(format!("tmp{}", std::process::id()));
    fs::write(&temporary, bytes)?;
    fs::rename(&temporary, path)?;
    Ok(())
}

/// The table of modules as Rust source.
pub fn generated(manifest: &Manifest) -> String {
    let mut out = String::from(
        "//! The table of shaders. Written by `build-shaders`; do not edit.\n\n\
         #[rustfmt::skip]\n\
         #[allow(unused_imports, reason = \"which are used depends on the shaders\")]\n\
         pub(crate) static SHADERS: &[crate::Shader] = {\n    \
         use crate::{Binding, BindingKind::*, Shader, ShaderInfo, SpecConstant};\n    &[\n",
    );
    for (name, entry) in &manifest.shaders {
        let i = &entry.interface;
        let bindings: Vec<String> = i
            .bindings
            .iter()
            .map(|b| format!("Binding {{ binding: {}, kind: {:?}, count: {} }}", b.binding, b.kind, b.count))
            .collect();
        let constants: Vec<String> = i
            .spec_constants
            .iter()
            .map(|c| format!("SpecConstant {{ id: {}, default: {} }}", c.id, c.default))
            .collect();
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "        Shader {{\n            name: {name:?},\n            \
             spirv: include_bytes!(\"../spv/{name}.spv\"),\n            \
             info: ShaderInfo {{\n                workgroup_size: {:?},\n                \
             workgroup_size_ids: {:?},\n                bindings: &[{}],\n                \
             push_constant_size: {},\n                shared_memory_size: {},\n                \
             spec_constants: &[{}],\n                capabilities: &{:?},\n                \
             spirv_sha256: {:?},\n            }},\n        }},\n",
            i.workgroup_size,
            i.workgroup_size_ids,
            bindings.join(", "),
            i.push_constant_size,
            i.shared_memory_size,
            constants.join(", "),
            i.capabilities,
            entry.spirv_sha256,
        );
    }
    out.push_str("    ]\n};\n");
    out
}
