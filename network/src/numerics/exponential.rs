//! The two exponentials of the softmax (numerics section 8): an affine in half, a clamp, and the bits moved into the
//! exponent field. No maximum is subtracted. Scores are not NaN.

use super::half;

/// `clamp(a, low, high)` by value, for positive bounds; negative values and -0 clamp to `low`.
const fn clamp(a: u16, low: u16, high: u16) -> u16 {
    if a & half::SIGN != 0 || a < low {
        low
    } else if a > high {
        high
    } else {
        a
    }
}

/// Window attention: 0.025390625 at zero, results in [2^-14, 9.75].
pub const fn exp_window(score: u16) -> u16 {
    // The product is exact in f32; the f32 addition rounds once, the half conversion once more.
    let a = half::from_f32(half::to_f32(score) * 0.044921875 + 1.30078125);
    (clamp(a, 0x3c20, 0x3e47) << 5) ^ 0x8000
}

/// ViT attention: 0.083984375 at zero, results in [0.00403, 1.6407]. The affine's constants are halves.
pub const fn exp_vit(score: u16) -> u16 {
    let a = half::fma(score, 0x2dbb, 0x3ed6);
    (clamp(a, 0x3dc2, 0x3fe9) << 4).wrapping_add(0x4000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::{bits, little_endian, load, sha256};

    fn check(name: &str, exp: fn(u16) -> u16) {
        let file = load(name);
        for s in file["samples"].as_array().unwrap() {
            assert_eq!(exp(bits(&s["score"]) as u16) as u32, bits(&s["weight"]), "{s}");
        }
        assert_eq!(exp(0) as u32, bits(&file["atZero"]));
        let table: Vec<u16> = (0..=u16::MAX).filter(|&h| !half::is_nan(h)).map(exp).collect();
        assert_eq!(table.len() as u64, file["count"].as_u64().unwrap());
        assert_eq!(sha256(&little_endian(&table)), file["tableSha256"]);
    }

    #[test]
    fn every_score_matches_the_contract() {
        check("exp_window", exp_window);
        check("exp_vit", exp_vit);
    }
}
