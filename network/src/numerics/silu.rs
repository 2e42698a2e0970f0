//! The cubic SiLU (numerics section 5).

use super::half;

/// -0.055908203125
pub const A: u16 = 0xab28;
/// 0.447265625
pub const B: u16 = 0x3728;
/// 0.89453125
pub const C: u16 = 0x3b28;
/// 4.0, the clamp.
const FOUR: u16 = 0x4400;

/// `x * (b * (A |b| + B) + C)` with `b = clamp(x, -4, 4)`, one rounding a step. The last product takes `x`, not `b`: for
/// x <= -4 the polynomial is +0 and the result -0; +inf stays, -inf gives NaN.
pub const fn silu(x: u16) -> u16 {
    let magnitude = x & 0x7fff;
    let clamped = if half::is_nan(x) || magnitude < FOUR { magnitude } else { FOUR };
    let b = x & half::SIGN | clamped;
    let i = half::fma(A, clamped, B);
    let p = half::fma(b, i, C);
    half::mul(x, p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::e4m3;
    use crate::numerics::vectors::{bits, little_endian, load, sha256};

    #[test]
    fn every_half_matches_the_contract() {
        let file = load("silu");
        for s in file["samples"].as_array().unwrap() {
            let y = silu(bits(&s["x"]) as u16);
            assert_eq!(y as u32, bits(&s["silu"]), "{s}");
            assert_eq!(e4m3::encode(y) as u32, bits(&s["e4m3"]), "{s}");
        }
        let table: Vec<u16> = (0..=u16::MAX).map(silu).collect();
        assert_eq!(sha256(&little_endian(&table)), file["halfTableSha256"]);
        let table: Vec<u8> = table.into_iter().map(e4m3::encode).collect();
        assert_eq!(sha256(&table), file["e4TableSha256"]);
    }
}
