//! `nrview import`: frames of another program become a capture that can be replayed.

use std::path::PathBuf;

use anyhow::{Result, bail};
use network::capture::{CapturedFrame, FrameInfo, Pictures, Recorder, SourceIdentity, Writer};
use network::frame::Parameters;
use network::import::{Import, ImportedFrame, MotionVerdict, check_motion};
use serde_json::{Value, json};

use super::args::RouteArg;
use super::outcome::{CommandResult, Outcome};
use super::{Globals, progress, text, write};
use crate::engine::playback::{Inputs, Keep, Picture, Player, header, model_name, tensors};
use crate::engine::{Engines, model};

/// Arguments of `nrview import`.
#[derive(Clone, Debug, clap::Args)]
pub struct ImportArgs {
    /// The document that names the files and their conventions; docs/capture-format.md describes it.
    #[arg(value_name = "JSON")]
    document: PathBuf,
    /// Folder of the capture; new or empty.
    #[arg(value_name = "DIR")]
    out: PathBuf,
    /// Where the network runs.
    #[arg(long, value_enum, default_value_t)]
    route: RouteArg,
    /// Record the boundaries between the blocks as well.
    #[arg(long)]
    boundaries: bool,
    /// Import even when the motion does not explain how the frames differ.
    #[arg(long)]
    trust_motion: bool,
}

/// Reads, checks, computes and records.
pub fn run(globals: &Globals, args: &ImportArgs) -> CommandResult {
    let import = Import::open(&args.document)?;
    write::check_fresh_folder(&args.out)?;
    let geometry = *import.geometry();
    // Every file is read and every pair checked before anything is computed.
    let Found { verdicts, non_finite } = check(&import, args.trust_motion)?;

    let mut engines = Engines::new(globals, args.route)?;
    let source = model::source(globals)?;
    let model = engines.model(&source)?;
    let keep = if args.boundaries { Keep::Boundaries } else { Keep::Nothing };
    let mut player = Player::new(&mut engines, args.route, &model, &geometry, true, keep)?;
    let kernels = if args.route == RouteArg::Cpu { None } else { Some(engines.parts(&model)?.1) };
    let identity = SourceIdentity::Imported { description: import.description().to_owned() };
    let header = header(
        engines.device().map(|device| &**device),
        kernels.as_deref(),
        model_name(&source, &model),
        &geometry,
        identity,
        keep,
    );
    let writer = Writer::create(&args.out, &geometry, header, Pictures::All)?;
    let mut recorder = Recorder::start(writer, 2)?;
    let bar = progress::bar(import.frames() as u64, "frames");
    let mut history = None;
    for index in 0..import.frames() {
        let number = u32::try_from(index)?;
        let frame = import.frame(index)?;
        let motion = frame.packed_motion(geometry.valid);
        let parameters = Parameters {
            seed: number,
            history_valid: history.is_some(),
            paper_white: import.paper_white(),
            blend_scale: model.blend_scale()?.to_f32(),
            ..Parameters::default()
        };
        let picture = Picture::Scene { color: frame.color, depth: frame.depth, motion };
        let inputs = Inputs { picture, history, parameters };
        let features = player.features(&inputs)?;
        let run = player.network(&features, &[])?;
        let made = player.compose(&inputs, &run.head)?;
        history = Some(made.composed.history.clone());
        let info = FrameInfo {
            number,
            reset: index == 0,
            parameters: (&inputs.parameters).into(),
            time: None,
            jitter: None,
            camera: None,
            previous_camera: None,
        };
        recorder.push(CapturedFrame { info, tensors: tensors(player.plan(), &inputs, features, run, &made) })?;
        bar.inc(1);
    }
    let frames = recorder.finish()?;
    bar.finish_and_clear();
    let mut out = format!("{}: {} of {}\n", args.out.display(), text::counted(frames, "frame"), geometry.valid);
    for (index, verdict) in verdicts.iter().enumerate() {
        out.push_str(&match verdict {
            Some(v) => format!(
                "frame {}: motion leaves {:.4} of the difference of {:.4} to the frame before\n",
                index + 1,
                v.declared,
                v.still
            ),
            None => format!("frame {}: too little moves to check the motion\n", index + 1),
        });
    }
    if import.frames() == 1 {
        out.push_str("a single frame: its motion cannot be checked\n");
    }
    let document = json!({
        "capture": args.out,
        "frames": frames,
        "size": geometry.valid.to_string(),
        "route": args.route.resolved(),
        "device": engines.device_name(),
        "model": model.description(),
        "nonFinite": non_finite
            .iter()
            .map(|[color, motion]| json!({ "color": color, "motion": motion }))
            .collect::<Vec<Value>>(),
        "motion": verdicts.iter().map(|verdict| json!(verdict)).collect::<Vec<Value>>(),
    });
    Ok(Outcome::yes(document, out))
}

/// Counts what is not finite in a frame, and says so.
fn count_non_finite(index: usize, frame: &ImportedFrame) -> [usize; 2] {
    let counts = frame.non_finite();
    for (what, count) in ["color", "motion"].into_iter().zip(counts).filter(|(_, count)| *count > 0) {
        tracing::warn!(
            "frame {index}: the {what} of {count} of {} pixels is not finite; such values are taken for 0",
            frame.color.len()
        );
    }
    counts
}

/// What the frames look like before anything is computed.
struct Found {
    /// The verdict on every frame but the first.
    verdicts: Vec<Option<MotionVerdict>>,
    /// Pixels of every frame whose color, and whose motion, is not finite.
    non_finite: Vec<[usize; 2]>,
}

/// Checks every frame and every pair.
fn check(import: &Import, trust: bool) -> Result<Found> {
    let extent = import.geometry().valid;
    let mut previous = import.frame(0)?;
    let mut non_finite = vec![count_non_finite(0, &previous)];
    let mut verdicts = Vec::new();
    for index in 1..import.frames() {
        let current = import.frame(index)?;
        non_finite.push(count_non_finite(index, &current));
        let verdict = check_motion(&current, &previous, extent);
        if let Some(v) = verdict.filter(|v| !v.passes) {
            let fix = if v.best_error < v.declared {
                format!("it would fit {}: {:.4}", v.best, v.best_error)
            } else {
                "no flip or scale fits better; is the order of the frames right?".to_owned()
            };
            let problem = format!(
                "the motion of frame {index} does not explain how it differs from the frame before: as declared {:.4} is left \
                 of {:.4} without motion; {fix}",
                v.declared, v.still
            );
            if !trust {
                bail!("{problem} (--trust-motion imports it anyway)");
            }
            tracing::warn!("{problem}");
        }
        verdicts.push(verdict);
        previous = current;
    }
    Ok(Found { verdicts, non_finite })
}
