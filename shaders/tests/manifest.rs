//! Sources, modules, manifest and table agree. Needs no compiler.

use shaders::manifest::{COMPILER, Manifest, TARGET, sha256_hex};
use shaders::{sources, spirv};
use std::collections::BTreeSet;
use std::fs;

const REMEDY: &str = "run: cargo run --release -p shaders --features compiler --bin build-shaders";

fn manifest() -> Manifest {
    let text = fs::read_to_string(sources::crate_root().join("manifest.json")).unwrap();
    Manifest::parse(&text).unwrap()
}

fn hash(path: &str) -> Option<String> {
    fs::read(sources::crate_root().join(path)).ok().map(|bytes| sha256_hex(&bytes))
}

#[test]
fn every_source_is_compiled_as_it_stands() {
    let manifest = manifest();
    let glsl = sources::crate_root().join("glsl");
    let mut stale = Vec::new();
    let mut known = BTreeSet::new();
    for source in sources::files(&glsl, "comp").unwrap() {
        let text = fs::read_to_string(glsl.join(&source)).unwrap();
        for unit in sources::units(&source, &text).unwrap() {
            let current = manifest.shaders.get(&unit.name).is_some_and(|entry| {
                entry.source == unit.source
                    && entry.defines == unit.defines
                    && Some(&entry.source_sha256) == hash(&format!("glsl/{source}")).as_ref()
                    && entry
                        .includes
                        .iter()
                        .all(|(path, sha256)| Some(sha256) == hash(&format!("glsl/{path}")).as_ref())
            });
            if !current {
                stale.push(unit.name.clone());
            }
            known.insert(unit.name);
        }
    }
    assert!(stale.is_empty(), "changed since they were compiled: {stale:?}; {REMEDY}");
    let lost: Vec<_> = manifest.shaders.keys().filter(|name| !known.contains(*name)).collect();
    assert!(lost.is_empty(), "modules without a source: {lost:?}; {REMEDY}");
    assert!(!known.is_empty(), "no sources found");
    assert_eq!((manifest.compiler.as_str(), manifest.target.as_str()), (COMPILER, TARGET));
}

#[test]
fn every_module_is_the_one_in_the_manifest() {
    let manifest = manifest();
    for (name, entry) in &manifest.shaders {
        let bytes = fs::read(sources::crate_root().join(format!("spv/{name}.spv"))).unwrap();
        assert_eq!(sha256_hex(&bytes), entry.spirv_sha256, "{name}; {REMEDY}");
        let words: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(spirv::reflect(&words).unwrap(), entry.interface, "{name}; {REMEDY}");
    }
    let spv = sources::files(&sources::crate_root().join("spv"), "spv").unwrap();
    let unused: Vec<_> =
        spv.iter().filter(|file| !manifest.shaders.contains_key(file.trim_end_matches(".spv"))).collect();
    assert!(unused.is_empty(), "modules nothing refers to: {unused:?}; {REMEDY}");
}

#[test]
fn the_table_is_the_manifest() {
    let manifest = manifest();
    let names: Vec<_> = shaders::all().map(|s| s.name).collect();
    assert_eq!(names, manifest.shaders.keys().map(String::as_str).collect::<Vec<_>>(), "{REMEDY}");
    for shader in shaders::all() {
        let entry = &manifest.shaders[shader.name];
        let (info, interface) = (&shader.info, &entry.interface);
        assert_eq!(info.spirv_sha256, entry.spirv_sha256, "{}; {REMEDY}", shader.name);
        assert_eq!(sha256_hex(shader.spirv), entry.spirv_sha256, "{}; {REMEDY}", shader.name);
        assert_eq!(info.workgroup_size, interface.workgroup_size);
        assert_eq!(info.workgroup_size_ids, interface.workgroup_size_ids);
        assert_eq!(info.bindings, interface.bindings);
        assert_eq!(info.push_constant_size, interface.push_constant_size);
        assert_eq!(info.shared_memory_size, interface.shared_memory_size);
        assert_eq!(info.spec_constants, interface.spec_constants);
        assert_eq!(info.capabilities, interface.capabilities);
        assert!(std::ptr::eq(shaders::shader(shader.name).unwrap(), shader));
    }
    assert!(shaders::shader("no/such").is_none());
}

/// Limits every Vulkan 1.3 device the program runs on has. Shaders for matrix units, which only
/// some devices have, may go beyond, and so may the variants that are tried only where a device has the memory.
#[test]
fn portable_shaders_stay_in_portable_limits() {
    let on_units = |s: &shaders::Shader| s.info.capabilities.iter().any(|c| c.starts_with("CooperativeMatrix"));
    let where_it_fits = ["network/gemm_tile.tall", "network/gemm_matrix.model_square"];
    let portable = |s: &&shaders::Shader| !on_units(s) && !where_it_fits.contains(&s.name);
    for shader in shaders::all().filter(portable) {
        let (name, info) = (shader.name, &shader.info);
        let invocations: u32 = info.workgroup_size.iter().product();
        assert!(invocations <= 512, "{name}: {invocations} invocations in a workgroup");
        assert!(info.shared_memory_size <= 32 << 10, "{name}: {} bytes shared", info.shared_memory_size);
        assert!(info.push_constant_size <= 128, "{name}: {} bytes pushed", info.push_constant_size);
    }
}
