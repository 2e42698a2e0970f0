//! The typed operations of a plan.

use super::{MatrixF16Ref, MatrixRef, PriorRef, ScaleRef, TensorId, VectorRef};

/// Index of an operation in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u32);

/// One operation: what it computes, for which block, under which label.
#[derive(Clone, Debug)]
pub struct Op {
    /// Unique dotted name, such as `b5.qkv`; profiler and debug labels use it.
    pub label: String,
    /// Block 0..70 that the operation belongs to. Pools and encoder transitions belong to the block before them,
    /// decoder entries to the block after.
    pub block: u32,
    /// The operation itself.
    pub kind: OpKind,
}

/// Start value of an accumulator: `h(skip * scale[n])` (numerics section 3).
#[derive(Clone, Debug)]
pub struct Seed {
    /// Skip tensor, E4M3 or half, with as many channels as the output.
    pub skip: TensorId,
    /// One half per output channel.
    pub scale: VectorRef,
}

/// FP8 multiply `D[row][n] = chain over k` (numerics section 3), grouped as [`MatrixRef`] says.
#[derive(Clone, Debug)]
pub struct Gemm {
    /// E4M3 rows. Channels = `k` for one or stacked matrices, `groups * k` otherwise.
    pub input: TensorId,
    /// The weights.
    pub weight: MatrixRef,
    /// Partition length of K, equal to `weight.k` when unpartitioned.
    pub partition: usize,
    /// Seed of the first partition; +0 when absent.
    pub seed: Option<Seed>,
    /// Whether SiLU (numerics section 5) is applied before the E4M3 publication.
    pub silu: bool,
    /// Raw half result, where it is published.
    pub out_half: Option<TensorId>,
    /// E4M3 result, where it is published.
    pub out_code: Option<TensorId>,
}

/// Input adapter: f16 multiply in groups of eight (numerics section 4), published as half and as E4M3.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// Halves `[field][16]`.
    pub features: TensorId,
    /// `[16 x 32]`.
    pub weight: MatrixF16Ref,
    /// Half result, the FFN skip of block 0.
    pub out_half: TensorId,
    /// E4M3 result, the input of block 0.
    pub out_code: TensorId,
}

/// Cosine normalisation of a raw QKV row (numerics section 6).
#[derive(Clone, Debug)]
pub struct Normalise {
    /// Halves `[rows][3C]`, head-major columns: head h owns 96h..96h+95 as Q, K, V of 32.
    pub input: TensorId,
    /// One scale per head.
    pub scale: ScaleRef,
    /// The ViT form (f32 low square, extra 5.65625 on Q) instead of the window form.
    pub vit: bool,
    /// E4M3 `[rows][3C]`, same columns.
    pub output: TensorId,
}

/// Attention in 8x8 windows (numerics section 9, network section 4.4).
#[derive(Clone, Debug)]
pub struct WindowAttention {
    /// Normalised E4M3 `[rows][3C]`.
    pub qkv: TensorId,
    /// One prior per head.
    pub prior: PriorRef,
    /// Window phase 0..3: origin shift (0,0), (4,4), (4,0), (0,4).
    pub phase: u32,
    /// E4M3 `[rows][C]`.
    pub output: TensorId,
}

/// Global attention over all tokens of level 5 (numerics section 10).
#[derive(Clone, Debug)]
pub struct VitAttention {
    /// Normalised E4M3 `[N][3C]`.
    pub qkv: TensorId,
    /// Tokens N.
    pub tokens: usize,
    /// N rounded up to 64.
    pub padded: usize,
    /// E4M3 `[N][C]`.
    pub output: TensorId,
}

/// 2x2 pool of a raw half (numerics section 11); positions without a full source are +0.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Half `[rows of the finer level][C]`.
    pub input: TensorId,
    /// E4M3 `[rows of the coarser level][C]`.
    pub output: TensorId,
}

/// Decoder entry: `fma16(val(skip), scale[c], low)` with nearest-neighbour upsampling (numerics section 11).
#[derive(Clone, Debug)]
pub struct Merge {
    /// Half projection at the coarser level.
    pub low: TensorId,
    /// E4M3 encoder skip at the finer level.
    pub skip: TensorId,
    /// One half per channel.
    pub scale: VectorRef,
    /// Raw half result (block 66 only).
    pub out_half: Option<TensorId>,
    /// E4M3 result.
    pub out_code: TensorId,
}

/// Entry of block 70: `fma16(val(block0), adapter_scale[c], val(up) * input_scale[c])` (numerics section 11).
#[derive(Clone, Debug)]
pub struct PostBlend {
    /// E4M3 output of block 69 at level 0.
    pub up: TensorId,
    /// E4M3 output of block 0 on the field.
    pub block0: TensorId,
    /// Scale of `up`, one half per channel.
    pub input_scale: VectorRef,
    /// Scale of `block0`, one half per channel.
    pub adapter_scale: VectorRef,
    /// Half result, the FFN skip of block 70.
    pub out_half: TensorId,
    /// E4M3 result, the input of block 70.
    pub out_code: TensorId,
}

/// Head: f16 multiply in groups of eight (numerics section 4).
#[derive(Clone, Debug)]
pub struct Head {
    /// Raw half of block 70, `[field][32]`.
    pub input: TensorId,
    /// `[32 x 4]`.
    pub weight: MatrixF16Ref,
    /// Halves `[field][4]`.
    pub output: TensorId,
}

/// What an operation computes.
#[derive(Clone, Debug)]
pub enum OpKind {
    /// Input adapter.
    Adapter(Adapter),
    /// FP8 multiply.
    Gemm(Gemm),
    /// Cosine normalisation.
    Normalise(Normalise),
    /// Window attention.
    WindowAttention(WindowAttention),
    /// Global attention.
    VitAttention(VitAttention),
    /// 2x2 pool.
    Pool(Pool),
    /// Decoder entry.
    Merge(Merge),
    /// Entry of block 70.
    PostBlend(PostBlend),
    /// Head.
    Head(Head),
}

impl OpKind {
    /// Short name of the kind.
    pub fn name(&self) -> &'static str {
        match self {
            OpKind::Adapter(_) => "adapter",
            OpKind::Gemm(_) => "gemm",
            OpKind::Normalise(_) => "normalise",
            OpKind::WindowAttention(_) => "window-attention",
            OpKind::VitAttention(_) => "vit-attention",
            OpKind::Pool(_) => "pool",
            OpKind::Merge(_) => "merge",
            OpKind::PostBlend(_) => "post-blend",
            OpKind::Head(_) => "head",
        }
    }

    /// Tensors read.
    pub fn inputs(&self) -> Vec<TensorId> {
        match self {
            OpKind::Adapter(o) => vec![o.features],
            OpKind::Gemm(o) => std::iter::once(o.input).chain(o.seed.as_ref().map(|s| s.skip)).collect(),
            OpKind::Normalise(o) => vec![o.input],
            OpKind::WindowAttention(o) => vec![o.qkv],
            OpKind::VitAttention(o) => vec![o.qkv],
            OpKind::Pool(o) => vec![o.input],
            OpKind::Merge(o) => vec![o.low, o.skip],
            OpKind::PostBlend(o) => vec![o.up, o.block0],
            OpKind::Head(o) => vec![o.input],
        }
    }

    /// Tensors written, each in full.
    pub fn outputs(&self) -> Vec<TensorId> {
        match self {
            OpKind::Adapter(o) => vec![o.out_half, o.out_code],
            OpKind::Gemm(o) => o.out_half.into_iter().chain(o.out_code).collect(),
            OpKind::Normalise(o) => vec![o.output],
            OpKind::WindowAttention(o) => vec![o.output],
            OpKind::VitAttention(o) => vec![o.output],
            OpKind::Pool(o) => vec![o.output],
            OpKind::Merge(o) => o.out_half.into_iter().chain([o.out_code]).collect(),
            OpKind::PostBlend(o) => vec![o.out_half, o.out_code],
            OpKind::Head(o) => vec![o.output],
        }
    }
}
