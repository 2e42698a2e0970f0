//! The thin Vulkan layer everything else stands on.
//!
//! Every Vulkan object is a plain value with a debug name and a `raw()` handle; it holds its
//! [`Device`], so the device is destroyed last, and the device holds its [`Instance`]. Dropping
//! an object that a pending submission may still use is fine: its handle is destroyed once the
//! work submitted before the drop has finished.
//!
//! Vulkan 1.3 core is required (dynamic rendering, synchronization2, timeline semaphores, 8- and
//! 16-bit storage); everything else is probed into [`Capabilities`]. One queue of a family that
//! does graphics and compute is used. All `unsafe` of the program is in this crate.
//!
//! ```no_run
//! # fn main() -> Result<(), gpu::Error> {
//! use gpu::*;
//! let instance = Instance::new(&InstanceDesc::default())?;
//! let device = Device::open(&instance, &DeviceSelector::Auto)?;
//! let shader = shaders::shader("test/fill").expect("a shader of the manifest");
//! let pipeline = ComputePipeline::new(&device, shader, &[], "fill")?;
//! let data = Buffer::new(&device, &BufferDesc {
//!     name: "data", size: 256, usage: BufferUsage::STORAGE_BUFFER, memory: MemoryKind::Device,
//! })?;
//! let mut arena = DescriptorArena::new(&device, "sets", 1)?;
//! let set = arena.allocate(&pipeline, &[Bind::buffer(0, &data)])?;
//! device.run_once("fill", |cmd| {
//!     cmd.dispatch(&pipeline, &set, bytemuck::bytes_of(&[64u32, 7]), [1, 1, 1]);
//! })?;
//! let bytes = device.download(&data, 0, 256)?;
//! # Ok(()) }
//! ```

mod adapter;
mod barrier;
mod buffer;
mod cache;
mod capabilities;
mod command;
mod debug;
mod descriptor;
mod device;
mod draw;
mod error;
mod extensions;
mod fault;
mod generated;
mod heap;
mod image;
mod instance;
mod leave;
mod live;
mod pipeline;
mod probe;
mod retire;
mod select;
mod submit;
mod surface;
mod swapchain;
pub mod testing;
mod timestamps;
mod transfer;

pub use adapter::{AdapterInfo, DeviceKind, FeatureReport};
pub use barrier::ImageUse;
pub use buffer::{Buffer, BufferDesc, BufferUsage, MemoryKind};
pub use cache::{CacheKey, CacheMode, Refusal, decode as decode_cache, encode as encode_cache, replace_file};
pub use capabilities::{
    Capabilities, ComponentType, CooperativeMatrixShape, HeapBudget, Limits, MatrixScope, MemoryHeap, MemoryUse,
    SubgroupInfo,
};
pub use command::{CommandBuffer, CommandPool};
pub use debug::validation_messages;
pub use descriptor::{Bind, BindResource, DescriptorArena, DescriptorSet};
pub use device::{Device, DeviceDesc};
pub use draw::{LoadOp, Rect};
pub use error::{Error, Result};
pub use heap::trim_heap;
pub use image::{Filter, Image, ImageDesc, ImageRef, ImageUsage, Sampler};
pub use instance::{Instance, InstanceDesc};
pub use leave::leave_process;
pub use live::{LiveObject, assert_no_leaks, leak_report, objects_made};
pub use pipeline::{ComputePipeline, PipelineDesc};
pub use select::DeviceSelector;
pub use submit::{Signal, Ticket, Wait};
pub use surface::Surface;
pub use swapchain::{Acquire, Frame, Present, Swapchain, SwapchainDesc};
pub use timestamps::Timestamps;

/// The Vulkan bindings, for the types this crate shows (`vk::Format` and the like).
pub use ash::vk;
