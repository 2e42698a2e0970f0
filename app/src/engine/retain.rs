//! The retained side of a frame: which route it takes, the recordings, what was counted and timed.

use std::time::Duration;

use gpu::Device;
use network::exec::Retained;
use network::replay::admission::Subject;
use network::replay::controller::Transition;
use network::replay::{
    ArmProof, Claim, Conditions, Controller, Decision, Reconciliation, Registry, ReplayRoute, TapeIdentity,
};

/// The certified cases that come with the program.
const ADMISSIONS: &str = include_str!("../../../assets/admissions.json");

/// What was asked for on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ReplayArg {
    /// The route that the registry admits for this device, driver, model and size; direct where it has none.
    #[default]
    Auto,
    /// Commands recorded anew each frame.
    Direct,
    /// Opt in: secondary command buffers, recorded once and executed in each frame.
    Secondary,
    /// Opt in: a whole frame's command buffer, submitted again.
    Primary,
    /// Opt in: the same, with dispatches from a stream that the device executes; falls back where the device cannot.
    Generated,
}

impl ReplayArg {
    /// The route named, if one was.
    pub const fn route(self) -> Option<ReplayRoute> {
        match self {
            Self::Auto => None,
            Self::Direct => Some(ReplayRoute::Direct),
            Self::Secondary => Some(ReplayRoute::Secondary),
            Self::Primary => Some(ReplayRoute::Primary),
            Self::Generated => Some(ReplayRoute::Generated),
        }
    }
}

impl From<ReplayRoute> for ReplayArg {
    fn from(route: ReplayRoute) -> Self {
        match route {
            ReplayRoute::Direct => Self::Direct,
            ReplayRoute::Secondary => Self::Secondary,
            ReplayRoute::Primary => Self::Primary,
            ReplayRoute::Generated => Self::Generated,
        }
    }
}

/// The registry of the program.
///
/// # Errors
/// The text is no registry of exact rows.
pub fn registry() -> Result<Registry, String> {
    Registry::parse(ADMISSIONS)
}

/// What frames are, as far as the registry is concerned.
pub fn subject(device: &Device, model: &str, field: network::geometry::Extent) -> Subject {
    Subject {
        device: device.caps().name.clone(),
        driver: device.caps().driver.clone(),
        model: model.to_owned(),
        extent: field.to_string(),
    }
}

/// A failure to be made on purpose, once, at the next chance: for the tests of what happens then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injection {
    /// Recording fails after a good direct frame.
    Preparation,
    /// A shadow frame differs.
    Shadow,
    /// The submission of a replay is refused.
    Replay,
    /// The tape is another one at its next check.
    Identity,
    /// A dispatch from outside the recorder is in the frame.
    Foreign,
}

/// Milliseconds of the CPU for one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct HostTimes {
    /// Recording everything but the scene.
    pub record: f64,
    /// Handing it to the device.
    pub submit: f64,
}

/// A frame whose replay failed: it is not computed again.
#[derive(Debug, thiserror::Error)]
#[error("the replay of a frame failed, this frame is lost and later ones run direct: {0}")]
pub struct ReplayFailed(pub String);

/// Everything that a retained route adds to the frames of one size; discarded with them.
#[derive(Default)]
pub struct Retain {
    /// The recordings, once there are any.
    pub recordings: Option<Retained>,
    /// The states.
    pub controller: Controller,
    registry: Registry,
    subject: Subject,
    /// Why no route was asked for, when the registry was.
    unasked: String,
    /// The route of the last frame.
    pub decision: Option<Decision>,
    /// Who owns the dispatches of the last whole frame.
    pub counts: Option<Reconciliation>,
    /// CPU times of the last frame.
    pub host: HostTimes,
    /// What was observed since [`Retain::begin_span`].
    span: Span,
    /// A failure to be made.
    pub injection: Option<Injection>,
}

/// Counts over some frames.
#[derive(Clone, Debug, Default)]
struct Span {
    frames: u64,
    /// Frames that took each route, in the order of [`ReplayRoute::ALL`].
    taken: [u64; ReplayRoute::ALL.len()],
    replays_before: u64,
    submissions: u64,
    command_buffers: u64,
    dispatches: u64,
    fallback: String,
}

impl Retain {
    /// Asks for a route.
    pub fn ask(&mut self, asked: ReplayArg, registry: Registry, subject: Subject) {
        self.unasked.clear();
        match asked.route() {
            Some(route) => self.controller = Controller::new(route, true),
            None => match registry.route_for(&subject) {
                Some(route) => self.controller = Controller::new(route, false),
                None => {
                    self.controller = Controller::default();
                    let refusal = registry.admit(&subject, ReplayRoute::Primary, None);
                    self.unasked = refusal.err().map(|refusal| refusal.to_string()).unwrap_or_default();
                }
            },
        }
        self.recordings = None;
        (self.registry, self.subject) = (registry, subject);
    }

    /// The route of a frame.
    pub fn decide(&mut self, conditions: &Conditions) -> Decision {
        let mut decision = self.controller.decide(conditions, &self.registry, &self.subject);
        if decision.selected.is_retained() && self.recordings.is_none() {
            decision.selected = ReplayRoute::Direct;
            decision.reason = "nothing is recorded".to_owned();
        }
        if !decision.requested.is_retained() && !self.unasked.is_empty() {
            decision.reason.clone_from(&self.unasked);
        }
        self.decision = Some(decision.clone());
        decision
    }

    /// Whether a good direct frame under these conditions may lead to recordings.
    pub fn prepares(&self, conditions: &Conditions) -> bool {
        self.controller.requested().is_retained()
            && conditions.refusal().is_none()
            && self.controller.may_prepare(&self.registry, &self.subject).is_ok()
    }

    /// Takes an injected failure of this kind, if it is the one to be made.
    pub fn injected(&mut self, kind: Injection) -> bool {
        let hit = self.injection == Some(kind);
        if hit {
            self.injection = None;
        }
        hit
    }

    /// A frame was submitted.
    pub fn submitted(&mut self, decision: &Decision, command_buffers: u64, dispatches: u64, host: HostTimes) {
        self.host = host;
        if decision.selected.is_retained() {
            self.controller.replayed();
        }
        self.span.frames += 1;
        let taken = ReplayRoute::ALL.iter().position(|route| *route == decision.selected).unwrap_or(0);
        self.span.taken[taken] += 1;
        self.span.submissions += 1;
        self.span.command_buffers += command_buffers;
        self.span.dispatches += dispatches;
        if decision.selected != decision.requested {
            self.span.fallback.clone_from(&decision.reason);
        }
    }

    /// What people are told.
    pub fn status(&self) -> Replay {
        let controller = &self.controller;
        let decision = self.decision.as_ref();
        let selected = decision.map_or(ReplayRoute::Direct, |decision| decision.selected);
        let claim = match (selected.is_retained(), controller.opted_in()) {
            (false, _) => Claim::ImplementationCapability,
            (true, true) => Claim::OptInAvailability,
            (true, false) => Claim::DefaultByPredicate,
        };
        let line = |t: &Transition| format!("{} -> {}: {}", t.from, t.to, t.event);
        Replay {
            requested: controller.requested().name(),
            selected: selected.name(),
            state: controller.state().to_string(),
            reason: decision.map(|decision| decision.reason.clone()).unwrap_or_default(),
            claim: claim.words(),
            replays: controller.replays(),
            transitions: controller.log().iter().map(line).collect(),
        }
    }

    /// Starts counting anew.
    pub fn begin_span(&mut self) {
        self.span = Span { replays_before: self.controller.replays(), ..Span::default() };
    }

    /// What was observed since [`Retain::begin_span`]. The route counts as taken only when every frame took it.
    pub fn proof(&self, tape: &TapeIdentity) -> ArmProof {
        let Span { frames, taken, replays_before, submissions, command_buffers, dispatches, fallback } = &self.span;
        let all = ReplayRoute::ALL.into_iter().zip(taken).find(|(_, count)| *count == frames);
        ArmProof {
            requested: self.controller.requested(),
            selected: all.map_or(ReplayRoute::Direct, |(route, _)| route),
            state: self.controller.state().to_string(),
            fallback: fallback.clone(),
            frames: *frames,
            replays: self.controller.replays() - replays_before,
            submissions: *submissions,
            command_buffers: *command_buffers,
            dispatches: *dispatches,
            sequence: tape.sequence.clone(),
        }
    }
}

/// Which route of the network's commands was asked for, which was taken by the last frame, and why.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Replay {
    /// Asked for.
    pub requested: &'static str,
    /// Taken.
    pub selected: &'static str,
    /// State of the retained route, with its reason.
    pub state: String,
    /// Why it was not what was asked for.
    pub reason: String,
    /// The one class of evidence that stands behind it.
    pub claim: &'static str,
    /// Frames replayed.
    pub replays: u64,
    /// Transitions of the state, the latest last.
    pub transitions: Vec<String>,
}

impl Replay {
    /// In one line.
    pub fn text(&self) -> String {
        let Self { requested, selected, state, reason, .. } = self;
        if requested == selected && reason.is_empty() {
            return format!("{selected}, {state}");
        }
        let short = if reason.is_empty() { state } else { reason };
        if requested == selected {
            format!("{selected} ({short})")
        } else {
            format!("{selected}, not {requested}: {short}")
        }
    }
}

/// Milliseconds.
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_of_the_program_is_exact() {
        assert!(registry().is_ok(), "{:?}", registry());
    }

    #[test]
    fn an_injected_failure_happens_once() {
        let mut retain = Retain { injection: Some(Injection::Replay), ..Retain::default() };
        assert!(!retain.injected(Injection::Preparation));
        assert!(retain.injected(Injection::Replay) && !retain.injected(Injection::Replay));
    }

    #[test]
    fn without_a_row_the_direct_route_says_why() {
        let mut retain = Retain::default();
        let subject = Subject { device: "Nowhere".into(), ..Subject::default() };
        retain.ask(ReplayArg::Auto, Registry::default(), subject.clone());
        let decision = retain.decide(&Conditions::default());
        assert_eq!((decision.requested, decision.selected), (ReplayRoute::Direct, ReplayRoute::Direct));
        assert!(decision.reason.contains("no registry row is for device Nowhere"), "{}", decision.reason);
        retain.ask(ReplayArg::Secondary, Registry::default(), subject);
        assert_eq!(retain.decide(&Conditions::default()).reason, "not ready: warming");
    }
}
