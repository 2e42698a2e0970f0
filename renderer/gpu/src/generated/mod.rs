//! Dispatches that the device reads from a buffer: `VK_EXT_device_generated_commands`.
//!
//! A command buffer made by [`crate::CommandBuffer::generated`] holds a stream. Each dispatch recorded in it writes its push
//! constants and its grid into the stream, and an execution of that place into the command buffer: the device reads both
//! when it runs, and makes the dispatch of them. Pipelines, descriptor sets and barriers stay commands of the host, since the
//! extension's sequences can carry neither sets nor barriers.

mod abi;

use crate::buffer::{Buffer, BufferDesc, BufferUsage, MemoryKind};
use crate::device::Device;
use crate::error::Result;
use crate::pipeline::ComputePipeline;
use crate::retire::Retired;
use abi::{COMMAND_PREPROCESS, CommandsInfo, LayoutInfo, PREPROCESS_RW, PipelineInfo, PushConstantToken, Token};
use ash::vk;
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) use abi::{Features, Functions, LayoutHandle, Properties};

/// Bytes of a grid.
const GRID: u32 = 12;
/// Bytes of one buffer of the stream, and of the driver's work space; longer ones where one dispatch needs it.
const STREAM_CHUNK: u64 = 64 << 10;
const WORK_CHUNK: u64 = 1 << 20;

/// Bytes of one sequence: push constants in whole words, then the grid.
pub(crate) const fn stride(push: u32) -> u32 {
    push.next_multiple_of(4) + GRID
}

/// Places of increasing addresses in buffers that are added as they fill.
struct Chunks {
    name: &'static str,
    work: bool,
    full: Vec<Buffer>,
    open: Option<(Buffer, u64)>,
}

impl Chunks {
    const fn new(name: &'static str, work: bool) -> Self {
        Self { name, work, full: Vec::new(), open: None }
    }

    /// Room for `size` bytes at a multiple of `alignment`: the buffer, the offset in it, the address.
    fn take(&mut self, device: &Arc<Device>, size: u64, alignment: u64) -> Result<(&mut Buffer, u64, u64)> {
        let fits =
            self.open.as_ref().is_some_and(|(buffer, at)| at.next_multiple_of(alignment) + size <= buffer.size());
        if !fits {
            let least = if self.work { WORK_CHUNK } else { STREAM_CHUNK };
            let buffer = self.buffer(device, least.max(size))?;
            self.full.extend(self.open.replace((buffer, 0)).map(|(buffer, _)| buffer));
        }
        let Some((buffer, at)) = &mut self.open else { unreachable!("opened above") };
        let offset = at.next_multiple_of(alignment);
        *at = offset + size;
        let address = buffer.address();
        Ok((buffer, offset, address + offset))
    }

    fn buffer(&self, device: &Arc<Device>, size: u64) -> Result<Buffer> {
        if self.work {
            return Buffer::with_usage2(device, self.name, size, abi::PREPROCESS_BUFFER);
        }
        let usage = BufferUsage::INDIRECT_BUFFER | BufferUsage::SHADER_DEVICE_ADDRESS;
        Buffer::new(device, &BufferDesc { name: self.name, size, usage, memory: MemoryKind::Upload })
    }
}

/// The dispatches of one command buffer as the device reads them.
pub(crate) struct Stream {
    device: Arc<Device>,
    functions: Functions,
    layouts: HashMap<vk::PipelineLayout, LayoutHandle>,
    sequences: Chunks,
    work: Chunks,
    count: u64,
}

impl Stream {
    /// An empty stream.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] on a device without the extension.
    pub(crate) fn new(device: &Arc<Device>, name: &str) -> Result<Self> {
        let functions = device.generated_functions();
        let functions =
            functions.ok_or_else(|| device.unsupported(name, "VK_EXT_device_generated_commands with compute"))?;
        Ok(Self {
            device: Arc::clone(device),
            functions,
            layouts: HashMap::new(),
            sequences: Chunks::new("generated commands", false),
            work: Chunks::new("generated commands, work space", true),
            count: 0,
        })
    }

    /// Forgets every sequence; the buffers are used again. Nothing that reads them is in flight.
    pub(crate) fn clear(&mut self) {
        for chunks in [&mut self.sequences, &mut self.work] {
            chunks.full.clear();
            if let Some((_, at)) = &mut chunks.open {
                *at = 0;
            }
        }
        self.count = 0;
    }

    /// Sequences since [`Stream::clear`].
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The driver's work space is written anew at every execution of the command buffer, after the one before has read it.
    pub(crate) fn begin(&self, commands: vk::CommandBuffer) {
        let used =
            vk::PipelineStageFlags2::COMPUTE_SHADER | vk::PipelineStageFlags2::DRAW_INDIRECT | COMMAND_PREPROCESS;
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(used)
            .src_access_mask(PREPROCESS_RW)
            .dst_stage_mask(COMMAND_PREPROCESS)
            .dst_access_mask(PREPROCESS_RW)];
        let info = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: recording, and synchronization2 is enabled on every device.
        unsafe { self.device.ash().cmd_pipeline_barrier2(commands, &info) };
    }

    /// Writes a sequence and records its execution. Pipeline and set are bound, the push constants have the right size.
    pub(crate) fn dispatch(
        &mut self,
        commands: vk::CommandBuffer,
        pipeline: &ComputePipeline,
        push: &[u8],
        groups: [u32; 3],
    ) -> Result<()> {
        let layout = self.layout(pipeline)?;
        let named = PipelineInfo::new(pipeline.raw());
        let needs = self.functions.requirements(&abi::RequirementsInfo::one(&named, layout));
        let work = match needs.size {
            0 => (0, 0),
            size => {
                let (_, _, address) = self.work.take(&self.device, size, needs.alignment.max(1))?;
                (address, size)
            }
        };
        let bytes = sequence(push, groups);
        let size = bytes.len() as u64;
        let (buffer, offset, address) = self.sequences.take(&self.device, size, 16)?;
        let (name, begin) = (buffer.name().to_owned(), offset as usize);
        let place = buffer.mapped_mut().and_then(|all| all.get_mut(begin..begin + bytes.len()));
        place.ok_or_else(|| crate::Error::usage(&name, "the stream is not mapped"))?.copy_from_slice(&bytes);
        let info = CommandsInfo::one(&named, layout, (address, size), work);
        // SAFETY: recording with pipeline and set bound; the buffers live as long as the command buffer that owns this.
        unsafe { self.functions.execute(commands, &info) };
        self.count += 1;
        Ok(())
    }

    fn layout(&mut self, pipeline: &ComputePipeline) -> Result<LayoutHandle> {
        if let Some(layout) = self.layouts.get(&pipeline.layout()) {
            return Ok(*layout);
        }
        let size = pipeline.shader().info.push_constant_size.next_multiple_of(4);
        let range = vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size };
        let push = PushConstantToken { update_range: range };
        let mut tokens = Vec::new();
        if size > 0 {
            tokens.push(Token::new(abi::TOKEN_PUSH_CONSTANT, &raw const push, 0));
        }
        tokens.push(Token::new(abi::TOKEN_DISPATCH, std::ptr::null(), size));
        let info = LayoutInfo::new(stride(size), pipeline.layout(), &tokens);
        let layout = self.functions.create_layout(&info).map_err(|code| {
            self.device.creation_failed("vkCreateIndirectCommandsLayoutEXT", pipeline.name(), 0, code)
        })?;
        self.layouts.insert(pipeline.layout(), layout);
        Ok(layout)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        for layout in self.layouts.values() {
            self.device.retire(Retired::CommandsLayout(self.functions, *layout));
        }
    }
}

/// The bytes of a sequence.
fn sequence(push: &[u8], groups: [u32; 3]) -> Vec<u8> {
    let mut bytes = push.to_vec();
    bytes.resize(push.len().next_multiple_of(4), 0);
    bytes.extend(groups.iter().flat_map(|count| count.to_ne_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_push_constants_in_whole_words_and_the_grid() {
        let bytes = sequence(&[1, 2, 3, 4, 5, 6], [7, 8, 9]);
        assert_eq!(bytes.len() as u32, stride(6));
        assert_eq!(bytes[..8], [1, 2, 3, 4, 5, 6, 0, 0]);
        let words: Vec<u32> =
            bytes[8..].chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]])).collect();
        assert_eq!(words, [7, 8, 9]);
        assert_eq!(sequence(&[], [1, 1, 1]).len() as u32, GRID);
    }
}
