//! Which operations run in one kernel.

use std::collections::{BTreeSet, HashMap};

use crate::geometry::Extent;
use crate::plan::{
    Adapter, Gemm, Head, Merge, Normalise, Op, OpId, OpKind, Plan, Pool, PostBlend, TensorId, VitAttention,
    WindowAttention,
};

/// What a window block of at most 256 channels starts from.
#[derive(Clone, Debug)]
pub enum Entry {
    /// The codes of the block before.
    Codes,
    Adapter(Adapter),
    Merge(Merge),
    Blend(PostBlend),
}

/// A window block of at most 256 channels.
#[derive(Clone, Debug)]
pub struct Block {
    pub entry: Entry,
    /// W1, W2 and, from 64 channels on, W3; the last one is seeded.
    pub ffn: Vec<Gemm>,
    pub qkv: Gemm,
    pub normalise: Normalise,
    pub attention: WindowAttention,
    pub project: Gemm,
    pub pool: Option<Pool>,
    pub head: Option<Head>,
}

/// Operations that run in one kernel.
#[derive(Clone, Debug)]
pub enum Group {
    Block(Box<Block>),
    /// The three multiplies before the last one of a 512-channel FFN.
    SplitFfn([Gemm; 3]),
    /// QKV to attention of a 512-channel block.
    Attend(Gemm, Normalise, WindowAttention),
    /// QKV and normalisation of a ViT block.
    VitQkv(Gemm, Normalise),
    Vit(VitAttention),
    Gemm(Gemm),
    /// An operation of the exact route's kernels.
    Plain,
}

/// The groups of a plan.
#[derive(Clone, Debug)]
pub struct Groups {
    /// First operation, number of operations, what they are; in order.
    list: Vec<(OpId, usize, Group)>,
    by_first: HashMap<OpId, usize>,
    /// Tensors that are never written.
    dropped: BTreeSet<TensorId>,
}

impl Groups {
    /// Every operation of a plan in a group.
    pub fn of(plan: &Plan) -> Self {
        let (mut list, mut by_first) = (Vec::new(), HashMap::new());
        let mut at = 0;
        while at < plan.ops.len() {
            let (group, count) = match_group(&plan.ops[at..]);
            let first = OpId(at as u32);
            by_first.insert(first, list.len());
            list.push((first, count, group));
            at += count;
        }
        let mut groups = Self { list, by_first, dropped: BTreeSet::new() };
        groups.dropped = groups.inner(plan);
        groups
    }

    /// Tensors that only the group that writes them reads.
    fn inner(&self, plan: &Plan) -> BTreeSet<TensorId> {
        let group_of = |op: usize| self.list.partition_point(|(first, ..)| first.0 as usize <= op);
        let mut inner = BTreeSet::new();
        for (writer, op) in plan.ops.iter().enumerate() {
            for id in op.kind.outputs() {
                let outside =
                    |(reader, op): (usize, &Op)| op.kind.inputs().contains(&id) && group_of(reader) != group_of(writer);
                let read = plan.ops.iter().any(|op| op.kind.inputs().contains(&id));
                if read && !plan.ops.iter().enumerate().any(outside) && plan.tensor(id).boundary.is_none() {
                    inner.insert(id);
                }
            }
        }
        inner
    }

    /// The group that starts at an operation.
    pub fn at(&self, op: OpId) -> Option<&Group> {
        self.by_first.get(&op).map(|&index| &self.list[index].2)
    }

    /// Whether an operation before this one does its work.
    pub fn covers(&self, op: OpId) -> bool {
        !self.by_first.contains_key(&op)
    }

    /// Every group with its first operation.
    pub fn iter(&self) -> impl Iterator<Item = (OpId, &Group)> {
        self.list.iter().map(|(first, _, group)| (*first, group))
    }

    /// Whether a tensor is never written.
    pub fn is_dropped(&self, id: TensorId) -> bool {
        self.dropped.contains(&id)
    }

    /// The plan as far as memory is concerned: what is never written is empty, and all that a group touches lives while the
    /// group runs.
    pub fn memory_plan(&self, plan: &Plan) -> Plan {
        let mut memory = plan.clone();
        for id in &self.dropped {
            memory.tensors[id.0 as usize].extent = Extent::new(0, 0);
        }
        memory.ops.clear();
        for (first, count, _) in &self.list {
            let ops = &plan.ops[first.0 as usize..first.0 as usize + count];
            memory.ops.extend_from_slice(ops);
            // Twice: whatever a group reads is still alive when the group's first result appears.
            if *count > 1 {
                memory.ops.extend_from_slice(ops);
            }
        }
        memory
    }
}

/// The longest group at the start of some operations, and how many it covers.
fn match_group(ops: &[Op]) -> (Group, usize) {
    if let Some((block, count)) = match_block(ops) {
        return (Group::Block(Box::new(block)), count);
    }
    let kinds: Vec<&OpKind> = ops.iter().take(3).map(|op| &op.kind).collect();
    match kinds.as_slice() {
        [OpKind::Gemm(a), OpKind::Gemm(b), OpKind::Gemm(c)]
            if (a.weight.k, a.weight.n, b.weight.groups, c.weight.groups) == (512, 512, 8, 8) =>
        {
            (Group::SplitFfn([a.clone(), b.clone(), c.clone()]), 3)
        }
        [OpKind::Gemm(qkv), OpKind::Normalise(n), OpKind::WindowAttention(a)] => {
            (Group::Attend(qkv.clone(), n.clone(), a.clone()), 3)
        }
        [OpKind::Gemm(qkv), OpKind::Normalise(n), ..] => (Group::VitQkv(qkv.clone(), n.clone()), 2),
        [OpKind::VitAttention(a), ..] => (Group::Vit(a.clone()), 1),
        [OpKind::Gemm(gemm), ..] => (Group::Gemm(gemm.clone()), 1),
        _ => (Group::Plain, 1),
    }
}

fn match_block(ops: &[Op]) -> Option<(Block, usize)> {
    let mut next = ops.iter().map(|op| &op.kind).peekable();
    let entry = match next.peek()? {
        OpKind::Adapter(o) => Entry::Adapter(o.clone()),
        OpKind::Merge(o) => Entry::Merge(o.clone()),
        OpKind::PostBlend(o) => Entry::Blend(o.clone()),
        _ => Entry::Codes,
    };
    let mut count = usize::from(!matches!(entry, Entry::Codes));
    if count > 0 {
        next.next();
    }
    let mut gemms = Vec::new();
    while let Some(OpKind::Gemm(gemm)) = next.peek() {
        gemms.push(gemm.clone());
        next.next();
        // A run of multiplies longer than an FFN and its QKV is none.
        if gemms.len() > 4 {
            return None;
        }
    }
    count += gemms.len();
    let qkv = gemms.pop()?;
    let (channels, shape) = (qkv.weight.k, gemms.len());
    let known = matches!((channels, shape), (32, 2) | (64 | 128 | 256, 3));
    let seeded = gemms.last().is_some_and(|gemm| gemm.seed.is_some());
    let (OpKind::Normalise(normalise), OpKind::WindowAttention(attention), OpKind::Gemm(project)) =
        (next.next()?, next.next()?, next.next()?)
    else {
        return None;
    };
    if !known || !seeded || qkv.weight.n != 3 * channels || gemms[0].weight.k != channels {
        return None;
    }
    count += 3;
    let (mut pool, mut head) = (None, None);
    match next.peek() {
        Some(OpKind::Pool(o)) => pool = Some(o.clone()),
        Some(OpKind::Head(o)) => head = Some(o.clone()),
        _ => {}
    }
    count += usize::from(pool.is_some() || head.is_some());
    let block = Block {
        entry,
        ffn: gemms,
        qkv,
        normalise: normalise.clone(),
        attention: attention.clone(),
        project: project.clone(),
        pool,
        head,
    };
    Some((block, count))
}
