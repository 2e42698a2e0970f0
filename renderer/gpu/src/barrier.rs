//! Memory barriers between commands.

use crate::command::CommandBuffer;
use crate::image::{ImageRef, whole};
use ash::vk;
use vk::{AccessFlags2 as Access, PipelineStageFlags2 as Stage};

/// What an image is about to be, or has been, used for: fixes its layout and whom to wait for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ImageUse {
    /// Contents do not matter; only as the state before.
    Undefined,
    /// Read and written as a storage image by compute shaders.
    ComputeWrite,
    /// Sampled by compute shaders.
    ComputeSample,
    /// Sampled by fragment shaders.
    FragmentSample,
    /// Source of a copy or blit.
    TransferSrc,
    /// Target of a copy, blit or clear.
    TransferDst,
    /// Drawn to.
    ColorAttachment,
    /// Handed to the window system; only as the state after, or before when kept.
    Present,
}

impl ImageUse {
    fn layout(self) -> vk::ImageLayout {
        match self {
            Self::Undefined => vk::ImageLayout::UNDEFINED,
            Self::ComputeWrite => vk::ImageLayout::GENERAL,
            Self::ComputeSample | Self::FragmentSample => vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            Self::TransferSrc => vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
            Self::TransferDst => vk::ImageLayout::TRANSFER_DST_OPTIMAL,
            Self::ColorAttachment => vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
            Self::Present => vk::ImageLayout::PRESENT_SRC_KHR,
        }
    }

    fn scope(self) -> (Stage, Access) {
        match self {
            Self::Undefined | Self::Present => (Stage::NONE, Access::NONE),
            Self::ComputeWrite => (Stage::COMPUTE_SHADER, Access::SHADER_READ | Access::SHADER_WRITE),
            Self::ComputeSample => (Stage::COMPUTE_SHADER, Access::SHADER_READ),
            Self::FragmentSample => (Stage::FRAGMENT_SHADER, Access::SHADER_READ),
            Self::TransferSrc => (Stage::ALL_TRANSFER, Access::TRANSFER_READ),
            Self::TransferDst => (Stage::ALL_TRANSFER, Access::TRANSFER_WRITE),
            Self::ColorAttachment => {
                (Stage::COLOR_ATTACHMENT_OUTPUT, Access::COLOR_ATTACHMENT_READ | Access::COLOR_ATTACHMENT_WRITE)
            }
        }
    }
}

const SHADER_RW: Access = Access::from_raw(Access::SHADER_READ.as_raw() | Access::SHADER_WRITE.as_raw());
const TRANSFER_RW: Access = Access::from_raw(Access::TRANSFER_READ.as_raw() | Access::TRANSFER_WRITE.as_raw());

impl CommandBuffer {
    fn memory_barrier(&mut self, from: (Stage, Access), to: (Stage, Access)) {
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(from.0)
            .src_access_mask(from.1)
            .dst_stage_mask(to.0)
            .dst_access_mask(to.1)];
        let info = vk::DependencyInfo::default().memory_barriers(&barriers);
        self.record(|device, raw| {
            // SAFETY: recording, and synchronization2 is enabled on every device.
            unsafe { device.ash().cmd_pipeline_barrier2(raw, &info) };
        });
    }

    /// Dispatches after this see what dispatches before wrote.
    pub fn compute_barrier(&mut self) {
        self.memory_barrier((Stage::COMPUTE_SHADER, Access::SHADER_WRITE), (Stage::COMPUTE_SHADER, SHADER_RW));
    }

    /// Dispatches (indirect ones included) see what copies, fills and updates before wrote, and
    /// may overwrite what copies read.
    pub fn transfer_to_compute_barrier(&mut self) {
        self.memory_barrier(
            (Stage::ALL_TRANSFER, Access::TRANSFER_WRITE),
            (Stage::COMPUTE_SHADER | Stage::DRAW_INDIRECT, SHADER_RW | Access::INDIRECT_COMMAND_READ),
        );
    }

    /// Copies, fills and updates after this see what dispatches before wrote, and may overwrite
    /// what dispatches read.
    pub fn compute_to_transfer_barrier(&mut self) {
        self.memory_barrier((Stage::COMPUTE_SHADER, Access::SHADER_WRITE), (Stage::ALL_TRANSFER, TRANSFER_RW));
    }

    /// Copies, fills and updates after this come after those before.
    pub fn transfer_barrier(&mut self) {
        self.memory_barrier((Stage::ALL_TRANSFER, Access::TRANSFER_WRITE), (Stage::ALL_TRANSFER, TRANSFER_RW));
    }

    /// The CPU sees what dispatches and copies before wrote, once the submission has finished.
    pub fn host_read_barrier(&mut self) {
        self.memory_barrier(
            (Stage::COMPUTE_SHADER | Stage::ALL_TRANSFER, Access::SHADER_WRITE | Access::TRANSFER_WRITE),
            (Stage::HOST, Access::HOST_READ),
        );
    }

    /// Moves an image from one use to the next. From [`ImageUse::Undefined`] the contents are
    /// lost, and the wait of the submission at the stage of `to` comes first.
    pub fn image_barrier(&mut self, image: ImageRef, from: ImageUse, to: ImageUse) {
        let (to_stage, to_access) = to.scope();
        let (mut from_stage, from_access) = from.scope();
        if matches!(from, ImageUse::Undefined | ImageUse::Present) {
            // Chains the layout change behind the acquire semaphore, which is waited for at the
            // stage the image is first used in, and behind earlier work in that stage.
            from_stage = to_stage;
        }
        let barriers = [vk::ImageMemoryBarrier2::default()
            .src_stage_mask(from_stage)
            // Reads need no availability, only writes do; naming them is harmless.
            .src_access_mask(from_access)
            .dst_stage_mask(to_stage)
            .dst_access_mask(to_access)
            .old_layout(from.layout())
            .new_layout(to.layout())
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image.raw)
            .subresource_range(whole())];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        self.record(|device, raw| {
            // SAFETY: recording; the image belongs to this device.
            unsafe { device.ash().cmd_pipeline_barrier2(raw, &info) };
        });
    }
}
