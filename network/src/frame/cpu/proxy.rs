//! The display proxy of a scene colour, its centring, and the sRGB curves (frame sections 2 and 4).

use super::math::{exp, pow, saturate};
use crate::numerics::half;

/// Largest magnitude of a scene value that counts.
const LARGEST: u32 = 0x477f_e000; // 65504

/// A scene value without infinities, NaN, negative and overlarge numbers: all of these become +0.
pub fn clean(v: f32) -> f32 {
    // On the bits: the sign bit makes a negative pattern larger than any accepted one.
    if v.to_bits() <= LARGEST { v } else { 0.0 }
}

/// sRGB code value (0..=1) of a linear value, which is limited to 0..=1.
pub fn srgb_encode(x: f32) -> f32 {
    let c = saturate(x);
    if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * pow(c, 1.0 / 2.4) - 0.055 }
}

/// Linear value (0..=1) of an sRGB code value, which is limited to 0..=1.
pub fn srgb_decode(x: f32) -> f32 {
    let c = saturate(x);
    if c <= 0.04045 { c / 12.92 } else { pow((c + 0.055) / 1.055, 2.4) }
}

/// Compresses what is above 0.75 into 0.75..1.
pub fn shoulder(v: f32) -> f32 {
    if v > 0.75 { 0.75 + 0.25 * (1.0 - exp(-5.770_78 * (v - 0.75))) } else { v }
}

/// The display proxy of one scene channel, a half. `paper` is [`Parameters::paper`](crate::frame::Parameters::paper).
pub fn proxy(scene: f32, paper: f32) -> u16 {
    half::from_f32(srgb_encode(shoulder(clean(scene) / paper)))
}

/// The proxy of an 8-bit code: `code / 255` in f32.
pub fn proxy_of_code(code: u8) -> f32 {
    f32::from(code) / 255.0
}

/// A colour channel as the network takes it: `H(H(H(p) - 0.5) * 0.125)`.
pub fn centred(p: f32) -> u16 {
    let round = |x: f32| half::to_f32(half::from_f32(x));
    half::from_f32(round(round(p) - 0.5) * 0.125)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::cpu::vectors;
    use crate::frame::parameters::MIN_PAPER_WHITE;

    #[test]
    fn proxies_of_the_contract() {
        for case in vectors::load("frame")["proxy"].as_array().unwrap() {
            let number = |key: &str| case[key].as_f64().unwrap();
            let paper = (number("paperWhite") as f32).max(MIN_PAPER_WHITE);
            let linear = shoulder(clean(number("scene") as f32) / paper);
            if number("scene") / f64::from(paper) <= 1e6 {
                assert!((f64::from(linear) - number("shoulder")).abs() < 2e-7, "{case}");
            }
            assert!((f64::from(srgb_encode(linear)) - number("srgb")).abs() < 3e-7);
            let got = proxy(number("scene") as f32, paper);
            assert_eq!(u32::from(got), vectors::bits(&case["half"]), "{case}");
        }
    }

    #[test]
    fn centring_of_the_contract() {
        for case in vectors::load("frame")["centred"].as_array().unwrap() {
            let p = proxy_of_code(case["code8"].as_u64().unwrap() as u8);
            assert_eq!(p, vectors::float(&case["proxyF32"]));
            assert_eq!(u32::from(centred(p)), vectors::bits(&case["lane"]));
        }
    }

    #[test]
    fn unusable_scene_values_are_black() {
        for v in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, -0.0, 65505.0, -65504.0] {
            assert_eq!(clean(v).to_bits(), 0, "{v}");
            assert_eq!(proxy(v, 1.0), 0, "{v}");
        }
        assert_eq!(clean(65504.0), 65504.0);
        assert_eq!(proxy(65504.0, MIN_PAPER_WHITE), 0x3c00);
    }

    #[test]
    fn the_curves_are_inverse() {
        for i in 0..=1000 {
            let x = i as f32 * 0.001;
            assert!((srgb_decode(srgb_encode(x)) - x).abs() < 2e-6, "{x}");
        }
        assert_eq!((srgb_encode(-1.0), srgb_decode(2.0)), (0.0, 1.0));
        // 1.055 - 0.055 in f32.
        assert_eq!(srgb_encode(2.0), 0.999_999_94);
    }
}
