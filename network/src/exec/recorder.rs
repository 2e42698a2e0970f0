//! The one path through which the forward issues work.
//!
//! [`Network`] issues barriers and dispatches in order; a [`Sink`] takes them. A command buffer is a sink, so the direct
//! route, every retained recording, the tape and the profile of a tape are the same calls: recording changes nothing.

use gpu::{CommandBuffer, ComputePipeline, DescriptorSet, Timestamps};

use super::describe;
use super::network::Network;
use crate::replay::{Entry, Tape};

/// One dispatch on its way.
pub(super) struct Issue<'a> {
    /// Number of the step.
    pub index: usize,
    /// Label of the operation.
    pub label: &'a str,
    /// What runs.
    pub pipeline: &'a ComputePipeline,
    /// What it is bound to.
    pub set: &'a DescriptorSet,
    /// Push constants.
    pub push: &'a [u8],
    /// Workgroups.
    pub groups: [u32; 3],
}

/// Where the forward's work goes.
pub(super) trait Sink {
    /// Dispatches after this see what dispatches before wrote.
    fn barrier(&mut self);
    /// Runs a shader.
    fn dispatch(&mut self, issue: &Issue<'_>);
}

impl Sink for CommandBuffer {
    fn barrier(&mut self) {
        self.compute_barrier();
    }

    fn dispatch(&mut self, issue: &Issue<'_>) {
        self.label_begin(issue.label);
        CommandBuffer::dispatch(self, issue.pipeline, issue.set, issue.push, issue.groups);
        self.label_end();
    }
}

/// A command buffer with the time written after every dispatch. It attributes time; it is no evidence of a route, because
/// the timestamps order what they stand between.
struct Spans<'a> {
    cmd: &'a mut CommandBuffer,
    stamps: &'a Timestamps,
}

impl Sink for Spans<'_> {
    fn barrier(&mut self) {
        self.cmd.compute_barrier();
    }

    fn dispatch(&mut self, issue: &Issue<'_>) {
        Sink::dispatch(self.cmd, issue);
        self.cmd.write_timestamp(self.stamps, issue.index as u32 + 1);
    }
}

/// Writes down what is issued.
struct TapeSink<'a> {
    network: &'a Network,
    entries: Vec<Entry>,
    barriers: Vec<bool>,
    pending: bool,
}

impl Sink for TapeSink<'_> {
    fn barrier(&mut self) {
        self.pending = true;
    }

    fn dispatch(&mut self, issue: &Issue<'_>) {
        self.barriers.push(std::mem::take(&mut self.pending));
        self.entries.push(describe::entry(self.network, issue));
    }
}

impl Network {
    /// The tape of a whole forward, written by the calls that record it.
    pub fn tape(&self) -> Tape {
        let mut sink = TapeSink { network: self, entries: Vec::new(), barriers: Vec::new(), pending: false };
        self.issue(&mut sink, 0..self.steps());
        sink.barriers.push(sink.pending);
        let TapeSink { entries, barriers, .. } = sink;
        describe::tape(self, entries, barriers)
    }

    /// Records a whole forward with timestamp 0 before it and timestamp `i + 1` after dispatch `i`: [`Network::steps`] + 1
    /// of them.
    pub fn record_spans(&self, cmd: &mut CommandBuffer, stamps: &Timestamps) {
        cmd.reset_timestamps(stamps);
        cmd.write_timestamp(stamps, 0);
        self.issue(&mut Spans { cmd, stamps }, 0..self.steps());
    }
}
