//! Timing the operations of frames.

use std::ops::Range;
use std::time::{Duration, Instant};

use gpu::{CommandBuffer, Timestamps};

use crate::exec::{ExecError, Network};
use crate::plan::OpId;
use crate::reference::{Reference, ReferenceError};

/// What the times were taken with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The device's own timestamps.
    Device,
    /// The host's clock, around every operation.
    Host,
}

/// Milliseconds of every operation in every frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// What the times were taken with.
    pub clock: Clock,
    /// `[operation of the plan][frame]`; zero for operations that another one covers.
    pub per_op: Vec<Vec<f64>>,
}

impl Samples {
    fn new(clock: Clock, ops: usize) -> Self {
        Self { clock, per_op: vec![Vec::new(); ops] }
    }

    fn push(&mut self, frame: Vec<f64>) {
        self.per_op.iter_mut().zip(frame).for_each(|(op, ms)| op.push(ms));
    }
}

/// Times `frames` frames on a device, after one that is not counted. `most` multiply-accumulates go into one submission,
/// so that no driver takes a frame for a hang; `before` runs before every frame, and writes the features if it matters
/// what they are.
///
/// # Errors
/// Errors of the device.
pub fn on_device(
    network: &Network,
    frames: u32,
    most: u64,
    mut before: impl FnMut(u32) -> Result<(), ExecError>,
) -> Result<Samples, ExecError> {
    let mut watch = Stopwatch::new(network, most)?;
    let mut samples = Samples::new(watch.clock(), network.plan().ops.len());
    for number in 0..=frames {
        before(number)?;
        let times = watch.frame(network)?;
        if number > 0 {
            samples.push(times);
        }
    }
    Ok(samples)
}

/// Times the operations of one network, frame by frame.
pub struct Stopwatch {
    cmd: CommandBuffer,
    stamps: Timestamps,
    slices: Vec<Range<usize>>,
}

impl Stopwatch {
    /// For a network whose submissions hold `most` multiply-accumulates, or one operation.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(network: &Network, most: u64) -> Result<Self, ExecError> {
        let device = network.kernels().device();
        let slices = slices(network, most);
        let longest = slices.iter().map(|slice| slice.len()).max().unwrap_or(0);
        let stamps = Timestamps::new(device, "profile", longest as u32 + 1)?;
        Ok(Self { cmd: CommandBuffer::new(device, "profile")?, stamps, slices })
    }

    /// What it measures with.
    pub fn clock(&self) -> Clock {
        if self.stamps.supported() { Clock::Device } else { Clock::Host }
    }

    /// Runs a frame and waits. Gives the milliseconds of every operation of the plan; zero where another one covers it.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn frame(&mut self, network: &Network) -> Result<Vec<f64>, ExecError> {
        let mut times = vec![0.0; network.plan().ops.len()];
        let own = |op: usize| !network.op_steps(OpId(op as u32)).is_empty();
        if self.clock() == Clock::Host {
            for (op, ms) in times.iter_mut().enumerate().filter(|(op, _)| own(*op)) {
                let begun = Instant::now();
                network.run_op(OpId(op as u32))?;
                *ms = begun.elapsed().as_secs_f64() * 1e3;
            }
            return Ok(times);
        }
        let (cmd, stamps, device) = (&mut self.cmd, &self.stamps, network.kernels().device());
        for slice in &self.slices {
            cmd.begin()?;
            cmd.reset_timestamps(stamps);
            cmd.write_timestamp(stamps, 0);
            for (place, op) in (1..).zip(slice.clone()) {
                network.record(cmd, network.op_steps(OpId(op as u32)));
                cmd.write_timestamp(stamps, place);
            }
            cmd.end()?;
            let ticket = device.submit(&[&*cmd], &[], &[])?;
            device.wait(ticket, Duration::from_secs(600))?;
            let read = stamps.read()?.unwrap_or_default();
            // What lies between the marks of an operation that another one covers is no work of its own.
            for (op, pair) in slice.clone().zip(read.windows(2)).filter(|(op, _)| own(*op)) {
                times[op] = pair[1] - pair[0];
            }
        }
        Ok(times)
    }
}

/// Operations in runs of at most `most` multiply-accumulates, or one operation.
fn slices(network: &Network, most: u64) -> Vec<Range<usize>> {
    let mut slices: Vec<Range<usize>> = Vec::new();
    let mut sum = 0;
    for op in 0..network.plan().ops.len() {
        let cost: u64 = network.op_steps(OpId(op as u32)).map(|step| network.step_cost(step)).sum();
        match slices.last_mut() {
            Some(slice) if sum + cost <= most => {
                slice.end = op + 1;
                sum += cost;
            }
            _ => {
                slices.push(op..op + 1);
                sum = cost;
            }
        }
    }
    slices
}

/// Times `frames` frames on the CPU, after one that is not counted. `before` is called with each frame's number.
///
/// # Errors
/// `features` has the wrong number of elements.
pub fn on_cpu(
    reference: &Reference,
    features: &[u16],
    frames: u32,
    mut before: impl FnMut(u32),
) -> Result<Samples, ReferenceError> {
    let mut samples = Samples::new(Clock::Host, reference.plan().ops.len());
    for number in 0..=frames {
        before(number);
        let mut times = Vec::new();
        let mut last = Instant::now();
        reference.run(features, |_, _, _| {
            let now = Instant::now();
            times.push(now.duration_since(last).as_secs_f64() * 1e3);
            last = now;
        })?;
        if number > 0 {
            samples.push(times);
        }
    }
    Ok(samples)
}
