//! Recording commands.

use crate::buffer::Buffer;
use crate::descriptor::DescriptorSet;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::image::{Filter, ImageRef, layer};
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

/// Pixels of an image: first corner and size.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rect {
    /// Left and top.
    pub offset: [u32; 2],
    /// Width and height.
    pub extent: [u32; 2],
}

impl Rect {
    /// All of an image.
    #[must_use]
    pub fn of(image: ImageRef) -> Self {
        Self { offset: [0, 0], extent: image.extent }
    }

    fn inside(&self, image: ImageRef) -> bool {
        (0..2).all(|i| {
            let end = self.offset[i].checked_add(self.extent[i]);
            self.extent[i] > 0 && end.is_some_and(|end| end <= image.extent[i])
        })
    }

    fn corners(&self) -> [vk::Offset3D; 2] {
        let signed = |v: u32| i32::try_from(v).unwrap_or(i32::MAX);
        let corner = |x: u32, y: u32, z: i32| vk::Offset3D { x: signed(x), y: signed(y), z };
        let ([x, y], [w, h]) = (self.offset, self.extent);
        [corner(x, y, 0), corner(x + w, y + h, 1)]
    }
}

/// What drawing starts from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadOp {
    /// What is there.
    Load,
    /// This color.
    Clear([f32; 4]),
}

/// A primary command buffer with a pool of its own, so that buffers can be recorded on several
/// threads.
///
/// Recording functions return nothing: the first mistake (a range outside a buffer, too many
/// workgroups) is kept and returned by [`CommandBuffer::end`], and nothing is recorded after it.
/// A recorded buffer can be submitted again and again, one submission at a time.
pub struct CommandBuffer {
    raw: vk::CommandBuffer,
    pool: CommandPool,
    name: String,
    state: State,
    error: Option<Error>,
    labels: Vec<String>,
    last_label: String,
    pending: AtomicU64,
}

impl CommandBuffer {
    /// Creates a command buffer.
    ///
    /// # Errors
    /// A Vulkan error of the driver.
    pub fn new(device: &Arc<Device>, name: &str) -> Result<Self> {
        let pool = CommandPool::new(device, name)?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool.raw)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool is new and used by this buffer alone.
        let buffers = unsafe { device.ash().allocate_command_buffers(&info) }
            .map_err(|code| device.creation_failed("vkAllocateCommandBuffers", name, 0, code))?;
        device.names.set(buffers[0], name);
        Ok(Self {
            raw: buffers[0],
            pool,
            name: name.to_owned(),
            state: State::Initial,
            error: None,
            labels: Vec::new(),
            last_label: String::new(),
            pending: AtomicU64::new(0),
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
        let info = vk::CommandBufferBeginInfo::default();
        // SAFETY: not pending (checked); the pool allows the implicit reset.
        unsafe { self.device().ash().begin_command_buffer(self.raw, &info) }
            .map_err(|code| self.device().creation_failed("vkBeginCommandBuffer", &self.name, 0, code))?;
        self.state = State::Recording;
        self.error = None;
        self.labels.clear();
        self.last_label.clear();
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
        if self.state != State::Executable {
            return Err(Error::usage(&self.name, "the command buffer is not recorded"));
        }
        self.check_idle()
    }

    pub(crate) fn submitted(&self, value: u64) {
        self.pending.store(value, Ordering::Release);
    }

    /// Name and last label, for the message about a lost device.
    pub(crate) fn describe(&self) -> String {
        if self.last_label.is_empty() { self.name.clone() } else { format!("{} up to {}", self.name, self.last_label) }
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
    fn ok(&mut self, result: Result<()>) -> bool {
        result.map_err(|error| self.fail(error)).is_ok()
    }

    /// Opens a labelled region.
    pub fn label_begin(&mut self, label: &str) {
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
        let limit = self.device().caps().limits.max_workgroup_count;
        for (count, limit) in groups.iter().zip(limit) {
            let name = pipeline.name();
            let check = Error::check_limit(name, u64::from(*count), limit.into(), "maxComputeWorkGroupCount");
            if !self.ok(check) {
                return;
            }
        }
        if groups.contains(&0) || !self.bind(pipeline, set, push) {
            return;
        }
        self.record(|device, raw| {
            // SAFETY: recording; pipeline, set and push constants are bound, counts in limits.
            unsafe { device.ash().cmd_dispatch(raw, groups[0], groups[1], groups[2]) };
        });
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
        if !self.ok(aligned) || !self.bind(pipeline, set, push) {
            return;
        }
        self.record(|device, raw| {
            // SAFETY: as for `dispatch`; the counts lie inside the buffer.
            unsafe { device.ash().cmd_dispatch_indirect(raw, buffer.raw(), offset) };
        });
    }

    fn bind(&mut self, pipeline: &ComputePipeline, set: &DescriptorSet, push: &[u8]) -> bool {
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
                if !push.is_empty() {
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

    /// Copies tightly packed pixels from a buffer to all of an image in
    /// [`crate::ImageUse::TransferDst`].
    pub fn copy_buffer_to_image(&mut self, src: &Buffer, offset: u64, dst: ImageRef) {
        if !self.check_pixels(src, offset, dst) {
            return;
        }
        let regions = [pixels(offset, dst)];
        self.record(|device, raw| {
            // SAFETY: recording; the pixels lie inside the buffer.
            unsafe {
                device.ash().cmd_copy_buffer_to_image(
                    raw,
                    src.raw(),
                    dst.raw,
                    vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                    &regions,
                );
            }
        });
    }

    /// Copies all of an image in [`crate::ImageUse::TransferSrc`] to tightly packed pixels in a
    /// buffer.
    pub fn copy_image_to_buffer(&mut self, src: ImageRef, dst: &Buffer, offset: u64) {
        if !self.check_pixels(dst, offset, src) {
            return;
        }
        let regions = [pixels(offset, src)];
        self.record(|device, raw| {
            // SAFETY: recording; the pixels lie inside the buffer.
            unsafe {
                device.ash().cmd_copy_image_to_buffer(
                    raw,
                    src.raw,
                    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                    dst.raw(),
                    &regions,
                );
            }
        });
    }

    /// Checks that the pixels of `image` fit into a buffer at `offset`.
    fn check_pixels(&mut self, buffer: &Buffer, offset: u64, image: ImageRef) -> bool {
        let check = texel_size(image.format)
            .ok_or_else(|| {
                Error::usage(buffer.name(), format!("copies of {:?} pixels are not supported", image.format))
            })
            .and_then(|texel| {
                if !offset.is_multiple_of(texel.max(4)) {
                    return Err(Error::usage(buffer.name(), format!("pixels at {offset} are not aligned")));
                }
                let size = u64::from(image.extent[0]) * u64::from(image.extent[1]) * texel;
                buffer.check_range("pixels", offset, size)
            });
        self.ok(check)
    }

    /// Copies a rectangle of an image in [`crate::ImageUse::TransferSrc`] to one of another in
    /// [`crate::ImageUse::TransferDst`], scaling and converting formats. Needs a graphics queue.
    pub fn blit(&mut self, src: ImageRef, from: Rect, dst: ImageRef, to: Rect, filter: Filter) {
        if !from.inside(src) || !to.inside(dst) {
            let reason = format!("blit of {from:?} to {to:?} leaves {:?} or {:?}", src.extent, dst.extent);
            self.fail(Error::usage(&self.name, reason));
            return;
        }
        if !self.device().caps().graphics {
            let error = self.device().unsupported(&self.name, "blits (a graphics queue)");
            self.fail(error);
            return;
        }
        let regions = [vk::ImageBlit {
            src_subresource: layer(),
            src_offsets: from.corners(),
            dst_subresource: layer(),
            dst_offsets: to.corners(),
        }];
        self.record(|device, raw| {
            // SAFETY: recording; the rectangles lie inside the images, which are in these layouts
            // by contract.
            unsafe {
                device.ash().cmd_blit_image(
                    raw,
                    src.raw,
                    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                    dst.raw,
                    vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                    &regions,
                    filter.raw(),
                );
            }
        });
    }

    /// Fills an image in [`crate::ImageUse::TransferDst`] with one color.
    pub fn clear_image(&mut self, image: ImageRef, color: [f32; 4]) {
        let color = vk::ClearColorValue { float32: color };
        self.record(|device, raw| {
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            let ranges = [crate::image::whole()];
            // SAFETY: recording; the image is in this layout by contract.
            unsafe { device.ash().cmd_clear_color_image(raw, image.raw, layout, &color, &ranges) };
        });
    }

    /// Starts drawing to all of an image in [`crate::ImageUse::ColorAttachment`]. Needs a
    /// graphics queue. Another renderer may now draw through [`CommandBuffer::raw`].
    pub fn begin_rendering(&mut self, image: ImageRef, load: LoadOp) {
        let (load_op, color) = match load {
            LoadOp::Load => (vk::AttachmentLoadOp::LOAD, [0.0; 4]),
            LoadOp::Clear(color) => (vk::AttachmentLoadOp::CLEAR, color),
        };
        let attachments = [vk::RenderingAttachmentInfo::default()
            .image_view(image.view)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(load_op)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(vk::ClearValue { color: vk::ClearColorValue { float32: color } })];
        let [width, height] = image.extent;
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D { extent: vk::Extent2D { width, height }, ..Default::default() })
            .layer_count(1)
            .color_attachments(&attachments);
        self.record(|device, raw| {
            // SAFETY: recording; dynamic rendering is enabled on every device.
            unsafe { device.ash().cmd_begin_rendering(raw, &info) };
        });
    }

    /// Ends drawing.
    pub fn end_rendering(&mut self) {
        self.record(|device, raw| {
            // SAFETY: recording, after `begin_rendering` by contract.
            unsafe { device.ash().cmd_end_rendering(raw) };
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

fn pixels(offset: u64, image: ImageRef) -> vk::BufferImageCopy {
    let [width, height] = image.extent;
    vk::BufferImageCopy {
        buffer_offset: offset,
        buffer_row_length: 0,
        buffer_image_height: 0,
        image_subresource: layer(),
        image_offset: vk::Offset3D::default(),
        image_extent: vk::Extent3D { width, height, depth: 1 },
    }
}

/// Bytes of a pixel, for the formats the program copies.
fn texel_size(format: vk::Format) -> Option<u64> {
    Some(match format {
        vk::Format::R8_UNORM | vk::Format::R8_UINT => 1,
        vk::Format::R16_SFLOAT => 2,
        vk::Format::R8G8B8A8_UNORM
        | vk::Format::B8G8R8A8_UNORM
        | vk::Format::R8G8B8A8_SRGB
        | vk::Format::B8G8R8A8_SRGB
        | vk::Format::A2B10G10R10_UNORM_PACK32
        | vk::Format::A2R10G10B10_UNORM_PACK32
        | vk::Format::R16G16_SFLOAT
        | vk::Format::R32_UINT
        | vk::Format::R32_SFLOAT => 4,
        vk::Format::R16G16B16A16_SFLOAT | vk::Format::R32G32_SFLOAT => 8,
        vk::Format::R32G32B32A32_SFLOAT => 16,
        _ => return None,
    })
}
