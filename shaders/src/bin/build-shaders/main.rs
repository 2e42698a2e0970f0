//! Developer tool: compiles the GLSL sources of this crate to the committed SPIR-V.
//!
//!     cargo run --release -p shaders --features compiler --bin build-shaders [-- ARGS]
//!
//! Without arguments every `glsl/**/*.comp` is compiled. Arguments:
//! - `NAME...`: only these; the other entries of the manifest stay as they are. A NAME is a
//!   shader (`network/gemm.silu`), a source with all its variants (`network/gemm`) or a whole
//!   subject (`network`).
//! - `--check`: write nothing, compare with the committed files, exit 1 when they differ.
//! - `--list`: print the names that would be compiled.
//!
//! It writes `spv/<name>.spv`, `manifest.json` and `src/generated.rs`, each only when its
//! content changes and each through a temporary file and a rename. Runs wait for one another
//! (a lock on the `glsl` folder), so several people may use it in one checkout. A shader that
//! does not compile is reported as `file:line: message` and keeps its former module; the
//! others are written all the same, and the exit code is 1.

#![forbid(unsafe_code)]

mod compile;
mod emit;

use shaders::manifest::{Entry, Manifest, sha256_hex};
use shaders::sources::{self, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::process::ExitCode;

struct Options {
    check: bool,
    list: bool,
    names: Vec<String>,
}

fn options() -> Result<Options, String> {
    let mut options = Options { check: false, list: false, names: Vec::new() };
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--check" => options.check = true,
            "--list" => options.list = true,
            flag if flag.starts_with('-') => {
                return Err(format!("unknown option {flag}; known: --check, --list, NAME..."));
            }
            name => options.names.push(name.trim_end_matches(".comp").to_owned()),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let result = options().map_err(Into::into).and_then(|options| run(&options));
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("build-shaders: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether `unit` was asked for by one of `names` (no names ask for all).
fn selected(unit: &Unit, names: &[String]) -> bool {
    let subject = unit.name.split('/').next().unwrap_or_default();
    names.is_empty()
        || names.iter().any(|n| *n == unit.name || n == unit.family() || n.trim_end_matches('/') == subject)
}

fn run(options: &Options) -> Result<bool, Box<dyn Error>> {
    let root = sources::crate_root();
    let glsl = root.join("glsl");
    // One run at a time; released when the file is closed at the end of the process.
    let lock = File::open(&glsl)?;
    lock.lock()?;

    let mut clean = true;
    let mut units = Vec::new();
    let mut broken = BTreeSet::new(); // sources whose variant lines cannot be read
    for source in sources::files(&glsl, "comp")? {
        match sources::units(&source, &fs::read_to_string(glsl.join(&source))?) {
            Ok(found) => units.extend(found),
            Err(message) => {
                eprintln!("error: {message}");
                clean = false;
                broken.insert(source);
            }
        }
    }
    for name in &options.names {
        if !units.iter().any(|unit| selected(unit, std::slice::from_ref(name))) {
            return Err(format!("no shader called \"{name}\" (--list prints all names)").into());
        }
    }
    let chosen: Vec<&Unit> = units.iter().filter(|u| selected(u, &options.names)).collect();
    if options.list {
        chosen.iter().for_each(|unit| println!("{}", unit.name));
        return Ok(clean);
    }

    let former = match fs::read_to_string(root.join("manifest.json")) {
        Ok(text) => Manifest::parse(&text).map_err(|e| format!("manifest.json: {e}"))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Manifest::default(),
        Err(error) => return Err(error.into()),
    };
    let mut manifest = Manifest { shaders: former.shaders.clone(), ..Manifest::default() };
    // Drop what no longer has a source: everywhere in a full run, and stale variants of the
    // named sources in a partial one.
    let known: BTreeSet<&str> = units.iter().map(|u| u.name.as_str()).collect();
    manifest.shaders.retain(|name, entry| {
        let touched = options.names.is_empty() || chosen.iter().any(|u| u.source == entry.source);
        !touched || known.contains(name.as_str()) || broken.contains(&entry.source)
    });

    let mut modules: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for unit in &chosen {
        match compile::compile(&glsl, unit) {
            Ok(compiled) => {
                let bytes: Vec<u8> = compiled.words.iter().flat_map(|w| w.to_le_bytes()).collect();
                let entry = Entry {
                    source: unit.source.clone(),
                    source_sha256: compiled.source_sha256,
                    includes: compiled.includes,
                    defines: unit.defines.clone(),
                    spirv_sha256: sha256_hex(&bytes),
                    interface: compiled.interface,
                };
                manifest.shaders.insert(unit.name.clone(), entry);
                modules.insert(unit.name.clone(), bytes);
            }
            Err(message) => {
                eprintln!("error: {}\n{message}", unit.name);
                clean = false;
            }
        }
    }
    let written = write_all(&root, &manifest, &modules, options)?;
    let state = if options.check { "differ" } else { "written" };
    println!("{} shaders compiled, {} files {state}", modules.len(), written);
    Ok(clean && !(options.check && written > 0))
}

/// Writes (or compares) everything; gives the number of files that changed (or differ).
fn write_all(
    root: &Path,
    manifest: &Manifest,
    modules: &BTreeMap<String, Vec<u8>>,
    options: &Options,
) -> Result<usize, Box<dyn Error>> {
    let mut changed = 0;
    let mut put = |path: &str, bytes: &[u8]| -> Result<(), Box<dyn Error>> {
        let full = root.join(path);
        if fs::read(&full).is_ok_and(|old| old == bytes) {
            return Ok(());
        }
        println!("{} {path}", if options.check { "differs:" } else { "wrote" });
        changed += 1;
        if options.check { Ok(()) } else { emit::write_atomically(&full, bytes) }
    };
    for (name, bytes) in modules {
        put(&format!("spv/{name}.spv"), bytes)?;
    }
    put("manifest.json", manifest.to_json()?.as_bytes())?;
    put("src/generated.rs", emit::generated(manifest).as_bytes())?;
    // Modules without an entry go last, when nothing refers to them any more.
    if options.names.is_empty() {
        for file in sources::files(&root.join("spv"), "spv")? {
            if !manifest.shaders.contains_key(file.trim_end_matches(".spv")) {
                println!("{} spv/{file}", if options.check { "unused:" } else { "removed" });
                changed += 1;
                if !options.check {
                    fs::remove_file(root.join("spv").join(file))?;
                }
            }
        }
    }
    Ok(changed)
}
