//! From a group of operations to its dispatches.
//!
//! Binding numbers and push constants are those of the shaders. Bindings of tensors start at the block's first row or line,
//! as in the exact route.

use std::ops::Range;

use super::super::ExecError;
use super::super::blocks::Split;
use super::super::kernels::Kernel;
use super::super::lower as exact;
use super::super::step::{Bound, Step};
use super::groups::{Block, Entry, Group, Groups};
use super::kernel::{Form, TensorKernel};
use super::weights::TensorWeights;
use crate::geometry::{WINDOW, WindowGrid, windows};
use crate::plan::{Format, Gemm, Normalise, OpId, Plan, TensorId, VitAttention, WindowAttention};

/// Rows of a multiply's workgroup.
const ROWS: u64 = 64;
/// Workgroups under which partitions of K run side by side: about two for every multiprocessor of a large device.
const FEW_GROUPS: u64 = 256;
/// Workgroups under which smaller ones are worth their extra reads.
const FEW_WIDE_GROUPS: u64 = 192;
/// Workgroups of many outputs that nearly fill a large device once.
const LEAST_WIDE_GROUPS: u64 = 96;

/// ViT tokens from which larger workgroups still fill the device.
const MANY_TOKENS: u64 = 1024;

/// Rows of windows, and the lines of the level that they cover.
type WindowRows = (Range<u64>, Range<u64>);

/// Everything lowering looks at.
pub struct Lowering<'a> {
    pub plan: &'a Plan,
    pub weights: &'a TensorWeights,
    pub groups: &'a Groups,
    /// For what the exact route's kernels do.
    pub exact: &'a exact::Lowering<'a>,
    /// The form of the kernels. With a software model the workgroups' memory is the scratch buffer.
    pub form: Form,
}

/// Bytes of a workgroup's memory in the software model.
const MODEL_MEMORY: u64 = 48 << 10;

impl Lowering<'_> {
    /// The dispatches of the group that starts at an operation; none when another group covers it.
    pub fn steps(&self, id: OpId) -> Result<Vec<Step>, ExecError> {
        let mut steps = self.device_steps(id)?;
        if self.form.model {
            for step in steps.iter_mut().filter(|step| matches!(step.kernel, Kernel::Tensor(_))) {
                let groups: u64 = step.groups.iter().map(|&n| u64::from(n)).product();
                step.bound.push(Bound::Scratch(groups * MODEL_MEMORY));
                step.after = true;
            }
        }
        Ok(steps)
    }

    fn device_steps(&self, id: OpId) -> Result<Vec<Step>, ExecError> {
        match self.groups.at(id) {
            None => Ok(Vec::new()),
            Some(Group::Block(block)) => self.block(id, block),
            Some(Group::SplitFfn([branch, _, narrow])) => self.split_ffn(id, branch, narrow),
            Some(Group::Attend(qkv, _, attention)) => self.attend(id, qkv, attention),
            Some(Group::VitQkv(qkv, normalise)) => self.vit_qkv(id, qkv, normalise),
            Some(Group::Vit(attention)) => self.vit(id, attention),
            Some(Group::Gemm(gemm)) => self.gemm(id, gemm),
            Some(Group::Plain) => self.exact.steps(id),
        }
    }

    fn blocks(&self, id: OpId, split: Split) -> Result<Vec<Range<u64>>, ExecError> {
        let (work, limit) = (split.align, self.exact.bounds.binding);
        let too_large = || ExecError::RowTooLarge { op: self.plan.op(id).label.clone(), work, limit };
        split.blocks(&self.exact.bounds).ok_or_else(too_large)
    }

    fn row_bytes(&self, id: TensorId) -> u64 {
        let t = self.plan.tensor(id);
        (t.channels * t.format.bytes()) as u64
    }

    fn rows(&self, id: TensorId, range: &Range<u64>) -> Bound {
        let bytes = self.row_bytes(id);
        Bound::Tensor { id, offset: range.start * bytes, range: (range.end - range.start) * bytes }
    }

    fn lines(&self, id: TensorId, range: Range<u64>) -> Bound {
        let width = u64::from(self.plan.tensor(id).extent.width);
        self.rows(id, &(range.start * width..range.end * width))
    }

    fn piece(&self, op: OpId) -> Result<Bound, ExecError> {
        let label = &self.plan.op(op).label;
        let slice = self.weights.slice(label);
        slice.map(Bound::Tiles).ok_or_else(|| ExecError::MissingWeight { record: label.clone(), offset: 0 })
    }

    /// Blocks of rows of windows with the lines they cover.
    fn window_blocks(&self, op: OpId, grid: &WindowGrid, widest: u64, cost: u64) -> Result<Vec<WindowRows>, ExecError> {
        let (window, shift) = (u64::from(WINDOW), u64::from(grid.shift_y));
        let (width, height) = (u64::from(grid.extent.width), u64::from(grid.extent.height));
        let split = Split { units: u64::from(grid.rows), align: 1, bytes: window * width * widest, per_group: 1, cost };
        let lines = |block: Range<u64>| {
            let first = (block.start * window).saturating_sub(shift);
            let last = (block.end * window - shift).min(height);
            (block, first..last)
        };
        Ok(self.blocks(op, split)?.into_iter().map(lines).collect())
    }

    fn block(&self, op: OpId, block: &Block) -> Result<Vec<Step>, ExecError> {
        let channels = block.qkv.weight.k;
        let kernel = match (&block.entry, channels) {
            (Entry::Adapter(_), _) => TensorKernel::BlockFirst,
            (Entry::Blend(_), _) => TensorKernel::BlockLast,
            (_, 32) => TensorKernel::Block32,
            (_, 64) => TensorKernel::Block64,
            (_, 128) => TensorKernel::Block128,
            _ => TensorKernel::Block256,
        };
        // What the state is made from, and what is upsampled into it.
        let (input, low) = match &block.entry {
            Entry::Codes => (block.ffn[0].input, None),
            Entry::Adapter(o) => (o.features, None),
            Entry::Merge(o) => (o.skip, Some(o.low)),
            Entry::Blend(o) => (o.block0, Some(o.up)),
        };
        let output = match (&block.head, block.project.out_code) {
            (Some(head), _) => head.output,
            (None, Some(code)) => code,
            (None, None) => return Err(ExecError::MissingWeight { record: self.plan.op(op).label.clone(), offset: 0 }),
        };
        let extent = self.plan.tensor(input).extent;
        let grid = windows(extent, block.attention.phase);
        let pooled = block.pool.as_ref().map(|pool| pool.output);
        let pool_extent = pooled.map(|id| self.plan.tensor(id).extent);
        let widest = self.row_bytes(input).max(self.row_bytes(output)).max(low.map_or(0, |id| self.row_bytes(id)));
        let macs = block.ffn.iter().chain([&block.qkv, &block.project]).map(|gemm| gemm.weight.bytes()).sum::<usize>();
        let cost = (64 * u64::from(grid.columns)) * (macs + 128 * channels) as u64;
        let weights = self.piece(op)?;
        let mut steps = Vec::new();
        for (block_rows, lines) in self.window_blocks(op, &grid, widest, cost)? {
            let half = lines.start / 2..lines.end.div_ceil(2);
            let out = self.lines(output, lines.clone());
            let last = block_rows.end == u64::from(grid.rows);
            let pool_end = pool_extent.filter(|_| last).map_or(lines.end / 2, |extent| u64::from(extent.height));
            // Bindings that a dispatch does not touch name bytes that it writes or reads anyway.
            let pool = pooled.map_or(out, |id| self.lines(id, lines.start / 2..pool_end));
            let low_lines = low.map_or(weights, |id| self.lines(id, half));
            let bound = vec![self.lines(input, lines.clone()), weights, out, pool, low_lines];
            let merge = matches!(block.entry, Entry::Merge(_));
            let flags = u32::from(merge) | if pooled.is_some() { 2 } else { 0 };
            steps.push(Step {
                op,
                kernel: Kernel::Tensor(kernel),
                bound,
                push: vec![
                    extent.width,
                    extent.height,
                    block.attention.phase % 4,
                    lines.start as u32,
                    block_rows.start as u32,
                    flags,
                    low.map_or(0, |id| self.plan.tensor(id).extent.width),
                    pool_extent.map_or(0, |extent| extent.width),
                    pool_extent.map_or(0, |extent| extent.height),
                    grid.columns,
                    grid.rows,
                ],
                groups: [grid.columns, length(&block_rows), 1],
                after: false,
                cost: cost * (block_rows.end - block_rows.start),
            });
        }
        Ok(steps)
    }

    fn attend(&self, op: OpId, qkv: &Gemm, attention: &WindowAttention) -> Result<Vec<Step>, ExecError> {
        let extent = self.plan.tensor(attention.output).extent;
        let grid = windows(extent, attention.phase);
        let heads = attention.prior.heads as u32;
        let widest = self.row_bytes(qkv.input);
        let cost = 64 * u64::from(grid.columns) * (qkv.weight.bytes() + 128 * qkv.weight.k) as u64;
        let weights = self.piece(op)?;
        let blocks = self.window_blocks(op, &grid, widest, cost)?;
        let (kernel, per_group) = match self.form.heads_alone() {
            true => (TensorKernel::AttendHead, 1),
            false => (TensorKernel::Attend, 2),
        };
        let step = |(rows, lines): WindowRows| Step {
            op,
            kernel: Kernel::Tensor(kernel),
            bound: vec![self.lines(qkv.input, lines.clone()), weights, self.lines(attention.output, lines.clone())],
            push: vec![extent.width, extent.height, attention.phase % 4, lines.start as u32, rows.start as u32, 0],
            groups: [grid.columns, length(&rows), heads / per_group],
            after: false,
            cost: cost * (rows.end - rows.start),
        };
        Ok(blocks.into_iter().map(step).collect())
    }

    fn split_ffn(&self, op: OpId, branch: &Gemm, narrow: &Gemm) -> Result<Vec<Step>, ExecError> {
        let output = narrow.out_code.expect("a multiply inside an FFN publishes codes");
        let cost = (branch.weight.bytes() + 2 * narrow.weight.bytes()) as u64;
        let weights = self.piece(op)?;
        let step = |rows: Range<u64>| Step {
            op,
            kernel: Kernel::Tensor(TensorKernel::SplitFfn),
            bound: vec![self.rows(branch.input, &rows), weights, self.rows(output, &rows)],
            push: vec![length(&rows), 0],
            groups: [8, length(&rows).div_ceil(ROWS as u32), 1],
            after: false,
            cost: cost * (rows.end - rows.start),
        };
        Ok(self.row_blocks(op, branch.input, cost)?.into_iter().map(step).collect())
    }

    fn row_blocks(&self, op: OpId, widest: TensorId, cost: u64) -> Result<Vec<Range<u64>>, ExecError> {
        let units = self.plan.tensor(widest).rows() as u64;
        self.blocks(op, Split { units, align: ROWS, bytes: self.row_bytes(widest), per_group: ROWS, cost })
    }

    fn gemm(&self, op: OpId, gemm: &Gemm) -> Result<Vec<Step>, ExecError> {
        let (k, n) = (gemm.weight.k, gemm.weight.n);
        let total = self.plan.tensor(gemm.input).rows() as u64;
        let tiles = |kernel: TensorKernel| total.div_ceil(kernel.rows()) * (n / kernel.columns()) as u64;
        let streams = self.form.streams(k, n);
        let kernel = match (k, n) {
            _ if streams => self.stream(k, n, tiles),
            (32, _) => TensorKernel::GemmThin,
            (_, 32) => TensorKernel::GemmHalf,
            _ if n.is_multiple_of(128) && tiles(TensorKernel::GemmTall) >= FEW_WIDE_GROUPS => TensorKernel::GemmTall,
            _ if n.is_multiple_of(128) && tiles(TensorKernel::GemmWide) >= FEW_WIDE_GROUPS => TensorKernel::GemmWide,
            _ => TensorKernel::GemmNarrow,
        };
        let parts = k / gemm.partition;
        let layers = !streams && parts > 1 && tiles(kernel) < FEW_GROUPS && !self.form.model;
        let chunk = kernel.chunk();
        let seed = gemm.seed.as_ref();
        let mut flags = u32::from(gemm.silu);
        flags |= seed.map_or(0, |s| if self.plan.tensor(s.skip).format == Format::E4m3 { 2 } else { 4 });
        let published = if gemm.out_half.is_some() { 8 } else { 0 } | if gemm.out_code.is_some() { 16 } else { 0 };
        let weights = self.piece(op)?;
        let ids = [Some(gemm.input), seed.map(|s| s.skip), gemm.out_half, gemm.out_code];
        let widest = ids.iter().flatten().copied().max_by_key(|&id| self.row_bytes(id)).unwrap_or(gemm.input);
        let mut steps = Vec::new();
        for rows in self.row_blocks(op, widest, (k * n) as u64)? {
            let count = rows.end - rows.start;
            let bound = |id: TensorId| self.rows(id, &rows);
            let half = gemm.out_half.or(gemm.out_code).map_or(weights, bound);
            let code = gemm.out_code.or(gemm.out_half).map_or(weights, bound);
            let skip = seed.map_or(weights, |s| bound(s.skip));
            let mut whole = Step {
                op,
                kernel: Kernel::Tensor(kernel),
                bound: vec![bound(gemm.input), weights, skip, half, code],
                push: match streams {
                    true => vec![count as u32, (k / chunk) as u32, n as u32 / 16, flags | published],
                    false => vec![
                        count as u32,
                        (k / chunk) as u32,
                        n as u32 / 16,
                        (gemm.partition / chunk) as u32,
                        flags | published,
                    ],
                },
                groups: [(n / kernel.columns()) as u32, count.div_ceil(kernel.rows()) as u32, 1],
                after: false,
                cost: count * (k * n) as u64,
            };
            if !layers {
                steps.push(whole);
                continue;
            }
            let scratch = Bound::Scratch(count * (parts * n * 2) as u64);
            let mut join = whole.clone();
            whole.bound[3] = scratch;
            whole.bound[4] = scratch;
            // SiLU, if any, comes after the sum.
            whole.push[4] = (flags & !1) | 8 | 32;
            whole.groups[2] = parts as u32;
            // The block before may still be read.
            whole.after = true;
            join.kernel = Kernel::GemmJoin;
            join.bound = vec![scratch, weights, weights, weights, half, code];
            join.push = vec![count as u32, 0, parts as u32, n as u32, 0, 0, 0, (flags & 1) | published];
            join.groups = exact::linear_groups(count * n as u64 / 4);
            join.after = true;
            join.cost = count * n as u64;
            steps.extend([whole, join]);
        }
        Ok(steps)
    }

    /// The kernel of a multiply that takes its rows straight from memory, by the workgroups that each would have.
    fn stream(&self, k: usize, n: usize, tiles: impl Fn(TensorKernel) -> u64) -> TensorKernel {
        let (wide, many) = match (self.form.model, k) {
            // Small grids reach every kernel.
            (true, _) => (12, 16),
            // A short K ends before parts of it side by side would have gained anything.
            (false, ..=512) => (LEAST_WIDE_GROUPS, FEW_GROUPS),
            (false, _) => (FEW_WIDE_GROUPS, FEW_GROUPS),
        };
        if n.is_multiple_of(128) && tiles(TensorKernel::StreamWide) >= wide {
            TensorKernel::StreamWide
        } else if tiles(TensorKernel::StreamMany) >= many {
            TensorKernel::StreamMany
        } else {
            TensorKernel::StreamFew
        }
    }

    fn vit_qkv(&self, op: OpId, qkv: &Gemm, normalise: &Normalise) -> Result<Vec<Step>, ExecError> {
        let (k, n) = (qkv.weight.k, qkv.weight.n);
        let weights = self.piece(op)?;
        let streams = self.form.streams(k, n);
        let kernel = if streams { TensorKernel::StreamNorm } else { TensorKernel::GemmNorm };
        let cost = (k * n) as u64;
        let step = |rows: Range<u64>| {
            let out = self.rows(normalise.output, &rows);
            Step {
                op,
                kernel: Kernel::Tensor(kernel),
                bound: vec![self.rows(qkv.input, &rows), weights, weights, out, out],
                push: match streams {
                    true => vec![length(&rows), (k / kernel.chunk()) as u32, n as u32 / 16, 16],
                    false => vec![
                        length(&rows),
                        (k / kernel.chunk()) as u32,
                        n as u32 / 16,
                        (qkv.partition / kernel.chunk()) as u32,
                        16,
                    ],
                },
                groups: [(n / kernel.columns()) as u32, length(&rows).div_ceil(kernel.rows() as u32), 1],
                after: false,
                cost: cost * (rows.end - rows.start),
            }
        };
        Ok(self.row_blocks(op, normalise.output, cost)?.into_iter().map(step).collect())
    }

    fn vit(&self, op: OpId, attention: &VitAttention) -> Result<Vec<Step>, ExecError> {
        let heads = self.plan.tensor(attention.output).channels as u32 / 32;
        let (tokens, all) = (attention.tokens as u64, 0..attention.tokens as u64);
        if self.row_bytes(attention.qkv) * tokens > self.exact.bounds.binding {
            let (op, limit) = (self.plan.op(op).label.clone(), self.exact.bounds.binding);
            return Err(ExecError::RowTooLarge { op, work: tokens, limit });
        }
        let many = self.form.strips && tokens >= MANY_TOKENS;
        let (kernel, queries) = if many { (TensorKernel::VitMany, 128) } else { (TensorKernel::VitFew, 64) };
        Ok(vec![Step {
            op,
            kernel: Kernel::Tensor(kernel),
            bound: vec![self.rows(attention.qkv, &all), self.piece(op)?, self.rows(attention.output, &all)],
            push: vec![heads, attention.tokens as u32, attention.padded as u32, 0],
            groups: [tokens.div_ceil(queries) as u32, heads, 1],
            after: false,
            cost: tokens * attention.padded as u64 * 64 * u64::from(heads),
        }])
    }
}

fn length(range: &Range<u64>) -> u32 {
    (range.end - range.start) as u32
}
