//! Vector forms of the contract's elementary steps.
//!
//! A lane holds a half as the f32 of the same value, so that loops over many lanes compile to vector code. Every function
//! is a branch-free form of the one named in its comment and is tested against it bit for bit; the definition stays in
//! [`crate::numerics`].

use crate::numerics::{exponential, half, silu};

/// `to[i] = f(from[i])`; a plain loop, which vectorizes where the array's own `map` does not.
#[inline(always)]
pub fn map<A: Copy, B, const N: usize>(from: &[A; N], to: &mut [B; N], f: impl Fn(A) -> B) {
    for i in 0..N {
        to[i] = f(from[i]);
    }
}

/// `to[i] = f(to[i])`.
#[inline(always)]
pub fn apply<A: Copy, const N: usize>(to: &mut [A; N], f: impl Fn(A) -> A) {
    for x in to {
        *x = f(*x);
    }
}

/// f32 bits of infinity.
const INFINITY: u32 = 0x7f80_0000;
/// f32 bits of the canonical NaN.
const NAN: u32 = 0x7fc0_0000;
/// f32 bits of 2^-14, the smallest normal half.
const SMALLEST_NORMAL: u32 = (127 - 14) << 23;
/// f32 bits of 65536, one step past the largest half.
const OVERFLOW: u32 = (127 + 16) << 23;
/// f32 sign bit.
const SIGN: u32 = 1 << 31;

/// `2^e` for a normal f32 exponent.
#[inline(always)]
pub fn power(e: i32) -> f32 {
    f32::from_bits(((e + 127) as u32) << 23)
}

/// Exponent field of an f32, without bias: -127 for zero, 128 for infinity and NaN.
#[inline(always)]
pub fn exponent(x: f32) -> i32 {
    (x.to_bits() >> 23 & 255) as i32 - 127
}

/// Rounds away the 13 low significand bits, ties to even; `magnitude` is not a NaN.
#[inline(always)]
fn round_significand(magnitude: u32) -> u32 {
    (magnitude + 0xfff + (magnitude >> 13 & 1)) & !0x1fff
}

/// Nearest half of an f32 that is zero, a half, or at least 2^-14; not a NaN (`half::from_f32`).
#[inline(always)]
pub fn round_normal(x: f32) -> f32 {
    let bits = x.to_bits();
    let rounded = round_significand(bits & !SIGN);
    let magnitude = if rounded as i32 >= OVERFLOW as i32 { INFINITY } else { rounded };
    f32::from_bits(bits & SIGN | magnitude)
}

/// Nearest half of any f32; NaN becomes the canonical NaN (`half::from_f32`).
#[inline(always)]
pub fn round(x: f32) -> f32 {
    let bits = x.to_bits();
    let magnitude = bits & !SIGN;
    // 0.5 has a unit in the last place of 2^-24, the grid of subnormal halves.
    let small = ((f32::from_bits(magnitude) + 0.5) - 0.5).to_bits();
    let normal = round_significand(magnitude);
    let rounded = if (magnitude as i32) < SMALLEST_NORMAL as i32 { small } else { normal };
    let rounded = if rounded as i32 >= OVERFLOW as i32 { INFINITY } else { rounded };
    f32::from_bits(if magnitude as i32 > INFINITY as i32 { NAN } else { bits & SIGN | rounded })
}

/// `half::add`.
#[inline(always)]
pub fn add(a: f32, b: f32) -> f32 {
    round(a + b)
}

/// `half::mul`; also `multiply::seed`.
#[inline(always)]
pub fn mul(a: f32, b: f32) -> f32 {
    round(a * b)
}

/// `half::fma`: the f32 sum rounded to odd by the error of the two-sum, then to half.
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    let p = a * b;
    let sum = p + c;
    let c_part = sum - p;
    let error = (p - (sum - c_part)) + (c - c_part);
    let bits = sum.to_bits();
    // Toward the error: away from zero when it has the sum's sign. An infinite or NaN sum has a NaN error and stays.
    let away = (error.to_bits() ^ bits) as i32 >= 0;
    let moved = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    let inexact = error.abs() > 0.0; // false for NaN
    round(f32::from_bits(if inexact && bits & 1 == 0 { moved } else { bits }))
}

/// `root::reciprocal`.
#[inline(always)]
pub fn reciprocal(x: f32) -> f32 {
    round(1.0 / x)
}

/// `root::reciprocal_sqrt`. The errors of the f32 root and quotient stay within the margin of numerics section 7.
#[inline(always)]
pub fn reciprocal_sqrt(x: f32) -> f32 {
    round(1.0 / x.sqrt())
}

/// `half::to_f32`; NaN becomes the canonical NaN.
#[inline(always)]
pub fn from_half(h: u16) -> f32 {
    let sign = (h as u32 & 0x8000) << 16;
    let magnitude = h as u32 & 0x7fff;
    let small = magnitude as i32 as f32 * power(-24);
    let normal = (magnitude << 13) + (112 << 23);
    let value = if magnitude < 0x400 { small.to_bits() } else { normal };
    let special = if magnitude > 0x7c00 { NAN } else { INFINITY };
    let value = if magnitude >= 0x7c00 { special } else { value };
    f32::from_bits(if magnitude > 0x7c00 { NAN } else { sign | value })
}

/// Bits of a lane's half; NaN becomes `half::NAN`.
#[inline(always)]
pub fn to_half(x: f32) -> u16 {
    let bits = x.to_bits();
    let magnitude = bits & !SIGN;
    // Adding 0.5 leaves a subnormal's significand in the low bits.
    let small = (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits();
    let normal = (magnitude >> 13).wrapping_sub(112 << 10);
    let value = if (magnitude as i32) < SMALLEST_NORMAL as i32 { small } else { normal };
    let value = if magnitude as i32 >= INFINITY as i32 { 0x7c00 } else { value };
    (if magnitude as i32 > INFINITY as i32 { 0x7e00 } else { bits >> 16 & 0x8000 | value }) as u16
}

/// `e4m3::to_f32`.
#[inline(always)]
pub fn from_code(code: u8) -> f32 {
    let magnitude = code as u32 & 0x7f;
    let small = magnitude as i32 as f32 * power(-9);
    let normal = (magnitude << 20) + (120 << 23);
    let value = if magnitude < 8 { small.to_bits() } else { normal };
    let sign = (code as u32 & 0x80) << 24;
    f32::from_bits(if magnitude == 0x7f { 0 } else { sign | value })
}

/// Stands for the exponent of a zero operand: no sum with it comes near a sum of two nonzero operands.
pub const ZERO_EXPONENT: i8 = -64;

/// Operand exponent of a code (`multiply::split_code`); [`ZERO_EXPONENT`] for zero and NaN codes.
#[inline(always)]
pub fn code_exponent(code: u8) -> i8 {
    let magnitude = code & 0x7f;
    let normal = (magnitude >> 3) as i8 - 7;
    let value = if magnitude < 8 { -6 } else { normal };
    if magnitude == 0 || magnitude == 0x7f { ZERO_EXPONENT } else { value }
}

/// `e4m3::encode` of a lane's half.
#[inline(always)]
pub fn to_code(x: f32) -> u8 {
    let bits = x.to_bits();
    let magnitude = bits & !SIGN;
    // 2^14 has a unit in the last place of 2^-9, the grid of subnormal codes.
    let small = (f32::from_bits(magnitude) + 16384.0).to_bits() - 16384f32.to_bits();
    let normal = (magnitude + 0x7_ffff + (magnitude >> 20 & 1)) >> 20;
    let normal = (normal as i32 - (120 << 3)).min(0x7e) as u32;
    let value = if (magnitude as i32) < (127 - 6) << 23 { small } else { normal };
    let code = bits >> 24 & 0x80 | value;
    (if magnitude as i32 > INFINITY as i32 { 0 } else { code }) as u8
}

/// `silu::silu`. The products are exact in f32, so each line rounds once (numerics section 5).
#[inline(always)]
pub fn silu(x: f32) -> f32 {
    const A: f32 = half::to_f32(silu::A);
    const B: f32 = half::to_f32(silu::B);
    const C: f32 = half::to_f32(silu::C);
    let b = x.clamp(-4.0, 4.0);
    let i = round(A * b.abs() + B);
    let p = round(b * i + C);
    mul(x, p)
}

/// `exponential::exp_window`; the score is not a NaN.
#[inline(always)]
pub fn exp_window(score: f32) -> f32 {
    const LOW: f32 = half::to_f32(exponential::WINDOW_CLAMP[0]);
    const HIGH: f32 = half::to_f32(exponential::WINDOW_CLAMP[1]);
    let a = round(score * exponential::WINDOW_SLOPE + exponential::WINDOW_OFFSET);
    move_to_exponent(a.clamp(LOW, HIGH), 5, 0x8000)
}

/// `exponential::exp_vit`; the score is not a NaN. For the clamped range the f32 affine rounds to the half fma's result
/// (numerics section 8).
#[inline(always)]
pub fn exp_vit(score: f32) -> f32 {
    const SLOPE: f32 = half::to_f32(exponential::VIT_SLOPE);
    const OFFSET: f32 = half::to_f32(exponential::VIT_OFFSET);
    const LOW: f32 = half::to_f32(exponential::VIT_CLAMP[0]);
    const HIGH: f32 = half::to_f32(exponential::VIT_CLAMP[1]);
    move_to_exponent(round(score * SLOPE + OFFSET).clamp(LOW, HIGH), 4, 0x4000)
}

/// Half bits of `a` in [1, 2), shifted left and offset mod 2^16; the result is a positive normal half.
#[inline(always)]
fn move_to_exponent(a: f32, shift: u32, offset: u32) -> f32 {
    let half = (a.to_bits() >> 13).wrapping_sub(112 << 10);
    let moved = (half << shift).wrapping_add(offset) & 0xffff;
    f32::from_bits((moved << 13) + (112 << 23))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::{Random, STEP, cases};
    use crate::numerics::{e4m3, multiply, root};

    fn same(lane: f32, bits: u16) -> bool {
        to_half(lane) == bits
    }

    fn canonical(h: u16) -> u16 {
        if half::is_nan(h) { half::NAN } else { h }
    }

    #[test]
    fn every_half_and_code_converts() {
        for h in (0..=u16::MAX).step_by(STEP) {
            assert!(same(from_half(h), canonical(h)), "{h:04x}");
            if !half::is_nan(h) {
                assert_eq!(from_half(h).to_bits(), half::to_f32(h).to_bits());
            }
            assert_eq!(to_code(from_half(h)), e4m3::encode(h), "{h:04x}");
            assert_eq!(round(from_half(h)).to_bits(), from_half(h).to_bits());
        }
        for code in 0..=255u8 {
            assert_eq!(from_code(code).to_bits(), e4m3::to_f32(code).to_bits(), "{code:02x}");
            let (significand, exponent) = multiply::split_code(code);
            let want = if significand == 0 { ZERO_EXPONENT } else { exponent as i8 };
            assert_eq!(code_exponent(code), want, "{code:02x}");
        }
    }

    #[test]
    fn rounding_matches_the_definition() {
        let mut random = Random::new(11);
        for _ in 0..cases(4_000_000) {
            // Random exponents around the half range, and significands near ties.
            let near = [0, 0x0fff, 0x1000, 0x1001, 0x1fff][random.next() as usize % 5];
            let bits = random.next() & 0x8000_0000
                | (random.next() % 60 + 95) << 23
                | (random.next() & 0x7f_e000)
                | if random.next() & 1 == 0 { near } else { random.next() & 0x1fff };
            let x = f32::from_bits(bits);
            assert!(same(round(x), half::from_f32(x)), "{bits:08x}");
            if x.abs() >= power(-14) {
                assert!(same(round_normal(x), half::from_f32(x)), "{bits:08x}");
            }
        }
        for bits in [0, SIGN, INFINITY, INFINITY | SIGN, NAN, 0x7fff_ffff, 0xffff_ffff, 0x7f7f_ffff, 1] {
            let x = f32::from_bits(bits);
            assert!(same(round(x), canonical(half::from_f32(x))), "{bits:08x}");
        }
    }

    #[test]
    fn arithmetic_matches_the_definition() {
        let mut random = Random::new(12);
        for _ in 0..cases(2_000_000) {
            let (a, b) = (random.next() as u16, random.next() as u16);
            let (x, y) = (from_half(a), from_half(b));
            assert!(same(add(x, y), half::add(a, b)), "{a:04x} + {b:04x}");
            assert!(same(mul(x, y), half::mul(a, b)), "{a:04x} * {b:04x}");
            let c = random.next() as u16;
            assert!(same(fma(x, y, from_half(c)), half::fma(a, b, c)), "{a:04x} * {b:04x} + {c:04x}");
        }
    }

    #[test]
    fn functions_match_for_every_half() {
        for h in (0..=u16::MAX).step_by(STEP).filter(|&h| !half::is_nan(h)) {
            let x = from_half(h);
            assert!(same(silu(x), silu::silu(h)), "{h:04x}");
            assert!(same(exp_window(x), exponential::exp_window(h)), "{h:04x}");
            assert!(same(exp_vit(x), exponential::exp_vit(h)), "{h:04x}");
            assert!(same(reciprocal(x), root::reciprocal(h)), "{h:04x}");
            if h <= half::INFINITY {
                assert!(same(reciprocal_sqrt(x), root::reciprocal_sqrt(h)), "{h:04x}");
            }
        }
        assert_eq!(to_code(silu(f32::NAN)), 0);
    }
}
