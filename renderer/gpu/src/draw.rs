//! Commands on images: copies, blits, clears, and drawing.

use crate::buffer::Buffer;
use crate::command::CommandBuffer;
use crate::error::Error;
use crate::image::{Filter, ImageRef, layer, whole};
use ash::vk;

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

impl CommandBuffer {
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
            self.fail(Error::usage(self.name(), reason));
            return;
        }
        if !self.device().caps().graphics {
            let error = self.device().unsupported(self.name(), "blits (a graphics queue)");
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
            let ranges = [whole()];
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
