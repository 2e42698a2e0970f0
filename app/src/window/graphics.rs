//! Drawing to the window: the presentation pass, the overlay, the swapchain.
//!
//! The picture is made in an image of our own and copied to the swapchain, so that whoever wants a screenshot never has
//! to read the swapchain.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use egui::{ClippedPrimitive, TextureId, TexturesDelta};
use egui_ash_renderer::{DynamicRendering, Options, RenderMode, Renderer};
use gpu::{
    Acquire, Buffer, CommandBuffer, CommandPool, Device, Filter, Image, ImageDesc, ImageUsage, ImageUse, LoadOp,
    Present, Rect, Surface, Swapchain, SwapchainDesc, Ticket, Timestamps, vk,
};
use network::geometry::Extent;
use winit::window::Window;

use super::flip::Mean;
use super::layout::{Layout, Source};
use super::overlay_memory::OverlayMemory;
use super::probe::{Probe, Reading, SideSources, Sources};
use super::screenshot::{Pixels, Purpose, Snap};
use super::target::{Presenters, Target};

/// Frames that may be on their way to the display.
const SLOTS: usize = 2;
/// Timestamps of a frame: start, and the ends of the prelude, the presentation and the overlay.
const STAMPS: u32 = 4;
/// Longest wait for an earlier frame or for an image of the swapchain.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is to be shown.
pub struct Shown<'a> {
    /// The pictures of the left and the right side, RGBA8 words.
    pub sides: [SideSources<'a>; 2],
    /// The picture without the network, RGBA8 words.
    pub original: &'a Buffer,
    /// Size of the frame, at which the sides meet.
    pub extent: Extent,
    /// Another number when the buffers are other ones.
    pub generation: u64,
    /// Another number when their contents are other ones.
    pub version: u64,
    /// What belongs to them.
    pub sources: Sources<'a>,
    /// The image pixel whose values are asked for.
    pub pick: Option<[u32; 2]>,
    /// Pixels of the live picture that is drawn before it is shown, if one is.
    pub live_pixels: Option<u64>,
}

/// One laid-out frame of the overlay.
pub struct Gui {
    /// What to draw.
    pub primitives: Vec<ClippedPrimitive>,
    /// Physical pixels of a point.
    pub pixels_per_point: f32,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// It is on its way to the display.
    Presented,
    /// The window has no area, or its swapchain has to be made anew: nothing was drawn.
    Skipped,
}

/// Everything that belongs to the window on the device.
pub struct Graphics {
    // Dropped from top to bottom: the overlay's renderer before the device it does not own.
    gui: Renderer<OverlayMemory>,
    gui_memory: OverlayMemory,
    target: Option<Target>,
    swapchain: Option<Swapchain>,
    surface: Arc<Surface>,
    slots: [Slot; SLOTS],
    next: usize,
    uploads: CommandPool,
    presenters: Presenters,
    window: Arc<Window>,
    size: [u32; 2],
    vsync: bool,
    stale: bool,
    rebuilds: u32,
    /// Textures to free with the next frame.
    free: Vec<TextureId>,
    times: DrawTimes,
    /// Seconds of the device for a pixel of the last live picture.
    live_cost: Option<f64>,
    /// How long the last frame waited for the device and the display.
    waited: Duration,
    reading: Option<Reading>,
    flip_mean: Option<f64>,
    /// What the next picture is to be read back for.
    wanted: Vec<Purpose>,
    /// Pictures that have been read back.
    pixels: Vec<Pixels>,
    device: Arc<Device>,
}

/// GPU milliseconds of what a drawn frame consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DrawTimes {
    /// The live picture, when there is one.
    pub live: f64,
    /// Placing the pictures in the window.
    pub present: f64,
    /// The overlay.
    pub overlay: f64,
}

/// A frame on its way.
struct Slot {
    commands: CommandBuffer,
    stamps: Timestamps,
    ticket: Option<Ticket>,
    free: Vec<TextureId>,
    probe: Probe,
    snaps: Vec<Snap>,
    mean: Option<Mean>,
    live_pixels: Option<u64>,
}

impl Graphics {
    /// Prepares drawing to a window.
    ///
    /// # Errors
    /// The device cannot present to the window, or an error of the device.
    pub fn new(device: &Arc<Device>, window: &Arc<Window>, vsync: bool) -> Result<Self> {
        let surface = Surface::new(device.instance(), window)?;
        let size = window.inner_size().into();
        let swapchain = match surface.extent(device, size)? {
            Some(extent) => Some(Swapchain::new(device, &surface, &SwapchainDesc { extent, vsync }, None)?),
            None => None,
        };
        let format = swapchain.as_ref().map_or(vk::Format::B8G8R8A8_UNORM, Swapchain::format);
        let options = Options { in_flight_frames: SLOTS, ..Options::default() };
        let gui_memory = OverlayMemory::new(device);
        let gui = Renderer::with_allocator(gui_memory.clone(), device.ash().clone(), mode(format), options)
            .context("cannot prepare the overlay")?;
        let slot = |number: usize| -> Result<Slot> {
            let commands = CommandBuffer::new(device, &format!("window frame {number}"))?;
            let stamps = Timestamps::new(device, &format!("window frame {number}"), STAMPS)?;
            Ok(Slot {
                commands,
                stamps,
                ticket: None,
                free: Vec::new(),
                probe: Probe::new(device)?,
                snaps: Vec::new(),
                mean: None,
                live_pixels: None,
            })
        };
        Ok(Self {
            gui,
            gui_memory,
            target: None,
            swapchain,
            surface,
            slots: [slot(0)?, slot(1)?],
            next: 0,
            uploads: CommandPool::new(device, "overlay textures")?,
            presenters: Presenters::new(device)?,
            window: Arc::clone(window),
            size,
            vsync,
            stale: false,
            rebuilds: 0,
            free: Vec::new(),
            times: DrawTimes::default(),
            live_cost: None,
            waited: Duration::ZERO,
            reading: None,
            flip_mean: None,
            wanted: Vec::new(),
            pixels: Vec::new(),
            device: Arc::clone(device),
        })
    }

    /// The window has another size, in physical pixels.
    pub fn resize(&mut self, size: [u32; 2]) {
        if self.size != size {
            self.size = size;
            self.stale = true;
        }
    }

    /// Size of the window, in physical pixels.
    pub fn size(&self) -> Extent {
        Extent::new(self.size[0], self.size[1])
    }

    /// GPU times of a frame drawn a moment ago.
    pub fn times(&self) -> DrawTimes {
        self.times
    }

    /// Seconds that the device took for a pixel of the live picture, once for each that was drawn.
    pub fn take_live_cost(&mut self) -> Option<f64> {
        self.live_cost.take()
    }

    /// How long the last frame waited for the device and the display: no work of the CPU.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// Reads the next picture back.
    pub fn snap(&mut self, purpose: Purpose) {
        self.wanted.push(purpose);
    }

    /// Whether pictures are still to be read back.
    pub fn is_snapping(&self) -> bool {
        !self.wanted.is_empty() || !self.pixels.is_empty() || self.slots.iter().any(|slot| !slot.snaps.is_empty())
    }

    /// Presents with or without the display's refresh from now on.
    pub fn set_vsync(&mut self, vsync: bool) {
        if self.vsync != vsync {
            self.vsync = vsync;
            self.stale = true;
        }
    }

    /// How images are presented, and how many there are.
    pub fn presentation(&self) -> Option<(vk::PresentModeKHR, usize)> {
        self.swapchain.as_ref().map(|swapchain| (swapchain.present_mode(), swapchain.image_count()))
    }

    /// How often the swapchain was made anew.
    pub fn rebuilds(&self) -> u32 {
        self.rebuilds
    }

    /// Pictures read back since the last call.
    pub fn take_pixels(&mut self) -> Vec<Pixels> {
        std::mem::take(&mut self.pixels)
    }

    /// Values of the pixel asked for with a frame drawn a moment ago.
    pub fn reading(&self) -> Option<&Reading> {
        self.reading.as_ref()
    }

    /// Mean of FLIP over the sides of a frame drawn a moment ago, while it is shown.
    pub fn flip_mean(&self) -> Option<f64> {
        self.flip_mean
    }

    /// Takes over the overlay's new textures. To be called for every laid-out frame, drawn or not.
    ///
    /// # Errors
    /// An error of the device.
    pub fn update_textures(&mut self, mut delta: TexturesDelta) -> Result<()> {
        for (id, changes) in delta.set.drain() {
            for change in changes {
                self.gui_memory.upload(&mut self.gui, &self.uploads, id, &change)?;
            }
        }
        self.free.extend(delta.free.drain());
        Ok(())
    }

    /// Draws one frame. `prelude` records what makes the pictures, before they are shown.
    ///
    /// # Errors
    /// The surface is lost for good, or an error of the device.
    pub fn draw(
        &mut self,
        shown: &Shown<'_>,
        layout: &Layout,
        gui: &Gui,
        prelude: impl FnOnce(&mut CommandBuffer) -> Result<()>,
    ) -> Result<Drawn> {
        match self.try_draw(shown, layout, gui, prelude) {
            Err(error) if is_surface_error(&error) => {
                tracing::warn!("{error:#}; making the surface anew");
                self.renew_surface()?;
                Ok(Drawn::Skipped)
            }
            other => other,
        }
    }

    fn try_draw(
        &mut self,
        shown: &Shown<'_>,
        layout: &Layout,
        gui: &Gui,
        prelude: impl FnOnce(&mut CommandBuffer) -> Result<()>,
    ) -> Result<Drawn> {
        if !self.renew_swapchain()? {
            return Ok(Drawn::Skipped);
        }
        self.waited = Duration::ZERO;
        let slot = &mut self.slots[self.next];
        // Those that were not drawn hold nothing.
        let snaps = std::mem::take(&mut slot.snaps);
        if let Some(ticket) = slot.ticket.take() {
            let since = Instant::now();
            self.device.wait(ticket, PATIENCE)?;
            self.waited += since.elapsed();
            self.pixels.extend(snaps.into_iter().map(Snap::pixels));
            if let Some(ms) = slot.stamps.read()?
                && let [start, prelude, present, overlay] = ms[..]
            {
                self.times =
                    DrawTimes { live: prelude - start, present: present - prelude, overlay: overlay - present };
                let pixels = slot.live_pixels.take();
                self.live_cost = pixels.map(|pixels| (prelude - start) / 1000.0 / pixels as f64).or(self.live_cost);
            }
        }
        let mean = slot.mean.as_mut().and_then(Mean::take);
        self.flip_mean = mean.or(self.flip_mean).filter(|_| layout.shows(Source::Flip));
        self.reading = slot.probe.take().filter(|_| shown.pick.is_some()).or(self.reading.take());
        if shown.pick.is_none() {
            self.reading = None;
        }
        for id in slot.free.drain(..) {
            self.gui.free_texture(id).context("cannot free a texture of the overlay")?;
        }
        self.gui_memory.tidy();
        let Some(swapchain) = &mut self.swapchain else { return Ok(Drawn::Skipped) };
        let extent = swapchain.extent();
        let target = match &mut self.target {
            Some(target) if target.image().extent() == extent => target,
            target => target.insert(Target::new(&self.device, extent)?),
        };
        target.bind(&self.device, &mut self.presenters, shown, layout, &mut slot.mean)?;
        for purpose in &self.wanted {
            slot.snaps.push(Snap::new(&self.device, extent, purpose.clone())?);
        }
        let whole = slot.snaps.iter().any(|snap| snap.is_whole());
        let whole = if whole { Some(whole_image(&self.device, extent, swapchain.format())?) } else { None };
        // Nothing may fail between the acquisition and the submission: its semaphore would stay signalled.
        let since = Instant::now();
        let acquired = swapchain.acquire(PATIENCE)?;
        self.waited += since.elapsed();
        let frame = match acquired {
            Acquire::Ready(frame) => frame,
            Acquire::OutOfDate => {
                self.stale = true;
                slot.snaps.clear();
                return Ok(Drawn::Skipped);
            }
            Acquire::Timeout => {
                slot.snaps.clear();
                return Ok(Drawn::Skipped);
            }
        };
        self.wanted.clear();
        let cmd = &mut slot.commands;
        cmd.begin()?;
        cmd.reset_timestamps(&slot.stamps);
        cmd.write_timestamp(&slot.stamps, 0);
        prelude(cmd)?;
        cmd.write_timestamp(&slot.stamps, 1);
        cmd.label_begin("present");
        target.record(cmd, &self.presenters, shown, layout, slot.mean.as_mut());
        for snap in slot.snaps.iter_mut().filter(|snap| !snap.is_whole()) {
            snap.record(cmd, target.image().reference());
        }
        if let Some(pixel) = shown.pick {
            slot.probe.record(cmd, pixel, shown.extent, &shown.sides, &shown.sources);
        }
        // The overlay is drawn on an image of our own where the whole window is wanted: the swapchain is never read.
        let canvas = whole.as_ref().map_or(frame.image, Image::reference);
        cmd.image_barrier(canvas, ImageUse::Undefined, ImageUse::TransferDst);
        let picture = target.image().reference();
        cmd.blit(picture, Rect::of(picture), canvas, Rect::of(canvas), Filter::Nearest);
        cmd.label_end();
        cmd.write_timestamp(&slot.stamps, 2);
        cmd.label_begin("overlay");
        cmd.image_barrier(canvas, ImageUse::TransferDst, ImageUse::ColorAttachment);
        cmd.begin_rendering(canvas, LoadOp::Load);
        let drawn = vk::Extent2D { width: extent[0], height: extent[1] };
        self.gui
            .cmd_draw(cmd.raw(), drawn, gui.pixels_per_point, &gui.primitives)
            .context("cannot draw the overlay")?;
        cmd.end_rendering();
        if whole.is_some() {
            cmd.image_barrier(canvas, ImageUse::ColorAttachment, ImageUse::TransferSrc);
            for snap in slot.snaps.iter_mut().filter(|snap| snap.is_whole()) {
                snap.record(cmd, canvas);
            }
            cmd.image_barrier(frame.image, ImageUse::Undefined, ImageUse::TransferDst);
            cmd.blit(canvas, Rect::of(canvas), frame.image, Rect::of(frame.image), Filter::Nearest);
            cmd.image_barrier(frame.image, ImageUse::TransferDst, ImageUse::Present);
        } else {
            cmd.image_barrier(canvas, ImageUse::ColorAttachment, ImageUse::Present);
        }
        cmd.label_end();
        cmd.write_timestamp(&slot.stamps, 3);
        cmd.end()?;
        let ticket = self.device.submit(&[&slot.commands], &[frame.wait], &[frame.signal])?;
        slot.ticket = Some(ticket);
        slot.live_pixels = shown.live_pixels;
        slot.free.append(&mut self.free);
        self.next = (self.next + 1) % SLOTS;
        self.window.pre_present_notify();
        if swapchain.present(frame, ticket)? == Present::OutOfDate {
            self.stale = true;
        }
        Ok(Drawn::Presented)
    }

    /// Makes the swapchain anew where it does not fit the window any more; `false` while the window has no area.
    fn renew_swapchain(&mut self) -> Result<bool> {
        if self.swapchain.is_some() && !self.stale {
            return Ok(self.size.iter().all(|side| *side > 0));
        }
        let Some(extent) = self.surface.extent(&self.device, self.size)? else { return Ok(false) };
        let desc = SwapchainDesc { extent, vsync: self.vsync };
        let old = self.swapchain.take();
        let format = old.as_ref().map(Swapchain::format);
        let swapchain = Swapchain::new(&self.device, &self.surface, &desc, old)?;
        if format.is_none_or(|format| format != swapchain.format()) {
            self.device.wait_idle()?;
            self.gui.set_render_mode(mode(swapchain.format())).context("cannot prepare the overlay")?;
        }
        tracing::debug!("swapchain {extent:?}, {:?}", swapchain.present_mode());
        self.swapchain = Some(swapchain);
        self.stale = false;
        self.rebuilds += 1;
        Ok(true)
    }

    fn renew_surface(&mut self) -> Result<()> {
        self.device.wait_idle()?;
        self.swapchain = None;
        self.surface = Surface::new(self.device.instance(), &self.window)?;
        self.stale = true;
        Ok(())
    }
}

impl Drop for Graphics {
    fn drop(&mut self) {
        // The overlay's renderer destroys its pipeline, views and samplers at once.
        // A lost device has been reported already.
        if let Err(error) = self.device.wait_idle()
            && !error.is_device_lost()
        {
            tracing::warn!("closing the window: {error}");
        }
    }
}

/// How the overlay's renderer draws to images of a format.
pub(super) fn mode(format: vk::Format) -> RenderMode {
    RenderMode::DynamicRendering(DynamicRendering {
        color_attachment_format: format,
        depth_attachment_format: None,
        stencil_attachment_format: None,
    })
}

/// An image of the window's size that the overlay is drawn on and that can be read.
fn whole_image(device: &Arc<Device>, extent: [u32; 2], format: vk::Format) -> Result<Image> {
    let usage = ImageUsage::COLOR_ATTACHMENT | ImageUsage::TRANSFER_SRC | ImageUsage::TRANSFER_DST;
    Ok(Image::new(device, &ImageDesc { name: "window with overlay", extent, format, usage })?)
}

fn is_surface_error(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<gpu::Error>(), Some(gpu::Error::Surface { .. }))
}
