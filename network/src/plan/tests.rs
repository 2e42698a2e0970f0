//! The plan against published totals and the table of blocks.

use super::*;
use crate::geometry::{Extent, Geometry};
use std::collections::BTreeSet;

fn plan(width: u32, height: u32) -> Plan {
    Plan::new(&Geometry::new(Extent { width, height }).unwrap())
}

#[test]
fn boundaries_at_512_have_the_published_bytes() {
    let plan = plan(512, 512);
    let (pooled, compared): (Vec<_>, Vec<_>) =
        plan.boundaries().partition(|(_, t)| t.boundary.as_ref().is_some_and(|b| b.starts_with("pooled-")));
    assert_eq!((compared.len(), pooled.len()), (75, 4));
    assert_eq!(compared.iter().map(|(_, t)| t.bytes()).sum::<usize>(), 57_704_448);
    assert!(plan.boundary("block-69").is_some() && plan.boundary("block-70").is_none());
}

#[test]
fn work_is_the_published_work() {
    // GFLOP of the whole graph, rounded, as counted by others from the same shapes.
    for (width, height, gflop) in [(512, 512, 139), (768, 768, 297), (1920, 1080, 1021), (3840, 2160, 3907)] {
        let counted = plan(width, height).cost().flop() / 1_000_000_000;
        assert!(counted.abs_diff(gflop) <= 1 + gflop / 400, "{width}x{height}: {counted} GFLOP, expected {gflop}");
    }
}

#[test]
fn graph_reads_144_records() {
    let mut records = BTreeSet::new();
    for op in &plan(64, 64).ops {
        match &op.kind {
            OpKind::Adapter(o) => records.extend([o.weight.record.clone()]),
            OpKind::Head(o) => records.extend([o.weight.record.clone()]),
            OpKind::Gemm(o) => {
                records.insert(o.weight.record.clone());
                records.extend(o.seed.iter().map(|s| s.scale.record.clone()));
            }
            OpKind::Normalise(o) => records.extend([o.scale.record.clone()]),
            OpKind::WindowAttention(o) => records.extend([o.prior.record.clone()]),
            OpKind::Merge(o) => records.extend([o.scale.record.clone()]),
            OpKind::PostBlend(o) => records.extend([o.input_scale.record.clone(), o.adapter_scale.record.clone()]),
            OpKind::VitAttention(_) | OpKind::Pool(_) => {}
        }
    }
    assert_eq!(records.len(), 144);
}

#[test]
fn phases_follow_the_counters_of_their_level() {
    let plan = plan(64, 64);
    let phases = |blocks: std::ops::RangeInclusive<u32>| -> Vec<u32> {
        plan.ops
            .iter()
            .filter(|op| blocks.contains(&op.block))
            .filter_map(|op| match &op.kind {
                OpKind::WindowAttention(a) => Some(a.phase),
                _ => None,
            })
            .collect()
    };
    assert_eq!(phases(0..=0), [0]);
    assert_eq!(phases(9..=14), [0, 1, 2, 3, 0, 1]);
    assert_eq!(phases(56..=61), [2, 3, 0, 1, 2, 3]);
    assert_eq!(phases(40..=47), [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(phases(66..=69), [0, 1, 2, 3]);
    assert_eq!(phases(70..=70), [1]);
    assert!(phases(31..=39).is_empty());
}

#[test]
fn every_tensor_is_written_before_it_is_read_and_labels_are_unique() {
    let plan = plan(457, 41);
    let mut written = BTreeSet::from([plan.features]);
    for op in &plan.ops {
        for id in op.kind.inputs() {
            assert!(written.contains(&id), "{} reads {} too early", op.label, plan.tensor(id).label);
        }
        for id in op.kind.outputs() {
            assert!(written.insert(id), "{} writes {} again", op.label, plan.tensor(id).label);
        }
    }
    assert_eq!(written.len(), plan.tensors.len());
    assert_eq!(plan.tensors.iter().map(|t| &t.label).collect::<BTreeSet<_>>().len(), plan.tensors.len());
    assert_eq!(plan.ops.iter().map(|o| &o.label).collect::<BTreeSet<_>>().len(), plan.ops.len());
}
