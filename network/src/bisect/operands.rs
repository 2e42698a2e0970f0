//! The arithmetic of one output element, spelled out.

use serde::Serialize;

use super::attention;
use crate::model::{Model, ModelError};
use crate::numerics::cosine::{self, HEAD};
use crate::numerics::multiply::{GROUP13, GROUP24, group13, group24};
use crate::numerics::{e4m3, elementwise, half, multiply, silu};
use crate::plan::{Gemm, MatrixF16Ref, Normalise, OpId, OpKind, Plan, TensorId, VectorRef};
use crate::reference::TensorData;

/// A named scalar.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operand {
    /// What it is.
    pub name: String,
    /// Code or half bits.
    pub bits: u16,
    /// Its value.
    pub value: f32,
}

/// One group of a multiply chain: F13 of E4M3 codes, or F24 of halves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Which product it belongs to.
    pub chain: String,
    /// First index along K.
    pub k: usize,
    /// Left operands, codes or half bits.
    pub a: Vec<u16>,
    /// Right operands.
    pub b: Vec<u16>,
    /// Accumulator before it, half bits.
    pub before: u16,
    /// Accumulator after it.
    pub after: u16,
}

/// Everything that one output element is made of, and what the contract makes of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Operands {
    /// Scalars, in the order of use.
    pub scalars: Vec<Operand>,
    /// Groups, in the order of the chains.
    pub groups: Vec<Group>,
    /// Bits of the element by the contract's scalar arithmetic.
    pub result: u16,
}

impl Operands {
    /// Adds a code.
    pub(super) fn code(&mut self, name: impl Into<String>, code: u8) {
        self.scalars.push(Operand { name: name.into(), bits: code.into(), value: e4m3::to_f32(code) });
    }

    /// Adds a half.
    pub(super) fn half(&mut self, name: impl Into<String>, bits: u16) {
        self.scalars.push(Operand { name: name.into(), bits, value: half::to_f32(bits) });
    }

    /// Adds a chain of F13 groups from `acc`; returns the accumulator after it.
    pub(super) fn chain13(&mut self, chain: &str, k: usize, a: &[u8], b: &[u8], mut acc: u16) -> u16 {
        let pairs = a.as_chunks::<GROUP13>().0.iter().zip(b.as_chunks::<GROUP13>().0);
        for (i, (a, b)) in pairs.enumerate() {
            let after = group13(a, b, acc);
            self.groups.push(Group {
                chain: chain.to_owned(),
                k: k + i * GROUP13,
                a: a.map(u16::from).to_vec(),
                b: b.map(u16::from).to_vec(),
                before: acc,
                after,
            });
            acc = after;
        }
        acc
    }

    fn chain24(&mut self, a: &[u16], b: &[u16]) -> u16 {
        let mut acc = 0;
        let pairs = a.as_chunks::<GROUP24>().0.iter().zip(b.as_chunks::<GROUP24>().0);
        for (i, (a, b)) in pairs.enumerate() {
            let after = group24(a, b, acc);
            let (k, chain) = (i * GROUP24, "F24".to_owned());
            self.groups.push(Group { chain, k, a: a.to_vec(), b: b.to_vec(), before: acc, after });
            acc = after;
        }
        acc
    }
}

impl std::fmt::Display for Operands {
    /// One line a scalar and a group; the last of many scalars, the first and last groups of long chains.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 8;
        let hidden = self.scalars.len().saturating_sub(4 * SHOWN);
        if hidden > 0 {
            writeln!(f, "... {hidden} scalars (all with --json) ...")?;
        }
        for scalar in &self.scalars[hidden..] {
            writeln!(f, "{} = {:#x} ({})", scalar.name, scalar.bits, scalar.value)?;
        }
        let line = |f: &mut std::fmt::Formatter<'_>, g: &Group| {
            let hex = |values: &[u16]| values.iter().map(|v| format!("{v:02x}")).collect::<Vec<_>>().join(" ");
            writeln!(
                f,
                "{} k {}: {:#06x} + [{}] . [{}] -> {:#06x}",
                g.chain,
                g.k,
                g.before,
                hex(&g.a),
                hex(&g.b),
                g.after
            )
        };
        let count = self.groups.len();
        for (i, group) in self.groups.iter().enumerate() {
            if i < SHOWN || i + SHOWN >= count {
                line(f, group)?;
            } else if i == SHOWN {
                writeln!(f, "... {} groups more (all with --json) ...", count - 2 * SHOWN)?;
            }
        }
        write!(f, "by the contract: {:#x}", self.result)
    }
}

/// Spells element `index` of output `tensor` of an operation on `inputs`, in the order of
/// [`OpKind::inputs`].
///
/// # Errors
/// The model lacks what the operation reads.
pub fn operands(
    plan: &Plan,
    model: &Model,
    id: OpId,
    tensor: TensorId,
    index: usize,
    inputs: &[TensorData],
) -> Result<Operands, ModelError> {
    let shape = plan.tensor(tensor);
    let (row, channel) = (index / shape.channels, index % shape.channels);
    let width = shape.extent.width as usize;
    let (x, y) = (row % width, row / width);
    let mut out = Operands::default();
    let channels = |id: TensorId| plan.tensor(id).channels;
    match &plan.op(id).kind {
        OpKind::Gemm(op) => {
            let raw = gemm(&mut out, model, op, (row, channel), channels(op.input), inputs)?;
            out.result = if Some(tensor) == op.out_half {
                raw
            } else {
                let active = if op.silu { silu::silu(raw) } else { raw };
                if op.silu {
                    out.half("SiLU", active);
                }
                e4m3::encode(active).into()
            };
        }
        OpKind::Adapter(op) => {
            let raw =
                half_product(&mut out, model, &op.weight, halves(&inputs[0], row * op.weight.k, op.weight.k), channel)?;
            out.result = if tensor == op.out_half { raw } else { e4m3::encode(raw).into() };
        }
        OpKind::Head(op) => {
            out.result =
                half_product(&mut out, model, &op.weight, halves(&inputs[0], row * op.weight.k, op.weight.k), channel)?;
        }
        OpKind::Normalise(op) => {
            out.result = normalise(&mut out, model, op, row * shape.channels, channel, &inputs[0])?
        }
        OpKind::WindowAttention(op) => {
            out.result = attention::window(&mut out, model, op, shape.extent, (x, y), channel, &inputs[0])?;
        }
        OpKind::VitAttention(op) => out.result = attention::vit(&mut out, op, shape.channels, row, channel, &inputs[0]),
        OpKind::Pool(op) => {
            let from = plan.tensor(op.input).extent;
            let at = |dx: usize, dy: usize| {
                let (x, y) = (2 * x + dx, 2 * y + dy);
                let inside = x < from.width as usize && y < from.height as usize;
                inside.then(|| halves(&inputs[0], (y * from.width as usize + x) * shape.channels + channel, 1)[0])
            };
            let source = [at(0, 0), at(1, 0), at(0, 1), at(1, 1)];
            for (name, value) in ["top left", "top right", "bottom left", "bottom right"].iter().zip(source) {
                if let Some(value) = value {
                    out.half(*name, value);
                }
            }
            if let [Some(a), Some(b), Some(c), Some(d)] = source {
                out.result = e4m3::encode(elementwise::pool(a, b, c, d)).into();
            }
        }
        OpKind::Merge(op) => {
            let low_width = plan.tensor(op.low).extent.width as usize;
            let low = halves(&inputs[0], ((y / 2) * low_width + x / 2) * shape.channels + channel, 1)[0];
            let skip = codes(&inputs[1], index, 1)[0];
            let scale = scale_of(model, &op.scale, channel)?;
            out.half("projection", low);
            out.code("skip", skip);
            out.half("scale", scale);
            let raw = elementwise::merge(low, skip, scale);
            out.result = if Some(tensor) == op.out_half { raw } else { e4m3::encode(raw).into() };
        }
        OpKind::PostBlend(op) => {
            let up_width = plan.tensor(op.up).extent.width as usize;
            let up = codes(&inputs[0], ((y / 2) * up_width + x / 2) * shape.channels + channel, 1)[0];
            let block0 = codes(&inputs[1], index, 1)[0];
            let (up_scale, adapter_scale) =
                (scale_of(model, &op.input_scale, channel)?, scale_of(model, &op.adapter_scale, channel)?);
            out.code("up", up);
            out.half("input scale", up_scale);
            out.code("block 0", block0);
            out.half("adapter scale", adapter_scale);
            let raw = elementwise::blend(up, up_scale, block0, adapter_scale);
            out.result = if tensor == op.out_half { raw } else { e4m3::encode(raw).into() };
        }
    }
    Ok(out)
}

/// `count` codes from `at`; zeros past the end.
pub(super) fn codes(data: &TensorData, at: usize, count: usize) -> Vec<u8> {
    match data {
        TensorData::Codes(all) => (at..at + count).map(|i| all.get(i).copied().unwrap_or(0)).collect(),
        TensorData::Halves(_) => vec![0; count],
    }
}

/// `count` halves from `at`; zeros past the end.
fn halves(data: &TensorData, at: usize, count: usize) -> Vec<u16> {
    match data {
        TensorData::Halves(all) => (at..at + count).map(|i| all.get(i).copied().unwrap_or(0)).collect(),
        TensorData::Codes(_) => vec![0; count],
    }
}

fn scale_of(model: &Model, scale: &VectorRef, channel: usize) -> Result<u16, ModelError> {
    Ok(model.vector(scale)?.get(channel).map_or(0, |scale| scale.to_bits()))
}

/// The raw half of an FP8 multiply.
fn gemm(
    out: &mut Operands,
    model: &Model,
    op: &Gemm,
    (row, column): (usize, usize),
    input_channels: usize,
    inputs: &[TensorData],
) -> Result<u16, ModelError> {
    let weight = &op.weight;
    let columns = weight.n * weight.groups;
    let matrix = model.fp8(weight)?;
    let group = column / weight.n;
    let first = if weight.stacked { 0 } else { group * weight.k };
    let a = codes(&inputs[0], row * input_channels + first, weight.k);
    let b: Vec<u8> = (0..weight.k)
        .map(|k| {
            let at = if weight.stacked {
                k * columns + column
            } else {
                (group * weight.k + k) * weight.n + column % weight.n
            };
            matrix.get(at).copied().unwrap_or(0)
        })
        .collect();
    let mut acc = 0;
    if let (Some(seed), Some(skip)) = (&op.seed, inputs.get(1)) {
        let scale = scale_of(model, &seed.scale, column)?;
        let at = row * columns + column;
        let skip = match skip {
            TensorData::Codes(_) => e4m3::decode(codes(skip, at, 1)[0]),
            TensorData::Halves(_) => halves(skip, at, 1)[0],
        };
        acc = multiply::seed(skip, scale);
        out.half("skip", skip);
        out.half("scale", scale);
        out.half("seed", acc);
    }
    let mut total: Option<u16> = None;
    for (i, (a, b)) in a.chunks(op.partition).zip(b.chunks(op.partition)).enumerate() {
        let part = out.chain13("F13", i * op.partition, a, b, acc);
        total = Some(total.map_or(part, |total| half::add(total, part)));
        acc = 0;
    }
    let raw = total.unwrap_or(acc);
    out.half("sum", raw);
    Ok(raw)
}

/// The raw half of an f16 multiply.
fn half_product(
    out: &mut Operands,
    model: &Model,
    weight: &MatrixF16Ref,
    a: Vec<u16>,
    column: usize,
) -> Result<u16, ModelError> {
    let matrix = model.half_matrix(weight)?;
    let b: Vec<u16> =
        (0..weight.k).map(|k| matrix.get(k * weight.n + column).map_or(0, |value| value.to_bits())).collect();
    let raw = out.chain24(&a, &b);
    out.half("sum", raw);
    Ok(raw)
}

/// A code of a normalised row whose first element is `row`.
fn normalise(
    out: &mut Operands,
    model: &Model,
    op: &Normalise,
    row: usize,
    channel: usize,
    input: &TensorData,
) -> Result<u16, ModelError> {
    let (head, part, lane) = (channel / (3 * HEAD), channel % (3 * HEAD) / HEAD, channel % HEAD);
    let vector: [u16; HEAD] = std::array::from_fn({
        let values = halves(input, row + channel - lane, HEAD);
        move |i| values[i]
    });
    for (i, &value) in vector.iter().enumerate() {
        out.half(format!("lane {i}"), value);
    }
    let scale = model.head_scales(&op.scale)?.get(head).map_or(0, |scale| scale.to_bits());
    let sum = if op.vit { cosine::square_sum_vit(&vector) } else { cosine::square_sum_window(&vector) };
    let norm = cosine::norm(sum);
    if part < 2 {
        out.half("square sum", sum);
        out.half("norm", norm);
    }
    let all = match (part, op.vit) {
        (0, true) => cosine::query_vit(&vector, norm, scale),
        (0, false) => cosine::query_window(&vector, norm, scale),
        (1, _) => cosine::key(&vector, norm),
        _ => cosine::value(&vector),
    };
    if part == 0 {
        out.half("head scale", scale);
    }
    Ok(all[lane].into())
}
