//! Which dispatches conflict, and whether barriers keep them apart.
//!
//! Two positions of a tape conflict when they touch a common byte and at least one writes it: write-read, read-write and
//! write-write, on any aliased range of the arena. A barrier before position `i` separates every position before `i` from
//! `i` and everything after it. Unknown effects conflict with everything.

use std::fmt;

use serde::Serialize;

use super::tape::{Binding, Effect, Tape};

/// How two positions conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HazardKind {
    /// The later one reads what the earlier one writes.
    WriteRead,
    /// The later one writes what the earlier one reads.
    ReadWrite,
    /// Both write.
    WriteWrite,
    /// The effects of one are not known.
    Unknown,
}

impl fmt::Display for HazardKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WriteRead => "write-read",
            Self::ReadWrite => "read-write",
            Self::WriteWrite => "write-write",
            Self::Unknown => "unknown effects",
        })
    }
}

/// Two positions of a tape that must not run at once. Positions count the work before the tape as 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hazard {
    /// The earlier position.
    pub first: usize,
    /// The later position.
    pub second: usize,
    /// Why.
    pub kind: HazardKind,
    /// The buffer.
    pub buffer: String,
    /// First byte that both touch.
    pub offset: u64,
    /// Bytes that both touch.
    pub bytes: u64,
}

impl Hazard {
    /// The hazard in words.
    pub fn describe(&self, tape: &Tape) -> String {
        let Self { first, second, kind, buffer, offset, bytes } = self;
        format!(
            "{} after {}: {kind} on {bytes} bytes of {buffer} at {offset}",
            tape.actor_name(*second),
            tape.actor_name(*first)
        )
    }
}

/// How two bindings conflict, if they do.
fn kind(first: &Binding, second: &Binding) -> Option<HazardKind> {
    use Effect::{Read, ReadWrite, Unknown, Write};
    if first.effect == Unknown || second.effect == Unknown {
        return Some(HazardKind::Unknown);
    }
    if !first.overlaps(second) {
        return None;
    }
    match (first.effect, second.effect) {
        (Read, Read) => None,
        (Write | ReadWrite, Read | ReadWrite) => Some(HazardKind::WriteRead),
        (Read, Write | ReadWrite) => Some(HazardKind::ReadWrite),
        _ => Some(HazardKind::WriteWrite),
    }
}

/// The first conflict of two positions.
pub fn between(actors: &[&[Binding]], first: usize, second: usize) -> Option<Hazard> {
    for a in actors[first] {
        for b in actors[second] {
            if let Some(kind) = kind(a, b) {
                let offset = a.offset.max(b.offset);
                let end = (a.offset + a.range).min(b.offset + b.range);
                let bytes = end.saturating_sub(offset);
                return Some(Hazard { first, second, kind, buffer: b.buffer.clone(), offset, bytes });
            }
        }
    }
    None
}

/// Earlier positions that a position depends on, nearest first. Looking back ends, binding by binding, at a writer of all
/// of its bytes: what lies behind is ordered through that one.
pub fn dependencies(actors: &[&[Binding]], position: usize) -> Vec<usize> {
    let mut open: Vec<&Binding> = actors[position].iter().collect();
    let mut found = Vec::new();
    for earlier in (0..position).rev() {
        let mut touched = false;
        open.retain(|binding| {
            let conflict = actors[earlier].iter().filter(|a| kind(a, binding).is_some());
            let mut settled = false;
            for a in conflict {
                touched = true;
                // What an unknown effect touches is not covered by anything.
                settled |= binding.effect != Effect::Unknown
                    && matches!(a.effect, Effect::Write | Effect::ReadWrite)
                    && a.covers(binding);
            }
            !settled
        });
        if touched {
            found.push(earlier);
        }
        if open.is_empty() {
            break;
        }
    }
    found
}

/// Every hazard that barriers leave open. `barriers[i]` stands before position `i + 1`.
pub fn open_hazards(actors: &[&[Binding]], barriers: &[bool]) -> Vec<Hazard> {
    let mut open = Vec::new();
    for second in 1..actors.len() {
        for first in (0..second).rev() {
            // A barrier before position first + 1 keeps it and everything before it away.
            if barriers.get(first).copied().unwrap_or(false) {
                break;
            }
            open.extend(between(actors, first, second));
        }
    }
    // The break above looks at the barrier right after `first` alone; those behind it were passed on the way down.
    open
}

/// The fewest barriers that leave no hazard open, each as late as it can be.
pub fn needed(actors: &[&[Binding]]) -> Vec<bool> {
    let mut barriers = vec![false; actors.len().saturating_sub(1)];
    let mut since = 0;
    for second in 1..actors.len() {
        if (since..second).any(|first| between(actors, first, second).is_some()) {
            barriers[second - 1] = true;
            since = second;
        }
    }
    barriers
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn binding(buffer: &str, offset: u64, range: u64, effect: Effect) -> Binding {
        Binding { number: 0, buffer: buffer.to_owned(), offset, range, effect }
    }

    fn check(list: &[Vec<Binding>], expected: &[bool]) {
        let actors: Vec<&[Binding]> = list.iter().map(Vec::as_slice).collect();
        let barriers = needed(&actors);
        assert_eq!(barriers, expected);
        assert_eq!(open_hazards(&actors, &barriers), []);
        for at in (0..barriers.len()).filter(|&at| expected[at]) {
            let mut fewer = barriers.clone();
            fewer[at] = false;
            assert!(!open_hazards(&actors, &fewer).is_empty(), "deleting barrier {at} is not noticed");
        }
    }

    #[test]
    fn each_kind_of_hazard_is_found() {
        use Effect::{Read, Unknown, Write};
        for (a, b, kind) in [
            (Write, Read, Some(HazardKind::WriteRead)),
            (Read, Write, Some(HazardKind::ReadWrite)),
            (Write, Write, Some(HazardKind::WriteWrite)),
            (Read, Read, None),
            (Unknown, Read, Some(HazardKind::Unknown)),
        ] {
            let list = [vec![binding("x", 0, 64, a)], vec![binding("x", 63, 64, b)]];
            let actors: Vec<&[Binding]> = list.iter().map(Vec::as_slice).collect();
            assert_eq!(between(&actors, 0, 1).map(|hazard| hazard.kind), kind);
            if let Some(hazard) = between(&actors, 0, 1) {
                assert_eq!((hazard.offset, hazard.bytes), (63, 1));
            }
        }
        let apart = [vec![binding("x", 0, 64, Write)], vec![binding("x", 64, 64, Write)]];
        assert_eq!(between(&[&apart[0], &apart[1]], 0, 1), None);
        let unknown = [vec![binding("x", 0, 64, Unknown)], vec![binding("y", 0, 64, Read)]];
        assert!(between(&[&unknown[0], &unknown[1]], 0, 1).is_some());
    }

    #[test]
    fn barriers_are_as_few_and_as_late_as_can_be() {
        use Effect::{Read, Write};
        let (w, r) = (|b: &str| binding(b, 0, 64, Write), |b: &str| binding(b, 0, 64, Read));
        // Two branches of one producer need no barrier between them; the join needs one.
        check(
            &[vec![w("a")], vec![r("a"), w("b")], vec![r("a"), w("c")], vec![r("b"), r("c"), w("d")]],
            &[true, false, true],
        );
        // A barrier serves every pair across it.
        check(&[vec![w("a")], vec![w("b")], vec![r("a"), w("c")], vec![r("b"), w("d")]], &[false, true, false]);
        // Reuse of memory that is still read.
        check(&[vec![w("a")], vec![r("a"), w("b")], vec![w("a")]], &[true, true]);
    }

    #[test]
    fn dependencies_end_at_the_writer_of_everything() {
        use Effect::{Read, Write};
        let list = [
            vec![binding("a", 0, 64, Write)],
            vec![binding("a", 0, 64, Write)],
            vec![binding("a", 0, 32, Read), binding("b", 0, 8, Write)],
            vec![binding("b", 0, 8, Read), binding("a", 32, 32, Read)],
        ];
        let actors: Vec<&[Binding]> = list.iter().map(Vec::as_slice).collect();
        assert_eq!(dependencies(&actors, 2), [1]);
        assert_eq!(dependencies(&actors, 3), [2, 1]);
        // Nothing covers what is not known.
        let list = [
            vec![binding("a", 0, 8, Read)],
            vec![binding("b", 0, 64, Write)],
            vec![binding("b", 0, 8, Effect::Unknown)],
        ];
        let actors: Vec<&[Binding]> = list.iter().map(Vec::as_slice).collect();
        assert_eq!(dependencies(&actors, 2), [1, 0]);
    }
}
