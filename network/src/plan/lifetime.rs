//! Lifetimes of tensors and their placement in one arena.
//!
//! A tensor lives from the operation that writes it to the last one that reads it. Two tensors may share bytes when
//! their lives do not overlap. Placement is greedy, each tensor at the lowest offset, or in the tightest gap, that is free
//! for its whole life; several orders are tried and the smallest arena is kept.

use super::{OpId, Plan, TensorId};

/// First and last operation index that touch a tensor; inputs of the plan live from before the first operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Index of the first operation.
    pub first: usize,
    /// Index of the last operation.
    pub last: usize,
}

impl Lifetime {
    fn overlaps(&self, other: &Lifetime) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// The lifetime of every tensor, indexed by [`TensorId`]. The plan's features live from the start, its head to the end.
pub fn lifetimes(plan: &Plan) -> Vec<Lifetime> {
    let end = plan.ops.len().saturating_sub(1);
    let mut lives = vec![Lifetime { first: usize::MAX, last: 0 }; plan.tensors.len()];
    for (index, op) in plan.ops.iter().enumerate() {
        for id in op.kind.inputs().into_iter().chain(op.kind.outputs()) {
            let life = &mut lives[id.0 as usize];
            life.first = life.first.min(index);
            life.last = life.last.max(index);
        }
    }
    lives[plan.features.0 as usize].first = 0;
    lives[plan.head.0 as usize].last = end;
    lives
}

/// The operation at which the most tensor bytes live at once, and the tensors that do, the largest first.
pub fn largest_cut(plan: &Plan) -> (OpId, Vec<(TensorId, usize)>) {
    let lives = lifetimes(plan);
    let live = |op: usize| {
        let ids = (0..lives.len()).filter(|&i| lives[i].first <= op && op <= lives[i].last);
        ids.map(|i| (TensorId(i as u32), plan.tensors[i].bytes())).filter(|(_, bytes)| *bytes > 0).collect::<Vec<_>>()
    };
    let bytes = |op: usize| -> usize { live(op).iter().map(|(_, bytes)| bytes).sum() };
    // The first of equals.
    let op = (0..plan.ops.len()).rev().max_by_key(|&op| bytes(op)).unwrap_or(0);
    let mut tensors = live(op);
    tensors.sort_by_key(|&(id, bytes)| (std::cmp::Reverse(bytes), id));
    (OpId(op as u32), tensors)
}

/// Where a tensor lies in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaSlot {
    /// The tensor.
    pub tensor: TensorId,
    /// First byte, a multiple of the arena's alignment.
    pub offset: usize,
    /// Bytes, tightly packed.
    pub bytes: usize,
}

/// Placement of all tensors of a plan in one block of memory.
#[derive(Clone, Debug)]
pub struct Arena {
    /// One slot per tensor, indexed by [`TensorId`].
    pub slots: Vec<ArenaSlot>,
    /// Bytes of the arena.
    pub bytes: usize,
    /// The largest sum of live tensor bytes at any operation: no placement can be smaller.
    pub bound: usize,
}

impl Arena {
    /// Places every tensor. `alignment` is a power of two; `alias` off gives every tensor bytes of its own, so that all
    /// of them can be read back after the frame.
    pub fn new(plan: &Plan, alignment: usize, alias: bool) -> Self {
        let lives = lifetimes(plan);
        let size = |i: usize| plan.tensors[i].bytes().next_multiple_of(alignment);
        let sizes: Vec<usize> = (0..plan.tensors.len()).map(size).collect();
        let bound = (0..plan.ops.len())
            .map(|op| (0..lives.len()).filter(|&i| lives[i].first <= op && op <= lives[i].last).map(|i| sizes[i]).sum())
            .max()
            .unwrap_or(0);
        let (offsets, bytes) = if alias { place(&sizes, &lives, bound) } else { stack(&sizes) };
        let slots = offsets
            .iter()
            .enumerate()
            .map(|(i, &offset)| ArenaSlot { tensor: TensorId(i as u32), offset, bytes: plan.tensors[i].bytes() })
            .collect();
        Self { slots, bytes, bound }
    }

    /// The slot of a tensor.
    pub fn slot(&self, id: TensorId) -> ArenaSlot {
        self.slots[id.0 as usize]
    }
}

/// One after the other.
fn stack(sizes: &[usize]) -> (Vec<usize>, usize) {
    let mut end = 0;
    let mut offsets = Vec::with_capacity(sizes.len());
    for size in sizes {
        offsets.push(end);
        end += size;
    }
    (offsets, end)
}

/// Offsets and the end of the smallest arena of those tried; `bound` is the smallest there can be.
fn place(sizes: &[usize], lives: &[Lifetime], bound: usize) -> (Vec<usize>, usize) {
    let length = |i: usize| lives[i].last.saturating_sub(lives[i].first) + 1;
    // Long lives first, down to a length; then by size. The lengths are those at which something changes.
    let mut lengths: Vec<usize> = (0..sizes.len()).map(length).filter(|&l| l > 8).collect();
    lengths.extend([usize::MAX, 0]);
    lengths.sort_unstable();
    lengths.dedup();
    let mut best = (Vec::new(), usize::MAX);
    for long in lengths.into_iter().rev() {
        let mut order: Vec<usize> = (0..sizes.len()).filter(|&i| sizes[i] > 0).collect();
        order.sort_by_key(|&i| (length(i) < long, std::cmp::Reverse(sizes[i]), lives[i].first));
        for tightest in [false, true] {
            let tried = greedy(&order, sizes, lives, tightest);
            if tried.1 < best.1 {
                best = tried;
            }
            if best.1 == bound {
                return best;
            }
        }
    }
    best
}

/// Places tensors in an order, each at the lowest free offset or in the tightest gap.
fn greedy(order: &[usize], sizes: &[usize], lives: &[Lifetime], tightest: bool) -> (Vec<usize>, usize) {
    let mut offsets = vec![0; sizes.len()];
    let mut bytes = 0;
    for (rank, &i) in order.iter().enumerate() {
        let mut taken: Vec<(usize, usize)> = order[..rank]
            .iter()
            .filter(|&&j| lives[i].overlaps(&lives[j]))
            .map(|&j| (offsets[j], offsets[j] + sizes[j]))
            .collect();
        taken.sort_unstable();
        let (mut end, mut gap) = (0, None);
        for (from, to) in taken {
            let room = from.saturating_sub(end);
            if room >= sizes[i] && gap.is_none_or(|(best, _)| tightest && room < best) {
                gap = Some((room, end));
            }
            end = end.max(to);
        }
        offsets[i] = gap.map_or(end, |(_, at)| at);
        bytes = bytes.max(offsets[i] + sizes[i]);
    }
    (offsets, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Extent, Geometry};

    #[test]
    fn no_two_live_slots_overlap() {
        for (width, height) in [(33, 33), (457, 41), (644, 768), (1280, 720)] {
            let geometry = Geometry::new(Extent { width, height }).unwrap();
            let plan = Plan::new(&geometry);
            let lives = lifetimes(&plan);
            for alias in [true, false] {
                let arena = Arena::new(&plan, 256, alias);
                assert!(arena.bytes >= arena.bound || !alias);
                for (i, a) in arena.slots.iter().enumerate() {
                    assert_eq!(a.offset % 256, 0);
                    assert!(a.offset + a.bytes <= arena.bytes);
                    for (j, b) in arena.slots.iter().enumerate().skip(i + 1) {
                        let apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
                        assert!(apart || (alias && !lives[i].overlaps(&lives[j])), "{i} and {j} share live bytes");
                    }
                }
            }
        }
    }
}
