//! IEEE binary16 on bit patterns (numerics section 1.1): subnormals kept, nearest even, 65520 and more is infinite.
//!
//! Arithmetic takes the exact real result and rounds it once. A NaN result is always [`NAN`], so that results are the
//! same bits on every machine.

/// Sign bit.
pub const SIGN: u16 = 0x8000;
/// Positive infinity.
pub const INFINITY: u16 = 0x7c00;
/// The NaN that arithmetic returns.
pub const NAN: u16 = 0x7e00;

/// Whether the half is a NaN of either sign.
pub const fn is_nan(h: u16) -> bool {
    h & 0x7fff > INFINITY
}

/// Whether the half is neither infinite nor NaN.
pub const fn is_finite(h: u16) -> bool {
    h & INFINITY != INFINITY
}

/// `round(v / 2^n)`, ties to even.
const fn shift_rne(v: u32, n: u32) -> u32 {
    if n == 0 {
        return v;
    }
    if n > 31 {
        // v / 2^n is at most one half, and one half ties to the even zero; callers keep v <= 2^31.
        return 0;
    }
    let (q, rem, tie) = (v >> n, v & ((1 << n) - 1), 1 << (n - 1));
    q + (rem > tie || (rem == tie && q & 1 == 1)) as u32
}

/// Converts f32 bits, rounding the significand with `round`.
const fn convert(u: u32, nearest: bool) -> u16 {
    let sign = (u >> 16) as u16 & SIGN;
    let e = (u >> 23 & 255) as i32;
    let m = u & 0x7f_ffff;
    if e == 255 {
        return sign | if m != 0 { NAN } else { INFINITY };
    }
    let he = e - 112; // biased half exponent
    if he >= 31 {
        return sign | INFINITY;
    }
    if he <= 0 {
        if he < -10 {
            return sign; // below 2^-25
        }
        let (v, n) = (m | 0x80_0000, (14 - he) as u32);
        return sign | if nearest { shift_rne(v, n) } else { v >> n } as u16;
    }
    let r = if nearest { shift_rne(m, 13) } else { m >> 13 };
    // A carry out of the significand moves to the next exponent, and from 65520 to infinity, by the addition itself.
    sign | (((he as u32) << 10) + r) as u16
}

/// Nearest half of an f32, ties to even, in one step; NaN keeps its sign.
pub const fn from_f32(x: f32) -> u16 {
    convert(x.to_bits(), true)
}

/// Half of an f32 rounded toward zero. Only the composed image uses this (frame section 6).
pub const fn from_f32_truncated(x: f32) -> u16 {
    convert(x.to_bits(), false)
}

/// The exact f32 value of a half.
pub const fn to_f32(h: u16) -> f32 {
    let sign = ((h & SIGN) as u32) << 16;
    let magnitude = (h & 0x7fff) as u32;
    if magnitude >= INFINITY as u32 {
        return f32::from_bits(sign | 0x7f80_0000 | (magnitude & 0x3ff) << 13);
    }
    // Read as f32 bits the magnitude is the value times 2^-112; the product is exact, subnormals included.
    let scaled = f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23);
    f32::from_bits(sign | scaled.to_bits())
}

/// `u * 2^exponent` rounded once to half, straight from the integer; zero is +0, a negative underflow is -0.
pub const fn from_fixed(u: i32, exponent: i32) -> u16 {
    if u == 0 {
        return 0;
    }
    let sign = if u < 0 { SIGN } else { 0 };
    let m = u.unsigned_abs();
    let top = 31 - m.leading_zeros() as i32; // position of the leading bit
    let e = top + exponent; // exponent of the value
    if e > 15 {
        return sign | INFINITY;
    }
    // Eleven significand bits, or the 2^-24 grid for subnormals. The hidden bit adds one to the exponent field.
    let (drop, field) = if e >= -14 { (top - 10, (e + 14) as u32) } else { (-24 - exponent, 0) };
    let q = if drop > 0 { shift_rne(m, drop as u32) } else { m << -drop };
    sign | ((field << 10) + q) as u16
}

/// Rounds the f32 result of an operation.
const fn round(x: f32) -> u16 {
    if x.is_nan() { NAN } else { from_f32(x) }
}

/// Half addition. The f32 sum cannot spoil the second rounding: 24 bits are at least 2 * 11 + 2, and sums below the
/// normal range are exact.
pub const fn add(a: u16, b: u16) -> u16 {
    round(to_f32(a) + to_f32(b))
}

/// Half subtraction.
pub const fn sub(a: u16, b: u16) -> u16 {
    round(to_f32(a) - to_f32(b))
}

/// Half multiplication; the product of two halves is exact in f32.
pub const fn mul(a: u16, b: u16) -> u16 {
    round(to_f32(a) * to_f32(b))
}

/// Fused multiply-add `a * b + c`, rounded once.
///
/// The product is exact in f32. The sum is first rounded *to odd* (a sticky last bit that says whether anything was
/// lost), which makes the following rounding to half the rounding of the exact sum.
pub const fn fma(a: u16, b: u16, c: u16) -> u16 {
    let (p, c) = (to_f32(a) * to_f32(b), to_f32(c));
    let sum = p + c;
    if !sum.is_finite() {
        return round(sum);
    }
    // Two-sum: `sum + error` is exactly `p + c`.
    let c_part = sum - p;
    let error = (p - (sum - c_part)) + (c - c_part);
    let mut bits = sum.to_bits();
    if error != 0.0 && bits & 1 == 0 {
        // The exact value lies strictly between `sum` and its neighbour on the error's side, which is odd. `sum` is not
        // zero: a zero f32 sum is exact.
        bits = if (error > 0.0) == (sum > 0.0) { bits + 1 } else { bits - 1 };
    }
    from_f32(f32::from_bits(bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::{Random, STEP, bits, cases, load};

    /// `n * 2^-48` rounded to half, from an exact integer: independent of the f32 paths.
    fn from_exact(n: i128) -> u16 {
        let sign = if n < 0 { SIGN } else { 0 };
        let m = n.unsigned_abs();
        let mut best = (u128::MAX, 0u16);
        // Candidates: the two halves around the magnitude, found by bisection over the ordered bit patterns; 2^16 stands
        // in for infinity.
        let value = |h: u16| -> u128 {
            let (e, m) = (h >> 10, (h & 1023) as u128);
            if e == 0 { m << 24 } else { (1024 + m) << (23 + e) }
        };
        let (mut lo, mut hi) = (0u16, INFINITY);
        while hi - lo > 1 {
            let mid = lo + (hi - lo) / 2;
            if value(mid) <= m { lo = mid } else { hi = mid }
        }
        for h in [lo, hi] {
            let distance = value(h).abs_diff(m);
            if distance < best.0 || (distance == best.0 && h & 1 == 0) {
                best = (distance, h);
            }
        }
        if m >= value(INFINITY) { sign | INFINITY } else { sign | best.1 }
    }

    /// A finite half as an integer multiple of 2^-24.
    fn exact(h: u16) -> i128 {
        let (e, m) = ((h >> 10) & 31, (h & 1023) as i128);
        let v = if e == 0 { m } else { (1024 + m) << (e - 1) };
        if h & SIGN != 0 { -v } else { v }
    }

    #[test]
    fn conversions_match_the_vectors() {
        for s in load("f16_from_f32")["samples"].as_array().unwrap() {
            let x = f32::from_bits(bits(&s["f32"]));
            assert_eq!(from_f32(x) as u32, bits(&s["rne"]), "{s}");
            assert_eq!(from_f32_truncated(x) as u32, bits(&s["trunc"]), "{s}");
        }
    }

    #[test]
    fn every_half_survives_f32() {
        for h in (0..=u16::MAX).step_by(STEP) {
            assert_eq!(to_f32(h).to_bits(), ::half::f16::from_bits(h).to_f32_const().to_bits() & nan_mask(h));
            if !is_nan(h) {
                assert_eq!(from_f32(to_f32(h)), h);
                assert_eq!(from_f32_truncated(to_f32(h)), h);
            }
        }
    }

    /// The `half` crate sets the quiet bit of a signalling NaN; ignore that bit.
    fn nan_mask(h: u16) -> u32 {
        if is_nan(h) && h & 0x200 == 0 { !0x40_0000 } else { !0 }
    }

    #[test]
    fn conversion_is_nearest_even_around_every_half() {
        for h in (0..INFINITY).step_by(STEP) {
            let (x, next) = (to_f32(h), to_f32(h + 1));
            let next = if h + 1 == INFINITY { 65536.0 } else { next };
            let middle = (x + next) / 2.0;
            let even = if h & 1 == 0 { h } else { h + 1 };
            assert_eq!(from_f32(middle), even);
            assert_eq!(from_f32(f32::from_bits(middle.to_bits() - 1)), h);
            assert_eq!(from_f32(f32::from_bits(middle.to_bits() + 1)), h + 1);
            assert_eq!(from_f32_truncated(f32::from_bits(next.to_bits() - 1)), h);
        }
    }

    #[test]
    fn arithmetic_rounds_the_exact_result_once() {
        let mut random = Random::new(1);
        for _ in 0..cases(2_000_000) {
            let [a, b, c] = [random.half(), random.half(), random.half()];
            let zero = |n: i128, r: u16| if n == 0 { r & 0x7fff } else { r };
            let sum = exact(a) + exact(b);
            assert_eq!(zero(sum, add(a, b)), from_exact(sum << 24), "{a:04x} + {b:04x}");
            let difference = exact(a) - exact(b);
            assert_eq!(zero(difference, sub(a, b)), from_exact(difference << 24), "{a:04x} - {b:04x}");
            let product = exact(a) * exact(b);
            assert_eq!(zero(product, mul(a, b)), from_exact(product), "{a:04x} * {b:04x}");
            let fused = product + (exact(c) << 24);
            assert_eq!(zero(fused, fma(a, b, c)), from_exact(fused), "{a:04x} * {b:04x} + {c:04x}");
        }
    }

    #[test]
    fn fma_rounds_once_where_f32_would_round_twice() {
        for s in load("cosnorm_window")["fmaDoubleRounding"].as_array().unwrap() {
            let (a, c) = (bits(&s["a"]) as u16, bits(&s["c"]) as u16);
            assert_eq!(fma(a, a, c) as u32, bits(&s["fma"]));
        }
    }

    #[test]
    fn fixed_point_rounds_like_the_exact_value() {
        let mut random = Random::new(2);
        for _ in 0..cases(1_000_000) {
            let u = (random.next() as i32) >> (random.next() % 31);
            let exponent = (random.next() % 50) as i32 - 45;
            let exact = if exponent >= -48 { (u as i128) << (exponent + 48) } else { 0 };
            assert_eq!(from_fixed(u, exponent), from_exact(exact), "{u} * 2^{exponent}");
        }
    }

    #[test]
    fn special_values() {
        assert_eq!(add(INFINITY, INFINITY | SIGN), NAN);
        assert_eq!(mul(INFINITY, 0), NAN);
        assert_eq!(mul(0x8000, 0x3c00), 0x8000);
        assert_eq!(add(0x8000, 0x8000), 0x8000);
        assert_eq!(add(0x3c00, 0xbc00), 0);
        assert_eq!(fma(0x7bff, 0x7bff, 0xfc00), 0xfc00);
        assert_eq!(fma(INFINITY, 0x3c00, 0xfc00), NAN);
        assert_eq!(from_fixed(-1, -40), 0x8000);
        assert_eq!(from_fixed(1023, -24), 0x03ff);
        assert_eq!(from_fixed(4095, -26), 0x0400);
    }
}
