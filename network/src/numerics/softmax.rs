//! Softmax denominators and weights (numerics sections 9 and 10).

use super::exponential::{exp_vit, exp_window};
use super::half::{add, from_f32, mul, sub, to_f32};
use super::{e4m3, root};

/// Sum of 64 exponentials by the contract's tree: over keys, physical order in a window, natural in the ViT.
pub fn sum64(e: &[u16; 64]) -> u16 {
    let t: [u16; 8] = std::array::from_fn(|g| {
        let b: [u16; 4] = std::array::from_fn(|j| add(e[g + 16 * j], e[g + 16 * j + 8]));
        add(add(add(b[0], b[1]), b[2]), b[3])
    });
    let even = add(add(add(t[0], t[2]), t[4]), t[6]);
    let odd = add(add(add(t[1], t[3]), t[5]), t[7]);
    add(even, odd)
}

/// Attention weights of one query over the 64 keys of a window, normalised, as codes (numerics section 9).
pub fn window_weights(scores: &[u16; 64]) -> [u8; 64] {
    let e = scores.map(exp_window);
    let reciprocal = root::reciprocal(sum64(&e));
    e.map(|e| e4m3::encode(mul(e, reciprocal)))
}

/// Denominator of one ViT query (numerics section 10): `block_sums` are the [`sum64`] of consecutive 64 keys, `padding`
/// the number of padding keys (at most 63), whose weight at score zero is taken off again.
pub fn vit_denominator(block_sums: impl IntoIterator<Item = u16>, padding: usize) -> u16 {
    let total = block_sums.into_iter().fold(0, add);
    if padding == 0 { total } else { sub(total, from_f32(to_f32(exp_vit(0)) * padding as f32)) }
}

/// Attention weight of one ViT key, **not** normalised, as a code.
pub fn vit_weight(score: u16) -> u8 {
    e4m3::encode(exp_vit(score))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::{bits, codes, halves, load};

    #[test]
    fn window_matches_the_vectors() {
        for c in load("softmax_window")["cases"].as_array().unwrap() {
            let scores: [u16; 64] = halves(&c["scores"]).try_into().unwrap();
            let e = scores.map(exp_window);
            assert_eq!(e.to_vec(), halves(&c["exp"]), "{}", c["name"]);
            assert_eq!(sum64(&e) as u32, bits(&c["total"]), "{}", c["name"]);
            assert_eq!(root::reciprocal(sum64(&e)) as u32, bits(&c["reciprocal"]), "{}", c["name"]);
            assert_eq!(window_weights(&scores).to_vec(), codes(&c["weightCodes"]), "{}", c["name"]);
        }
    }

    #[test]
    fn vit_matches_the_vectors() {
        for c in load("softmax_vit")["cases"].as_array().unwrap() {
            let scores = halves(&c["scores"]);
            let e: Vec<u16> = scores.iter().map(|&s| exp_vit(s)).collect();
            let sums: Vec<u16> = e.as_chunks().0.iter().map(sum64).collect();
            assert_eq!(sums, halves(&c["blockSums"]), "{}", c["name"]);
            let number = |key: &str| c[key].as_u64().unwrap() as usize;
            assert_eq!(vit_denominator(sums.iter().copied(), 0) as u32, bits(&c["totalBeforeCorrection"]));
            let total = vit_denominator(sums, number("padded") - number("tokens"));
            assert_eq!(total as u32, bits(&c["total"]), "{}", c["name"]);
            assert_eq!(root::reciprocal(total) as u32, bits(&c["reciprocal"]), "{}", c["name"]);
            let weights: Vec<u8> = scores.iter().map(|&s| vit_weight(s)).collect();
            assert_eq!(weights, codes(&c["weightCodes"]), "{}", c["name"]);
        }
    }
}
