//! Cosine normalisation (numerics section 6) of raw QKV rows.

use rayon::prelude::*;

use super::dispatch::dispatch;
use super::lanes;
use crate::numerics::cosine::{HEAD, SQRT_32};

/// Halves or codes of one head in a QKV row.
const HEAD_COLUMNS: usize = 3 * HEAD;
/// Head vectors of one work item.
const ITEM_HEADS: usize = 256;

/// Codes `[row][heads * 96]` from halves of the same shape; one scale (half bits) per head.
pub fn run(qkv: &[u16], scales: &[u16], vit: bool) -> Vec<u8> {
    let mut out = vec![0; qkv.len()];
    let item = ITEM_HEADS * HEAD_COLUMNS;
    out.par_chunks_mut(item).zip(qkv.par_chunks(item)).enumerate().for_each(|(i, (out, qkv))| {
        heads(qkv, scales, i * ITEM_HEADS, vit, out);
    });
    out
}

dispatch! {
    /// Head vectors in storage order from number `first` on; the head is that number modulo the heads of a row.
    fn heads(qkv: &[u16], scales: &[u16], first: usize, vit: bool, out: &mut [u8]) {
        let (qkv, out) = (qkv.as_chunks::<HEAD_COLUMNS>().0, out.as_chunks_mut::<HEAD_COLUMNS>().0);
        for (i, (qkv, out)) in qkv.iter().zip(out).enumerate() {
            let mut v = [0.0; HEAD_COLUMNS];
            lanes::map(qkv, &mut v, lanes::from_half);
            let scale = lanes::from_half(scales[(first + i) % scales.len()]);
            let q_norm = norm(&v, 0, vit);
            let k_norm = norm(&v, HEAD, vit);
            // The ViT's extra factor comes between the norm and the scale; one is exact.
            let extra = if vit { lanes::from_half(SQRT_32) } else { 1.0 };
            for c in 0..HEAD {
                out[c] = lanes::to_code(lanes::mul(lanes::mul(lanes::mul(v[c], q_norm), extra), scale));
                out[HEAD + c] = lanes::to_code(lanes::mul(v[HEAD + c], k_norm));
                out[2 * HEAD + c] = lanes::to_code(v[2 * HEAD + c]);
            }
        }
    }
}

/// `cosine::norm` of the square sum of the 32 lanes from `start` on.
#[inline(always)]
fn norm(v: &[f32; HEAD_COLUMNS], start: usize, vit: bool) -> f32 {
    let mut r = [0.0; HEAD / 2];
    for (c, r) in r.iter_mut().enumerate() {
        let (low, high) = (v[start + c], v[start + HEAD / 2 + c]);
        let high = lanes::mul(high, high);
        *r = if vit { lanes::round(low * low + high) } else { lanes::fma(low, low, high) };
    }
    // `cosine::tree16`
    for c in 0..8 {
        r[c] = lanes::add(r[c], r[c + 8]);
    }
    for c in 0..4 {
        r[c] = lanes::add(r[c], r[c + 4]);
    }
    lanes::reciprocal_sqrt(lanes::add(lanes::add(r[0], r[2]), lanes::add(r[1], r[3])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::cosine;
    use crate::numerics::vectors::Random;
    use crate::reference::dispatch::on_every_level;

    #[test]
    fn rows_match_the_definition() {
        on_every_level(|| {
            let mut random = Random::new(51);
            let scales = [0x35ec, 0x4900, 0xb800];
            for round in 0..16 {
                // Every magnitude, then rows of similar magnitudes, then rows with many zeros.
                let qkv: Vec<u16> = (0..300 * 3 * HEAD_COLUMNS)
                    .map(|_| match round % 4 {
                        0 => random.half(),
                        1 => random.next() as u16 & 0x83ff | 0x3800,
                        2 => random.next() as u16 & 0x8fff | 0x3000,
                        _ => [0, 0x8000, random.half() & 0x8fff][random.next() as usize % 3],
                    })
                    .collect();
                for vit in [false, true] {
                    let out = run(&qkv, &scales, vit);
                    for (i, v) in qkv.as_chunks::<HEAD>().0.iter().enumerate() {
                        let scale = scales[i / 3 % 3];
                        let norm =
                            cosine::norm(if vit { cosine::square_sum_vit(v) } else { cosine::square_sum_window(v) });
                        let want = match (i % 3, vit) {
                            (0, false) => cosine::query_window(v, norm, scale),
                            (0, true) => cosine::query_vit(v, norm, scale),
                            (1, _) => cosine::key(v, norm),
                            _ => cosine::value(v),
                        };
                        assert_eq!(out[i * HEAD..][..HEAD], want, "vector {i}, vit {vit}: {v:04x?}");
                    }
                }
            }
        });
    }
}
