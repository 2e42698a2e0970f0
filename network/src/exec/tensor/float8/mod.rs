//! Whether the `float8` route is exact on a device.
//!
//! The route is the contract bit for bit if the device's multiplication of E4M3 is the contract's F13 step and its half arithmetic
//! rounds as it should. No specification promises that, so the first use on a device and driver finds out: the step by itself on the
//! contract's test vectors and on hostile operands ([`steps`]), then whole frames of synthetic models beside the exact route
//! ([`frames`]). The finding is kept ([`cache`]); what was found of another device, driver or build of the kernels counts for nothing.

pub(super) mod cache;
pub(super) mod frames;
pub(super) mod steps;

use std::fmt;
use std::sync::Arc;

use gpu::Device;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::super::{ExecError, Kernels};
use super::{Form, Operands, TensorKernel};

/// How many of some values are other than the contract's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Values compared.
    pub compared: u64,
    /// Those that differ.
    pub differ: u64,
    /// Where the first of them is.
    pub first: Option<String>,
}

impl Tally {
    /// Counts one value; `place` names it.
    fn count(&mut self, equal: bool, place: impl FnOnce() -> String) {
        self.compared += 1;
        if !equal {
            self.differ += 1;
            self.first.get_or_insert_with(place);
        }
    }

    /// Whether something was compared, and all of it agreed.
    fn agrees(&self) -> bool {
        self.compared > 0 && self.differ == 0
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compared, differ, first } = self;
        write!(f, "{differ} of {compared} differ")?;
        first.as_ref().map_or(Ok(()), |first| write!(f, ", first {first}"))
    }
}

/// What was found on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Sums of the step by itself.
    pub steps: Tally,
    /// Bytes of what whole frames publish.
    pub frames: Tally,
}

impl Finding {
    /// Whether every bit agrees.
    pub fn exact(&self) -> bool {
        self.steps.agrees() && self.frames.agrees()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.exact() {
            let Self { steps, frames } = self;
            write!(f, "exact: {} steps and {} bytes of whole frames agree", steps.compared, frames.compared)
        } else {
            write!(f, "not exact: of the steps {}; of the bytes of whole frames {}", self.steps, self.frames)
        }
    }
}

/// What is known of a device without asking it: `None` before the first use.
pub fn known(caps: &gpu::Capabilities) -> Option<Finding> {
    cache::read(&cache::folder()?, caps, &digest())
}

/// What is known of a device, or else is found out now and kept.
///
/// # Errors
/// Errors of the device; nothing is kept then.
pub(in super::super) fn finding(kernels: &Arc<Kernels>, device: &Arc<Device>) -> Result<Finding, ExecError> {
    if let Some(finding) = known(device.caps()) {
        return Ok(finding);
    }
    tracing::info!("{}: finding out whether route float8 is exact", device.caps().name);
    let finding = find(kernels, device)?;
    if let Some(folder) = cache::folder() {
        cache::write(&folder, device.caps(), &digest(), &finding);
    }
    Ok(finding)
}

/// Finds out.
fn find(kernels: &Arc<Kernels>, device: &Arc<Device>) -> Result<Finding, ExecError> {
    let steps = steps::tally(kernels, device)?;
    Ok(Finding { steps, frames: frames::tally(kernels, device, &frames::CASES)? })
}

/// Of everything that decides what the route computes, apart from the device: the kernels, and this check.
fn digest() -> String {
    let form = Form { operands: Operands::Float8, model: false, strips: false, direct: false };
    let names = TensorKernel::ALL.iter().map(|kernel| kernel.shader(form)).chain([steps::shader(form)]);
    let mut hash = Sha256::new();
    for name in names {
        hash.update(&name);
        hash.update(shaders::shader(&name).map_or("", |shader| shader.info.spirv_sha256));
    }
    hash.update(env!("CARGO_PKG_VERSION"));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
