//! Finding shader sources and the variants they declare.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folder of this crate's sources at build time of the tool or the tests.
#[must_use]
pub fn crate_root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// One shader to compile: a source with one set of macro definitions.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Unit {
    /// Shader name: `subject/stem` or `subject/stem.variant`.
    pub name: String,
    /// Source path under `glsl/`, with forward slashes.
    pub source: String,
    /// Macro definitions, `NAME` or `NAME=VALUE`, in declared order.
    pub defines: Vec<String>,
}

impl Unit {
    /// Name of the source without the variant: `subject/stem`.
    #[must_use]
    pub fn family(&self) -> &str {
        self.source.strip_suffix(".comp").unwrap_or(&self.source)
    }
}

/// Paths under `root` with the given extension, relative, with forward slashes, sorted.
///
/// # Errors
/// When a folder cannot be read.
pub fn files(root: &Path, extension: &str) -> io::Result<Vec<String>> {
    let mut out = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension)
                && let Ok(relative) = path.strip_prefix(root)
                && let Some(text) = relative.to_str()
            {
                out.push(text.replace('\\', "/"));
            }
        }
    }
    out.sort();
    Ok(out)
}

/// The units one source declares.
///
/// A source without a variant line gives one unit with the plain name. Lines
/// `#pragma variant NAME [MACRO[=VALUE]]...` give one unit each instead, called
/// `subject/stem.NAME`.
///
/// # Errors
/// A message naming the line when a variant has no name, a bad name, or is declared twice.
pub fn units(source: &str, text: &str) -> Result<Vec<Unit>, String> {
    let family = source.strip_suffix(".comp").unwrap_or(source);
    let mut out: Vec<Unit> = Vec::new();
    for (line, content) in text.lines().enumerate() {
        let mut words = content.split_whitespace();
        if words.next() != Some("#pragma") || words.next() != Some("variant") {
            continue;
        }
        let at = line + 1;
        let name = words.next().ok_or_else(|| format!("{source}:{at}: variant without a name"))?;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.chars().all(plain) {
            return Err(format!("{source}:{at}: variant name \"{name}\" may hold only a-z, 0-9 and _"));
        }
        let name = format!("{family}.{name}");
        if out.iter().any(|unit| unit.name == name) {
            return Err(format!("{source}:{at}: variant \"{name}\" is declared twice"));
        }
        let defines = words.map(str::to_owned).collect();
        out.push(Unit { name, source: source.to_owned(), defines });
    }
    if out.is_empty() {
        out.push(Unit { name: family.to_owned(), source: source.to_owned(), defines: Vec::new() });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_source_is_one_unit() {
        let got = units("view/fill.comp", "#version 460\nvoid main() {}\n").unwrap();
        assert_eq!(got.len(), 1);
        assert_eq!(got[0].name, "view/fill");
        assert!(got[0].defines.is_empty());
    }

    #[test]
    fn variants_replace_the_plain_unit() {
        let text = "#version 460\n#pragma variant silu ACT=1 WIDE\n#pragma variant none\n";
        let got = units("network/gemm.comp", text).unwrap();
        let names: Vec<_> = got.iter().map(|u| u.name.as_str()).collect();
        assert_eq!(names, ["network/gemm.silu", "network/gemm.none"]);
        assert_eq!(got[0].defines, ["ACT=1", "WIDE"]);
        assert_eq!(got[0].family(), "network/gemm");
    }

    #[test]
    fn bad_variants_name_their_line() {
        let unnamed = units("a/b.comp", "#version 460\n#pragma variant\n").unwrap_err();
        assert!(unnamed.contains("a/b.comp:2"), "{unnamed}");
        let twice = units("a/b.comp", "#pragma variant x\n#pragma variant x\n").unwrap_err();
        assert!(twice.contains("a/b.comp:2") && twice.contains("twice"), "{twice}");
        assert!(units("a/b.comp", "#pragma variant Big\n").unwrap_err().contains("Big"));
    }
}
