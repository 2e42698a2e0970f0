//! The exact route on the device against recorded frames: every boundary and the head, bit for bit.
//!
//! `NRVIEW_EXEC_FIXTURES` names other fixtures of tests/fixtures, separated by commas, or `all`; `tests/tests/parity.rs`
//! runs all of them through the program.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use gpu::testing::TestDevice;
use network::exec::{Kernels, Network, NetworkOptions, Route, Weights};
use network::geometry::{Extent, Geometry};
use network::model::synth::{self, Preset};
use network::model::{Model, starter};
use network::plan::Plan;
use serde_json::Value;
use sha2::{Digest, Sha256};

struct Fixture {
    directory: PathBuf,
    json: Value,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures")
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

impl Fixture {
    fn open(name: &str) -> Self {
        let directory = root().join(name);
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

    fn halves(&self, key: &str) -> Vec<u8> {
        let file = std::fs::read(self.directory.join(self.json[key]["file"].as_str().unwrap())).unwrap();
        zstd::decode_all(file.as_slice()).unwrap()
    }

    fn check(&self, device: &TestDevice, kernels: &Arc<Kernels>) {
        let side = |i: usize| self.json["sourceDimensions"][i].as_u64().unwrap() as u32;
        let plan = Arc::new(Plan::new(&Geometry::new(Extent::new(side(0), side(1))).unwrap()));
        let weights = Weights::upload(device, &self.model()).unwrap();
        let options = NetworkOptions { keep_all: true, ..NetworkOptions::default() };
        let network = Network::new(device, kernels, &weights, Arc::clone(&plan), options).unwrap();
        network.write_tensor(plan.features, &self.halves("inputFeatures")).unwrap();
        let start = Instant::now();
        network.run(1 << 30).unwrap();
        println!("{}: {:.2} s", self.directory.display(), start.elapsed().as_secs_f64());
        let recorded = self.json["boundaries"].as_array().unwrap();
        for want in recorded {
            let name = want["name"].as_str().unwrap();
            let id = plan.boundary(name).unwrap_or_else(|| panic!("no boundary {name}"));
            assert_eq!(sha256(&network.read_tensor(id).unwrap()), want["sha256"], "{name}");
        }
        let head = network.read_tensor(plan.head).unwrap();
        assert!(head == self.halves("referenceHead"), "the head differs");

        // The same again with shared memory, as the viewer runs it.
        drop(network);
        let network = Network::new(device, kernels, &weights, Arc::clone(&plan), NetworkOptions::default()).unwrap();
        network.write_tensor(plan.features, &self.halves("inputFeatures")).unwrap();
        let start = Instant::now();
        network.run(1 << 32).unwrap();
        println!("  again, shared arena of {} bytes: {:.2} s", network.memory().arena, start.elapsed().as_secs_f64());
        assert!(network.read_tensor(plan.head).unwrap() == head, "the head differs in a shared arena");
    }
}

#[test]
fn recorded_frames_are_reproduced() {
    let names = std::env::var("NRVIEW_EXEC_FIXTURES").unwrap_or_else(|_| "full-64x64".into());
    let mut names: Vec<String> = names.split(',').map(str::to_owned).collect();
    if names == ["all"] {
        names = std::fs::read_dir(root()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
    }
    let device = TestDevice::open().unwrap();
    let kernels = Kernels::new(&device, Route::Exact).unwrap();
    for name in names.iter().filter(|name| root().join(name).join("fixture.json").exists()) {
        Fixture::open(name).check(&device, &kernels);
    }
}
