//! The gates about the tape: capture, artifacts, route proof, timings.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use network::capture::sha256;
use network::exec::NetworkOptions;
use network::replay::tape::Effect;
use network::replay::{Claim, Gate, GateResult, Lowering, ReplayRoute, TapeIdentity, hazard};
use serde_json::{Value, json};

use super::Demand;
use super::case::Case;
use crate::cli::read;
use crate::cli::text::counted;
use crate::engine::arms;

/// A gate that was passed.
pub fn passed(gate: Gate, finding: String, relaxed: Vec<String>, details: Value) -> GateResult {
    GateResult { gate, passed: true, finding, relaxed, details }
}

impl Case {
    /// Tries a gate.
    ///
    /// # Errors
    /// It fails, with the reason.
    pub fn pass(&mut self, gate: Gate) -> Result<GateResult> {
        match gate {
            Gate::Baseline => self.baseline(),
            Gate::Capture => self.capture(),
            Gate::Artifacts => self.artifacts(),
            Gate::ShadowParity => self.shadow(),
            Gate::RouteProof => self.proof(),
            Gate::Viewer => self.viewer(),
            Gate::Performance => self.performance(),
            Gate::LongRun => self.long_run(),
        }
    }

    fn capture(&mut self) -> Result<GateResult> {
        let mut neural = self.neural(self.asked, NetworkOptions::default())?;
        let warm = self.warm(&mut neural)?;
        let counts = neural.retain().counts.clone().context("the dispatches of the last frame were not counted")?;
        let identity = neural.retain().controller.identity().cloned().context("no tape was captured")?;
        for time in 0..3 {
            let again = TapeIdentity::of(&neural.network().tape());
            let differences = identity.differences(&again);
            ensure!(differences.is_empty(), "recording {time} differs in {}", differences.join(", "));
        }
        let log: Vec<String> = neural.retain().status().transitions;
        let finding = format!(
            "{} dispatches of {} kernels retained, {} in the whole frame, ready after {}",
            counts.retained,
            identity.kernels,
            counts.total,
            counted(warm, "frame")
        );
        self.retained = Some(neural);
        self.identity = Some(identity);
        Ok(passed(Gate::Capture, finding, Vec::new(), json!({ "counts": counts, "transitions": log })))
    }

    fn artifacts(&mut self) -> Result<GateResult> {
        let neural = self.retained.as_ref().context("no tape was captured")?;
        let identity = self.identity.as_ref().context("no tape was captured")?;
        let tape = neural.network().tape();
        let mut kernels = BTreeMap::new();
        for entry in &tape.entries {
            let shader = shaders::shader(&entry.shader).with_context(|| format!("{} is no shader", entry.shader))?;
            let digest = sha256(shader.spirv);
            ensure!(digest == entry.digest, "{} has another digest than its SPIR-V", entry.shader);
            ensure!(
                entry.push.len() == shader.info.push_constant_size as usize,
                "{} has {} bytes of push constants",
                entry.label,
                entry.push.len()
            );
            for (binding, declared) in entry.bindings.iter().zip(shader.info.bindings) {
                ensure!(binding.number == declared.binding, "{} binds {}", entry.label, binding.number);
                ensure!(binding.range > 0, "{} binds nothing at {}", entry.label, binding.number);
                ensure!(
                    binding.effect != Effect::Unknown,
                    "the effect of {} on binding {} is not declared",
                    entry.shader,
                    binding.number
                );
            }
            kernels.insert(entry.shader.clone(), digest);
        }
        let actors = tape.actors();
        if let Err(open) = Lowering::validate(&actors, &tape.barriers) {
            bail!("{} hazards are open: {}", open.len(), open[0].describe(&tape));
        }
        let needed = hazard::needed(&actors);
        let mut caught = 0;
        for at in (0..needed.len()).filter(|&at| needed[at]) {
            let mut fewer = needed.clone();
            fewer[at] = false;
            ensure!(Lowering::validate(&actors, &fewer).is_err(), "deleting barrier {at} is not noticed");
            caught += 1;
        }
        let standing = tape.barriers.iter().filter(|barrier| **barrier).count();
        let fresh = self.fresh_process()?;
        ensure!(fresh == identity.digest(), "a fresh process records another tape: {fresh}");
        let finding = format!(
            "{} shaders have their digests, every effect is declared, {standing} barriers stand, {caught} are needed and the \
             deletion of each is noticed, a fresh process records the same tape",
            kernels.len()
        );
        let details = json!({
            "kernels": kernels, "barriers": standing, "needed": caught, "identity": identity, "dynamic": tape.dynamic,
        });
        Ok(passed(Gate::Artifacts, finding, Vec::new(), details))
    }

    /// The tape's digest as another process of this program records it.
    fn fresh_process(&self) -> Result<String> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["tape", "--json", "--size", &self.geometry.valid.to_string()]);
        for (option, value) in [("--device", &self.globals.device), ("--model", &self.globals.model)] {
            if let Some(value) = value {
                command.args([option, value]);
            }
        }
        let output = command.output().context("cannot start a fresh process")?;
        ensure!(output.status.success(), "a fresh process failed: {}", String::from_utf8_lossy(&output.stderr));
        let document: Value = serde_json::from_slice(&output.stdout)?;
        Ok(document["digest"].as_str().context("a fresh process told no digest")?.to_owned())
    }

    fn proof(&mut self) -> Result<GateResult> {
        let mut neural = self.retained.take().context("no tape was captured")?;
        let frames = self.demand.proof;
        neural.retain_mut().begin_span();
        for number in 0..frames {
            self.frame(&mut neural, number)?;
        }
        let identity = TapeIdentity::of(&neural.network().tape());
        let proof = neural.retain().proof(&identity);
        if let Some(defect) = proof.defect() {
            bail!("{defect}");
        }
        let dispatches = neural.retain().counts.as_ref().map_or(0, |counts| counts.total);
        ensure!(
            proof.dispatches == dispatches * u64::from(frames),
            "{} dispatches were submitted in {frames} frames of {dispatches}",
            proof.dispatches
        );
        self.retained = Some(neural);
        let finding =
            format!("{} of {} were replays, {dispatches} dispatches each", proof.replays, counted(frames, "frame"));
        let relaxed = self.relaxation("frames of route proof", frames, Demand::FULL.proof);
        Ok(passed(Gate::RouteProof, finding, relaxed, json!(proof)))
    }

    fn performance(&mut self) -> Result<GateResult> {
        let identity = self.identity.clone().context("no tape was captured")?;
        let (frames, warm) = self.demand.timed;
        let timed = match &self.bench {
            Some(file) => evidence(&read::text(file, read::DOCUMENT)?, &self.geometry.valid.to_string())?,
            None => {
                let routes = [ReplayRoute::Direct, self.route];
                serde_json::to_value(arms::run(&arms::Plan {
                    studio: &self.studio,
                    kernels: &self.kernels,
                    weights: &self.weights,
                    model: self.model.digest(),
                    geometry: &self.geometry,
                    blend_scale: self.model.blend_scale()?.to_f32(),
                    routes: &routes,
                    warm,
                    frames,
                })?)?
            }
        };
        judge(&timed, self.route, &identity.sequence, self.relaxed).map(|finding| {
            let mut relaxed = self.relaxation("timed frames", frames, Demand::FULL.timed.0);
            if self.relaxed {
                relaxed.push("times need not be stationary".to_owned());
            }
            passed(Gate::Performance, finding, relaxed, timed)
        })
    }
}

/// The timings of a size in a bench document; anything that is not dated performance evidence is refused.
///
/// # Errors
/// The document is something else.
pub fn evidence(text: &str, size: &str) -> Result<Value> {
    let document: Value = read::parse(text).context("the bench file is no JSON document")?;
    let claim: Claim =
        serde_json::from_value(document["claim"].clone()).context("the bench file states no class of evidence")?;
    ensure!(claim == Claim::DatedPerformanceEvidence, "the file is no performance evidence: {claim}");
    let sizes = document["sizes"].as_array().context("the bench file has no sizes")?;
    let found = sizes.iter().find(|timed| timed["size"] == size);
    Ok(found.with_context(|| format!("the bench file has nothing of {size}"))?.clone())
}

/// Whether timings are stationary and the retained route pays.
///
/// # Errors
/// The reason why not.
pub fn judge(timed: &Value, route: ReplayRoute, sequence: &str, relaxed: bool) -> Result<String> {
    let arms = timed["arms"].as_array().context("no arms were timed")?;
    let arm = |name: &str| arms.iter().find(|arm| arm["proof"]["requested"] == name);
    let (direct, retained) = (
        arm("direct").context("the direct route was not timed")?,
        arm(route.name()).with_context(|| format!("the {route} route was not timed"))?,
    );
    for arm in [direct, retained] {
        let proof: network::replay::ArmProof = serde_json::from_value(arm["proof"].clone())?;
        if let Some(defect) = proof.defect() {
            bail!("an arm proves no route: {defect}");
        }
        ensure!(proof.sequence == sequence, "an arm ran another tape");
        let device = &arm["device"];
        if !relaxed && device["stationary"] != true {
            bail!(
                "the times of the {} arm are not stationary: spread {}, drift {}",
                proof.requested,
                device["spread"],
                device["drift"]
            );
        }
    }
    let of = |arm: &Value, what: &str| arm[what]["median"].as_f64().context("an arm has no times");
    let host = of(direct, "host")? / of(retained, "host")?;
    let device = of(retained, "device")? / of(direct, "device")?;
    ensure!(host > 1.0, "the route does not pay: it takes {:.2} times the host time of the direct one", 1.0 / host);
    ensure!(relaxed || device <= 1.01, "the route does not pay: the device takes {device:.3} times as long");
    Ok(format!("{host:.1} times less host time than direct, {device:.3} times its device time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(host: f64, stationary: bool, replays: u64) -> Value {
        let arm = |route: &str, host: f64, replays: u64| {
            let proof = json!({
                "requested": route, "selected": route, "state": "ready", "fallback": "", "frames": 3, "replays": replays,
                "submissions": 3, "commandBuffers": 3, "dispatches": 900, "sequence": "s",
            });
            let device = json!({ "median": 10.0, "stationary": stationary, "spread": 0.02, "drift": 0.0 });
            json!({ "proof": proof, "host": { "median": host }, "device": device })
        };
        json!({ "size": "320x180", "arms": [arm("direct", 1.0, 0), arm("primary", host, replays)] })
    }

    #[test]
    fn timings_are_judged() {
        let judge = |timed: &Value, relaxed| judge(timed, ReplayRoute::Primary, "s", relaxed);
        assert!(judge(&timed(0.1, true, 3), false).is_ok_and(|text| text.starts_with("10.0 times less")));
        let failed = |timed: &Value| judge(timed, false).map_err(|error| error.to_string()).err().unwrap_or_default();
        assert!(failed(&timed(2.0, true, 3)).contains("does not pay"));
        assert!(failed(&timed(0.1, false, 3)).contains("not stationary"));
        assert!(judge(&timed(0.1, false, 3), true).is_ok());
        assert!(failed(&timed(0.1, true, 2)).contains("2 replays were observed in 3 frames"));
        assert!(super::judge(&timed(0.1, true, 3), ReplayRoute::Primary, "t", false).is_err());
    }

    #[test]
    fn attribution_is_no_evidence() {
        let file = |claim: &str| json!({ "claim": claim, "sizes": [timed(0.1, true, 3)] }).to_string();
        assert!(evidence(&file("dated-performance-evidence"), "320x180").is_ok());
        let refused = evidence(&file("attribution"), "320x180").map_err(|error| error.to_string());
        assert!(refused.is_err_and(|text| text.contains("attribution only")));
        assert!(evidence(&file("dated-performance-evidence"), "64x64").is_err());
    }
}
