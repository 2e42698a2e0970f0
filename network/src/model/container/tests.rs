//! Round trips, and hostile containers.

use super::*;
use crate::model::records::hex;
use crate::model::starter;
use crate::model::synth::{Preset, generate};

fn changed() -> Model {
    generate(Preset::Identity, 1).unwrap().with_byte("block5.layer0.layer", 100, 7).unwrap()
}

fn problem(bytes: &[u8]) -> String {
    match expand(bytes, "test", Provenance::Records).unwrap_err() {
        ModelError::InvalidContainer { problem, .. } => problem,
        other => other.to_string(),
    }
}

/// A container with a given index and payload, its header and digest in order.
fn assemble(index: &str, packed: &[u8], raw: u64) -> Vec<u8> {
    let body = [index.as_bytes(), packed].concat();
    let mut file = MAGIC.to_vec();
    file.extend_from_slice(&VERSION.to_le_bytes());
    file.extend_from_slice(&(index.len() as u32).to_le_bytes());
    file.extend_from_slice(&(packed.len() as u64).to_le_bytes());
    file.extend_from_slice(&raw.to_le_bytes());
    file.extend_from_slice(&Sha256::digest(&body));
    file.extend_from_slice(&body);
    file
}

#[test]
fn only_records_that_differ_are_stored() {
    let model = changed();
    let told = std::cell::Cell::new((0, 0));
    let bytes = pack(&model, "test weights", Some("CC0-1.0"), &|done, all| told.set((done, all))).unwrap();
    assert!(told.get().0 > 0 && told.get().0 == told.get().1, "{told:?}");
    let index = index(&bytes, "test").unwrap();
    // The identity preset differs from the defaults in its blend scale alone.
    let names: Vec<_> = index.records.iter().map(|record| record.name.as_str()).collect();
    assert_eq!(names, ["block5.layer0.layer", "block70.layer0.blend_scale"]);
    assert_eq!(index.license.as_deref(), Some("CC0-1.0"));
    assert!(bytes.len() < 2000);
    let again = expand(&bytes, "test", Provenance::Records).unwrap();
    assert_eq!(again.digest(), model.digest());
    assert_eq!(again.digest(), index.digest);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    assert_eq!(read(file.path()).unwrap().digest(), model.digest());
}

#[test]
fn damage_is_found() {
    let bytes = pack(&changed(), "test", None, &|_, _| {}).unwrap();
    assert!(problem(&[]).contains("header"));
    assert!(problem(&bytes[..63]).contains("header"));
    assert!(problem(&bytes[..bytes.len() - 1]).contains("follow the header"));
    assert!(problem(&[&bytes[..], &[0]].concat()).contains("follow the header"));
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        assert!(!problem(&bad).is_empty(), "byte {at}");
    }
}

#[test]
fn hostile_containers_are_refused() {
    let empty = zstd::encode_all(&[][..], 1).unwrap();
    let record = |name: &str, length: u64| {
        format!(r#"{{"description":"","digest":"","records":[{{"name":"{name}","byteLength":{length}}}]}}"#)
    };
    assert!(problem(&assemble("{}", &empty, 0)).contains("index"));
    assert!(problem(&assemble("[", &empty, 0)).contains("index"));
    assert!(problem(&assemble(&record("block1.layer0.layer", u64::MAX), &empty, 0)).contains("add up"));
    assert!(problem(&assemble(&record("block1.layer0.layer", 5), &empty, 5)).contains("another length"));
    assert!(problem(&assemble(&record("block1.layer0.layer", 5), b"junk", 5)).contains("payload"));
    let five = zstd::encode_all(&[0; 5][..], 1).unwrap();
    assert!(problem(&assemble(&record("block99.layer0.layer", 5), &five, 5)).contains("block99"));
    assert!(problem(&assemble(&record("block1.layer0.layer", 5), &five, 5)).contains("exceeds"));
    let twice = r#"{"description":"","digest":"","records":[
        {"name":"block31.layer3.layer","byteLength":2},{"name":"block31.layer3.layer","byteLength":2}]}"#;
    let four = zstd::encode_all(&[0; 4][..], 1).unwrap();
    assert!(problem(&assemble(twice, &four, 4)).contains("duplicate"));
    assert!(problem(&assemble(&record("x", 1 << 40), &empty, 1 << 40)).contains("over the limit"));
    // A small file that would expand to a gigabyte stops at the declared length.
    let bomb = zstd::encode_all(&vec![0; 64 << 20][..], 1).unwrap();
    assert!(bomb.len() < 1 << 16);
    assert!(problem(&assemble(&record("block1.layer0.layer", 20_672), &bomb, 20_672)).contains("another length"));
}

#[test]
fn the_starter_container_is_what_it_says() {
    let bytes = include_bytes!("../../../../assets/starter.nrw");
    let index = index(bytes, "starter").unwrap();
    assert_eq!(index.digest, starter::DIGEST);
    assert_eq!(index.license.as_deref(), Some("CC0-1.0"));
    assert_eq!(index.records.len(), 19);
    assert_eq!(hex(&bytes[..8]), hex(MAGIC));
}
