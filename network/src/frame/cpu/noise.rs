//! The three noise lanes (frame section 3).

use super::math;
use crate::numerics::half;

/// Natural logarithm of 2.
const LN_2: f32 = f32::from_bits(0x3f31_7218);
/// 2^-24.
const UNIT: f32 = f32::from_bits(0x3380_0000);
/// A full turn in radians.
const TURN: f32 = f32::from_bits(0x40c9_0fdb);

/// One step of the hash that both functions below share.
const fn scramble(v: u32) -> u32 {
    ((v >> ((v >> 28) + 4)) ^ v).wrapping_mul(0x108e_f2d9)
}

/// A number in 1..=2^24 that stands for a uniform value in (0, 1].
pub const fn uniform_integer(v: u32) -> u32 {
    let m = scramble(v);
    ((m >> 30) ^ (m >> 8)) + 1
}

/// A uniform value in (0, 1], a multiple of 2^-24.
fn uniform(v: u32) -> f32 {
    uniform_integer(v) as f32 * UNIT
}

/// Hash of a field pixel and a seed.
pub const fn base(x: u32, y: u32, seed: u32) -> u32 {
    let b = scramble(
        x.wrapping_mul(0x8da6_b343) ^ y.wrapping_mul(0xd816_3841) ^ seed.wrapping_mul(0x9e37_79b9) ^ 0x243f_6a88,
    );
    (b >> 22) ^ b
}

/// The four hashes from which the uniform values of a pixel come.
pub const fn hashes(base: u32) -> [u32; 4] {
    [
        base.wrapping_mul(0x2c92_77b5).wrapping_add(0xac56_4b05),
        base.wrapping_mul(0xfa6d_c5f9).wrapping_add(0x4712_a88e),
        base.wrapping_mul(0xcaa5_b80d).wrapping_add(0x21dd_796b),
        base.wrapping_mul(0x8323_2c31).wrapping_add(0x3463_e0ac),
    ]
}

/// Lanes 0 to 2 of a field pixel: halves with a standard normal distribution.
pub fn lanes(x: u32, y: u32, seed: u32) -> [u16; 3] {
    let u = hashes(base(x, y, seed)).map(uniform);
    let radius = |u: f32| ((math::log2_precise(u) * LN_2) * -2.0).sqrt();
    let (r0, r1) = (radius(u[0]), radius(u[2]));
    let (cos0, sin0) = math::circle(u[1] * TURN);
    let (cos1, _) = math::circle(u[3] * TURN);
    [r0 * cos0, r0 * sin0, r1 * cos1].map(half::from_f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::cpu::vectors;

    #[test]
    fn cases_of_the_contract() {
        let vectors = vectors::load("noise");
        for case in vectors["cases"].as_array().unwrap() {
            let n = |key: &str| case[key].as_u64().unwrap() as u32;
            let b = base(n("x"), n("y"), n("seed"));
            assert_eq!(b, vectors::bits(&case["base"]));
            let integers = hashes(b).map(uniform_integer);
            let want = vectors::numbers(&case["integers"]);
            assert_eq!(integers.map(f64::from).as_slice(), want);
            for (hash, bits) in hashes(b).into_iter().zip(case["uBits"].as_array().unwrap()) {
                assert_eq!(uniform(hash).to_bits(), vectors::bits(bits));
            }
            // The nearest of these reals to a rounding boundary is 0.014 half steps away: far more than the error.
            for (lane, want) in lanes(n("x"), n("y"), n("seed")).into_iter().zip(case["half"].as_array().unwrap()) {
                assert_eq!(u32::from(lane), vectors::bits(want), "{case}");
            }
        }
    }

    #[test]
    fn the_largest_uniform_value_is_harmless() {
        assert_eq!(uniform_integer(0), 1);
        let radius = ((math::log2_precise(1.0) * LN_2) * -2.0).sqrt();
        assert_eq!(radius.to_bits(), (-0f32).to_bits());
    }
}
