//! The Vulkan instance.

use crate::adapter::AdapterInfo;
use crate::debug;
use crate::error::{Error, Result};
use crate::fault;
use crate::live::{LiveToken, unique};
use crate::probe;
use ash::{ext, vk};
use raw_window_handle::RawDisplayHandle;
use std::ffi::CStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Held while an instance or device is created or destroyed. Vulkan allows all of that at once on
/// several threads, but a driver has been seen to lock up (NVIDIA 580).
pub(crate) fn lifecycle() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// What an instance is wanted for.
#[derive(Clone, Copy, Debug, Default)]
pub struct InstanceDesc {
    /// Load the Khronos validation layer, with synchronization validation and best practices. Its
    /// messages are counted by [`crate::validation_messages`].
    pub validation: bool,
    /// The display of the window system, when surfaces will be created.
    pub surface: Option<RawDisplayHandle>,
}

/// The loader, the instance, and the debug messenger.
pub struct Instance {
    entry: ash::Entry,
    raw: ash::Instance,
    debug_utils: bool,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    surfaces: bool,
    validation: bool,
    _live: LiveToken,
}

impl Instance {
    /// Loads Vulkan and creates an instance.
    ///
    /// # Errors
    /// [`Error::Loader`] without a Vulkan loader, [`Error::LoaderVersion`] below 1.3,
    /// [`Error::Missing`] without the validation layer or the window system's extensions, and
    /// [`Error::NoDevice`] when no driver is installed.
    pub fn new(desc: &InstanceDesc) -> Result<Arc<Self>> {
        let creating = lifecycle();
        // SAFETY: the system's Vulkan loader is trusted to run its initializers.
        let entry = unsafe { ash::Entry::load() }.map_err(|e| Error::Loader { reason: e.to_string() })?;
        // SAFETY: plain query.
        let version = unsafe { entry.try_enumerate_instance_version() }
            .map_err(|code| Error::vulkan("vkEnumerateInstanceVersion", code))?
            .unwrap_or(vk::API_VERSION_1_0);
        if version < vk::API_VERSION_1_3 {
            return Err(Error::LoaderVersion { found: probe::version_text(version) });
        }

        let mut extensions: Vec<*const i8> = Vec::new();
        if let Some(display) = desc.surface {
            let wanted = ash_window::enumerate_required_extensions(display)
                .map_err(|_| Error::Surface { reason: "this window system is not supported".into() })?;
            for &name in wanted {
                // SAFETY: ash-window gives null-terminated static strings.
                let name = unsafe { CStr::from_ptr(name) };
                if !has_extension(&entry, None, name)? {
                    return Err(Error::Missing {
                        kind: "extension",
                        name: name.to_string_lossy().into_owned(),
                        hint: "; the driver cannot draw to this window system",
                    });
                }
            }
            extensions.extend(wanted);
        }
        let mut layers: Vec<*const i8> = Vec::new();
        if desc.validation {
            // SAFETY: plain query.
            let present = unsafe { entry.enumerate_instance_layer_properties() }
                .map_err(|code| Error::vulkan("vkEnumerateInstanceLayerProperties", code))?;
            if !present.iter().any(|l| l.layer_name_as_c_str() == Ok(VALIDATION_LAYER)) {
                return Err(Error::Missing {
                    kind: "layer",
                    name: VALIDATION_LAYER.to_string_lossy().into_owned(),
                    hint: "; install it (Debian, Ubuntu: vulkan-validationlayers)",
                });
            }
            layers.push(VALIDATION_LAYER.as_ptr());
        }
        let debug_utils = has_extension(&entry, None, ext::debug_utils::NAME)?;
        if debug_utils {
            extensions.push(ext::debug_utils::NAME.as_ptr());
        }
        let validation_features =
            desc.validation && has_extension(&entry, Some(VALIDATION_LAYER), ext::validation_features::NAME)?;
        if validation_features {
            extensions.push(ext::validation_features::NAME.as_ptr());
        }

        let application = vk::ApplicationInfo::default()
            .application_name(c"nrview")
            .engine_name(c"nrview")
            .api_version(vk::API_VERSION_1_3);
        use vk::ValidationFeatureEnableEXT as Check;
        let enabled = [Check::SYNCHRONIZATION_VALIDATION, Check::BEST_PRACTICES];
        let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
        let mut messages = debug::messenger_info();
        let mut info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions);
        if desc.validation && debug_utils {
            info = info.push_next(&mut messages);
        }
        if validation_features {
            info = info.push_next(&mut features);
        }
        // SAFETY: all names and chained structures outlive the call; layers and extensions were
        // found above.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|code| match code {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => {
                Error::NoDevice { detail: " (no Vulkan driver is installed)".into() }
            }
            code => Error::vulkan("vkCreateInstance", code),
        })?;
        let raw = fault::functions(&entry, raw);
        drop(creating); // `instance` takes it again when it is dropped by a failure below
        let mut instance = Self {
            messenger: None,
            validation: desc.validation,
            debug_utils,
            surfaces: desc.surface.is_some(),
            _live: LiveToken::new(unique(), "Instance", "instance"),
            entry,
            raw,
        };
        if desc.validation && debug_utils {
            let functions = ext::debug_utils::Instance::new(&instance.entry, &instance.raw);
            // SAFETY: the callback is a static function that accepts every message.
            let messenger = unsafe { functions.create_debug_utils_messenger(&debug::messenger_info(), None) }
                .map_err(|code| Error::vulkan("vkCreateDebugUtilsMessengerEXT", code))?;
            instance.messenger = Some((functions, messenger));
        }
        Ok(Arc::new(instance))
    }

    /// Every device the drivers offer, usable or not, in Vulkan's order.
    ///
    /// # Errors
    /// [`Error::Vulkan`] when the devices cannot be listed.
    pub fn adapters(&self) -> Result<Vec<AdapterInfo>> {
        let devices = self.physical_devices()?;
        Ok(devices.into_iter().enumerate().map(|(i, d)| probe::probe(self, d, i).info).collect())
    }

    pub(crate) fn physical_devices(&self) -> Result<Vec<vk::PhysicalDevice>> {
        // SAFETY: the instance is alive.
        match unsafe { self.raw.enumerate_physical_devices() } {
            Ok(devices) => Ok(devices),
            // What some loaders answer when a driver is broken: as good as no device.
            Err(vk::Result::ERROR_INITIALIZATION_FAILED) => Ok(Vec::new()),
            Err(code) => Err(Error::vulkan("vkEnumeratePhysicalDevices", code)),
        }
    }

    /// The Vulkan functions of the instance.
    #[must_use]
    pub fn raw(&self) -> &ash::Instance {
        &self.raw
    }

    /// The loader.
    #[must_use]
    pub fn entry(&self) -> &ash::Entry {
        &self.entry
    }

    /// Whether the validation layer is on.
    #[must_use]
    pub fn validates(&self) -> bool {
        self.validation
    }

    pub(crate) fn has_debug_utils(&self) -> bool {
        self.debug_utils
    }

    pub(crate) fn has_surfaces(&self) -> bool {
        self.surfaces
    }
}

fn has_extension(entry: &ash::Entry, layer: Option<&CStr>, name: &CStr) -> Result<bool> {
    // SAFETY: plain query with a null-terminated layer name or none.
    let list = unsafe { entry.enumerate_instance_extension_properties(layer) }
        .map_err(|code| Error::vulkan("vkEnumerateInstanceExtensionProperties", code))?;
    Ok(list.iter().any(|e| e.extension_name_as_c_str() == Ok(name)))
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _lifecycle = lifecycle();
        // SAFETY: devices and surfaces hold an Arc to this instance, so all are gone; messenger
        // and instance are destroyed once, in this order.
        unsafe {
            if let Some((functions, messenger)) = self.messenger.take() {
                functions.destroy_debug_utils_messenger(messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}
