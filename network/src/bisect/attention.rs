//! One element of an attention, spelled out.

use super::operands::{Operands, codes};
use crate::geometry::{Extent, WINDOW_TOKENS, windows};
use crate::model::{Model, ModelError};
use crate::numerics::attention::untiled;
use crate::numerics::cosine::HEAD;
use crate::numerics::exponential::exp_vit;
use crate::numerics::{e4m3, half, multiply, root, softmax};
use crate::plan::{VitAttention, WindowAttention};
use crate::reference::TensorData;

/// Columns of one head in a QKV row.
const HEAD_COLUMNS: usize = 3 * HEAD;

/// An attended code of the token at (x, y) of a level.
pub(super) fn window(
    out: &mut Operands,
    model: &Model,
    op: &WindowAttention,
    extent: Extent,
    (x, y): (usize, usize),
    channel: usize,
    qkv: &TensorData,
) -> Result<u16, ModelError> {
    let (head, lane, heads) = (channel / HEAD, channel % HEAD, op.prior.heads);
    let grid = windows(extent, op.phase);
    let (window, query) = grid.locate(x, y);
    let part = |token: usize, part: usize| {
        grid.row(window, token)
            .map_or(vec![0; HEAD], |row| codes(qkv, (row * heads + head) * HEAD_COLUMNS + part * HEAD, HEAD))
    };
    let prior = model.prior(&op.prior)?;
    let at = (head * WINDOW_TOKENS + query) * WINDOW_TOKENS;
    let q = part(query, 0);
    let mut scores = [0; WINDOW_TOKENS];
    for (p, score) in scores.iter_mut().enumerate() {
        let seed = prior.get(at + p).map_or(0, |seed| seed.to_bits());
        *score = out.chain13(&format!("score of key {p}"), 0, &q, &part(untiled(p), 1), seed);
    }
    let weights = softmax::window_weights(&scores);
    for (p, (&score, &weight)) in scores.iter().zip(&weights).enumerate() {
        out.half(format!("score {p}"), score);
        out.code(format!("weight {p}"), weight);
    }
    let values: Vec<u8> = (0..WINDOW_TOKENS).map(|p| part(untiled(p), 2)[lane]).collect();
    let sum = out.chain13("values", 0, &weights, &values, 0);
    out.half("sum", sum);
    Ok(e4m3::encode(sum).into())
}

/// An attended code of a token of the ViT.
pub(super) fn vit(
    out: &mut Operands,
    op: &VitAttention,
    channels: usize,
    token: usize,
    channel: usize,
    qkv: &TensorData,
) -> u16 {
    let (head, lane, heads) = (channel / HEAD, channel % HEAD, channels / HEAD);
    let part = |token: usize, part: usize| codes(qkv, (token * heads + head) * HEAD_COLUMNS + part * HEAD, HEAD);
    let q = part(token, 0);
    let mut scores = vec![0; op.padded];
    for (t, score) in scores.iter_mut().enumerate().take(op.tokens) {
        *score = multiply::dot(&q, &part(t, 1), 0, HEAD);
    }
    let sums = scores.as_chunks::<WINDOW_TOKENS>().0.iter().map(|s| softmax::sum64(&s.map(exp_vit)));
    let total = softmax::vit_denominator(sums, op.padded - op.tokens);
    let reciprocal = root::reciprocal(total);
    out.half("denominator", total);
    out.half("reciprocal", reciprocal);
    let weights: Vec<u8> = scores.iter().map(|&score| softmax::vit_weight(score)).collect();
    let values: Vec<u8> = (0..op.padded).map(|t| if t < op.tokens { part(t, 2)[lane] } else { 0 }).collect();
    let sum = out.chain13("values", 0, &weights, &values, 0);
    out.half("sum", sum);
    e4m3::encode(half::mul(sum, reciprocal)).into()
}
