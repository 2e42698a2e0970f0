//! Reading a bundle: everything is checked before anything is given.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::error::{CaptureError, CaptureProblem};
use super::frame::{CapturedFrame, FrameInfo};
use super::layout::expected;
use super::schema::{
    Extents, FORMAT, FRAME, FRAMES, FrameDocument, FrameEntry, Header, MANIFEST, Manifest, SCHEMA_VERSION, TensorEntry,
    folder,
};
use super::seal;
use super::tensor::Tensor;
use crate::frame::Parameters;
use crate::geometry::{Extent, Geometry};
use crate::model::files::{MAX_MANIFEST, file_length, read_exactly};
use crate::model::records::hex;

/// Bytes that are hashed at a time.
const BLOCK: usize = 1 << 20;

/// A bundle whose every file has been checked.
#[derive(Clone, Debug)]
pub struct Capture {
    directory: PathBuf,
    manifest: Manifest,
    geometry: Geometry,
    frames: Vec<RecordedFrame>,
}

/// A frame of a bundle; its tensors are read when they are asked for.
#[derive(Clone, Debug)]
pub struct RecordedFrame {
    folder: PathBuf,
    document: FrameDocument,
}

impl Capture {
    /// Whether a directory has the manifest of a capture, sound or not.
    pub fn is_one(directory: &Path) -> bool {
        let path = directory.join(MANIFEST);
        let text = file_length(&path).and_then(|length| read_exactly(&path, length.min(MAX_MANIFEST)));
        text.is_ok_and(|text| {
            text.windows(FORMAT.len()).any(|window| window == FORMAT.as_bytes())
                || (directory.join(FRAMES).is_dir() && !directory.join("fixture.json").exists())
        })
    }

    /// Opens a bundle and checks all of it: documents, names, sizes and digests of all files, and that there is nothing
    /// else.
    ///
    /// # Errors
    /// The directory is no capture, or [`CaptureError::Invalid`] with everything that is wrong.
    pub fn open(directory: &Path) -> Result<Self, CaptureError> {
        if !Self::is_one(directory) {
            return Err(CaptureError::NotACapture(directory.to_owned()));
        }
        let mut problems = Vec::new();
        match Self::read(directory, &mut problems) {
            Some(capture) if problems.is_empty() => Ok(capture),
            _ => Err(CaptureError::Invalid { path: directory.to_owned(), problems }),
        }
    }

    fn read(directory: &Path, problems: &mut Vec<CaptureProblem>) -> Option<Self> {
        let manifest: Manifest = document(directory, MANIFEST, problems)?;
        let mut wrong =
            |problem: String| problems.push(CaptureProblem::Document { file: MANIFEST.to_owned(), problem });
        if manifest.format != FORMAT || manifest.schema_version != SCHEMA_VERSION {
            wrong(format!("format {} version {} is unknown", manifest.format, manifest.schema_version));
            return None;
        }
        let header = &manifest.capture;
        let [width, height] = header.extents.valid;
        let geometry = match Geometry::new(Extent::new(width, height)) {
            Ok(geometry) => geometry,
            Err(error) => {
                wrong(error.to_string());
                return None;
            }
        };
        if header.extents != Extents::of(&geometry) {
            wrong("its field or levels are not those of its picture".to_owned());
        }
        if header.checks.is_empty() {
            wrong("it names no checks".to_owned());
        }
        let found = folders(directory, problems);
        let names: BTreeSet<String> = match &manifest.frames {
            Some(entries) => entries.iter().map(|entry| entry.folder.clone()).collect(),
            None => found.clone(),
        };
        problems.extend(names.difference(&found).map(|name| CaptureProblem::Missing(name.clone())));
        problems.extend(found.difference(&names).map(|name| CaptureProblem::Extra(name.clone())));
        let mut frames: Vec<RecordedFrame> = Vec::new();
        for name in names.intersection(&found) {
            if let Some(frame) = read_frame(directory, name, &manifest, &geometry, frames.last(), problems) {
                frames.push(frame);
            }
        }
        if let Some(entries) = &manifest.frames {
            let read = entries_of(&frames);
            if problems.is_empty() && *entries != read {
                problems.push(CaptureProblem::Document {
                    file: MANIFEST.to_owned(),
                    problem: "its list of frames is not that of the folders".to_owned(),
                });
            }
        }
        Some(Self { directory: directory.to_owned(), manifest, geometry, frames })
    }

    /// Where it was read from.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Identity of the bundle.
    pub fn id(&self) -> &str {
        &self.manifest.id
    }

    /// What all frames share.
    pub fn header(&self) -> &Header {
        &self.manifest.capture
    }

    /// The valid rectangle, the field and the levels.
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Whether the capture was brought to its end.
    pub const fn finished(&self) -> bool {
        self.manifest.frames.is_some()
    }

    /// The frames, in order.
    pub fn frames(&self) -> &[RecordedFrame] {
        &self.frames
    }

    /// The frames as the manifest lists them.
    pub(super) fn entries(&self) -> Vec<FrameEntry> {
        entries_of(&self.frames)
    }
}

impl RecordedFrame {
    /// Everything but the tensors.
    pub const fn info(&self) -> &FrameInfo {
        &self.document.frame
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Names of the recorded tensors.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.document.tensors.iter().map(|entry| entry.name.as_str())
    }

    /// Whether a tensor is recorded.
    pub fn has(&self, name: &str) -> bool {
        self.document.tensors.iter().any(|entry| entry.name == name)
    }

    /// A tensor, checked once more.
    ///
    /// # Errors
    /// There is none of that name, or its file has changed since the bundle was opened.
    pub fn tensor(&self, name: &str) -> Result<Tensor, CaptureError> {
        let number = self.document.frame.number;
        let Some(entry) = self.document.tensors.iter().find(|entry| entry.name == name) else {
            return Err(CaptureError::Frame { number, problem: format!("it has no tensor {name}") });
        };
        let path = self.folder.join(&entry.file);
        let bytes = read_exactly(&path, entry.bytes().unwrap_or(0))
            .map_err(|source| CaptureError::Read { path: path.clone(), source })?;
        if hex(&Sha256::digest(&bytes)) != entry.sha256 {
            let problem = format!("{} has changed since the capture was opened", path.display());
            return Err(CaptureError::Frame { number, problem });
        }
        Ok(Tensor::new(name, entry.dtype, entry.shape, bytes))
    }

    /// The frame with all its tensors.
    ///
    /// # Errors
    /// As [`RecordedFrame::tensor`].
    pub fn load(&self) -> Result<CapturedFrame, CaptureError> {
        let names = self.document.tensors.iter().map(|entry| entry.name.as_str());
        let tensors = names.map(|name| self.tensor(name)).collect::<Result<_, _>>()?;
        Ok(CapturedFrame { info: self.document.frame.clone(), tensors })
    }
}

fn entries_of(frames: &[RecordedFrame]) -> Vec<FrameEntry> {
    let entry = |frame: &RecordedFrame| {
        let number = frame.document.frame.number;
        FrameEntry { number, folder: folder(number), sha256: frame.document.sha256.clone() }
    };
    frames.iter().map(entry).collect()
}

/// The sealed document in a file of the bundle.
fn document<T: DeserializeOwned>(directory: &Path, file: &str, problems: &mut Vec<CaptureProblem>) -> Option<T> {
    let path = directory.join(file);
    let text = match file_length(&path).and_then(|length| match length {
        0..=MAX_MANIFEST => read_exactly(&path, length),
        _ => Err(std::io::Error::other(format!("{length} bytes, at most {MAX_MANIFEST} are accepted"))),
    }) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            problems.push(CaptureProblem::Missing(file.to_owned()));
            return None;
        }
        Err(error) => {
            problems.push(CaptureProblem::Unreadable { file: file.to_owned(), problem: error.to_string() });
            return None;
        }
    };
    if !seal::intact(&text) {
        problems.push(CaptureProblem::Digest(file.to_owned()));
        return None;
    }
    serde_json::from_slice(&text)
        .map_err(|error| problems.push(CaptureProblem::Document { file: file.to_owned(), problem: error.to_string() }))
        .ok()
}

/// The frames' folders that are there. Everything else in the bundle's own two folders is noted.
fn folders(directory: &Path, problems: &mut Vec<CaptureProblem>) -> BTreeSet<String> {
    for name in listing(directory, "", problems) {
        match name.as_str() {
            MANIFEST | FRAMES => {}
            _ => problems.push(CaptureProblem::Extra(name)),
        }
    }
    let frames = directory.join(FRAMES);
    if !is_plain(&frames, true) {
        problems.push(CaptureProblem::Missing(FRAMES.to_owned()));
        return BTreeSet::new();
    }
    let mut found = BTreeSet::new();
    for name in listing(&frames, FRAMES, problems) {
        let path = format!("{FRAMES}/{name}");
        let plain =
            name.len() >= 6 && name.bytes().all(|b| b.is_ascii_digit()) && is_plain(&directory.join(&path), true);
        if plain {
            found.insert(path);
        } else {
            problems.push(CaptureProblem::Extra(path));
        }
    }
    found
}

/// The names in a folder, sorted.
fn listing(folder: &Path, shown: &str, problems: &mut Vec<CaptureProblem>) -> Vec<String> {
    let mut names = Vec::new();
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    match entries {
        Ok(entries) => names.extend(entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned())),
        Err(error) => {
            problems.push(CaptureProblem::Unreadable { file: shown.to_owned(), problem: error.to_string() });
        }
    }
    names.sort();
    names
}

/// Whether a path is a file or folder itself, not a link to one.
fn is_plain(path: &Path, folder: bool) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| if folder { data.is_dir() } else { data.is_file() })
}

fn read_frame(
    directory: &Path,
    name: &str,
    manifest: &Manifest,
    geometry: &Geometry,
    before: Option<&RecordedFrame>,
    problems: &mut Vec<CaptureProblem>,
) -> Option<RecordedFrame> {
    let path = format!("{name}/{FRAME}");
    let frame: FrameDocument = document(directory, &path, problems)?;
    let mut wrong = |problem: &str| {
        problems.push(CaptureProblem::Document { file: path.clone(), problem: problem.to_owned() });
    };
    if frame.id != manifest.id {
        wrong("it belongs to another capture");
    }
    if folder(frame.frame.number) != name {
        wrong("its number is not that of its folder");
    }
    if let Some(before) = before {
        if frame.frame.number != before.document.frame.number.wrapping_add(1) {
            wrong("a frame before it is missing");
        } else if frame.previous != before.document.sha256 {
            wrong("the frame before it is another one");
        }
    }
    if let Err(error) = Parameters::try_from(&frame.frame.parameters) {
        wrong(&error.to_string());
    }
    let expected = expected(&manifest.capture, geometry, frame.frame.parameters.history_valid);
    let same = |entry: &TensorEntry, i: usize| {
        let want = &expected[i];
        (&entry.name, entry.dtype, entry.shape) == (&want.name, want.dtype, want.shape)
            && entry.file == format!("{}.bin", want.name)
    };
    if frame.tensors.len() != expected.len() || !frame.tensors.iter().enumerate().all(|(i, entry)| same(entry, i)) {
        wrong("its tensors are not those that the manifest asks for");
        return None;
    }
    if frame.pictures.iter().any(|entry| !matches!(entry.file.as_str(), "display.png" | "input.png" | "frame.exr")) {
        wrong("it names a picture that captures do not have");
        return None;
    }
    let mut known: BTreeSet<String> = BTreeSet::from([FRAME.to_owned()]);
    let tensors = frame.tensors.iter().map(|entry| (&entry.file, entry.bytes().unwrap_or(u64::MAX), &entry.sha256));
    let pictures = frame.pictures.iter().map(|entry| (&entry.file, entry.bytes, &entry.sha256));
    for (file, bytes, sha256) in tensors.chain(pictures) {
        known.insert(file.clone());
        check_file(directory, &format!("{name}/{file}"), bytes, sha256, problems);
    }
    for file in listing(&directory.join(name), name, problems) {
        if !known.contains(&file) {
            problems.push(CaptureProblem::Extra(format!("{name}/{file}")));
        }
    }
    Some(RecordedFrame { folder: directory.join(name), document: frame })
}

fn check_file(directory: &Path, file: &str, bytes: u64, sha256: &str, problems: &mut Vec<CaptureProblem>) {
    let path = directory.join(file);
    if !is_plain(&path, false) {
        problems.push(CaptureProblem::Missing(file.to_owned()));
        return;
    }
    match file_length(&path) {
        Ok(found) if found != bytes => {
            problems.push(CaptureProblem::Size { file: file.to_owned(), found, expected: bytes });
        }
        Ok(_) => match digest(&path) {
            Ok(digest) if digest != sha256 => problems.push(CaptureProblem::Digest(file.to_owned())),
            Ok(_) => {}
            Err(error) => {
                problems.push(CaptureProblem::Unreadable { file: file.to_owned(), problem: error.to_string() });
            }
        },
        Err(error) => problems.push(CaptureProblem::Unreadable { file: file.to_owned(), problem: error.to_string() }),
    }
}

/// SHA-256 of a file, read in blocks.
fn digest(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut block = vec![0; BLOCK];
    let mut hash = Sha256::new();
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hex(&hash.finalize())),
            count => hash.update(&block[..count]),
        }
    }
}
