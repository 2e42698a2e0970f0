//! `nrview scenes`: what `--scene` can name.

use std::fmt::Write as _;

use serde_json::json;

use super::outcome::{CommandResult, Outcome};
use crate::engine::catalog;

/// Lists the scenes. The answer is no when one of them is broken.
pub fn run() -> CommandResult {
    let entries = catalog::all();
    let mut out = String::new();
    for entry in &entries {
        let _ = writeln!(out, "{}: {}", entry.name, entry.title);
        if !entry.description.is_empty() {
            let _ = writeln!(out, "   {}", entry.description);
        }
        if !entry.cameras.is_empty() {
            let _ = writeln!(out, "   cameras: {}", entry.cameras.join(", "));
        }
        if let Some(reason) = &entry.broken {
            let _ = writeln!(out, "   cannot be shown: {reason}");
        }
    }
    let folder = catalog::folder();
    match &folder {
        Some(folder) => _ = writeln!(out, "their folders are in {}", folder.display()),
        None => {
            let variable = catalog::VARIABLE;
            _ = writeln!(
                out,
                "no folder of scenes was found: start the program where assets/scenes is, or set {variable}"
            );
        }
    }
    let holds = entries.iter().all(|entry| entry.broken.is_none());
    Ok(Outcome { json: json!({ "folder": folder, "scenes": entries }), text: out, holds })
}
