//! The weights of a model in tiles of halves or codes, one contiguous piece a group of operations.

use std::collections::HashMap;
use std::sync::Arc;

use gpu::{Buffer, BufferDesc, BufferUsage, Device, MemoryKind};
use half::f16;
use rayon::prelude::*;

use super::super::ExecError;
use super::super::weights::Slice;
use super::Operands;
use super::fragments::{Fragments, spread_tiles};
use super::groups::{Block, Entry, Group, Groups};
use super::kernel::Form;
use super::tiles::{CODES, HALVES, TILE, columns, direct_rows, halves, packed, spread, tiles, widened};
use crate::geometry::{Extent, Geometry};
use crate::model::packing::physical_token;
use crate::model::{Model, ModelError};
use crate::plan::{Gemm, MatrixRef, Normalise, Plan, PriorRef, VectorRef};

/// Start of every piece, which satisfies any device's binding alignment.
const ALIGNMENT: usize = 256;

/// Weights of the tensor route on one device.
pub struct TensorWeights {
    buffers: Vec<Buffer>,
    slices: HashMap<String, Slice>,
}

impl TensorWeights {
    /// Lays out and uploads what the groups of any plan read.
    ///
    /// # Errors
    /// The model lacks a record or a record is too short; the device has too little memory.
    pub fn upload(device: &Arc<Device>, model: &Model, form: Form, order: &Fragments) -> Result<Self, ExecError> {
        let geometry = Geometry::new(Extent::new(64, 64)).expect("a size the contract accepts");
        let plan = Plan::new(&geometry);
        let groups = Groups::of(&plan);
        let named: Vec<(&str, &Group)> = groups.iter().map(|(op, group)| (plan.op(op).label.as_str(), group)).collect();
        let layout = Layout { model, form, order };
        let pieces = named
            .par_iter()
            .map(|(name, group)| Ok((*name, layout.piece(group)?)))
            .collect::<Result<Vec<_>, ModelError>>()?;
        let limits = &device.caps().limits;
        let most = limits.max_memory_allocation.min(limits.max_buffer_size) as usize;
        let (mut contents, mut slices) = (vec![Vec::<u8>::new()], HashMap::new());
        for (name, halves) in pieces {
            let bytes = 2 * halves.len();
            if contents.last().is_some_and(|last| !last.is_empty() && last.len() + bytes + ALIGNMENT > most) {
                contents.push(Vec::new());
            }
            let buffer = contents.len() - 1;
            let content = &mut contents[buffer];
            slices.insert(name.to_owned(), Slice { buffer, offset: content.len() as u64, bytes: bytes.max(16) as u64 });
            content.extend_from_slice(bytemuck::cast_slice(&halves));
            content.resize(content.len().next_multiple_of(ALIGNMENT), 0);
        }
        let upload = |(i, content): (usize, &Vec<u8>)| {
            let desc = BufferDesc {
                name: &format!("tensor weights {i}"),
                size: content.len() as u64,
                usage: BufferUsage::STORAGE_BUFFER,
                memory: MemoryKind::Device,
            };
            let buffer = Buffer::new(device, &desc)?;
            device.upload(&buffer, 0, content)?;
            Ok(buffer)
        };
        let buffers = contents.iter().enumerate().map(upload).collect::<Result<Vec<_>, gpu::Error>>()?;
        Ok(Self { buffers, slices })
    }

    /// The piece of the group whose first operation has this label.
    pub fn slice(&self, label: &str) -> Option<Slice> {
        self.slices.get(label).copied()
    }

    /// The buffer of a piece.
    pub fn buffer(&self, slice: Slice) -> &Buffer {
        &self.buffers[slice.buffer]
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().map(Buffer::size).sum()
    }
}

/// Weights in the order that kernels on a device expect.
#[derive(Clone, Copy)]
struct Layout<'a> {
    model: &'a Model,
    form: Form,
    order: &'a Fragments,
}

impl Layout<'_> {
    /// The halves of a group, or as many bytes of codes.
    fn piece(self, group: &Group) -> Result<Vec<u16>, ModelError> {
        match group {
            Group::Block(block) => self.block(block),
            Group::SplitFfn([branch, middle, narrow]) => {
                let natural = self.matrix(&branch.weight)?;
                let mut out: Vec<u16> =
                    (0..8).flat_map(|b| self.tiles(&columns(&natural, 512, 64 * b, 64), 512, 64)).collect();
                out.extend(self.grouped(&middle.weight)?);
                out.extend(self.grouped(&narrow.weight)?);
                Ok(out)
            }
            Group::Attend(qkv, normalise, attention) => {
                let mut out = self.by_head(qkv, self.form.heads_alone())?;
                out.extend(self.prior(&attention.prior)?);
                out.extend(self.scales(normalise)?);
                Ok(out)
            }
            Group::VitQkv(qkv, normalise) => {
                let mut out = self.streamed(&qkv.weight)?;
                out.extend(self.scales(normalise)?);
                Ok(out)
            }
            Group::Gemm(gemm) => {
                let mut out = self.streamed(&gemm.weight)?;
                match &gemm.seed {
                    Some(seed) if self.form.streams(gemm.weight.k, gemm.weight.n) => {
                        out.extend(self.vector(&seed.scale)?);
                    }
                    Some(_) => out.extend(self.skip(gemm)?),
                    None => {}
                }
                Ok(out)
            }
            // The ViT's attention has none, but binds something.
            Group::Vit(_) | Group::Plain => Ok(vec![0; 8]),
        }
    }

    fn block(self, block: &Block) -> Result<Vec<u16>, ModelError> {
        let first = &block.ffn[0].weight;
        let natural = self.matrix(first)?;
        let width = first.n * first.groups;
        let expert = |e: usize| self.tiles(&columns(&natural, width, 128 * e, 128), first.k, 128);
        let mut out: Vec<u16> = (0..first.groups).flat_map(expert).collect();
        for gemm in &block.ffn[1..] {
            out.extend(self.grouped(&gemm.weight)?);
        }
        out.extend(self.skip(&block.ffn[block.ffn.len() - 1])?);
        out.extend(self.by_head(&block.qkv, false)?);
        out.extend(self.grouped(&block.project.weight)?);
        out.extend(self.skip(&block.project)?);
        out.extend(self.prior(&block.attention.prior)?);
        out.extend(self.scales(&block.normalise)?);
        match &block.entry {
            Entry::Codes => {}
            Entry::Adapter(o) => {
                let natural: Vec<u16> = self.model.half_matrix(&o.weight)?.iter().map(|h| h.to_bits()).collect();
                out.extend(self.half_tiles(&natural, o.weight.k, o.weight.n));
            }
            Entry::Merge(o) => out.extend(self.vector(&o.scale)?),
            Entry::Blend(o) => {
                out.extend(self.vector(&o.input_scale)?);
                out.extend(self.vector(&o.adapter_scale)?);
            }
        }
        if let Some(head) = &block.head {
            let natural: Vec<u16> = self.model.half_matrix(&head.weight)?.iter().map(|h| h.to_bits()).collect();
            out.extend(self.half_tiles(&widened(&natural, head.weight.n), head.weight.k, 16));
        }
        Ok(out)
    }

    /// Natural codes.
    fn matrix(self, weight: &MatrixRef) -> Result<Vec<u8>, ModelError> {
        self.model.fp8(weight)
    }

    fn tiles(self, natural: &[u8], k: usize, n: usize) -> Vec<u16> {
        match self.form.operands {
            Operands::Half => self.half_tiles(&halves(natural), k, n),
            Operands::Float8 => packed(&tiles(natural, k, n, CODES)),
        }
    }

    fn half_tiles(self, natural: &[u16], k: usize, n: usize) -> Vec<u16> {
        let mut out = tiles(natural, k, n, HALVES);
        spread_tiles(&mut out, &self.order.weight);
        out
    }

    /// Matrices one after the other.
    fn grouped(self, weight: &MatrixRef) -> Result<Vec<u16>, ModelError> {
        let natural = self.matrix(weight)?;
        Ok(natural.chunks_exact(weight.k * weight.n).flat_map(|one| self.tiles(one, weight.k, weight.n)).collect())
    }

    /// Matrices whose kernel takes its rows straight from memory where the form has one.
    fn streamed(self, weight: &MatrixRef) -> Result<Vec<u16>, ModelError> {
        if !self.form.streams(weight.k, weight.n) {
            return self.grouped(weight);
        }
        let natural = self.matrix(weight)?;
        let one = |one: &[u8]| self.tiles(&direct_rows(one, weight.n), weight.k, weight.n);
        Ok(natural.chunks_exact(weight.k * weight.n).flat_map(one).collect())
    }

    /// Q, K and V columns head after head, for rows that come straight from memory or not.
    fn by_head(self, qkv: &Gemm, direct: bool) -> Result<Vec<u16>, ModelError> {
        let natural = self.matrix(&qkv.weight)?;
        let (k, n) = (qkv.weight.k, qkv.weight.n);
        let natural = if direct { direct_rows(&natural, n) } else { natural };
        Ok((0..n / 96).flat_map(|head| self.tiles(&columns(&natural, n, 96 * head, 96), k, 96)).collect())
    }

    /// The scale of a seed, spread over the rows of accumulator tiles.
    fn skip(self, gemm: &Gemm) -> Result<Vec<u16>, ModelError> {
        let seed = gemm.seed.as_ref().expect("the last multiply of an FFN and a projection are seeded");
        let mut out = spread(&self.model.vector(&seed.scale)?);
        spread_tiles(&mut out, &self.order.sum);
        Ok(out)
    }

    /// Priors as accumulator tiles of physical queries and keys.
    fn prior(self, prior: &PriorRef) -> Result<Vec<u16>, ModelError> {
        let natural: Vec<f16> = self.model.prior(prior)?;
        let mut out = vec![0; natural.len()];
        for (row, values) in natural.chunks_exact(64).enumerate() {
            let (head, query) = (row / 64, physical_token(row % 64));
            for (key, value) in values.iter().enumerate() {
                let tile = (head * 4 + query / 16) * 4 + key / 16;
                out[tile * TILE + query % 16 * 16 + key % 16] = value.to_bits();
            }
        }
        spread_tiles(&mut out, &self.order.sum);
        Ok(out)
    }

    /// Head scales, each filling an element of eight halves.
    fn scales(self, normalise: &Normalise) -> Result<Vec<u16>, ModelError> {
        let scales = self.model.head_scales(&normalise.scale)?;
        Ok(scales.iter().flat_map(|scale| [scale.to_bits(); 8]).collect())
    }

    fn vector(self, v: &VectorRef) -> Result<Vec<u16>, ModelError> {
        Ok(self.model.vector(v)?.iter().map(|h| h.to_bits()).collect())
    }
}
