//! Attention of one head (numerics sections 9 and 10), on the codes of the cosine normalisation.

use super::cosine::HEAD;
use super::exponential::exp_vit;
use super::{e4m3, half, multiply, root, softmax};

/// Codes of one head of one token.
pub type HeadRow = [u8; HEAD];

/// Physical position (4x4 tiles) of natural token `t = y * 8 + x` of an 8x8 window.
pub const fn tiled(t: usize) -> usize {
    let (x, y) = (t & 7, t >> 3);
    (y >> 2) * 32 + (x >> 2) * 16 + (y & 3) * 4 + (x & 3)
}

/// Natural token at physical position `p`; the inverse of [`tiled`].
pub const fn untiled(p: usize) -> usize {
    let (x, y) = ((p >> 4 & 1) * 4 + (p & 3), (p >> 5) * 4 + (p >> 2 & 3));
    y * 8 + x
}

/// Window attention of one head: rows in natural order, tokens outside the level being zero rows. `prior[q][p]` seeds the
/// score of natural query q and physical key p (half bits). Returns the attended codes of all 64 queries; those outside
/// the level are to be dropped.
pub fn window(q: &[HeadRow; 64], k: &[HeadRow; 64], v: &[HeadRow; 64], prior: &[[u16; 64]; 64]) -> [HeadRow; 64] {
    // Value columns over physical keys.
    let columns: [[u8; 64]; HEAD] = std::array::from_fn(|c| std::array::from_fn(|p| v[untiled(p)][c]));
    std::array::from_fn(|t| {
        let scores = std::array::from_fn(|p| multiply::dot(&q[t], &k[untiled(p)], prior[t][p], HEAD));
        let weights = softmax::window_weights(&scores);
        std::array::from_fn(|c| e4m3::encode(multiply::dot(&weights, &columns[c], 0, 64)))
    })
}

/// Global attention of one head over any number of tokens in natural order (padded here with zero rows to a multiple of
/// 64). Weights are not normalised; the reciprocal scales the value sums. Returns the attended codes of every token.
///
/// # Panics
/// If the three slices differ in length.
pub fn vit(q: &[HeadRow], k: &[HeadRow], v: &[HeadRow]) -> Vec<HeadRow> {
    assert!(q.len() == k.len() && k.len() == v.len());
    let tokens = q.len();
    let padded = tokens.next_multiple_of(64);
    let columns: Vec<Vec<u8>> =
        (0..HEAD).map(|c| (0..padded).map(|t| v.get(t).map_or(0, |row| row[c])).collect()).collect();
    let attend = |q: &HeadRow| {
        let score = |t: usize| k.get(t).map_or(0, |k| multiply::dot(q, k, 0, HEAD));
        let scores: Vec<u16> = (0..padded).map(score).collect();
        let blocks = scores.as_chunks::<64>().0.iter();
        let total = softmax::vit_denominator(blocks.map(|s| softmax::sum64(&s.map(exp_vit))), padded - tokens);
        let reciprocal = root::reciprocal(total);
        let weights: Vec<u8> = scores.iter().map(|&s| softmax::vit_weight(s)).collect();
        std::array::from_fn(|c| e4m3::encode(half::mul(multiply::dot(&weights, &columns[c], 0, padded), reciprocal)))
    };
    q.iter().map(attend).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::{codes, halves, load};
    use serde_json::Value;

    fn rows(v: &Value) -> Vec<HeadRow> {
        v.as_array().unwrap().iter().map(|r| codes(r).try_into().unwrap()).collect()
    }

    #[test]
    fn tile_order_matches_the_vectors() {
        let file = load("weights_index");
        for t in 0..64 {
            assert_eq!(tiled(t) as u64, file["tiled"][t].as_u64().unwrap());
            assert_eq!(untiled(t) as u64, file["untiled"][t].as_u64().unwrap());
            assert_eq!(untiled(tiled(t)), t);
        }
    }

    #[test]
    fn window_matches_the_vectors() {
        let file = load("attention_window");
        let [q, k, v] = ["q", "k", "v"].map(|n| <[HeadRow; 64]>::try_from(rows(&file[n])).unwrap());
        let prior: Vec<[u16; 64]> =
            file["prior"].as_array().unwrap().iter().map(|r| halves(r).try_into().unwrap()).collect();
        let out = window(&q, &k, &v, &prior.try_into().unwrap());
        let mut compared = 0;
        for (t, want) in file["out"].as_array().unwrap().iter().enumerate().filter(|(_, want)| !want.is_null()) {
            assert_eq!(out[t].to_vec(), codes(want), "token {t}");
            compared += 1;
        }
        assert_eq!(compared, 32);
    }

    #[test]
    fn vit_matches_the_vectors() {
        let file = load("attention_vit");
        let out = vit(&rows(&file["q"]), &rows(&file["k"]), &rows(&file["v"]));
        assert_eq!(out, rows(&file["out"]));
    }
}
