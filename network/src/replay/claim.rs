//! What a report may say: the classes of evidence, one of them at a time and never a stronger one.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ReplayRoute;

/// The class of evidence behind a statement about a route. Stronger ones come later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// Where time goes, from a tape changed to tell it. No evidence for the route itself.
    Attribution,
    /// The program has the route. It says nothing of any device.
    ImplementationCapability,
    /// The route can be asked for by name on this device.
    OptInAvailability,
    /// Measured once, on the named day, device and build.
    DatedPerformanceEvidence,
    /// The ladder passed in full on the named fixture.
    Certified,
    /// A registry row admits exactly this case.
    RegistryAdmission,
    /// The route is taken without being asked for, because the predicate held.
    DefaultByPredicate,
}

impl Claim {
    /// The statement in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Attribution => "attribution only: timestamps change the tape",
            Self::ImplementationCapability => "implementation capability",
            Self::OptInAvailability => "available by opting in",
            Self::DatedPerformanceEvidence => "dated performance evidence",
            Self::Certified => "certified for the named fixture",
            Self::RegistryAdmission => "admitted by a registry row",
            Self::DefaultByPredicate => "default by predicate",
        }
    }

    /// What may be said when `limit` is the most that the evidence supports.
    #[must_use]
    pub fn at_most(self, limit: Self) -> Self {
        self.min(limit)
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// Proof of which route a timed arm took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArmProof {
    /// What was asked for.
    pub requested: ReplayRoute,
    /// What was taken by every frame of the timed span.
    pub selected: ReplayRoute,
    /// State of the route at the end.
    pub state: String,
    /// Why frames did not take what was asked for; empty when all did.
    pub fallback: String,
    /// Frames of the timed span.
    pub frames: u64,
    /// Replays observed during the timed span.
    pub replays: u64,
    /// Submissions during it.
    pub submissions: u64,
    /// Command buffers submitted or executed during it.
    pub command_buffers: u64,
    /// Compute dispatches during it.
    pub dispatches: u64,
    /// Sequence hash of the tape.
    pub sequence: String,
}

impl ArmProof {
    /// Why the arm is no proof of its route, if it is none.
    pub fn defect(&self) -> Option<String> {
        if self.selected != self.requested {
            return Some(format!(
                "{} was asked for and {} was taken: {}",
                self.requested, self.selected, self.fallback
            ));
        }
        let expected = if self.requested.is_retained() { self.frames } else { 0 };
        if self.replays != expected {
            return Some(format!("{} replays were observed in {} frames", self.replays, self.frames));
        }
        if self.frames == 0 || self.dispatches == 0 {
            return Some("nothing was timed".to_owned());
        }
        None
    }
}

/// A ratio of two arms, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ratio {
    /// What is compared.
    pub name: String,
    /// First arm over second; absent when the comparison is invalid.
    pub value: Option<f64>,
    /// Why it is invalid; empty when it is not.
    pub invalid: String,
}

impl Ratio {
    /// The ratio `a / b` of two arms that must have taken different routes over the same tape.
    pub fn of(name: &str, a: (f64, &ArmProof), b: (f64, &ArmProof)) -> Self {
        let invalid = if a.1.selected == b.1.selected {
            Some(format!("both arms took the {} route", a.1.selected))
        } else if a.1.sequence != b.1.sequence {
            Some("the arms ran different tapes".to_owned())
        } else if let Some(defect) = a.1.defect().or_else(|| b.1.defect()) {
            Some(defect)
        } else if b.0 <= 0.0 || !a.0.is_finite() || !b.0.is_finite() {
            Some("a time is not positive".to_owned())
        } else {
            None
        };
        let value = invalid.is_none().then(|| a.0 / b.0);
        Self { name: name.to_owned(), value, invalid: invalid.unwrap_or_default() }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "{}: {value:.2}", self.name),
            None => write!(f, "{}: invalid ({})", self.name, self.invalid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(route: ReplayRoute) -> ArmProof {
        ArmProof {
            requested: route,
            selected: route,
            state: "ready".into(),
            fallback: String::new(),
            frames: 10,
            replays: if route.is_retained() { 10 } else { 0 },
            submissions: 10,
            command_buffers: 10,
            dispatches: 3000,
            sequence: "s".into(),
        }
    }

    #[test]
    fn a_ratio_needs_two_proven_routes() {
        let (direct, primary) = (arm(ReplayRoute::Direct), arm(ReplayRoute::Primary));
        let ratio = |a: &ArmProof, b: &ArmProof| Ratio::of("host ms, direct over primary", (2.0, a), (0.5, b));
        assert_eq!(ratio(&direct, &primary).value, Some(4.0));
        let invalid = |a: &ArmProof, b: &ArmProof| {
            let ratio = ratio(a, b);
            assert_eq!(ratio.value, None);
            ratio.to_string()
        };
        assert!(invalid(&direct, &direct).contains("both arms took the direct route"));
        let fell =
            ArmProof { selected: ReplayRoute::Direct, fallback: "no memory".into(), ..arm(ReplayRoute::Primary) };
        assert!(invalid(&arm(ReplayRoute::Secondary), &fell).contains("no memory"));
        let half = ArmProof { replays: 5, ..primary.clone() };
        assert!(invalid(&direct, &half).contains("5 replays were observed in 10 frames"));
        let other = ArmProof { sequence: "t".into(), ..primary };
        assert!(invalid(&direct, &other).contains("different tapes"));
    }

    #[test]
    fn a_claim_is_never_stronger_than_its_evidence() {
        assert_eq!(Claim::Certified.at_most(Claim::DatedPerformanceEvidence), Claim::DatedPerformanceEvidence);
        assert_eq!(Claim::Attribution.at_most(Claim::Certified), Claim::Attribution);
        assert!(Claim::Attribution < Claim::ImplementationCapability);
    }
}
