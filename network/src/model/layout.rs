//! Layouts of the 153 weight records: which fields a record holds, at which byte offset, in which packed form
//! (the arithmetic contract, weights sections 2 and 3).
//!
//! Field names, by the contract's names:
//!
//! | here | contract | |
//! | --- | --- | --- |
//! | `w1`, `w2`, `w3` | W1, W2, W3 (Wa, Wb, Wc in split blocks, expand and contract in the ViT) | FFN matrices |
//! | `merge` | Wd | contraction of a split block's FFN |
//! | `upsample`, `transition` | upsample, transition matrix | stage changes |
//! | `ffn_skip`, `attn_skip` | ffnSkip, attnSkip | residual scales, halves |
//! | `merge_skip` | transitionScale, merge scale | scale of the encoder skip, halves |
//! | `input_scale`, `block0_scale` | inputScale, adapterScale | block 70's merge, halves |
//! | `qkv`, `prior`, `head_scale`, `projection` | the same | attention |
//! | `adapter`, `head` | input adapter, head | half matrices |

use std::collections::HashMap;
use std::sync::LazyLock;

/// Number of records in a complete model.
pub const RECORD_COUNT: usize = 153;
/// Number of blocks of the network.
pub const BLOCK_COUNT: u64 = 71;
/// Bytes of all records together, without surplus.
pub const TOTAL_BYTES: usize = 147_683_618;

/// The resolution stages that group the records: name, first block, last block.
pub const STAGES: [(&str, u32, u32); 11] = [
    ("enc32", 0, 4),
    ("enc64", 5, 8),
    ("enc128", 9, 14),
    ("enc256", 15, 22),
    ("enc512", 23, 30),
    ("vit", 31, 38),
    ("dec512", 39, 47),
    ("dec256", 48, 55),
    ("dec128", 56, 61),
    ("dec64", 62, 65),
    ("dec32", 66, 70),
];

/// How a field is packed, with its shape in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// `batches` E4M3 matrices `[k x n]` in fragment order with the channel permutation, one after another.
    Fp8 {
        /// Number of equally shaped matrices (FFN paths or branches).
        batches: usize,
        /// Input channels of one matrix.
        k: usize,
        /// Output channels.
        n: usize,
    },
    /// A half matrix `[k x n]` in fragment order, columns padded to a multiple of 16.
    HalfMatrix {
        /// Input channels.
        k: usize,
        /// Output columns in use.
        n: usize,
    },
    /// Attention priors, 4096 halves a head in fragment order of physical tokens.
    Prior {
        /// Attention heads.
        heads: usize,
    },
    /// One f32 a head, rounded to half before use.
    HeadScale {
        /// Attention heads.
        heads: usize,
    },
    /// A vector of halves, one per output channel.
    Halves {
        /// Elements.
        len: usize,
    },
    /// Bytes that nothing reads and that need not be zero.
    Padding {
        /// Bytes.
        len: usize,
    },
}

impl FieldKind {
    /// Stored size in bytes.
    pub fn byte_len(self) -> usize {
        match self {
            Self::Fp8 { batches, k, n } => batches * k * n,
            Self::HalfMatrix { k, n } => k.div_ceil(16) * n.div_ceil(16) * 512,
            Self::Prior { heads } => heads * 8192,
            Self::HeadScale { heads } => heads * 4,
            Self::Halves { len } => len * 2,
            Self::Padding { len } => len,
        }
    }
}

/// One field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name within the record.
    pub name: &'static str,
    /// Packed form and shape.
    pub kind: FieldKind,
    /// Byte offset from the start of the record.
    pub offset: usize,
}

impl Field {
    /// Byte offset just past the field.
    pub fn end(&self) -> usize {
        self.offset + self.kind.byte_len()
    }
}

/// Who reads a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The graph of the 71 blocks.
    Graph,
    /// Only the composition of the frame (`blend_scale`).
    Frame,
    /// Nobody (the ViT's `layer3` scalars).
    Nobody,
}

/// One of the 153 records.
#[derive(Clone, Debug)]
pub struct RecordLayout {
    /// `block{block}.layer{layer}.{parameter}`.
    pub name: String,
    /// Block, 0..=70.
    pub block: u32,
    /// Layer within the block.
    pub layer: u32,
    /// `layer`, or `blend_scale` for the last record.
    pub parameter: &'static str,
    /// Index into [`STAGES`].
    pub stage: usize,
    /// Fields in storage order, without gaps.
    pub fields: Vec<Field>,
    /// The length is part of the format: another one is refused. Other records may be longer, never shorter.
    pub exact_length: bool,
    /// Who reads the record.
    pub reader: Reader,
}

impl RecordLayout {
    /// Bytes of the record without surplus.
    pub fn byte_len(&self) -> usize {
        self.fields.last().map_or(0, Field::end)
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// All records in block order, the order of digests and of generated manifests.
pub fn records() -> &'static [RecordLayout] {
    &TABLE.records
}

/// Position of a record in [`records`].
pub fn index(name: &str) -> Option<usize> {
    TABLE.index.get(name).copied()
}

/// The layout of a record by name.
pub fn record(name: &str) -> Option<&'static RecordLayout> {
    index(name).map(|index| &TABLE.records[index])
}

struct Table {
    records: Vec<RecordLayout>,
    index: HashMap<String, usize>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut records = Vec::with_capacity(RECORD_COUNT);
    for (stage, &(_, first, last)) in STAGES.iter().enumerate() {
        for block in first..=last {
            add_block(&mut records, stage, block);
        }
    }
    let index = records.iter().enumerate().map(|(index, record)| (record.name.clone(), index)).collect();
    Table { records, index }
});

type Part = (&'static str, FieldKind);

fn fp8(name: &'static str, batches: usize, k: usize, n: usize) -> Part {
    (name, FieldKind::Fp8 { batches, k, n })
}

fn halves(name: &'static str, len: usize) -> Part {
    (name, FieldKind::Halves { len })
}

fn pad16(name: &'static str) -> Part {
    (name, FieldKind::Padding { len: 16 })
}

fn ffn(c: usize) -> Vec<Part> {
    let paths = c / 32;
    let mut parts = vec![fp8("w1", paths, c, 128), fp8("w2", paths, 128, 32)];
    if c > 32 {
        parts.push(fp8("w3", 1, c, c));
    }
    parts
}

/// QKV, prior and head scales; the scales are padded to 16 bytes.
fn attention_front(c: usize) -> Vec<Part> {
    let heads = c / 32;
    let mut parts = vec![
        fp8("qkv", 1, c, 3 * c),
        ("prior", FieldKind::Prior { heads }),
        ("head_scale", FieldKind::HeadScale { heads }),
    ];
    let pad = (4 * heads).next_multiple_of(16) - 4 * heads;
    if pad > 0 {
        parts.push(("pad_head_scale", FieldKind::Padding { len: pad }));
    }
    parts
}

fn attention_back(c: usize) -> Vec<Part> {
    vec![fp8("projection", 1, c, c), halves("attn_skip", c)]
}

fn attention(c: usize) -> Vec<Part> {
    [attention_front(c), attention_back(c)].concat()
}

fn add_block(records: &mut Vec<RecordLayout>, stage: usize, block: u32) {
    let mut add = |layer: u32, parameter: &'static str, parts: Vec<Part>| {
        let mut offset = 0;
        let fields = parts
            .into_iter()
            .map(|(name, kind)| {
                let field = Field { name, kind, offset };
                offset = field.end();
                field
            })
            .collect();
        records.push(RecordLayout {
            name: format!("block{block}.layer{layer}.{parameter}"),
            block,
            layer,
            parameter,
            stage,
            fields,
            exact_length: parameter == "layer" && matches!(block, 0 | 48 | 56 | 62 | 66 | 70),
            reader: match (parameter, block, layer) {
                ("blend_scale", _, _) => Reader::Frame,
                (_, 31..=38, 3) => Reader::Nobody,
                _ => Reader::Graph,
            },
        });
    };
    match block {
        0 => add(0, "layer", pre_block()),
        1..=22 | 49..=55 | 57..=61 | 63..=65 | 67..=69 => {
            let widens = matches!(block, 4 | 8 | 14 | 22);
            add(0, "layer", plain_block(stage_channels(stage), widens));
        }
        48 | 56 | 62 | 66 => add(0, "layer", upsample_block(stage_channels(stage))),
        31..=38 => {
            add(0, "layer", vec![fp8("w1", 1, 1024, 4096)]);
            add(1, "layer", vec![fp8("w2", 1, 4096, 1024), halves("ffn_skip", 1024)]);
            let scales = ("head_scale", FieldKind::HeadScale { heads: 32 });
            add(2, "layer", vec![scales, fp8("qkv", 1, 1024, 3072)]);
            add(3, "layer", vec![("unread", FieldKind::Padding { len: 2 })]);
            add(4, "layer", attention_back(1024));
        }
        39 => add(0, "layer", vec![fp8("upsample", 1, 1024, 512), halves("merge_skip", 512)]),
        70 => {
            add(0, "layer", post_block());
            add(0, "blend_scale", vec![halves("blend_scale", 1)]);
        }
        _ => {
            add(0, "layer", vec![fp8("w1", 1, 512, 512), fp8("w2", 8, 64, 256), fp8("w3", 8, 256, 64)]);
            add(1, "layer", vec![fp8("merge", 1, 512, 512), halves("ffn_skip", 512)]);
            add(2, "layer", attention_front(512));
            add(3, "layer", attention_back(512));
            if block == 30 {
                add(4, "layer", vec![fp8("transition", 1, 512, 1024)]);
            }
        }
    }
}

/// Channels of a stage of fused blocks.
fn stage_channels(stage: usize) -> usize {
    match stage {
        0 | 10 => 32,
        1 | 9 => 64,
        2 | 8 => 128,
        3 | 7 => 256,
        4 | 6 => 512,
        _ => 1024,
    }
}

fn pre_block() -> Vec<Part> {
    let adapter = ("adapter", FieldKind::HalfMatrix { k: 16, n: 32 });
    let front = vec![pad16("pad_ffn"), adapter, halves("ffn_skip", 32), pad16("pad_skip")];
    [ffn(32), front, attention(32), vec![pad16("pad_end")]].concat()
}

fn plain_block(c: usize, widens: bool) -> Vec<Part> {
    let skip = vec![pad16("pad_ffn"), halves("ffn_skip", c), pad16("pad_skip")];
    let end = if widens { fp8("transition", 1, c, 2 * c) } else { pad16("pad_end") };
    [ffn(c), skip, attention(c), vec![end]].concat()
}

fn upsample_block(c: usize) -> Vec<Part> {
    // Only the 32-channel form has padding around its skip scales.
    let narrow = c == 32;
    let mut parts = ffn(c);
    parts.push(fp8("upsample", 1, 2 * c, c));
    parts.extend(narrow.then(|| pad16("pad_up")));
    parts.push(halves("ffn_skip", c));
    parts.extend(narrow.then(|| pad16("pad_skip")));
    parts.push(halves("merge_skip", c));
    [parts, attention(c), vec![pad16("pad_end")]].concat()
}

fn post_block() -> Vec<Part> {
    let scales = vec![pad16("pad_ffn"), halves("ffn_skip", 32), halves("input_scale", 32), halves("block0_scale", 32)];
    let head = vec![pad16("pad_head"), ("head", FieldKind::HalfMatrix { k: 32, n: 4 })];
    [ffn(32), scales, attention(32), head].concat()
}

#[cfg(test)]
mod tests;
