//! Opening the device that the command line names.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use gpu::{Device, DeviceSelector, Instance, InstanceDesc};

use crate::cli::Globals;

/// The selector of `--device`.
pub fn selector(globals: &Globals) -> DeviceSelector {
    globals.device.as_deref().map_or(DeviceSelector::Auto, DeviceSelector::parse)
}

/// Opens the device without a window.
///
/// # Errors
/// No Vulkan loader, no driver, or no device that fits `--device`.
pub fn open(globals: &Globals) -> Result<Arc<Device>> {
    let instance = Instance::new(&InstanceDesc { validation: globals.validation, surface: None }).context(
        "cannot use Vulkan (with --route cpu, `process`, `parity`, `replay` and `capture --image` need no device)",
    )?;
    let device = Device::open(&instance, &selector(globals))?;
    tracing::info!("device: {}", device.caps().name);
    Ok(device)
}
