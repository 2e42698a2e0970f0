//! Head and proxy to the composed colour, and the temporal blend (frame section 6).

use super::math::{exp2, saturate};
use crate::numerics::half;

/// Minus the base 2 logarithm of e.
const MINUS_LOG2_E: f32 = f32::from_bits(0xbfb8_aa3b);

/// Weight of the history: the sigmoid of the head's logit, scaled and limited by the model's blend scale.
pub fn weight(logit: f32, blend_scale: f32) -> f32 {
    saturate((1.0 / (1.0 + exp2(logit * MINUS_LOG2_E))) * saturate(blend_scale))
}

/// One channel without history: `clamp(p + rgb / 4, 0, 1)` with the contract's roundings.
pub fn neural(p: f32, head: f32) -> f32 {
    let centred = p.mul_add(0.125, -0.0625);
    let inner = head.mul_add(0.03125, centred);
    saturate(inner * 8.0 + 0.5)
}

/// The composed colour of a pixel before truncation. `history` is the reprojected colour where it is valid.
pub fn compose(p: [f32; 3], head: [f32; 4], history: Option<[f32; 3]>, blend_scale: f32) -> [f32; 3] {
    let fresh: [f32; 3] = std::array::from_fn(|i| neural(p[i], head[i]));
    match history {
        None => fresh,
        Some(history) => {
            let w = weight(head[3], blend_scale);
            std::array::from_fn(|i| w.mul_add(history[i] - fresh[i], fresh[i]))
        }
    }
}

/// The next history's colour: truncated to half.
pub fn stored(neural: [f32; 3]) -> [u16; 3] {
    neural.map(half::from_f32_truncated)
}

/// The 8-bit code of a stored value, for the output of a single image: `floor(v * 255 + 0.5)`, limited to 0..=255.
///
/// A half has 11 significant bits, so the product is exact in f32 and the sum is the one rounding that the contract asks for.
pub fn code(v: f32) -> u8 {
    (v * 255.0 + 0.5).floor().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::cpu::vectors;

    #[test]
    fn compositions_of_the_contract() {
        for case in vectors::load("frame")["compose"].as_array().unwrap() {
            let (p, h) = (vectors::float(&case["proxyF32"]), vectors::float(&case["headF32"]));
            let inner = h.mul_add(0.03125, p.mul_add(0.125, -0.0625));
            assert_eq!(inner.to_bits(), vectors::bits(&case["innerF32"]));
            let value = compose([p; 3], [h, h, h, 0.0], None, 1.0)[0];
            assert_eq!(value.to_bits(), vectors::bits(&case["valueF32"]), "{case}");
            let half = stored([value; 3])[0];
            assert_eq!(u32::from(half), vectors::bits(&case["publishedHalf"]));
            let byte = code(half::to_f32(half));
            assert_eq!(u64::from(byte), case["byte"].as_u64().unwrap());
        }
    }

    #[test]
    fn extreme_heads_stay_in_range() {
        assert_eq!(neural(0.5, f32::INFINITY), 1.0);
        assert_eq!(neural(0.5, f32::NEG_INFINITY), 0.0);
        assert_eq!(neural(0.5, f32::NAN), 0.0);
        assert_eq!(weight(f32::INFINITY, 0.5), 0.5);
        assert_eq!(weight(f32::NEG_INFINITY, 1.0), 0.0);
        assert_eq!(weight(f32::NAN, 1.0), 0.0);
        assert_eq!(weight(0.0, 3.0), 0.5);
        assert_eq!(weight(0.0, -1.0), 0.0);
    }
}
