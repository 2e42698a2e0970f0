//! Recording commands.

use crate::buffer::Buffer;
use crate::descriptor::DescriptorSet;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::generated::Stream;
use crate::live::LiveToken;
use crate::pipeline::ComputePipeline;
use crate::retire::Retired;
use crate::timestamps::Timestamps;
use ash::vk;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A command pool, for renderers that allocate command buffers of their own.
pub struct CommandPool {
    raw: vk::CommandPool,
    device: Arc<Device>,
    _live: LiveToken,
}

impl CommandPool {
    /// Creates a pool whose buffers can be reset one by one.
    ///
    /// # Errors
    /// A Vulkan error of the driver.
    pub fn new(device: &Arc<Device>, name: &str) -> Result<Self> {
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(device.queue_family());
        // SAFETY: the family belongs to the device.
        let raw = unsafe { device.ash().create_command_pool(&info, None) }
            .map_err(|code| device.creation_failed("vkCreateCommandPool", name, 0, code))?;
        device.names.set(raw, name);
        Ok(Self { raw, _live: device.live("CommandPool", name), device: Arc::clone(device) })
    }

    /// The Vulkan handle.
    #[must_use]
    pub fn raw(&self) -> vk::CommandPool {
        self.raw
    }
}

impl Drop for CommandPool {
    fn drop(&mut self) {
        self.device.retire(Retired::CommandPool(self.raw));
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Initial,
    Recording,
    Executable,
}

/// A primary command buffer with a pool of its own, so that buffers can be recorded on several
/// threads.
///
/// Recording functions return nothing: the first mistake (a range outside a buffer, too many
/// workgroups) is kept and returned by [`CommandBuffer::end`], and nothing is recorded after it.
/// A recorded buffer can be submitted again and again, one submission at a time. It does not keep alive what it refers to:
/// whoever submits it again holds the pipelines, sets and buffers, at their places, until it is gone.
///
/// A secondary buffer is not submitted but executed inside primary ones, again and again as well.
pub struct CommandBuffer {
    raw: vk::CommandBuffer,
    pool: CommandPool,
    name: String,
    level: vk::CommandBufferLevel,
    state: State,
    /// Dispatches recorded, those of executed buffers included.
    dispatches: u64,
    error: Option<Error>,
    labels: Vec<String>,
    first_label: String,
    last_label: String,
    pending: Arc<AtomicU64>,
    /// The same of the buffers that this one executes.
    executed: Vec<Arc<AtomicU64>>,
    /// Where dispatches are written for the device to read, if it does.
    stream: Option<Stream>,
}

impl CommandBuffer {
    /// Creates a primary command buffer.
    ///
    /// # Errors
    /// A Vulkan error of the driver.
    pub fn new(device: &Arc<Device>, name: &str) -> Result<Self> {
        Self::of_level(device, name, vk::CommandBufferLevel::PRIMARY)
    }

    /// Creates a secondary command buffer, for [`CommandBuffer::execute`].
    ///
    /// # Errors
    /// A Vulkan error of the driver.
    pub fn secondary(device: &Arc<Device>, name: &str) -> Result<Self> {
        Self::of_level(device, name, vk::CommandBufferLevel::SECONDARY)
    }

    /// Creates a primary command buffer whose dispatches the device reads from a buffer when it runs: push constants and grid
    /// are there, not in the commands (`VK_EXT_device_generated_commands`).
    ///
    /// # Errors
    /// [`Error::Unsupported`] on a device without the extension, or a Vulkan error of the driver.
    pub fn generated(device: &Arc<Device>, name: &str) -> Result<Self> {
        let stream = Stream::new(device, name)?;
        let mut made = Self::new(device, name)?;
        made.stream = Some(stream);
        Ok(made)
    }

    /// Dispatches since [`CommandBuffer::begin`] that the device generates; those of executed buffers are not among them.
    #[must_use]
    pub fn generated_dispatches(&self) -> u64 {
        self.stream.as_ref().map_or(0, Stream::count)
    }

    fn of_level(device: &Arc<Device>, name: &str, level: vk::CommandBufferLevel) -> Result<Self> {
        let pool = CommandPool::new(device, name)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool.raw).level(level).command_buffer_count(1);
        // SAFETY: the pool is new and used by this buffer alone.
        let buffers = unsafe { device.ash().allocate_command_buffers(&info) }
            .map_err(|code| device.creation_failed("vkAllocateCommandBuffers", name, 0, code))?;
        device.names.set(buffers[0], name);
        Ok(Self {
            raw: buffers[0],
            pool,
            name: name.to_owned(),
            level,
            state: State::Initial,
            dispatches: 0,
            error: None,
            labels: Vec::new(),
            first_label: String::new(),
            last_label: String::new(),
            pending: Arc::default(),
            executed: Vec::new(),
            stream: None,
        })
    }

    /// The Vulkan handle. While recording, other renderers may record through it.
    #[must_use]
    pub fn raw(&self) -> vk::CommandBuffer {
        self.raw
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Arc<Device> {
        &self.pool.device
    }

    /// The debug name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts recording anew.
    ///
    /// # Errors
    /// [`Error::Usage`] while a submission of it runs, or a Vulkan error of the driver.
    pub fn begin(&mut self) -> Result<()> {
        self.check_idle()?;
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let info = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        // SAFETY: not pending (checked); the pool allows the implicit reset.
        unsafe { self.device().ash().begin_command_buffer(self.raw, &info) }
            .map_err(|code| self.device().creation_failed("vkBeginCommandBuffer", &self.name, 0, code))?;
        self.state = State::Recording;
        self.error = None;
        self.dispatches = 0;
        self.executed.clear();
        self.labels.clear();
        self.first_label.clear();
        self.last_label.clear();
        if let Some(stream) = &mut self.stream {
            stream.clear();
            stream.begin(self.raw);
        }
        Ok(())
    }

    /// Ends recording; open labels are closed.
    ///
    /// # Errors
    /// The first mistake made while recording, or a Vulkan error of the driver.
    pub fn end(&mut self) -> Result<()> {
        if self.state != State::Recording {
            return Err(Error::usage(&self.name, "end without begin"));
        }
        while !self.labels.is_empty() {
            self.label_end();
        }
        self.state = State::Initial;
        // SAFETY: recording.
        let result = unsafe { self.device().ash().end_command_buffer(self.raw) };
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        result.map_err(|code| self.device().creation_failed("vkEndCommandBuffer", &self.name, 0, code))?;
        self.state = State::Executable;
        Ok(())
    }

    fn check_idle(&self) -> Result<()> {
        let pending = self.pending.load(Ordering::Acquire);
        if pending > 0 && self.device().completed()? < pending {
            return Err(Error::usage(&self.name, "the command buffer is still running; wait for its ticket"));
        }
        Ok(())
    }

    pub(crate) fn check_submittable(&self) -> Result<()> {
        if self.level == vk::CommandBufferLevel::SECONDARY {
            return Err(Error::usage(&self.name, "a secondary command buffer is executed, not submitted"));
        }
        if self.state != State::Executable {
            return Err(Error::usage(&self.name, "the command buffer is not recorded"));
        }
        self.check_idle()
    }

    pub(crate) fn submitted(&self, value: u64) {
        for pending in std::iter::once(&self.pending).chain(&self.executed) {
            pending.store(value, Ordering::Release);
        }
    }

    /// Dispatches recorded since [`CommandBuffer::begin`], those of executed buffers included; indirect ones count as one.
    #[must_use]
    pub fn dispatches(&self) -> u64 {
        self.dispatches
    }

    /// Executes a recorded secondary command buffer, which must not be recorded anew or dropped while this one is to be
    /// submitted.
    pub fn execute(&mut self, secondary: &CommandBuffer) {
        let fits = if secondary.level != vk::CommandBufferLevel::SECONDARY || secondary.state != State::Executable {
            Err(Error::usage(&secondary.name, "only a recorded secondary command buffer is executed"))
        } else {
            secondary.check_idle()
        };
        if !self.ok(fits) {
            return;
        }
        self.dispatches += secondary.dispatches;
        self.executed.push(Arc::clone(&secondary.pending));
        self.record(|device, raw| {
            // SAFETY: recording a primary outside a rendering; the secondary is recorded, idle and of this device.
            unsafe { device.ash().cmd_execute_commands(raw, &[secondary.raw]) };
        });
    }

    /// Name, first and last label, for the message about a lost device.
    pub(crate) fn describe(&self) -> String {
        let Self { name, first_label, last_label, .. } = self;
        match (first_label.is_empty(), first_label == last_label) {
            (true, _) => name.clone(),
            (false, true) => format!("{name}: {first_label}"),
            (false, false) => format!("{name}: {first_label} to {last_label}"),
        }
    }

    /// Keeps the first mistake.
    pub(crate) fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Runs `f` when recording and no mistake has been made.
    pub(crate) fn record(&mut self, f: impl FnOnce(&Device, vk::CommandBuffer)) {
        if self.state != State::Recording {
            self.fail(Error::usage(&self.name, "a command outside begin and end"));
        }
        if self.error.is_none() {
            f(&self.pool.device, self.raw);
        }
    }

    /// Keeps the mistake of a check; true when there was none.
    pub(crate) fn ok(&mut self, result: Result<()>) -> bool {
        result.map_err(|error| self.fail(error)).is_ok()
    }

    /// Opens a labelled region.
    pub fn label_begin(&mut self, label: &str) {
        if self.labels.is_empty() && self.last_label.is_empty() {
            label.clone_into(&mut self.first_label);
        }
        label.clone_into(&mut self.last_label);
        self.labels.push(label.to_owned());
        self.record(|device, raw| device.names.begin(raw, label));
    }

    /// Closes the innermost labelled region.
    pub fn label_end(&mut self) {
        if self.labels.pop().is_none() {
            self.fail(Error::usage(&self.name, "label_end without label_begin"));
        }
        self.record(|device, raw| device.names.end(raw));
    }

    /// Runs a compute shader over `groups` workgroups in x, y, z.
    ///
    /// `push` must have the size of the shader's push constant block. A zero in `groups` records
    /// nothing.
    pub fn dispatch(&mut self, pipeline: &ComputePipeline, set: &DescriptorSet, push: &[u8], groups: [u32; 3]) {
        let generated = self.stream.is_some();
        let fits = self.groups_fit(pipeline, [0; 3], groups);
        if !fits || groups.contains(&0) || !self.bind(pipeline, set, push, !generated) {
            return;
        }
        self.dispatches += 1;
        if let (Some(stream), None) = (&mut self.stream, &self.error) {
            let written = stream.dispatch(self.raw, pipeline, push, groups);
            self.ok(written);
            return;
        }
        self.record(|device, raw| {
            // SAFETY: recording; pipeline, set and push constants are bound, counts in limits.
            unsafe { device.ash().cmd_dispatch(raw, groups[0], groups[1], groups[2]) };
        });
    }

    /// The same over `groups` workgroups of which the first is `first`, as a part of a larger dispatch. The pipeline has to be
    /// a [`ComputePipeline::based`] one.
    pub fn dispatch_from(
        &mut self,
        pipeline: &ComputePipeline,
        set: &DescriptorSet,
        push: &[u8],
        first: [u32; 3],
        groups: [u32; 3],
    ) {
        if !pipeline.is_based() || self.stream.is_some() {
            return self.fail(Error::usage(pipeline.name(), "it was not made for dispatches that begin anywhere"));
        }
        let fits = self.groups_fit(pipeline, first, groups);
        if !fits || groups.contains(&0) || !self.bind(pipeline, set, push, true) {
            return;
        }
        self.dispatches += 1;
        self.record(|device, raw| {
            let ([x, y, z], [columns, rows, layers]) = (first, groups);
            // SAFETY: as for `dispatch`; the pipeline has the flag for a base, and base and counts together are in limits.
            unsafe { device.ash().cmd_dispatch_base(raw, x, y, z, columns, rows, layers) };
        });
    }

    /// Whether workgroups are in the device's limits; a mistake is kept.
    fn groups_fit(&mut self, pipeline: &ComputePipeline, first: [u32; 3], groups: [u32; 3]) -> bool {
        let limits = self.device().caps().limits.max_workgroup_count;
        first.iter().zip(groups).zip(limits).all(|((first, count), limit)| {
            let end = u64::from(*first) + u64::from(count);
            self.ok(Error::check_limit(pipeline.name(), end, limit.into(), "maxComputeWorkGroupCount"))
        })
    }

    /// Runs a compute shader over workgroups counted by three words in `buffer` at `offset`,
    /// created with `INDIRECT_BUFFER` usage.
    pub fn dispatch_indirect(
        &mut self,
        pipeline: &ComputePipeline,
        set: &DescriptorSet,
        push: &[u8],
        buffer: &Buffer,
        offset: u64,
    ) {
        let aligned = if offset.is_multiple_of(4) {
            buffer.check_range("indirect workgroup count", offset, 12)
        } else {
            Err(Error::usage(buffer.name(), "indirect workgroup counts start at multiples of 4"))
        };
        if !self.ok(aligned) || !self.bind(pipeline, set, push, true) {
            return;
        }
        self.dispatches += 1;
        self.record(|device, raw| {
            // SAFETY: as for `dispatch`; the counts lie inside the buffer.
            unsafe { device.ash().cmd_dispatch_indirect(raw, buffer.raw(), offset) };
        });
    }

    /// Binds pipeline and set, and pushes the constants unless they come from elsewhere.
    fn bind(&mut self, pipeline: &ComputePipeline, set: &DescriptorSet, push: &[u8], pushed: bool) -> bool {
        let wanted = pipeline.shader().info.push_constant_size as usize;
        if push.len() != wanted {
            let reason = format!("push constants are {wanted} bytes and {} were given", push.len());
            self.fail(Error::usage(pipeline.name(), reason));
            return false;
        }
        if !set.fits(pipeline) {
            self.fail(Error::usage(pipeline.name(), "the descriptor set was made for other bindings"));
            return false;
        }
        self.record(|device, raw| {
            let point = vk::PipelineBindPoint::COMPUTE;
            let stages = vk::ShaderStageFlags::COMPUTE;
            // SAFETY: recording; the objects are alive and of this device, and fit each other.
            unsafe {
                device.ash().cmd_bind_pipeline(raw, point, pipeline.raw());
                device.ash().cmd_bind_descriptor_sets(raw, point, pipeline.layout(), 0, &[set.raw()], &[]);
                if pushed && !push.is_empty() {
                    device.ash().cmd_push_constants(raw, pipeline.layout(), stages, 0, push);
                }
            }
        });
        true
    }

    /// Copies bytes between buffers (or within one, without overlap).
    pub fn copy_buffer(&mut self, src: &Buffer, src_offset: u64, dst: &Buffer, dst_offset: u64, size: u64) {
        let inside = src.check_range("copy", src_offset, size).and_then(|()| dst.check_range("copy", dst_offset, size));
        if size == 0 || !self.ok(inside) {
            return;
        }
        let regions = [vk::BufferCopy { src_offset, dst_offset, size }];
        self.record(|device, raw| {
            // SAFETY: recording; the ranges lie inside both buffers.
            unsafe { device.ash().cmd_copy_buffer(raw, src.raw(), dst.raw(), &regions) };
        });
    }

    /// Fills bytes with a repeated word; `offset` and `size` are multiples of 4.
    pub fn fill_buffer(&mut self, buffer: &Buffer, offset: u64, size: u64, word: u32) {
        let check = buffer.check_range("fill", offset, size).and_then(|()| words(buffer, offset, size));
        if size == 0 || !self.ok(check) {
            return;
        }
        self.record(|device, raw| {
            // SAFETY: recording; the range lies inside the buffer and is aligned.
            unsafe { device.ash().cmd_fill_buffer(raw, buffer.raw(), offset, size, word) };
        });
    }

    /// Writes up to 65536 bytes that travel in the command buffer; offset and length are
    /// multiples of 4.
    pub fn update_buffer(&mut self, buffer: &Buffer, offset: u64, bytes: &[u8]) {
        let size = bytes.len() as u64;
        let check = buffer
            .check_range("update", offset, size)
            .and_then(|()| words(buffer, offset, size))
            .and_then(|()| Error::check_limit(buffer.name(), size, 65_536, "vkCmdUpdateBuffer size"));
        if bytes.is_empty() || !self.ok(check) {
            return;
        }
        self.record(|device, raw| {
            // SAFETY: recording; the range lies inside the buffer and is aligned.
            unsafe { device.ash().cmd_update_buffer(raw, buffer.raw(), offset, bytes) };
        });
    }

    /// Makes every query of `timestamps` unwritten; before the first write of a recording.
    pub fn reset_timestamps(&mut self, timestamps: &Timestamps) {
        timestamps.forget();
        self.record(|device, raw| {
            // SAFETY: recording outside a rendering; the pool is alive.
            unsafe { device.ash().cmd_reset_query_pool(raw, timestamps.raw(), 0, timestamps.count()) };
        });
    }

    /// Writes the time at which everything recorded before has finished.
    pub fn write_timestamp(&mut self, timestamps: &Timestamps, index: u32) {
        let limit = u64::from(timestamps.count()) - 1;
        if !self.ok(Error::check_limit(timestamps.name(), index.into(), limit, "last timestamp")) {
            return;
        }
        if !timestamps.supported() {
            return;
        }
        timestamps.remember(index);
        self.record(|device, raw| {
            let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
            // SAFETY: recording; the index is inside the pool.
            unsafe { device.ash().cmd_write_timestamp2(raw, stage, timestamps.raw(), index) };
        });
    }
}

fn words(buffer: &Buffer, offset: u64, size: u64) -> Result<()> {
    if offset.is_multiple_of(4) && size.is_multiple_of(4) {
        return Ok(());
    }
    Err(Error::usage(buffer.name(), format!("{size} bytes at {offset} are not whole words of 4 bytes")))
}
