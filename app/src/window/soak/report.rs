//! What a walk has shown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use super::walk::{Tally, Walk};
use super::watch::{Sample, grown};

/// Everything that a walk has shown.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The device.
    device: String,
    /// What decided about the walk.
    seed: u64,
    /// How long it was.
    minutes: f64,
    /// Things done.
    operations: u64,
    /// Things refused with a reason.
    refused: u64,
    /// Each kind of thing.
    deeds: BTreeMap<&'static str, Tally>,
    /// Turns of the window's loop.
    turns: u64,
    /// Frames that went through the network.
    frames: u64,
    /// Frames drawn without it.
    live_frames: u64,
    /// What was held in the same state, time after time.
    pub samples: Vec<Sample>,
    /// What grows.
    grown: Vec<String>,
    /// What failed.
    pub failure: Option<String>,
    /// The last things done before it failed.
    trail: Vec<String>,
    /// Objects of the device that are left at the end.
    pub leaks: Vec<String>,
    /// Messages of the validation layer; none where it was off.
    pub validation: Option<u64>,
}

impl Report {
    /// The report of a walk that begins.
    pub fn new(device: String, seed: u64) -> Self {
        Self {
            device,
            seed,
            minutes: 0.0,
            operations: 0,
            refused: 0,
            deeds: BTreeMap::new(),
            turns: 0,
            frames: 0,
            live_frames: 0,
            samples: Vec::new(),
            grown: Vec::new(),
            failure: None,
            trail: Vec::new(),
            leaks: Vec::new(),
            validation: None,
        }
    }

    /// Takes over what was done.
    pub fn finish(&mut self, walk: &Walk, elapsed: Duration) {
        self.minutes = elapsed.as_secs_f64() / 60.0;
        self.deeds.clone_from(&walk.tallies);
        self.operations = self.deeds.values().map(|tally| tally.done).sum();
        self.refused = self.deeds.values().map(|tally| tally.refused).sum();
        self.turns = walk.turns;
        self.frames = walk.evaluated();
        self.live_frames = walk.drawn;
        self.grown = grown(&self.samples);
        if self.failure.is_some() {
            self.trail.clone_from(&walk.trail);
        }
    }

    /// Whether nothing failed, grew or was left.
    pub fn holds(&self) -> bool {
        self.failure.is_none() && self.grown.is_empty() && self.leaks.is_empty() && self.validation.unwrap_or(0) == 0
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        _ = writeln!(
            text,
            "{} minutes on {}, seed {}: {} operations, {} refused with a reason, {} turns of the engine, \
             {} frames through the network, {} without",
            (self.minutes * 10.0).round() / 10.0,
            self.device,
            self.seed,
            self.operations,
            self.refused,
            self.turns,
            self.frames,
            self.live_frames
        );
        for (name, tally) in &self.deeds {
            _ = writeln!(text, "  {name}: {} done, {} refused", tally.done, tally.refused);
        }
        if let (Some(first), Some(last)) = (self.samples.first(), self.samples.last()) {
            _ = writeln!(text, "{} measurements in the same state; the first, the last:", self.samples.len());
            let mut line = |name: &str, of: fn(&Sample) -> u64, unit: &str| {
                _ = writeln!(text, "  {name}: {}, {}{unit}", of(first), of(last));
            };
            line("process", |sample| sample.resident >> 20, " MiB");
            line("device memory", |sample| sample.device >> 20, " MiB");
            line("reserved on the device", |sample| sample.reserved >> 20, " MiB");
            line("allocations", |sample| sample.allocations, "");
            line("objects of the device", |sample| sample.objects, "");
            line("open files", |sample| sample.files, "");
            line("threads", |sample| sample.threads, "");
            _ = writeln!(text, "  frame: {:.1}, {:.1} ms", first.frame, last.frame);
        }
        for line in &self.grown {
            _ = writeln!(text, "GROWS: {line}");
        }
        if let Some(failure) = &self.failure {
            _ = writeln!(text, "FAILED: {failure}\n  after: {}", self.trail.join("; "));
        }
        _ = writeln!(text, "leaks: {}", self.leaks.len());
        match self.validation {
            Some(messages) => _ = writeln!(text, "validation messages: {messages}"),
            None => _ = writeln!(text, "validation: off"),
        }
        text
    }
}
