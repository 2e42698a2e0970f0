//! The swapchain of a window.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::image::{ImageRef, create_view};
use crate::live::LiveToken;
use crate::submit::{Signal, Ticket, Wait};
use crate::surface::{Surface, clamp_extent};
use ash::{khr, vk};
use std::sync::Arc;
use std::time::Duration;

/// A swapchain to create.
#[derive(Clone, Copy, Debug)]
pub struct SwapchainDesc {
    /// Physical pixels of the window.
    pub extent: [u32; 2],
    /// Wait for the display's refresh. (Some window systems do not pace even so.)
    pub vsync: bool,
}

/// Images of a window, presented in turn.
pub struct Swapchain {
    raw: vk::SwapchainKHR,
    functions: khr::swapchain::Device,
    images: Vec<ImageRef>,
    /// Signalled by acquire. The image is not known beforehand, so these rotate; one is used
    /// again only when the submission that waited for it has finished.
    acquired: Vec<(vk::Semaphore, Ticket)>,
    next: usize,
    /// Signalled by the submission, waited for by present, one for each image: when an image is
    /// acquired again, its last present has consumed the semaphore.
    presented: Vec<vk::Semaphore>,
    extent: [u32; 2],
    format: vk::Format,
    mode: vk::PresentModeKHR,
    device: Arc<Device>,
    _surface: Arc<Surface>,
    _live: LiveToken,
}

/// The outcome of [`Swapchain::acquire`].
#[derive(Debug)]
pub enum Acquire {
    /// An image to draw to.
    Ready(Frame),
    /// The swapchain no longer fits the window: create it anew.
    OutOfDate,
    /// No image became free in time.
    Timeout,
}

/// An acquired image. Submit with `frame.wait` and `frame.signal`, leave the image in
/// [`crate::ImageUse::Present`], then give the frame to [`Swapchain::present`].
#[derive(Debug)]
pub struct Frame {
    /// The image, in [`crate::ImageUse::Undefined`].
    pub image: ImageRef,
    /// For the submission that draws.
    pub wait: Wait,
    /// For the submission that draws last.
    pub signal: Signal,
    index: u32,
    slot: usize,
    suboptimal: bool,
}

/// The outcome of [`Swapchain::present`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Present {
    /// Done.
    Done,
    /// Done or not, the swapchain no longer fits the window: create it anew.
    OutOfDate,
}

impl Swapchain {
    /// Creates a swapchain. Pass the former one in `old` when there is one: the window keeps
    /// showing its last image, and it is destroyed when no longer in use.
    ///
    /// # Errors
    /// [`Error::Surface`] when the surface cannot be presented to by this device, has no 8-bit
    /// UNORM format (an empty list included), or has no area (see [`Surface::extent`]).
    pub fn new(device: &Arc<Device>, surface: &Arc<Surface>, desc: &SwapchainDesc, old: Option<Self>) -> Result<Self> {
        if !surface.supports(device)? {
            let reason = format!("{} cannot present to this window", device.caps().name);
            return Err(Error::Surface { reason });
        }
        let capabilities = surface.capabilities(device)?;
        let Some(extent) = clamp_extent(&capabilities, desc.extent) else {
            return Err(Error::Surface { reason: "the window has no area".into() });
        };
        let chosen = choose_format(&surface.formats(device)?)?;
        let mode = choose_mode(&surface.present_modes(device)?, desc.vsync);
        let needed = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST;
        if !capabilities.supported_usage_flags.contains(needed) {
            let reason = "its images cannot be copied and drawn to".into();
            return Err(Error::Surface { reason });
        }
        let read_back = capabilities.supported_usage_flags & vk::ImageUsageFlags::TRANSFER_SRC;
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface.raw())
            .min_image_count(image_count(&capabilities))
            .image_format(chosen.format)
            .image_color_space(chosen.color_space)
            .image_extent(vk::Extent2D { width: extent[0], height: extent[1] })
            .image_array_layers(1)
            .image_usage(needed | read_back)
            .image_sharing_mode(vk::SharingMode::EXCLUSIVE)
            .pre_transform(capabilities.current_transform)
            .composite_alpha(choose_alpha(capabilities.supported_composite_alpha))
            .present_mode(mode)
            .clipped(true)
            .old_swapchain(old.as_ref().map_or(vk::SwapchainKHR::null(), |o| o.raw));
        let functions = khr::swapchain::Device::new(device.instance().raw(), device.ash());
        // SAFETY: every field was taken from what the surface offers; surface and old swapchain
        // are alive.
        let raw = unsafe { functions.create_swapchain(&info, None) }
            .map_err(|code| Error::Surface { reason: format!("the swapchain was refused: {code}") })?;
        let mut swapchain = Self {
            raw,
            functions,
            images: Vec::new(),
            acquired: Vec::new(),
            next: 0,
            presented: Vec::new(),
            extent,
            format: chosen.format,
            mode,
            _live: device.live("Swapchain", "window"),
            device: Arc::clone(device),
            _surface: Arc::clone(surface),
        };
        // From here on a failure drops `swapchain`, which destroys what exists. The old one is
        // retired by now; dropping it waits for its presents.
        drop(old);
        swapchain.fill()?;
        Ok(swapchain)
    }

    fn fill(&mut self) -> Result<()> {
        let device = Arc::clone(&self.device);
        // SAFETY: the swapchain is alive.
        let images = unsafe { self.functions.get_swapchain_images(self.raw) }
            .map_err(|code| Error::vulkan("vkGetSwapchainImagesKHR", code))?;
        for (i, &raw) in images.iter().enumerate() {
            let name = format!("window image {i}");
            let view = create_view(&device, raw, self.format, &name)?;
            self.images.push(ImageRef { raw, view, extent: self.extent, format: self.format });
            device.names.set(raw, &name);
            device.names.set(view, &name);
            let semaphore = binary_semaphore(&device, &format!("window image {i} drawn"))?;
            self.presented.push(semaphore);
        }
        for i in 0..=images.len() {
            let semaphore = binary_semaphore(&device, &format!("window acquire {i}"))?;
            self.acquired.push((semaphore, Ticket::default()));
        }
        Ok(())
    }

    /// The next image.
    ///
    /// # Errors
    /// [`Error::Surface`] when the surface is lost, [`Error::DeviceLost`].
    pub fn acquire(&mut self, timeout: Duration) -> Result<Acquire> {
        let slot = self.next;
        let (semaphore, ticket) = self.acquired[slot];
        match self.device.wait(ticket, timeout) {
            Err(Error::Timeout { .. }) => return Ok(Acquire::Timeout),
            other => other?,
        }
        let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the semaphore is unsignalled: the submission that waited for it has finished.
        let result = unsafe { self.functions.acquire_next_image(self.raw, nanoseconds, semaphore, vk::Fence::null()) };
        match result {
            Ok((index, suboptimal)) => {
                self.next = (slot + 1) % self.acquired.len();
                let stages = vk::PipelineStageFlags2::ALL_TRANSFER | vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT;
                Ok(Acquire::Ready(Frame {
                    image: self.images[index as usize],
                    wait: Wait { semaphore, stages },
                    signal: Signal { semaphore: self.presented[index as usize] },
                    index,
                    slot,
                    suboptimal,
                }))
            }
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => Ok(Acquire::OutOfDate),
            Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => Ok(Acquire::Timeout),
            Err(code) => Err(self.failed("vkAcquireNextImageKHR", code)),
        }
    }

    /// Shows an image. `ticket` is of the submission that waited for `frame.wait`.
    ///
    /// # Errors
    /// [`Error::Surface`] when the surface is lost, [`Error::DeviceLost`].
    pub fn present(&mut self, frame: Frame, ticket: Ticket) -> Result<Present> {
        self.acquired[frame.slot].1 = ticket;
        let waits = [frame.signal.semaphore];
        let swapchains = [self.raw];
        let indices = [frame.index];
        let info =
            vk::PresentInfoKHR::default().wait_semaphores(&waits).swapchains(&swapchains).image_indices(&indices);
        // SAFETY: the queue is locked; the image is acquired and its semaphore will be signalled
        // by the submission of `ticket`.
        let result = self.device.with_queue(|queue| unsafe { self.functions.queue_present(queue, &info) });
        match result {
            Ok(suboptimal) if suboptimal || frame.suboptimal => Ok(Present::OutOfDate),
            Ok(_) => Ok(Present::Done),
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => Ok(Present::OutOfDate),
            Err(code) => Err(self.failed("vkQueuePresentKHR", code)),
        }
    }

    fn failed(&self, call: &str, code: vk::Result) -> Error {
        match code {
            vk::Result::ERROR_SURFACE_LOST_KHR => Error::Surface { reason: "it was lost".into() },
            code => self.device.creation_failed(call, "window", 0, code),
        }
    }

    /// Width and height in physical pixels.
    #[must_use]
    pub fn extent(&self) -> [u32; 2] {
        self.extent
    }

    /// Format of the images, UNORM.
    #[must_use]
    pub fn format(&self) -> vk::Format {
        self.format
    }

    /// How images are presented.
    #[must_use]
    pub fn present_mode(&self) -> vk::PresentModeKHR {
        self.mode
    }

    /// Number of images.
    #[must_use]
    pub fn image_count(&self) -> usize {
        self.images.len()
    }
}

fn binary_semaphore(device: &Device, name: &str) -> Result<vk::Semaphore> {
    // SAFETY: plain creation.
    let raw = unsafe { device.ash().create_semaphore(&vk::SemaphoreCreateInfo::default(), None) }
        .map_err(|code| device.creation_failed("vkCreateSemaphore", name, 0, code))?;
    device.names.set(raw, name);
    Ok(raw)
}

/// The first 8-bit UNORM format: the display path encodes sRGB itself, so an sRGB format would
/// encode twice.
fn choose_format(list: &[vk::SurfaceFormatKHR]) -> Result<vk::SurfaceFormatKHR> {
    if list.is_empty() {
        let reason = "it offers no pixel format (is the display less than 24 bits deep?)".into();
        return Err(Error::Surface { reason });
    }
    let unorm = [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM];
    let found = list.iter().find(|f| unorm.contains(&f.format) && f.color_space == vk::ColorSpaceKHR::SRGB_NONLINEAR);
    found.copied().ok_or_else(|| {
        let names: Vec<_> = list.iter().map(|f| format!("{:?}", f.format)).collect();
        Error::Surface { reason: format!("it offers no 8-bit UNORM format, only {}", names.join(", ")) }
    })
}

fn choose_mode(list: &[vk::PresentModeKHR], vsync: bool) -> vk::PresentModeKHR {
    use vk::PresentModeKHR as Mode;
    let wanted: &[Mode] = if vsync { &[Mode::FIFO] } else { &[Mode::IMMEDIATE, Mode::MAILBOX] };
    // FIFO is there by specification.
    wanted.iter().copied().find(|m| list.contains(m)).unwrap_or(Mode::FIFO)
}

fn choose_alpha(supported: vk::CompositeAlphaFlagsKHR) -> vk::CompositeAlphaFlagsKHR {
    use vk::CompositeAlphaFlagsKHR as Alpha;
    let order = [Alpha::OPAQUE, Alpha::INHERIT, Alpha::PRE_MULTIPLIED, Alpha::POST_MULTIPLIED];
    order.into_iter().find(|a| supported.contains(*a)).unwrap_or(Alpha::OPAQUE)
}

/// One more than the least, so that drawing need not wait for the display.
fn image_count(c: &vk::SurfaceCapabilitiesKHR) -> u32 {
    let most = if c.max_image_count == 0 { u32::MAX } else { c.max_image_count };
    (c.min_image_count + 1).min(most)
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        // Presents have no fence to wait for; an idle queue has consumed their semaphores.
        // A lost device has been reported already.
        if let Err(error) = self.device.wait_idle()
            && !error.is_device_lost()
        {
            tracing::warn!("destroying the swapchain: {error}");
        }
        let ash = self.device.ash();
        // SAFETY: the queue is idle (or lost), and everything here belongs to this swapchain.
        unsafe {
            for image in &self.images {
                ash.destroy_image_view(image.view, None);
            }
            let acquired = self.acquired.iter().map(|(semaphore, _)| *semaphore);
            for semaphore in acquired.chain(self.presented.iter().copied()) {
                ash.destroy_semaphore(semaphore, None);
            }
            self.functions.destroy_swapchain(self.raw, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(format: vk::Format) -> vk::SurfaceFormatKHR {
        vk::SurfaceFormatKHR { format, color_space: vk::ColorSpaceKHR::SRGB_NONLINEAR }
    }

    #[test]
    fn the_first_unorm_format_is_taken_wherever_it_stands() {
        let list = [format(vk::Format::B8G8R8A8_SRGB), format(vk::Format::B8G8R8A8_UNORM)];
        assert_eq!(choose_format(&list).unwrap().format, vk::Format::B8G8R8A8_UNORM);
        let error = choose_format(&list[..1]).unwrap_err().to_string();
        assert!(error.contains("B8G8R8A8_SRGB"), "{error}");
        assert!(choose_format(&[]).unwrap_err().to_string().contains("24 bits"));
    }

    #[test]
    fn present_modes_fall_back_to_fifo() {
        use vk::PresentModeKHR as Mode;
        let all = [Mode::MAILBOX, Mode::FIFO, Mode::IMMEDIATE];
        assert_eq!(choose_mode(&all, true), Mode::FIFO);
        assert_eq!(choose_mode(&all, false), Mode::IMMEDIATE);
        assert_eq!(choose_mode(&all[..2], false), Mode::MAILBOX);
        assert_eq!(choose_mode(&[Mode::FIFO], false), Mode::FIFO);
    }

    #[test]
    fn image_counts_stay_in_the_limits() {
        let c =
            |min, max| vk::SurfaceCapabilitiesKHR { min_image_count: min, max_image_count: max, ..Default::default() };
        assert_eq!(image_count(&c(3, 0)), 4);
        assert_eq!(image_count(&c(2, 2)), 2);
    }
}
