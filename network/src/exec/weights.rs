//! The weights of a model on the device, re-laid out once for the kernels.
//!
//! FP8 matrices lie as `[group][k / 16][n][16 codes]`, so that one 16-byte load holds sixteen consecutive k of a column.
//! Half matrices are natural `[k][n]`, vectors and priors natural, head scales one half in a 32-bit word.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use gpu::{Buffer, BufferDesc, BufferUsage, Device, MemoryKind};
use half::f16;
use rayon::prelude::*;

use super::ExecError;
use super::tensor::{Form, Fragments, Operands, TensorWeights};
use crate::geometry::{Extent, Geometry};
use crate::model::{Model, ModelError};
use crate::plan::{MatrixF16Ref, MatrixRef, OpKind, Plan, PriorRef, ScaleRef, VectorRef};

/// Start of every piece of weights, which satisfies any device's binding alignment.
const ALIGNMENT: u64 = 256;

/// Bytes of one of the weight buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// Index of the buffer.
    pub buffer: usize,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
}

/// One piece of weights, as a plan refers to it.
#[derive(Clone, Debug)]
enum Piece {
    Matrix(MatrixRef),
    Half(MatrixF16Ref),
    Vector(VectorRef),
    Prior(PriorRef),
    Scale(ScaleRef),
}

impl Piece {
    fn key(&self) -> (&str, usize) {
        match self {
            Piece::Matrix(r) => (&r.record, r.offset),
            Piece::Half(r) => (&r.record, r.offset),
            Piece::Vector(r) => (&r.record, r.offset),
            Piece::Prior(r) => (&r.record, r.offset),
            Piece::Scale(r) => (&r.record, r.offset),
        }
    }

    /// The bytes for the device.
    fn bytes(&self, model: &Model) -> Result<Vec<u8>, ModelError> {
        let halves = |halves: Vec<f16>| halves.iter().flat_map(|h| h.to_bits().to_le_bytes()).collect();
        Ok(match self {
            Piece::Matrix(r) => matrix_layout(&model.fp8(r)?, r),
            Piece::Half(r) => halves(model.half_matrix(r)?),
            Piece::Vector(r) => halves(model.vector(r)?),
            Piece::Prior(r) => halves(model.prior(r)?),
            Piece::Scale(r) => {
                model.head_scales(r)?.iter().flat_map(|h| u32::from(h.to_bits()).to_le_bytes()).collect()
            }
        })
    }
}

/// From natural `[group][k][n]` to `[group][k / 16][n][16]`; stacked matrices are one wide matrix. NaN codes, which the
/// contract reads as zero, become zero, so that no kernel needs to look for them.
fn matrix_layout(natural: &[u8], matrix: &MatrixRef) -> Vec<u8> {
    let n = if matrix.stacked { matrix.n * matrix.groups } else { matrix.n };
    let mut out = vec![0; natural.len()];
    // Slabs of sixteen k are contiguous in both forms.
    for (from, to) in natural.chunks_exact(16 * n).zip(out.chunks_exact_mut(16 * n)) {
        for (k, row) in from.chunks_exact(n).enumerate() {
            for (column, &code) in row.iter().enumerate() {
                to[column * 16 + k] = if code & 0x7f == 0x7f { 0 } else { code };
            }
        }
    }
    out
}

/// Every piece of weights an operation reads.
fn pieces(kind: &OpKind) -> Vec<Piece> {
    match kind {
        OpKind::Adapter(o) => vec![Piece::Half(o.weight.clone())],
        OpKind::Head(o) => vec![Piece::Half(o.weight.clone())],
        OpKind::Gemm(o) => {
            let scale = o.seed.iter().map(|s| Piece::Vector(s.scale.clone()));
            std::iter::once(Piece::Matrix(o.weight.clone())).chain(scale).collect()
        }
        OpKind::Normalise(o) => vec![Piece::Scale(o.scale.clone())],
        OpKind::WindowAttention(o) => vec![Piece::Prior(o.prior.clone())],
        OpKind::Merge(o) => vec![Piece::Vector(o.scale.clone())],
        OpKind::PostBlend(o) => vec![Piece::Vector(o.input_scale.clone()), Piece::Vector(o.adapter_scale.clone())],
        OpKind::VitAttention(_) | OpKind::Pool(_) => Vec::new(),
    }
}

/// The weights of one model on one device; device lifetime.
pub struct Weights {
    model: Option<Model>,
    /// The forms of the matrix-unit routes, made when a network of that route asks for them.
    halves: OnceLock<TensorWeights>,
    codes: OnceLock<TensorWeights>,
    buffers: Vec<Buffer>,
    slices: HashMap<(String, usize), Slice>,
    bytes: u64,
}

impl Weights {
    /// Re-lays out and uploads everything the plan of any geometry reads.
    ///
    /// # Errors
    /// The model lacks a record or a record is too short; the device has too little memory.
    pub fn upload(device: &Arc<Device>, model: &Model) -> Result<Arc<Self>, ExecError> {
        // References depend on the network alone, not on the size of a frame.
        let geometry = Geometry::new(Extent::new(64, 64)).expect("a size the contract accepts");
        let pieces: Vec<Piece> = Plan::new(&geometry).ops.iter().flat_map(|op| pieces(&op.kind)).collect();
        let data = pieces.par_iter().map(|piece| piece.bytes(model)).collect::<Result<Vec<_>, _>>()?;

        let limits = &device.caps().limits;
        let most = limits.max_memory_allocation.min(limits.max_buffer_size);
        let (mut contents, mut slices) = (vec![Vec::new()], HashMap::new());
        for (piece, bytes) in pieces.iter().zip(data) {
            let last = contents.last().map_or(0, Vec::len) as u64;
            if last > 0 && last + bytes.len() as u64 + ALIGNMENT > most {
                contents.push(Vec::new());
            }
            let buffer = contents.len() - 1;
            let content = &mut contents[buffer];
            let slice = Slice { buffer, offset: content.len() as u64, bytes: bytes.len() as u64 };
            content.extend_from_slice(&bytes);
            content.resize(content.len().next_multiple_of(ALIGNMENT as usize), 0);
            let (record, offset) = piece.key();
            slices.insert((record.to_owned(), offset), slice);
        }
        let buffers = contents
            .iter()
            .enumerate()
            .map(|(i, content)| {
                let name = format!("network weights {i}");
                let desc = BufferDesc {
                    name: &name,
                    size: content.len() as u64,
                    usage: BufferUsage::STORAGE_BUFFER,
                    memory: MemoryKind::Device,
                };
                let buffer = Buffer::new(device, &desc)?;
                device.upload(&buffer, 0, content)?;
                Ok(buffer)
            })
            .collect::<Result<Vec<_>, gpu::Error>>()?;
        let bytes = buffers.iter().map(Buffer::size).sum();
        Ok(Arc::new(Self {
            model: Some(model.clone()),
            halves: OnceLock::new(),
            codes: OnceLock::new(),
            buffers,
            slices,
            bytes,
        }))
    }

    /// Weights that stay where the processor computes with them.
    pub fn on_host(model: &Model) -> Arc<Self> {
        let (buffers, slices) = (Vec::new(), HashMap::new());
        Arc::new(Self {
            model: Some(model.clone()),
            halves: OnceLock::new(),
            codes: OnceLock::new(),
            buffers,
            slices,
            bytes: 0,
        })
    }

    /// The model that they are of.
    pub fn model(&self) -> Option<&Model> {
        self.model.as_ref()
    }

    /// Where the weights of a plan would lie, without a device.
    #[cfg(test)]
    pub(super) fn placed_only(plan: &Plan) -> Self {
        let slice = Slice { buffer: 0, offset: 0, bytes: 1 };
        let place = |piece: Piece| {
            let (record, offset) = piece.key();
            ((record.to_owned(), offset), slice)
        };
        let slices = plan.ops.iter().flat_map(|op| pieces(&op.kind)).map(place).collect();
        Self { model: None, halves: OnceLock::new(), codes: OnceLock::new(), buffers: Vec::new(), slices, bytes: 0 }
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> u64 {
        let tiles = [&self.halves, &self.codes].into_iter().filter_map(OnceLock::get);
        self.bytes + tiles.map(TensorWeights::bytes).sum::<u64>()
    }

    fn tiled(&self, form: Form) -> &OnceLock<TensorWeights> {
        match form.operands {
            Operands::Half => &self.halves,
            Operands::Float8 => &self.codes,
        }
    }

    /// The weights in tiles for matrix units, uploaded when first asked for.
    pub(super) fn tiles(
        &self,
        device: &Arc<Device>,
        form: Form,
        order: &Fragments,
    ) -> Result<&TensorWeights, ExecError> {
        let tiled = self.tiled(form);
        if tiled.get().is_none() {
            let model = self.model.as_ref().expect("uploaded weights come from a model");
            // Of two that arrive at once the first stays.
            let _ = tiled.set(TensorWeights::upload(device, model, form, order)?);
        }
        Ok(tiled.get().expect("set above"))
    }

    /// The buffer of a slice of [`Weights::tiles`] in a form.
    pub(super) fn tile_buffer(&self, form: Form, slice: Slice) -> &Buffer {
        self.tiled(form).get().expect("a slice of them exists").buffer(slice)
    }

    pub(super) fn buffer(&self, slice: Slice) -> &Buffer {
        &self.buffers[slice.buffer]
    }

    pub(super) fn slice(&self, record: &str, offset: usize) -> Result<Slice, ExecError> {
        let missing = || ExecError::MissingWeight { record: record.to_owned(), offset };
        self.slices.get(&(record.to_owned(), offset)).copied().ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_k_of_a_column_are_adjacent() {
        let (k, n, groups) = (32, 64, 2);
        let natural: Vec<u8> = (0..k * n * groups).map(|i| (i * 7 + i / 256) as u8).collect();
        let matrix = MatrixRef { record: String::new(), offset: 0, k, n, groups, stacked: false };
        let out = matrix_layout(&natural, &matrix);
        for (g, kk, c) in [(0, 0, 0), (0, 17, 5), (1, 31, 63), (1, 16, 1)] {
            let at = (g * k * n) + (kk / 16) * 16 * n + c * 16 + kk % 16;
            assert_eq!(out[at], natural[(g * k + kk) * n + c]);
        }
    }
}
