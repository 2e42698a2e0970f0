//! What is known about a device before it is opened; `doctor` prints this.

use crate::capabilities::Capabilities;
use serde::Serialize;

/// Kind of device, best first.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A graphics card.
    Discrete,
    /// A GPU that shares the CPU's memory.
    Integrated,
    /// A GPU seen through a virtual machine.
    Virtual,
    /// Vulkan on the CPU.
    Cpu,
    /// Anything else.
    #[default]
    Other,
}

/// One device of the instance.
#[derive(Clone, Debug, Serialize)]
pub struct AdapterInfo {
    /// Position in Vulkan's list; what `--device N` takes.
    pub index: usize,
    /// Device name as the driver gives it.
    pub name: String,
    /// Kind of device.
    pub kind: DeviceKind,
    /// Driver name and version text.
    pub driver: String,
    /// Vulkan version of the device, `major.minor.patch`.
    pub api_version: String,
    /// Limits and features in full.
    pub capabilities: Capabilities,
    /// Every feature the program asks about.
    pub features: Vec<FeatureReport>,
    /// Why the device cannot be used, when it cannot.
    pub usable: Result<(), String>,
}

/// Whether a device has one feature, and what its absence costs.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct FeatureReport {
    /// Vulkan's name of the feature or extension.
    pub name: &'static str,
    /// Whether the device has it.
    pub present: bool,
    /// Whether the program cannot do without.
    pub required: bool,
    /// What is lost without it.
    pub without: &'static str,
}

impl AdapterInfo {
    /// The features the device lacks.
    pub fn missing(&self) -> impl Iterator<Item = &FeatureReport> {
        self.features.iter().filter(|feature| !feature.present)
    }
}
