//! `nrview bench`: how long a frame takes, and how much memory.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use gpu::Device;
use network::frame::Parameters;
use network::geometry::{Extent, Geometry};
use network::model::Model;
use network::plan::Plan;
use network::reference::Reference;
use network::replay::{Claim, ReplayRoute};
use renderer::View;
use serde::Serialize;
use serde_json::json;

use super::args::{self, RouteArg};
use super::outcome::{CommandResult, Outcome};
use super::scene::{CHOICE, SceneArgs};
use super::surroundings::LIGHT;
use super::{Globals, progress, record, text};
use crate::engine::neural::{Neural, Times};
use crate::engine::pace::Pace;
use crate::engine::studio::Studio;
use crate::engine::{Engines, arms, device, fit, model};
use crate::window::offscreen;

/// Arguments of `nrview bench`.
#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// Sizes of the frame.
    #[arg(long, value_name = "WxH,..", value_delimiter = ',', default_value = "320x180,768x768,1920x1080", value_parser = args::size)]
    sizes: Vec<Extent>,
    /// Measured frames of each size; one more before them is not counted.
    #[arg(long, default_value = "5", value_parser = args::count)]
    frames: u32,
    /// Where the network runs.
    #[arg(long, value_enum, default_value_t)]
    route: RouteArg,
    /// Measure the viewer's overlay instead, drawn into an image of 1920x1080 with everything in it.
    #[arg(long, conflicts_with_all = ["sizes", "route", "arms", "warm"], conflicts_with_all = CHOICE, conflicts_with_all = LIGHT)]
    overlay: bool,
    /// Time routes of the network's commands against each other instead, frame by frame in turn.
    #[arg(long, value_enum, value_name = "ROUTE,..", value_delimiter = ',', num_args = 1..)]
    arms: Vec<ArmArg>,
    /// Frames of each arm before any counts.
    #[arg(long, default_value = "20", value_parser = args::count, requires = "arms")]
    warm: u32,
}

/// A route of the network's commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ArmArg {
    /// Recorded anew each frame.
    Direct,
    /// Secondary command buffers, recorded once.
    Secondary,
    /// Whole frames, submitted again.
    Primary,
    /// Whole frames whose dispatches the device reads from a stream.
    Generated,
}

/// Least, middle and largest of some milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

/// What was measured at one size.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Measured {
    size: String,
    field: String,
    gflop: f64,
    frames: u32,
    /// The 71 blocks: GPU time, or the CPU's.
    network: Spread,
    /// Whole frames as a person waits for them.
    wall: Spread,
    scene: Option<Spread>,
    preprocess: Option<Spread>,
    composite: Option<Spread>,
    /// Bytes of device memory.
    memory: Option<MemoryUse>,
    /// All samples, in order.
    samples: Vec<f64>,
}

/// Bytes of device memory by purpose.
#[derive(Clone, Copy, Debug, Serialize)]
struct MemoryUse {
    activations: u64,
    weights: u64,
    all: u64,
}

/// Measures every size.
pub fn run(globals: &Globals, args: &BenchArgs) -> CommandResult {
    if args.overlay {
        return overlay(globals, args.frames);
    }
    if args.route == RouteArg::Cpu && args.scene.is_chosen() {
        bail!("on route cpu the network alone is measured, without a scene; leave the scene's options out");
    }
    for size in &args.sizes {
        Geometry::new(*size)?;
    }
    let source = model::source(globals)?;
    let mut engines = Engines::new(globals, args.route)?;
    let model = engines.model(&source)?;
    let mut measured = Vec::new();
    let studio = engines.device().map(|device| Studio::new(device, args.scene.load_with_bar()?)).transpose()?;
    if !args.arms.is_empty() {
        let studio = studio.context("arms are timed on a device: leave --route cpu out")?;
        return timed_arms(&mut engines, &studio, &model, args);
    }
    for size in &args.sizes {
        measured.push(match &studio {
            Some(studio) => {
                let geometry = fit::check(&studio.device, *size, 0)?;
                let (_, kernels, weights) = engines.parts(&model)?;
                let neural = Neural::new(studio, &kernels, &weights, &geometry, None)?;
                on_device(studio, neural, &geometry, args.frames, model.blend_scale()?.to_f32())?
            }
            None => on_cpu(&Reference::new(&Plan::new(&Geometry::new(*size)?), &model)?, args.frames)?,
        });
    }
    let json = json!({
        "route": engines.route_name(),
        "scene": args.scene.scene,
        "device": engines.device_name(),
        "driver": engines.device().map(|device| device.caps().driver.clone()),
        "model": model.description(),
        "digest": model.digest(),
        "version": env!("CARGO_PKG_VERSION"),
        "sizes": measured,
    });
    let name = engines.device_name().unwrap_or("the CPU reference");
    Ok(Outcome::yes(json, format!("{name}, route {}\n{}", engines.route_name(), table(&measured))))
}

/// Interleaved arms with route proof: dated performance evidence, whatever it shows.
fn timed_arms(engines: &mut Engines, studio: &Studio, model: &Model, args: &BenchArgs) -> CommandResult {
    let route = |arm: &ArmArg| match arm {
        ArmArg::Direct => ReplayRoute::Direct,
        ArmArg::Secondary => ReplayRoute::Secondary,
        ArmArg::Primary => ReplayRoute::Primary,
        ArmArg::Generated => ReplayRoute::Generated,
    };
    let routes: Vec<ReplayRoute> = args.arms.iter().map(route).collect();
    let (_, kernels, weights) = engines.parts(model)?;
    let mut timed = Vec::new();
    for size in &args.sizes {
        let geometry = fit::check(&studio.device, *size, 0)?;
        timed.push(arms::run(&arms::Plan {
            studio,
            kernels: &kernels,
            weights: &weights,
            model: model.digest(),
            geometry: &geometry,
            blend_scale: model.blend_scale()?.to_f32(),
            routes: &routes,
            warm: args.warm,
            frames: args.frames,
        })?);
    }
    let claim = Claim::DatedPerformanceEvidence;
    let mut out = format!("{}: {claim}\n", studio.device.caps().name);
    timed.iter().for_each(|timed| out.push_str(&arms::text(timed)));
    let invalid = timed.iter().flat_map(|timed| &timed.ratios).any(|ratio| ratio.value.is_none());
    let json = json!({
        "claim": claim,
        "record": record::circumstances(&studio.device, model),
        "scene": args.scene.scene,
        "seed": "the frame counter",
        "sizes": timed,
    });
    Ok(Outcome { json, text: out, holds: !invalid })
}

/// Size of the image that the overlay is drawn into.
const WINDOW: [u32; 2] = [1920, 1080];

/// Times of the viewer's overlay.
fn overlay(globals: &Globals, frames: u32) -> CommandResult {
    let device = device::open(globals)?;
    let times = offscreen::measure(&device, WINDOW, frames)?;
    let (gpu, cpu) = (spread(times.gpu.clone()), spread(times.cpu.clone()));
    let line = |name: &str, spread: Option<Spread>| match spread {
        Some(s) => format!("overlay, {name}: {:.3} ms min, {:.3} median, {:.3} max\n", s.min, s.median, s.max),
        None => format!("overlay, {name}: no times\n"),
    };
    let text = format!("{}\n{}{}", device.caps().name, line("GPU", gpu), line("CPU", cpu));
    let json = json!({
        "device": device.caps().name,
        "driver": device.caps().driver,
        "window": WINDOW,
        "frames": frames,
        "gpu": gpu,
        "cpu": cpu,
        "samples": times.gpu,
    });
    Ok(Outcome::yes(json, text))
}

fn on_device(
    studio: &Studio,
    mut neural: Neural,
    geometry: &Geometry,
    frames: u32,
    blend_scale: f32,
) -> Result<Measured> {
    let mut pace = Pace::new(Duration::from_millis(250));
    let parameters = Parameters { blend_scale, ..Parameters::default() };
    let bar = progress::bar(u64::from(frames) + 1, "frames");
    let (mut times, mut walls) = (Vec::new(), Vec::new());
    for number in 0..=frames {
        let begun = Instant::now();
        if View::cut_before(&studio.scene, number, 30.0) {
            neural.reset();
        }
        let job = neural.begin(View::scripted(&studio.scene, number, 30.0), parameters, true);
        let taken = neural.finish(studio, job, &mut pace)?;
        // The first one also learns how much fits into a submission.
        if number > 0 {
            times.push(taken);
            walls.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let part = |of: fn(&Times) -> f64| spread(times.iter().map(of).collect());
    let samples: Vec<f64> = times.iter().map(|times| times.network).collect();
    Ok(Measured {
        size: geometry.valid.to_string(),
        field: geometry.field.to_string(),
        gflop: gflop(geometry),
        frames,
        network: spread(samples.clone()).context("no frame was measured")?,
        wall: spread(walls).context("no frame was measured")?,
        scene: part(|times| times.scene),
        preprocess: part(|times| times.preprocess),
        composite: part(|times| times.composite),
        memory: Some(memory(&studio.device, &neural)),
        samples,
    })
}

fn memory(device: &Device, neural: &Neural) -> MemoryUse {
    let network = neural.memory();
    MemoryUse { activations: network.arena, weights: network.weights, all: device.memory_use().used }
}

fn on_cpu(reference: &Reference, frames: u32) -> Result<Measured> {
    let geometry = reference.plan().geometry;
    let features = vec![0x1c00; geometry.field.pixels() * 16];
    let mut samples = Vec::new();
    for number in 0..=frames {
        let begun = Instant::now();
        reference.run(&features, |_, _, _| {})?;
        if number > 0 {
            samples.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
    }
    let network = spread(samples.clone()).context("no frame was measured")?;
    Ok(Measured {
        size: geometry.valid.to_string(),
        field: geometry.field.to_string(),
        gflop: gflop(&geometry),
        frames,
        network,
        wall: network,
        scene: None,
        preprocess: None,
        composite: None,
        memory: None,
        samples,
    })
}

fn gflop(geometry: &Geometry) -> f64 {
    Plan::new(geometry).cost().flop() as f64 * 1e-9
}

fn spread(mut values: Vec<f64>) -> Option<Spread> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let median = match values.len() {
        0 => return None,
        count if count % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    };
    Some(Spread { min: values[0], median, max: values[values.len() - 1] })
}

fn table(measured: &[Measured]) -> String {
    let head =
        ["size", "field", "GFLOP", "network ms: min", "median", "max", "scene", "wall", "activations", "all memory"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for m in measured {
        let memory = |of: fn(&MemoryUse) -> u64| m.memory.as_ref().map_or_else(String::new, |m| text::bytes(of(m)));
        rows.push(vec![
            m.size.clone(),
            m.field.clone(),
            format!("{:.0}", m.gflop),
            format!("{:.2}", m.network.min),
            format!("{:.2}", m.network.median),
            format!("{:.2}", m.network.max),
            m.scene.map_or_else(String::new, |scene| format!("{:.2}", scene.median)),
            format!("{:.2}", m.wall.median),
            memory(|m| m.activations),
            memory(|m| m.all),
        ]);
    }
    text::table(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        assert_eq!(spread(vec![]), None);
        assert_eq!(spread(vec![3.0, 1.0, 2.0]), Some(Spread { min: 1.0, median: 2.0, max: 3.0 }));
        assert_eq!(spread(vec![4.0, 1.0]).map(|s| s.median), Some(2.5));
    }
}
