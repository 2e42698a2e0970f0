//! Destruction that waits for the GPU.
//!
//! A dropped object may still be used by work in flight. Its handles are put aside with the
//! number of the last submission, and destroyed once that has finished.

use crate::generated::{Functions, LayoutHandle};
use ash::vk;
use gpu_allocator::vulkan::{Allocation, Allocator};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Handles of a dropped object.
pub(crate) enum Retired {
    Buffer(vk::Buffer, Option<Allocation>),
    Image(vk::Image, vk::ImageView, Option<Allocation>),
    Sampler(vk::Sampler),
    Pipeline(vk::Pipeline, vk::PipelineLayout, vk::DescriptorSetLayout),
    DescriptorPool(vk::DescriptorPool),
    CommandPool(vk::CommandPool),
    QueryPool(vk::QueryPool),
    CommandsLayout(Functions, LayoutHandle),
}

impl Retired {
    fn destroy(self, device: &ash::Device, allocator: &Mutex<Allocator>) {
        let free = |allocation: Option<Allocation>| {
            let Some(allocation) = allocation else { return };
            let mut allocator = allocator.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = allocator.free(allocation) {
                tracing::error!("memory could not be freed: {error}");
            }
        };
        // SAFETY: the handles came from this device, are owned by `self` alone, and no pending
        // work uses them (the caller waited for it).
        unsafe {
            match self {
                Self::Buffer(buffer, allocation) => {
                    device.destroy_buffer(buffer, None);
                    free(allocation);
                }
                Self::Image(image, view, allocation) => {
                    device.destroy_image_view(view, None);
                    device.destroy_image(image, None);
                    free(allocation);
                }
                Self::Sampler(sampler) => device.destroy_sampler(sampler, None),
                Self::Pipeline(pipeline, layout, set_layout) => {
                    device.destroy_pipeline(pipeline, None);
                    device.destroy_pipeline_layout(layout, None);
                    device.destroy_descriptor_set_layout(set_layout, None);
                }
                Self::DescriptorPool(pool) => device.destroy_descriptor_pool(pool, None),
                Self::CommandPool(pool) => device.destroy_command_pool(pool, None),
                Self::QueryPool(pool) => device.destroy_query_pool(pool, None),
                Self::CommandsLayout(functions, layout) => functions.destroy_layout(layout),
            }
        }
    }
}

/// Objects waiting for their last submission, in order of submission.
#[derive(Default)]
pub(crate) struct Bin {
    waiting: Mutex<VecDeque<(u64, Retired)>>,
}

impl Bin {
    /// Puts an object aside until `submission` has finished.
    pub(crate) fn put(&self, submission: u64, object: Retired) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push_back((submission, object));
    }

    /// Destroys what only submissions up to `done` used.
    pub(crate) fn empty(&self, done: u64, device: &ash::Device, allocator: &Mutex<Allocator>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while waiting.front().is_some_and(|(submission, _)| *submission <= done) {
            if let Some((_, object)) = waiting.pop_front() {
                object.destroy(device, allocator);
            }
        }
    }
}
