//! Recording a frame for replay, comparing replays with direct frames, and submitting them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use gpu::{Buffer, CommandBuffer, Ticket, Timestamps};
use network::exec::{Network, Retained};
use network::frame::Frame;
use network::replay::admission::Subject;
use network::replay::{Conditions, Decision, Ledger, Lowering, Registry, ReplayRoute, TapeIdentity};

use super::neural::{Neural, STAMPS};
use super::retain::{HostTimes, Injection, ReplayArg, Retain, ms};
use super::stages;
use super::studio::Studio;

/// Longest that a shadow frame may take.
const SHADOW_LIMIT: Duration = Duration::from_secs(600);

/// Records features, network and composition of a whole frame, and says who owns the dispatches. The direct route and every
/// retained one are these calls.
pub fn record(
    frame: &Frame,
    network: &Network,
    stamps: &Timestamps,
    cmd: &mut CommandBuffer,
    parity: usize,
    ledger: &mut Ledger,
) {
    let before = cmd.dispatches();
    frame.preprocess(cmd, parity);
    let features = cmd.dispatches();
    ledger.external("preprocess", features - before);
    cmd.write_timestamp(stamps, 2);
    stages::record(network, cmd, 0..network.steps(), stamps);
    let head = cmd.dispatches();
    ledger.retained(head - features);
    cmd.write_timestamp(stamps, 3);
    frame.composite(cmd, parity);
    ledger.external("composite", cmd.dispatches() - head);
    cmd.write_timestamp(stamps, 4);
}

/// Everything that a frame writes and that outlives it, by name.
pub type Surfaces = Vec<(String, Vec<u8>)>;

/// The first surface in which two frames differ, with the place.
pub fn difference(one: &Surfaces, other: &Surfaces) -> Option<String> {
    one.iter().zip(other).find_map(|((name, a), (_, b))| {
        if a.len() != b.len() {
            return Some(format!("{name}: {} and {} bytes", a.len(), b.len()));
        }
        let at = a.iter().zip(b).position(|(a, b)| a != b)?;
        let count = a.iter().zip(b).filter(|(a, b)| a != b).count();
        Some(format!("{name}: byte {at} is {:02x} and {:02x}, {count} of {} bytes differ", a[at], b[at], a.len()))
    })
}

impl Neural {
    /// Asks for a route. `model` is the digest of the weights.
    ///
    /// # Errors
    /// The program's registry is damaged.
    pub fn ask_replay(&mut self, studio: &Studio, asked: ReplayArg, model: &str) -> Result<()> {
        let registry: Registry = super::retain::registry().map_err(anyhow::Error::msg)?;
        let subject: Subject = super::retain::subject(&studio.device, model, self.frame.geometry().field);
        self.retain.ask(asked, registry, subject);
        Ok(())
    }

    /// States, counts and times of the retained side.
    pub fn retain(&self) -> &Retain {
        &self.retain
    }

    /// The same, to count, reset and inject failures.
    pub fn retain_mut(&mut self) -> &mut Retain {
        &mut self.retain
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The owners of a direct frame's dispatches, or the end of trust.
    pub(super) fn count(&mut self, ledger: &Ledger, total: u64) {
        match ledger.reconcile(total, self.network.steps() as u64) {
            Ok(counts) => self.retain.counts = Some(counts),
            Err(error) => {
                tracing::error!("{error}");
                self.retain.counts = None;
                self.retain.controller.poison(&error.to_string());
            }
        }
    }

    /// Submits a frame whose retained part is recorded: inside `commands` already, or behind them.
    pub(super) fn submit_replay(
        &mut self,
        studio: &Studio,
        decision: &Decision,
        parity: usize,
        record: f64,
        mut ledger: Ledger,
    ) -> Result<Ticket> {
        if self.retain.injected(Injection::Identity) {
            self.retain.controller.poison("the tape's sequence changed (injected)");
            bail!("the tape is not the one that was validated");
        }
        let Some(recordings) = &self.retain.recordings else { bail!("nothing is recorded") };
        let recording = recordings.recording(parity);
        let network = self.network.steps() as u64;
        let around = recording.dispatches().saturating_sub(network);
        ledger.retained(network);
        ledger.external("preprocess and composite", around);
        let mut total = self.commands.dispatches();
        let mut buffers = vec![&self.commands];
        if decision.selected.is_submitted() {
            total += recording.dispatches();
            buffers.push(recording);
        }
        match ledger.reconcile(total, network) {
            Ok(counts) => self.retain.counts = Some(counts),
            Err(error) => {
                self.retain.controller.poison(&error.to_string());
                return Err(error.into());
            }
        }
        let at = Instant::now();
        if self.retain.injection == Some(Injection::Replay) {
            self.retain.injection = None;
            bail!("the submission was refused (injected)");
        }
        let ticket = studio.device.submit(&buffers, &[], &[])?;
        let submit = ms(at.elapsed());
        self.stamps.expect(STAMPS);
        let command_buffers = if decision.selected == ReplayRoute::Secondary { 2 } else { buffers.len() as u64 };
        self.retain.submitted(decision, command_buffers, total, HostTimes { record, submit });
        Ok(ticket)
    }

    /// After a direct frame that went well as one submission: records it, or compares it with its replay.
    pub(super) fn prepare_replay(&mut self, studio: &Studio, conditions: &Conditions) -> Result<()> {
        if !self.retain.prepares(conditions) {
            return Ok(());
        }
        if self.retain.controller.wants_shadow() {
            return self.shadow(studio);
        }
        if self.retain.controller.direct_frame() {
            match self.record_replay(studio) {
                Ok((recordings, identity)) => {
                    self.retain.recordings = Some(recordings);
                    self.retain.controller.captured(identity);
                }
                Err(error) => self.fall_back(&error)?,
            }
        }
        Ok(())
    }

    /// Preparation failed: the direct frame stands. A lost device is an error all the same.
    fn fall_back(&mut self, error: &anyhow::Error) -> Result<()> {
        self.retain.recordings = None;
        self.retain.controller.preparation_failed(&format!("{error:#}"));
        if error.downcast_ref::<gpu::Error>().is_some_and(gpu::Error::is_device_lost) {
            bail!("{error:#}");
        }
        Ok(())
    }

    /// Records both parities; the tape must be sound and all of its dispatches accounted for.
    fn record_replay(&mut self, studio: &Studio) -> Result<(Retained, TapeIdentity)> {
        if self.retain.injected(Injection::Preparation) {
            bail!("recording failed (injected)");
        }
        let tape = self.network.tape();
        if let Err(open) = Lowering::validate(&tape.actors(), &tape.barriers) {
            let first = open.first().map(|hazard| hazard.describe(&tape)).unwrap_or_default();
            bail!("{} hazards are open, the first: {first}", open.len());
        }
        let keep: Vec<Arc<dyn std::any::Any + Send + Sync>> =
            vec![self.network.objects(), self.frame.objects(), self.gbuffer.clone(), self.stamps.clone()];
        let (frame, network, stamps) = (&self.frame, &self.network, &self.stamps);
        let (mut counted, mut generated) = (Ok(()), None);
        let route = self.retain.controller.requested();
        let recordings = Retained::record(&studio.device, route, keep, |cmd, parity| {
            let mut ledger = Ledger::default();
            record(frame, network, stamps, cmd, parity, &mut ledger);
            let sum = ledger.reconcile(cmd.dispatches(), tape.dispatches() as u64);
            generated = generated.max(Some(cmd.dispatches() - cmd.generated_dispatches()));
            if counted.is_ok() {
                counted = sum.map(drop);
            }
        })?;
        counted?;
        if let (ReplayRoute::Generated, Some(by_host @ 1..)) = (route, generated) {
            bail!("{by_host} dispatches are not in the stream that the device executes");
        }
        Ok((recordings, TapeIdentity::of(&tape)))
    }

    /// Runs the frame that has just finished once more, as a replay, and compares all that it wrote.
    fn shadow(&mut self, studio: &Studio) -> Result<()> {
        // The clock has moved on: the frame had the other parity, and the history that it read is still there.
        let parity = 1 - self.frame.clock().parity();
        let direct = self.surfaces(studio)?;
        let ran = self.replay_again(studio, parity).and_then(|()| self.surfaces(studio));
        match ran {
            Ok(replayed) => {
                let injected = self.retain.injected(Injection::Shadow).then(|| "head (injected)".to_owned());
                let different = injected.or_else(|| difference(&direct, &replayed));
                let failed = different.is_some();
                self.retain.controller.shadow_frame(different);
                if failed {
                    self.retain.recordings = None;
                }
                Ok(())
            }
            Err(error) => self.fall_back(&error),
        }
    }

    /// Replays the retained part of the last frame, with the parameters and the scene image that are there, and waits.
    ///
    /// # Errors
    /// Nothing is recorded, or an error of the device.
    pub fn replay_again(&mut self, studio: &Studio, parity: usize) -> Result<()> {
        let Some(recordings) = &self.retain.recordings else { bail!("nothing is recorded") };
        let recording = recordings.recording(parity);
        let cmd = &mut self.commands;
        cmd.begin()?;
        cmd.reset_timestamps(&self.stamps);
        if recordings.route() == ReplayRoute::Secondary {
            cmd.execute(recording);
        }
        cmd.end()?;
        let buffers: &[&CommandBuffer] = match recordings.route() {
            ReplayRoute::Secondary => &[&self.commands],
            _ => &[&self.commands, recording],
        };
        let ticket = studio.device.submit(buffers, &[], &[])?;
        Ok(studio.device.wait(ticket, SHADOW_LIMIT)?)
    }

    /// Everything that the last frame wrote and that outlives it.
    ///
    /// # Errors
    /// An error of the device.
    pub fn surfaces(&self, studio: &Studio) -> Result<Surfaces> {
        let frame = &self.frame;
        let head = self.network.head();
        let mut all = vec![("head".to_owned(), studio.device.download(head.buffer, head.offset, head.range)?)];
        let named: [(&str, Option<&Buffer>); 7] = [
            ("history 0", Some(frame.history_at(0))),
            ("history 1", Some(frame.history_at(1))),
            ("proxy", frame.proxy()),
            ("published", Some(frame.published())),
            ("display input", Some(frame.display_input())),
            ("display neural", Some(frame.display_neural())),
            ("parameters", Some(frame.parameters())),
        ];
        for (name, buffer) in named {
            if let Some(buffer) = buffer {
                all.push((name.to_owned(), studio.device.download(buffer, 0, buffer.size())?));
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        let one: Surfaces = vec![("head".into(), vec![1, 2, 3]), ("history 0".into(), vec![4, 5])];
        assert_eq!(difference(&one, &one.clone()), None);
        let mut other = one.clone();
        other[1].1[1] = 7;
        let text = difference(&one, &other).unwrap_or_default();
        assert_eq!(text, "history 0: byte 1 is 05 and 07, 1 of 2 bytes differ");
        other[0].1.pop();
        assert!(difference(&one, &other).is_some_and(|text| text.contains("3 and 2 bytes")));
    }
}
