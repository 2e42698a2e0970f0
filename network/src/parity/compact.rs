//! The compact form of a fixture: `fixture.json`, zstd tensors of halves, digests.
//!
//! | key | meaning |
//! | --- | --- |
//! | `name`, `formatVersion` | name; 1 |
//! | `model` | optional: `preset`, `seed`, `digest` of the weights |
//! | `image` | `file` (8-bit PNG) and `rgb8Sha256` of its pixels |
//! | `sourceDimensions`, `fullDimensions`, `levels` | valid size, field, the six levels |
//! | `seed`, `autoMask`, `conditioning` | as in the raw form |
//! | `inputFeatures`, `referenceHead` | `file` (zstd of halves) and `sha256` of the values as f32 |
//! | `proxy.sha256` | of the f32 RGBA proxy, code / 255 and alpha 1 |
//! | `nativeOutput` | `sha256` of the composed f32 RGBA image, `composed8Sha256` of its 8-bit RGB form |
//! | `boundaries` | `name`, `width`, `height`, `channels`, `sha256`, and `file` (zstd) where stored |

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::checker::{Checker, dimensions, directory_name, known_boundaries, read_document};
use super::error::{FixtureError, Problem};
use super::fixture::{Boundary, Fixture, ModelIdentity, OutputReference, Proxy, Reference};
use crate::geometry::{Extent, Geometry};
use crate::model::files::open_regular;
use crate::model::records::hex;
use crate::numerics::half;

/// Largest field of a compact fixture in pixels, so that a small file cannot expand without bound.
const MAX_PIXELS: usize = 1 << 24;

/// Reads and validates the compact form.
pub(super) fn open(directory: &Path) -> Result<Fixture, FixtureError> {
    let root = read_document(&directory.join("fixture.json"))?;
    let mut checker = Checker::new(directory);
    match read(&mut checker, &root) {
        Some(fixture) if checker.problems.is_empty() => Ok(fixture),
        _ => Err(checker.error()),
    }
}

fn read(checker: &mut Checker, root: &Value) -> Option<Fixture> {
    let version = checker.value(root, "formatVersion", "formatVersion", "is not an integer", Value::as_u64);
    if version.is_some_and(|version| version != 1) {
        checker.malformed("formatVersion", "is not 1, the only known one");
    }
    let geometry = checker.geometry(root);
    if geometry.is_some_and(|geometry| geometry.field.pixels() > MAX_PIXELS) {
        checker.malformed("fullDimensions", &format!("has more than {MAX_PIXELS} pixels"));
        return None;
    }
    let (seed, auto_mask, conditioning) = checker.frame_inputs(root);
    let model = root.get("model").and_then(|model| read_model(checker, model));
    let output = checker.member(root, "nativeOutput", "nativeOutput").and_then(|entry| {
        let f32 = checker.digest(entry, "sha256", "nativeOutput.sha256");
        let rgb8 = checker.digest(entry, "composed8Sha256", "nativeOutput.composed8Sha256");
        Some(OutputReference::Digest { f32: f32?, rgb8: rgb8? })
    });
    // Everything else has a shape that the geometry gives.
    let geometry = geometry?;
    check_levels(checker, root, &geometry);
    let features = read_halves(checker, root, "inputFeatures", geometry.field.pixels() * 16);
    let head = read_halves(checker, root, "referenceHead", geometry.field.pixels() * 4);
    let proxy = read_proxy(checker, root, geometry.valid);
    let boundaries = read_boundaries(checker, root, &geometry);
    let name = root.get("name").and_then(Value::as_str);
    Some(Fixture {
        name: name.map_or_else(|| directory_name(checker.directory), str::to_owned),
        directory: checker.directory.to_owned(),
        geometry,
        features: Some(features?),
        proxy: Some(proxy?),
        conditioning: Some(conditioning?),
        seed: Some(seed?),
        auto_mask: Some(auto_mask?),
        model,
        boundaries: boundaries?,
        omitted: BTreeMap::new(),
        head: Some(head?),
        output: Some(output?),
    })
}

fn read_model(checker: &mut Checker, model: &Value) -> Option<ModelIdentity> {
    let preset = checker.text(model, "preset", "model.preset");
    let seed = checker.value(model, "seed", "model.seed", "is not a non-negative integer", Value::as_u64);
    let digest = checker.digest(model, "digest", "model.digest");
    Some(ModelIdentity { preset: preset?.to_owned(), seed: seed?, digest: digest? })
}

fn check_levels(checker: &mut Checker, root: &Value, geometry: &Geometry) {
    let is_not = "is not an array of [width, height]";
    let levels = checker.value(root, "levels", "levels", is_not, |value| {
        value.as_array()?.iter().map(dimensions).collect::<Option<Vec<Extent>>>()
    });
    let Some(levels) = levels else { return };
    if levels.len() != geometry.levels.len() {
        checker.malformed("levels", "has another number of levels than the network");
    }
    for (i, (&found, &expected)) in levels.iter().zip(&geometry.levels).enumerate() {
        if found != expected {
            checker.note(Problem::Geometry { key: format!("levels[{i}]"), found, expected });
        }
    }
}

/// A tensor of halves, widened; its digest is of the f32 values.
fn read_halves(checker: &mut Checker, root: &Value, key: &str, count: usize) -> Option<Vec<f32>> {
    let entry = checker.member(root, key, key)?;
    let digest = checker.digest(entry, "sha256", &format!("{key}.sha256"));
    let path = checker.file(entry, key)?;
    let bytes = checker.zstd_bytes(key, &path, count * 2)?;
    let values: Vec<f32> = bytes.chunks_exact(2).map(|b| half::to_f32(u16::from_le_bytes([b[0], b[1]]))).collect();
    same_digest(checker, key, &digest?, &f32_digest(&values)).then_some(values)
}

/// The image's pixels as a proxy, both digests checked.
fn read_proxy(checker: &mut Checker, root: &Value, valid: Extent) -> Option<Proxy> {
    let image = checker.member(root, "image", "image");
    let proxy = checker.member(root, "proxy", "proxy");
    let pixels_digest = checker.digest(image?, "rgb8Sha256", "image.rgb8Sha256");
    let proxy_digest = checker.digest(proxy?, "sha256", "proxy.sha256");
    let path = checker.file(image?, "image")?;
    let result = read_image(&path, valid);
    let pixels = checker.readable("image", &path, result)?;
    let same = same_digest(checker, "image", &pixels_digest?, &hex(&Sha256::digest(&pixels)));
    let proxy = Proxy::from_rgb8(valid.width, valid.height, &pixels)?;
    (same && same_digest(checker, "proxy", &proxy_digest?, &f32_digest(proxy.rgba()))).then_some(proxy)
}

/// RGB pixels of a PNG that must have the valid size.
fn read_image(path: &Path, valid: Extent) -> std::io::Result<Vec<u8>> {
    let file = std::io::BufReader::new(open_regular(path)?);
    let mut reader = image::ImageReader::new(file).with_guessed_format()?;
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(valid.width);
    limits.max_image_height = Some(valid.height);
    reader.limits(limits);
    let image = reader.decode().map_err(std::io::Error::other)?.into_rgb8();
    if image.dimensions() != (valid.width, valid.height) {
        let (width, height) = image.dimensions();
        return Err(std::io::Error::other(format!("it is {width}x{height}, sourceDimensions {valid}")));
    }
    Ok(image.into_raw())
}

fn read_boundaries(checker: &mut Checker, root: &Value, geometry: &Geometry) -> Option<Vec<Boundary>> {
    let entries = checker.value(root, "boundaries", "boundaries", "is not an array", Value::as_array)?;
    let mut found = HashMap::new();
    let known = known_boundaries(geometry);
    for (i, entry) in entries.iter().enumerate() {
        let path = format!("boundaries[{i}]");
        let Some(name) = checker.text(entry, "name", &format!("{path}.name")) else { continue };
        let extent = checker.extent(entry, name);
        let channels = checker.positive(entry, "channels", &format!("{name}.channels"));
        let digest = checker.digest(entry, "sha256", &format!("{name}.sha256"));
        let Some(spec) = known.iter().find(|known| known.name == name) else {
            checker.note(Problem::UnknownBoundary(name.to_owned()));
            continue;
        };
        let (Some(extent), Some(channels), Some(digest)) = (extent, channels, digest) else { continue };
        let channels = channels as usize;
        if (extent, channels) != (spec.extent, spec.channels) {
            let found = format!("{extent}x{channels}");
            checker.note(Problem::BoundaryShape { name: name.to_owned(), found, expected: spec.shape() });
            continue;
        }
        let Some(reference) = read_reference(checker, entry, name, digest, extent.pixels() * channels) else {
            continue;
        };
        let boundary = Boundary { name: name.to_owned(), extent, channels, reference };
        if found.insert(name.to_owned(), boundary).is_some() {
            checker.note(Problem::BoundaryTwice(name.to_owned()));
        }
    }
    let mut boundaries = Vec::with_capacity(known.len());
    for spec in known {
        match found.remove(&spec.name) {
            Some(boundary) => boundaries.push(boundary),
            None if spec.required() && entries.iter().all(|entry| entry["name"] != spec.name.as_str()) => {
                checker.note(Problem::Uncovered(spec.name));
            }
            None => {}
        }
    }
    Some(boundaries)
}

/// The stored bytes, checked against the digest now and read again when needed, or the digest alone.
fn read_reference(
    checker: &mut Checker,
    entry: &Value,
    name: &str,
    digest: String,
    length: usize,
) -> Option<Reference> {
    if entry.get("file").is_none() {
        return Some(Reference::Digest(digest));
    }
    let path = checker.file(entry, name)?;
    let bytes = checker.zstd_bytes(name, &path, length)?;
    same_digest(checker, name, &digest, &hex(&Sha256::digest(&bytes))).then_some(Reference::Zstd(path, digest))
}

fn same_digest(checker: &mut Checker, key: &str, expected: &str, found: &str) -> bool {
    if found != expected {
        checker.note(Problem::Digest { key: key.to_owned() });
    }
    found == expected
}

/// SHA-256 of values as little-endian f32.
fn f32_digest(values: &[f32]) -> String {
    let mut hash = Sha256::new();
    for chunk in values.chunks(4096) {
        let bytes: Vec<u8> = chunk.iter().flat_map(|value| value.to_le_bytes()).collect();
        hash.update(bytes);
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests;
