//! The two exponentials of the softmax (numerics section 8): an affine in half, a clamp, and the bits moved into the
//! exponent field. No maximum is subtracted. Scores are not NaN.

use super::half;

/// 0.044921875, the slope of the window form; exact in half and f32.
pub const WINDOW_SLOPE: f32 = half::to_f32(0x29c0);
/// 1.30078125, the offset of the window form.
pub const WINDOW_OFFSET: f32 = half::to_f32(0x3d34);
/// 1.03125 and 1.5693359375, the clamp of the window form.
pub const WINDOW_CLAMP: [u16; 2] = [0x3c20, 0x3e47];
/// 0.08953857421875, the slope of the ViT form.
pub const VIT_SLOPE: u16 = 0x2dbb;
/// 1.708984375, the offset of the ViT form.
pub const VIT_OFFSET: u16 = 0x3ed6;
/// 1.439453125 and 1.9775390625, the clamp of the ViT form.
pub const VIT_CLAMP: [u16; 2] = [0x3dc2, 0x3fe9];

/// `clamp(a, low, high)` by value, for positive bounds; negative values and -0 clamp to `low`.
const fn clamp(a: u16, [low, high]: [u16; 2]) -> u16 {
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
    let a = half::from_f32(half::to_f32(score) * WINDOW_SLOPE + WINDOW_OFFSET);
    (clamp(a, WINDOW_CLAMP) << 5) ^ 0x8000
}

/// ViT attention: 0.083984375 at zero, results in [0.00403, 1.6407]. The affine's constants are halves.
pub const fn exp_vit(score: u16) -> u16 {
    let a = half::fma(score, VIT_SLOPE, VIT_OFFSET);
    (clamp(a, VIT_CLAMP) << 4).wrapping_add(0x4000)
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
