//! Profiles of made-up times: that everything sums to the whole, and that comparisons align.

use std::ops::Range;

use super::*;
use crate::geometry::{Extent, Geometry};
use crate::plan::Plan;

fn plan(width: u32, height: u32) -> Plan {
    Plan::new(&Geometry::new(Extent::new(width, height)).unwrap())
}

/// Every operation by itself.
fn singles(plan: &Plan) -> Vec<Range<usize>> {
    (0..plan.ops.len()).map(|i| i..i + 1).collect()
}

/// Operation `i` takes `1 + i mod 7` ms, times `factor(i)`, and frame `f` adds `f` percent.
fn profile(plan: &Plan, groups: &[Range<usize>], frames: usize, factor: impl Fn(usize) -> f64) -> Profile {
    let mut per_op = vec![vec![0.0; frames]; plan.ops.len()];
    for group in groups {
        let ms: f64 = group.clone().map(|i| (1 + i % 7) as f64 * factor(i)).sum();
        per_op[group.start] = (0..frames).map(|frame| ms * (1.0 + 0.01 * frame as f64)).collect();
    }
    let samples = Samples { clock: Clock::Host, per_op };
    let header = Header {
        version: "0".to_owned(),
        route: "exact".to_owned(),
        form: "tile".to_owned(),
        device: "a device".to_owned(),
        driver: String::new(),
        model: String::new(),
        fused: groups.len() < plan.ops.len(),
    };
    let memory = Memory {
        weights: 1,
        arena: 2,
        bound: 2,
        arena_to_bound: 1.0,
        scratch: 0,
        features: 1,
        histories: 0,
        frame_buffers: 0,
        scene: 0,
        all: 3,
        cut: Cut::of(plan),
    };
    Profile::new(header, plan, &samples, groups, |_| Vec::new(), memory, None)
}

#[test]
fn everything_sums_to_the_whole_and_survives_json() {
    let plan = plan(64, 64);
    let profile = profile(&plan, &singles(&plan), 5, |_| 1.0);
    profile.check().unwrap();
    assert_eq!(profile.work.flop, plan.cost().flop());
    assert_eq!(profile.blocks.len(), 71);
    assert_eq!(profile.stages.len(), 14);
    let sum: f64 = profile.operations.iter().map(|op| op.samples[2]).sum();
    assert!((sum - profile.ms.median).abs() < 1e-9);
    let text = serde_json::to_string(&profile).unwrap();
    // Numbers in JSON may differ in their last digit.
    let again = Profile::parse(&text).unwrap();
    assert_eq!((again.work, again.frames, again.blocks.len()), (profile.work, profile.frames, profile.blocks.len()));
    assert!(compare(&profile, &again).unwrap().operations.iter().all(|change| change.difference.abs() < 1e-9));
}

#[test]
fn documents_that_do_not_add_up_are_refused() {
    let plan = plan(64, 64);
    let good = profile(&plan, &singles(&plan), 3, |_| 1.0);
    let parse = |profile: &Profile| Profile::parse(&serde_json::to_string(profile).unwrap());
    let mut bad = good.clone();
    bad.operations[3].work.flop += 2;
    assert!(matches!(parse(&bad), Err(ProfileError::Inconsistent(_))));
    let mut bad = good.clone();
    bad.operations[3].samples[0] *= 3.0;
    bad.operations[3].samples[1] *= 3.0;
    assert!(matches!(parse(&bad), Err(ProfileError::Inconsistent(_))));
    let mut bad = good.clone();
    bad.stages.pop();
    assert!(matches!(parse(&bad), Err(ProfileError::Inconsistent(_))));
    assert!(matches!(Profile::parse("{}"), Err(ProfileError::Format(_))));
    assert!(matches!(Profile::parse("["), Err(ProfileError::Format(_))));
}

#[test]
fn the_largest_changes_come_first_and_chance_is_told() {
    let plan = plan(64, 64);
    let a = profile(&plan, &singles(&plan), 3, |_| 1.0);
    let slower = 6; // takes 7 ms
    let faster = 12; // takes 6 ms
    let b = profile(&plan, &singles(&plan), 3, |i| match i {
        _ if i == slower => 3.0,
        _ if i == faster => 0.5,
        _ => 1.001,
    });
    let changes = compare(&a, &b).unwrap();
    assert_eq!(changes.operations[0].name, plan.ops[slower].label);
    assert_eq!(changes.operations[1].name, plan.ops[faster].label);
    assert!(changes.operations[0].difference > 0.0 && changes.operations[1].difference < 0.0);
    assert_eq!(changes.operations[0].beyond, Within::Beyond);
    assert_eq!(changes.operations[9].beyond, Within::Spread);
    let stages: f64 = changes.stages.iter().map(|change| change.difference).sum();
    assert!((stages - changes.whole.difference).abs() < 1e-9);
}

#[test]
fn what_runs_together_is_aligned_with_what_runs_apart() {
    let plan = plan(64, 64);
    let apart = profile(&plan, &singles(&plan), 3, |_| 1.0);
    let pairs: Vec<_> = (0..plan.ops.len()).step_by(2).map(|i| i..(i + 2).min(plan.ops.len())).collect();
    let together = profile(&plan, &pairs, 3, |_| 1.0);
    together.check().unwrap();
    assert!(together.work.bytes_written < apart.work.bytes_written, "what passes inside a pair is not written");
    let changes = compare(&apart, &together).unwrap();
    assert_eq!(changes.operations.len(), pairs.len());
    assert!(changes.operations.iter().all(|change| change.difference.abs() < 1e-9));
}

#[test]
fn other_work_is_refused() {
    let (small, large) = (plan(64, 64), plan(640, 360));
    let a = profile(&small, &singles(&small), 1, |_| 1.0);
    let b = profile(&large, &singles(&large), 1, |_| 1.0);
    let error = compare(&a, &b).unwrap_err().to_string();
    assert!(error.contains("different work") && error.contains("640x360"), "{error}");
}
