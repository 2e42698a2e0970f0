//! Weights: the manifest of a directory, and the container.

use network::model::container::{expand, index};
use network::model::{ModelError, Provenance, layout, load};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{Check, edit, halves, put, sentence};

/// The manifest of a model directory whose stages are missing: whatever it says, no more than its own size is read.
pub fn manifest() -> Check {
    let root = tempfile::tempdir().expect("a scratch folder");
    let mut offset = 0;
    let tensor = |(i, record): (usize, &layout::RecordLayout)| {
        let at = offset;
        offset += record.byte_len();
        let stage = if i % 2 == 0 { "a" } else { "b" };
        json!({
            "name": record.name, "block": record.block, "layer": 0, "parameter": "layer", "stage": stage,
            "stageOffset": at, "byteLength": record.byte_len(),
        })
    };
    let tensors: Vec<Value> = layout::records().iter().enumerate().map(tensor).collect();
    let stage = |id: &str| json!({ "id": id, "file": format!("stages/{id}.bin"), "packedByteLength": offset, "sha256": "0".repeat(64) });
    let good = json!({ "totals": { "blockCount": 71 }, "stages": [stage("a"), stage("b")], "tensors": tensors });
    Box::new(move |bytes| {
        put(&root.path().join("manifest.json"), &edit::document(&good, bytes));
        let error = load(root.path(), true).expect_err("there are no stages");
        if let ModelError::ReadStage { path, .. } = &error {
            assert!(path.starts_with(root.path().join("model")), "{} is outside", path.display());
            assert!(!path.components().any(|part| part.as_os_str() == ".."), "{} is outside", path.display());
        }
        sentence(&error.to_string());
    })
}

/// A container of weights: as it is, and what lies behind a right header and digest: an index and a compressed payload.
pub fn container() -> Check {
    // The smallest record, and one that may be longer than its layout.
    let small = layout::records().iter().min_by_key(|record| record.byte_len()).expect("records");
    let payload = vec![0x3c; small.byte_len()];
    let packed = zstd::encode_all(payload.as_slice(), 1).expect("into memory");
    let good = json!({
        "license": "x", "description": "y", "digest": "0".repeat(64),
        "records": [{ "name": small.name, "byteLength": payload.len() }],
    });
    let seen = |file: &[u8]| {
        if let Err(error) = index(file, "weights") {
            sentence(&error.to_string());
            return;
        }
        // Whole models take long to make; those that are refused do not.
        let sound = index(file, "weights").is_ok_and(|index| {
            let mut names: Vec<&str> = index.records.iter().map(|record| record.name.as_str()).collect();
            names.sort_unstable();
            let once = names.windows(2).all(|pair| pair[0] != pair[1]);
            once && index.records.iter().all(|record| {
                let layout = layout::index(&record.name).map(|i| &layout::records()[i]);
                layout.is_some_and(|layout| record.byte_length >= layout.byte_len())
            })
        });
        if !sound || Sha256::digest(file)[0] == 0 {
            match expand(file, "weights", Provenance::Records) {
                Ok(model) => assert!(model.byte_len() >= layout::TOTAL_BYTES),
                Err(error) => sentence(&error.to_string()),
            }
        }
    };
    Box::new(move |bytes| {
        seen(bytes);
        let (changes, rest) = halves(bytes);
        let index = edit::document(&good, changes);
        let body: &[u8] = if rest.is_empty() { &packed } else { rest };
        let length: u64 = serde_json::from_slice::<Value>(&index).map_or(0, |index| {
            let lengths = index["records"].as_array().into_iter().flatten();
            lengths.filter_map(|record| record["byteLength"].as_u64()).fold(0, u64::saturating_add)
        });
        let mut file = b"NRWEIGHT\x01\0\0\0".to_vec();
        file.extend((index.len() as u32).to_le_bytes());
        file.extend((body.len() as u64).to_le_bytes());
        file.extend(length.to_le_bytes());
        file.extend(Sha256::new().chain_update(&index).chain_update(body).finalize());
        file.extend(index);
        file.extend(body);
        seen(&file);
    })
}
