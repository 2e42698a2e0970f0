//! Copies of what a finished frame went through the network with: the next frame overwrites all of it.

use std::sync::Arc;

use anyhow::Result;
use gpu::{Buffer, BufferDesc, BufferUsage, CommandBuffer, Device, MemoryKind};
use network::exec::BufferSlice;
use network::frame::{Frame, Parameters};
use network::geometry::Geometry;
use renderer::GBuffer;

/// Bytes of a field pixel of features, and of head.
const FEATURES: u64 = 32;
const HEAD: u64 = 8;

/// The buffers of one frame, taken while it runs and shown until the next one is finished. Extent lifetime.
pub struct Snapshot {
    color: Buffer,
    depth: Buffer,
    motion: Buffer,
    proxy: Buffer,
    published: Buffer,
    head: Buffer,
    features: Buffer,
    /// Features of the frame in work.
    pending: Buffer,
    /// Whether `pending` was taken from the frame in work.
    begun: bool,
    /// What the frame passes were given.
    of: Option<Parameters>,
}

impl Snapshot {
    /// Room for frames of a geometry.
    ///
    /// # Errors
    /// No memory, or a shader cannot see buffers of this size whole.
    pub fn new(device: &Arc<Device>, geometry: &Geometry) -> Result<Self> {
        let (valid, field) = (geometry.valid.pixels() as u64, geometry.field.pixels() as u64);
        let limit = device.caps().limits.max_storage_buffer_range;
        if field * FEATURES > limit {
            anyhow::bail!(
                "the features of a frame of {} have {} bytes, maxStorageBufferRange is {limit}; choose a smaller size",
                geometry.valid,
                field * FEATURES
            );
        }
        let buffer = |name: &str, size: u64| {
            let usage = BufferUsage::STORAGE_BUFFER;
            Buffer::new(device, &BufferDesc { name, size, usage, memory: MemoryKind::Device })
        };
        Ok(Self {
            color: buffer("kept color", valid * 8)?,
            depth: buffer("kept depth", valid * 4)?,
            motion: buffer("kept motion", valid * 4)?,
            proxy: buffer("kept proxy", valid * 8)?,
            published: buffer("kept published", valid * 8)?,
            head: buffer("kept head", field * HEAD)?,
            features: buffer("kept features", field * FEATURES)?,
            pending: buffer("features of the frame in work", field * FEATURES)?,
            begun: false,
            of: None,
        })
    }

    /// Records taking the features, between the preprocessing and the network.
    pub fn record_begin(&mut self, cmd: &mut CommandBuffer, features: BufferSlice<'_>) {
        cmd.label_begin("keep features");
        cmd.compute_to_transfer_barrier();
        cmd.copy_buffer(features.buffer, features.offset, &self.pending, 0, self.pending.size());
        cmd.transfer_to_compute_barrier();
        cmd.label_end();
        self.begun = true;
    }

    /// Records taking the rest, after the composition. A frame that was begun before there was a snapshot is left out.
    pub fn record_end(
        &mut self,
        cmd: &mut CommandBuffer,
        scene: &GBuffer,
        frame: &Frame,
        head: BufferSlice<'_>,
        parameters: &Parameters,
    ) {
        if !std::mem::take(&mut self.begun) {
            return;
        }
        cmd.label_begin("keep buffers");
        cmd.compute_to_transfer_barrier();
        let mut copy = |from: &Buffer, to: &Buffer| cmd.copy_buffer(from, 0, to, 0, to.size());
        copy(scene.color(), &self.color);
        copy(scene.depth(), &self.depth);
        copy(scene.motion(), &self.motion);
        copy(frame.published(), &self.published);
        copy(&self.pending, &self.features);
        if let Some(proxy) = frame.proxy() {
            copy(proxy, &self.proxy);
        }
        cmd.copy_buffer(head.buffer, head.offset, &self.head, 0, self.head.size());
        cmd.transfer_to_compute_barrier();
        cmd.label_end();
        self.of = Some(*parameters);
    }

    /// What the kept frame's passes were given; `None` before the first one.
    pub fn parameters(&self) -> Option<&Parameters> {
        self.of.as_ref()
    }

    /// Linear scene colour, four halves a pixel.
    pub fn color(&self) -> &Buffer {
        &self.color
    }

    /// Depth in metres, f32.
    pub fn depth(&self) -> &Buffer {
        &self.depth
    }

    /// Motion in uv units, two halves.
    pub fn motion(&self) -> &Buffer {
        &self.motion
    }

    /// Code values that the network saw, four halves.
    pub fn proxy(&self) -> &Buffer {
        &self.proxy
    }

    /// Code values that were published, four halves.
    pub fn published(&self) -> &Buffer {
        &self.published
    }

    /// The network's result, four halves a field pixel.
    pub fn head(&self) -> &Buffer {
        &self.head
    }

    /// The network's input, sixteen halves a field pixel.
    pub fn features(&self) -> &Buffer {
        &self.features
    }
}
