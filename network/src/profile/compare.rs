//! What changed between two profiles of the same work.

use std::collections::BTreeSet;

use serde::Serialize;

use super::document::{Group, Operation, Profile, ProfileError, Spread};

/// Whether a change is more than the frames of one profile differ among themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Within {
    /// The times of both overlap: it may be chance.
    Spread,
    /// No frame of one is as fast as any of the other.
    Beyond,
}

/// How the time of something changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// What it is.
    pub name: String,
    /// Milliseconds in A.
    pub a: Spread,
    /// Milliseconds in B.
    pub b: Spread,
    /// Median of B less that of A; negative where B is faster.
    pub difference: f64,
    /// Median of B over that of A.
    pub ratio: f64,
    /// Whether it is more than chance.
    pub beyond: Within,
}

impl Change {
    fn new(name: String, a: Spread, b: Spread) -> Self {
        let beyond = if a.max < b.min || b.max < a.min { Within::Beyond } else { Within::Spread };
        let ratio = if a.median > 0.0 { b.median / a.median } else { f64::NAN };
        Self { name, a, b, difference: b.median - a.median, ratio, beyond }
    }
}

/// Two profiles side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The whole network.
    pub whole: Change,
    /// Stages, the largest change first.
    pub stages: Vec<Change>,
    /// Operations, the largest change first. What runs together in one of both counts together.
    pub operations: Vec<Change>,
}

/// Compares two profiles of the same work.
///
/// # Errors
/// [`ProfileError::DifferentWork`] for other sizes, or operations that do not go by the same names.
pub fn compare(a: &Profile, b: &Profile) -> Result<Comparison, ProfileError> {
    let size = |p: &Profile| format!("{} (field {}, {:.0} GFLOP)", p.size, p.field, p.work.flop as f64 / 1e9);
    let refuse = || ProfileError::DifferentWork { a: size(a), b: size(b) };
    let labels = |p: &Profile| -> Vec<String> { p.operations.iter().flat_map(labels_of).map(str::to_owned).collect() };
    if a.field != b.field || a.work.flop != b.work.flop || labels(a) != labels(b) {
        return Err(refuse());
    }
    let group = |a: &Group| {
        let b = b.stages.iter().find(|b| b.name == a.name)?;
        Some(Change::new(a.name.clone(), a.ms, b.ms))
    };
    let stages = a.stages.iter().map(group).collect::<Option<Vec<_>>>().ok_or_else(refuse)?;
    Ok(Comparison {
        whole: Change::new("network".to_owned(), a.ms, b.ms),
        stages: largest_first(stages),
        operations: largest_first(operations(a, b)),
    })
}

fn labels_of(op: &Operation) -> impl Iterator<Item = &str> {
    std::iter::once(op.label.as_str()).chain(op.covers.iter().map(String::as_str))
}

fn largest_first(mut changes: Vec<Change>) -> Vec<Change> {
    changes.sort_by(|a, b| f64::total_cmp(&b.difference.abs(), &a.difference.abs()));
    changes
}

/// Runs of operations that both profiles keep apart from the others.
fn operations(a: &Profile, b: &Profile) -> Vec<Change> {
    let starts = |p: &Profile| -> BTreeSet<String> { p.operations.iter().map(|op| op.label.clone()).collect() };
    let (in_a, in_b) = (starts(a), starts(b));
    let common = |op: &&Operation| in_a.contains(&op.label) && in_b.contains(&op.label);
    let runs = |p: &Profile| -> Vec<(String, Vec<f64>)> {
        let mut runs: Vec<(String, Vec<f64>)> = Vec::new();
        for op in &p.operations {
            match runs.last_mut() {
                Some((_, samples)) if !common(&op) => {
                    samples.iter_mut().zip(&op.samples).for_each(|(sum, ms)| *sum += ms);
                }
                _ => runs.push((op.label.clone(), op.samples.clone())),
            }
        }
        runs
    };
    let change = |((name, a), (_, b)): ((String, Vec<f64>), (String, Vec<f64>))| {
        Change::new(name, Spread::of(&a), Spread::of(&b))
    };
    runs(a).into_iter().zip(runs(b)).map(change).collect()
}
