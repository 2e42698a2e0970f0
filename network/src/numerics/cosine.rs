//! Cosine normalisation of one head vector of 32 halves (numerics section 6).

use super::half::{add, fma, from_f32, mul, to_f32};
use super::{e4m3, root};

/// Lanes of a head vector.
pub const HEAD: usize = 32;
/// `h(sqrt(32))`, the extra factor of the ViT's queries.
pub const SQRT_32: u16 = 0x45a8;

/// Sum of sixteen halves by the contract's tree: lanes 8 apart, then 4, 2 and 1.
pub const fn tree16(mut r: [u16; 16]) -> u16 {
    let mut width = 8;
    while width > 0 {
        let mut c = 0;
        while c < width {
            r[c] = add(r[c], r[c + width]);
            c += 1;
        }
        width /= 2;
    }
    r[0]
}

/// Sum of squares of a window block's head vector; the multiply-add is a half fma with a single rounding.
pub fn square_sum_window(v: &[u16; HEAD]) -> u16 {
    tree16(std::array::from_fn(|c| fma(v[c], v[c], mul(v[c + 16], v[c + 16]))))
}

/// Sum of squares of a ViT head vector; the low square stays in f32, and the f32 sum is rounded to half after that.
pub fn square_sum_vit(v: &[u16; HEAD]) -> u16 {
    tree16(std::array::from_fn(|c| {
        let low = to_f32(v[c]);
        from_f32(low * low + to_f32(mul(v[c + 16], v[c + 16])))
    }))
}

/// `h(1 / sqrt(sum))`; +infinity for a zero sum, which then turns zero lanes into NaN and those into code +0.
pub fn norm(square_sum: u16) -> u16 {
    root::reciprocal_sqrt(square_sum)
}

/// Key codes: `v * norm`.
pub fn key(v: &[u16; HEAD], norm: u16) -> [u8; HEAD] {
    v.map(|x| e4m3::encode(mul(x, norm)))
}

/// Query codes of a window block: `(v * norm) * scale`, `scale` being the head scale rounded to half.
pub fn query_window(v: &[u16; HEAD], norm: u16, scale: u16) -> [u8; HEAD] {
    v.map(|x| e4m3::encode(mul(mul(x, norm), scale)))
}

/// Query codes of the ViT: `((v * norm) * 5.65625) * scale`, in this order.
pub fn query_vit(v: &[u16; HEAD], norm: u16, scale: u16) -> [u8; HEAD] {
    v.map(|x| e4m3::encode(mul(mul(mul(x, norm), SQRT_32), scale)))
}

/// Value codes: the halves themselves.
pub fn value(v: &[u16; HEAD]) -> [u8; HEAD] {
    v.map(e4m3::encode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::{bits, codes, halves, load};

    #[test]
    fn both_forms_match_the_vectors() {
        for vit in [false, true] {
            for c in load(if vit { "cosnorm_vit" } else { "cosnorm_window" })["cases"].as_array().unwrap() {
                let v: [u16; 32] = halves(&c["v"]).try_into().unwrap();
                let scale = from_f32(f32::from_bits(bits(&c["scaleF32"])));
                assert_eq!(scale as u32, bits(&c["scaleHalf"]));
                let sum = if vit { square_sum_vit(&v) } else { square_sum_window(&v) };
                assert_eq!(sum as u32, bits(&c["sumSquares"]), "{}", c["name"]);
                let norm = norm(sum);
                assert_eq!(norm as u32, bits(&c["norm"]), "{}", c["name"]);
                assert_eq!(key(&v, norm).to_vec(), codes(&c["kCodes"]), "{}", c["name"]);
                let q = if vit { query_vit(&v, norm, scale) } else { query_window(&v, norm, scale) };
                assert_eq!(q.to_vec(), codes(&c["qCodes"]), "{}", c["name"]);
            }
        }
    }

    #[test]
    fn a_zero_vector_publishes_positive_zeros() {
        let zero = [0x8000; HEAD];
        let norm = norm(square_sum_window(&zero));
        assert_eq!(norm, crate::numerics::half::INFINITY);
        assert_eq!(key(&zero, norm), [0; HEAD]);
        assert_eq!(query_vit(&zero, norm, 0xbc00), [0; HEAD]);
        assert_eq!(value(&zero), [0x80; HEAD]);
    }
}
