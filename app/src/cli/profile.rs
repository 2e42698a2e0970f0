//! `nrview profile`: where the time and the memory of a frame go, and what changed between two profiles.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use gpu::Timestamps;
use network::exec::{self, Kernels, Network, NetworkOptions, Tuning};
use network::frame::{Frame, FrameInputs, Parameters, SourceKind};
use network::geometry::{Extent, Geometry};
use network::plan::{Arena, Plan};
use network::profile::{self, Comparison, Cut, Header, Memory, Passes, Profile, Spread, Within};
use network::reference::{self, Reference};
use renderer::{GBuffer, Scene, View};
use serde_json::json;

use super::args::{self, RouteArg};
use super::outcome::{CommandResult, Outcome};
use super::{Globals, profile_text, progress, read, write};
use crate::engine::gpu_route::submission_cost;
use crate::engine::studio::Studio;
use crate::engine::{Engines, fit, model};
use crate::plot;

/// Arguments of `nrview profile`.
#[derive(Debug, clap::Args)]
pub struct ProfileArgs {
    /// Size of the frame.
    #[arg(long, value_name = "WxH", default_value = "320x180", value_parser = args::size)]
    size: Extent,
    /// Measured frames; one more before them is not counted.
    #[arg(long, default_value = "5", value_parser = args::count)]
    frames: u32,
    /// Where the network runs.
    #[arg(long, value_enum, default_value_t)]
    route: RouteArg,
    /// Run every operation by itself.
    #[arg(long)]
    unfused: bool,
    /// Measure the plain form of the kernels, which any device can run.
    #[arg(long)]
    plain: bool,
    /// What the table lists.
    #[arg(long, value_enum, default_value = "stage")]
    by: By,
    /// Keep the profile in this file, to compare it with another.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Draw it, or the comparison, into this PNG file.
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
    /// Measure nothing: tell what changed between two kept profiles, the largest gains and losses first.
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["save", "size", "frames", "route", "unfused", "plain", "by"])]
    compare: Vec<PathBuf>,
}

/// What a table lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// The 14 stages and the kinds of operations.
    Stage,
    /// The 71 blocks.
    Block,
    /// Every operation.
    Operation,
}

/// Measures, or compares.
pub fn run(globals: &Globals, args: &ProfileArgs) -> CommandResult {
    args.save.iter().try_for_each(|path| write::check_file(path))?;
    args.plot.iter().try_for_each(|path| write::check_png(path))?;
    if let [a, b] = args.compare.as_slice() {
        return compare(args, a, b);
    }
    if args.plain && !matches!(args.route, RouteArg::Auto | RouteArg::Exact) {
        bail!("--plain is a form of the exact route; leave it or --route {} out", args.route.resolved());
    }
    if args.unfused && args.route == RouteArg::Cpu {
        bail!("route cpu runs every operation by itself in any case; leave --unfused out");
    }
    let geometry = Geometry::new(args.size)?;
    let source = model::source(globals)?;
    let mut engines = Engines::new(globals, args.route)?;
    let model = engines.model(&source)?;
    let plan = Plan::new(&geometry);
    let profile = if engines.device().is_some() {
        on_device(&mut engines, &model, &plan, args)?
    } else {
        on_cpu(&model, &plan, args)?
    };
    if let Some(path) = &args.save {
        write::write_file(path, &serde_json::to_vec_pretty(&profile)?)?;
    }
    if let Some(path) = &args.plot {
        draw(path, &plot::profile(&profile))?;
    }
    Ok(Outcome::yes(serde_json::to_value(&profile)?, profile_text::profile(&profile, args.by)))
}

fn draw(path: &Path, picture: &plot::Picture) -> Result<()> {
    write::write_png(path, picture.width, picture.height, &picture.pixels)
}

/// Moderate halves for the network's input: on the CPU the time does not depend on them.
fn features(plan: &Plan) -> Vec<u16> {
    let count = plan.tensor(plan.features).elements() as u32;
    (0..count).map(|i| 0x3000 + (i.wrapping_mul(2_654_435_761) >> 20) as u16 % 0x0c00).collect()
}

fn header(route: &str, form: String, digest: &str, unfused: bool) -> Header {
    Header {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        route: route.to_owned(),
        form,
        device: String::new(),
        driver: String::new(),
        model: digest.to_owned(),
        fused: !unfused,
    }
}

fn on_device(engines: &mut Engines, model: &network::model::Model, plan: &Plan, args: &ProfileArgs) -> Result<Profile> {
    let (device, kernels, weights) = engines.parts(model)?;
    let geometry = fit::check(&device, args.size, 0)?;
    let plain = || Kernels::with_tuning(&device, exec::Route::Exact, Tuning::Tile);
    let kernels = if args.plain { plain()? } else { kernels };
    let options = NetworkOptions { unfused: args.unfused, ..NetworkOptions::default() };
    let network = Network::new(&device, &kernels, &weights, Arc::new(plan.clone()), options)?;
    let studio = Studio::new(&device, Scene::builtin())?;
    let around = Around::new(&studio, &geometry, &network, model.blend_scale()?.to_f32())?;
    let passes = around.time(&studio, args.frames)?;
    let bar = progress::bar(u64::from(args.frames) + 1, "frames");
    let most = submission_cost(device.caps().kind);
    let samples = profile::on_device(&network, args.frames, most, |number| {
        bar.set_position(number.into());
        Ok(device.run_once("preprocess", |cmd| around.frame.record_preprocess(cmd, &around.parameters))?)
    })?;
    bar.finish_and_clear();
    let (groups, used) = (network.op_groups(), network.memory());
    let scratch = network.scratch();
    let shaders: Vec<Vec<String>> = (0..plan.ops.len())
        .map(|op| {
            let steps = network.op_steps(network::plan::OpId(op as u32));
            let mut names: Vec<String> = steps.map(|step| network.step_shader(step).to_owned()).collect();
            names.sort();
            names.dedup();
            names
        })
        .collect();
    let (pixels, frame) = (geometry.valid.pixels() as u64, Frame::bytes(&geometry, SourceKind::Scene, true));
    // Two histories of four halves a pixel.
    let histories = 2 * 8 * pixels;
    let memory = Memory {
        weights: used.weights,
        arena: used.arena - scratch,
        bound: used.bound,
        arena_to_bound: used.arena as f64 / used.bound as f64,
        scratch,
        features: plan.tensor(plan.features).bytes() as u64,
        histories,
        frame_buffers: frame - histories,
        scene: GBuffer::bytes(geometry.valid.width, geometry.valid.height),
        all: device.memory_use().used,
        cut: Cut::of(&network.memory_plan()),
    };
    let header = Header {
        device: device.caps().name.clone(),
        driver: device.caps().driver.clone(),
        ..header(kernels.route().name(), kernels.description(), model.digest(), args.unfused)
    };
    Ok(Profile::new(header, plan, &samples, &groups, |op| shaders[op].clone(), memory, Some(passes)))
}

/// The scene and the passes around the network.
struct Around {
    gbuffer: GBuffer,
    frame: Frame,
    parameters: Parameters,
}

impl Around {
    fn new(studio: &Studio, geometry: &Geometry, network: &Network, blend_scale: f32) -> Result<Self> {
        let gbuffer = GBuffer::new(&studio.device, geometry.valid.width, geometry.valid.height)?;
        let inputs = FrameInputs { color: gbuffer.color(), kind: SourceKind::Scene, motion: Some(gbuffer.motion()) };
        let frame = Frame::new(&studio.passes, geometry, inputs, network.features(), network.head())?;
        let parameters = Parameters { blend_scale, history_valid: true, ..Parameters::default() };
        Ok(Self { gbuffer, frame, parameters })
    }

    /// Times the passes alone; what the network would do between them does not matter to them.
    fn time(&self, studio: &Studio, frames: u32) -> Result<Passes> {
        let stamps = Timestamps::new(&studio.device, "passes", 4)?;
        let mut times = [const { Vec::new() }; 3];
        for number in 0..=frames {
            let mut recorded = Ok(());
            studio.device.run_once("passes", |cmd| {
                cmd.reset_timestamps(&stamps);
                cmd.write_timestamp(&stamps, 0);
                let view = View::scripted(&studio.scene, number, 30.0);
                recorded = studio.renderer.record(cmd, &self.gbuffer, &studio.scene, &view);
                cmd.write_timestamp(&stamps, 1);
                self.frame.record_preprocess(cmd, &self.parameters);
                cmd.write_timestamp(&stamps, 2);
                self.frame.record_composite(cmd, &self.parameters);
                cmd.write_timestamp(&stamps, 3);
            })?;
            recorded?;
            let read = stamps.read()?.unwrap_or_default();
            if number > 0 {
                times.iter_mut().zip(read.windows(2)).for_each(|(times, pair)| times.push(pair[1] - pair[0]));
            }
        }
        let [scene, preprocess, composite] = times.map(|times| Spread::of(&times));
        Ok(Passes { scene, preprocess, composite })
    }
}

fn on_cpu(model: &network::model::Model, plan: &Plan, args: &ProfileArgs) -> Result<Profile> {
    let set = reference::instruction_set();
    ensure!(reference::agrees(), "the CPU's {set} code does not give the definition's bits on this processor");
    let reference = Reference::new(plan, model)?;
    let bar = progress::bar(u64::from(args.frames) + 1, "frames");
    let samples = profile::on_cpu(&reference, &features(plan), args.frames, |number| bar.set_position(number.into()))?;
    bar.finish_and_clear();
    let groups: Vec<_> = (0..plan.ops.len()).map(|op| op..op + 1).collect();
    let memory = Memory {
        weights: plan.cost().weight_bytes,
        arena: 0,
        bound: Arena::new(plan, 1, true).bound as u64,
        arena_to_bound: 0.0,
        scratch: 0,
        features: plan.tensor(plan.features).bytes() as u64,
        histories: 0,
        frame_buffers: 0,
        scene: 0,
        all: 0,
        cut: Cut::of(plan),
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let header =
        Header { device: format!("the CPU, {threads} threads"), ..header("cpu", set.to_owned(), model.digest(), true) };
    Ok(Profile::new(header, plan, &samples, &groups, |_| Vec::new(), memory, None))
}

fn read(path: &Path) -> Result<Profile> {
    let bytes = read::bytes(path, read::DOCUMENT).with_context(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    Profile::parse(&text).with_context(|| format!("cannot use {}", path.display()))
}

fn compare(args: &ProfileArgs, a: &Path, b: &Path) -> CommandResult {
    let (a, b) = (read(a)?, read(b)?);
    let changes: Comparison = profile::compare(&a, &b)?;
    if let Some(path) = &args.plot {
        draw(path, &plot::changes(&a, &b, &changes))?;
    }
    let json = json!({
        "a": a.header,
        "b": b.header,
        "size": a.size,
        "sameWithinSpread": changes.whole.beyond == Within::Spread,
        "comparison": changes,
    });
    Ok(Outcome::yes(json, profile_text::changes(&a, &b, &changes)))
}
