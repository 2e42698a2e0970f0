//! Collects the problems of a fixture while its manifest is read.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::{FixtureError, Problem};
use super::fixture::Conditioning;
use crate::geometry::{Extent, Geometry};
use crate::model::files::{MAX_MANIFEST, file_length, inside, open_regular, read_exactly};
use crate::plan::Plan;

/// A boundary that the graph has.
pub(super) struct Known {
    pub name: String,
    pub extent: Extent,
    pub channels: usize,
}

impl Known {
    /// Whether a fixture must cover it: blocks and transitions, not the extra `pooled-*` names.
    pub fn required(&self) -> bool {
        !self.name.starts_with("pooled-")
    }

    /// `width x height x channels`, for messages.
    pub fn shape(&self) -> String {
        format!("{}x{}", self.extent, self.channels)
    }
}

/// The boundaries of the graph, in its order.
pub(super) fn known_boundaries(geometry: &Geometry) -> Vec<Known> {
    Plan::new(geometry)
        .boundaries()
        .filter_map(|(_, tensor)| {
            Some(Known { name: tensor.boundary.clone()?, extent: tensor.extent, channels: tensor.channels })
        })
        .collect()
}

/// Reads and parses a fixture's manifest.
pub(super) fn read_document(path: &Path) -> Result<Value, FixtureError> {
    let fail = |source| FixtureError::Read { path: path.to_owned(), source };
    let length = file_length(path).map_err(fail)?;
    if length > MAX_MANIFEST {
        return Err(fail(std::io::Error::other(format!("{length} bytes, at most {MAX_MANIFEST} are accepted"))));
    }
    let text = read_exactly(path, length).map_err(fail)?;
    serde_json::from_slice(&text)
        .map_err(|error| FixtureError::NotJson { path: path.to_owned(), problem: error.to_string() })
}

/// Reads values and notes what is wrong; a getter that notes a problem returns `None`.
pub(super) struct Checker<'a> {
    pub directory: &'a Path,
    pub problems: Vec<Problem>,
}

impl<'a> Checker<'a> {
    pub fn new(directory: &'a Path) -> Self {
        Self { directory, problems: Vec::new() }
    }

    /// Notes a problem.
    pub fn note(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub fn malformed(&mut self, key: impl Into<String>, problem: &str) {
        self.note(Problem::Malformed { key: key.into(), problem: problem.to_owned() });
    }

    /// A required member: `object[key]`, called `path` in messages.
    pub fn member<'v>(&mut self, object: &'v Value, key: &str, path: &str) -> Option<&'v Value> {
        let value = object.get(key);
        if value.is_none() {
            self.note(Problem::Missing(path.to_owned()));
        }
        value
    }

    /// A required member that `read` understands, else a note that it `is_not`.
    pub fn value<'v, T>(
        &mut self,
        object: &'v Value,
        key: &str,
        path: &str,
        is_not: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Option<T> {
        let value = read(self.member(object, key, path)?);
        if value.is_none() {
            self.malformed(path, is_not);
        }
        value
    }

    /// A required string.
    pub fn text<'v>(&mut self, object: &'v Value, key: &str, path: &str) -> Option<&'v str> {
        self.value(object, key, path, "is not a string", Value::as_str)
    }

    /// A required SHA-256, in lower case.
    pub fn digest(&mut self, object: &Value, key: &str, path: &str) -> Option<String> {
        self.value(object, key, path, "is not 64 hexadecimal digits", |value| {
            let text = value.as_str()?;
            let fits = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
            fits.then(|| text.to_ascii_lowercase())
        })
    }

    /// A required width, height or channel count.
    pub fn positive(&mut self, object: &Value, key: &str, path: &str) -> Option<u32> {
        self.value(object, key, path, "is not a positive integer", |value| {
            value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|&number| number > 0)
        })
    }

    /// Required `width` and `height` of an entry.
    pub fn extent(&mut self, object: &Value, path: &str) -> Option<Extent> {
        let width = self.positive(object, "width", &format!("{path}.width"));
        let height = self.positive(object, "height", &format!("{path}.height"));
        Some(Extent::new(width?, height?))
    }

    /// The geometry of `sourceDimensions`, with `fullDimensions` compared to it.
    pub fn geometry(&mut self, root: &Value) -> Option<Geometry> {
        let valid = self.dimensions(root, "sourceDimensions");
        let field = self.dimensions(root, "fullDimensions");
        let geometry = match Geometry::new(valid?) {
            Ok(geometry) => geometry,
            Err(error) => {
                self.note(Problem::RefusedSize(error));
                return None;
            }
        };
        if field? != geometry.field {
            let key = "fullDimensions".to_owned();
            self.note(Problem::Geometry { key, found: field?, expected: geometry.field });
            return None;
        }
        Some(geometry)
    }

    /// A required `[w, h]`.
    fn dimensions(&mut self, root: &Value, key: &str) -> Option<Extent> {
        self.value(root, key, key, "is not [width, height] of positive integers", dimensions)
    }

    /// Seed, automatic mask and conditioning of a frame that starts from a proxy.
    pub fn frame_inputs(&mut self, root: &Value) -> (Option<u32>, Option<bool>, Option<Conditioning>) {
        let seed = self.value(root, "seed", "seed", "is not an integer below 2^32", |value| {
            value.as_u64().and_then(|seed| u32::try_from(seed).ok())
        });
        let auto_mask = self.value(root, "autoMask", "autoMask", "is not a boolean", Value::as_bool);
        let conditioning = self.member(root, "conditioning", "conditioning").and_then(|object| {
            let mut number = |key: &str| {
                let path = format!("conditioning.{key}");
                self.value(object, key, &path, "is not a number", |value| Some(value.as_f64()? as f32))
            };
            let tone = number("localTone");
            let structure = number("localStructure");
            let skin = number("skinStructure");
            let style = number("style");
            Some(Conditioning { local_tone: tone?, local_structure: structure?, skin_structure: skin?, style: style? })
        });
        (seed, auto_mask, conditioning)
    }

    /// The path that `entry.file` names inside the fixture.
    pub fn file(&mut self, entry: &Value, path: &str) -> Option<PathBuf> {
        let key = format!("{path}.file");
        let name = self.text(entry, "file", &key)?;
        match inside(self.directory, name) {
            Ok(file) => Some(file),
            Err(problem) => {
                self.malformed(key, problem);
                None
            }
        }
    }

    /// Whether a raw file can be opened and has its size.
    pub fn raw_file(&mut self, key: &str, path: &Path, expected: u64) -> bool {
        let length = open_regular(path).and_then(|_| file_length(path));
        match length {
            Ok(found) if found == expected => return true,
            Ok(found) => self.note(Problem::FileSize { key: key.into(), path: path.into(), found, expected }),
            Err(error) => self.unreadable(key, path, &error),
        }
        false
    }

    /// The bytes of a raw file of a known size.
    pub fn raw_bytes(&mut self, key: &str, path: &Path, expected: u64) -> Option<Vec<u8>> {
        if !self.raw_file(key, path, expected) {
            return None;
        }
        self.readable(key, path, read_exactly(path, expected))
    }

    /// The values of a raw f32 file of a known count.
    pub fn raw_f32(&mut self, key: &str, path: &Path, count: usize) -> Option<Vec<f32>> {
        let bytes = self.raw_bytes(key, path, count as u64 * 4)?;
        Some(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }

    /// The content of a zstd file that must hold `expected` bytes; no more than that is decompressed.
    pub fn zstd_bytes(&mut self, key: &str, path: &Path, expected: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let result = open_regular(path)
            .and_then(zstd::Decoder::new)
            .and_then(|decoder| decoder.take(expected as u64 + 1).read_to_end(&mut bytes));
        self.readable(key, path, result)?;
        if bytes.len() != expected {
            let (found, expected) = (bytes.len() as u64, expected as u64);
            self.note(Problem::FileSize { key: key.into(), path: path.into(), found, expected });
            return None;
        }
        Some(bytes)
    }

    /// The result's value; an error is noted.
    pub fn readable<T>(&mut self, key: &str, path: &Path, result: std::io::Result<T>) -> Option<T> {
        result.map_err(|error| self.unreadable(key, path, &error)).ok()
    }

    fn unreadable(&mut self, key: &str, path: &Path, error: &std::io::Error) {
        self.note(Problem::Unreadable { key: key.into(), path: path.into(), problem: error.to_string() });
    }

    /// The error for all problems so far.
    pub fn error(self) -> FixtureError {
        FixtureError::Invalid { path: self.directory.to_owned(), problems: self.problems }
    }
}

/// `[w, h]` of positive integers.
pub(super) fn dimensions(value: &Value) -> Option<Extent> {
    let side = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
    match value.as_array()?.as_slice() {
        [width, height] => Some(Extent::new(side(width)?, side(height)?)),
        _ => None,
    }
}

/// Name of the fixture in a directory.
pub(super) fn directory_name(directory: &Path) -> String {
    directory.file_name().map_or_else(|| directory.display().to_string(), |name| name.to_string_lossy().into_owned())
}
