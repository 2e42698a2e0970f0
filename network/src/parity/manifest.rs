//! The raw form of a fixture: `manifest.json` and raw little-endian files (fixtures sections 1 and 2).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use serde_json::Value;

use super::checker::{Checker, Known, directory_name, known_boundaries, read_document};
use super::error::{FixtureError, Problem};
use super::fixture::{Boundary, Fixture, OutputReference, Proxy, Reference};
use crate::geometry::{Extent, Geometry};
use crate::model::files::open_regular;

/// The checks by name, with the keys that carry their references.
const CHECKS: [(&str, &[&str]); 3] = [
    ("boundaries", &["blocks", "transitions", "omittedBoundaries"]),
    ("head", &["referenceHead"]),
    ("output", &["nativeOutput"]),
];

/// Reads and validates the raw form.
pub(super) fn open(directory: &Path) -> Result<Fixture, FixtureError> {
    let root = read_document(&directory.join("manifest.json"))?;
    let mut checker = Checker::new(directory);
    match read(&mut checker, &root) {
        Some(fixture) if checker.problems.is_empty() => Ok(fixture),
        _ => Err(checker.error()),
    }
}

fn read(checker: &mut Checker, root: &Value) -> Option<Fixture> {
    let geometry = checker.geometry(root);
    let declared = read_checks(checker, root);
    let (proxy_entry, features_entry) = (root.get("proxy"), root.get("inputFeatures"));
    match (proxy_entry, features_entry) {
        (Some(_), Some(_)) => checker.note(Problem::Input("both are")),
        (None, None) => checker.note(Problem::Input("neither is")),
        _ => {}
    }
    let (mut seed, mut auto_mask, mut conditioning) = (None, None, None);
    if proxy_entry.is_some() {
        (seed, auto_mask, conditioning) = checker.frame_inputs(root);
    }
    let proxy = proxy_entry.and_then(|entry| read_proxy(checker, entry));
    let output =
        root.get("nativeOutput").and_then(|entry| read_output(checker, entry, geometry, proxy_entry.is_some()));
    let field = geometry.map(|geometry| geometry.field);
    let features = features_entry.and_then(|entry| read_f32(checker, entry, "inputFeatures", field, 16));
    let head = root.get("referenceHead").and_then(|entry| read_f32(checker, entry, "referenceHead", field, 4));
    let mut boundaries = Vec::new();
    let mut omitted = BTreeMap::new();
    let compares = declared.contains("boundaries") && has_any(root, CHECKS[0].1);
    if let Some(geometry) = geometry.filter(|_| compares) {
        let known = known_boundaries(&geometry);
        omitted = read_omitted(checker, root, &known);
        boundaries = read_boundaries(checker, root, known, &omitted);
    }
    Some(Fixture {
        name: directory_name(checker.directory),
        directory: checker.directory.to_owned(),
        geometry: geometry?,
        features,
        proxy,
        conditioning,
        seed,
        auto_mask,
        model: None,
        boundaries,
        omitted,
        head,
        output,
    })
}

/// The declared checks; each must have its reference, and no reference may stand without its check.
fn read_checks(checker: &mut Checker, root: &Value) -> HashSet<&'static str> {
    let mut declared = HashSet::new();
    let entries = checker.value(root, "checks", "checks", "is not an array", Value::as_array);
    if entries.is_some_and(Vec::is_empty) {
        checker.note(Problem::Checks("is empty".into()));
    }
    for entry in entries.into_iter().flatten() {
        match CHECKS.iter().find(|(name, _)| entry == name) {
            None => checker.note(Problem::Checks(format!("has the unknown entry {entry}"))),
            Some((name, _)) if !declared.insert(*name) => {
                checker.note(Problem::Checks(format!("has {entry} twice")));
            }
            Some(_) => {}
        }
    }
    for (check, keys) in CHECKS {
        if declared.contains(check) {
            // Boundaries may be all of one kind or all omitted, so one of their keys is enough.
            if !has_any(root, keys) {
                checker.note(Problem::CheckWithoutReference { check, key: keys[0] });
            }
        } else {
            for key in keys.iter().filter(|key| root.get(key).is_some()) {
                checker.note(Problem::ReferenceWithoutCheck { check, key });
            }
        }
    }
    declared
}

/// Whether any of the keys is there.
fn has_any(root: &Value, keys: &[&str]) -> bool {
    keys.iter().any(|key| root.get(key).is_some())
}

fn read_proxy(checker: &mut Checker, entry: &Value) -> Option<Proxy> {
    let extent = checker.extent(entry, "proxy");
    let path = checker.file(entry, "proxy");
    let extent = extent?;
    let values = read_values(checker, "proxy", &path?, extent, 4)?;
    Proxy::new(extent.width, extent.height, values)
}

/// A tensor `[field rows][channels]` of f32.
fn read_f32(
    checker: &mut Checker,
    entry: &Value,
    key: &str,
    field: Option<Extent>,
    channels: usize,
) -> Option<Vec<f32>> {
    let path = checker.file(entry, key)?;
    match field {
        Some(field) => read_values(checker, key, &path, field, channels),
        None => {
            // Its size is unknown, but whether it can be read is not.
            let result = open_regular(&path);
            checker.readable(key, &path, result)?;
            None
        }
    }
}

fn read_values(checker: &mut Checker, key: &str, path: &Path, extent: Extent, channels: usize) -> Option<Vec<f32>> {
    match extent.pixels().checked_mul(channels * 4) {
        Some(_) => checker.raw_f32(key, path, extent.pixels() * channels),
        None => {
            checker.malformed(key, "is larger than memory");
            None
        }
    }
}

fn read_output(
    checker: &mut Checker,
    entry: &Value,
    geometry: Option<Geometry>,
    has_proxy: bool,
) -> Option<OutputReference> {
    let extent = checker.extent(entry, "nativeOutput");
    let kind = checker.text(entry, "dtype", "nativeOutput.dtype");
    let path = checker.file(entry, "nativeOutput");
    if let (Some(found), Some(geometry)) = (extent, geometry)
        && found != geometry.valid
    {
        checker.note(Problem::OutputSize { found, expected: geometry.valid });
        return None;
    }
    match kind? {
        "f32" => {
            if !has_proxy {
                checker.note(Problem::OutputWithoutProxy);
            }
            read_values(checker, "nativeOutput", &path?, extent?, 4).map(OutputReference::F32)
        }
        "u8" => {
            let length = extent?.pixels() as u64 * 4;
            checker.raw_bytes("nativeOutput", &path?, length).map(OutputReference::U8)
        }
        other => {
            checker.note(Problem::OutputType(other.to_owned()));
            None
        }
    }
}

/// The omitted boundaries with their reasons.
fn read_omitted(checker: &mut Checker, root: &Value, known: &[Known]) -> BTreeMap<String, String> {
    let mut omitted = BTreeMap::new();
    let Some(value) = root.get("omittedBoundaries") else { return omitted };
    let Some(object) = value.as_object() else {
        checker.malformed("omittedBoundaries", "is not an object");
        return omitted;
    };
    for (name, reason) in object {
        if !known.iter().any(|known| known.required() && known.name == *name) {
            checker.note(Problem::UnknownBoundary(name.clone()));
        }
        match reason.as_str().map(str::trim) {
            Some(reason) if !reason.is_empty() => drop(omitted.insert(name.clone(), reason.to_owned())),
            _ => {
                checker.note(Problem::OmittedWithoutReason(name.clone()));
                // Noted once; it is not uncovered as well.
                omitted.insert(name.clone(), String::new());
            }
        }
    }
    omitted
}

fn read_boundaries(
    checker: &mut Checker,
    root: &Value,
    known: Vec<Known>,
    omitted: &BTreeMap<String, String>,
) -> Vec<Boundary> {
    let mut listed: HashMap<String, &Value> = HashMap::new();
    for (key, member) in [("blocks", "block"), ("transitions", "id")] {
        let Some(value) = root.get(key) else { continue };
        let Some(entries) = value.as_array() else {
            checker.malformed(key, "is not an array");
            continue;
        };
        for (i, entry) in entries.iter().enumerate() {
            let path = format!("{key}[{i}].{member}");
            let name = if key == "blocks" {
                let number = checker.value(entry, member, &path, "is not a non-negative integer", Value::as_u64);
                number.map(|number| format!("block-{number}"))
            } else {
                checker.text(entry, member, &path).map(|id| format!("transition-{id}"))
            };
            let Some(name) = name else { continue };
            if omitted.contains_key(&name) {
                checker.note(Problem::ComparedAndOmitted(name.clone()));
            }
            if !known.iter().any(|known| known.name == name) {
                checker.note(Problem::UnknownBoundary(name));
            } else if listed.insert(name.clone(), entry).is_some() {
                checker.note(Problem::BoundaryTwice(name));
            }
        }
    }
    let mut boundaries = Vec::with_capacity(listed.len());
    for spec in known.into_iter().filter(Known::required) {
        match listed.get(&spec.name) {
            Some(entry) => boundaries.extend(read_boundary(checker, entry, spec)),
            None if !omitted.contains_key(&spec.name) => checker.note(Problem::Uncovered(spec.name)),
            None => {}
        }
    }
    boundaries
}

fn read_boundary(checker: &mut Checker, entry: &Value, spec: Known) -> Option<Boundary> {
    let extent = checker.extent(entry, &spec.name);
    let channels = checker.positive(entry, "channels", &format!("{}.channels", spec.name));
    let path = checker.file(entry, &spec.name);
    let (extent, channels) = (extent?, channels? as usize);
    if (extent, channels) != (spec.extent, spec.channels) {
        let found = format!("{extent}x{channels}");
        let expected = spec.shape();
        checker.note(Problem::BoundaryShape { name: spec.name, found, expected });
        return None;
    }
    let path = path?;
    let length = extent.pixels() as u64 * channels as u64;
    checker.raw_file(&spec.name, &path, length).then_some(Boundary {
        name: spec.name,
        extent,
        channels,
        reference: Reference::Raw(path),
    })
}

#[cfg(test)]
mod tests;
