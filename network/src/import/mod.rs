//! Frames of other programs: colour, motion and depth in EXR or raw files, and a small document of their conventions.
//!
//! [`Import::open`] reads the document, [`Import::frame`] a frame in the conventions of the frame passes (uv units, y down,
//! current to previous). [`check_motion`] tells whether the motion of consecutive frames explains how they differ, and if
//! not, which flip or scale would.

mod files;
mod reproject;

pub use reproject::{Fix, MotionVerdict, check_motion};

use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use crate::frame::cpu::Half4;
use crate::frame::cpu::sampling::pack_motion;
use crate::geometry::{Extent, Geometry, GeometryError};
use crate::model::files::{MAX_MANIFEST, file_length, inside, read_exactly};
use crate::numerics::half;
use files::Layer;

/// Why frames cannot be imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A document or a picture is not what it must be.
    #[error("{}: {problem}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The size has no geometry.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
}

/// Element format of a raw file, or EXR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// OpenEXR, one part.
    Exr,
    /// Little-endian halves, tightly packed, rows as `rows` says.
    F16,
    /// Little-endian f32.
    F32,
}

/// Order of the rows in raw files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rows {
    /// The first row is the top one.
    #[default]
    TopFirst,
    /// The first row is the bottom one.
    BottomFirst,
}

/// How one kind of picture is stored.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    /// The format.
    pub format: FileFormat,
    /// Names of the channels in EXR files; in raw files only their number counts.
    pub channels: Vec<String>,
    /// Order of the rows of raw files.
    #[serde(default)]
    pub rows: Rows,
}

/// Which way motion vectors point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From a pixel to where it was.
    CurrentToPrevious,
    /// From where it was to the pixel: the vector is negated.
    PreviousToCurrent,
}

/// The unit of motion vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Fractions of the picture.
    Uv,
    /// Pixels.
    Pixels,
    /// Normalised device coordinates: the picture is 2 wide.
    Ndc,
}

/// Which way y grows in motion vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum YDirection {
    /// Down the picture.
    Down,
    /// Up the picture.
    Up,
}

/// How motion is stored and what it means.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MotionStorage {
    /// The format.
    pub format: FileFormat,
    /// Names of the two channels, x first.
    pub channels: Vec<String>,
    /// Order of the rows of raw files.
    #[serde(default)]
    pub rows: Rows,
    /// Which way the vectors point.
    pub direction: Direction,
    /// Their unit.
    pub unit: Unit,
    /// Which way their y grows.
    pub y: YDirection,
}

/// The files of a frame, relative to the document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrameFiles {
    color: String,
    motion: String,
    depth: String,
}

/// The document.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Document {
    #[serde(default)]
    description: String,
    size: [u32; 2],
    #[serde(default = "one")]
    paper_white: f32,
    color: Storage,
    motion: MotionStorage,
    depth: Storage,
    frames: Vec<FrameFiles>,
}

const fn one() -> f32 {
    1.0
}

/// A frame in the conventions of the frame passes.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedFrame {
    /// Linear RGBA halves.
    pub color: Vec<Half4>,
    /// Depth as it was.
    pub depth: Vec<f32>,
    /// Motion in uv units, y down, current to previous; see [`ImportedFrame::packed_motion`].
    pub motion: Vec<[f32; 2]>,
}

impl ImportedFrame {
    /// Pixels whose color is not finite, and pixels whose motion is not: the frame passes take such values for 0.
    pub fn non_finite(&self) -> [usize; 2] {
        // A half whose exponent is all ones is infinite or no number.
        let whole = |bits: &u16| bits & 0x7c00 != 0x7c00;
        let color = self.color.iter().filter(|pixel| !pixel[..3].iter().all(whole)).count();
        let motion = self.motion.iter().filter(|vector| !vector.iter().all(|value| value.is_finite())).count();
        [color, motion]
    }

    /// Motion as two halves a pixel. Vectors that lead out of the picture become (0, 0), by the frame's motion rule.
    pub fn packed_motion(&self, extent: Extent) -> Vec<u32> {
        let vector = |(i, &[x, y]): (usize, &[f32; 2])| {
            let u = ((i as u32 % extent.width) as f32 + 0.5) / extent.width as f32 + x;
            let v = ((i as u32 / extent.width) as f32 + 0.5) / extent.height as f32 + y;
            let inside = u > 0.0 && u < 1.0 && v > 0.0 && v < 1.0;
            pack_motion(if inside { [x, y] } else { [0.0; 2] })
        };
        self.motion.iter().enumerate().map(vector).collect()
    }
}

/// Frames to be imported.
#[derive(Clone, Debug)]
pub struct Import {
    base: PathBuf,
    path: PathBuf,
    document: Document,
    geometry: Geometry,
}

impl Import {
    /// Reads the document of conventions.
    ///
    /// # Errors
    /// It cannot be read, is incomplete, names no frames, or its size has no geometry.
    pub fn open(path: &Path) -> Result<Self, ImportError> {
        let read = |source| ImportError::Read { path: path.to_owned(), source };
        let invalid = |problem: String| ImportError::Invalid { path: path.to_owned(), problem };
        let length = file_length(path).map_err(read)?;
        if length > MAX_MANIFEST {
            return Err(invalid(format!("{length} bytes, at most {MAX_MANIFEST} are accepted")));
        }
        let text = read_exactly(path, length).map_err(read)?;
        let document: Document = serde_json::from_slice(&text).map_err(|error| invalid(messages::shortened(&error)))?;
        let counts = [
            ("color", document.color.channels.len(), 3..=4),
            ("motion", document.motion.channels.len(), 2..=2),
            ("depth", document.depth.channels.len(), 1..=1),
        ];
        for (name, count, allowed) in counts {
            if !allowed.contains(&count) {
                return Err(invalid(format!(
                    "{name} has {count} channels instead of {} to {}",
                    allowed.start(),
                    allowed.end()
                )));
            }
        }
        if document.frames.is_empty() {
            return Err(invalid("it names no frames".to_owned()));
        }
        if !(document.paper_white.is_finite() && document.paper_white > 0.0) {
            return Err(invalid(format!("paperWhite is {}; it must be a positive number", document.paper_white)));
        }
        let geometry = Geometry::new(Extent::new(document.size[0], document.size[1]))?;
        let base = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        Ok(Self { base, path: path.to_owned(), document, geometry })
    }

    /// The size of the frames.
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.document.frames.len()
    }

    /// What the frames are.
    pub fn description(&self) -> &str {
        &self.document.description
    }

    /// Scene value of display white.
    pub const fn paper_white(&self) -> f32 {
        self.document.paper_white
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// There is no such frame, or a file is missing, of another size, or without a channel.
    pub fn frame(&self, index: usize) -> Result<ImportedFrame, ImportError> {
        let invalid = |problem: String| ImportError::Invalid { path: self.path.clone(), problem };
        let Some(names) = self.document.frames.get(index) else {
            return Err(invalid(format!("it has {} frames, not frame {index}", self.document.frames.len())));
        };
        let extent = self.geometry.valid;
        let load = |name: &str, format, channels: &[String], rows| -> Result<Layer, ImportError> {
            let path = inside(&self.base, name)
                .map_err(|problem| invalid(format!("{}: {problem}", messages::quoted(name))))?;
            Layer::read(&path, format, channels, rows, extent)
        };
        let Document { color, motion, depth, .. } = &self.document;
        let color = load(&names.color, color.format, &color.channels, color.rows)?;
        let depth = load(&names.depth, depth.format, &depth.channels, depth.rows)?;
        let vectors = load(&names.motion, motion.format, &motion.channels, motion.rows)?;
        let one = half::from_f32(1.0);
        let rgba = |i: usize| [color.half(i, 0), color.half(i, 1), color.half(i, 2), one];
        let scale = self.motion_scale();
        let uv = |i: usize| [vectors.value(i, 0) * scale[0], vectors.value(i, 1) * scale[1]];
        let count = extent.pixels();
        Ok(ImportedFrame {
            color: (0..count).map(rgba).collect(),
            depth: (0..count).map(|i| depth.value(i, 0)).collect(),
            motion: (0..count).map(uv).collect(),
        })
    }

    /// What takes the file's vectors to uv units, y down, current to previous.
    fn motion_scale(&self) -> [f32; 2] {
        let MotionStorage { direction, unit, y, .. } = self.document.motion;
        let Extent { width, height } = self.geometry.valid;
        let [sx, sy] = match unit {
            Unit::Uv => [1.0, 1.0],
            Unit::Pixels => [1.0 / width as f32, 1.0 / height as f32],
            Unit::Ndc => [0.5, 0.5],
        };
        let sign = if direction == Direction::CurrentToPrevious { 1.0 } else { -1.0 };
        [sign * sx, if y == YDirection::Down { sign * sy } else { -sign * sy }]
    }
}

#[cfg(test)]
mod tests;
