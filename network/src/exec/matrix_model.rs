//! What the matrix form of the kernels computes, on a model of the unit that it relies on (shaders/glsl/include/f13_matrix.glsl).

use crate::numerics::half;
use crate::numerics::multiply::{group13, split_half};

/// Bits below the largest exponent at which the unit truncates.
const UNIT_BITS: i32 = 25;

/// Sign and magnitude shifted, toward zero.
fn shift(v: i64, n: i32) -> i64 {
    if n >= 0 { v << n } else { v.signum() * (v.abs() >> (-n).min(63)) }
}

/// `x` as significand and exponent, zero as nothing.
fn split(x: f32) -> Option<(i64, i32)> {
    let (bits, sign) = (x.to_bits() & 0x7fff_ffff, if x < 0.0 { -1 } else { 1 });
    let exponent = (bits >> 23).max(1) as i32 - 127;
    let significand = i64::from(bits & 0x7f_ffff) | if bits >> 23 > 0 { 1 << 23 } else { 0 };
    (bits != 0).then_some((sign * significand, exponent))
}

/// Sixteen products and a sum, each truncated 25 bits below the largest exponent, then the sum truncated to f32.
fn unit(a: &[u16; 16], b: &[u16; 16], c: f32) -> f32 {
    let product = |(&a, &b): (&u16, &u16)| {
        let ((x, ex), (y, ey)) = (split_half(a), split_half(b));
        (x * y != 0).then_some((i64::from(x) * i64::from(y), ex + ey, 20))
    };
    let terms: Vec<(i64, i32, i32)> =
        a.iter().zip(b).filter_map(product).chain(split(c).map(|(s, e)| (s, e, 23))).collect();
    let Some(largest) = terms.iter().map(|t| t.1).max() else { return 0.0 };
    let sum: i64 = terms.iter().map(|&(s, e, bits)| shift(s, e - largest + UNIT_BITS - bits)).sum();
    let surplus = (64 - sum.unsigned_abs().leading_zeros() as i32 - 24).max(0);
    (shift(sum, -surplus) as f64 * 2f64.powi(largest - UNIT_BITS + surplus)) as f32
}

/// One step as the kernels do it.
fn step(a: &[u8; 16], b: &[u8; 16], acc: u16) -> u16 {
    let value = |c: u8| half::mul(crate::numerics::e4m3::decode(c), 0x0400); // times 2^-14
    let some = |c: u8| !matches!(c & 0x7f, 0 | 0x7f);
    // The exponent field of a sum of powers, 8 * (E + 15) and a little, loses what is below E.
    let power = |c: u8| if some(c) { 256f64.powi(i32::from(c >> 3 & 15).max(1) - 7) } else { 0.0 };
    let powers: f64 = a.iter().zip(b).map(|(&a, &b)| power(a) * power(b)).sum();
    let products = if powers > 0.0 { (powers.log2() / 8.0).floor() as i32 + 15 } else { 0 };
    let field = products.max(i32::from(acc >> 10 & 31));
    let sign = if acc >> 15 == 1 { -1.0 } else { 1.0 };
    let start = (sign * 1.5 * 2f64.powi(field - 31)) as f32;
    // The accumulator, truncated toward zero as it is added.
    let held = f64::from(half::to_f32(acc)) * 2f64.powi(-26);
    let unit_of_start = 2f64.powi(field - 31 - 23);
    let mut sum = (f64::from(start) + (held / unit_of_start).trunc() * unit_of_start) as f32;
    for part in 0..4 {
        // Four of the products, four times each.
        let four = |codes: &[u8; 16]| std::array::from_fn(|i| value(codes[4 * part + i % 4]));
        sum = unit(&four(a), &four(b), sum);
    }
    half::from_f32((f64::from(sum - start) * 2f64.powi(26)) as f32)
}

#[test]
fn truncating_units_give_the_step_of_the_contract() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    };
    for round in 0..60_000 {
        let mut codes = || -> [u8; 16] {
            std::array::from_fn(|_| {
                let r = random();
                match round % 3 {
                    0 => (r as u8 & 0x80) | (24 + (r >> 8) % 44) as u8,
                    1 => r as u8,
                    _ => (r as u8 & 0x80) | if (r >> 8).is_multiple_of(7) { (r >> 16) as u8 & 0x7f } else { 0 },
                }
            })
        };
        let (a, b) = (codes(), codes());
        let acc = match random() {
            r if r % 4 == 0 => 0,
            r => (r >> 8) as u16 & if r >> 8 & 0x7c00 == 0x7c00 { 0x83ff } else { 0xffff },
        };
        let (got, want) = (step(&a, &b, acc), group13(&a, &b, acc));
        assert_eq!(got, want, "{a:02x?} {b:02x?} {acc:04x}: {got:04x}, should be {want:04x}");
    }
}
