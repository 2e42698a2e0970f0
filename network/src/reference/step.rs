//! The F13 step for a row of output columns at once.
//!
//! All in f32 and i32, exact. With E the exponent of the group and s = 2^(13 - E), `(a * b) * s` is exact (8 significand
//! bits, scaled by a power of two), so its conversion to an integer is the contract's truncation toward zero of one term
//! on its magnitude. The integer sum times 2^(E - 13) is exact again and rounds once to the next half accumulator.

use super::lanes;
use crate::numerics::multiply::GROUP13;

/// Output columns computed together.
pub const WIDTH: usize = 32;
/// One value per column.
pub type Lanes = [f32; WIDTH];
/// One operand exponent per column.
pub type Exponents = [i8; WIDTH];

/// Truncates toward zero.
#[inline(always)]
fn truncate(x: f32) -> i32 {
    // SAFETY: callers pass |x| < 2^16: an operand or accumulator scaled to at most 2^(2 + 13) by its group's exponent.
    unsafe { x.to_int_unchecked() }
}

/// `multiply::group13` on [`WIDTH`] accumulators (halves as f32): 16 codes of one row, given by values and operand
/// exponents, times 16 rows of weights.
///
/// Zero operands have value 0 and exponent [`lanes::ZERO_EXPONENT`].
#[inline(always)]
pub fn group13(
    a: &[f32; GROUP13],
    a_exponents: &[i8; GROUP13],
    b: &[Lanes; GROUP13],
    b_exponents: &[Exponents; GROUP13],
    acc: &mut Lanes,
) {
    // A zero accumulator may stand as 2^-14: any two nonzero operands have an exponent sum of at least -12.
    let mut largest = [-14i8; WIDTH];
    for j in 0..WIDTH {
        for k in 0..GROUP13 {
            largest[j] = largest[j].max(a_exponents[k] + b_exponents[k][j]);
        }
    }
    for j in 0..WIDTH {
        let acc_exponent = lanes::exponent(acc[j]);
        let finite = acc_exponent != 128;
        let e = acc_exponent.max(largest[j] as i32);
        let scale = lanes::power(13 - e);
        let mut sum = truncate(if finite { acc[j] } else { 0.0 } * scale);
        for k in 0..GROUP13 {
            sum += truncate(a[k] * b[k][j] * scale);
        }
        let rounded = lanes::round_normal(sum as f32 * lanes::power(e - 13));
        acc[j] = if finite { rounded } else { acc[j] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::Random;
    use crate::numerics::{half, multiply};
    use crate::reference::dispatch::{dispatch, on_every_level};

    dispatch! {
        fn step(
            a: &[f32; 16],
            ea: &[i8; 16],
            b: &[Lanes; 16],
            eb: &[Exponents; 16],
            acc: &mut Lanes,
        ) {
            group13(a, ea, b, eb, acc)
        }
    }

    fn check(a: [u8; 16], b: [[u8; WIDTH]; 16], acc: [u16; WIDTH]) {
        let mut lanes = acc.map(lanes::from_half);
        step(
            &a.map(lanes::from_code),
            &a.map(lanes::code_exponent),
            &b.map(|row| row.map(lanes::from_code)),
            &b.map(|row| row.map(lanes::code_exponent)),
            &mut lanes,
        );
        for j in 0..WIDTH {
            let column = b.map(|row| row[j]);
            let want = multiply::group13(&a, &column, acc[j]);
            assert_eq!(lanes::to_half(lanes[j]), want, "a {a:02x?} b {column:02x?} acc {:04x}", acc[j]);
        }
    }

    #[test]
    fn random_groups_match_the_definition() {
        on_every_level(|| {
            let mut random = Random::new(21);
            for round in 0..if cfg!(miri) { 5 } else { 30_000 } {
                // Operands of a narrow or the whole exponent range; accumulators from any half to those that arise.
                let (low, span) = [(0, 256), (0x28, 0x20), (0, 0x10), (0x60, 0x20), (0x30, 0x10)][round % 5];
                let mut code = || match span {
                    256 => random.code(),
                    _ => (low + random.next() % span) as u8 | (random.next() as u8 & 0x80),
                };
                let a = std::array::from_fn(|_| code());
                let b = std::array::from_fn(|_| std::array::from_fn(|_| code()));
                let acc = std::array::from_fn(|_| match random.next() % 8 {
                    0 => [0, 0x8000, half::INFINITY, 0xfc00, half::NAN, 0x7bff, 1, 0x8001][random.next() as usize % 8],
                    1..4 => random.half(),
                    _ => (random.next() as u16 & 0x9fff) + 0x2000,
                });
                check(a, b, acc);
            }
        });
    }

    #[test]
    fn extremes_match_the_definition() {
        on_every_level(|| {
            let accumulators = [0, 0x8000, 1, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x7c00, 0x3c01, 0x7e00];
            let extremes = [0u8, 0x80, 1, 0x81, 7, 8, 0x88, 0x7e, 0xfe, 0x7f, 0xff, 0x38, 0x77];
            // Every pair stands in a column of its own.
            let pairs: Vec<(u8, u16)> = extremes.iter().flat_map(|&b| accumulators.map(|acc| (b, acc))).collect();
            for a in extremes.into_iter().step_by(if cfg!(miri) { 4 } else { 1 }) {
                for some in pairs.chunks(WIDTH) {
                    let column = |j: usize| some[j % some.len()];
                    let b = [std::array::from_fn(|j| column(j).0); 16];
                    let acc = std::array::from_fn(|j| column(j).1);
                    check([a; 16], b, acc);
                    let mut single = [0; 16];
                    single[5] = a;
                    check(single, b, acc);
                }
            }
        });
    }
}
