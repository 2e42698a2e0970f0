//! From a geometry to the whole graph, step by step (network section 5).

use super::blocks::{DECODER, ENCODER, Ffn, Level, Stage, VIT, VIT_CHANNELS};
use super::*;
use crate::geometry::{Extent, Geometry};
use crate::model::layout::{self, FieldKind};

/// Builds the plan; see [`Plan::new`].
pub(super) fn plan(geometry: &Geometry) -> Plan {
    let mut b = Builder { geometry, tensors: Vec::new(), ops: Vec::new(), block: 0, phases: [0; 6] };
    let features = b.tensor("features", geometry.field, 16, Format::Half);
    let head = b.graph(features);
    Plan { geometry: *geometry, tensors: b.tensors, ops: b.ops, features, head }
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

    /// Record name, packed form and byte offset of a field of the current block.
    fn field(&self, name: &str) -> (String, FieldKind, usize) {
        layout::records()
            .iter()
            .filter(|r| r.block == self.block)
            .find_map(|r| r.field(name).map(|f| (r.name.clone(), f.kind, f.offset)))
            .unwrap_or_else(|| panic!("block {} has no field {name}", self.block))
    }

    fn matrix(&self, name: &str) -> MatrixRef {
        match self.field(name) {
            (record, FieldKind::Fp8 { batches, k, n }, offset) => {
                MatrixRef { record, offset, k, n, groups: batches, stacked: false }
            }
            _ => panic!("field {name} of block {} is not an FP8 matrix", self.block),
        }
    }

    fn matrix_f16(&self, name: &str) -> MatrixF16Ref {
        match self.field(name) {
            (record, FieldKind::HalfMatrix { k, n }, offset) => MatrixF16Ref { record, offset, k, n },
            _ => panic!("field {name} of block {} is not a half matrix", self.block),
        }
    }

    fn vector(&self, name: &str) -> VectorRef {
        match self.field(name) {
            (record, FieldKind::Halves { len }, offset) => VectorRef { record, offset, len },
            _ => panic!("field {name} of block {} is not a vector of halves", self.block),
        }
    }

    fn prior(&self) -> PriorRef {
        match self.field("prior") {
            (record, FieldKind::Prior { heads }, offset) => PriorRef { record, offset, heads },
            _ => panic!("the prior of block {} is not a prior", self.block),
        }
    }

    fn head_scale(&self) -> ScaleRef {
        match self.field("head_scale") {
            (record, FieldKind::HeadScale { heads }, offset) => ScaleRef { record, offset, heads },
            _ => panic!("the head scales of block {} are not head scales", self.block),
        }
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

    /// Steps "QKV" to "project" of a window block (network section 4).
    fn attention(&mut self, level: Level, ffn: State, c: usize, publish: Publish) -> State {
        let extent = self.extent(level);
        let z = self.gemm_half("qkv", ffn.code, self.matrix("qkv"), c);
        let qkv = self.local("qkv.norm", extent, 3 * c, Format::E4m3);
        let scale = self.head_scale();
        self.push("normalise", OpKind::Normalise(Normalise { input: z, scale, vit: false, output: qkv }));
        let attended = self.local("attended", extent, c, Format::E4m3);
        let phase = self.phase(level);
        let prior = self.prior();
        self.push("attention", OpKind::WindowAttention(WindowAttention { qkv, prior, phase, output: attended }));
        let seed = Seed { skip: ffn.half.unwrap_or(ffn.code), scale: self.vector("attn_skip") };
        self.gemm_seeded("project", attended, self.matrix("projection"), c, seed, publish)
    }

    /// A block of 32 channels (network section 4.1). `skip` seeds the FFN: a raw half or the state itself.
    fn dense_block(&mut self, level: Level, x: TensorId, skip: TensorId, publish: Publish) -> State {
        let hidden = self.gemm("expand", x, self.matrix("w1"), true);
        let seed = Seed { skip, scale: self.vector("ffn_skip") };
        let ffn = self.gemm_seeded("ffn", hidden, self.matrix("w2"), 128, seed, Publish::CodeAndHalf);
        self.attention(level, ffn, 32, publish)
    }

    /// A block of 64, 128 or 256 channels (network section 4.2).
    fn expert_block(&mut self, level: Level, c: usize, x: TensorId, publish: Publish) -> State {
        let hidden = self.gemm("expand", x, MatrixRef { stacked: true, ..self.matrix("w1") }, true);
        let narrow = self.gemm("narrow", hidden, self.matrix("w2"), false);
        let seed = Seed { skip: x, scale: self.vector("ffn_skip") };
        let ffn = self.gemm_seeded("ffn", narrow, self.matrix("w3"), c, seed, Publish::Code);
        self.attention(level, ffn, c, publish)
    }

    /// A block of 512 channels (network section 4.3).
    fn split_block(&mut self, level: Level, x: TensorId, publish: Publish) -> State {
        let branches = self.gemm("branch", x, self.matrix("w1"), false);
        let middle = self.gemm("expand", branches, self.matrix("w2"), true);
        let narrow = self.gemm("narrow", middle, self.matrix("w3"), false);
        let seed = Seed { skip: x, scale: self.vector("ffn_skip") };
        let ffn = self.gemm_seeded("ffn", narrow, self.matrix("merge"), 512, seed, Publish::Code);
        self.attention(level, ffn, 512, publish)
    }

    /// A ViT block (network section 4.5).
    fn vit_block(&mut self, x: TensorId) -> TensorId {
        let c = VIT_CHANNELS;
        let extent = self.geometry.levels[5];
        let hidden = self.gemm("expand", x, self.matrix("w1"), true);
        let seed = Seed { skip: x, scale: self.vector("ffn_skip") };
        let ffn = self.gemm_seeded("ffn", hidden, self.matrix("w2"), 1024, seed, Publish::Code);
        let z = self.gemm_half("qkv", ffn.code, self.matrix("qkv"), 512);
        let qkv = self.local("qkv.norm", extent, 3 * c, Format::E4m3);
        let scale = self.head_scale();
        self.push("normalise", OpKind::Normalise(Normalise { input: z, scale, vit: true, output: qkv }));
        let attended = self.local("attended", extent, c, Format::E4m3);
        let (tokens, padded) = (self.geometry.vit_tokens, self.geometry.vit_padded);
        self.push("attention", OpKind::VitAttention(VitAttention { qkv, tokens, padded, output: attended }));
        let seed = Seed { skip: ffn.code, scale: self.vector("attn_skip") };
        self.gemm_seeded("project", attended, self.matrix("projection"), 256, seed, Publish::Code).code
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

    fn window_block(&mut self, stage: &Stage, x: State, publish: Publish) -> State {
        let c = stage.channels;
        match stage.ffn {
            Ffn::Dense => self.dense_block(stage.level, x.code, x.half.unwrap_or(x.code), publish),
            Ffn::Expert => self.expert_block(stage.level, c, x.code, publish),
            Ffn::Split => self.split_block(stage.level, x.code, publish),
        }
    }

    fn encoder_stage(&mut self, stage: &Stage, mut x: TensorId) -> (TensorId, TensorId) {
        let mut raw = None;
        for block in stage.first..=stage.last {
            self.block = block;
            let last = block == stage.last;
            let publish = if last { Publish::CodeAndHalf } else { Publish::Code };
            let out = self.window_block(stage, State { code: x, half: None }, publish);
            self.name(out.code, format!("block-{block}"));
            x = out.code;
            raw = out.half;
        }
        (x, raw.expect("the last block of a stage publishes its raw half"))
    }

    /// Pool to the next level and widen (graph steps 6, 8, 10, 12, 14).
    fn transition(&mut self, stage: &Stage, raw: TensorId) -> TensorId {
        let Level::Pooled(level) = stage.level else { unreachable!("encoder stages are pooled") };
        let pooled = self.pool("pool", raw, self.geometry.levels[level + 1]);
        let weight = self.matrix("transition");
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
        let weight = self.matrix_f16("adapter");
        self.push("adapter", OpKind::Adapter(Adapter { features, weight, out_half: a16, out_code: a8 }));
        let b0 = self.dense_block(Level::Field, a8, a16, Publish::CodeAndHalf);
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
        let low = self.gemm_half("upsample", x, self.matrix("upsample"), 256);
        let skip = skips.pop().expect("one skip per encoder stage");
        let mut state = self.merge(low, skip, self.vector("merge_skip"), false);
        self.name(state.code, "block-39");

        // Steps 18 to 23: decoder.
        for stage in &DECODER {
            for block in stage.first..=stage.last {
                self.block = block;
                if block == stage.first && stage.ffn != Ffn::Split {
                    let low = self.gemm_half("upsample", state.code, self.matrix("upsample"), 2 * stage.channels);
                    let skip = skips.pop().expect("one skip per encoder stage");
                    state = self.merge(low, skip, self.vector("merge_skip"), block == 66);
                }
                state = self.window_block(stage, state, Publish::Code);
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
            input_scale: self.vector("input_scale"),
            adapter_scale: self.vector("block0_scale"),
            out_half: x16,
            out_code: x8,
        };
        self.push("blend", OpKind::PostBlend(blend));
        let raw = self.dense_block(Level::Field, x8, x16, Publish::Half);
        let input = raw.half.expect("block 70 publishes its raw half");
        let head = self.tensor("head", field, 4, Format::Half);
        let weight = self.matrix_f16("head");
        self.push("head", OpKind::Head(Head { input, weight, output: head }));
        head
    }
}
