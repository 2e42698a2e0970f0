//! Measures what bounds the multiplies of the matrix form on a device.
//!
//! `cargo run --release -p network --example exec_limit -- [DEVICE]`
//!
//! Groups of sixteen products run one after the other on operands in shared memory, for several shapes of what a subgroup
//! holds: the instructions of the formulation and nothing else. The best shape is the issue limit that a whole frame's
//! rate (`exec_profile`) is to be held against.

use std::error::Error;
use std::time::Duration;

use gpu::{
    Bind, Buffer, BufferDesc, BufferUsage, CommandBuffer, ComputePipeline, DescriptorArena, Device, DeviceSelector,
    Instance, InstanceDesc, MemoryKind, PipelineDesc, Timestamps,
};
use network::exec::Tuning;

/// Workgroups of four subgroups, and groups of sixteen k of each.
const WORKGROUPS: u32 = 8192;
const GROUPS: u32 = 256;
const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let instance = Instance::new(&InstanceDesc::default())?;
    let device = Device::open(&instance, &DeviceSelector::parse(&std::env::args().nth(1).unwrap_or_default()))?;
    let name = &device.caps().name;
    if !Tuning::matrix_fits(&device) {
        println!("{name} has no matrix units for the exact route");
        return Ok(());
    }
    let desc = BufferDesc {
        name: "sums",
        size: u64::from(WORKGROUPS) * 128 * 4,
        usage: BufferUsage::STORAGE_BUFFER,
        memory: MemoryKind::Device,
    };
    let sums = Buffer::new(&device, &desc)?;
    let mut best = 0.0f64;
    for (variant, matrices) in [("one_by_two", 2), ("one_by_four", 4), ("two_by_two", 4), ("two_by_four", 8)] {
        let name = format!("network/limit_matrix.{variant}");
        let shader = shaders::shader(&name).ok_or("a shader is missing")?;
        let subgroup_size = device.caps().subgroup.can_require_size.then_some(32);
        let desc = PipelineDesc { name: &name, shader, constants: &[], subgroup_size };
        let pipeline = ComputePipeline::with(&device, &desc)?;
        let mut arena = DescriptorArena::new(&device, "limit", 1)?;
        let set = arena.allocate(&pipeline, &[Bind::buffer(0, &sums)])?;
        let stamps = Timestamps::new(&device, "limit", ROUNDS as u32 + 1)?;
        let mut cmd = CommandBuffer::new(&device, "limit")?;
        cmd.begin()?;
        cmd.reset_timestamps(&stamps);
        for round in 0..=ROUNDS as u32 {
            cmd.write_timestamp(&stamps, round);
            if round < ROUNDS as u32 {
                cmd.dispatch(&pipeline, &set, bytemuck::cast_slice(&[GROUPS, 0u32]), [WORKGROUPS, 1, 1]);
                cmd.compute_barrier();
            }
        }
        cmd.end()?;
        let ticket = device.submit(&[&cmd], &[], &[])?;
        device.wait(ticket, Duration::from_secs(600))?;
        let times = stamps.read()?.ok_or("the device has no timestamps")?;
        // The first rounds warm up.
        let mut ms: Vec<f64> = times.windows(2).skip(3).map(|t| t[1] - t[0]).collect();
        ms.sort_by(f64::total_cmp);
        let macs = f64::from(WORKGROUPS) * 4.0 * f64::from(matrices) * 4096.0 * f64::from(GROUPS);
        let rate = macs / ms[ms.len() / 2] / 1e9;
        println!("{variant:12} {:7.3} ms, {rate:6.2} Tmac/s", ms[ms.len() / 2]);
        best = best.max(rate);
    }
    println!("{name}: the limit is {best:.2} Tmac/s");
    Ok(())
}
