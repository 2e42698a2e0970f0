//! How fast the device multiplies 16x16x16 matrices of halves through Vulkan, by where the operands come from.
//!
//! `cargo run --release -p network --example matrix_ceiling -- [--device D] [--groups N]`
//!
//! `registers` is the ceiling of the matrix units; the other rows take rows from shared memory, weights from the caches, or both,
//! with as many tiles a warp as the name says, as the kernels of the tensor route do. Each is the best of several runs.

use std::error::Error;
use std::time::Duration;

use gpu::{
    Bind, Buffer, BufferDesc, BufferUsage, CommandBuffer, ComputePipeline, DescriptorArena, Device, DeviceSelector,
    Instance, InstanceDesc, MemoryKind, PipelineDesc, Timestamps,
};
use network::exec::tensor;

/// Variant, and tiles a warp multiplies at a time.
const FORMS: [(&str, u64); 7] =
    [("registers", 8), ("rows", 8), ("weights", 8), ("both22", 4), ("both23", 6), ("both24", 8), ("both44", 16)];
const RUNS: usize = 6;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut name, mut groups) = (String::new(), 132 * 8u32);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--device" => name = value()?,
            "--groups" => groups = value()?.parse()?,
            other => return Err(format!("{other} is no option; give --device or --groups").into()),
        }
    }
    let instance = Instance::new(&InstanceDesc::default())?;
    let device = Device::open(&instance, &DeviceSelector::parse(&name))?;
    if let Some(reason) = tensor::missing(device.caps(), tensor::Operands::Half) {
        return Err(format!("{}: {reason}", device.caps().name).into());
    }
    println!("{}, {groups} workgroups of 8 warps", device.caps().name);
    let buffer = |name, size| {
        let desc = BufferDesc { name, size, usage: BufferUsage::STORAGE_BUFFER, memory: MemoryKind::Device };
        Buffer::new(&device, &desc)
    };
    // 1024 tiles of 512 bytes: more than a first-level cache, less than a second.
    let (tiles, steps) = (1024u32, 400u32);
    let weights = buffer("weights", u64::from(tiles) * 512)?;
    device.upload(&weights, 0, &vec![0x11; tiles as usize * 512])?;
    let results = buffer("results", u64::from(groups) * 512)?;
    let mut arena = DescriptorArena::new(&device, "sets", FORMS.len() as u32)?;
    for (form, a_warp) in FORMS {
        let name = format!("network/tensor/ceiling.{form}");
        let shader = shaders::shader(&name).ok_or("no such shader")?;
        let desc = PipelineDesc { name: &name, shader, constants: &[], subgroup_size: Some(32) };
        let pipeline = ComputePipeline::with(&device, &desc)?;
        let set = arena.allocate(&pipeline, &[Bind::buffer(0, &weights), Bind::buffer(1, &results)])?;
        let stamps = Timestamps::new(&device, "run", 2)?;
        let mut cmd = CommandBuffer::new(&device, "run")?;
        cmd.begin()?;
        cmd.reset_timestamps(&stamps);
        cmd.write_timestamp(&stamps, 0);
        cmd.dispatch(&pipeline, &set, bytemuck::cast_slice(&[steps, tiles]), [groups, 1, 1]);
        cmd.write_timestamp(&stamps, 1);
        cmd.end()?;
        let mut best = f64::INFINITY;
        for _ in 0..RUNS {
            let ticket = device.submit(&[&cmd], &[], &[])?;
            device.wait(ticket, Duration::from_secs(60))?;
            if let Some(times) = stamps.read()? {
                best = best.min(times[1] - times[0]);
            }
        }
        let flop = f64::from(groups) * 8.0 * f64::from(steps) * 8.0 * a_warp as f64 * 2.0 * 4096.0;
        println!("  {form:<10} {best:8.3} ms  {:7.1} TFLOP/s", flop / best * 1e-9);
    }
    Ok(())
}
