//! Test helpers: the contract's vectors, and random operands.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The vector file `name`.json.
pub(crate) fn load(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap()
}

/// A number written as hexadecimal bits, with or without `0x`.
pub(crate) fn bits(v: &Value) -> u32 {
    let text = v.as_str().unwrap_or_else(|| panic!("{v} is not a hexadecimal string"));
    u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// Halves: an array of hexadecimal strings, or one string of four-digit words.
pub(crate) fn halves(v: &Value) -> Vec<u16> {
    match v {
        Value::Array(a) => a.iter().map(|h| bits(h) as u16).collect(),
        _ => v.as_str().unwrap().split(' ').map(|h| u16::from_str_radix(h, 16).unwrap()).collect(),
    }
}

/// Codes: an array of hexadecimal strings, or one string of two-digit codes.
pub(crate) fn codes(v: &Value) -> Vec<u8> {
    match v {
        Value::Array(a) => a.iter().map(|c| bits(c) as u8).collect(),
        _ => {
            let digits = v.as_str().unwrap();
            (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
        }
    }
}

/// Lower-case SHA-256 of bytes.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Little-endian bytes of halves.
pub(crate) fn little_endian(halves: &[u16]) -> Vec<u8> {
    halves.iter().flat_map(|h| h.to_le_bytes()).collect()
}

/// How many of a test's random cases are tried: all, or under the interpreter that finds undefined behaviour (Miri), which
/// takes a thousand times as long, a part.
pub(crate) const fn cases(all: usize) -> usize {
    match all / 200 {
        _ if !cfg!(miri) => all,
        part @ 100..500 => part,
        part if part < 100 => 100,
        _ => 500,
    }
}

/// Every how many of all halves a test looks at one: each, or under Miri every 61st.
pub(crate) const STEP: usize = if cfg!(miri) { 61 } else { 1 };

/// A small generator (SplitMix64) for reproducible random operands.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as u32
    }

    /// A finite half with every exponent equally likely, zeros included.
    pub(crate) fn half(&mut self) -> u16 {
        loop {
            let h = self.next() as u16;
            if super::half::is_finite(h) {
                return h;
            }
        }
    }

    /// Any code, zeros and NaN codes over-represented.
    pub(crate) fn code(&mut self) -> u8 {
        match self.next() % 16 {
            0 => [0, 0x80, 0x7f, 0xff][self.next() as usize % 4],
            _ => self.next() as u8,
        }
    }
}
