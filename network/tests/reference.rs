//! The CPU reference against recorded frames: every boundary and the head, bit for bit.
//!
//! Three fixtures run here: one with the whole range of ordinary weights, one driven into saturation and infinity, and
//! the identity. The parity command runs all of them.

use std::path::{Path, PathBuf};

use network::geometry::{Extent, Geometry};
use network::model::synth::{self, Preset};
use network::model::{Model, starter};
use network::plan::Plan;
use network::reference::{Reference, TensorData};
use serde_json::Value;
use sha2::{Digest, Sha256};

struct Fixture {
    directory: PathBuf,
    json: Value,
}

impl Fixture {
    fn open(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(name);
        let text = std::fs::read_to_string(directory.join("fixture.json")).unwrap();
        Self { directory, json: serde_json::from_str(&text).unwrap() }
    }

    fn model(&self) -> Model {
        let seed = self.json["model"]["seed"].as_u64().unwrap();
        match self.json["model"]["preset"].as_str().unwrap() {
            "starter" => starter::model().unwrap(),
            preset => synth::generate(Preset::from_name(preset).unwrap(), seed).unwrap(),
        }
    }

    fn halves(&self, key: &str) -> Vec<u16> {
        let file = std::fs::read(self.directory.join(self.json[key]["file"].as_str().unwrap())).unwrap();
        let bytes = zstd::decode_all(file.as_slice()).unwrap();
        bytes.as_chunks().0.iter().map(|&b| u16::from_le_bytes(b)).collect()
    }

    /// Runs the fixture; every named tensor of the plan and the head must be the recorded one.
    fn check(&self) {
        let side = |i: usize| self.json["sourceDimensions"][i].as_u64().unwrap() as u32;
        let plan = Plan::new(&Geometry::new(Extent::new(side(0), side(1))).unwrap());
        let reference = Reference::new(&plan, &self.model()).unwrap();
        let recorded = self.json["boundaries"].as_array().unwrap();
        assert_eq!(recorded.len(), 79);
        let mut compared = 0;
        let features = self.halves("inputFeatures");
        let head = reference
            .run(&features, |_, op, outputs| {
                for output in outputs {
                    let tensor = plan.tensor(output.id);
                    let Some(name) = &tensor.boundary else { continue };
                    let Some(want) = recorded.iter().find(|b| b["name"] == name.as_str()) else { continue };
                    assert_eq!(tensor.extent.width as u64, want["width"].as_u64().unwrap(), "{name}");
                    assert_eq!(tensor.extent.height as u64, want["height"].as_u64().unwrap(), "{name}");
                    assert_eq!(tensor.channels as u64, want["channels"].as_u64().unwrap(), "{name}");
                    assert_eq!(sha256(&output.data.to_bytes()), want["sha256"], "{name}, first wrong at {}", op.label);
                    compared += 1;
                }
            })
            .unwrap();
        assert_eq!(compared, 79);
        assert!(head == self.halves("referenceHead"), "the head differs");
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn full_64x64() {
    Fixture::open("full-64x64").check();
}

#[test]
fn hot_100x75() {
    Fixture::open("hot-100x75").check();
}

#[test]
fn identity_120x90() {
    Fixture::open("identity-120x90").check();
}

#[test]
fn wrong_inputs_are_errors() {
    let fixture = Fixture::open("identity-120x90");
    let plan = Plan::new(&Geometry::new(Extent::new(120, 90)).unwrap());
    let reference = Reference::new(&plan, &fixture.model()).unwrap();
    let message = reference.run(&[0; 16], |_, _, _| {}).unwrap_err().to_string();
    assert!(message.contains("features") && message.contains("got 16"), "{message}");
    let id = network::plan::OpId(0);
    let codes = TensorData::Codes(vec![0; 320 * 320 * 16]);
    let message = reference.execute_op(id, &[&codes]).unwrap_err().to_string();
    assert!(message.contains("E4m3"), "{message}");
    assert!(reference.execute_op(id, &[]).is_err());
}
