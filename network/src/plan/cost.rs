//! Work and traffic of an operation, counted from its shapes.

use super::{Op, OpKind, Plan};

/// What one operation, or a sum of them, costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Multiply-accumulates of all matrix products, the ones of attention included.
    pub macs: u64,
    /// Weight bytes read once.
    pub weight_bytes: u64,
    /// Activation bytes read, each once.
    pub read_bytes: u64,
    /// Activation bytes written, each once.
    pub written_bytes: u64,
}

impl Cost {
    /// Floating-point operations: two per multiply-accumulate.
    pub fn flop(&self) -> u64 {
        2 * self.macs
    }
}

impl std::ops::Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            macs: self.macs + other.macs,
            weight_bytes: self.weight_bytes + other.weight_bytes,
            read_bytes: self.read_bytes + other.read_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
        }
    }
}

impl Plan {
    /// Cost of one operation. Windows at the border count whole: their outside tokens are computed too.
    pub fn op_cost(&self, op: &Op) -> Cost {
        let bytes = |ids: Vec<super::TensorId>| ids.iter().map(|&id| self.tensor(id).bytes() as u64).sum();
        let (macs, weights) = match &op.kind {
            OpKind::Adapter(o) => {
                (self.tensor(o.out_code).rows() * o.weight.k * o.weight.n, o.weight.k * o.weight.n * 2)
            }
            OpKind::Head(o) => (self.tensor(o.output).rows() * o.weight.k * o.weight.n, o.weight.k * o.weight.n * 2),
            OpKind::Gemm(o) => {
                let seed = o.seed.as_ref().map_or(0, |s| 2 * s.scale.len);
                (self.tensor(o.input).rows() * o.weight.bytes(), o.weight.bytes() + seed)
            }
            OpKind::WindowAttention(o) => {
                let windows = crate::geometry::windows(self.tensor(o.output).extent, o.phase).count();
                (windows * o.prior.heads * 2 * 64 * 64 * 32, o.prior.heads * 8192)
            }
            OpKind::VitAttention(o) => {
                let heads = self.tensor(o.output).channels / 32;
                (o.tokens * o.padded * 64 * heads, 0)
            }
            OpKind::Normalise(o) => (0, 4 * o.scale.heads),
            OpKind::Merge(o) => (0, 2 * o.scale.len),
            OpKind::PostBlend(o) => (0, 2 * (o.input_scale.len + o.adapter_scale.len)),
            OpKind::Pool(_) => (0, 0),
        };
        Cost {
            macs: macs as u64,
            weight_bytes: weights as u64,
            read_bytes: bytes(op.kind.inputs()),
            written_bytes: bytes(op.kind.outputs()),
        }
    }

    /// Cost of operations that run together: tensors that pass between them and that nothing else reads are neither
    /// written nor read as a whole, and are not counted.
    pub fn group_cost(&self, ops: std::ops::Range<usize>) -> Cost {
        let mut cost = self.ops[ops.clone()].iter().map(|op| self.op_cost(op)).fold(Cost::default(), |a, b| a + b);
        let group = &self.ops[ops.clone()];
        for id in group.iter().flat_map(|op| op.kind.outputs()) {
            let reads = |op: &&Op| op.kind.inputs().contains(&id);
            let (inside, all) = (group.iter().filter(reads).count(), self.ops.iter().filter(reads).count());
            if inside > 0 && inside == all {
                let bytes = self.tensor(id).bytes() as u64;
                cost.written_bytes -= bytes;
                cost.read_bytes -= bytes * inside as u64;
            }
        }
        cost
    }

    /// Cost of the whole frame.
    pub fn cost(&self) -> Cost {
        self.ops.iter().map(|op| self.op_cost(op)).fold(Cost::default(), |a, b| a + b)
    }
}
