//! `nrview bisect`, and the search that a failed replay starts: which frame, operation, element, and its operands.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use network::bisect::{
    Difference, Fault, Faulty, RecordedSide, ReferenceSide, Side, SideError, first_difference, operands,
};
use network::capture::{Capture, Check, DType, RecordedFrame, tensor_name};
use network::model::Model;
use network::plan::{OpId, Plan};
use network::reference::{Reference, TensorData};
use serde_json::{Value, json};

use super::args::{self, RouteArg};
use super::checks::Checked;
use super::outcome::{CommandResult, Outcome};
use super::seeded::FaultArgs;
use super::{Globals, progress, replay};
use crate::engine::Engines;
use crate::engine::playback::{Keep, Player};

/// Arguments of `nrview bisect`.
#[derive(Clone, Debug, clap::Args)]
pub struct BisectArgs {
    /// The capture whose features are the input.
    #[arg(value_name = "DIR")]
    capture: PathBuf,
    /// One side: a route on this machine.
    #[arg(long, value_enum, default_value_t)]
    route: RouteArg,
    /// The other side: the CPU reference, the exact route on the device, or what the capture holds [default: cpu, with
    /// --route cpu capture].
    #[arg(long, value_enum)]
    against: Option<Against>,
    /// Only these frames, FIRST..END, END not included.
    #[arg(long, value_name = "FIRST..END", value_parser = args::range)]
    frames: Option<std::ops::Range<u32>>,
    #[command(flatten)]
    faults: FaultArgs,
}

/// What a route is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Against {
    /// The CPU reference.
    Cpu,
    /// The exact route on the device.
    Exact,
    /// The recorded tensors.
    Capture,
}

/// What a search has found.
pub struct Finding {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: Value,
}

/// Compares two sides, frame by frame, operation by operation.
pub fn run(globals: &Globals, args: &BisectArgs) -> CommandResult {
    let capture = Capture::open(&args.capture)?;
    if let route @ (RouteArg::Tensor | RouteArg::Float8) = args.route {
        let route = route.resolved();
        bail!(
            "route {route} runs whole blocks, which cannot be taken apart; `nrview parity --route {route}` says how far it is"
        );
    }
    let against = against(args.route, args.against)?;
    let needs_device = args.route != RouteArg::Cpu || against == Against::Exact;
    let mut engines = Engines::new(globals, if needs_device { RouteArg::Exact } else { RouteArg::Cpu })?;
    let model = replay::recorded_model(globals, &mut engines, &capture)?;
    let (geometry, scene) = (*capture.geometry(), capture.header().source.is_scene());
    let mut make = |route| Player::new(&mut engines, route, &model, &geometry, scene, Keep::Nothing);
    let mut a = make(args.route)?;
    let mut b = match against {
        Against::Cpu => Some(make(RouteArg::Cpu)?),
        Against::Exact => Some(make(RouteArg::Exact)?),
        Against::Capture => None,
    };
    let chosen = |frame: &&RecordedFrame| args.frames.as_ref().is_none_or(|r| r.contains(&frame.info().number));
    let frames: Vec<&RecordedFrame> = capture.frames().iter().filter(chosen).collect();
    if frames.is_empty() {
        return Err(replay::no_frames(&args.capture, &capture));
    }
    let plan = a.plan().clone();
    let faults = args.faults.of(&plan)?;
    let mut text = String::new();
    let mut found = Value::Null;
    let mut holds = true;
    for frame in &frames {
        let features = frame.tensor("features")?.as_halves();
        let mut recorded = recorded(&plan, frame);
        let mut other = b.as_mut().map(Player::side).transpose()?;
        let other: &mut dyn Side = match &mut other {
            Some(side) => side,
            None => &mut recorded,
        };
        let mut side = Faulty { side: a.side()?, faults: faults.of_frame(frame.info().number) };
        let names = (side.name(), other.name());
        if let Some(difference) = compare(&plan, &features, &mut side, other)? {
            let finding = describe(&plan, &model, frame.info().number, &names, &difference)?;
            text.push_str(&finding.text);
            found = finding.json;
            holds = false;
            break;
        }
        text.push_str(&format!("frame {}: {} and {} agree\n", frame.info().number, names.0, names.1));
    }
    let json = json!({
        "capture": capture.directory(),
        "model": model.description(),
        "digest": model.digest(),
        "device": engines.device_name(),
        "passes": holds,
        "found": found,
    });
    Ok(Outcome { json, text, holds })
}

/// The other side of a search: never the same as the first, which would always agree.
fn against(route: RouteArg, asked: Option<Against>) -> Result<Against> {
    let same = match route {
        RouteArg::Cpu => Against::Cpu,
        _ => Against::Exact,
    };
    match asked {
        Some(asked) if asked == same => bail!("both sides are route {}, which says nothing", route.resolved()),
        Some(asked) => Ok(asked),
        None if route == RouteArg::Cpu => Ok(Against::Capture),
        None => Ok(Against::Cpu),
    }
}

/// Finds what makes a replayed frame differ, whose checks are `checks`.
///
/// # Errors
/// A side fails.
pub fn search(
    player: &mut Player,
    model: &Model,
    capture: &Capture,
    frame: &RecordedFrame,
    checks: &[Checked],
    faults: &[Fault],
) -> Result<Finding> {
    let number = frame.info().number;
    let plan = player.plan().clone();
    let fails = |check: Check| checks.iter().any(|c| c.check == check && !c.passes);
    if !fails(Check::Head) && !fails(Check::Boundaries) {
        let stage = if fails(Check::Features) { "preprocess" } else { "composite" };
        return Ok(stage_only(number, stage));
    }
    let features = frame.tensor("features")?.as_halves();
    let reference = Reference::new(&plan, model).context("cannot prepare the CPU reference")?;
    // First this machine against the contract: that names the exact operation.
    let mut side = Faulty { side: player.side()?, faults: faults.to_vec() };
    let names = (side.name(), "CPU reference".to_owned());
    if let Some(difference) = compare(&plan, &features, &mut side, &mut ReferenceSide(&reference))? {
        return describe(&plan, model, number, &names, &difference);
    }
    let names = ("the capture".to_owned(), side.name());
    drop(side);
    // Every operation is right by itself; what remains is how they are run together.
    if faults.is_empty() && player.network(&features, &[])?.head != reference.run(&features, |_, _, _| {})? {
        let text = format!(
            "first difference: frame {number}, head: every operation agrees with the CPU reference by itself, run together \
             (fused kernels, shared memory) they do not\n"
        );
        return Ok(Finding { text, json: json!({ "frame": number, "stage": "schedule" }) });
    }
    // This machine is right: the recording parts from the contract somewhere.
    let mut side = player.side()?;
    match compare(&plan, &features, &mut recorded(&plan, frame), &mut side)? {
        Some(difference) => {
            let mut finding = describe(&plan, model, number, &names, &difference)?;
            finding.text.push_str("  this machine agrees with the CPU reference here; the recording does not\n");
            if !capture.header().all_tensors {
                finding.text.push_str("  (a capture with --all-tensors narrows this to one operation)\n");
            }
            Ok(finding)
        }
        // With the recorded features every operation agrees: what differs is the features.
        None => Ok(stage_only(number, "preprocess")),
    }
}

fn stage_only(number: u32, stage: &str) -> Finding {
    let what = "outside the network: the frame passes differ, every operation agrees on the recorded features";
    Finding {
        text: format!("first difference: frame {number}, {stage} ({what})\n"),
        json: json!({ "frame": number, "stage": stage }),
    }
}

fn compare(plan: &Plan, features: &[u16], a: &mut dyn Side, b: &mut dyn Side) -> Result<Option<Difference>> {
    let bar = progress::bar(plan.ops.len() as u64, "operations");
    let found = first_difference(plan, features, a, b, |_| bar.inc(1))?;
    bar.finish_and_clear();
    Ok(found)
}

/// The tensors of a recorded frame, as far as they are recorded.
fn recorded<'a>(plan: &'a Plan, frame: &'a RecordedFrame) -> RecordedSide<'a> {
    RecordedSide::new(plan, "the capture", move |id| {
        let name = tensor_name(plan, id);
        if !frame.has(&name) {
            return Ok(None);
        }
        let tensor = frame.tensor(&name).map_err(|error| SideError::Recording(error.to_string()))?;
        Ok(Some(match tensor.dtype {
            DType::F16 => TensorData::Halves(tensor.as_halves()),
            _ => TensorData::Codes(tensor.bytes),
        }))
    })
}

fn describe(plan: &Plan, model: &Model, frame: u32, names: &(String, String), d: &Difference) -> Result<Finding> {
    let id = OpId(u32::try_from(d.op)?);
    let outputs = plan.op(id).kind.outputs();
    let tensor = outputs.into_iter().find(|&id| plan.tensor(id).label == d.tensor).context("no such output")?;
    let spelled = operands(plan, model, id, tensor, d.first.index, &d.inputs)?;
    let boundary = next_boundary(plan, d.op);
    let mut text = format!(
        "first difference: frame {frame}, before {boundary}, operation {} ({}, {}) of block {}\n",
        d.op, d.label, d.kind, d.block
    );
    let at = &d.first;
    text.push_str(&format!(
        "  tensor {}: {} of {} elements differ, first at index {} (x {} y {} channel {})\n  {}: {:#x} = {}\n  {}: {:#x} = {}\n",
        d.tensor, d.different, d.elements, at.index, at.x, at.y, at.channel, names.0, at.a, at.a_value, names.1, at.b, at.b_value
    ));
    if !d.unseen.is_empty() {
        text.push_str(&format!("  or one of these, whose results are not recorded: {}\n", d.unseen.join(" ")));
    }
    text.push_str("  operands of that element:\n    ");
    text.push_str(&spelled.to_string().replace('\n', "\n    "));
    text.push('\n');
    let json = json!({
        "frame": frame,
        "boundary": boundary,
        "a": names.0,
        "b": names.1,
        "difference": d,
        "operands": spelled,
    });
    Ok(Finding { text, json })
}

/// The first boundary at or after an operation.
fn next_boundary(plan: &Plan, op: usize) -> String {
    let outputs = plan.ops[op..].iter().flat_map(|op| op.kind.outputs());
    outputs.filter_map(|id| plan.tensor(id).boundary.clone()).next().unwrap_or_else(|| "head".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_sides_are_never_the_same() {
        let sides = |route, asked| against(route, asked).ok();
        assert_eq!(sides(RouteArg::Cpu, None), Some(Against::Capture));
        assert_eq!(sides(RouteArg::Exact, None), Some(Against::Cpu));
        assert_eq!(sides(RouteArg::Cpu, Some(Against::Exact)), Some(Against::Exact));
        for (route, asked) in
            [(RouteArg::Cpu, Against::Cpu), (RouteArg::Exact, Against::Exact), (RouteArg::Auto, Against::Exact)]
        {
            assert_eq!(sides(route, Some(asked)), None, "{route:?}");
        }
    }
}
