//! What a model's weights look like: the report of `model info` and `model validate`.

use rayon::prelude::*;
use serde::Serialize;

use super::layout::{FieldKind, RecordLayout};
use super::packing::half_index;
use super::records::Model;

/// E4M3 code of 9, the largest magnitude that trained weights use.
const NINE: u8 = 0x51;
/// E4M3 code of a NaN, sign apart.
const NAN: u8 = 0x7F;

/// Lanes of the input features by what they carry (frame section 2).
const LANES: [(&str, std::ops::RangeInclusive<usize>); 9] = [
    ("noise", 0..=2),
    ("constant", 3..=3),
    ("image", 4..=6),
    ("history", 7..=9),
    ("style", 10..=10),
    ("tone", 11..=11),
    ("structure", 12..=12),
    ("skin", 13..=13),
    ("mask", 14..=14),
];

/// A record that is longer than its layout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Surplus {
    /// Record name.
    pub record: String,
    /// Bytes past the layout.
    pub bytes: usize,
}

/// Facts about a model's weights.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Info {
    /// The model in words.
    pub description: String,
    /// Identity of the weights.
    pub digest: String,
    /// Records, 153.
    pub records: usize,
    /// Bytes of all records.
    pub bytes: usize,
    /// Records longer than their layout; their surplus is ignored.
    pub surplus: Vec<Surplus>,
    /// E4M3 weights that are the NaN code; they read as zero.
    pub nan_codes: usize,
    /// E4M3 weights of a magnitude above 9, NaN codes apart.
    pub weights_over_nine: usize,
    /// Share of E4M3 weights that are zero of either sign, 0..=1.
    pub zero_share: f64,
    /// The blend scale of the composition.
    pub blend_scale: f32,
    /// Inputs whose adapter rows are all zero: the model ignores them.
    pub ignored_inputs: Vec<&'static str>,
}

#[derive(Default)]
struct Codes {
    all: usize,
    zero: usize,
    nan: usize,
    over_nine: usize,
}

impl Info {
    /// Examines a model. Reads all its bytes, in parallel.
    pub fn new(model: &Model) -> Self {
        let records: Vec<_> = model.records().collect();
        let codes =
            records.par_iter().map(|(layout, bytes)| count(layout, bytes)).reduce(Codes::default, |a, b| Codes {
                all: a.all + b.all,
                zero: a.zero + b.zero,
                nan: a.nan + b.nan,
                over_nine: a.over_nine + b.over_nine,
            });
        let surplus = records
            .iter()
            .filter(|(layout, bytes)| bytes.len() > layout.byte_len())
            .map(|(layout, bytes)| Surplus { record: layout.name.clone(), bytes: bytes.len() - layout.byte_len() })
            .collect();
        Self {
            description: model.description().to_owned(),
            digest: model.digest().to_owned(),
            records: records.len(),
            bytes: model.byte_len(),
            surplus,
            nan_codes: codes.nan,
            weights_over_nine: codes.over_nine,
            zero_share: codes.zero as f64 / codes.all.max(1) as f64,
            blend_scale: model.blend_scale().map_or(f32::NAN, half::f16::to_f32),
            ignored_inputs: records.first().map_or_else(Vec::new, |(layout, bytes)| ignored_inputs(layout, bytes)),
        }
    }

    /// Bytes of all records past their layouts.
    pub fn surplus_bytes(&self) -> usize {
        self.surplus.iter().map(|surplus| surplus.bytes).sum()
    }
}

fn count(layout: &RecordLayout, bytes: &[u8]) -> Codes {
    let mut codes = Codes::default();
    for field in layout.fields.iter().filter(|field| matches!(field.kind, FieldKind::Fp8 { .. })) {
        for code in bytes[field.offset..field.end()].iter().map(|code| code & 0x7F) {
            codes.all += 1;
            codes.zero += usize::from(code == 0);
            codes.nan += usize::from(code == NAN);
            codes.over_nine += usize::from(code > NINE && code != NAN);
        }
    }
    codes
}

/// Inputs whose every lane has a zero row in block 0's adapter.
fn ignored_inputs(layout: &RecordLayout, bytes: &[u8]) -> Vec<&'static str> {
    let Some(field) = layout.field("adapter") else { return Vec::new() };
    let adapter = &bytes[field.offset..field.end()];
    let zero_row = |lane: usize| {
        (0..32).all(|n| {
            let at = 2 * half_index(lane, n, 32);
            adapter[at] == 0 && adapter[at + 1] & 0x7F == 0
        })
    };
    LANES.iter().filter(|(_, lanes)| lanes.clone().all(zero_row)).map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::synth::{Preset, generate};
    use crate::model::{layout, starter};

    #[test]
    fn the_starter_ignores_noise_and_sliders() {
        let info = Info::new(&starter::model().unwrap());
        assert_eq!(info.ignored_inputs, ["noise", "style", "tone", "structure", "skin", "mask"]);
        assert_eq!((info.nan_codes, info.weights_over_nine, info.surplus_bytes()), (0, 0, 0));
        assert_eq!((info.records, info.bytes), (153, layout::TOTAL_BYTES));
        assert_eq!(info.blend_scale, 0.9375);
    }

    #[test]
    fn codes_are_counted() {
        let lively = generate(Preset::Lively, 1).unwrap();
        let info = Info::new(&lively);
        assert_eq!((info.nan_codes, info.weights_over_nine), (0, 0));
        assert!(info.ignored_inputs.is_empty() && info.zero_share < 0.1, "{info:?}");
        let changed = lively.with_byte("block3.layer0.layer", 5, 0xFF).unwrap();
        let changed = changed.with_byte("block31.layer0.layer", 9, 0x52).unwrap();
        // A byte of a prior is no E4M3 code.
        let changed = changed.with_byte("block3.layer0.layer", 11_360, 0x7F).unwrap();
        let info = Info::new(&changed);
        assert_eq!((info.nan_codes, info.weights_over_nine), (1, 1));
        let sparse = Info::new(&generate(Preset::Sparse, 2).unwrap());
        assert!(sparse.nan_codes > 1000 && sparse.zero_share > 0.8, "{sparse:?}");
    }
}
