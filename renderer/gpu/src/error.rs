//! The one error type of this layer.

use ash::vk;

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong between the program and the device. Every message names the object, the
/// size or limit concerned, and where there is something to do, what.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The Vulkan loader is not installed.
    #[error("the Vulkan loader could not be loaded ({reason}); install it (Debian, Ubuntu: libvulkan1)")]
    Loader {
        /// What the dynamic linker said.
        reason: String,
    },
    /// The loader is older than Vulkan 1.3.
    #[error("the Vulkan loader offers version {found}; 1.3 is needed, update it (libvulkan1)")]
    LoaderVersion {
        /// Version found, `major.minor`.
        found: String,
    },
    /// A layer or instance extension is missing.
    #[error("Vulkan instance {kind} {name} is missing{hint}")]
    Missing {
        /// `layer` or `extension`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What to do, starting with a separator, or nothing.
        hint: &'static str,
    },
    /// No device can be used.
    #[error(
        "no usable Vulkan device{detail}; install a driver (software: mesa-vulkan-drivers) or choose another device"
    )]
    NoDevice {
        /// Each device found with its reason, or a remark that there are none.
        detail: String,
    },
    /// A Vulkan call failed in a way nobody expects.
    #[error("{what} failed: {code}; {}", advice(*code))]
    Vulkan {
        /// The call and the object.
        what: String,
        /// Vulkan's code.
        code: vk::Result,
    },
    /// The device stopped. Everything on it is gone.
    #[error(
        "the GPU was lost while running \"{last_label}\"; the driver may have reset it: try again, with a smaller size or a newer driver if it \
         happens again"
    )]
    DeviceLost {
        /// Oldest unfinished submission and its last label.
        last_label: String,
    },
    /// No memory for an object.
    #[error(
        "out of {memory} memory for \"{object}\"{}, {available} of {total} bytes are free; \
         close other programs or choose a smaller size",
        wanted(*size)
    )]
    OutOfMemory {
        /// `device` or `host`.
        memory: &'static str,
        /// Debug name.
        object: String,
        /// Bytes wanted; 0 where that is not known.
        size: u64,
        /// Bytes free in the largest fitting heap, as the driver estimates.
        available: u64,
        /// Bytes of that heap.
        total: u64,
    },
    /// A size is over a device limit.
    #[error("\"{object}\" needs {size}, over this device's {limit_name} of {limit}")]
    Limit {
        /// Debug name.
        object: String,
        /// What was asked for.
        size: u64,
        /// What the device allows.
        limit: u64,
        /// Vulkan's name of the limit.
        limit_name: &'static str,
    },
    /// The device lacks a feature a shader or call needs.
    #[error("\"{object}\" needs {feature}, which {device} does not have")]
    Unsupported {
        /// Debug name.
        object: String,
        /// Feature, capability or format.
        feature: String,
        /// Device name.
        device: String,
    },
    /// The caller's arguments do not fit together (a range outside a buffer, a missing binding).
    #[error("\"{object}\": {reason}")]
    Usage {
        /// Debug name.
        object: String,
        /// What does not fit.
        reason: String,
    },
    /// A wait ran out of time; the work goes on.
    #[error("waiting for \"{what}\" took longer than {seconds:.1} s; the device hangs or is too slow for this size")]
    Timeout {
        /// The submission.
        what: String,
        /// The limit.
        seconds: f64,
    },
    /// The window's surface cannot be used.
    #[error("the window surface cannot be used: {reason}")]
    Surface {
        /// Why.
        reason: String,
    },
}

/// Bytes in words, where they are known.
fn wanted(size: u64) -> String {
    if size == 0 { String::new() } else { format!(": {size} bytes wanted") }
}

/// What to do about a code.
fn advice(code: vk::Result) -> &'static str {
    match code {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY
        | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_MEMORY_MAP_FAILED => "close other programs or choose a smaller size",
        _ => "if it happens again, look for a newer driver",
    }
}

impl Error {
    /// Whether the device is gone, so that only starting anew helps.
    #[must_use]
    pub fn is_device_lost(&self) -> bool {
        matches!(self, Self::DeviceLost { .. })
    }

    /// A Vulkan code at a call that concerns `what`.
    pub(crate) fn vulkan(what: impl Into<String>, code: vk::Result) -> Self {
        Self::Vulkan { what: what.into(), code }
    }

    pub(crate) fn usage(object: &str, reason: impl Into<String>) -> Self {
        Self::Usage { object: object.to_owned(), reason: reason.into() }
    }

    /// An error when `size` is over `limit`.
    pub(crate) fn check_limit(object: &str, size: u64, limit: u64, limit_name: &'static str) -> Result<()> {
        if size <= limit {
            return Ok(());
        }
        Err(Self::Limit { object: object.to_owned(), size, limit, limit_name })
    }
}
