//! From an operation to its dispatches: the table of the exact route.
//!
//! Binding numbers and push constants are those of the shaders of the same names. Bindings of tensors start at the
//! block's first row, which is a multiple of 64 rows or of 4 lines, so that every offset is a multiple of 256 bytes:
//! sides are multiples of 4 and rows have at least 8 bytes.

use std::ops::Range;

use crate::geometry::{WINDOW, windows};
use crate::plan::{
    Adapter, Format, Gemm, Head, Merge, Normalise, OpId, OpKind, Plan, Pool, PostBlend, TensorId, VectorRef,
    VitAttention, WindowAttention,
};

use super::ExecError;
use super::blocks::{Bounds, Split};
use super::fusion::{Block, Fusion, Fusions};
use super::kernels::{Kernel, Tiles};
use super::step::{Bound, Step};
use super::tuned::Table;
use super::variants::{Kind, Shape};
use super::weights::Weights;

/// Rows at which row blocks may start.
const ROW_ALIGN: u64 = 64;
/// Invocations of an elementwise workgroup.
const LINEAR: u64 = 64;
/// Workgroups of an elementwise dispatch in x.
const LINEAR_WIDTH: u64 = 32768;
/// Bytes that pass between two multiplies at a time.
pub(super) const CHAIN_BYTES: u64 = 32 << 20;
/// What an elementwise element costs, in multiply-accumulates.
const ELEMENT_COST: u64 = 8;

/// Everything lowering looks at.
pub(super) struct Lowering<'a> {
    pub plan: &'a Plan,
    pub weights: &'a Weights,
    pub tiles: Tiles,
    /// Multiplies that take other tiles.
    pub table: Option<&'a Table>,
    pub fusions: &'a Fusions,
    pub bounds: Bounds,
}

impl Lowering<'_> {
    /// The dispatches of one operation, in any order.
    pub fn steps(&self, id: OpId) -> Result<Vec<Step>, ExecError> {
        if self.fusions.covers(id) {
            return Ok(Vec::new());
        }
        match self.fusions.at(id) {
            Some(Fusion::Qkv(gemm, normalise)) => return self.qkv_normalise(id, gemm, normalise),
            Some(Fusion::Chain(first, second)) => return self.chain(id, first, second),
            Some(Fusion::Block(block)) => return self.block(id, block),
            None => {}
        }
        match &self.plan.op(id).kind {
            OpKind::Adapter(o) => self.adapter(id, o),
            OpKind::Gemm(o) => self.gemm(id, o),
            OpKind::Normalise(o) => self.normalise(id, o),
            OpKind::WindowAttention(o) => self.window_attention(id, o),
            OpKind::VitAttention(o) => self.vit_attention(id, o),
            OpKind::Pool(o) => self.pool(id, o),
            OpKind::Merge(o) => self.merge(id, o),
            OpKind::PostBlend(o) => self.post_blend(id, o),
            OpKind::Head(o) => self.head(id, o),
        }
    }

    fn blocks(&self, id: OpId, split: Split) -> Result<Vec<Range<u64>>, ExecError> {
        let (work, limit) = (split.align, self.bounds.binding);
        let too_large = || ExecError::RowTooLarge { op: self.plan.op(id).label.clone(), work, limit };
        split.blocks(&self.bounds).ok_or_else(too_large)
    }

    /// Bytes of one row.
    fn row_bytes(&self, id: TensorId) -> u64 {
        let t = self.plan.tensor(id);
        (t.channels * t.format.bytes()) as u64
    }

    fn rows(&self, id: TensorId) -> u64 {
        self.plan.tensor(id).rows() as u64
    }

    /// Rows `range` of a tensor.
    fn bound(&self, id: TensorId, range: &Range<u64>) -> Bound {
        let bytes = self.row_bytes(id);
        Bound::Tensor { id, offset: range.start * bytes, range: (range.end - range.start) * bytes }
    }

    /// Lines `range` of a tensor.
    fn bound_lines(&self, id: TensorId, range: Range<u64>) -> Bound {
        let width = u64::from(self.plan.tensor(id).extent.width);
        self.bound(id, &(range.start * width..range.end * width))
    }

    fn vector(&self, v: &VectorRef) -> Result<Bound, ExecError> {
        Ok(Bound::Weight(self.weights.slice(&v.record, v.offset)?))
    }

    /// Steps of an operation that treats rows one by one, `per_row` invocations each.
    fn rowwise(
        &self,
        op: OpId,
        kernel: Kernel,
        (rows, per_row, cost): (u64, u64, u64),
        widest: u64,
        make: impl Fn(&Range<u64>) -> (Vec<Bound>, Vec<u32>),
    ) -> Result<Vec<Step>, ExecError> {
        let split = Split { units: rows, align: ROW_ALIGN, bytes: widest, per_group: 0, cost };
        let step = |block: Range<u64>| {
            let rows = block.end - block.start;
            let (bound, push) = make(&block);
            Step { op, kernel, bound, push, groups: linear_groups(rows * per_row), after: false, cost: rows * cost }
        };
        Ok(self.blocks(op, split)?.into_iter().map(step).collect())
    }

    fn adapter(&self, op: OpId, o: &Adapter) -> Result<Vec<Step>, ExecError> {
        let weight = Bound::Weight(self.weights.slice(&o.weight.record, o.weight.offset)?);
        let cost = (2 * o.weight.k * o.weight.n) as u64;
        let widest = self.row_bytes(o.out_half).max(self.row_bytes(o.features));
        self.rowwise(op, Kernel::Adapter, (self.rows(o.features), self.tiles.adapter_parts(), cost), widest, |block| {
            let bound =
                [self.bound(o.features, block), weight, self.bound(o.out_half, block), self.bound(o.out_code, block)];
            (bound.to_vec(), vec![length(block)])
        })
    }

    fn head(&self, op: OpId, o: &Head) -> Result<Vec<Step>, ExecError> {
        let weight = Bound::Weight(self.weights.slice(&o.weight.record, o.weight.offset)?);
        let cost = (2 * o.weight.k * o.weight.n) as u64;
        self.rowwise(op, Kernel::Head, (self.rows(o.input), 1, cost), self.row_bytes(o.input), |block| {
            let bound = [self.bound(o.input, block), weight, self.bound(o.output, block)];
            (bound.to_vec(), vec![length(block)])
        })
    }

    fn normalise(&self, op: OpId, o: &Normalise) -> Result<Vec<Step>, ExecError> {
        let scale = Bound::Weight(self.weights.slice(&o.scale.record, o.scale.offset)?);
        let heads = o.scale.heads as u64;
        let kernel = if o.vit { Kernel::NormaliseVit } else { Kernel::NormaliseWindow };
        let shape = (self.rows(o.input), heads, heads * 96 * ELEMENT_COST);
        self.rowwise(op, kernel, shape, self.row_bytes(o.input), |block| {
            let bound = [self.bound(o.input, block), scale, self.bound(o.output, block)];
            (bound.to_vec(), vec![length(block), heads as u32])
        })
    }

    fn gemm(&self, op: OpId, o: &Gemm) -> Result<Vec<Step>, ExecError> {
        let split = self.gemm_split(o);
        let mut steps = Vec::new();
        for block in self.blocks(op, split)? {
            steps.extend(self.gemm_block(op, o, &block)?);
        }
        Ok(steps)
    }

    fn tuned(&self, o: &Gemm, kind: Kind) -> Option<Kernel> {
        self.table.and_then(|table| table.kernel(&Shape::of(self.plan, o, kind)))
    }

    fn gemm_kernel(&self, o: &Gemm) -> Kernel {
        self.tuned(o, Kind::Multiply).unwrap_or_else(|| self.untuned_kernel(o))
    }

    fn untuned_kernel(&self, o: &Gemm) -> Kernel {
        let (n, groups) = (o.weight.n, o.weight.groups);
        let n = if o.weight.stacked { n * groups } else { n };
        let shape = (o.weight.k, n);
        self.tiles.gemm(self.rows(o.input), shape, o.weight.n * o.weight.groups, o.weight.k / o.partition)
    }

    fn gemm_split(&self, o: &Gemm) -> Split {
        let channels = o.weight.n * o.weight.groups;
        let tensors = [Some(o.input), o.seed.as_ref().map(|s| s.skip), o.out_half, o.out_code];
        let widest = tensors.iter().flatten().map(|&id| self.row_bytes(id)).max().unwrap_or(1);
        let parts = o.weight.k / o.partition;
        let widest = if parts > 1 { widest.max((parts * channels * 2) as u64) } else { widest };
        let (tile_rows, _) = self.tiles.gemm_tile(self.gemm_kernel(o));
        let cost = (o.weight.k * channels) as u64;
        Split { units: self.rows(o.input), align: ROW_ALIGN, bytes: widest, per_group: u64::from(tile_rows), cost }
    }

    /// The steps of one block of rows.
    fn gemm_block(&self, op: OpId, o: &Gemm, block: &Range<u64>) -> Result<Vec<Step>, ExecError> {
        let (groups, n) =
            if o.weight.stacked { (1, o.weight.n * o.weight.groups) } else { (o.weight.groups, o.weight.n) };
        let (k, channels, input) = (o.weight.k, groups * n, self.plan.tensor(o.input).channels);
        let seed = o.seed.as_ref();
        let mut flags = u32::from(o.silu);
        flags |= seed.map_or(0, |s| if self.plan.tensor(s.skip).format == Format::E4m3 { 2 } else { 4 });
        flags |= if o.out_half.is_some() { 8 } else { 0 };
        flags |= if o.out_code.is_some() { 16 } else { 0 };
        let weight = Bound::Weight(self.weights.slice(&o.weight.record, o.weight.offset)?);
        // Bindings that a dispatch does not touch name bytes that it reads, or writes, anyway.
        let scale = seed.map(|s| self.vector(&s.scale)).transpose()?.unwrap_or(weight);
        let kernel = self.gemm_kernel(o);
        let (tile_rows, tile_columns) = self.tiles.gemm_tile(kernel);
        let parts = k / o.partition;
        let bound = |id: Option<TensorId>| id.map(|id| self.bound(id, block));
        let skip = bound(seed.map(|s| s.skip)).unwrap_or(weight);
        let out_half = bound(o.out_half.or(o.out_code)).unwrap_or(weight);
        let out_code = bound(o.out_code.or(o.out_half)).unwrap_or(weight);
        let rows = u64::from(length(block));
        let whole = Step {
            op,
            kernel,
            bound: vec![self.bound(o.input, block), weight, scale, skip, out_half, out_code],
            push: vec![
                length(block),
                k as u32 / 16,
                n as u32,
                channels as u32,
                input as u32 / 16,
                if groups > 1 { k as u32 / 16 } else { 0 },
                o.partition as u32 / 16,
                flags,
            ],
            groups: [channels as u32 / tile_columns, length(block).div_ceil(tile_rows), 1],
            after: false,
            cost: (k * channels) as u64 * rows,
        };
        if !kernel.is_split() {
            return Ok(vec![whole]);
        }
        let scratch = Bound::Scratch(rows * (parts * channels * 2) as u64);
        let (mut part, mut join) = (whole.clone(), whole);
        part.bound[4] = scratch;
        part.groups[2] = parts as u32;
        // The block before may still be read.
        part.after = true;
        join.kernel = Kernel::GemmJoin;
        join.bound[0] = scratch;
        join.push[2] = parts as u32;
        join.groups = linear_groups(rows * channels as u64 / 4);
        join.after = true;
        join.cost = rows * channels as u64 * ELEMENT_COST;
        Ok(vec![part, join])
    }

    /// Two multiplies, block by block, with the scratch buffer between them.
    fn chain(&self, op: OpId, first: &Gemm, second: &Gemm) -> Result<Vec<Step>, ExecError> {
        let (a, b) = (self.gemm_split(first), self.gemm_split(second));
        let between = self.row_bytes(second.input);
        let split = Split {
            // Blocks so small that what passes between the multiplies stays in the scratch buffer.
            bytes: a.bytes.max(b.bytes).max(between * (self.bounds.binding / CHAIN_BYTES).max(1)),
            per_group: a.per_group.min(b.per_group),
            cost: a.cost + b.cost,
            ..a
        };
        let mut steps = Vec::new();
        for block in self.blocks(op, split)? {
            let scratch = Bound::Scratch((block.end - block.start) * between);
            let (mut producers, mut consumers) =
                (self.gemm_block(op, first, &block)?, self.gemm_block(op, second, &block)?);
            for step in &mut producers {
                step.bound[4..=5].fill(scratch);
                // The block before may still be read.
                step.after = true;
            }
            for step in &mut consumers {
                step.bound[0] = scratch;
                step.after = true;
            }
            steps.append(&mut producers);
            steps.append(&mut consumers);
        }
        Ok(steps)
    }

    /// The multiply's bindings with the head scales in place of a seed's, and the normalised codes as its output.
    fn qkv_normalise(&self, op: OpId, gemm: &Gemm, normalise: &Normalise) -> Result<Vec<Step>, ExecError> {
        let scale = Bound::Weight(self.weights.slice(&normalise.scale.record, normalise.scale.offset)?);
        let n = gemm.weight.n;
        let untuned = || self.tiles.qkv(self.rows(gemm.input), (gemm.weight.k, n)).expect("a fusion of this form");
        let kernel = self.tuned(gemm, Kind::Normalised).unwrap_or_else(untuned);
        let (tile_rows, tile_columns) = self.tiles.gemm_tile(kernel);
        let mut steps = self.gemm(op, gemm)?;
        for step in &mut steps {
            step.kernel = kernel;
            step.bound[2] = scale;
            step.groups = [n as u32 / tile_columns, step.push[0].div_ceil(tile_rows), 1];
        }
        Ok(steps)
    }

    /// A whole block of 32 channels, blocks being rows of windows.
    fn block(&self, op: OpId, b: &Block) -> Result<Vec<Step>, ExecError> {
        let extent = self.plan.tensor(b.expand.input).extent;
        let (width, height) = (u64::from(extent.width), u64::from(extent.height));
        let grid = windows(extent, b.attention.phase);
        let (window, shift) = (u64::from(WINDOW), u64::from(grid.shift_y));
        let seed = |gemm: &Gemm| gemm.seed.clone().expect("a fusion of this form");
        let (skip, skip_again) = (seed(&b.contract), seed(&b.project));
        let matrix = |gemm: &Gemm| self.weights.slice(&gemm.weight.record, gemm.weight.offset).map(Bound::Weight);
        let (expand, contract) = (matrix(&b.expand)?, matrix(&b.contract)?);
        let (qkv, project) = (matrix(&b.qkv)?, matrix(&b.project)?);
        let prior = Bound::Weight(self.weights.slice(&b.attention.prior.record, b.attention.prior.offset)?);
        let head = Bound::Weight(self.weights.slice(&b.normalise.scale.record, b.normalise.scale.offset)?);
        let (ffn_scale, attention_scale) = (self.vector(&skip.scale)?, self.vector(&skip_again.scale)?);
        let (out_half, out_code) = (b.project.out_half, b.project.out_code);
        let outputs = out_half.into_iter().chain(out_code);
        let widest = outputs.chain([b.expand.input, skip.skip]).map(|id| self.row_bytes(id)).max().unwrap_or(1);
        let mut flags = if self.plan.tensor(skip.skip).format == Format::E4m3 { 2 } else { 4 };
        flags |= if out_half.is_some() { 8 } else { 0 } | if out_code.is_some() { 16 } else { 0 };
        let macs = [&b.expand, &b.contract, &b.qkv, &b.project].map(|gemm| (gemm.weight.k * gemm.weight.n) as u64);
        let cost = u64::from(grid.columns) * (64 * macs.iter().sum::<u64>() + 2 * 64 * 64 * 32);
        let split = Split { units: u64::from(grid.rows), align: 1, bytes: window * width * widest, per_group: 1, cost };
        let kernel = self.tuned(&b.expand, Kind::Block).unwrap_or(Kernel::Block);
        let across = grid.columns.div_ceil(self.tiles.block_windows(kernel));
        let step = |block: Range<u64>| {
            let first = (block.start * window).saturating_sub(shift);
            let lines = first..(block.end * window - shift).min(height);
            let of = |id: TensorId| self.bound_lines(id, lines.clone());
            // A binding that is not written names bytes that the kernel writes, or reads, anyway.
            let half = out_half.or(out_code).map_or(expand, of);
            let code = out_code.or(out_half).map_or(expand, of);
            Step {
                op,
                kernel,
                bound: vec![
                    of(b.expand.input),
                    code,
                    prior,
                    expand,
                    contract,
                    qkv,
                    project,
                    ffn_scale,
                    attention_scale,
                    head,
                    of(skip.skip),
                    half,
                ],
                push: vec![
                    1,
                    b.attention.phase % 4,
                    extent.width,
                    extent.height,
                    first as u32,
                    block.start as u32,
                    flags,
                ],
                after: false,
                groups: [across, length(&block), 1],
                cost: cost * (block.end - block.start),
            }
        };
        Ok(self.blocks(op, split)?.into_iter().map(step).collect())
    }

    fn window_attention(&self, op: OpId, o: &WindowAttention) -> Result<Vec<Step>, ExecError> {
        let extent = self.plan.tensor(o.output).extent;
        let (width, height) = (u64::from(extent.width), u64::from(extent.height));
        let grid = windows(extent, o.phase);
        let (heads, window, shift) = (o.prior.heads as u64, u64::from(WINDOW), u64::from(grid.shift_y));
        let prior = Bound::Weight(self.weights.slice(&o.prior.record, o.prior.offset)?);
        // Two products of 64 x 64 x 32 a head.
        let cost = u64::from(grid.columns) * heads * 2 * 64 * 64 * 32;
        let bytes = window * width * self.row_bytes(o.qkv);
        let split = Split { units: u64::from(grid.rows), align: 1, bytes, per_group: 1, cost };
        let step = |block: Range<u64>| {
            let first = (block.start * window).saturating_sub(shift);
            let last = (block.end * window - shift).min(height);
            Step {
                op,
                kernel: Kernel::WindowAttention,
                bound: vec![self.bound_lines(o.qkv, first..last), self.bound_lines(o.output, first..last), prior],
                push: vec![heads as u32, o.phase % 4, extent.width, extent.height, first as u32, block.start as u32],
                after: false,
                groups: [grid.columns * heads as u32 * (64 / self.tiles.window_queries()), length(&block), 1],
                cost: cost * (block.end - block.start),
            }
        };
        Ok(self.blocks(op, split)?.into_iter().map(step).collect())
    }

    fn vit_attention(&self, op: OpId, o: &VitAttention) -> Result<Vec<Step>, ExecError> {
        let heads = self.plan.tensor(o.output).channels as u64 / 32;
        let (tokens, queries) = (o.tokens as u64, u64::from(self.tiles.vit_queries()));
        let all = 0..tokens;
        let groups = tokens.div_ceil(queries);
        let cost = queries * o.padded as u64 * 64 * heads;
        // Every query reads every key, so blocks share their bindings.
        if self.row_bytes(o.qkv) * tokens > self.bounds.binding {
            let (op, work, limit) = (self.plan.op(op).label.clone(), tokens, self.bounds.binding);
            return Err(ExecError::RowTooLarge { op, work, limit });
        }
        let split = Split { units: groups, align: 1, bytes: 1, per_group: 1, cost };
        let step = |block: Range<u64>| Step {
            op,
            kernel: Kernel::VitAttention,
            bound: vec![self.bound(o.qkv, &all), self.bound(o.output, &all)],
            push: vec![heads as u32, o.tokens as u32, o.padded as u32, block.start as u32],
            groups: [length(&block), heads as u32, 1],
            after: false,
            cost: cost * (block.end - block.start),
        };
        Ok(self.blocks(op, split)?.into_iter().map(step).collect())
    }

    /// Steps of an operation that treats four channels of a pixel at a time, blocks being lines of `fine`.
    fn linewise(
        &self,
        op: OpId,
        kernel: Kernel,
        fine: TensorId,
        widest_line: u64,
        make: impl Fn(&Range<u64>, u32) -> (Vec<Bound>, Vec<u32>),
    ) -> Result<Vec<Step>, ExecError> {
        let t = self.plan.tensor(fine);
        let quads = t.channels as u64 / 4;
        let cost = u64::from(t.extent.width) * t.channels as u64 * ELEMENT_COST;
        // Multiples of eight lines are multiples of four of the coarser grid.
        let split = Split { units: u64::from(t.extent.height), align: 8, bytes: widest_line, per_group: 0, cost };
        let step = |block: Range<u64>| {
            let lines = block.end - block.start;
            let (bound, push) = make(&block, quads as u32);
            let groups = linear_groups(lines * u64::from(t.extent.width) * quads);
            Step { op, kernel, bound, push, groups, after: false, cost: lines * cost }
        };
        Ok(self.blocks(op, split)?.into_iter().map(step).collect())
    }

    /// Bytes of one line.
    fn line_bytes(&self, id: TensorId) -> u64 {
        self.row_bytes(id) * u64::from(self.plan.tensor(id).extent.width)
    }

    fn pool(&self, op: OpId, o: &Pool) -> Result<Vec<Step>, ExecError> {
        let (source, out) = (self.plan.tensor(o.input).extent, self.plan.tensor(o.output).extent);
        let widest = (2 * self.line_bytes(o.input)).max(self.line_bytes(o.output));
        self.linewise(op, Kernel::Pool, o.output, widest, |block, quads| {
            let height = u64::from(source.height);
            // Output lines beyond half the source are zero; a binding needs at least one line even then.
            let first = (2 * block.start).min(height - 1);
            let bound = [
                self.bound_lines(o.input, first..(2 * block.end).min(height)),
                self.bound_lines(o.output, block.clone()),
            ];
            let lines_left = height.saturating_sub(2 * block.start) as u32;
            (bound.to_vec(), vec![out.width, length(block), quads, source.width, lines_left])
        })
    }

    fn merge(&self, op: OpId, o: &Merge) -> Result<Vec<Step>, ExecError> {
        let (low, fine) = (self.plan.tensor(o.low).extent, self.plan.tensor(o.out_code).extent);
        let scale = self.vector(&o.scale)?;
        let kernel = if o.out_half.is_some() { Kernel::MergeBoth } else { Kernel::MergeCode };
        let widest = o.out_half.map_or(0, |id| self.line_bytes(id)).max(self.line_bytes(o.low));
        let widest = widest.max(self.line_bytes(o.skip));
        self.linewise(op, kernel, o.out_code, widest, |block, quads| {
            let mut bound = vec![
                self.bound_lines(o.low, block.start / 2..block.end.div_ceil(2)),
                self.bound_lines(o.skip, block.clone()),
                scale,
                self.bound_lines(o.out_code, block.clone()),
            ];
            bound.extend(o.out_half.map(|id| self.bound_lines(id, block.clone())));
            (bound, vec![fine.width, length(block), quads, low.width])
        })
    }

    fn post_blend(&self, op: OpId, o: &PostBlend) -> Result<Vec<Step>, ExecError> {
        let (low, fine) = (self.plan.tensor(o.up).extent, self.plan.tensor(o.out_code).extent);
        let (input_scale, adapter_scale) = (self.vector(&o.input_scale)?, self.vector(&o.adapter_scale)?);
        self.linewise(op, Kernel::PostBlend, o.out_code, self.line_bytes(o.out_half), |block, quads| {
            let bound = [
                self.bound_lines(o.up, block.start / 2..block.end.div_ceil(2)),
                self.bound_lines(o.block0, block.clone()),
                input_scale,
                adapter_scale,
                self.bound_lines(o.out_half, block.clone()),
                self.bound_lines(o.out_code, block.clone()),
            ];
            (bound.to_vec(), vec![fine.width, length(block), quads, low.width])
        })
    }
}

fn length(range: &Range<u64>) -> u32 {
    (range.end - range.start) as u32
}

/// Workgroups for `items` invocations of an elementwise kernel.
pub(super) fn linear_groups(items: u64) -> [u32; 3] {
    let groups = items.div_ceil(LINEAR);
    let width = groups.min(LINEAR_WIDTH);
    [width as u32, groups.div_ceil(width.max(1)) as u32, 1]
}
