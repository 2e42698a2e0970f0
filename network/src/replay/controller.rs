//! The states of a retained route, and the one predicate that lets a frame take it.
//!
//! A route is asked for; frames run direct until enough good ones have been seen (warming); the forward is recorded
//! (capturing, captured); replays are compared with direct frames bit for bit (shadow-validated); then frames are replayed
//! (ready). Anything that goes wrong while preparing leaves the frames direct for good (fallback) until a reset; anything
//! that says that the tape is not what was validated poisons it, and only its destruction helps. [`Controller::decide`] is
//! the only place where a frame's route is chosen, and it fails closed.

use std::fmt;

use serde::Serialize;

use super::ReplayRoute;
use super::admission::{Refusal, Registry, Subject};
use super::identity::TapeIdentity;

/// Good direct frames before anything is recorded.
pub const WARM_FRAMES: u32 = 2;
/// Shadow frames before a route is ready: one of each history parity.
pub const SHADOW_FRAMES: u32 = 2;

/// Where a route stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "name", content = "reason", rename_all = "camelCase")]
pub enum State {
    /// Nothing is asked for.
    Idle,
    /// Direct frames are run and found good.
    Warming,
    /// The forward is being recorded.
    Capturing,
    /// It is recorded and has not been compared.
    Captured,
    /// Replays gave the bytes of direct frames.
    ShadowValidated,
    /// Frames may be replayed.
    Ready,
    /// Frames run direct until a reset.
    Fallback(String),
    /// The tape is not what was validated: it must be destroyed.
    Poisoned(String),
}

impl State {
    /// The state's name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Warming => "warming",
            Self::Capturing => "capturing",
            Self::Captured => "captured",
            Self::ShadowValidated => "shadow-validated",
            Self::Ready => "ready",
            Self::Fallback(_) => "fallback",
            Self::Poisoned(_) => "poisoned",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fallback(reason) | Self::Poisoned(reason) => write!(f, "{}: {reason}", self.name()),
            _ => f.write_str(self.name()),
        }
    }
}

/// Why everything of a tape is thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// Frames of another size.
    Resize,
    /// Other weights.
    Model,
    /// Another device, or the device is gone.
    Device,
}

impl fmt::Display for Discard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resize => "the frame has another size",
            Self::Model => "the model is another one",
            Self::Device => "the device is another one",
        })
    }
}

/// What a frame would be, as far as replay is concerned. Each that is set is a reason against it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Every tensor is kept, operation by operation.
    pub instrumented: bool,
    /// Something of the frame is recorded into a capture.
    pub boundary_capture: bool,
    /// Times between dispatches are measured.
    pub profiling: bool,
    /// The frame runs in several submissions.
    pub time_sliced: bool,
    /// The size is being changed.
    pub resizing: bool,
    /// The model is being changed.
    pub model_change: bool,
    /// The validation layer is on.
    pub validation: bool,
}

impl Conditions {
    /// The first reason against a replay.
    pub fn refusal(&self) -> Option<&'static str> {
        let reasons = [
            (self.instrumented, "an instrumented frame keeps every tensor"),
            (self.boundary_capture, "the frame is being captured"),
            (self.profiling, "the frame is being profiled"),
            (self.time_sliced, "the frame runs in several submissions"),
            (self.resizing, "the size is being changed"),
            (self.model_change, "the model is being changed"),
            (self.validation, "the validation layer is on"),
        ];
        reasons.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
    }
}

/// The route of one frame, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// What was asked for.
    pub requested: ReplayRoute,
    /// What the frame takes.
    pub selected: ReplayRoute,
    /// Where the route stands.
    pub state: State,
    /// Why the frame does not take what was asked for; empty when it does.
    pub reason: String,
}

/// One step from one state to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Transition {
    /// State before.
    pub from: &'static str,
    /// State after.
    pub to: &'static str,
    /// What happened.
    pub event: String,
}

/// Transitions that are kept.
const LOG: usize = 256;

/// The states of one retained route for one tape.
#[derive(Debug)]
pub struct Controller {
    requested: ReplayRoute,
    /// Without a registry row the route was asked for by name.
    opted_in: bool,
    state: State,
    seen: u32,
    identity: Option<TapeIdentity>,
    log: Vec<Transition>,
    replays: u64,
}

impl Default for Controller {
    fn default() -> Self {
        Self::new(ReplayRoute::Direct, false)
    }
}

impl Controller {
    /// Asks for a route. `opted_in` says that a person named it, which a device without a registry row needs.
    pub fn new(requested: ReplayRoute, opted_in: bool) -> Self {
        let mut controller =
            Self { requested, opted_in, state: State::Idle, seen: 0, identity: None, log: Vec::new(), replays: 0 };
        if requested.is_retained() {
            controller.go(State::Warming, &format!("route {requested} was asked for"));
        }
        controller
    }

    /// What was asked for.
    pub fn requested(&self) -> ReplayRoute {
        self.requested
    }

    /// Whether a person named the route.
    pub fn opted_in(&self) -> bool {
        self.opted_in
    }

    /// Where the route stands.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The tape's identity, once it is captured.
    pub fn identity(&self) -> Option<&TapeIdentity> {
        self.identity.as_ref()
    }

    /// Frames replayed so far.
    pub fn replays(&self) -> u64 {
        self.replays
    }

    /// Every transition, the oldest of many left out.
    pub fn log(&self) -> &[Transition] {
        &self.log
    }

    fn go(&mut self, to: State, event: &str) {
        let transition = Transition { from: self.state.name(), to: to.name(), event: event.to_owned() };
        tracing::info!("replay {}: {} -> {} ({event})", self.requested, transition.from, to);
        if self.log.len() == LOG {
            self.log.remove(0);
        }
        self.log.push(transition);
        self.state = to;
        self.seen = 0;
    }

    /// A direct frame ran to its end as one submission. True when it is time to record.
    pub fn direct_frame(&mut self) -> bool {
        if self.state != State::Warming {
            return false;
        }
        self.seen += 1;
        if self.seen < WARM_FRAMES {
            return false;
        }
        self.go(State::Capturing, "enough direct frames were good");
        true
    }

    /// The forward was recorded.
    pub fn captured(&mut self, identity: TapeIdentity) {
        if self.state == State::Capturing {
            let event = format!("{} dispatches, sequence {}", identity.dispatches, &identity.sequence[..12]);
            self.identity = Some(identity);
            self.go(State::Captured, &event);
        }
    }

    /// Whether the next frame is to be compared with its replay.
    pub fn wants_shadow(&self) -> bool {
        self.state == State::Captured
    }

    /// A frame was run both ways. `difference` names the first surface that differs.
    pub fn shadow_frame(&mut self, difference: Option<String>) {
        if self.state != State::Captured {
            return;
        }
        if let Some(difference) = difference {
            self.preparation_failed(&format!("a replayed frame differs from the direct one in {difference}"));
            return;
        }
        self.seen += 1;
        if self.seen >= SHADOW_FRAMES {
            self.go(State::ShadowValidated, "replays of both parities gave the bytes of direct frames");
            self.go(State::Ready, "the tape is validated");
        }
    }

    /// Preparing failed after a good direct frame: that frame stands, later frames run direct until a reset.
    pub fn preparation_failed(&mut self, reason: &str) {
        if !matches!(self.state, State::Poisoned(_)) {
            self.go(State::Fallback(reason.to_owned()), "preparation failed; the direct frame stands");
        }
    }

    /// A frame was replayed.
    pub fn replayed(&mut self) {
        self.replays += 1;
    }

    /// A replay failed: its frame is an error that the caller reports, it is not tried again, and later frames run direct.
    pub fn replay_failed(&mut self, reason: &str) {
        if !matches!(self.state, State::Poisoned(_)) {
            self.go(State::Fallback(reason.to_owned()), "a replay failed; its frame is an error");
        }
    }

    /// The tape is not what was validated, or its memory was written by someone else.
    pub fn poison(&mut self, reason: &str) {
        if !matches!(self.state, State::Poisoned(_)) {
            self.go(State::Poisoned(reason.to_owned()), "the tape cannot be trusted");
        }
    }

    /// Compares a tape with the one that was captured.
    pub fn check_identity(&mut self, now: &TapeIdentity) {
        let Some(was) = &self.identity else { return };
        let differences = was.differences(now);
        if !differences.is_empty() {
            self.poison(&format!("the tape's {} changed", differences.join(", ")));
        }
    }

    /// A person asks to try again: a fallback ends. A poisoned tape stays one.
    pub fn reset(&mut self) {
        if matches!(self.state, State::Fallback(_)) {
            self.identity = None;
            let next = if self.requested.is_retained() { State::Warming } else { State::Idle };
            self.go(next, "reset");
        }
    }

    /// The tape is destroyed, with its fallback or poison, because what it was made for is gone.
    pub fn discard(&mut self, why: Discard) {
        self.identity = None;
        if self.state != State::Idle {
            self.go(State::Idle, &format!("discarded: {why}"));
        }
        if self.requested.is_retained() {
            self.go(State::Warming, &format!("route {} is still asked for", self.requested));
        }
    }

    /// Asks for another route; what was prepared is discarded.
    pub fn request(&mut self, route: ReplayRoute, opted_in: bool) {
        if (route, opted_in) != (self.requested, self.opted_in) {
            let log = std::mem::take(&mut self.log);
            let replays = self.replays;
            *self = Self { log, replays, ..Self::default() };
            (self.requested, self.opted_in) = (route, opted_in);
            if route.is_retained() {
                self.go(State::Warming, &format!("route {route} was asked for"));
            }
        }
    }

    /// The route of a frame: the one asked for only when it is ready, nothing of the frame speaks against it, and either a
    /// row of the registry admits exactly this subject or a person opted in. Anything else is the direct route, with the
    /// reason.
    pub fn decide(&self, conditions: &Conditions, registry: &Registry, subject: &Subject) -> Decision {
        let reason = self.refusal(conditions, registry, subject);
        let selected = if reason.is_none() { self.requested } else { ReplayRoute::Direct };
        Decision { requested: self.requested, selected, state: self.state.clone(), reason: reason.unwrap_or_default() }
    }

    /// Why a frame must run direct, if it must.
    fn refusal(&self, conditions: &Conditions, registry: &Registry, subject: &Subject) -> Option<String> {
        if !self.requested.is_retained() {
            return Some("no retained route was asked for".to_owned());
        }
        if let Some(reason) = conditions.refusal() {
            return Some(reason.to_owned());
        }
        if !self.opted_in
            && let Err(refusal) = registry.admit(subject, self.requested, self.identity.as_ref())
        {
            return Some(refusal.to_string());
        }
        match &self.state {
            State::Ready => None,
            State::Fallback(reason) => Some(format!("fallback: {reason}")),
            State::Poisoned(reason) => Some(format!("poisoned: {reason}")),
            State::Idle => Some("nothing is prepared".to_owned()),
            state => Some(format!("not ready: {}", state.name())),
        }
    }

    /// Whether a route that no person named is worth preparing: some row is for this subject, whatever its tape.
    pub fn may_prepare(&self, registry: &Registry, subject: &Subject) -> Result<(), Refusal> {
        if self.opted_in { Ok(()) } else { registry.admit(subject, self.requested, None) }
    }
}

#[cfg(test)]
#[path = "controller_tests.rs"]
mod tests;
