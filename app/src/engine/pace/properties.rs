//! Slices of work of chance.

use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever the costs and whatever was learnt: every step is in one slice, in order, and no slice is empty.
    #[test]
    fn slices_cover_everything_once(
        costs in prop::collection::vec(prop_oneof![0u64..1 << 34, Just(u64::MAX)], 0..200),
        times in prop::collection::vec(0u64..10_000_000, 1..50),
        target in 1u64..5000,
    ) {
        let mut pace = Pace::new(Duration::from_millis(target));
        let mut at = 0;
        for step in 0.. {
            if at >= costs.len() {
                break;
            }
            let slice = pace.slice(at, costs.len(), |i| costs[i]);
            prop_assert!(slice.start == at && slice.end > at && slice.end <= costs.len());
            let work = costs[slice.clone()].iter().fold(0, |sum: u64, cost| sum.saturating_add(*cost));
            pace.finished(work, Duration::from_micros(times[step % times.len()]));
            prop_assert!(pace.budget.is_finite() && pace.budget >= 1.0, "{}", pace.budget);
            at = slice.end;
        }
    }

    /// However it learns, one slice changes the budget by no more than the growth.
    #[test]
    fn the_budget_moves_in_bounded_steps(work: u64, micros: u64, target in 1u64..5000) {
        let mut pace = Pace::new(Duration::from_millis(target));
        let before = pace.budget;
        pace.finished(work, Duration::from_micros(micros));
        prop_assert!(pace.budget >= (before / GROWTH).min(1.0).max(before / GROWTH) && pace.budget <= before * GROWTH);
    }
}
