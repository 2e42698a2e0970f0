//! Where the barriers of a tape stand, and the argument for each.

use serde::Serialize;

use super::hazard::{self, Hazard};
use super::tape::{Binding, Effect, Tape};

/// How barriers are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Policy {
    /// One queue, original order, a barrier before every operation and for every dependency within one.
    #[default]
    Ordered,
    /// Barriers without a hazard behind them are left out.
    Needed,
}

/// What was decided at one position: before an entry, or before the work after the tape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Argument {
    /// The position, counted from the first entry.
    pub position: usize,
    /// Whether a barrier stands there.
    pub barrier: bool,
    /// Why, in words.
    pub reason: String,
}

/// Barriers with their arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowering {
    /// Before each entry, and before the work after the tape.
    pub barriers: Vec<bool>,
}

impl Lowering {
    /// Chooses barriers. `ordered` is where the order of operations puts them, one flag an entry; they are kept or left out
    /// by the policy, and those that a hazard needs are there in any case. Unknown effects keep every barrier.
    pub fn choose(policy: Policy, actors: &[&[Binding]], ordered: &[bool]) -> Self {
        let mut barriers = hazard::needed(actors);
        let unknown = actors.iter().flat_map(|actor| actor.iter()).any(|binding| binding.effect == Effect::Unknown);
        if policy == Policy::Ordered || unknown {
            for (barrier, ordered) in barriers.iter_mut().zip(ordered) {
                *barrier |= ordered;
            }
        }
        Self { barriers }
    }

    /// What the barriers leave open: nothing, or the tape must not run.
    ///
    /// # Errors
    /// The hazards.
    pub fn validate(actors: &[&[Binding]], barriers: &[bool]) -> Result<(), Vec<Hazard>> {
        let open = hazard::open_hazards(actors, barriers);
        if open.is_empty() { Ok(()) } else { Err(open) }
    }
}

/// The argument for every position of a tape.
pub fn arguments(tape: &Tape) -> Vec<Argument> {
    let actors = tape.actors();
    let mut since = 0;
    let mut arguments = Vec::new();
    for second in 1..actors.len() {
        let barrier = tape.barriers[second - 1];
        let hazard = (since..second).rev().find_map(|first| hazard::between(&actors, first, second));
        let reason = match (&hazard, barrier) {
            (Some(hazard), _) => hazard.describe(tape),
            (None, true) => "kept by the order of operations; no byte is shared with a write".to_owned(),
            (None, false) => format!(
                "none needed: {} shares no byte with a write since {}",
                tape.actor_name(second),
                tape.actor_name(since)
            ),
        };
        arguments.push(Argument { position: second - 1, barrier, reason });
        if barrier {
            since = second;
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::super::hazard::tests::binding;
    use super::*;

    #[test]
    fn the_ordered_policy_keeps_what_the_order_says_and_adds_what_is_missing() {
        let list = [
            vec![binding("a", 0, 64, Effect::Write)],
            vec![binding("a", 0, 64, Effect::Read), binding("b", 0, 64, Effect::Write)],
            vec![binding("c", 0, 64, Effect::Write)],
            vec![binding("b", 0, 64, Effect::Read)],
        ];
        let actors: Vec<&[Binding]> = list.iter().map(Vec::as_slice).collect();
        // The order forgets the barrier before the first entry, and has one without need before the second.
        let ordered = [false, true];
        assert_eq!(Lowering::choose(Policy::Ordered, &actors, &ordered).barriers, [true, true, true]);
        let needed = Lowering::choose(Policy::Needed, &actors, &ordered).barriers;
        assert_eq!(needed, [true, false, true]);
        assert_eq!(Lowering::validate(&actors, &needed), Ok(()));
        assert!(Lowering::validate(&actors, &[true, false, false]).is_err_and(|open| open[0].second == 3));
    }

    #[test]
    fn unknown_effects_serialize() {
        let list = [
            vec![binding("a", 0, 64, Effect::Write)],
            vec![binding("b", 0, 64, Effect::Unknown)],
            vec![binding("c", 0, 64, Effect::Write)],
            vec![binding("d", 0, 64, Effect::Read)],
        ];
        let actors: Vec<&[Binding]> = list.iter().map(Vec::as_slice).collect();
        let barriers = Lowering::choose(Policy::Needed, &actors, &[true, true]).barriers;
        assert!(barriers[0] && barriers[1]);
    }
}
