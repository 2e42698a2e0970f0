//! The certification ladder: gates in order, the first failed one ends it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// Direct frames give the bytes of the CPU reference.
    Baseline,
    /// The forward is recorded and every dispatch of a frame is accounted for.
    Capture,
    /// Shaders, bindings, effects and barriers are what they should be, and the tape is the same in a fresh process.
    Artifacts,
    /// Direct, retained and reference agree bit for bit over many frames with history.
    ShadowParity,
    /// Frames that asked for the route took it.
    RouteProof,
    /// The viewer's session replays frames and shows them.
    Viewer,
    /// Matched, interleaved, stationary timings.
    Performance,
    /// A long run with resizes, resets, model changes and injected failures.
    LongRun,
}

impl Gate {
    /// Every gate, in order.
    pub const ALL: [Self; 8] = [
        Self::Baseline,
        Self::Capture,
        Self::Artifacts,
        Self::ShadowParity,
        Self::RouteProof,
        Self::Viewer,
        Self::Performance,
        Self::LongRun,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline correct",
            Self::Capture => "capture complete",
            Self::Artifacts => "artifacts and bindings valid",
            Self::ShadowParity => "multi-frame shadow parity",
            Self::RouteProof => "route proof",
            Self::Viewer => "viewer session healthy",
            Self::Performance => "stationary matched performance",
            Self::LongRun => "long run and lifecycle",
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What became of a gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GateResult {
    /// The gate.
    pub gate: Gate,
    /// Whether it passed.
    pub passed: bool,
    /// What was seen, or what failed, in a sentence.
    pub finding: String,
    /// What was asked less of than the ladder demands.
    pub relaxed: Vec<String>,
    /// The numbers.
    pub details: serde_json::Value,
}

/// What the ladder says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "camelCase")]
pub enum Verdict {
    /// Every gate passed in full.
    Certified,
    /// Every gate passed, some with less asked of them.
    Screening {
        /// What was relaxed.
        relaxed: Vec<String>,
    },
    /// A gate failed; those behind it were not tried.
    Rejected {
        /// The gate.
        gate: Gate,
        /// Why.
        reason: String,
    },
}

impl Verdict {
    /// The verdict in one word.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Certified => "certified",
            Self::Screening { .. } => "screening",
            Self::Rejected { .. } => "rejected",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Certified => f.write_str("certified"),
            Self::Screening { relaxed } => write!(f, "screening: {}", relaxed.join("; ")),
            Self::Rejected { gate, reason } => write!(f, "rejected at \"{gate}\": {reason}"),
        }
    }
}

/// The gates passed so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ladder {
    results: Vec<GateResult>,
}

impl Ladder {
    /// The next gate; `None` when one failed or all passed.
    pub fn next(&self) -> Option<Gate> {
        if self.results.last().is_some_and(|last| !last.passed) {
            return None;
        }
        Gate::ALL.get(self.results.len()).copied()
    }

    /// Takes the result of the next gate.
    ///
    /// # Panics
    /// When it is not the next gate's.
    pub fn record(&mut self, result: GateResult) {
        assert_eq!(Some(result.gate), self.next(), "gates are passed in order");
        self.results.push(result);
    }

    /// What was found so far.
    pub fn results(&self) -> &[GateResult] {
        &self.results
    }

    /// The verdict, once there is no next gate.
    pub fn verdict(&self) -> Option<Verdict> {
        if self.next().is_some() {
            return None;
        }
        if let Some(failed) = self.results.iter().find(|result| !result.passed) {
            return Some(Verdict::Rejected { gate: failed.gate, reason: failed.finding.clone() });
        }
        let relaxed: Vec<String> = self.results.iter().flat_map(|result| result.relaxed.clone()).collect();
        Some(if relaxed.is_empty() { Verdict::Certified } else { Verdict::Screening { relaxed } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(gate: Gate, passed: bool, relaxed: &[&str]) -> GateResult {
        GateResult {
            gate,
            passed,
            finding: "seen".into(),
            relaxed: relaxed.iter().map(|&r| r.to_owned()).collect(),
            details: serde_json::Value::Null,
        }
    }

    #[test]
    fn the_first_failed_gate_ends_the_ladder() {
        let mut ladder = Ladder::default();
        ladder.record(result(Gate::Baseline, true, &[]));
        assert_eq!((ladder.next(), ladder.verdict()), (Some(Gate::Capture), None));
        ladder.record(result(Gate::Capture, false, &["frames"]));
        assert_eq!(ladder.next(), None);
        let verdict = ladder.verdict().unwrap();
        assert_eq!(verdict, Verdict::Rejected { gate: Gate::Capture, reason: "seen".into() });
        assert!(verdict.to_string().contains("capture complete"));
    }

    #[test]
    fn a_relaxed_gate_never_certifies() {
        for (relaxed, name) in [(&[][..], "certified"), (&["100 frames instead of 10000"][..], "screening")] {
            let mut ladder = Ladder::default();
            for gate in Gate::ALL {
                ladder.record(result(gate, true, if gate == Gate::LongRun { relaxed } else { &[] }));
            }
            assert_eq!(ladder.verdict().map(|verdict| verdict.name()), Some(name));
        }
    }

    #[test]
    #[should_panic(expected = "gates are passed in order")]
    fn no_gate_is_skipped() {
        Ladder::default().record(result(Gate::Capture, true, &[]));
    }
}
