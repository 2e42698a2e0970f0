//! Features and composition of every recorded fixture, from its image: lanes 3 to 15 and the composed picture bit for bit.
//! The noise lanes of a fixture come from another machine's transcendental functions, so their differences are counted.

use std::path::{Path, PathBuf};

use network::frame::cpu::pipeline::rgb8;
use network::frame::cpu::{Head, Image, compose_frame, preprocess};
use network::frame::{Parameters, Style};
use network::geometry::{Extent, Geometry};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures")
}

/// Zstd over little-endian halves.
fn halves<const N: usize>(path: &Path) -> Vec<[u16; N]> {
    let bytes = zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap();
    let words: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|&b| u16::from_le_bytes(b)).collect();
    words.as_chunks::<N>().0.to_vec()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

struct Fixture {
    name: String,
    info: Value,
    geometry: Geometry,
    image: Image,
    features: Vec<[u16; 16]>,
    head: Vec<[u16; 4]>,
}

impl Fixture {
    fn all() -> Vec<Self> {
        let mut folders: Vec<PathBuf> =
            std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
        folders.sort();
        assert!(folders.len() >= 8, "{} fixtures", folders.len());
        folders.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Self {
        let info: Value = serde_json::from_str(&std::fs::read_to_string(path.join("fixture.json")).unwrap()).unwrap();
        let picture = image::open(path.join("image.png")).unwrap().to_rgb8();
        let extent = Extent::new(picture.width(), picture.height());
        Self {
            name: path.file_name().unwrap().to_str().unwrap().to_owned(),
            geometry: Geometry::new(extent).unwrap(),
            image: Image::from_rgb8(extent, picture.as_raw()).unwrap(),
            features: halves(&path.join("features.f16.zst")),
            head: halves(&path.join("head.f16.zst")),
            info,
        }
    }

    fn parameters(&self) -> Parameters {
        let number = |key: &str| self.info["conditioning"][key].as_f64().unwrap() as f32;
        Parameters {
            seed: self.info["seed"].as_u64().unwrap() as u32,
            auto_mask: self.info["autoMask"].as_bool().unwrap(),
            local_tone: number("localTone"),
            local_structure: number("localStructure"),
            skin_structure: number("skinStructure"),
            style: Style::try_from(number("style") as u32).unwrap(),
            ..Parameters::image()
        }
    }
}

#[test]
fn features_of_every_fixture() {
    for f in Fixture::all() {
        let got = preprocess(&f.geometry, f.image.source(), None, &f.parameters());
        assert_eq!(got.len(), f.features.len(), "{}", f.name);
        let mut noise = 0;
        for (i, (got, want)) in got.iter().zip(&f.features).enumerate() {
            assert_eq!(got[3..], want[3..], "{} pixel {i}", f.name);
            noise += (0..3).filter(|&lane| got[lane] != want[lane]).count();
        }
        let total = 3 * got.len();
        println!("{}: {noise} of {total} noise halves differ", f.name);
        // One in a thousand is what two libraries of f32 functions differ by.
        assert!(noise * 1000 < total, "{}: {noise} of {total}", f.name);
    }
}

#[test]
fn composition_of_every_fixture() {
    for f in Fixture::all() {
        let p = Parameters { style: Style::Off, ..f.parameters() };
        let composed = compose_frame(&f.geometry, f.image.source(), Head::Half(&f.head), None, &p);
        let values: Vec<u8> =
            composed.history.iter().flatten().flat_map(|&h| network::numerics::half::to_f32(h).to_le_bytes()).collect();
        let native = &f.info["nativeOutput"];
        assert_eq!(native["sha256"], sha256(&values), "{}", f.name);
        assert_eq!(composed.published, composed.history, "{}", f.name);
        assert_eq!(native["composed8Sha256"], sha256(&rgb8(&composed.display_neural)), "{}", f.name);
        // The image's own codes come back unchanged.
        assert_eq!(f.info["image"]["rgb8Sha256"], sha256(&rgb8(&composed.display_input)), "{}", f.name);
    }
}
