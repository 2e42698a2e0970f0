//! Retained replay: record the forward once, prove it, replay it.
//!
//! Everything here is data and logic without a device. A [`Tape`] is the ordered record of a forward as the recorder of
//! [`exec`](crate::exec) writes it; [`hazard`] says which barriers it needs and why; [`TapeIdentity`] names it; a
//! [`Controller`] walks through the states of a retained route and refuses by one predicate; a [`Registry`] holds what was
//! certified. See `docs/replay.md`.

pub mod admission;
pub mod claim;
pub mod controller;
pub mod hazard;
pub mod identity;
pub mod ladder;
pub mod ledger;
pub mod lowering;
pub mod stationary;
pub mod tape;

#[cfg(test)]
mod properties;

pub use admission::{Refusal, Registry, Row, Subject};
pub use claim::{ArmProof, Claim, Ratio};
pub use controller::{Conditions, Controller, Decision, Discard, State};
pub use hazard::{Hazard, HazardKind};
pub use identity::TapeIdentity;
pub use ladder::{Gate, GateResult, Ladder, Verdict};
pub use ledger::{Ledger, Reconciliation, Unreconciled};
pub use lowering::{Lowering, Policy};
pub use tape::{Binding, DynamicField, Effect, Entry, External, Tape};

/// How a frame's work reaches the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplayRoute {
    /// Commands recorded anew each frame: the baseline.
    #[default]
    Direct,
    /// Secondary command buffers, recorded once per history parity and executed inside each frame.
    Secondary,
    /// One command buffer per history parity, submitted again as it is.
    Primary,
    /// The same, with push constants and grid of every dispatch in a stream that the device executes
    /// (`VK_EXT_device_generated_commands`).
    Generated,
}

impl ReplayRoute {
    /// All routes, the direct one first.
    pub const ALL: [Self; 4] = [Self::Direct, Self::Secondary, Self::Primary, Self::Generated];

    /// The name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Secondary => "secondary",
            Self::Primary => "primary",
            Self::Generated => "generated",
        }
    }

    /// Whether work is replayed.
    pub const fn is_retained(self) -> bool {
        !matches!(self, Self::Direct)
    }

    /// Whether the recording is submitted by itself, behind the command buffer of the frame.
    pub const fn is_submitted(self) -> bool {
        matches!(self, Self::Primary | Self::Generated)
    }
}

impl std::fmt::Display for ReplayRoute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
