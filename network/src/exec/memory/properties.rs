//! Placements of sizes of chance, with and without fusions: no live tensor and no guard word is ever in another's bytes.

use proptest::prelude::*;

use super::*;
use crate::plan::properties::{plan, shared_bytes, size};

/// The guard words and all tensors apart from each other.
fn check(plan: &Plan, placement: &Placement) {
    let place = |id| {
        let slot = placement.slot(id);
        (slot.buffer, slot.offset, slot.offset + slot.bytes)
    };
    assert_eq!(shared_bytes(plan, place), None);
    for id in (0..plan.tensors.len() as u32).map(TensorId).filter(|id| plan.tensor(*id).bytes() > 0) {
        let (buffer, from, to) = place(id);
        assert!(to <= placement.buffers[buffer], "{id:?} is past the end");
        let hit = placement.guards.iter().find(|(b, at)| *b == buffer && *at < to && from < at + GUARD);
        assert_eq!(hit, None, "{id:?} lies in guard words");
    }
    assert!(placement.guards.iter().all(|&(buffer, at)| at + GUARD <= placement.buffers[buffer]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn shared_placements(valid in size(), tuned: bool) {
        let plan = plan(valid);
        check(&plan, &Placement::shared(&plan));
        let tuning = if tuned { Tuning::Tile } else { Tuning::Matrix };
        let fused = Fusions::of(&plan, Tiles::new(tuning)).memory_plan(&plan);
        check(&fused, &Placement::shared(&fused));
    }

    #[test]
    fn separate_placements(valid in size(), megabytes in 16u64..256) {
        let plan = plan(valid);
        let placement = Placement::separate(&plan, megabytes << 20);
        check(&plan, &placement);
        let mut places: Vec<_> = (0..plan.tensors.len() as u32)
            .map(|id| placement.slot(TensorId(id)))
            .map(|slot| (slot.buffer, slot.offset, slot.offset + slot.bytes))
            .collect();
        places.sort_unstable();
        for pair in places.windows(2) {
            prop_assert!(pair[0].0 < pair[1].0 || pair[0].2 + GUARD <= pair[1].1, "no guard between {pair:?}");
        }
    }
}
