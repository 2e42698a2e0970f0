//! Writer of the raw form of a fixture (fixtures sections 1 and 6).

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use faults::files;
use serde_json::{Map, Value, json};

use super::checker::known_boundaries;
use super::error::FixtureError;
use super::fixture::{Conditioning, Proxy};
use crate::geometry::{Extent, Geometry};

/// What a recorded frame started from.
#[derive(Clone, Copy, Debug)]
pub enum RecordedInput<'a> {
    /// Code values of the source, with everything else that the features are made of.
    Proxy {
        /// The source.
        proxy: &'a Proxy,
        /// Conditioning.
        conditioning: Conditioning,
        /// Noise seed.
        seed: u32,
        /// Whether the automatic mask was on.
        auto_mask: bool,
    },
    /// Features `[field rows][16]`.
    Features(&'a [f32]),
}

/// A composed image.
#[derive(Clone, Copy, Debug)]
pub enum RecordedOutput<'a> {
    /// f32 RGBA that holds halves; needs a proxy as input.
    F32(&'a [f32]),
    /// RGBA8.
    U8(&'a [u8]),
}

/// A frame to record. The declared checks follow from what is there.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    /// Valid rectangle, field and levels.
    pub geometry: &'a Geometry,
    /// The input.
    pub input: RecordedInput<'a>,
    /// Boundary names and their E4M3 bytes. When there are any, the graph's others are written as omitted.
    pub boundaries: &'a [(&'a str, &'a [u8])],
    /// Head `[field rows][4]`.
    pub head: Option<&'a [f32]>,
    /// The composed image.
    pub output: Option<RecordedOutput<'a>>,
}

/// Writes a fixture into `directory`, which must be absent or empty. A failure leaves no partial fixture behind.
///
/// # Errors
/// The directory is not empty, or a file cannot be written.
pub fn write_fixture(directory: &Path, recording: &Recording) -> Result<(), FixtureError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |source| FixtureError::Write { path, source }
    };
    if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(fail(directory)(std::io::Error::other("it exists and is not empty")));
    }
    let parent = match directory.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    files::create_dir_all(&parent).map_err(fail(&parent))?;
    let scratch = tempfile::Builder::new().prefix(".fixture-").tempdir_in(&parent).map_err(fail(&parent))?;
    let fresh = scratch.path().join("new");
    files::create_dir(&fresh).map_err(fail(&fresh))?;
    let (manifest, files) = layout(recording);
    let text = serde_json::to_vec_pretty(&Value::Object(manifest)).map_err(|e| fail(directory)(e.into()))?;
    for (name, data) in &files {
        let path = fresh.join(name);
        files::write(&path, &data.bytes()).map_err(fail(&path))?;
    }
    files::write(&fresh.join("manifest.json"), &text).map_err(fail(&fresh))?;
    files::rename(&fresh, directory).map_err(fail(directory))
}

/// Content of a file.
enum Data<'a> {
    F32(&'a [f32]),
    Bytes(&'a [u8]),
}

impl<'a> Data<'a> {
    /// Little-endian bytes.
    fn bytes(&self) -> Cow<'a, [u8]> {
        match self {
            Self::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Self::Bytes(bytes) => Cow::Borrowed(bytes),
        }
    }
}

/// The manifest and the files that it names.
fn layout<'a>(recording: &Recording<'a>) -> (Map<String, Value>, Vec<(String, Data<'a>)>) {
    let size = |extent: Extent| json!([extent.width, extent.height]);
    let mut manifest = Map::new();
    let mut files = Vec::new();
    let mut checks = Vec::new();
    manifest.insert("sourceDimensions".into(), size(recording.geometry.valid));
    manifest.insert("fullDimensions".into(), size(recording.geometry.field));
    match recording.input {
        RecordedInput::Proxy { proxy, conditioning, seed, auto_mask } => {
            let Extent { width, height } = proxy.extent();
            manifest.insert("proxy".into(), json!({"file": "proxy.bin", "width": width, "height": height}));
            manifest.insert(
                "conditioning".into(),
                json!({
                    "localTone": conditioning.local_tone,
                    "localStructure": conditioning.local_structure,
                    "skinStructure": conditioning.skin_structure,
                    "style": conditioning.style,
                }),
            );
            manifest.insert("seed".into(), json!(seed));
            manifest.insert("autoMask".into(), json!(auto_mask));
            files.push(("proxy.bin".into(), Data::F32(proxy.rgba())));
        }
        RecordedInput::Features(features) => {
            manifest.insert("inputFeatures".into(), json!({"file": "features.bin"}));
            files.push(("features.bin".into(), Data::F32(features)));
        }
    }
    if !recording.boundaries.is_empty() {
        checks.push("boundaries");
        boundaries(recording, &mut manifest, &mut files);
    }
    if let Some(head) = recording.head {
        checks.push("head");
        manifest.insert("referenceHead".into(), json!({"file": "head.bin"}));
        files.push(("head.bin".into(), Data::F32(head)));
    }
    if let Some(output) = recording.output {
        checks.push("output");
        let Extent { width, height } = recording.geometry.valid;
        let (dtype, data) = match output {
            RecordedOutput::F32(pixels) => ("f32", Data::F32(pixels)),
            RecordedOutput::U8(pixels) => ("u8", Data::Bytes(pixels)),
        };
        let entry = json!({"file": "output.bin", "width": width, "height": height, "dtype": dtype});
        manifest.insert("nativeOutput".into(), entry);
        files.push(("output.bin".into(), data));
    }
    manifest.insert("checks".into(), json!(checks));
    (manifest, files)
}

fn boundaries<'a>(recording: &Recording<'a>, manifest: &mut Map<String, Value>, files: &mut Vec<(String, Data<'a>)>) {
    let recorded: HashMap<&str, &'a [u8]> = recording.boundaries.iter().copied().collect();
    let (mut blocks, mut transitions, mut omitted) = (Vec::new(), Vec::new(), Map::new());
    for spec in known_boundaries(recording.geometry).into_iter().filter(|spec| spec.required()) {
        let Some(&bytes) = recorded.get(spec.name.as_str()) else {
            omitted.insert(spec.name, json!("not recorded"));
            continue;
        };
        let file = format!("{}.bin", spec.name);
        let Extent { width, height } = spec.extent;
        let mut entry = json!({"width": width, "height": height, "channels": spec.channels, "file": file});
        match spec.name.split_once('-') {
            Some(("block", number)) => {
                entry["block"] = json!(number.parse::<u32>().unwrap_or_default());
                blocks.push(entry);
            }
            Some((_, id)) => {
                entry["id"] = json!(id);
                transitions.push(entry);
            }
            None => continue,
        }
        files.push((file, Data::Bytes(bytes)));
    }
    manifest.insert("blocks".into(), json!(blocks));
    manifest.insert("transitions".into(), json!(transitions));
    manifest.insert("omittedBoundaries".into(), Value::Object(omitted));
}
