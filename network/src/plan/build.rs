//! From a geometry to the whole graph, step by step (network section 5).

use super::blocks::{DECODER, ENCODER, Ffn, Level, Stage, VIT, VIT_CHANNELS};
use super::layout::{self, BlockLayout};
use super::*;
use crate::geometry::{Extent, Geometry};

/// Builds the plan; see [`Plan::new`].
pub(super) fn plan(geometry: &Geometry) -> Plan {
    let mut b = Builder { geometry, tensors: Vec::new(), ops: Vec::new(), block: 0, phases: [0; 6] };
    let features = b.tensor("features", geometry.field, 16, Format::Half);
    let head = b.graph(features);
    Plan { geometry: geometry.clone(), tensors: b.tensors, ops: b.ops, features, head }
}

/// A published pair: the raw half where something reads it, and the E4M3 code.
#[derive(Clone, Copy)]
struct State {
    code: TensorId,
    half: Option<TensorId>,
}

/// Which of its results a block publishes.
#[derive(Clone, Copy, PartialEq)]
enum Publish {
    Code,
    CodeAndHalf,
    Half,
}

struct Builder<'a> {
    geometry: &'a Geometry,
    tensors: Vec<Tensor>,
    ops: Vec<Op>,
    block: u32,
    /// Window phase counters: levels 0..4, then the field (network section 4.4).
    phases: [u32; 6],
}

impl Builder<'_> {
    fn extent(&self, level: Level) -> Extent {
        match level {
            Level::Field => self.geometry.field,
            Level::Pooled(k) => self.geometry.levels[k],
        }
    }

    fn phase(&mut self, level: Level) -> u32 {
        let counter = match level {
            Level::Field => &mut self.phases[5],
            Level::Pooled(k) => &mut self.phases[k],
        };
        let phase = *counter % 4;
        *counter += 1;
        phase
    }

    fn tensor(&mut self, label: impl Into<String>, extent: Extent, channels: usize, format: Format) -> TensorId {
        self.tensors.push(Tensor { label: label.into(), extent, channels, format, boundary: None });
        TensorId(self.tensors.len() as u32 - 1)
    }

    /// A tensor named after the current block.
    fn local(&mut self, part: &str, extent: Extent, channels: usize, format: Format) -> TensorId {
        self.tensor(format!("b{}.{part}", self.block), extent, channels, format)
    }

    fn name(&mut self, id: TensorId, boundary: impl Into<String>) {
        self.tensors[id.0 as usize].boundary = Some(boundary.into());
    }

    fn push(&mut self, part: &str, kind: OpKind) {
        self.ops.push(Op { label: format!("b{}.{part}", self.block), block: self.block, kind });
    }

    fn record(&self, layer: u32) -> String {
        format!("block{}.layer{layer}.layer", self.block)
    }

    fn matrix(&self, layer: u32, offset: usize, k: usize, n: usize) -> MatrixRef {
        MatrixRef { record: self.record(layer), offset, k, n, groups: 1, stacked: false }
    }

    fn vector(&self, layer: u32, offset: usize, len: usize) -> VectorRef {
        VectorRef { record: self.record(layer), offset, len }
    }

    /// An unpartitioned, unseeded multiply that publishes codes.
    fn gemm(&mut self, part: &str, input: TensorId, weight: MatrixRef, silu: bool) -> TensorId {
        let extent = self.tensors[input.0 as usize].extent;
        let out = self.local(part, extent, weight.n * weight.groups, Format::E4m3);
        let partition = weight.k;
        self.push(
            part,
            OpKind::Gemm(Gemm { input, weight, partition, seed: None, silu, out_half: None, out_code: Some(out) }),
        );
        out
    }

    /// An unseeded multiply that publishes the raw half.
    fn gemm_half(&mut self, part: &str, input: TensorId, weight: MatrixRef, partition: usize) -> TensorId {
        let extent = self.tensors[input.0 as usize].extent;
        let out = self.local(part, extent, weight.n, Format::Half);
        self.push(
            part,
            OpKind::Gemm(Gemm {
                input,
                weight,
                partition,
                seed: None,
                silu: false,
                out_half: Some(out),
                out_code: None,
            }),
        );
        out
    }

    /// A multiply seeded with a scaled skip.
    fn gemm_seeded(
        &mut self,
        part: &str,
        input: TensorId,
        weight: MatrixRef,
        partition: usize,
        seed: Seed,
        publish: Publish,
    ) -> State {
        let extent = self.tensors[input.0 as usize].extent;
        let n = weight.n;
        let half = (publish != Publish::Code).then(|| self.local(&format!("{part}.half"), extent, n, Format::Half));
        let code = (publish != Publish::Half).then(|| self.local(part, extent, n, Format::E4m3));
        let gemm = Gemm { input, weight, partition, seed: Some(seed), silu: false, out_half: half, out_code: code };
        self.push(part, OpKind::Gemm(gemm));
        // With Publish::Half nothing reads a code; the half stands in so that State stays simple.
        State { code: code.or(half).expect("something is published"), half }
    }

    /// Steps "QKV" to "project" of a window block whose weights lie in one record.
    fn attention(&mut self, level: Level, ffn: State, c: usize, weights: WindowWeights, publish: Publish) -> State {
        let extent = self.extent(level);
        let z = self.gemm_half("qkv", ffn.code, weights.qkv, c);
        let qkv = self.local("qkv.norm", extent, 3 * c, Format::E4m3);
        self.push(
            "normalise",
            OpKind::Normalise(Normalise { input: z, scale: weights.scale, vit: false, output: qkv }),
        );
        let attended = self.local("attended", extent, c, Format::E4m3);
        let phase = self.phase(level);
        self.push(
            "attention",
            OpKind::WindowAttention(WindowAttention { qkv, prior: weights.prior, phase, output: attended }),
        );
        let skip = ffn.half.unwrap_or(ffn.code);
        let seed = Seed { skip, scale: weights.attn_skip };
        self.gemm_seeded("project", attended, weights.projection, c, seed, publish)
    }

    fn window_weights(&self, l: &BlockLayout, c: usize) -> WindowWeights {
        WindowWeights {
            qkv: self.matrix(0, l.qkv, c, 3 * c),
            prior: PriorRef { record: self.record(0), offset: l.prior, heads: c / 32 },
            scale: ScaleRef { record: self.record(0), offset: l.head_scale, heads: c / 32 },
            projection: self.matrix(0, l.projection, c, c),
            attn_skip: self.vector(0, l.attn_skip, c),
        }
    }

    /// A block of 32 channels (network section 4.1). `skip` seeds the FFN: a raw half or the state itself.
    fn dense_block(&mut self, level: Level, l: &BlockLayout, x: TensorId, skip: TensorId, publish: Publish) -> State {
        let hidden = self.gemm("expand", x, self.matrix(0, l.w1, 32, 128), true);
        let seed = Seed { skip, scale: self.vector(0, l.ffn_skip, 32) };
        let w2 = self.matrix(0, l.w2, 128, 32);
        let ffn = self.gemm_seeded("ffn", hidden, w2, 128, seed, Publish::CodeAndHalf);
        let weights = self.window_weights(l, 32);
        self.attention(level, ffn, 32, weights, publish)
    }

    /// A block of 64, 128 or 256 channels (network section 4.2).
    fn expert_block(&mut self, level: Level, l: &BlockLayout, c: usize, x: TensorId, publish: Publish) -> State {
        let paths = c / 32;
        let w1 = MatrixRef { groups: paths, stacked: true, ..self.matrix(0, l.w1, c, 128) };
        let hidden = self.gemm("expand", x, w1, true);
        let w2 = MatrixRef { groups: paths, ..self.matrix(0, l.w2, 128, 32) };
        let narrow = self.gemm("narrow", hidden, w2, false);
        let w3 = self.matrix(0, l.w3.expect("expert layouts have a third matrix"), c, c);
        let seed = Seed { skip: x, scale: self.vector(0, l.ffn_skip, c) };
        let ffn = self.gemm_seeded("ffn", narrow, w3, c, seed, Publish::Code);
        let weights = self.window_weights(l, c);
        self.attention(level, ffn, c, weights, publish)
    }

    /// A block of 512 channels (network section 4.3).
    fn split_block(&mut self, level: Level, x: TensorId, publish: Publish) -> State {
        let branches = self.gemm("branch", x, self.matrix(0, 0, 512, 512), false);
        let wb = MatrixRef { groups: 8, ..self.matrix(0, 262_144, 64, 256) };
        let middle = self.gemm("expand", branches, wb, true);
        let wc = MatrixRef { groups: 8, ..self.matrix(0, 393_216, 256, 64) };
        let narrow = self.gemm("narrow", middle, wc, false);
        let seed = Seed { skip: x, scale: self.vector(1, 262_144, 512) };
        let ffn = self.gemm_seeded("ffn", narrow, self.matrix(1, 0, 512, 512), 512, seed, Publish::Code);
        let weights = WindowWeights {
            qkv: self.matrix(2, 0, 512, 1536),
            prior: PriorRef { record: self.record(2), offset: 786_432, heads: 16 },
            scale: ScaleRef { record: self.record(2), offset: 917_504, heads: 16 },
            projection: self.matrix(3, 0, 512, 512),
            attn_skip: self.vector(3, 262_144, 512),
        };
        self.attention(level, ffn, 512, weights, publish)
    }

    /// A ViT block (network section 4.5).
    fn vit_block(&mut self, x: TensorId) -> TensorId {
        let c = VIT_CHANNELS;
        let extent = self.geometry.levels[5];
        let hidden = self.gemm("expand", x, self.matrix(0, 0, c, 4 * c), true);
        let seed = Seed { skip: x, scale: self.vector(1, 4_194_304, c) };
        let w2 = self.matrix(1, 0, 4 * c, c);
        let ffn = self.gemm_seeded("ffn", hidden, w2, 1024, seed, Publish::Code);
        let z = self.gemm_half("qkv", ffn.code, self.matrix(2, 128, c, 3 * c), 512);
        let scale = ScaleRef { record: self.record(2), offset: 0, heads: 32 };
        let qkv = self.local("qkv.norm", extent, 3 * c, Format::E4m3);
        self.push("normalise", OpKind::Normalise(Normalise { input: z, scale, vit: true, output: qkv }));
        let attended = self.local("attended", extent, c, Format::E4m3);
        let (tokens, padded) = (self.geometry.vit_tokens, self.geometry.vit_padded);
        self.push("attention", OpKind::VitAttention(VitAttention { qkv, tokens, padded, output: attended }));
        let seed = Seed { skip: ffn.code, scale: self.vector(4, 1_048_576, c) };
        self.gemm_seeded("project", attended, self.matrix(4, 0, c, c), 256, seed, Publish::Code).code
    }

    fn pool(&mut self, part: &str, raw: TensorId, extent: Extent) -> TensorId {
        let channels = self.tensors[raw.0 as usize].channels;
        let output = self.local(part, extent, channels, Format::E4m3);
        self.push(part, OpKind::Pool(Pool { input: raw, output }));
        output
    }

    /// Decoder entry of the current block: projection `[2C x C]`, then the merge with the encoder skip.
    fn merge(&mut self, low: TensorId, skip: TensorId, scale: VectorRef, keep_half: bool) -> State {
        let (extent, channels) = {
            let t = &self.tensors[skip.0 as usize];
            (t.extent, t.channels)
        };
        let half = keep_half.then(|| self.local("merge.half", extent, channels, Format::Half));
        let code = self.local("merge", extent, channels, Format::E4m3);
        self.push("merge", OpKind::Merge(Merge { low, skip, scale, out_half: half, out_code: code }));
        State { code, half }
    }

    /// One window block of a stage; `entry` says that its record begins a decoder stage.
    fn window_block(&mut self, stage: &Stage, entry: bool, x: State, publish: Publish) -> State {
        let c = stage.channels;
        let layout = || if entry { BlockLayout::up(c) } else { BlockLayout::fused(c) };
        match stage.ffn {
            Ffn::Dense => self.dense_block(stage.level, &layout(), x.code, x.half.unwrap_or(x.code), publish),
            Ffn::Expert => self.expert_block(stage.level, &layout(), c, x.code, publish),
            Ffn::Split => self.split_block(stage.level, x.code, publish),
        }
    }

    fn encoder_stage(&mut self, stage: &Stage, mut x: TensorId) -> (TensorId, TensorId) {
        let mut raw = None;
        for block in stage.first..=stage.last {
            self.block = block;
            let last = block == stage.last;
            let publish = if last { Publish::CodeAndHalf } else { Publish::Code };
            let out = self.window_block(stage, false, State { code: x, half: None }, publish);
            self.name(out.code, format!("block-{block}"));
            x = out.code;
            raw = out.half;
        }
        (x, raw.expect("the last block of a stage publishes its raw half"))
    }

    /// Pool to the next level and widen (graph steps 6, 8, 10, 12, 14).
    fn transition(&mut self, stage: &Stage, raw: TensorId) -> TensorId {
        let c = stage.channels;
        let Level::Pooled(level) = stage.level else { unreachable!("encoder stages are pooled") };
        let pooled = self.pool("pool", raw, self.geometry.levels[level + 1]);
        let weight = if stage.ffn == Ffn::Split {
            self.matrix(4, 0, c, 2 * c)
        } else {
            self.matrix(0, BlockLayout::fused(c).end, c, 2 * c)
        };
        let out = self.gemm("transition", pooled, weight, false);
        if stage.ffn != Ffn::Split {
            let (from, to) = (stage.last, stage.last + 1);
            self.name(pooled, format!("pooled-{from}-{to}"));
            self.name(out, format!("transition-{from}-{to}"));
        }
        out
    }

    fn graph(&mut self, features: TensorId) -> TensorId {
        let field = self.geometry.field;

        // Steps 1 to 4: adapter, block 0, first pool.
        let a16 = self.tensor("b0.adapter.half", field, 32, Format::Half);
        let a8 = self.tensor("b0.adapter", field, 32, Format::E4m3);
        let weight = MatrixF16Ref { record: self.record(0), offset: layout::ADAPTER, k: 16, n: 32 };
        self.push("adapter", OpKind::Adapter(Adapter { features, weight, out_half: a16, out_code: a8 }));
        let b0 = self.dense_block(Level::Field, &BlockLayout::pre(), a8, a16, Publish::CodeAndHalf);
        self.name(b0.code, "block-0");
        let raw0 = b0.half.expect("block 0 publishes its raw half");
        let mut x = self.pool("pool", raw0, self.geometry.levels[0]);
        self.name(x, "transition-0-1");

        // Steps 5 to 14: encoder.
        let mut skips = Vec::new();
        for stage in &ENCODER {
            let (skip, raw) = self.encoder_stage(stage, x);
            skips.push(skip);
            x = self.transition(stage, raw);
        }

        // Step 15: ViT.
        for block in VIT {
            self.block = block;
            x = self.vit_block(x);
            self.name(x, format!("block-{block}"));
        }

        // Steps 16 and 17: block 39.
        self.block = 39;
        let low = self.gemm_half("upsample", x, self.matrix(0, 0, 1024, 512), 256);
        let skip = skips.pop().expect("one skip per encoder stage");
        let mut state = self.merge(low, skip, self.vector(0, 524_288, 512), false);
        self.name(state.code, "block-39");

        // Steps 18 to 23: decoder.
        for stage in &DECODER {
            for block in stage.first..=stage.last {
                self.block = block;
                let c = stage.channels;
                let entry = block == stage.first && stage.ffn != Ffn::Split;
                if entry {
                    let (matrix, scale) = BlockLayout::up(c).upsample.expect("decoder entries have an upsample matrix");
                    let low = self.gemm_half("upsample", state.code, self.matrix(0, matrix, 2 * c, c), 2 * c);
                    let skip = skips.pop().expect("one skip per encoder stage");
                    state = self.merge(low, skip, self.vector(0, scale, c), block == 66);
                }
                state = self.window_block(stage, entry, state, Publish::Code);
                self.name(state.code, format!("block-{block}"));
            }
        }

        // Steps 24 to 26: post blend, block 70, head.
        self.block = 70;
        let x16 = self.local("blend.half", field, 32, Format::Half);
        let x8 = self.local("blend", field, 32, Format::E4m3);
        let blend = PostBlend {
            up: state.code,
            block0: b0.code,
            input_scale: self.vector(0, layout::INPUT_SCALE, 32),
            adapter_scale: self.vector(0, layout::ADAPTER_SCALE, 32),
            out_half: x16,
            out_code: x8,
        };
        self.push("blend", OpKind::PostBlend(blend));
        let raw = self.dense_block(Level::Field, &BlockLayout::post(), x8, x16, Publish::Half);
        let input = raw.half.expect("block 70 publishes its raw half");
        let head = self.tensor("head", field, 4, Format::Half);
        let weight = MatrixF16Ref { record: self.record(0), offset: layout::HEAD, k: 32, n: 4 };
        self.push("head", OpKind::Head(Head { input, weight, output: head }));
        head
    }
}

/// The weights of the attention half of a window block.
struct WindowWeights {
    qkv: MatrixRef,
    prior: PriorRef,
    scale: ScaleRef,
    projection: MatrixRef,
    attn_skip: VectorRef,
}
