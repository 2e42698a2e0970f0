//! Whether all work of a frame is accounted for: compute dispatches = retained + named external.

use serde::Serialize;
use thiserror::Error;

/// Counts the dispatches of a frame while it is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    named: Vec<(&'static str, u64)>,
    retained: u64,
}

/// A frame whose dispatches are all accounted for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reconciliation {
    /// All compute dispatches of the frame.
    pub total: u64,
    /// Those of the tape.
    pub retained: u64,
    /// Those of named external work.
    pub external: Vec<(&'static str, u64)>,
}

/// Why the counts of a frame do not add up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unreconciled {
    /// Dispatches that no one owns.
    #[error(
        "the frame has {total} dispatches, of which {owned} are owned by the tape and named external work: \
         {} come from outside the recorder",
        .total - .owned
    )]
    Foreign {
        /// Dispatches of the frame.
        total: u64,
        /// Dispatches of the tape and of named work.
        owned: u64,
    },
    /// Fewer dispatches than were named.
    #[error("the frame has {total} dispatches, fewer than the {owned} that were named")]
    Missing {
        /// Dispatches of the frame.
        total: u64,
        /// Dispatches of the tape and of named work.
        owned: u64,
    },
    /// The forward did not issue what its tape says.
    #[error("the forward issued {got} dispatches, its tape has {tape}")]
    Tape {
        /// Dispatches of the forward.
        got: u64,
        /// Entries of the tape.
        tape: u64,
    },
}

impl Ledger {
    /// Named work outside the tape recorded this many dispatches.
    pub fn external(&mut self, name: &'static str, dispatches: u64) {
        self.named.push((name, dispatches));
    }

    /// The forward recorded or replayed this many dispatches.
    pub fn retained(&mut self, dispatches: u64) {
        self.retained += dispatches;
    }

    /// Compares with all dispatches of the frame's command buffers and with the tape.
    ///
    /// # Errors
    /// [`Unreconciled`] when a dispatch has no owner, or the forward is not the tape's.
    pub fn reconcile(&self, total: u64, tape: u64) -> Result<Reconciliation, Unreconciled> {
        if self.retained != tape {
            return Err(Unreconciled::Tape { got: self.retained, tape });
        }
        let owned = self.retained + self.named.iter().map(|(_, count)| count).sum::<u64>();
        match total.cmp(&owned) {
            std::cmp::Ordering::Greater => Err(Unreconciled::Foreign { total, owned }),
            std::cmp::Ordering::Less => Err(Unreconciled::Missing { total, owned }),
            std::cmp::Ordering::Equal => {
                Ok(Reconciliation { total, retained: self.retained, external: self.named.clone() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dispatch_needs_an_owner() {
        let mut ledger = Ledger::default();
        ledger.external("scene", 2);
        ledger.retained(300);
        ledger.external("composite", 1);
        let sum = ledger.reconcile(303, 300).unwrap();
        assert_eq!((sum.total, sum.retained, sum.external.len()), (303, 300, 2));
        let foreign = ledger.reconcile(304, 300).unwrap_err();
        assert!(foreign.to_string().contains(" 1 come from outside the recorder"), "{foreign}");
        assert!(matches!(ledger.reconcile(302, 300), Err(Unreconciled::Missing { .. })));
        assert!(ledger.reconcile(303, 299).unwrap_err().to_string().contains("its tape has 299"));
    }
}
