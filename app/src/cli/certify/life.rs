//! The gates about life: the viewer's session, and a long run with everything that can happen to it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use network::exec::{NetworkOptions, Weights};
use network::geometry::{Extent, Geometry};
use network::model::Source;
use network::replay::controller::State;
use network::replay::{Discard, Gate, GateResult, ReplayRoute};
use renderer::{FlyInput, Scene};
use serde_json::json;

use super::Demand;
use super::case::Case;
use super::gates::passed;
use crate::cli::progress;
use crate::cli::text::counted;
use crate::engine::neural::Neural;
use crate::engine::pace::Pace;
use crate::engine::retain::{Injection, ReplayFailed};
use crate::window::session::{Picture, Session};
use crate::window::settings::Settings;

/// Longest that the viewer's session may take for a frame.
const PATIENCE: Duration = Duration::from_secs(120);

impl Case {
    /// The viewer's session, without a window around it: frames are computed as in the window and shown from the same
    /// buffers.
    pub fn viewer(&mut self) -> Result<GateResult> {
        let device = Arc::clone(&self.studio.device);
        let mut session = Session::new(&device, Scene::builtin(), self.geometry.valid, Some(self.source.clone()))?;
        session.ask_replay(self.asked)?;
        let mut relaxed = self.relaxation("frames of the viewer's session", self.demand.viewer, Demand::FULL.viewer);
        if self.relaxed {
            session.unslice();
            relaxed.push("the viewer's frames are not sliced, as its window would on this device".to_owned());
        }
        let mut settings = Settings::new(self.geometry.valid);
        let (mut shown, mut replays, mut last) = (0, 0, Instant::now());
        while replays < u64::from(self.demand.viewer) {
            session.step(&mut settings, &FlyInput::default(), 1.0 / 30.0);
            let fresh = session.advance(&mut settings)?;
            if fresh {
                ensure!(session.picture(&settings) == Picture::Pair, "a finished frame is not shown");
                shown += 1;
                last = Instant::now();
            }
            replays = session.neural().map_or(0, |neural| neural.retain().controller.replays());
            if last.elapsed() > PATIENCE {
                let state = session.neural().map(|neural| neural.retain().status().text());
                bail!("no frame for {} s: {}", PATIENCE.as_secs(), state.unwrap_or_else(|| "no network".to_owned()));
            }
            session.settle(Duration::from_millis(50));
        }
        // The last frame may still run.
        device.wait_idle()?;
        let neural = session.neural().context("the session has no network")?;
        let read = |buffer: &gpu::Buffer| device.download(buffer, 0, buffer.size());
        let (input, output) = (read(neural.display_input())?, read(neural.display_neural())?);
        let changed = input.iter().zip(&output).filter(|(a, b)| a != b).count();
        ensure!(changed > 0, "the picture with the network is the one without");
        ensure!(settings.network, "the session switched the network off");
        let status = neural.retain().status();
        ensure!(status.selected == self.route.name(), "the last frame was {}", status.text());
        let finding = format!(
            "{} shown, {replays} of them replays, {:.1} % of the bytes differ from the input, no message",
            counted(shown, "frame"),
            100.0 * changed as f64 / input.len() as f64
        );
        Ok(passed(Gate::Viewer, finding, relaxed, json!({ "shown": shown, "replay": status })))
    }

    /// Many frames, with resizes, resets, other models and failures on purpose in between.
    pub fn long_run(&mut self) -> Result<GateResult> {
        let demand = self.demand;
        self.retained = None;
        let device = Arc::clone(&self.studio.device);
        let other_model = match self.source.to_string().as_str() {
            "starter" => "lively:1".parse::<Source>()?,
            _ => "starter".parse::<Source>()?,
        }
        .open(true)?;
        let mut life = Life { frames: 0, replays: 0, lost: 0, events: Vec::new() };
        let own = (self.geometry, Arc::clone(&self.weights), self.model.clone());
        let small = Geometry::new(Extent::new((own.0.valid.width / 2).max(33), (own.0.valid.height / 2).max(33)))?;
        let mut neural = self.neural(self.asked, NetworkOptions::default())?;
        self.warm(&mut neural)?;
        let objects = device.live_objects().len();
        let spread = |count: u32| (demand.frames / count.max(1)).max(1);
        let bar = progress::bar(u64::from(demand.frames), "long run");
        let (mut resized, mut reset, mut swapped) = (0, 0, 0);
        while life.frames < demand.frames {
            life.frame(self, &mut neural)?;
            bar.inc(1);
            if life.frames.is_multiple_of(spread(demand.resets)) && reset < demand.resets {
                neural.reset();
                reset += 1;
            }
            let resize = life.frames.is_multiple_of(spread(demand.resizes)) && resized < demand.resizes;
            let swap = life.frames.is_multiple_of(spread(demand.swaps)) && swapped < demand.swaps;
            if !(resize || swap) {
                continue;
            }
            if resize {
                neural.retain_mut().controller.discard(Discard::Resize);
                self.geometry = if resized % 2 == 0 { small } else { own.0 };
                resized += 1;
            }
            if swap {
                neural.retain_mut().controller.discard(Discard::Model);
                self.model = if swapped % 2 == 0 { other_model.clone() } else { own.2.clone() };
                self.weights = Weights::upload(&device, &self.model)?;
                swapped += 1;
            }
            ensure!(*neural.retain().controller.state() == State::Warming, "a discarded tape is still there");
            drop(neural);
            device.wait_idle()?;
            neural = self.neural(self.asked, NetworkOptions::default())?;
            // Its shadow frames compare every new tape with direct frames.
            life.frames += self.warm(&mut neural)?;
        }
        bar.finish_and_clear();
        drop(neural);
        (self.geometry, self.weights, self.model) = own;
        let mut neural = self.neural(self.asked, NetworkOptions::default())?;
        self.warm(&mut neural)?;
        let failures =
            [Injection::Replay, Injection::Preparation, Injection::Shadow, Injection::Identity, Injection::Foreign];
        for injection in failures.into_iter().take(demand.failures) {
            life.fail(self, &mut neural, injection)?;
        }
        drop(neural);
        device.wait_idle()?;
        let neural = self.neural(self.asked, NetworkOptions::default())?;
        let left = device.live_objects().len();
        // Recordings and their pools come with the first replay.
        ensure!(left <= objects, "{left} objects live, {objects} did at the beginning");
        drop(neural);
        ensure!((resized, reset, swapped) == (demand.resizes, demand.resets, demand.swaps), "the run was too short");
        let full = Demand::FULL;
        let mut relaxed = self.relaxation("frames of the long run", demand.frames, full.frames);
        relaxed.extend(self.relaxation("resizes", demand.resizes, full.resizes));
        relaxed.extend(self.relaxation("resets", demand.resets, full.resets));
        relaxed.extend(self.relaxation("model changes", demand.swaps, full.swaps));
        relaxed.extend(self.relaxation("kinds of failure", demand.failures as u32, full.failures as u32));
        let finding = format!(
            "{}, {} of them replays, {}, {}, {}, {} on purpose with {} lost to them; nothing is left behind",
            counted(life.frames, "frame"),
            life.replays,
            counted(resized, "resize"),
            counted(reset, "reset"),
            counted(swapped, "model change"),
            counted(demand.failures, "failure"),
            counted(life.lost, "frame")
        );
        let details = json!({ "frames": life.frames, "replays": life.replays, "events": life.events });
        Ok(passed(Gate::LongRun, finding, relaxed, details))
    }
}

/// What happened.
struct Life {
    frames: u32,
    replays: u64,
    lost: u32,
    events: Vec<String>,
}

impl Life {
    fn frame(&mut self, case: &Case, neural: &mut Neural) -> Result<ReplayRoute> {
        let before = neural.retain().controller.replays();
        case.frame(neural, self.frames)?;
        self.frames += 1;
        self.replays += neural.retain().controller.replays() - before;
        Ok(neural.retain().decision.as_ref().map_or(ReplayRoute::Direct, |decision| decision.selected))
    }

    /// Makes a failure, and checks state, message and later behaviour.
    fn fail(&mut self, case: &Case, neural: &mut Neural, injection: Injection) -> Result<()> {
        let preparing = matches!(injection, Injection::Preparation | Injection::Shadow | Injection::Foreign);
        if preparing {
            // These happen while a route is prepared.
            *neural = case.neural(case.asked, NetworkOptions::default())?;
        }
        neural.retain_mut().injection = Some(injection);
        let counter = neural.frame().clock().counter();
        let job = neural.begin(case.view(counter), case.parameters()?, true);
        let first = neural.finish(&case.studio, job, &mut Pace::unsliced());
        if preparing {
            // The direct frame stands.
            first.with_context(|| format!("{injection:?}: the direct frame failed"))?;
            for _ in 0..3 {
                self.frame(case, neural)?;
            }
        } else {
            let error = first.err().with_context(|| format!("{injection:?}: the frame was not reported"))?;
            ensure!(error.downcast_ref::<ReplayFailed>().is_some(), "{injection:?}: {error:#}");
            ensure!(neural.frame().clock().counter() == counter, "{injection:?}: the lost frame was counted");
            self.lost += 1;
        }
        let state = neural.retain().controller.state().clone();
        let sticky = matches!(injection, Injection::Identity | Injection::Foreign);
        match &state {
            State::Poisoned(_) if sticky => {}
            State::Fallback(_) if !sticky => {}
            other => bail!("{injection:?}: the state is {other}"),
        }
        // Later frames run direct.
        let route = self.frame(case, neural)?;
        ensure!(route == ReplayRoute::Direct, "{injection:?}: a later frame was replayed");
        neural.retain_mut().controller.reset();
        let after = neural.retain().controller.state().name();
        ensure!(after == if sticky { "poisoned" } else { "warming" }, "{injection:?}: a reset leads to {after}");
        if sticky {
            *neural = case.neural(case.asked, NetworkOptions::default())?;
        }
        case.warm(neural)?;
        self.events.push(format!("{injection:?}: {state}; later frames direct; then {after}"));
        Ok(())
    }
}
