//! Tapes of chance against the plain definition of a hazard: what is found is there, and nothing is left out.

use proptest::prelude::*;

use super::hazard::{dependencies, needed, open_hazards};
use super::lowering::{Lowering, Policy};
use super::tape::{Binding, Effect};

fn binding() -> impl Strategy<Value = Binding> {
    let effect = prop_oneof![
        6 => Just(Effect::Read), 6 => Just(Effect::Write), 2 => Just(Effect::ReadWrite), 1 => Just(Effect::Unknown),
    ];
    (0u8..3, 0u64..24, 1u64..12, effect).prop_map(|(buffer, offset, range, effect)| Binding {
        number: 0,
        buffer: format!("b{buffer}"),
        offset,
        range,
        effect,
    })
}

fn tape() -> impl Strategy<Value = Vec<Vec<Binding>>> {
    prop::collection::vec(prop::collection::vec(binding(), 0..4), 1..14)
}

fn actors(list: &[Vec<Binding>]) -> Vec<&[Binding]> {
    list.iter().map(Vec::as_slice).collect()
}

/// Whether two positions may not run at once, byte by byte.
fn conflict(a: &[Binding], b: &[Binding]) -> bool {
    a.iter().any(|a| {
        b.iter().any(|b| {
            let unknown = a.effect == Effect::Unknown || b.effect == Effect::Unknown;
            let writes = a.effect != Effect::Read || b.effect != Effect::Read;
            let common = (a.offset..a.offset + a.range).any(|byte| (b.offset..b.offset + b.range).contains(&byte));
            unknown || (a.buffer == b.buffer && writes && common)
        })
    })
}

/// Pairs that conflict and have no barrier between them.
fn open(list: &[Vec<Binding>], barriers: &[bool]) -> Vec<(usize, usize)> {
    let pairs = (0..list.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    pairs
        .filter(|&(first, second)| !barriers[first..second].contains(&true) && conflict(&list[first], &list[second]))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 1024 }))]

    #[test]
    fn the_open_hazards_are_all_there_are(list in tape(), seed: u64) {
        let actors = actors(&list);
        let barriers: Vec<bool> = (1..list.len()).map(|i| seed >> (i % 64) & 3 == 0).collect();
        let mut found: Vec<_> = open_hazards(&actors, &barriers).iter().map(|hazard| (hazard.first, hazard.second)).collect();
        found.sort_unstable_by_key(|&(first, second)| (second, first));
        prop_assert_eq!(found, open(&list, &barriers));
    }

    #[test]
    fn the_needed_barriers_are_enough_and_none_too_many(list in tape(), ordered: u64) {
        let actors = actors(&list);
        let barriers = needed(&actors);
        prop_assert!(open(&list, &barriers).is_empty());
        for at in (0..barriers.len()).filter(|&at| barriers[at]) {
            let mut fewer = barriers.clone();
            fewer[at] = false;
            prop_assert!(!open(&list, &fewer).is_empty(), "barrier {} is not needed", at);
        }
        let order: Vec<bool> = (1..list.len()).map(|i| ordered >> (i % 64) & 1 == 1).collect();
        for policy in [Policy::Ordered, Policy::Needed] {
            let chosen = Lowering::choose(policy, &actors, &order).barriers;
            prop_assert_eq!(Lowering::validate(&actors, &chosen), Ok(()));
            prop_assert!(chosen.iter().zip(&barriers).all(|(chosen, needed)| *chosen || !*needed));
        }
    }

    /// Going from dependency to dependency reaches every earlier position that conflicts.
    #[test]
    fn dependencies_order_every_conflict(list in tape()) {
        let actors = actors(&list);
        let mut before: Vec<u64> = Vec::new();
        for position in 0..list.len() {
            let direct = dependencies(&actors, position);
            let reached = direct.iter().fold(0u64, |all, &d| all | 1 << d | before[d]);
            for first in 0..position {
                prop_assert!(reached >> first & 1 == 1 || !conflict(&list[first], &list[position]), "{} after {}", position, first);
            }
            before.push(reached);
        }
    }
}
