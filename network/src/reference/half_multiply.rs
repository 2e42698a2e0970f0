//! The f16 multiply (numerics section 4) of the input adapter and the head.

use rayon::prelude::*;

use super::dispatch::dispatch;
use super::lanes;
use super::step::{Lanes, WIDTH};
use crate::numerics::multiply::{GROUP24, split_half};

/// Rows of one work item.
const ITEM_ROWS: usize = 256;
/// Fraction bits of the step's integers.
const FRACTION: i32 = 24;
/// Exponent of a zero operand or accumulator, below every sum of two nonzero ones.
const ZERO_EXPONENT: i32 = -64;

/// Significands and exponents of up to [`WIDTH`] columns of 8 rows of K.
type Group = [([i32; WIDTH], [i32; WIDTH]); GROUP24];

/// Half bits `[row][n]` of rows `[row][k]` times a matrix `[k][n]`, n at most [`WIDTH`].
pub fn run(input: &[u16], matrix: &[u16], k: usize, n: usize) -> Vec<u16> {
    let groups = groups(matrix, n);
    let mut out = vec![0; input.len() / k * n];
    out.par_chunks_mut(ITEM_ROWS * n).zip(input.par_chunks(ITEM_ROWS * k)).for_each(|(out, input)| {
        rows(input, k, &groups, out, n);
    });
    out
}

/// A matrix `[k][n]` as operands of [`group24`].
fn groups(matrix: &[u16], n: usize) -> Vec<Group> {
    matrix
        .chunks(GROUP24 * n)
        .map(|rows| {
            std::array::from_fn(|i| {
                let mut columns = ([0; WIDTH], [ZERO_EXPONENT; WIDTH]);
                for (j, &h) in rows[i * n..(i + 1) * n].iter().enumerate() {
                    (columns.0[j], columns.1[j]) = split(h);
                }
                columns
            })
        })
        .collect()
}

/// `multiply::split_half` with a defined exponent for zeros.
#[inline(always)]
fn split(h: u16) -> (i32, i32) {
    match split_half(h) {
        (0, _) => (0, ZERO_EXPONENT),
        split => split,
    }
}

dispatch! {
    fn rows(input: &[u16], k: usize, groups: &[Group], out: &mut [u16], n: usize) {
        for (input, out) in input.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
            let mut acc = [0.0; WIDTH];
            for (a, b) in input.as_chunks::<GROUP24>().0.iter().zip(groups) {
                let mut operands = [(0, 0); GROUP24];
                lanes::map(a, &mut operands, split);
                group24(&operands, b, &mut acc);
            }
            for (out, acc) in out.iter_mut().zip(acc) {
                *out = lanes::to_half(acc);
            }
        }
    }
}

/// `multiply::group24` on [`WIDTH`] accumulators.
#[inline(always)]
fn group24(a: &[(i32, i32); GROUP24], b: &Group, acc: &mut Lanes) {
    let mut next = *acc;
    for j in 0..WIDTH {
        let bits = acc[j].to_bits();
        let acc_exponent = lanes::exponent(acc[j]).max(-14);
        let finite = acc_exponent != 128;
        let zero = bits << 1 == 0;
        let mut largest = if zero || !finite { ZERO_EXPONENT } else { acc_exponent };
        for k in 0..GROUP24 {
            largest = largest.max(a[k].1 + b[k].1[j]);
        }
        // In units of 2^(largest - 24): a term's magnitude is put at its place for an equal exponent, then moved down.
        // The accumulator is a multiple of 2^(exponent - 10), so scaling it to an integer is exact.
        let magnitude = if finite { acc[j].abs() } else { 0.0 };
        // SAFETY: the scaled magnitude is below 2^11.
        let significand: i32 = unsafe { (magnitude * lanes::power(10 - acc_exponent)).to_int_unchecked() };
        let moved = (significand << (FRACTION - 10)) >> (largest - acc_exponent).clamp(0, 31);
        let mut sum = if bits >> 31 != 0 { -moved } else { moved };
        for k in 0..GROUP24 {
            let product = a[k].0 * b[k].0[j];
            let moved = (product.abs() << (FRACTION - 20)) >> (largest - a[k].1 - b[k].1[j]).min(31);
            sum += if product < 0 { -moved } else { moved };
        }
        next[j] = if finite { round(sum, largest) } else { acc[j] };
    }
    *acc = next;
}

/// `half::from_fixed(sum, largest - 24)` with -0 made +0. The sum has up to 30 bits: those that f32 cannot hold become
/// one sticky bit, far below the half's rounding position.
#[inline(always)]
fn round(sum: i32, largest: i32) -> f32 {
    let magnitude = sum.unsigned_abs();
    let sticky = if magnitude & 0x7f != 0 { 0x80 } else { 0 };
    let wide = (magnitude & !0x7f) | sticky;
    let exact = if magnitude < 1 << 24 { magnitude } else { wide };
    let rounded = lanes::round(exact as i32 as f32 * lanes::power(largest - FRACTION));
    if sum < 0 && rounded != 0.0 { -rounded } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::multiply;
    use crate::numerics::vectors::Random;
    use crate::reference::dispatch::on_every_level;

    fn check(input: &[u16], matrix: &[u16], k: usize, n: usize) {
        let out = if cfg!(miri) {
            // Without the threads, whose queues are not this code.
            let mut out = vec![0; input.len() / k * n];
            rows(input, k, &groups(matrix, n), &mut out, n);
            out
        } else {
            run(input, matrix, k, n)
        };
        for (r, row) in input.chunks(k).enumerate() {
            for j in 0..n {
                let column: Vec<u16> = matrix.iter().skip(j).step_by(n).copied().collect();
                let want = multiply::dot_half(row, &column);
                assert_eq!(out[r * n + j], want, "row {row:04x?} column {column:04x?}");
            }
        }
    }

    #[test]
    fn random_rows_match_the_definition() {
        on_every_level(|| {
            let mut random = Random::new(61);
            for round in 0..if cfg!(miri) { 5 } else { 20 } {
                let mut half = || match round % 5 {
                    0 => random.half(),
                    1 => random.next() as u16 & 0x8fff | 0x3000,
                    2 => random.next() as u16 & 0x83ff,
                    3 => random.next() as u16 & 0x8fff,
                    _ => [0, 0x8000, 0x3c00, 0xbc01, random.half()][random.next() as usize % 5],
                };
                for (k, n) in [(16, 32), (32, 4)] {
                    let rows = if cfg!(miri) { 1 } else { 300 };
                    let input: Vec<u16> = (0..rows * k).map(|_| half()).collect();
                    let matrix: Vec<u16> = (0..k * n).map(|_| half()).collect();
                    check(&input, &matrix, k, n);
                }
            }
        });
    }
}
