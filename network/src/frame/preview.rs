//! The display path of a scene alone: no history, no network, nothing shared with a [`Frame`](super::Frame).

use std::sync::Arc;

use gpu::{Bind, Buffer, BufferDesc, BufferUsage, CommandBuffer, DescriptorArena, DescriptorSet, MemoryKind};

use super::block::{Block, Dynamic, PARAMETERS};
use super::passes::Pipelines;
use super::{FrameError, Parameters, Passes, SourceKind};
use crate::geometry::Geometry;

/// Pixels of a workgroup on each side.
const GROUP: u32 = 8;

/// Shows scenes of one extent as [`Frame::record_bypass`](super::Frame::record_bypass) does, without touching any history.
/// Extent lifetime.
pub struct Preview {
    geometry: Geometry,
    pipelines: Arc<Pipelines>,
    set: DescriptorSet,
    display: Buffer,
    parameters: Buffer,
    /// The pass writes a history; nobody reads this one.
    _history: Buffer,
}

impl Preview {
    /// Buffers for scenes of `geometry` whose linear colour, four halves a pixel, is in `color`. It must outlive every
    /// submission.
    ///
    /// # Errors
    /// An error of the device.
    pub fn new(passes: &Arc<Passes>, geometry: &Geometry, color: &Buffer) -> Result<Self, FrameError> {
        let device = passes.device();
        let pixels = geometry.valid.pixels() as u64;
        let buffer = |name: &str, size: u64| {
            let usage = BufferUsage::STORAGE_BUFFER;
            Buffer::new(device, &BufferDesc { name, size, usage, memory: MemoryKind::Device })
        };
        let display = buffer("preview display", pixels * 4)?;
        let history = buffer("preview history", pixels * 8)?;
        let parameters = Dynamic::buffer(device, "preview parameters")?;
        let pipelines = passes.pipelines(SourceKind::Scene)?;
        // Both display images of the pass are the same one here: it writes the same words to both.
        let binds = [
            Bind::buffer(0, color),
            Bind::buffer(1, &history),
            Bind::buffer(2, &display),
            Bind::buffer(3, &display),
            Bind::buffer(PARAMETERS, &parameters),
        ];
        let set = DescriptorArena::new(device, "preview", 1)?.allocate(&pipelines.bypass, &binds)?;
        Ok(Self { geometry: *geometry, pipelines, set, display, parameters, _history: history })
    }

    /// Records the scene's colour to the display image. Starts with a barrier for what dispatches before have written, and
    /// ends with one that makes the image visible to dispatches.
    pub fn record(&self, cmd: &mut CommandBuffer, parameters: &Parameters) {
        let valid = self.geometry.valid;
        let block = Block::new(&self.geometry, valid, 0, valid.height);
        let groups = [valid.width.div_ceil(GROUP), valid.height.div_ceil(GROUP), 1];
        cmd.label_begin("preview");
        Dynamic::new(parameters, false).write(cmd, &self.parameters);
        cmd.compute_barrier();
        cmd.dispatch(&self.pipelines.bypass, &self.set, bytemuck::bytes_of(&block), groups);
        cmd.compute_barrier();
        cmd.label_end();
    }

    /// RGBA8 words: the display path of the scene without the network.
    pub const fn display(&self) -> &Buffer {
        &self.display
    }
}
