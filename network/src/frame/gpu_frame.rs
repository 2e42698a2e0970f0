//! The passes of one extent on the GPU: buffers, descriptor sets, recording.

use std::sync::Arc;

use gpu::{
    Bind, Buffer, BufferDesc, BufferUsage, CommandBuffer, ComputePipeline, DescriptorArena, DescriptorSet, Device,
    MemoryKind,
};

use super::block::{Block, Dynamic, PARAMETERS};
use super::passes::Pipelines;
use super::{FrameClock, FrameError, Parameters, Passes, SourceKind};
use crate::exec::BufferSlice;
use crate::geometry::Geometry;

/// Bytes of a pixel of four halves.
const HALF4: u64 = 8;
/// Bytes of a field pixel's features.
const FEATURES: u64 = 32;
/// Pixels of a workgroup on each side.
const GROUP: u32 = 8;
/// Bands start at multiples of this, which keeps their offsets multiples of 256 for any width.
const BAND_ROWS: u64 = 32;

/// What a frame reads, all of the valid extent (except a proxy image).
#[derive(Clone, Copy)]
pub struct FrameInputs<'a> {
    /// The image.
    pub color: &'a Buffer,
    /// What it holds.
    pub kind: SourceKind,
    /// Motion from the current to the previous frame, two halves a pixel in uv units; `None` is no motion anywhere.
    pub motion: Option<&'a Buffer>,
}

/// Rows that one dispatch covers, and its sets for both parities.
struct Band {
    first_row: u32,
    rows: u32,
    sets: [DescriptorSet; 2],
}

/// The passes around the network for frames of one extent: proxy, two histories, display images. Extent lifetime.
///
/// One frame is [`record_preprocess`](Self::record_preprocess), the network,
/// [`record_composite`](Self::record_composite), or else [`record_bypass`](Self::record_bypass) alone; then
/// [`finish_frame`](Self::finish_frame). Parameters travel in the command buffer, so frames in flight do not share any.
/// The buffers given at creation must outlive every submission.
///
/// What a recording holds for good and what it reads anew when it is run again are kept apart:
/// [`record_parameters`](Self::record_parameters) writes the parameters of a frame, [`preprocess`](Self::preprocess) and
/// [`composite`](Self::composite) record passes that read them.
pub struct Frame {
    geometry: Geometry,
    kind: SourceKind,
    clock: FrameClock,
    device: Arc<Device>,
    objects: Arc<FrameObjects>,
}

/// Everything that recorded commands of the passes refer to, the buffers given at creation apart. Whoever replays them
/// keeps it alive.
pub struct FrameObjects {
    preprocess: Vec<Band>,
    composite: Vec<Band>,
    bypass: [DescriptorSet; 2],
    pipelines: Arc<Pipelines>,
    buffers: Buffers,
}

/// The buffers a frame owns, pixels of the valid extent.
struct Buffers {
    proxy: Buffer,
    histories: [Buffer; 2],
    published: Buffer,
    display_input: Buffer,
    display_neural: Buffer,
    still: Buffer,
    parameters: Buffer,
}

impl Frame {
    /// Buffers and descriptor sets for frames of `geometry`, reading `inputs`, writing the network's `features` and reading
    /// its `head`.
    ///
    /// # Errors
    /// A buffer that is too small for the geometry, or an error of the device.
    pub fn new(
        passes: &Arc<Passes>,
        geometry: &Geometry,
        inputs: FrameInputs,
        features: BufferSlice,
        head: BufferSlice,
    ) -> Result<Self, FrameError> {
        let most = passes.device().caps().limits.max_storage_buffer_range;
        Self::with_range(passes, geometry, inputs, features, head, most)
    }

    /// [`Frame::new`] with bindings of features and head of at most `most` bytes.
    pub(super) fn with_range(
        passes: &Arc<Passes>,
        geometry: &Geometry,
        inputs: FrameInputs,
        features: BufferSlice,
        head: BufferSlice,
        most: u64,
    ) -> Result<Self, FrameError> {
        let device = Arc::clone(passes.device());
        let (valid, field) = (geometry.valid, geometry.field);
        let kind = inputs.kind;
        let pixels = valid.pixels() as u64;
        let field_pixels = field.pixels() as u64;
        check("the colour buffer", inputs.color.size(), kind.extent(valid).pixels() as u64 * kind.pixel_bytes())?;
        check("the features", features.range, field_pixels * FEATURES)?;
        check("the head", head.range, field_pixels * HALF4)?;
        if let Some(motion) = inputs.motion {
            check("the motion buffer", motion.size(), pixels * 4)?;
        }

        let buffers = Buffers::new(&device, geometry, inputs)?;
        let motion = inputs.motion.unwrap_or(&buffers.still);
        let pipelines = passes.pipelines(kind)?;
        let mut arena = DescriptorArena::new(&device, "frame", 8)?;
        let image = [Bind::buffer(0, inputs.color), Bind::buffer(1, motion)];
        let parameters = Bind::buffer(PARAMETERS, &buffers.parameters);
        let preprocess = bands(field.height, u64::from(field.width) * FEATURES, most, |offset, range| {
            both(|parity| {
                let binds = [
                    image[0],
                    image[1],
                    Bind::buffer(2, &buffers.histories[parity]),
                    Bind::range(3, features.buffer, features.offset + offset, range),
                    Bind::buffer(4, &buffers.proxy),
                    parameters,
                ];
                Ok(arena.allocate(&pipelines.preprocess, &binds)?)
            })
        })?;
        let composite = bands(valid.height, u64::from(field.width) * HALF4, most, |offset, range| {
            both(|parity| {
                let binds = [
                    image[0],
                    image[1],
                    Bind::buffer(2, &buffers.histories[parity]),
                    Bind::range(3, head.buffer, head.offset + offset, range),
                    Bind::buffer(4, &buffers.proxy),
                    Bind::buffer(5, &buffers.histories[1 - parity]),
                    Bind::buffer(6, &buffers.published),
                    Bind::buffer(7, &buffers.display_input),
                    Bind::buffer(8, &buffers.display_neural),
                    parameters,
                ];
                Ok(arena.allocate(&pipelines.composite, &binds)?)
            })
        })?;
        let bypass = both(|parity| {
            let binds = [
                image[0],
                Bind::buffer(1, &buffers.histories[1 - parity]),
                Bind::buffer(2, &buffers.display_input),
                Bind::buffer(3, &buffers.display_neural),
                parameters,
            ];
            Ok(arena.allocate(&pipelines.bypass, &binds)?)
        })?;
        Ok(Self {
            geometry: *geometry,
            kind,
            clock: FrameClock::default(),
            device,
            objects: Arc::new(FrameObjects { preprocess, composite, bypass, pipelines, buffers }),
        })
    }

    /// Bytes of device memory that [`Frame::new`] takes.
    pub fn bytes(geometry: &Geometry, kind: SourceKind, motion: bool) -> u64 {
        let pixels = geometry.valid.pixels() as u64;
        let proxy = if kind.is_scene() { HALF4 } else { 0 };
        pixels * (proxy + 3 * HALF4 + 2 * 4 + if motion { 0 } else { 4 })
    }

    /// The extent's geometry.
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The frame counter (the default noise seed) and the state of the history.
    pub const fn clock(&self) -> &FrameClock {
        &self.clock
    }

    /// Records the parameters of a frame to where the passes read them. The history counts where both the parameters and the
    /// clock allow it.
    pub fn record_parameters(&self, cmd: &mut CommandBuffer, parameters: &Parameters) {
        let history = self.clock.history_valid(parameters.history_valid);
        Dynamic::new(parameters, history).write(cmd, &self.objects.buffers.parameters);
    }

    /// Records parameters, and [`Frame::preprocess`] for the clock's parity.
    pub fn record_preprocess(&self, cmd: &mut CommandBuffer, parameters: &Parameters) {
        self.record_parameters(cmd, parameters);
        self.preprocess(cmd, self.clock.parity());
    }

    /// Records parameters, and [`Frame::composite`] for the clock's parity.
    pub fn record_composite(&self, cmd: &mut CommandBuffer, parameters: &Parameters) {
        self.record_parameters(cmd, parameters);
        self.composite(cmd, self.clock.parity());
    }

    /// Records colour, motion and history to features and proxy. Starts with a barrier for what dispatches before have
    /// written; the network's first step has its own.
    pub fn preprocess(&self, cmd: &mut CommandBuffer, parity: usize) {
        cmd.label_begin("preprocess");
        cmd.compute_barrier();
        let width = self.geometry.field.width;
        self.dispatch(cmd, &self.objects.pipelines.preprocess, &self.objects.preprocess, width, parity);
        cmd.label_end();
    }

    /// Records head, proxy and history to the next history, the published colour and the display images. Ends with a barrier
    /// that makes them visible to dispatches.
    pub fn composite(&self, cmd: &mut CommandBuffer, parity: usize) {
        cmd.label_begin("composite");
        cmd.compute_barrier();
        let width = self.geometry.valid.width;
        self.dispatch(cmd, &self.objects.pipelines.composite, &self.objects.composite, width, parity);
        cmd.compute_barrier();
        cmd.label_end();
    }

    /// Records a frame without the network: its proxy becomes the next history, and both display images show the scene as it
    /// is. Ends with a barrier that makes them visible to dispatches.
    pub fn record_bypass(&self, cmd: &mut CommandBuffer, parameters: &Parameters) {
        let valid = self.geometry.valid;
        let block = self.block(0, valid.height);
        let groups = [valid.width.div_ceil(GROUP), valid.height.div_ceil(GROUP), 1];
        let objects = &self.objects;
        let set = &objects.bypass[self.clock.parity()];
        cmd.label_begin("bypass");
        self.record_parameters(cmd, parameters);
        cmd.compute_barrier();
        cmd.dispatch(&objects.pipelines.bypass, set, bytemuck::bytes_of(&block), groups);
        cmd.compute_barrier();
        cmd.label_end();
    }

    fn dispatch(&self, cmd: &mut CommandBuffer, pipeline: &ComputePipeline, bands: &[Band], width: u32, parity: usize) {
        for band in bands {
            let block = self.block(band.first_row, band.rows);
            let groups = [width.div_ceil(GROUP), band.rows.div_ceil(GROUP), 1];
            cmd.dispatch(pipeline, &band.sets[parity], bytemuck::bytes_of(&block), groups);
        }
    }

    fn block(&self, first_row: u32, rows: u32) -> Block {
        Block::new(&self.geometry, self.kind.extent(self.geometry.valid), first_row, rows)
    }

    /// What recorded commands refer to, the buffers given at creation apart: whoever replays them holds it.
    pub fn objects(&self) -> Arc<FrameObjects> {
        Arc::clone(&self.objects)
    }

    /// The parameters that the passes read, as last written on the device.
    pub fn parameters(&self) -> &Buffer {
        &self.objects.buffers.parameters
    }

    /// A history by number, RGBA halves.
    pub fn history_at(&self, index: usize) -> &Buffer {
        &self.objects.buffers.histories[index]
    }

    /// The frame has been recorded: the next one reads the history that this one writes.
    pub const fn finish_frame(&mut self) {
        self.clock.finish_frame();
    }

    /// The next frame starts without history. Costs nothing: no buffer is touched.
    pub const fn reset(&mut self) {
        self.clock.reset();
    }

    /// RGBA8 words: the display path of the scene without the network (an image's own codes).
    pub fn display_input(&self) -> &Buffer {
        &self.objects.buffers.display_input
    }

    /// RGBA8 words: the display path with the network (an image's 8-bit output); as without it after a bypass.
    pub fn display_neural(&self) -> &Buffer {
        &self.objects.buffers.display_neural
    }

    /// The published colour of the last composition, RGBA halves.
    pub fn published(&self) -> &Buffer {
        &self.objects.buffers.published
    }

    /// The display proxy of the last preprocessed scene, RGBA halves; `None` where the image is its own proxy.
    pub fn proxy(&self) -> Option<&Buffer> {
        self.kind.is_scene().then_some(&self.objects.buffers.proxy)
    }

    /// The history that the current frame reads, RGBA halves; the other one is written.
    pub fn history(&self) -> &Buffer {
        &self.objects.buffers.histories[self.clock.parity()]
    }

    /// The history that the current frame writes, RGBA halves.
    pub fn next_history(&self) -> &Buffer {
        &self.objects.buffers.histories[1 - self.clock.parity()]
    }

    /// Gives the current frame a recorded history, RGBA halves of the valid extent, and waits.
    ///
    /// # Errors
    /// The wrong number of bytes, or an error of the device.
    pub fn upload_history(&mut self, halves: &[u8]) -> Result<(), FrameError> {
        check("the recorded history", halves.len() as u64, self.history().size())?;
        self.device.upload(self.history(), 0, halves)?;
        self.clock.prime();
        Ok(())
    }
}

impl Buffers {
    fn new(device: &Arc<Device>, geometry: &Geometry, inputs: FrameInputs) -> Result<Self, FrameError> {
        let pixels = geometry.valid.pixels() as u64;
        let buffer = |name: &str, size: u64| {
            let usage = BufferUsage::STORAGE_BUFFER;
            Buffer::new(device, &BufferDesc { name, size, usage, memory: MemoryKind::Device })
        };
        // A proxy image is read in place, and a still image stands in for missing motion; without need for them their
        // bindings still want a buffer.
        let proxy = if inputs.kind.is_scene() { pixels * HALF4 } else { HALF4 };
        let still = buffer("no motion", if inputs.motion.is_some() { 4 } else { pixels * 4 })?;
        device.run_once("no motion", |cmd| {
            cmd.fill_buffer(&still, 0, still.size(), 0);
            cmd.transfer_to_compute_barrier();
        })?;
        Ok(Self {
            proxy: buffer("proxy", proxy)?,
            histories: [buffer("history 0", pixels * HALF4)?, buffer("history 1", pixels * HALF4)?],
            published: buffer("published", pixels * HALF4)?,
            display_input: buffer("display input", pixels * 4)?,
            display_neural: buffer("display neural", pixels * 4)?,
            still,
            parameters: Dynamic::buffer(device, "frame parameters")?,
        })
    }
}

fn check(what: &'static str, got: u64, need: u64) -> Result<(), FrameError> {
    if got < need { Err(FrameError::TooSmall { what, got, need }) } else { Ok(()) }
}

fn both<T>(mut make: impl FnMut(usize) -> Result<T, FrameError>) -> Result<[T; 2], FrameError> {
    Ok([make(0)?, make(1)?])
}

/// Splits `rows` rows of `row_bytes` bytes so that a binding stays within `most` bytes.
fn bands(
    rows: u32,
    row_bytes: u64,
    most: u64,
    mut sets: impl FnMut(u64, u64) -> Result<[DescriptorSet; 2], FrameError>,
) -> Result<Vec<Band>, FrameError> {
    let fits = (most / row_bytes / BAND_ROWS * BAND_ROWS).max(BAND_ROWS).min(u64::from(rows));
    (0..u64::from(rows))
        .step_by(fits as usize)
        .map(|first| {
            let count = fits.min(u64::from(rows) - first);
            let sets = sets(first * row_bytes, count * row_bytes)?;
            Ok(Band { first_row: first as u32, rows: count as u32, sets })
        })
        .collect()
}
