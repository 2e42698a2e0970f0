//! Reciprocal and reciprocal square root (numerics section 7).
//!
//! Over every half the exact result stays further from a rounding boundary than any f32 approximation in use errs, so the
//! correctly rounded half is the definition. The f64 quotient and root are rounded to f32 and then to half; that equals
//! the single rounding for the same reason.

use super::half;

/// `h(1 / x)`; `1 / 0` is +infinity.
pub fn reciprocal(x: u16) -> u16 {
    half::from_f32((1.0 / half::to_f32(x) as f64) as f32)
}

/// `h(1 / sqrt(x))` for x >= 0; `1 / sqrt(0)` is +infinity.
pub fn reciprocal_sqrt(x: u16) -> u16 {
    half::from_f32((1.0 / (half::to_f32(x) as f64).sqrt()) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::{bits, little_endian, load, sha256};

    #[test]
    fn every_half_matches_the_contract() {
        let file = load("rsqrt_rcp");
        for s in file["samples"].as_array().unwrap() {
            let x = bits(&s["x"]) as u16;
            assert_eq!(reciprocal(x) as u32, bits(&s["rcp"]), "{s}");
            assert_eq!(reciprocal_sqrt(x) as u32, bits(&s["rsqrt"]), "{s}");
        }
        let table: Vec<u16> = (0..half::INFINITY).flat_map(|x| [reciprocal_sqrt(x), reciprocal(x)]).collect();
        assert_eq!(sha256(&little_endian(&table)), file["tableSha256"]);
    }

    #[test]
    fn infinite_sums_have_zero_norm() {
        assert_eq!(reciprocal_sqrt(half::INFINITY), 0);
        assert_eq!(reciprocal(half::INFINITY), 0);
    }
}
