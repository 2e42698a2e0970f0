//! The weights of each operation in natural order, unpacked once.

use half::f16;

use super::window::{Prior, transpose_priors};
use crate::model::{Model, ModelError};
use crate::plan::OpKind;

/// What an operation reads besides its tensors. Halves are bit patterns.
pub enum Weights {
    /// Codes of an FP8 multiply (`Model::fp8`), and the seed's scale.
    Gemm { matrix: Vec<u8>, scale: Option<Vec<u16>> },
    /// `[k][n]` of the adapter or the head.
    HalfMatrix(Vec<u16>),
    /// One scale per head.
    HeadScales(Vec<u16>),
    /// One prior per head.
    Priors(Vec<Prior>),
    /// One merge scale per channel.
    MergeScale(Vec<u16>),
    /// The two scales of block 70's entry.
    BlendScales { input: Vec<u16>, adapter: Vec<u16> },
    /// Nothing: pool and ViT attention.
    None,
}

impl Weights {
    /// Unpacks the weights of one operation.
    pub fn new(kind: &OpKind, model: &Model) -> Result<Self, ModelError> {
        Ok(match kind {
            OpKind::Gemm(op) => Weights::Gemm {
                matrix: model.fp8(&op.weight)?,
                scale: op.seed.as_ref().map(|seed| model.vector(&seed.scale).map(bits)).transpose()?,
            },
            OpKind::Adapter(op) => Weights::HalfMatrix(bits(model.half_matrix(&op.weight)?)),
            OpKind::Head(op) => Weights::HalfMatrix(bits(model.half_matrix(&op.weight)?)),
            OpKind::Normalise(op) => Weights::HeadScales(bits(model.head_scales(&op.scale)?)),
            OpKind::WindowAttention(op) => Weights::Priors(transpose_priors(&bits(model.prior(&op.prior)?))),
            OpKind::Merge(op) => Weights::MergeScale(bits(model.vector(&op.scale)?)),
            OpKind::PostBlend(op) => Weights::BlendScales {
                input: bits(model.vector(&op.input_scale)?),
                adapter: bits(model.vector(&op.adapter_scale)?),
            },
            OpKind::Pool(_) | OpKind::VitAttention(_) => Weights::None,
        })
    }
}

fn bits(halves: Vec<f16>) -> Vec<u16> {
    halves.into_iter().map(f16::to_bits).collect()
}
