//! Matched timings: the same frames on several routes, one frame of each after the other.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use network::exec::{Kernels, Weights};
use network::frame::Parameters;
use network::geometry::Geometry;
use network::replay::controller::State;
use network::replay::stationary::Spread;
use network::replay::{ArmProof, Ratio, ReplayRoute, TapeIdentity};
use renderer::View;
use serde::Serialize;

use super::neural::Neural;
use super::pace::Pace;
use super::retain::ms;
use super::studio::Studio;

/// Frames after which a route that is not ready is timed as it is: the proof then says so.
const MOST_WARM: u32 = 24;

/// What to time.
pub struct Plan<'a> {
    /// The scene and what draws it.
    pub studio: &'a Studio,
    /// Pipelines.
    pub kernels: &'a Arc<Kernels>,
    /// Weights.
    pub weights: &'a Arc<Weights>,
    /// Digest of the weights.
    pub model: &'a str,
    /// Size.
    pub geometry: &'a Geometry,
    /// Cap of the temporal weight.
    pub blend_scale: f32,
    /// The arms.
    pub routes: &'a [ReplayRoute],
    /// Frames of each arm before any counts.
    pub warm: u32,
    /// Timed frames of each arm.
    pub frames: u32,
}

/// One route, timed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Arm {
    /// Which route the frames took, and how that is known.
    pub proof: ArmProof,
    /// CPU milliseconds of recording everything but the scene.
    pub record: Spread,
    /// CPU milliseconds of handing it to the device.
    pub submit: Spread,
    /// Both.
    pub host: Spread,
    /// GPU milliseconds of the network.
    pub device: Spread,
    /// Milliseconds from the beginning of a frame to its end.
    pub wall: Spread,
}

/// All arms of one size.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Timed {
    /// Valid size.
    pub size: String,
    /// Padded size.
    pub field: String,
    /// In which order the arms of a frame run: it turns by one every frame.
    pub order: &'static str,
    /// Frames before any counts.
    pub warm: u32,
    /// The arms.
    pub arms: Vec<Arm>,
    /// Direct over each other arm.
    pub ratios: Vec<Ratio>,
}

#[derive(Default)]
struct Samples {
    record: Vec<f64>,
    submit: Vec<f64>,
    host: Vec<f64>,
    device: Vec<f64>,
    wall: Vec<f64>,
}

struct Runner {
    neural: Neural,
    pace: Pace,
    samples: Samples,
}

impl Runner {
    fn frame(&mut self, plan: &Plan<'_>, number: u32) -> Result<()> {
        let parameters = Parameters { blend_scale: plan.blend_scale, ..Parameters::default() };
        let begun = Instant::now();
        let job = self.neural.begin(View::scripted(&plan.studio.scene, number, 30.0), parameters, true);
        let times = self.neural.finish(plan.studio, job, &mut self.pace)?;
        let host = self.neural.retain().host;
        let samples = &mut self.samples;
        samples.wall.push(ms(begun.elapsed()));
        samples.record.push(host.record);
        samples.submit.push(host.submit);
        samples.host.push(host.record + host.submit);
        samples.device.push(times.network);
        Ok(())
    }
}

/// Times every arm.
///
/// # Errors
/// A frame fails, or the arms do not fit on the device together.
pub fn run(plan: &Plan<'_>) -> Result<Timed> {
    let mut runners = Vec::new();
    for route in plan.routes {
        let mut neural = Neural::new(plan.studio, plan.kernels, plan.weights, plan.geometry, None)?;
        neural.ask_replay(plan.studio, (*route).into(), plan.model)?;
        runners.push(Runner { neural, pace: Pace::unsliced(), samples: Samples::default() });
    }
    for runner in &mut runners {
        for number in 0..MOST_WARM.max(plan.warm) {
            let controller = &runner.neural.retain().controller;
            let settled = !controller.requested().is_retained() || *controller.state() == State::Ready;
            if number >= plan.warm && settled {
                break;
            }
            runner.frame(plan, number)?;
        }
        runner.samples = Samples::default();
        runner.neural.retain_mut().begin_span();
    }
    let count = runners.len();
    for number in 0..plan.frames {
        for turn in 0..count {
            let arm = (turn + number as usize) % count;
            runners[arm].frame(plan, number)?;
        }
    }
    let mut arms = Vec::new();
    for runner in runners {
        let tape = TapeIdentity::of(&runner.neural.network().tape());
        let proof = runner.neural.retain().proof(&tape);
        let spread = |samples: Vec<f64>| Spread::of(samples).context("no frame was timed");
        let Samples { record, submit, host, device, wall } = runner.samples;
        arms.push(Arm {
            proof,
            record: spread(record)?,
            submit: spread(submit)?,
            host: spread(host)?,
            device: spread(device)?,
            wall: spread(wall)?,
        });
    }
    let mut ratios = Vec::new();
    if let Some((direct, others)) = arms.split_first() {
        for other in others {
            for (name, of) in [
                ("host ms", (|arm: &Arm| arm.host.median) as fn(&Arm) -> f64),
                ("device ms", |arm: &Arm| arm.device.median),
                ("wall ms", |arm: &Arm| arm.wall.median),
            ] {
                let name = format!("{name}, {} over {}", direct.proof.requested, other.proof.requested);
                ratios.push(Ratio::of(&name, (of(direct), &direct.proof), (of(other), &other.proof)));
            }
        }
    }
    let Geometry { valid, field, .. } = plan.geometry;
    let order = "one frame of each arm in turn, the first arm changes every frame";
    Ok(Timed { size: valid.to_string(), field: field.to_string(), order, warm: plan.warm, arms, ratios })
}

/// A table of the arms and the ratios, for people.
pub fn text(timed: &Timed) -> String {
    let head = ["arm", "host ms", "record", "submit", "device ms", "spread", "drift", "wall ms", "replays"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for arm in &timed.arms {
        rows.push(vec![
            match arm.proof.defect() {
                None => arm.proof.requested.to_string(),
                Some(defect) => format!("{} (not proven: {defect})", arm.proof.requested),
            },
            format!("{:.4}", arm.host.median),
            format!("{:.4}", arm.record.median),
            format!("{:.4}", arm.submit.median),
            format!("{:.3}", arm.device.median),
            format!("{:.2} %", 100.0 * arm.device.spread),
            format!("{:.2} %", 100.0 * arm.device.drift),
            format!("{:.3}", arm.wall.median),
            format!("{} of {}", arm.proof.replays, arm.proof.frames),
        ]);
    }
    let mut out = format!("{} in a field of {}\n{}", timed.size, timed.field, crate::cli::text::table(&rows));
    for ratio in &timed.ratios {
        out.push_str(&format!("{ratio}\n"));
    }
    out
}
