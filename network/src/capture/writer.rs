//! Writing a bundle, whole frames only.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use faults::files;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::error::CaptureError;
use super::frame::{CapturedFrame, FrameInfo};
use super::layout::{Expected, expected};
use super::reader::Capture;
use super::schema::{
    FORMAT, FRAME, FRAMES, FileEntry, FrameDocument, FrameEntry, Header, MANIFEST, Manifest, SCHEMA_VERSION,
    TensorEntry, folder,
};
use super::{picture, seal};
use crate::geometry::Geometry;
use crate::model::records::hex;

/// Whether the files for looking are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// OpenEXR and PNG beside the tensors.
    All,
    /// PNG only; compressing OpenEXR takes most of the time of large frames.
    Png,
    /// Tensors only.
    None,
}

/// A bundle being written.
///
/// A frame's files are written into a folder beside the bundle, which then moves into it by one rename: whatever ends the
/// program leaves the frame whole or absent. The manifest lists the frames when the capture is [finished](Self::finish);
/// until then the bundle counts as unfinished, can be read as it is, and can be [continued](Self::resume).
pub struct Writer {
    directory: PathBuf,
    partial: PathBuf,
    geometry: Geometry,
    header: Header,
    id: String,
    entries: Vec<FrameEntry>,
    pictures: Pictures,
}

impl Writer {
    /// Begins a bundle in a directory that is absent or empty.
    ///
    /// # Errors
    /// The directory is not empty, or cannot be made.
    pub fn create(
        directory: &Path,
        geometry: &Geometry,
        header: Header,
        pictures: Pictures,
    ) -> Result<Self, CaptureError> {
        let fail = write_error(directory);
        if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(fail(std::io::Error::other("it exists and is not empty; name a new directory")));
        }
        files::create_dir_all(&directory.join(FRAMES)).map_err(fail)?;
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let mut hash = Sha256::new();
        hash.update(serde_json::to_vec(&header).map_err(|e| write_error(directory)(e.into()))?);
        hash.update(nanos.to_le_bytes());
        hash.update(std::process::id().to_le_bytes());
        let id = hex(&hash.finalize()[..16]);
        let writer = Self {
            partial: partial(directory)?,
            directory: directory.to_owned(),
            geometry: *geometry,
            header,
            id,
            entries: Vec::new(),
            pictures,
        };
        writer.write_manifest(None)?;
        Ok(writer)
    }

    /// Continues a bundle of the same header (the time of its beginning apart) behind its last whole frame.
    ///
    /// # Errors
    /// The bundle is defective, or was recorded with another device, model, size, source or program.
    pub fn resume(
        directory: &Path,
        geometry: &Geometry,
        header: Header,
        pictures: Pictures,
    ) -> Result<(Self, Capture), CaptureError> {
        let capture = Capture::open(directory)?;
        let was = Header { created: header.created, ..capture.header().clone() };
        if was != header {
            let problem = differences(&was, &header);
            return Err(CaptureError::Resume { path: directory.to_owned(), problem });
        }
        let writer = Self {
            partial: partial(directory)?,
            directory: directory.to_owned(),
            geometry: *geometry,
            header: capture.header().clone(),
            id: capture.id().to_owned(),
            entries: capture.entries(),
            pictures,
        };
        writer.write_manifest(None)?;
        Ok((writer, capture))
    }

    /// Number of frames that are in the bundle.
    pub fn frames(&self) -> usize {
        self.entries.len()
    }

    /// Writes a frame and publishes it.
    ///
    /// # Errors
    /// Its number does not follow the last one, a tensor is missing or of another shape, or a file cannot be written; the
    /// bundle is then as it was.
    pub fn add(&mut self, frame: &CapturedFrame) -> Result<(), CaptureError> {
        self.check(frame)?;
        let made = self.write_frame(frame).and_then(|digest| {
            let target = self.directory.join(folder(frame.info.number));
            files::rename(&self.partial, &target).map_err(write_error(&target))?;
            Ok(digest)
        });
        match made {
            Ok(sha256) => {
                let number = frame.info.number;
                self.entries.push(FrameEntry { number, folder: folder(number), sha256 });
                Ok(())
            }
            Err(error) => {
                _ = fs::remove_dir_all(&self.partial);
                Err(error)
            }
        }
    }

    /// Lists the frames in the manifest: nothing may be missing from now on.
    ///
    /// # Errors
    /// The manifest cannot be written.
    pub fn finish(self) -> Result<(), CaptureError> {
        self.write_manifest(Some(self.entries.clone()))
    }

    fn check(&self, frame: &CapturedFrame) -> Result<(), CaptureError> {
        let FrameInfo { number, parameters, .. } = frame.info;
        let fail = |problem: String| Err(CaptureError::Frame { number, problem });
        if let Some(last) = self.entries.last()
            && number != last.number.wrapping_add(1)
        {
            return fail(format!("the last frame has number {}", last.number));
        }
        let expected = expected(&self.header, &self.geometry, parameters.history_valid);
        for want in &expected {
            match frame.tensor(&want.name) {
                None => return fail(format!("it has no tensor {}", want.name)),
                Some(tensor) if (tensor.dtype, tensor.shape) != (want.dtype, want.shape) || !tensor.whole() => {
                    return fail(format!("tensor {} is not {:?} of {:?}", want.name, want.shape, want.dtype));
                }
                Some(_) => {}
            }
        }
        match frame.tensors.iter().find(|tensor| expected.iter().all(|want| want.name != tensor.name)) {
            Some(extra) => fail(format!("the capture takes no tensor {}", extra.name)),
            None => Ok(()),
        }
    }

    /// Writes all files of a frame into the partial folder; returns the document's digest.
    fn write_frame(&self, frame: &CapturedFrame) -> Result<String, CaptureError> {
        // A folder left by a program that was ended is no one's.
        _ = fs::remove_dir_all(&self.partial);
        files::create_dir(&self.partial).map_err(write_error(&self.partial))?;
        let put = |file: &str, bytes: &[u8]| {
            let path = self.partial.join(file);
            files::write(&path, bytes).map_err(write_error(&path))
        };
        // Hashing and compressing take longer than a fast disk: all cores take part.
        let wanted = expected(&self.header, &self.geometry, frame.info.parameters.history_valid);
        let tensor = |want: Expected| {
            let Some(tensor) = frame.tensor(&want.name) else { return Ok(None) };
            let file = format!("{}.bin", tensor.name);
            put(&file, &tensor.bytes)?;
            let sha256 = hex(&Sha256::digest(&tensor.bytes));
            Ok(Some(TensorEntry { name: want.name, file, dtype: want.dtype, shape: want.shape, sha256 }))
        };
        let picture = |(file, name): (&str, &str)| {
            let bytes = match frame.tensor(name) {
                Some(tensor) => picture::png(file, tensor)?,
                None => picture::exr(frame)?,
            };
            put(file, &bytes)?;
            Ok(FileEntry { file: file.to_owned(), bytes: bytes.len() as u64, sha256: hex(&Sha256::digest(&bytes)) })
        };
        let looked_at: &[(&str, &str)] = match self.pictures {
            Pictures::All => &[("display.png", "display"), ("input.png", "display-input"), ("frame.exr", "")],
            Pictures::Png => &[("display.png", "display"), ("input.png", "display-input")],
            Pictures::None => &[],
        };
        let (tensors, pictures) = rayon::join(
            || wanted.into_par_iter().map(tensor).collect::<Result<Vec<_>, CaptureError>>(),
            || looked_at.par_iter().copied().map(picture).collect::<Result<Vec<_>, CaptureError>>(),
        );
        let (tensors, pictures) = (tensors?.into_iter().flatten().collect(), pictures?);
        let document = FrameDocument {
            id: self.id.clone(),
            previous: self.entries.last().map_or_else(String::new, |entry| entry.sha256.clone()),
            frame: frame.info.clone(),
            tensors,
            pictures,
            sha256: String::new(),
        };
        let text = seal::seal(&document).map_err(|e| write_error(&self.partial)(e.into()))?;
        put(FRAME, text.as_bytes())?;
        Ok(seal::digest_of(&text))
    }

    /// Replaces the manifest by one rename.
    fn write_manifest(&self, frames: Option<Vec<FrameEntry>>) -> Result<(), CaptureError> {
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            schema_version: SCHEMA_VERSION,
            id: self.id.clone(),
            capture: self.header.clone(),
            frames,
            sha256: String::new(),
        };
        let path = self.directory.join(MANIFEST);
        let text = seal::seal(&manifest).map_err(|e| write_error(&path)(e.into()))?;
        let fresh = self.partial.with_extension("manifest");
        files::write(&fresh, text.as_bytes()).and_then(|()| files::rename(&fresh, &path)).map_err(|source| {
            _ = fs::remove_file(&fresh);
            CaptureError::Write { path, source }
        })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.partial);
    }
}

fn write_error(path: &Path) -> impl Fn(std::io::Error) -> CaptureError + use<> {
    let path = path.to_owned();
    move |source| CaptureError::Write { path: path.clone(), source }
}

/// The folder beside the bundle in which a frame is put together: on the same file system, and never part of it.
fn partial(directory: &Path) -> Result<PathBuf, CaptureError> {
    let whole = fs::canonicalize(directory).map_err(write_error(directory))?;
    let name = whole.file_name().map_or_else(|| "capture".into(), |name| name.to_string_lossy().into_owned());
    Ok(whole.with_file_name(format!(".{name}.partial")))
}

/// The names of the header's members that differ.
fn differences(was: &Header, now: &Header) -> String {
    let (was, now) = (serde_json::to_value(was), serde_json::to_value(now));
    let (Ok(serde_json::Value::Object(was)), Ok(serde_json::Value::Object(now))) = (was, now) else {
        return "it was recorded with other settings".to_owned();
    };
    let differ = was.iter().filter(|(key, value)| now.get(*key) != Some(value)).map(|(key, _)| key.as_str());
    // As people call it: of the extents only the first is chosen.
    let named: Vec<&str> = differ.map(|key| if key == "extents" { "size" } else { key }).collect();
    format!("it was recorded with another {}", named.join(", "))
}
