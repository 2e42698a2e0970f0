//! VK_EXT_debug_utils: names, labels, and counting what the validation layers say.

use ash::{ext, vk};
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

static MESSAGES: AtomicU64 = AtomicU64::new(0);

/// Advice of the best-practices check that is not followed: its id, a word of the text, and the reason. Everything else
/// counts.
const ALLOWED: [(&str, &str, &str); 7] = [
    (
        "UNASSIGNED-BestPractices-vkCreateInstance-specialuse-extension-debugging",
        "VK_EXT_",
        "debug_utils carries these very messages, and the names of objects for debuggers; validation_features switches the checks on",
    ),
    (
        "UNASSIGNED-BestPractices-vkCreateCommandPool-command-buffer-reset",
        "vkCreateCommandPool",
        "a pool of ours holds one buffer: to reset the buffer is to reset the pool",
    ),
    (
        "UNASSIGNED-BestPractices-EmptyDescriptorPool",
        "vkAllocateDescriptorSets",
        "how many sets fit into a pool depends on their bindings; the driver is asked, and a full pool is followed by another",
    ),
    (
        "UNASSIGNED-BestPractices-pipeline-stage-flags",
        "vkCmdWriteTimestamp2",
        "a timestamp after all work is what times of passes are made of",
    ),
    (
        "UNASSIGNED-BestPractices-vkCreateDevice-RobustBufferAccess",
        "robustBufferAccess",
        "it is wanted in tests: they show what an access outside its buffer does",
    ),
    (
        "UNASSIGNED-BestPractices-Error-Result",
        "VK_ERROR_SURFACE_LOST_KHR",
        "a window can be taken away between any two calls; its surface is made anew or given up",
    ),
    (
        "UNASSIGNED-BestPractices-Error-Result",
        "VK_ERROR_OUT_OF_DATE_KHR",
        "a window can be resized between any two calls; the swapchain is made anew",
    ),
];

/// Errors and warnings the validation layers have reported in this process.
#[must_use]
pub fn validation_messages() -> u64 {
    MESSAGES.load(Ordering::Relaxed)
}

/// A C string of a name; zero bytes, which no sane name has, are left out.
pub(crate) fn c_name(name: &str) -> CString {
    CString::new(name.replace('\0', "")).unwrap_or_default()
}

/// What the messenger listens to; also used while the instance itself is created.
pub(crate) fn messenger_info() -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
    use vk::DebugUtilsMessageTypeFlagsEXT as Type;
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::ERROR | Severity::WARNING)
        .message_type(Type::VALIDATION | Type::PERFORMANCE | Type::GENERAL)
        .pfn_user_callback(Some(on_message))
}

/// Takes one message. Only the layers' own messages are counted: the loader also speaks here,
/// about drivers on the machine that are none of our business.
unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    if data.is_null() {
        return vk::FALSE;
    }
    let owned = |text: *const c_char| {
        // SAFETY: the strings of the structure are null-terminated or null, and valid during the call.
        if text.is_null() { String::new() } else { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() }
    };
    // SAFETY: Vulkan passes a structure that is valid during the call.
    let (text, id) = unsafe { (owned((*data).p_message), owned((*data).p_message_id_name)) };
    if let Some((_, _, reason)) = ALLOWED.iter().find(|(allowed, word, _)| *allowed == id && text.contains(word)) {
        tracing::trace!(target: "vulkan", "{text} (not followed: {reason})");
        return vk::FALSE;
    }
    if kind == vk::DebugUtilsMessageTypeFlagsEXT::GENERAL {
        tracing::debug!(target: "vulkan", "{text}");
        return vk::FALSE;
    }
    MESSAGES.fetch_add(1, Ordering::Relaxed);
    if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
        tracing::error!(target: "vulkan", "{text}");
    } else {
        tracing::warn!(target: "vulkan", "{text}");
    }
    // Tests have no subscriber; a failed count without its text would be a riddle.
    eprintln!("validation: {text}");
    vk::FALSE
}

/// The device half of the extension, when it is there.
pub(crate) struct DebugNames {
    functions: Option<ext::debug_utils::Device>,
}

impl DebugNames {
    pub(crate) fn new(functions: Option<ext::debug_utils::Device>) -> Self {
        Self { functions }
    }

    /// Names an object for validation messages and graphics debuggers.
    pub(crate) fn set<H: vk::Handle>(&self, handle: H, name: &str) {
        let Some(functions) = &self.functions else { return };
        let name = c_name(name);
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(&name);
        // SAFETY: the handle was just created from the device of `functions` by our caller.
        // A name that cannot be set is no reason to fail.
        let _ = unsafe { functions.set_debug_utils_object_name(&info) };
    }

    pub(crate) fn begin(&self, commands: vk::CommandBuffer, label: &str) {
        let Some(functions) = &self.functions else { return };
        let label = c_name(label);
        let info = vk::DebugUtilsLabelEXT::default().label_name(&label);
        // SAFETY: the command buffer is being recorded by our caller.
        unsafe { functions.cmd_begin_debug_utils_label(commands, &info) };
    }

    pub(crate) fn end(&self, commands: vk::CommandBuffer) {
        let Some(functions) = &self.functions else { return };
        // SAFETY: the command buffer is being recorded, with a label open (our caller counts).
        unsafe { functions.cmd_end_debug_utils_label(commands) };
    }
}
