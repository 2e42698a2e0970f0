//! Written directories against the public generators, and targets that must not be replaced.

use super::*;
use crate::model::synth::{Preset, generate};
use crate::model::{load, starter};

fn options(grouping: Grouping, align: usize) -> WriteOptions {
    WriteOptions { grouping, align: NonZeroUsize::new(align).unwrap() }
}

/// SHA-256 of a directory's manifest, which holds that of every stage file.
fn manifest_digest(dir: &Path) -> String {
    hex(&Sha256::digest(fs::read(dir.join("manifest.json")).unwrap()))
}

#[test]
fn directories_equal_the_public_generators() {
    // Digests of the manifests that synth_model.py and starter_to_model.py write.
    let synth = |preset, seed| generate(preset, seed).unwrap();
    let cases = [
        (
            synth(Preset::Lively, 1),
            options(Grouping::Eleven, 1),
            "599821c68d179bf03d58cb9f8329c29bfaffb6be13aa64e6c461ac4651fc9bbe",
        ),
        (
            synth(Preset::Sparse, 2),
            options(Grouping::PerTensor, 16),
            "45f623cf2c25c8eb44fa70acc2bec13ccdcfeaab5a9e4b4aba3658a7070433da",
        ),
        (
            synth(Preset::Identity, 1),
            options(Grouping::Eleven, 256),
            "b58e174dd64e50c2bf97650202b3075ac95776ec18641c8fa3190165ff552793",
        ),
        (
            starter::model().unwrap(),
            options(Grouping::Eleven, 1),
            "fc704f16c1f09036ed182279928691eaf2f6527db1b6569dacf953827d11b651",
        ),
    ];
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("deep/model");
    for (model, options, digest) in cases {
        // From the second on, each replaces the one before, of another grouping.
        let written = write(&model, &dir, &options).unwrap();
        assert_eq!(manifest_digest(&dir), digest, "{}", model.description());
        assert_eq!(written.digest, model.digest());
        let again = load(&dir, true).unwrap();
        assert_eq!(again.digest(), model.digest());
        let left: Vec<_> = fs::read_dir(dir.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "no scratch directory stays");
    }
}

#[test]
fn foreign_directories_are_left_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let model = generate(Preset::Identity, 1).unwrap();
    let refuse = |dir: &Path, about: &str| {
        let error = write(&model, dir, &WriteOptions::default()).unwrap_err();
        assert!(matches!(error, ModelError::RefusedTarget { .. }), "{error}");
        assert!(error.to_string().contains(about), "{error}");
    };
    let file = scratch.path().join("file");
    fs::write(&file, "x").unwrap();
    refuse(&file, "not a directory");

    let pictures = scratch.path().join("pictures");
    fs::create_dir(&pictures).unwrap();
    fs::write(pictures.join("a.png"), "x").unwrap();
    refuse(&pictures, "not a model");
    assert_eq!(fs::read(pictures.join("a.png")).unwrap(), b"x");

    // A model directory that also holds somebody's notes.
    let mixed = scratch.path().join("mixed");
    write(&model, &mixed, &WriteOptions::default()).unwrap();
    let notes = mixed.join("model/stages/notes.txt");
    fs::write(&notes, "keep").unwrap();
    refuse(&mixed, "notes.txt");
    assert_eq!(fs::read(&notes).unwrap(), b"keep");
    assert!(load(&mixed, true).is_ok());

    // Below a regular file nothing can be created.
    let error = write(&model, &file.join("below"), &WriteOptions::default()).unwrap_err();
    assert!(matches!(error, ModelError::Io { .. }), "{error}");
}
