//! Plans of sizes of chance from 33 to 4096: sound, and placed so that nothing that lives is written over.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::geometry::Extent;

/// A size: any pair, with the small sides and those around powers of two more often.
pub fn size() -> impl Strategy<Value = Extent> {
    let side = || {
        prop_oneof![
            33u32..=4096,
            33u32..=700,
            (5u32..=12, 0u32..3).prop_map(|(p, d)| ((1 << p) + d - 1).clamp(33, 4096))
        ]
    };
    (side(), side()).prop_map(|(width, height)| Extent::new(width, height))
}

/// The plan of a size.
pub fn plan(valid: Extent) -> Plan {
    Plan::new(&Geometry::new(valid).expect("a size of 33 or more"))
}

/// Whether any two tensors whose lives overlap share a byte; `room` is added to both ends of each.
pub fn shared_bytes(plan: &Plan, place: impl Fn(TensorId) -> (usize, u64, u64)) -> Option<(TensorId, TensorId)> {
    let lives = lifetimes(plan);
    let ids: Vec<TensorId> =
        (0..plan.tensors.len() as u32).map(TensorId).filter(|id| plan.tensor(*id).bytes() > 0).collect();
    for (i, &a) in ids.iter().enumerate() {
        for &b in &ids[i + 1..] {
            let (one, two) = (lives[a.0 as usize], lives[b.0 as usize]);
            let together = one.first <= two.last && two.first <= one.last;
            let ((buffer, from, to), (other, start, end)) = (place(a), place(b));
            if together && buffer == other && from < end && start < to {
                return Some((a, b));
            }
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 96 }))]

    #[test]
    fn every_plan_is_sound(valid in size()) {
        let plan = plan(valid);
        let mut written: HashSet<TensorId> = [plan.features].into();
        let mut labels = HashSet::new();
        for op in &plan.ops {
            prop_assert!(op.block <= 70 && labels.insert(op.label.as_str()), "{}", op.label);
            for id in op.kind.inputs() {
                prop_assert!(written.contains(&id), "{} reads {} before it is written", op.label, plan.tensor(id).label);
            }
            let outputs = op.kind.outputs();
            prop_assert!(!outputs.is_empty(), "{} makes nothing", op.label);
            for id in outputs {
                prop_assert!(written.insert(id), "{} is written twice", plan.tensor(id).label);
                prop_assert!(!op.kind.inputs().contains(&id), "{} reads what it writes", op.label);
            }
        }
        prop_assert_eq!(written.len(), plan.tensors.len());
        prop_assert!(plan.tensors.iter().all(|tensor| tensor.bytes() > 0));
        prop_assert_eq!(plan.tensor(plan.features).extent, plan.geometry.field);
        prop_assert_eq!(plan.tensor(plan.head).extent, plan.geometry.field);
        let blocks: HashSet<u32> = plan.ops.iter().map(|op| op.block).collect();
        prop_assert_eq!(blocks.len(), 71);
        let names: HashSet<&str> = plan.boundaries().filter_map(|(_, tensor)| tensor.boundary.as_deref()).collect();
        prop_assert_eq!(names.len(), plan.boundaries().count());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 0 } else { 24 }))]

    #[test]
    fn no_arena_shares_live_bytes(valid in size(), alias: bool, alignment in 4u32..10) {
        let plan = plan(valid);
        let arena = Arena::new(&plan, 1 << alignment, alias);
        let place = |id| {
            let slot = arena.slot(id);
            (0, slot.offset as u64, (slot.offset + slot.bytes) as u64)
        };
        prop_assert_eq!(shared_bytes(&plan, place), None);
        prop_assert!(arena.slots.iter().all(|slot| slot.offset + slot.bytes <= arena.bytes && slot.offset.is_multiple_of(1 << alignment)));
        prop_assert!(arena.bytes >= arena.bound);
    }
}
