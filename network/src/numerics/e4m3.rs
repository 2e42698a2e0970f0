//! E4M3 codes (numerics section 1.2): sign, four exponent bits with bias 7, three significand bits, no infinities.

use super::half;

/// Magnitude bits of the NaN code, which reads as zero.
pub const NAN_MAGNITUDE: u8 = 0x7f;
/// Code of 448, the largest magnitude.
pub const MAX: u8 = 0x7e;

/// Nearest code of a half, ties to even. Saturates at 448, keeps the sign of zeros and underflows, NaN becomes +0.
pub const fn encode(h: u16) -> u8 {
    let sign = (h >> 8) as u8 & 0x80;
    let (e, m) = (h >> 10 & 31, h & 0x3ff);
    if e == 31 {
        return if m != 0 { 0 } else { sign | MAX };
    }
    if e <= 8 {
        // Codes below the smallest normal lie on the 2^-9 grid; 8 there is the smallest normal itself.
        let (significand, n) = if e == 0 { (m, 15) } else { (1024 + m, 16 - e) };
        return sign | shift_rne(significand, n) as u8;
    }
    // A carry out of the three bits moves to the next exponent by the addition; from 464 on the result saturates.
    let code = ((e - 8) << 3) + shift_rne(m, 7);
    sign | if code > MAX as u16 { MAX } else { code as u8 }
}

const fn shift_rne(v: u16, n: u16) -> u16 {
    let (q, rem, tie) = (v >> n, v & ((1 << n) - 1), 1 << (n - 1));
    q + (rem > tie || (rem == tie && q & 1 == 1)) as u16
}

/// The exact half of a code; NaN codes read as +0.
pub const fn decode(code: u8) -> u16 {
    if code & 0x7f == NAN_MAGNITUDE {
        return 0;
    }
    let sign = (code as u16 & 0x80) << 8;
    let (e, m) = (code as u16 >> 3 & 15, code as u16 & 7);
    let magnitude = match (e, m) {
        (0, 0) => 0,
        // m * 2^-9 as a normal half: the leading bit of m sits at 2^(top - 9).
        (0, _) => {
            let top = 15 - m.leading_zeros() as u16;
            ((top + 6) << 10) | (m << (10 - top) & 0x3ff)
        }
        _ => ((e + 8) << 10) | (m << 7),
    };
    sign | magnitude
}

/// The exact value of a code; NaN codes read as zero.
pub const fn to_f32(code: u8) -> f32 {
    half::to_f32(decode(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::{bits, load, sha256};

    #[test]
    fn encode_matches_the_vectors() {
        let file = load("e4m3_from_f16");
        for s in file["samples"].as_array().unwrap() {
            assert_eq!(encode(bits(&s["half"]) as u16) as u32, bits(&s["code"]), "{s}");
        }
        let table: Vec<u8> = (0..=u16::MAX).map(encode).collect();
        assert_eq!(sha256(&table), file["tableSha256"]);
    }

    #[test]
    fn decode_matches_the_vectors() {
        let file = load("e4m3_decode");
        for code in 0..=255u8 {
            assert_eq!(decode(code) as u32, bits(&file["halfBits"][code as usize]), "{code:02x}");
            assert_eq!(to_f32(code) as f64, file["values"][code as usize].as_f64().unwrap(), "{code:02x}");
            if code & 0x7f != NAN_MAGNITUDE {
                assert_eq!(encode(decode(code)), code);
            }
        }
    }
}
