//! The documents of a bundle.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::frame::FrameInfo;
use super::tensor::DType;
use crate::geometry::{Extent, Geometry};

/// The manifest's `format`.
pub(super) const FORMAT: &str = "nrview-capture";
/// The version of the documents and of the folder's layout.
pub const SCHEMA_VERSION: u32 = 1;
/// File names of the documents.
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const FRAME: &str = "frame.json";
/// Folder of the frames' folders.
pub(super) const FRAMES: &str = "frames";

/// Folder of a frame in the bundle.
pub(super) fn folder(number: u32) -> String {
    format!("{FRAMES}/{number:06}")
}

/// The program that recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The commit it was built from, or `unknown`.
    pub commit: String,
    /// SHA-256 of the executable; empty where it cannot be read.
    pub executable: String,
}

/// The device that recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DeviceIdentity {
    /// Its name.
    pub name: String,
    /// Driver name and version as the driver gives them.
    pub driver: String,
    /// The driver's packed version.
    pub driver_version: u32,
    /// PCI vendor.
    pub vendor_id: u32,
    /// PCI device.
    pub device_id: u32,
    /// UUID in hexadecimal.
    pub uuid: String,
}

/// How the network was computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteIdentity {
    /// Name of the route, `cpu` for the reference.
    pub name: String,
    /// What computed each operation, by its label.
    pub operations: BTreeMap<String, String>,
}

/// The weights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelName {
    /// What `--model` takes to name them, where that is a built-in name; else the name of their file, without folders.
    pub source: String,
    /// SHA-256 of all records.
    pub digest: String,
}

/// The sizes of a capture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extents {
    /// The picture.
    pub valid: [u32; 2],
    /// The padded field.
    pub field: [u32; 2],
    /// The levels below it.
    pub levels: Vec<[u32; 2]>,
}

impl Extents {
    /// The sizes of a geometry.
    pub fn of(geometry: &Geometry) -> Self {
        let pair = |e: Extent| [e.width, e.height];
        Self {
            valid: pair(geometry.valid),
            field: pair(geometry.field),
            levels: geometry.levels.iter().copied().map(pair).collect(),
        }
    }
}

/// What the frames show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub enum SourceIdentity {
    /// A rendered scene: linear colour, depth, motion.
    Scene {
        /// Its name.
        name: String,
        /// Its seed, where it has one.
        seed: Option<u32>,
        /// Frames a second of its animation.
        rate: f64,
    },
    /// A still picture of code values.
    Image {
        /// The file's name.
        file: String,
    },
    /// Frames of another program: linear colour, depth, motion.
    Imported {
        /// What they were.
        description: String,
    },
}

impl SourceIdentity {
    /// Whether the frames are linear scene light with depth and motion.
    pub const fn is_scene(&self) -> bool {
        !matches!(self, Self::Image { .. })
    }
}

/// What the motion vectors mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MotionConvention {
    /// `current-to-previous`.
    pub direction: String,
    /// `uv`: fractions of the picture's width and height.
    pub unit: String,
    /// `down`: y grows downwards.
    pub y: String,
}

impl Default for MotionConvention {
    fn default() -> Self {
        let [direction, unit, y] = ["current-to-previous", "uv", "down"].map(str::to_owned);
        Self { direction, unit, y }
    }
}

/// What a replay compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The network's input, where the frame passes are computed again.
    Features,
    /// The boundaries between the blocks.
    Boundaries,
    /// The network's output.
    Head,
    /// What the next frame reads.
    NextHistory,
    /// The published colour.
    Published,
    /// The picture as presented.
    Display,
}

/// Everything that the frames of a bundle share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Header {
    /// The program.
    pub program: Program,
    /// Seconds since 1970 when the capture began.
    pub created: u64,
    /// The device; `null` without one.
    pub device: Option<DeviceIdentity>,
    /// The route.
    pub route: RouteIdentity,
    /// SHA-256 of the shader modules, by name; empty without a device.
    pub shaders: BTreeMap<String, String>,
    /// The weights.
    pub model: ModelName,
    /// The sizes.
    pub extents: Extents,
    /// What the frames show.
    pub source: SourceIdentity,
    /// What the motion vectors mean.
    pub motion: MotionConvention,
    /// What a replay compares; never empty.
    pub checks: Vec<Check>,
    /// Whether every tensor of the network is recorded, not only the boundaries.
    pub all_tensors: bool,
}

impl Header {
    /// Whether the boundaries are recorded.
    pub fn boundaries(&self) -> bool {
        self.checks.contains(&Check::Boundaries)
    }
}

/// `manifest.json`, without its seal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Manifest {
    pub format: String,
    pub schema_version: u32,
    /// Identity of the bundle; its frames repeat it.
    pub id: String,
    pub capture: Header,
    /// The frames in order; `null` until the capture is finished.
    pub frames: Option<Vec<FrameEntry>>,
    #[serde(default, skip_serializing)]
    pub sha256: String,
}

/// A frame in the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FrameEntry {
    pub number: u32,
    pub folder: String,
    /// The digest that its `frame.json` carries.
    pub sha256: String,
}

/// `frame.json`, without its seal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FrameDocument {
    /// Identity of the bundle.
    pub id: String,
    /// The digest that the `frame.json` of the frame before carries; empty for the first.
    pub previous: String,
    pub frame: FrameInfo,
    pub tensors: Vec<TensorEntry>,
    pub pictures: Vec<FileEntry>,
    #[serde(default, skip_serializing)]
    pub sha256: String,
}

/// A raw tensor in `frame.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TensorEntry {
    pub name: String,
    pub file: String,
    pub dtype: DType,
    pub shape: [usize; 3],
    pub sha256: String,
}

impl TensorEntry {
    /// Bytes of the file; `None` when that overflows.
    pub fn bytes(&self) -> Option<u64> {
        let elements = self.shape.iter().try_fold(1usize, |product, &side| product.checked_mul(side))?;
        elements.checked_mul(self.dtype.bytes())?.try_into().ok()
    }
}

/// Any other file in `frame.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileEntry {
    pub file: String,
    pub bytes: u64,
    pub sha256: String,
}

/// Position, orientation and lens of a camera.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CameraPose {
    /// Metres, y up, right-handed.
    pub position: [f32; 3],
    /// Turn to the right about the vertical axis, radians; 0 looks along -z.
    pub yaw: f32,
    /// Turn upwards, radians.
    pub pitch: f32,
    /// Vertical field of view, radians.
    pub fov_y: f32,
}
