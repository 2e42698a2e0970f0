//! `nrview replay`: recorded frames again, on any route and device: bit-exact, or how far?

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use network::bisect::Fault;
use network::capture::{Capture, Check, ModelName, RecordedFrame};
use network::model::{Model, Source};
use network::parity::write_fixture;
use serde_json::{Value, json};

use super::args::{self, RouteArg};
use super::checks::{Checked, compare_frame};
use super::outcome::{CommandResult, Outcome};
use super::seeded::FaultArgs;
use super::{Globals, bisect, fixture, parity, progress, text, write};
use crate::engine::playback::{Inputs, Keep, Player, inputs_of, tensors};
use crate::engine::{Engines, model};

/// Arguments of `nrview replay`.
#[derive(Clone, Debug, clap::Args)]
pub struct ReplayArgs {
    /// The capture.
    #[arg(value_name = "DIR", required_unless_present = "fixture")]
    capture: Option<PathBuf>,
    /// A parity fixture, of either form, in place of a capture; may be repeated.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["capture", "export_fixture", "frames", "sequence", "no_bisect", "fault"])]
    fixture: Vec<PathBuf>,
    /// Where everything runs.
    #[arg(long, value_enum, default_value_t)]
    route: RouteArg,
    /// Only these frames, FIRST..END, END not included.
    #[arg(long, value_name = "FIRST..END", value_parser = args::range)]
    frames: Option<std::ops::Range<u32>>,
    /// Feed each frame the history that this replay made, and its own features, instead of the recorded ones.
    #[arg(long)]
    sequence: bool,
    /// Do not search for the operation when a frame differs.
    #[arg(long)]
    no_bisect: bool,
    /// Write a frame of the capture (the first of --frames) as a parity fixture into a new directory, and run nothing.
    #[arg(
        long,
        value_name = "DIR",
        requires = "capture",
        conflicts_with_all = ["route", "sequence", "no_bisect", "fault"]
    )]
    export_fixture: Option<PathBuf>,
    #[command(flatten)]
    faults: FaultArgs,
}

/// Why there is nothing to replay.
pub fn no_frames(directory: &Path, capture: &Capture) -> anyhow::Error {
    let directory = directory.display();
    match (capture.frames().len(), capture.finished()) {
        (0, true) => anyhow!("capture {directory} holds no frame"),
        (0, false) => anyhow!(
            "capture {directory} was interrupted before its first frame was whole; `nrview capture {directory} --resume` with the same \
             options goes on with it"
        ),
        (frames, _) => anyhow!("capture {directory} has none of the frames asked for; it holds {frames}"),
    }
}

/// Replays a capture or runs fixtures.
pub fn run(globals: &Globals, args: &ReplayArgs) -> CommandResult {
    let Some(directory) = &args.capture else {
        return parity::run(globals, &parity::ParityArgs::of(args.fixture.clone(), args.route));
    };
    let capture = Capture::open(directory)?;
    let frames: Vec<&RecordedFrame> = capture
        .frames()
        .iter()
        .filter(|frame| args.frames.as_ref().is_none_or(|range| range.contains(&frame.info().number)))
        .collect();
    if frames.is_empty() {
        return Err(no_frames(directory, &capture));
    }
    if let Some(target) = &args.export_fixture {
        return export(&capture, frames[0], target);
    }
    if !capture.finished() {
        tracing::warn!("{} is unfinished: it holds {} whole frames", directory.display(), capture.frames().len());
    }
    let mut engines = Engines::new(globals, args.route.keeping(capture.header().all_tensors))?;
    let model = recorded_model(globals, &mut engines, &capture)?;
    let keep = if capture.header().all_tensors {
        Keep::All
    } else if capture.header().boundaries() {
        Keep::Boundaries
    } else {
        Keep::Nothing
    };
    let scene = capture.header().source.is_scene();
    let mut player = Player::new(&mut engines, args.route, &model, capture.geometry(), scene, keep)?;
    let faults = args.faults.of(player.plan())?;

    let bar = progress::bar(frames.len() as u64, "frames");
    let mut results = Vec::new();
    let mut history = None;
    for (i, frame) in frames.iter().enumerate() {
        let mut inputs = inputs_of(frame)?;
        if args.sequence && i > 0 && inputs.history.is_some() {
            inputs.history = history.take();
        }
        let seeded = faults.of_frame(frame.info().number);
        let checks = play(&mut player, &inputs, frame, args.sequence, &seeded, &mut history)?;
        results.push((frame.info().number, checks));
        bar.inc(1);
    }
    bar.finish_and_clear();

    let advisory = |check: &Checked| check.check == Check::Features && !args.sequence;
    let first = results.iter().find(|(_, checks)| checks.iter().any(|c| !c.passes && !advisory(c)));
    let holds = first.is_none();
    let mut found = None;
    if let (Some((number, checks)), false) = (first, args.no_bisect) {
        let frame = frames.iter().copied().find(|frame| frame.info().number == *number);
        if let Some(frame) = frame {
            let seeded = faults.of_frame(*number);
            found = Some(bisect::search(&mut player, &model, &capture, frame, checks, &seeded)?);
        }
    }
    Ok(outcome(args, &capture, &engines, &model, &results, holds, found.as_ref()))
}

/// Computes a frame again and compares it. `history` becomes the one that it leaves.
fn play(
    player: &mut Player,
    inputs: &Inputs,
    frame: &RecordedFrame,
    sequence: bool,
    faults: &[Fault],
    history: &mut Option<Vec<network::frame::cpu::Half4>>,
) -> Result<Vec<Checked>> {
    let own = player.features(inputs)?;
    let features = if sequence { own.clone() } else { frame.tensor("features")?.as_halves() };
    let run = player.network(&features, faults)?;
    let made = player.compose(inputs, &run.head)?;
    *history = Some(made.composed.history.clone());
    compare_frame(frame, &tensors(player.plan(), inputs, own, run, &made))
}

/// The model that the capture names, or that of `--model`.
pub fn recorded_model(globals: &Globals, engines: &mut Engines, capture: &Capture) -> Result<Model> {
    let recorded = &capture.header().model;
    let source: Source = match &globals.model {
        Some(_) => model::source(globals)?,
        // A capture may come from anybody: it names no file.
        None => Source::built_in(&recorded.source).with_context(|| {
            let ModelName { source, digest } = recorded;
            format!("the capture was recorded with the weights {source:?} of digest {digest}; give them with --model")
        })?,
    };
    let model = engines.model(&source)?;
    if model.digest() != recorded.digest {
        if globals.model.is_none() {
            bail!(
                "the capture was recorded with {} of digest {}, which now has {}",
                recorded.source,
                recorded.digest,
                model.digest()
            );
        }
        tracing::warn!("{} is not the model that the capture was recorded with", model.description());
    }
    Ok(model)
}

fn export(capture: &Capture, frame: &RecordedFrame, target: &std::path::Path) -> CommandResult {
    write::check_fresh_folder(target)?;
    let loaded = frame.load()?;
    let recorded = fixture::Recorded::of(capture.geometry(), &loaded)?;
    write_fixture(target, &recorded.recording())?;
    let number = frame.info().number;
    let document = json!({ "fixture": target, "frame": number });
    Ok(Outcome::yes(document, format!("{}: frame {number} as a fixture", target.display())))
}

fn outcome(
    args: &ReplayArgs,
    capture: &Capture,
    engines: &Engines,
    model: &Model,
    results: &[(u32, Vec<Checked>)],
    holds: bool,
    found: Option<&bisect::Finding>,
) -> Outcome {
    let header = capture.header();
    let recorded_on = header.device.as_ref().map_or("the CPU", |device| device.name.as_str());
    let device = if args.route == RouteArg::Cpu { None } else { engines.device_name() };
    let mut out = format!(
        "{}: {} of {}, {}, recorded on {recorded_on} ({}), replayed on {} ({})\n",
        capture.directory().display(),
        text::counted(results.len(), "frame"),
        capture.geometry().valid,
        model.description(),
        header.route.name,
        device.unwrap_or("the CPU"),
        args.route.resolved(),
    );
    out.push_str(if args.sequence {
        "compared: the whole sequence, from the recorded scene, each frame on the history that this replay made\n"
    } else {
        "compared: each frame by itself, everything after the recorded features (features are compared apart)\n"
    });
    for (number, checks) in results {
        out.push_str(&format!("frame {number}:"));
        let exact = checks.iter().all(|check| check.exact);
        if exact {
            out.push_str(&format!(" bit-exact ({} checks)\n", checks.len()));
            continue;
        }
        out.push('\n');
        for check in checks {
            out.push_str(&check.to_string());
        }
    }
    if let Some(found) = found {
        out.push_str(&found.text);
    }
    out.push_str(if holds { "the replay gives the recorded bits\n" } else { "the replay differs\n" });
    let frames: Vec<Value> =
        results.iter().map(|(number, checks)| json!({ "frame": number, "checks": checks })).collect();
    let json = json!({
        "capture": capture.directory(),
        "finished": capture.finished(),
        "recordedOn": header.device,
        "recordedRoute": header.route.name,
        "device": device,
        "route": args.route.resolved(),
        "model": model.description(),
        "digest": model.digest(),
        "sequence": args.sequence,
        "passes": holds,
        "frames": frames,
        "bisect": found.map(|found| &found.json),
    });
    Outcome { json, text: out, holds }
}
