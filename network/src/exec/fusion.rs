//! Which operations run together.
//!
//! A fusion is named by its first operation and covers the one behind it, whose steps are the first one's. Tensors between
//! the covered operations are never written as a whole and take no memory.

use std::collections::HashMap;

use super::kernels::Tiles;
use crate::geometry::Extent;
use crate::plan::{Gemm, Normalise, Op, OpId, OpKind, Plan, TensorId};

/// Two operations that run together.
#[derive(Clone, Debug)]
pub(super) enum Fusion {
    /// A multiply that produces raw QKV rows, and the window normalisation that alone reads them, in one kernel. The
    /// multiply's output is the normalisation's.
    Qkv(Gemm, Normalise),
    /// Two multiplies, block of rows by block of rows: what passes between them stays in the scratch buffer.
    Chain(Gemm, Gemm),
}

/// The fusions of a plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Fusions {
    by_first: HashMap<OpId, Fusion>,
    /// Tensors that are never written.
    dropped: Vec<TensorId>,
}

impl Fusions {
    /// Everything that can run together in a form.
    pub fn of(plan: &Plan, tiles: Tiles) -> Self {
        let mut fusions = Self::default();
        let mut index = 0;
        while index + 1 < plan.ops.len() {
            let (first, second) = (&plan.ops[index], &plan.ops[index + 1]);
            let between = first.kind.outputs();
            let readers = |id: &TensorId| plan.ops.iter().filter(|op| op.kind.inputs().contains(id)).count();
            let pair = match between.as_slice() {
                [id] if readers(id) == 1 => fuse(*id, first, second, tiles),
                _ => None,
            };
            if let Some(fusion) = pair {
                fusions.by_first.insert(OpId(index as u32), fusion);
                fusions.dropped.extend(between);
                index += 1;
            }
            index += 1;
        }
        fusions
    }

    /// The fusion that starts at an operation.
    pub fn at(&self, op: OpId) -> Option<&Fusion> {
        self.by_first.get(&op)
    }

    /// Whether the operation before this one does its work.
    pub fn covers(&self, op: OpId) -> bool {
        op.0 > 0 && self.by_first.contains_key(&OpId(op.0 - 1))
    }

    /// Bytes of the largest tensor that passes between two multiplies.
    pub fn largest_between(&self, plan: &Plan) -> u64 {
        let bytes = |fusion: &Fusion| match fusion {
            Fusion::Chain(_, second) => plan.tensor(second.input).bytes() as u64,
            Fusion::Qkv(..) => 0,
        };
        self.by_first.values().map(bytes).max().unwrap_or(0)
    }

    /// The plan as far as memory is concerned: the tensors between are empty, and what either operation of a pair touches
    /// lives as long as both run.
    pub fn memory_plan(&self, plan: &Plan) -> Plan {
        let mut memory = plan.clone();
        for id in &self.dropped {
            memory.tensors[id.0 as usize].extent = Extent::new(0, 0);
        }
        memory.ops.clear();
        for (index, op) in (0..).zip(&plan.ops) {
            let before = if index > 0 { self.at(OpId(index - 1)) } else { None };
            match (self.at(OpId(index)), before) {
                (Some(Fusion::Qkv(gemm, _)), _) => {
                    memory.ops.push(Op { kind: OpKind::Gemm(gemm.clone()), ..op.clone() });
                }
                (_, Some(Fusion::Qkv(..))) => {}
                // Blocks of the first multiply still read their input when the second has published others.
                (_, Some(Fusion::Chain(..))) => memory.ops.extend([op.clone(), plan.ops[index as usize - 1].clone()]),
                _ => memory.ops.push(op.clone()),
            }
        }
        memory
    }
}

/// How two operations with one tensor between them, which nothing else reads, run together.
fn fuse(between: TensorId, first: &Op, second: &Op, tiles: Tiles) -> Option<Fusion> {
    let OpKind::Gemm(gemm) = &first.kind else { return None };
    let whole = |gemm: &Gemm| gemm.partition == gemm.weight.k;
    match &second.kind {
        OpKind::Normalise(normalise) => {
            let fits = normalise.input == between
                && whole(gemm)
                && gemm.seed.is_none()
                && gemm.weight.groups == 1
                && !normalise.vit
                && tiles.qkv(gemm.weight.n).is_some();
            let output = Gemm { out_half: None, out_code: Some(normalise.output), ..gemm.clone() };
            fits.then(|| Fusion::Qkv(output, normalise.clone()))
        }
        OpKind::Gemm(next) => {
            let seeds = next.seed.as_ref().is_some_and(|seed| seed.skip == between);
            let fits = next.input == between && !seeds && whole(gemm) && whole(next) && gemm.out_code == Some(between);
            fits.then(|| Fusion::Chain(gemm.clone(), next.clone()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernels::Tuning;
    use super::*;
    use crate::geometry::Geometry;
    use crate::plan::{Arena, lifetimes};

    #[test]
    fn fusions_save_memory_and_lose_no_tensor() {
        let plan = Plan::new(&Geometry::new(Extent::new(1920, 1080)).unwrap());
        let before = Arena::new(&plan, 256, true).bound;
        // In the plain form the raw QKV rows next to the normalised ones are as large as what the chains save.
        for (tuning, most) in [(Tuning::Tile, before), (Tuning::Truncating, before * 3 / 4)] {
            let fusions = Fusions::of(&plan, Tiles::new(tuning));
            let memory = fusions.memory_plan(&plan);
            assert!(Arena::new(&memory, 256, true).bound <= most, "{tuning:?}");
            // Whatever is not between two operations that run together is still written and read.
            let lives = lifetimes(&memory);
            for id in (0..plan.tensors.len() as u32).map(TensorId) {
                let gone = lives[id.0 as usize].first == usize::MAX || memory.tensor(id).bytes() == 0;
                assert_eq!(gone, fusions.dropped.contains(&id), "{}", plan.tensor(id).label);
            }
        }
    }

    #[test]
    fn what_a_chain_reads_outlives_what_it_writes() {
        let plan = Plan::new(&Geometry::new(Extent::new(64, 64)).unwrap());
        let fusions = Fusions::of(&plan, Tiles::new(Tuning::Tile));
        let lives = lifetimes(&fusions.memory_plan(&plan));
        let mut chains = 0;
        for fusion in fusions.by_first.values() {
            let Fusion::Chain(first, second) = fusion else { continue };
            for output in OpKind::Gemm(second.clone()).outputs() {
                assert!(lives[first.input.0 as usize].last > lives[output.0 as usize].first);
            }
            chains += 1;
        }
        assert!(chains > 40, "{chains}");
    }
}
