//! Elementary functions built from f32 additions, multiplications, divisions and square roots alone.
//!
//! The frame contract leaves `exp`, `log2`, `sin`, `cos` and `pow` to the device, and devices disagree. Here they are
//! spelled out, operation by operation, and the shaders spell the same operations (`frame/math.glsl`), so that a frame has
//! the same bits on every device and on the CPU. Errors are within two units in the last place of f32, and within 0.6 and 0.8 for
//! [`log2_precise`] and [`circle`], which the noise lanes use. The coefficients are our own minimax fits.

use std::f32::consts::LOG2_E;

/// `x` limited to 0..=1; NaN and -0 become +0.
pub fn saturate(x: f32) -> f32 {
    if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 }
}

/// Adding and subtracting this rounds a float of magnitude below 2^22 to an integer, ties to even.
const ROUND: f32 = 12_582_912.0;

/// `x = m * 2^k` with `m` in sqrt(1/2)..sqrt(2); returns `(m - 1, k)`. `x` is positive and normal.
fn split(x: f32) -> (f32, f32) {
    let offset = x.to_bits().wrapping_sub(0x3f35_04f3);
    let k = (offset as i32) >> 23;
    let m = f32::from_bits((offset & 0x7f_ffff) + 0x3f35_04f3);
    (m - 1.0, k as f32)
}

/// Base 2 logarithm; minus infinity below the smallest normal number.
pub fn log2(x: f32) -> f32 {
    if x < f32::MIN_POSITIVE {
        return f32::NEG_INFINITY;
    }
    const Q: [u32; 10] = [
        0xbda5_0a7f,
        0x3e27_d608,
        0xbe45_d873,
        0x3e55_cb16,
        0xbe75_8c20,
        0x3e93_9d49,
        0xbeb8_ab64,
        0x3ef6_3902,
        0xbf38_aa3b,
        0x3fb8_aa3b,
    ];
    let (f, k) = split(x);
    k + f * horner(f, &Q)
}

/// Base 2 logarithm of `x` in 2^-126..=1, within 0.6 units in the last place.
pub fn log2_precise(x: f32) -> f32 {
    // log2(1 + f) = s * (2/ln 2 + z * P(z)), s = f / (2 + f), z = s * s; s and the constant carry a low part.
    const P: [u32; 3] = [0x3edc_9f57, 0x3f13_a650, 0x3f76_3869];
    const HI: f32 = f32::from_bits(0x4038_aa3b);
    const LO: f32 = f32::from_bits(0x3325_7060);
    let (f, k) = split(x);
    let d = 2.0 + f;
    let d_lo = f - (d - 2.0);
    let s = f / d;
    let rest = (-s).mul_add(d, f) - s * d_lo;
    let s_lo = rest * (0.5 - f * (0.25 - f * 0.125));
    let z = s * s;
    let high = s * HI;
    let low = s.mul_add(HI, -high) + (s_lo * HI + s * (LO + z * horner(z, &P)));
    let sum = k + high;
    sum + ((high - (sum - k)) + low)
}

/// `2^y`; infinite from 128 up and for NaN, zero below -126.
pub fn exp2(y: f32) -> f32 {
    if y < -126.0 {
        return 0.0;
    }
    if y < 128.0 {
        const G: [u32; 6] = [0x3922_23d8, 0x3aaf_84b0, 0x3c1d_9514, 0x3d63_57bd, 0x3e75_fdf0, 0x3f31_7218];
        let n = (y + ROUND) - ROUND;
        let f = y - n;
        let p = 1.0 + f * horner(f, &G);
        return f32::from_bits(p.to_bits().wrapping_add((n as i32 as u32) << 23));
    }
    f32::INFINITY
}

/// `e^x`.
pub fn exp(x: f32) -> f32 {
    exp2(x * LOG2_E)
}

/// `x^y` of a base that is not negative; `y` is positive.
pub fn pow(x: f32, y: f32) -> f32 {
    exp2(log2(x) * y)
}

/// Cube root with the sign of `x`.
pub fn cube_root(x: f32) -> f32 {
    let root = exp2(log2(x.abs()) * f32::from_bits(0x3eaa_aaab));
    if x < 0.0 { -root } else { root }
}

/// Cosine and sine of an angle in 0..=2 pi radians.
pub fn circle(angle: f32) -> (f32, f32) {
    // Quarter turn in three parts; the first two have 20 significant bits, so their multiples up to 4 are exact.
    const QUARTER: [f32; 3] = [f32::from_bits(0x3fc9_0fe0), f32::from_bits(0xb52b_bbd0), f32::from_bits(0xaa39_ee5a)];
    const TURNS: f32 = f32::from_bits(0x3f22_f983); // 2 / pi
    let n = (angle * TURNS + ROUND) - ROUND;
    let high = angle - n * QUARTER[0];
    let middle = n * QUARTER[1];
    let r = high - middle;
    let r_lo = ((high - r) - middle) - n * QUARTER[2];

    const S: [u32; 4] = [0x363e_0f1a, 0xb950_2c9e, 0x3c08_88ba, 0xbe2a_aaab];
    const C: [u32; 3] = [0x37cc_f072, 0xbab6_060d, 0x3d2a_aaa5];
    let z = r * r;
    let z_lo = r.mul_add(r, -z);
    let half = 0.5 * z;
    let sine = r + (r * (z * horner(z, &S)) + r_lo * (1.0 - half));
    let one = 1.0 - half;
    let tail = z * (z * horner(z, &C)) - r * r_lo;
    let cosine = one + (((1.0 - one) - half) + (tail - 0.5 * z_lo));
    match n as i32 & 3 {
        0 => (cosine, sine),
        1 => (-sine, cosine),
        2 => (-cosine, -sine),
        _ => (sine, -cosine),
    }
}

/// Polynomial with coefficients given as bits, highest power first.
fn horner(x: f32, coefficients: &[u32]) -> f32 {
    let mut sum = f32::from_bits(coefficients[0]);
    for &c in &coefficients[1..] {
        sum = sum * x + f32::from_bits(c);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Error of `got` against the real value, in units in its last place.
    fn ulps(got: f32, want: f64) -> f64 {
        let exponent = (want.abs().log2().floor() as i32).max(-126);
        (f64::from(got) - want).abs() / 2f64.powi(exponent - 23)
    }

    /// Floats spread over the range of bit patterns `from..to`.
    fn spread(from: f32, to: f32, steps: u32) -> impl Iterator<Item = f32> {
        let (a, b) = (from.to_bits(), to.to_bits());
        (0..=steps).map(move |i| f32::from_bits(a + (u64::from(b - a) * u64::from(i) / u64::from(steps)) as u32))
    }

    #[test]
    fn logarithms() {
        let (mut worst, mut precise) = (0f64, 0f64);
        for x in spread(1e-30, 1e6, 1_000_003) {
            if x == 1.0 {
                continue;
            }
            let want = f64::from(x).log2();
            worst = worst.max(ulps(log2(x), want));
            if x < 1.0 {
                precise = precise.max(ulps(log2_precise(x), want));
            }
        }
        assert!(worst < 3.0, "{worst}");
        assert!(precise < 0.6, "{precise}");
        assert_eq!(log2(1.0).to_bits(), 0);
        assert_eq!(log2_precise(1.0).to_bits(), 0);
        assert_eq!(log2(0.0), f32::NEG_INFINITY);
    }

    #[test]
    fn noise_arguments_of_the_logarithm() {
        // Every 61st of the 2^24 arguments that the noise can have, and those next to 1.
        let arguments = (1..1 << 24).step_by(61).chain((1 << 24) - 1000..1 << 24).map(|n| n as f32 * 2f32.powi(-24));
        for u in arguments {
            assert!(ulps(log2_precise(u), f64::from(u).log2()) < 0.6, "{u}");
        }
    }

    #[test]
    fn exponentials() {
        let mut worst = 0f64;
        for i in -126 * 1024..128 * 1024 {
            let y = i as f32 / 1024.0;
            worst = worst.max(ulps(exp2(y), f64::from(y).exp2()));
        }
        assert!(worst < 1.0, "{worst}");
        assert_eq!(exp2(0.0), 1.0);
        assert_eq!(exp2(-3.0), 0.125);
        assert_eq!(exp2(-126.0), f32::MIN_POSITIVE);
        assert_eq!(exp2(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp2(128.0), f32::INFINITY);
        assert_eq!(exp2(f32::NAN), f32::INFINITY);
        assert!((exp(-1.0) - (-1f32).exp()).abs() < 1e-7);
    }

    #[test]
    fn circles() {
        let mut worst = 0f64;
        for i in 0..=1_000_000u32 {
            let angle = i as f32 * 1e-6 * std::f32::consts::TAU;
            let (cosine, sine) = circle(angle);
            let (want_sine, want_cosine) = f64::from(angle).sin_cos();
            worst = worst.max(ulps(cosine, want_cosine));
            if i > 0 {
                worst = worst.max(ulps(sine, want_sine));
            }
        }
        assert!(worst < 0.8, "{worst}");
        assert_eq!(circle(0.0), (1.0, 0.0));
    }

    #[test]
    fn roots_and_powers() {
        for x in spread(1e-9, 1e8, 100_003) {
            assert!(ulps(cube_root(x), f64::from(x).cbrt()) < 12.0, "{x}");
        }
        assert_eq!(cube_root(0.0), 0.0);
        assert!((cube_root(-8.0) + 2.0).abs() < 1e-6);
        assert!((pow(0.5, 2.4) - 0.5f32.powf(2.4)).abs() < 1e-7);
        assert_eq!(pow(0.0, 2.4), 0.0);
        assert_eq!(saturate(f32::NAN).to_bits(), 0);
        assert_eq!(saturate(-0.0).to_bits(), 0);
        assert_eq!((saturate(0.25), saturate(f32::INFINITY)), (0.25, 1.0));
    }
}
