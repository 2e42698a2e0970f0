//! Which operations run together.
//!
//! A fusion is named by its first operation and covers those right behind it, whose steps are the first one's. Tensors
//! between the covered operations are never written as a whole and take no memory.

use std::collections::{HashMap, HashSet};

use super::kernels::Tiles;
use crate::geometry::Extent;
use crate::plan::{Gemm, Normalise, Op, OpId, OpKind, Plan, TensorId, WindowAttention};

/// A block of 32 channels (network section 4.1), operation by operation.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub expand: Gemm,
    pub contract: Gemm,
    pub qkv: Gemm,
    pub normalise: Normalise,
    pub attention: WindowAttention,
    pub project: Gemm,
}

/// Operations of a block of 32 channels.
const BLOCK_OPS: usize = 6;

/// Operations that run together.
#[derive(Clone, Debug)]
pub(super) enum Fusion {
    /// A multiply that produces raw QKV rows, and the window normalisation that alone reads them, in one kernel. The
    /// multiply's output is the normalisation's.
    Qkv(Gemm, Normalise),
    /// Two multiplies, block of rows by block of rows: what passes between them stays in the scratch buffer.
    Chain(Gemm, Gemm),
    /// A whole block of 32 channels in one kernel, window by window.
    Block(Box<Block>),
}

impl Fusion {
    /// Operations that it runs.
    pub fn operations(&self) -> usize {
        self.covered() + 1
    }

    /// Operations behind the first.
    fn covered(&self) -> usize {
        match self {
            Fusion::Qkv(..) | Fusion::Chain(..) => 1,
            Fusion::Block(_) => BLOCK_OPS - 1,
        }
    }
}

/// The fusions of a plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Fusions {
    by_first: HashMap<OpId, Fusion>,
    covered: HashSet<OpId>,
    /// Tensors that are never written.
    dropped: Vec<TensorId>,
}

impl Fusions {
    /// Everything that can run together in a form.
    pub fn of(plan: &Plan, tiles: Tiles) -> Self {
        let mut fusions = Self::default();
        let mut index = 0;
        while index + 1 < plan.ops.len() {
            let ops = &plan.ops[index..];
            let block = if tiles.blocks() { ops.first_chunk().and_then(|ops| block(plan, ops)) } else { None };
            let fusion = block.map(|block| Fusion::Block(Box::new(block)));
            if let Some(fusion) = fusion.or_else(|| pair(plan, &ops[0], &ops[1], tiles)) {
                let count = fusion.covered();
                fusions.dropped.extend(ops[..count].iter().flat_map(|op| op.kind.outputs()));
                fusions.covered.extend((1..=count).map(|i| OpId((index + i) as u32)));
                fusions.by_first.insert(OpId(index as u32), fusion);
                index += count;
            }
            index += 1;
        }
        fusions
    }

    /// The fusion that starts at an operation.
    pub fn at(&self, op: OpId) -> Option<&Fusion> {
        self.by_first.get(&op)
    }

    /// Whether an operation before this one does its work.
    pub fn covers(&self, op: OpId) -> bool {
        self.covered.contains(&op)
    }

    /// Bytes of the largest tensor that passes between two multiplies.
    pub fn largest_between(&self, plan: &Plan) -> u64 {
        let bytes = |fusion: &Fusion| match fusion {
            Fusion::Chain(_, second) => plan.tensor(second.input).bytes() as u64,
            Fusion::Qkv(..) | Fusion::Block(_) => 0,
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
                // What a block reads and writes, as if it were one multiply.
                (Some(Fusion::Block(block)), _) => {
                    let Gemm { out_half, out_code, .. } = block.project;
                    let gemm = Gemm { seed: block.contract.seed.clone(), out_half, out_code, ..block.expand.clone() };
                    memory.ops.push(Op { kind: OpKind::Gemm(gemm), ..op.clone() });
                }
                // Blocks of the first multiply still read their input when the second has published others.
                (_, Some(Fusion::Chain(..))) => memory.ops.extend([op.clone(), plan.ops[index as usize - 1].clone()]),
                _ if self.covers(OpId(index)) => {}
                _ => memory.ops.push(op.clone()),
            }
        }
        memory
    }
}

/// How many operations read a tensor.
fn readers(plan: &Plan, id: TensorId) -> usize {
    plan.ops.iter().filter(|op| op.kind.inputs().contains(&id)).count()
}

/// How two operations run together, if what passes between them is one tensor that nothing else reads.
fn pair(plan: &Plan, first: &Op, second: &Op, tiles: Tiles) -> Option<Fusion> {
    match first.kind.outputs().as_slice() {
        &[id] if readers(plan, id) == 1 => fuse(id, first, second, tiles),
        _ => None,
    }
}

/// The block of 32 channels that six operations make, if nothing else reads what passes between them.
fn block(plan: &Plan, ops: &[Op; BLOCK_OPS]) -> Option<Block> {
    let [OpKind::Gemm(expand), OpKind::Gemm(contract), OpKind::Gemm(qkv), rest @ ..] =
        ops.each_ref().map(|op| &op.kind)
    else {
        return None;
    };
    let [OpKind::Normalise(normalise), OpKind::WindowAttention(attention), OpKind::Gemm(project)] = rest else {
        return None;
    };
    let shape = |gemm: &Gemm, k, n| (gemm.weight.k, gemm.weight.n, gemm.weight.groups, gemm.partition) == (k, n, 1, k);
    let seeded_by = |gemm: &Gemm, id| gemm.seed.as_ref().map(|seed| Some(seed.skip)) == Some(id);
    let fits = shape(expand, 32, 128)
        && shape(contract, 128, 32)
        && shape(qkv, 32, 96)
        && shape(project, 32, 32)
        && (expand.silu, contract.silu, qkv.silu, project.silu) == (true, false, false, false)
        && expand.seed.is_none()
        && contract.seed.is_some()
        && qkv.seed.is_none()
        && !normalise.vit
        && expand.out_code == Some(contract.input)
        && contract.out_code == Some(qkv.input)
        && qkv.out_half == Some(normalise.input)
        && normalise.output == attention.qkv
        && attention.output == project.input
        && contract.out_half.is_some()
        && seeded_by(project, contract.out_half);
    // The FFN's half is read by the projection alone, everything else by the next operation.
    let inner = ops[..BLOCK_OPS - 1].iter().flat_map(|op| op.kind.outputs()).all(|id| readers(plan, id) == 1);
    (fits && inner).then(|| Block {
        expand: expand.clone(),
        contract: contract.clone(),
        qkv: qkv.clone(),
        normalise: normalise.clone(),
        attention: attention.clone(),
        project: project.clone(),
    })
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
                && tiles.qkv(u64::MAX >> 1, (gemm.weight.k, gemm.weight.n)).is_some();
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
        for (tuning, most) in
            [(Tuning::Tile, before), (Tuning::Truncating, before * 3 / 4), (Tuning::Matrix, before * 3 / 4)]
        {
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
