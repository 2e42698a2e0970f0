//! Shaders that are told sizes larger than their buffers.

use gpu::testing::TestDevice;
use gpu::*;
use std::sync::Arc;

const WORDS: u32 = 1024;

fn buffer(device: &Arc<Device>, name: &str) -> Result<Buffer> {
    let (size, usage) = (u64::from(WORDS) * 4, BufferUsage::STORAGE_BUFFER);
    Buffer::new(device, &BufferDesc { name, size, usage, memory: MemoryKind::Device })
}

fn fill(device: &Arc<Device>, data: &Buffer, count: u32) -> Result<()> {
    let shader = shaders::shader("test/fill").expect("a shader of the manifest");
    let pipeline = ComputePipeline::new(device, shader, &[], "fill")?;
    let mut arena = DescriptorArena::new(device, "sets", 1)?;
    let set = arena.allocate(&pipeline, &[Bind::buffer(0, data)])?;
    let groups = [count.div_ceil(64), 1, 1];
    device.run_once("hostile fill", |cmd| cmd.dispatch(&pipeline, &set, bytemuck::bytes_of(&[count, 7]), groups))
}

#[test]
fn a_write_past_a_buffer_touches_nothing_beside_it() -> Result<()> {
    let device = TestDevice::open()?;
    // Of one block of memory, one behind the other.
    let row = [0, 1, 2].map(|number| buffer(&device, &format!("buffer {number}")));
    let [before, middle, after] = row;
    let (before, middle, after) = (before?, middle?, after?);
    let whole = vec![0x5a; WORDS as usize * 4];
    for data in [&before, &middle, &after] {
        device.upload(data, 0, &whole)?;
    }
    for count in [WORDS, 3 * WORDS, 64 * WORDS] {
        fill(&device, &middle, count)?;
    }
    assert!(device.download(&middle, 0, middle.size())? != whole, "it was filled");
    for data in [&before, &after] {
        assert_eq!(device.download(data, 0, data.size())?, whole, "{}", data.name());
    }
    Ok(())
}
