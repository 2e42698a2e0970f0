//! The picture of the window's size: what makes it of the sides, their difference, or a buffer of the frame.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use gpu::{
    Bind, Buffer, CommandBuffer, ComputePipeline, DescriptorArena, DescriptorSet, Device, Image, ImageDesc, ImageUsage,
    ImageUse, vk,
};
use network::geometry::Extent;

use super::debug_view::{ARROW_CELL, DebugView};
use super::flip::{Flip, Mean};
use super::graphics::Shown;
use super::layout::{Layout, Line, Panel, Source};

/// The pipelines that make the picture; device lifetime.
pub struct Presenters {
    /// One for each kind of what panels show (`KIND` of the shader). Their bindings are the same.
    present: [ComputePipeline; 3],
    /// One for each view, made when it is first shown. Their bindings are the same.
    debug: [Option<ComputePipeline>; DebugView::ALL.len()],
    /// For pictures of any sizes, and for those of the size at which they are compared; made when first shown.
    flip: [Option<Arc<ComputePipeline>>; 2],
}

impl Presenters {
    /// Prepares the pipelines.
    ///
    /// # Errors
    /// An error of the device.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let present = |kind| pipeline(device, "view/present", kind);
        Ok(Self {
            present: [present(0)?, present(1)?, present(2)?],
            debug: Default::default(),
            flip: Default::default(),
        })
    }

    /// The pipeline of a view.
    fn view(&mut self, device: &Arc<Device>, view: DebugView) -> Result<&ComputePipeline> {
        let place = &mut self.debug[view as usize];
        match place.take() {
            Some(made) => Ok(place.insert(made)),
            None => Ok(place.insert(pipeline(device, "view/debug", view as u32)?)),
        }
    }

    /// The pipeline of the perceived difference.
    fn flip(&mut self, device: &Arc<Device>, shown: &Shown<'_>) -> Result<Arc<ComputePipeline>> {
        let same = shown.sides.iter().all(|side| side.extent == shown.extent);
        let place = &mut self.flip[usize::from(same)];
        match place {
            Some(made) => Ok(Arc::clone(made)),
            None => Ok(Arc::clone(place.insert(Flip::pipeline(device, same)?))),
        }
    }

    /// The simplest pipeline that can show what is shown.
    fn present(&self, shown: &Shown<'_>, layout: &Layout) -> &ComputePipeline {
        let other_sizes = shown.sides.iter().any(|side| side.extent != shown.extent);
        let is_side = |panel: &Panel| matches!(panel.source, Source::Left | Source::Right);
        let kind = if other_sizes { 2 } else { usize::from(!layout.panels.iter().all(is_side)) };
        &self.present[kind]
    }
}

/// A pipeline whose first constant says whether magnified pixels have smooth borders, and whose second one is `kind`.
fn pipeline(device: &Arc<Device>, name: &'static str, kind: u32) -> Result<ComputePipeline> {
    let shader = shaders::shader(name).with_context(|| format!("shader {name} is missing from this build"))?;
    let smooth = u32::from(!device.caps().is_cpu);
    Ok(ComputePipeline::new(device, shader, &[(0, smooth), (1, kind)], name)?)
}

/// The picture of the window's size, and the sets that bind it with what is shown.
pub struct Target {
    image: Image,
    fresh: bool,
    present: Option<Bound<4>>,
    debug: Option<Bound<6>>,
    /// The perceived difference, of the sides of a generation, as long as it is shown.
    flip: Option<(u64, Flip)>,
    /// The version of the sides that it was computed of.
    perceived: Option<u64>,
    /// What the picture holds.
    holds: Option<(u64, u64, Layout)>,
}

/// A set, the generation that it was made for, and the buffers in it: within a generation, buffers of a kept frame come
/// when the first one has been kept.
struct Bound<const N: usize> {
    of: (u64, [vk::Buffer; N]),
    set: DescriptorSet,
}

/// Mirrors the push constants of `shaders/glsl/view/present.comp`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Push {
    window: [u32; 2],
    space: [u32; 2],
    sizes: [[u32; 2]; 2],
    clip: [[i32; 4]; 2],
    origin: [[f32; 2]; 2],
    scale: f32,
    divider: f32,
    which: [u32; 2],
    horizontal: u32,
    gain: f32,
}

/// Mirrors the push constants of `shaders/glsl/view/debug.comp`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct DebugPush {
    window: [u32; 2],
    valid: [u32; 2],
    field: [u32; 2],
    shift: [u32; 2],
    clip: [i32; 4],
    origin: [f32; 2],
    grid_end: [u32; 2],
    scale: f32,
    lane: u32,
    cell: u32,
    amount: f32,
    blend_scale: f32,
    arrow_cell: f32,
    missing: u32,
}

impl Target {
    /// A picture of a size.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Arc<Device>, extent: [u32; 2]) -> Result<Self> {
        let usage = ImageUsage::STORAGE | ImageUsage::TRANSFER_SRC;
        let desc = ImageDesc { name: "window picture", extent, format: vk::Format::R8G8B8A8_UNORM, usage };
        Ok(Self {
            image: Image::new(device, &desc)?,
            fresh: true,
            present: None,
            debug: None,
            flip: None,
            perceived: None,
            holds: None,
        })
    }

    /// The picture.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Makes the sets for what is shown, where they are not there, and room for a mean in `mean` where there will be one.
    ///
    /// # Errors
    /// No memory, or an error of the device.
    pub fn bind(
        &mut self,
        device: &Arc<Device>,
        presenters: &mut Presenters,
        shown: &Shown<'_>,
        layout: &Layout,
        mean: &mut Option<Mean>,
    ) -> Result<()> {
        let flips = layout.shows(Source::Flip);
        let has = self.flip.as_ref().map(|(generation, _)| *generation);
        if flips && has != Some(shown.generation) {
            let pictures = [0, 1].map(|place: usize| shown.sides[place].picture);
            let pipeline = presenters.flip(device, shown)?;
            self.flip = Some((shown.generation, Flip::new(device, &pipeline, pictures, shown.extent)?));
            (self.present, self.perceived) = (None, None);
        } else if !flips && has.is_some() {
            (self.flip, self.present, self.perceived) = (None, None, None);
        }
        if let Some((_, flip)) = &self.flip {
            flip.prepare_mean(device, mean)?;
        }
        if layout.shows(Source::View) {
            let pipeline = presenters.view(device, layout.view.kind)?;
            let sources = &shown.sources;
            // What a frame does not have is not read; its place still wants a buffer.
            let buffers = [
                sources.color,
                sources.depth,
                sources.motion,
                sources.proxy.unwrap_or(sources.color),
                sources.features.unwrap_or(sources.color),
                sources.head.unwrap_or(sources.color),
            ];
            let of = (shown.generation, buffers.map(Buffer::raw));
            if self.debug.as_ref().is_none_or(|bound| bound.of != of) {
                let [color, depth, motion, proxy, features, head] = buffers;
                let binds = [
                    Bind::buffer(0, color),
                    Bind::buffer(1, depth),
                    Bind::buffer(2, motion),
                    Bind::buffer(3, proxy),
                    Bind::buffer(4, features),
                    Bind::buffer(5, head),
                    Bind::storage_image(6, &self.image),
                ];
                let set = DescriptorArena::new(device, "debug view", 1)?.allocate(pipeline, &binds)?;
                self.debug = Some(Bound { of, set });
            }
            return Ok(());
        }
        let map = self.flip.as_ref().map_or(shown.original, |(_, flip)| flip.map());
        let buffers = [shown.sides[0].picture, shown.sides[1].picture, shown.original, map];
        let of = (shown.generation, buffers.map(Buffer::raw));
        if self.present.as_ref().is_none_or(|bound| bound.of != of) {
            let [left, right, original, map] = buffers;
            let binds = [
                Bind::buffer(0, left),
                Bind::buffer(1, right),
                Bind::storage_image(2, &self.image),
                Bind::buffer(3, original),
                Bind::buffer(4, map),
            ];
            let set = DescriptorArena::new(device, "present", 1)?.allocate(&presenters.present[0], &binds)?;
            self.present = Some(Bound { of, set });
        }
        Ok(())
    }

    /// Records the picture, if it is not there already, and leaves it ready to be copied from. A mean that is computed goes
    /// into `mean`, which [`Target::bind`] has made room in.
    pub fn record(
        &mut self,
        cmd: &mut CommandBuffer,
        presenters: &Presenters,
        shown: &Shown<'_>,
        layout: &Layout,
        mean: Option<&mut Mean>,
    ) {
        // On a slow device, most frames change nothing but the overlay.
        let now = (shown.generation, shown.version, layout.clone());
        if self.holds.as_ref() == Some(&now) {
            return;
        }
        self.holds = Some(now);
        if let Some((_, flip)) = &self.flip
            && self.perceived != Some(shown.version)
        {
            self.perceived = Some(shown.version);
            flip.record(cmd, [0, 1].map(|place: usize| shown.sides[place].extent));
            if let Some(mean) = mean {
                flip.record_mean(cmd, mean);
            }
        }
        let before = if self.fresh { ImageUse::Undefined } else { ImageUse::TransferSrc };
        self.fresh = false;
        let picture = self.image.reference();
        cmd.image_barrier(picture, before, ImageUse::ComputeWrite);
        let [width, height] = picture.extent;
        let mut dispatch = |pipeline: &ComputePipeline, set: &DescriptorSet, push: &[u8]| {
            let [x, y, _] = pipeline.workgroup_size();
            cmd.dispatch(pipeline, set, push, [width.div_ceil(x), height.div_ceil(y), 1]);
        };
        if layout.shows(Source::View) {
            if let (Some(Bound { set, .. }), Some(pipeline)) =
                (&self.debug, &presenters.debug[layout.view.kind as usize])
            {
                dispatch(pipeline, set, bytemuck::bytes_of(&debug_push(picture.extent, shown, layout)));
            }
        } else if let Some(Bound { set, .. }) = &self.present {
            dispatch(presenters.present(shown, layout), set, bytemuck::bytes_of(&push(picture.extent, shown, layout)));
        }
        cmd.image_barrier(picture, ImageUse::ComputeWrite, ImageUse::TransferSrc);
    }
}

const fn pair(extent: Extent) -> [u32; 2] {
    [extent.width, extent.height]
}

fn push(window: [u32; 2], shown: &Shown<'_>, layout: &Layout) -> Push {
    let panel = |index: usize| layout.panels.get(index);
    let clip = |index| panel(index).map_or([0; 4], |p: &Panel| p.clip);
    let origin = |index| panel(index).map_or([0.0; 2], |p: &Panel| p.origin);
    let which = |index| panel(index).map_or(0, |p: &Panel| p.source as u32);
    Push {
        window,
        space: pair(shown.extent),
        sizes: [0, 1].map(|place: usize| pair(shown.sides[place].extent)),
        clip: [clip(0), clip(1)],
        origin: [origin(0), origin(1)],
        scale: layout.scale,
        divider: layout.divider.unwrap_or(-1.0),
        which: [which(0), which(1)],
        horizontal: u32::from(layout.line == Line::Horizontal),
        gain: layout.gain,
    }
}

fn debug_push(window: [u32; 2], shown: &Shown<'_>, layout: &Layout) -> DebugPush {
    let (view, sources) = (&layout.view, &shown.sources);
    let geometry = &sources.geometry;
    let grid = view.grid(geometry);
    let panel = layout.panels.first();
    DebugPush {
        window,
        valid: pair(geometry.valid),
        field: pair(geometry.field),
        shift: grid.shift,
        clip: panel.map_or([0; 4], |panel| panel.clip),
        origin: panel.map_or([0.0; 2], |panel| panel.origin),
        grid_end: grid.end,
        scale: layout.scale,
        lane: view.lane,
        cell: grid.cell,
        amount: match view.kind {
            DebugView::Hdr => view.exposure.exp2(),
            DebugView::Depth => view.far,
            DebugView::Motion => view.motion,
            _ => view.gain,
        },
        // The history has no weight where there was none.
        blend_scale: sources.with.filter(|with| with.history_valid).map_or(0.0, |with| with.blend_scale),
        arrow_cell: if view.arrows { ARROW_CELL } else { 0.0 },
        missing: u32::from(!sources.has(view.kind)),
    }
}
