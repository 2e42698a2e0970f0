//! Times a frame of a route on a device, operation by operation.
//!
//! `cargo run --release -p network --example exec_profile -- [--device D] [--frames N] [--route exact|tensor|float8]
//! [--form tile|truncating|matrix] [--tuned] [--certify] [--check] [--ops] WxH...`
//!
//! Weights are synthetic and features random: the time does not depend on them. Each size gets the median frame, its
//! multiply-accumulate rate, device memory, and the share of every kind of operation (with --ops, of every operation);
//! operations that run together count as the first. With --tuned it takes the tiles that `nrview tune` found. With --certify it first lists where the kernels of each fast form
//! differ from the plain ones; with --check it compares the head with that of the plain kernels, run operation by operation.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gpu::{CommandBuffer, Device, DeviceSelector, Instance, InstanceDesc, Timestamps};
use network::exec::{Kernels, Network, NetworkOptions, Route, Tuning, Weights};
use network::geometry::{Extent, Geometry};
use network::model::synth::{self, Preset};
use network::plan::{OpId, OpKind, Plan};

struct Arguments {
    device: String,
    frames: usize,
    form: Option<Tuning>,
    route: Route,
    ops: bool,
    tuned: bool,
    certify: bool,
    check: bool,
    sizes: Vec<Extent>,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut a = Arguments {
        device: String::new(),
        frames: 5,
        form: None,
        route: Route::Exact,
        ops: false,
        tuned: false,
        certify: false,
        check: false,
        sizes: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--device" => a.device = value()?,
            "--frames" => a.frames = value()?.parse()?,
            "--route" => {
                a.route = match value()?.as_str() {
                    "exact" => Route::Exact,
                    "tensor" => Route::Tensor,
                    "float8" => Route::Float8,
                    other => return Err(format!("{other} is none of exact, tensor and float8").into()),
                }
            }
            "--form" => {
                a.form = Some(match value()?.as_str() {
                    "tile" => Tuning::Tile,
                    "truncating" => Tuning::Truncating,
                    "matrix" => Tuning::Matrix,
                    other => return Err(format!("{other} is neither tile, truncating nor matrix").into()),
                });
            }
            "--tuned" => a.tuned = true,
            "--certify" => a.certify = true,
            "--check" => a.check = true,
            "--ops" => a.ops = true,
            size => {
                let (w, h) = size.split_once('x').ok_or(format!("{size} is not a size like 1920x1080"))?;
                a.sizes.push(Extent::new(w.parse()?, h.parse()?));
            }
        }
    }
    Ok(a)
}

/// What is summed up in the report.
fn kind(plan: &Plan, op: OpId) -> String {
    let op = plan.op(op);
    match &op.kind {
        OpKind::Gemm(o) if o.weight.groups > 1 && !o.weight.stacked => {
            format!("gemm grouped {}x{}", o.weight.k, o.weight.n)
        }
        OpKind::Gemm(o) => format!("gemm {}x{}", o.weight.k, o.weight.n * o.weight.groups),
        other => other.name().to_owned(),
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Milliseconds of a frame, the middle one.
fn whole(device: &Arc<Device>, network: &Network, frames: usize) -> Result<f64, Box<dyn Error>> {
    let stamps = Timestamps::new(device, "frame", 2)?;
    let mut cmd = CommandBuffer::new(device, "frame")?;
    cmd.begin()?;
    cmd.reset_timestamps(&stamps);
    cmd.write_timestamp(&stamps, 0);
    network.record(&mut cmd, 0..network.steps());
    cmd.write_timestamp(&stamps, 1);
    cmd.end()?;
    let mut times = Vec::new();
    for _ in 0..frames + frames / 2 {
        let ticket = device.submit(&[&cmd], &[], &[])?;
        device.wait(ticket, Duration::from_secs(600))?;
        times.extend(stamps.read()?.map(|stamps| stamps[1] - stamps[0]));
    }
    // The first ones warm up.
    Ok(if times.len() > frames / 2 { median(&mut times[frames / 2..]) } else { f64::NAN })
}

fn main() -> Result<(), Box<dyn Error>> {
    let a = arguments()?;
    let instance = Instance::new(&InstanceDesc::default())?;
    let device = Device::open(&instance, &DeviceSelector::parse(&a.device))?;
    if a.certify {
        for form in Tuning::fast(&device) {
            match Kernels::certify(&device, form) {
                Ok(differences) => {
                    println!("{form:?} kernels: {} differences", differences.len());
                    differences.iter().for_each(|d| println!("  {d}"));
                }
                Err(error) => println!("{form:?} kernels: {error}"),
            }
        }
    }
    let kernels = match a.form {
        Some(form) => Kernels::with_tuning(&device, Route::Exact, form)?,
        None if a.tuned => Kernels::tuned(&device, a.route)?,
        None => Kernels::new(&device, a.route)?,
    };
    let weights = Weights::upload(&device, &synth::generate(Preset::Lively, 1)?)?;
    println!("{}, {} {}", device.caps().name, kernels.route().name(), kernels.description());
    for valid in a.sizes {
        let plan = Arc::new(Plan::new(&Geometry::new(valid)?));
        let network = Network::new(&device, &kernels, &weights, Arc::clone(&plan), NetworkOptions::default())?;
        let features: Vec<u8> = (0..plan.tensor(plan.features).elements() as u32)
            .flat_map(|i| (0x3000 + (i.wrapping_mul(2_654_435_761) >> 20) as u16 % 0x0c00).to_le_bytes())
            .collect();
        network.write_tensor(plan.features, &features)?;
        if a.check {
            network.run(u64::MAX)?;
            let head = network.read_tensor(plan.head)?;
            let plain = Kernels::with_tuning(&device, Route::Exact, Tuning::Tile)?;
            let options = NetworkOptions { unfused: true, ..NetworkOptions::default() };
            let unfused = Network::new(&device, &plain, &weights, Arc::clone(&plan), options)?;
            unfused.write_tensor(plan.features, &features)?;
            unfused.run(u64::MAX)?;
            let want = unfused.read_tensor(plan.head)?;
            let differ = head.iter().zip(&want).filter(|(a, b)| a != b).count();
            println!("{valid}: {differ} of {} bytes of the head differ from the plain form", head.len());
            let values = |bytes: &[u8]| -> Vec<f64> {
                bytes.chunks_exact(2).map(|b| f64::from(half::f16::from_le_bytes([b[0], b[1]]))).collect()
            };
            let (got, want) = (values(&head), values(&want));
            let mean = |square: f64| (square / got.len() as f64).sqrt();
            let error = mean(got.iter().zip(&want).map(|(a, b)| (a - b).powi(2)).sum());
            println!(
                "  its values differ by {error:.5} (root mean square) of {:.5}",
                mean(want.iter().map(|v| v * v).sum())
            );
            network.write_tensor(plan.features, &features)?;
        }
        println!("{valid}: {:.3} ms without a timestamp between operations", whole(&device, &network, a.frames)?);
        let stamps = Timestamps::new(&device, "operations", plan.ops.len() as u32 + 1)?;
        let mut cmd = CommandBuffer::new(&device, "frame")?;
        cmd.begin()?;
        cmd.reset_timestamps(&stamps);
        for i in 0..plan.ops.len() {
            cmd.write_timestamp(&stamps, i as u32);
            network.record(&mut cmd, network.op_steps(OpId(i as u32)));
        }
        cmd.write_timestamp(&stamps, plan.ops.len() as u32);
        cmd.end()?;
        let (mut walls, mut per_op) = (Vec::new(), vec![Vec::new(); plan.ops.len()]);
        // The first frame only warms up.
        for frame in 0..=a.frames {
            let start = Instant::now();
            let ticket = device.submit(&[&cmd], &[], &[])?;
            device.wait(ticket, Duration::from_secs(600))?;
            if frame == 0 {
                println!("{valid}: first frame {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
                continue;
            }
            walls.push(start.elapsed().as_secs_f64() * 1e3);
            if let Some(times) = stamps.read()? {
                per_op.iter_mut().zip(times.windows(2)).for_each(|(op, t)| op.push(t[1] - t[0]));
            }
        }
        let (wall, macs) = (median(&mut walls), plan.cost().macs as f64);
        let memory = network.memory();
        println!(
            "{valid}: {wall:.2} ms (min {:.2}), {:.1} Gmac, {:.1} Gmac/s, {} steps, arena {} MiB (bound {}), weights {} MiB",
            walls[0],
            macs / 1e9,
            macs / wall / 1e6,
            network.steps(),
            memory.arena >> 20,
            memory.bound >> 20,
            memory.weights >> 20
        );
        let mut kinds: BTreeMap<String, (f64, f64, usize)> = BTreeMap::new();
        for (i, times) in per_op.iter_mut().enumerate().filter(|(_, t)| !t.is_empty()) {
            let op = OpId(i as u32);
            if network.is_covered(op) {
                continue;
            }
            let (mut macs, mut name) = (plan.op_cost(plan.op(op)).macs, kind(&plan, op));
            let covered = (op.0 + 1..plan.ops.len() as u32).map(OpId).take_while(|&op| network.is_covered(op));
            let covered: Vec<OpId> = covered.collect();
            macs += covered.iter().map(|&op| plan.op_cost(plan.op(op)).macs).sum::<u64>();
            match covered.as_slice() {
                [] => {}
                [one] => name = format!("{name} + {}", kind(&plan, *one)),
                [.., last] => name = format!("{name} .. {} ({} operations)", kind(&plan, *last), covered.len() + 1),
            }
            let (time, macs) = (median(times), macs as f64);
            let name = if a.ops { plan.op(op).label.clone() } else { name };
            let entry = kinds.entry(name).or_default();
            *entry = (entry.0 + time, entry.1 + macs, entry.2 + 1);
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by(|a, b| f64::total_cmp(&b.1.0, &a.1.0));
        for (name, (time, macs, count)) in kinds {
            println!(
                "  {time:9.3} ms {:5.1} %  {:8.1} Gmac/s  {count:3}x {name}",
                time / wall * 100.0,
                macs / time / 1e6
            );
        }
    }
    Ok(())
}
