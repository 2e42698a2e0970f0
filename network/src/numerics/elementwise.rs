//! Elementwise steps between blocks (numerics section 11). Halves in, a half out; the caller publishes the code.

use super::e4m3;
use super::half::{add, fma, mul};

/// 0.25
const QUARTER: u16 = 0x3400;

/// 2x2 pool of raw halves: `a b` the upper pair left to right, `c d` the lower pair.
pub const fn pool(a: u16, b: u16, c: u16, d: u16) -> u16 {
    mul(add(add(a, b), add(c, d)), QUARTER)
}

/// Decoder entry: `skip * scale + projection`, one rounding; `skip` is a code.
pub const fn merge(projection: u16, skip: u8, scale: u16) -> u16 {
    fma(e4m3::decode(skip), scale, projection)
}

/// Entry of block 70: `adapter * adapter_scale + (up * input_scale)`; `up` is block 69's code, `adapter` block 0's.
pub const fn blend(up: u8, input_scale: u16, adapter: u8, adapter_scale: u16) -> u16 {
    fma(e4m3::decode(adapter), adapter_scale, mul(e4m3::decode(up), input_scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::{bits, load};
    use serde_json::Value;

    fn check(case: &Value, half: u16) {
        assert_eq!(half as u32, bits(&case["half"]), "{case}");
        assert_eq!(e4m3::encode(half) as u32, bits(&case["e4m3"]), "{case}");
    }

    #[test]
    fn steps_match_the_vectors() {
        let file = load("pool_merge_blend");
        let half = |case: &Value, key: &str| bits(&case[key]) as u16;
        let code = |case: &Value, key: &str| bits(&case[key]) as u8;
        for c in file["pool"].as_array().unwrap() {
            check(c, pool(half(c, "a"), half(c, "b"), half(c, "c"), half(c, "d")));
        }
        for c in file["merge"].as_array().unwrap() {
            check(c, merge(half(c, "projection"), code(c, "skip"), half(c, "scale")));
        }
        for c in file["blend"].as_array().unwrap() {
            let (up, adapter) = (code(c, "up"), code(c, "adapter"));
            check(c, blend(up, half(c, "inputScale"), adapter, half(c, "adapterScale")));
        }
        for c in file["mergeDoubleRounding"].as_array().unwrap() {
            assert_eq!(merge(half(c, "projection"), code(c, "skip"), half(c, "scale")), half(c, "fma"), "{c}");
        }
    }
}
