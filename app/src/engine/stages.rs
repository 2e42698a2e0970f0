//! The network's 71 blocks in stages, for times: one encoder and one decoder stage a level, the ViT between them.

use std::ops::Range;

use gpu::{CommandBuffer, Timestamps};
use network::exec::Network;

/// Number of stages.
pub const COUNT: usize = 13;

/// Names in the order of the network. The numbers are levels; 0 is the finest.
pub const NAMES: [&str; COUNT] = [
    "input",
    "encoder 0",
    "encoder 1",
    "encoder 2",
    "encoder 3",
    "encoder 4",
    "ViT",
    "decoder 4",
    "decoder 3",
    "decoder 2",
    "decoder 1",
    "decoder 0",
    "output",
];

/// Index of the first timestamp between two stages of a submission.
pub const FIRST_STAMP: u32 = 5;

/// First block of each stage (network section 3).
const FIRST: [u32; COUNT] = [0, 1, 5, 9, 15, 23, 31, 39, 48, 56, 62, 66, 70];

/// The stage of a block.
pub fn of_block(block: u32) -> usize {
    FIRST.iter().rposition(|first| *first <= block).unwrap_or(0)
}

/// Splits steps into runs of one stage each. `block` gives the block of a step.
pub fn runs(steps: Range<usize>, block: impl Fn(usize) -> u32) -> Vec<(usize, Range<usize>)> {
    let mut runs: Vec<(usize, Range<usize>)> = Vec::new();
    for step in steps {
        let stage = of_block(block(step));
        match runs.last_mut() {
            Some((of, run)) if *of == stage => run.end = step + 1,
            _ => runs.push((stage, step..step + 1)),
        }
    }
    runs
}

fn runs_of(network: &Network, steps: Range<usize>) -> Vec<(usize, Range<usize>)> {
    runs(steps, |step| network.plan().op(network.step_op(step)).block)
}

/// The stages that steps of a network belong to, in order.
pub fn of_steps(network: &Network, steps: Range<usize>) -> Vec<usize> {
    runs_of(network, steps).into_iter().map(|(stage, _)| stage).collect()
}

/// Records steps of a network, with a timestamp between every two stages.
pub fn record(network: &Network, cmd: &mut CommandBuffer, steps: Range<usize>, stamps: &Timestamps) {
    let runs = runs_of(network, steps);
    let last = runs.len().saturating_sub(1);
    for ((_, run), index) in runs.into_iter().zip(0..) {
        network.record(cmd, run);
        if (index as usize) < last {
            cmd.write_timestamp(stamps, FIRST_STAMP + index);
        }
    }
}

/// Adds the times of a submission: its stages, and the timestamps at its beginning, between them and at its end.
pub fn add(times: &mut [f64; COUNT], stages: &[usize], begin: f64, between: &[f64], end: f64) {
    let mut since = begin;
    for (stage, until) in stages.iter().zip(between.iter().copied().chain([end])) {
        times[*stage] += until - since;
        since = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use network::geometry::{Extent, Geometry};
    use network::plan::Plan;

    #[test]
    fn the_plan_goes_through_the_stages_in_order() -> Result<(), network::geometry::GeometryError> {
        let plan = Plan::new(&Geometry::new(Extent::new(320, 180))?);
        let runs = runs(0..plan.ops.len(), |step| plan.ops[step].block);
        let stages: Vec<usize> = runs.iter().map(|(stage, _)| *stage).collect();
        assert_eq!(stages, (0..COUNT).collect::<Vec<_>>());
        assert!(runs.windows(2).all(|pair| pair[0].1.end == pair[1].1.start));
        let mut times = [0.0; COUNT];
        add(&mut times, &[0, 1, 2], 1.0, &[3.0, 6.0], 10.0);
        add(&mut times, &[2], 0.0, &[], 0.5);
        assert_eq!(times[..4], [2.0, 3.0, 4.5, 0.0]);
        assert_eq!((of_block(38), of_block(39), of_block(70)), (6, 7, 12));
        Ok(())
    }
}
