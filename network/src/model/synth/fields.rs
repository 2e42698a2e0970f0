//! What each field of a record is filled with: the generator's gains, ranges and element formulas.

use std::collections::HashMap;

use super::Preset;
use super::random::{LARGEST, bell, draw, f16_bits, normal};
use crate::model::layout::{Field, FieldKind, RecordLayout, STAGES};

/// Gains of a stage: w1, w2, w3 (or the split blocks' merge), qkv, projection.
type Gains = [f64; 5];

/// By index into [`STAGES`]. Zero where the stage has no such matrix.
const GAINS: [Gains; STAGES.len()] = [
    [1.0, 0.40, 0.00, 1.0, 0.45],
    [1.0, 1.00, 0.40, 1.0, 0.45],
    [1.0, 1.00, 0.40, 1.0, 0.45],
    [1.0, 1.00, 0.40, 1.0, 0.45],
    [1.0, 1.00, 0.45, 1.0, 0.50],
    [1.0, 0.46, 0.00, 1.0, 0.60],
    [1.0, 1.00, 0.45, 1.0, 0.50],
    [1.0, 1.00, 0.43, 1.0, 0.48],
    [1.0, 1.00, 0.40, 1.0, 0.45],
    [1.0, 1.00, 0.40, 1.0, 0.45],
    [1.0, 0.40, 0.00, 1.0, 0.45],
];
const TRANSITION_GAIN: f64 = 1.3;
const UPSAMPLE_GAIN: f64 = 0.75;
const HEAD_GAIN: f64 = 0.3;
const PRIOR_DEVIATION: f64 = 1.0;
/// Range of the residual scales.
const SKIP: (f64, f64) = (0.8, 1.0);
/// Deviation of the adapter's weights by input lane.
const ADAPTER: [f64; 16] = [1.2, 1.2, 1.2, 0.6, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0, 12.0, 0.5, 0.5, 0.5, 0.5, 0.7];
/// `blend_scale` in every preset: 0.75.
const BLEND_SCALE: [u8; 2] = [0x00, 0x3A];
/// Sparse and hot weights are wider by this.
const SPARSE_WIDTH: f64 = 2.7;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Content {
    /// E4M3 weights of a standard deviation.
    Weights { deviation: f64 },
    /// Bell-shaped halves of a standard deviation.
    Normal { deviation: f64 },
    /// The adapter: bell-shaped halves with a deviation per input lane.
    Adapter,
    /// Uniform halves.
    Uniform { low: f64, high: f64 },
    /// f32 values `low + i / 256`, i below `steps`.
    Steps { low: f32, steps: u64 },
    /// The blend scale.
    BlendScale,
    /// Arbitrary bytes.
    Padding,
}

impl Content {
    /// Bytes of one element.
    pub fn element_size(&self) -> usize {
        match self {
            Self::Weights { .. } | Self::Padding => 1,
            Self::Normal { .. } | Self::Adapter | Self::Uniform { .. } | Self::BlendScale => 2,
            Self::Steps { .. } => 4,
        }
    }
}

/// The content of a field, from its record's stage and its name.
pub(super) fn content(record: &RecordLayout, field: &Field) -> Content {
    let gains = &GAINS[record.stage];
    let split = matches!(STAGES[record.stage].0, "enc512" | "dec512");
    match field.kind {
        FieldKind::Fp8 { k, .. } => {
            let gain = match field.name {
                "w1" => gains[0],
                "w2" => gains[1],
                "w3" if split => gains[1],
                "w3" | "merge" => gains[2],
                "qkv" => gains[3],
                "projection" => gains[4],
                "upsample" => UPSAMPLE_GAIN,
                _ => TRANSITION_GAIN,
            };
            Content::Weights { deviation: gain / (k as f64).sqrt() }
        }
        FieldKind::HalfMatrix { k, .. } => match field.name {
            "adapter" => Content::Adapter,
            _ => Content::Normal { deviation: HEAD_GAIN / (k as f64).sqrt() },
        },
        FieldKind::Prior { .. } => Content::Normal { deviation: PRIOR_DEVIATION },
        FieldKind::HeadScale { .. } if STAGES[record.stage].0 == "vit" => Content::Steps { low: 0.5, steps: 256 },
        FieldKind::HeadScale { .. } => Content::Steps { low: 1.0, steps: 768 },
        FieldKind::Halves { .. } => {
            let (low, high) = match field.name {
                "merge_skip" => (0.45, 0.85),
                "input_scale" => (0.5, 0.9),
                "block0_scale" => (0.4, 0.8),
                "blend_scale" => return Content::BlendScale,
                _ => SKIP,
            };
            Content::Uniform { low, high }
        }
        FieldKind::Padding { .. } => Content::Padding,
    }
}

/// The deviation at which a preset's nonzero weights are drawn.
pub(super) fn weight_deviation(preset: Preset, deviation: f64) -> f64 {
    match preset {
        Preset::Sparse | Preset::Hot => deviation * SPARSE_WIDTH,
        Preset::Lively | Preset::Identity => deviation,
    }
}

/// Fills fields of one preset.
pub(super) struct Filler<'a> {
    pub preset: Preset,
    /// E4M3 codes of the bell values, by the bits of the deviation.
    pub tables: &'a HashMap<u64, Vec<u8>>,
}

impl Filler<'_> {
    /// Fills part of a field that begins at element `start` of the stream `key`.
    pub fn fill(&self, out: &mut [u8], content: &Content, key: u64, start: usize) {
        if *content == Content::BlendScale {
            out.copy_from_slice(&BLEND_SCALE);
        } else if self.preset == Preset::Identity {
            identity(out, content);
        } else {
            self.random(out, content, key, start as u64);
        }
    }

    fn random(&self, out: &mut [u8], content: &Content, key: u64, start: u64) {
        let sparse = matches!(self.preset, Preset::Sparse | Preset::Hot);
        match *content {
            Content::Weights { deviation } => {
                let deviation = weight_deviation(self.preset, deviation);
                let table = &self.tables[&deviation.to_bits()];
                for (code, index) in out.iter_mut().zip(start..) {
                    let z = draw(key, index);
                    *code = if sparse { self.sparse_weight(z, table) } else { table[bell(z) as usize] };
                }
            }
            Content::Normal { deviation } => {
                halves(out, key, start, |_, z| f16_bits(normal(bell(z)) * deviation));
            }
            Content::Adapter => halves(out, key, start, |i, z| {
                let lane = (i >> 3 & 3) * 2 + (i & 1) + (i & 2) * 4;
                f16_bits(normal(bell(z)) * ADAPTER[lane as usize])
            }),
            Content::Uniform { low, high } => halves(out, key, start, |_, z| {
                let half = f16_bits(low + (high - low) * ((z >> 48) as f64 / 65536.0));
                match z >> 60 {
                    7 if sparse => half | 0x8000,
                    8 if sparse => 0,
                    _ => half,
                }
            }),
            Content::Steps { low, steps } => {
                for (element, index) in out.chunks_exact_mut(4).zip(start..) {
                    let step = (draw(key, index) >> 48) % steps;
                    element.copy_from_slice(&(low + step as f32 / 256.0).to_le_bytes());
                }
            }
            Content::BlendScale | Content::Padding => {
                for (byte, index) in out.iter_mut().zip(start..) {
                    *byte = draw(key, index) as u8;
                }
            }
        }
    }

    /// A weight of `sparse` or `hot`: mostly zero, with the codes that are special.
    fn sparse_weight(&self, z: u64, table: &[u8]) -> u8 {
        let s = bell(z);
        let sign = (s as u8 & 1) << 7;
        let largest = match self.preset {
            Preset::Hot => s % 512 < 2,
            _ => z.is_multiple_of(131_072),
        };
        match z >> 60 {
            11..=13 => 0x80,
            14 if s.is_multiple_of(64) => 0x7F | sign,
            15 if largest => LARGEST | sign,
            0 | 15 => table[s as usize],
            _ => 0,
        }
    }
}

fn halves(out: &mut [u8], key: u64, start: u64, value: impl Fn(u64, u64) -> u16) {
    for (element, index) in out.chunks_exact_mut(2).zip(start..) {
        element.copy_from_slice(&value(index, draw(key, index)).to_le_bytes());
    }
}

/// Unit scales; everything else stays zero.
fn identity(out: &mut [u8], content: &Content) {
    match content {
        Content::Uniform { .. } => out.chunks_exact_mut(2).for_each(|half| half.copy_from_slice(&[0x00, 0x3C])),
        Content::Steps { .. } => out.chunks_exact_mut(4).for_each(|v| v.copy_from_slice(&1f32.to_le_bytes())),
        _ => {}
    }
}
