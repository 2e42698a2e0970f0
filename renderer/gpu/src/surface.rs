//! The surface of a window.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::instance::Instance;
use crate::live::{LiveToken, unique};
use ash::{khr, vk};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle};
use std::any::Any;
use std::sync::Arc;

/// A surface; keeps its window and instance alive.
pub struct Surface {
    raw: vk::SurfaceKHR,
    functions: khr::surface::Instance,
    _window: Arc<dyn Any + Send + Sync>,
    _instance: Arc<Instance>,
    _live: LiveToken,
}

impl Surface {
    /// Creates the surface of a window. The instance must have been created with the display of
    /// the window.
    ///
    /// # Errors
    /// [`Error::Surface`] when the window has no handle any more or the window system is not
    /// the instance's.
    pub fn new<W>(instance: &Arc<Instance>, window: &Arc<W>) -> Result<Arc<Self>>
    where
        W: HasDisplayHandle + HasWindowHandle + Send + Sync + 'static,
    {
        if !instance.has_surfaces() {
            let reason = "the instance was created without a display".to_owned();
            return Err(Error::Surface { reason });
        }
        let gone = |e: raw_window_handle::HandleError| Error::Surface { reason: e.to_string() };
        let display_handle = window.display_handle().map_err(gone)?.as_raw();
        let window_handle = window.window_handle().map_err(gone)?.as_raw();
        // SAFETY: the handles are of one living window, which the surface keeps alive by its Arc;
        // the instance has the extensions of its display and is kept alive as well.
        let raw = unsafe {
            let (entry, instance) = (instance.entry(), instance.raw());
            ash_window::create_surface(entry, instance, display_handle, window_handle, None)
        }
        .map_err(|code| Error::Surface { reason: format!("creating it failed: {code}") })?;
        Ok(Arc::new(Self {
            raw,
            functions: khr::surface::Instance::new(instance.entry(), instance.raw()),
            _window: Arc::clone(window) as Arc<dyn Any + Send + Sync>,
            _instance: Arc::clone(instance),
            _live: LiveToken::new(unique(), "Surface", "window"),
        }))
    }

    /// The Vulkan handle.
    #[must_use]
    pub fn raw(&self) -> vk::SurfaceKHR {
        self.raw
    }

    /// Whether the queue of a device can present here.
    ///
    /// # Errors
    /// [`Error::Surface`] when it is lost.
    pub fn supports(&self, device: &Device) -> Result<bool> {
        if !device.caps().swapchain {
            return Ok(false);
        }
        // SAFETY: device and surface belong to one instance by contract of the caller's set-up.
        unsafe {
            self.functions.get_physical_device_surface_support(device.physical(), device.queue_family(), self.raw)
        }
        .map_err(lost)
    }

    /// The extent a swapchain would have, for a window of `wanted` physical pixels; `None` while
    /// the window has no area (minimised).
    ///
    /// # Errors
    /// [`Error::Surface`] when it is lost.
    pub fn extent(&self, device: &Device, wanted: [u32; 2]) -> Result<Option<[u32; 2]>> {
        Ok(clamp_extent(&self.capabilities(device)?, wanted))
    }

    pub(crate) fn capabilities(&self, device: &Device) -> Result<vk::SurfaceCapabilitiesKHR> {
        // SAFETY: as for `supports`; so for the two below.
        unsafe { self.functions.get_physical_device_surface_capabilities(device.physical(), self.raw) }.map_err(lost)
    }

    pub(crate) fn formats(&self, device: &Device) -> Result<Vec<vk::SurfaceFormatKHR>> {
        // SAFETY: see above.
        unsafe { self.functions.get_physical_device_surface_formats(device.physical(), self.raw) }.map_err(lost)
    }

    pub(crate) fn present_modes(&self, device: &Device) -> Result<Vec<vk::PresentModeKHR>> {
        // SAFETY: see above.
        unsafe { self.functions.get_physical_device_surface_present_modes(device.physical(), self.raw) }.map_err(lost)
    }
}

fn lost(code: vk::Result) -> Error {
    Error::Surface { reason: code.to_string() }
}

/// The surface's own extent, or the wanted one in its limits; `None` without area.
pub(crate) fn clamp_extent(c: &vk::SurfaceCapabilitiesKHR, wanted: [u32; 2]) -> Option<[u32; 2]> {
    let own = c.current_extent;
    let (low, high) = (c.min_image_extent, c.max_image_extent);
    let extent = if own.width == u32::MAX {
        [wanted[0].min(high.width).max(low.width), wanted[1].min(high.height).max(low.height)]
    } else {
        [own.width, own.height]
    };
    (wanted.iter().chain(&extent).all(|side| *side > 0)).then_some(extent)
}

impl Drop for Surface {
    fn drop(&mut self) {
        // SAFETY: swapchains hold an Arc to this surface, so all are gone.
        unsafe { self.functions.destroy_surface(self.raw, None) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities(own: [u32; 2]) -> vk::SurfaceCapabilitiesKHR {
        vk::SurfaceCapabilitiesKHR {
            current_extent: vk::Extent2D { width: own[0], height: own[1] },
            min_image_extent: vk::Extent2D { width: 1, height: 1 },
            max_image_extent: vk::Extent2D { width: 4096, height: 4096 },
            ..Default::default()
        }
    }

    #[test]
    fn extents_follow_the_surface_and_its_limits() {
        assert_eq!(clamp_extent(&capabilities([640, 480]), [1, 1]), Some([640, 480]));
        let free = capabilities([u32::MAX, u32::MAX]);
        assert_eq!(clamp_extent(&free, [9000, 10]), Some([4096, 10]));
        assert_eq!(clamp_extent(&free, [0, 10]), None);
        assert_eq!(clamp_extent(&capabilities([0, 0]), [10, 10]), None);
    }
}
