//! The two multiply steps and their chains (numerics sections 2 to 4).
//!
//! A *group* adds 16 E4M3 products (F13) or 8 half products (F24) into a half accumulator: every term is truncated toward
//! zero, separately and on its magnitude, at a unit set by the largest operand-exponent sum; the integers are then added
//! exactly and the sum is rounded once to half. Inside a group the order is irrelevant; which products share a group is
//! not.

use super::{e4m3, half};

/// Products of one F13 group.
pub const GROUP13: usize = 16;
/// Products of one F24 group.
pub const GROUP24: usize = 8;

/// A code as `(significand, exponent)`: value = significand * 2^(exponent - 3). All subnormals use exponent -6, not the
/// exponent of their leading bit. Zero and NaN codes have significand 0 and an exponent without meaning.
pub const fn split_code(code: u8) -> (i32, i32) {
    let (e, m) = ((code >> 3 & 15) as i32, (code & 7) as i32);
    if code & 0x7f == e4m3::NAN_MAGNITUDE {
        return (0, 0);
    }
    let (significand, exponent) = if e == 0 { (m, -6) } else { (8 + m, e - 7) };
    (if code & 0x80 != 0 { -significand } else { significand }, exponent)
}

/// A finite half as `(significand, exponent)`: value = significand * 2^(exponent - 10). All subnormals use exponent -14.
/// Zeros have significand 0.
pub const fn split_half(h: u16) -> (i32, i32) {
    let (e, m) = ((h >> 10 & 31) as i32, (h & 0x3ff) as i32);
    let (significand, exponent) = if e == 0 { (m, -14) } else { (1024 + m, e - 15) };
    (if h & half::SIGN != 0 { -significand } else { significand }, exponent)
}

/// `v * 2^n`, truncated toward zero.
const fn shift_truncated(v: i32, n: i32) -> i32 {
    if n >= 0 {
        v << n
    } else if n < -31 {
        0
    } else {
        let magnitude = (v.unsigned_abs() >> -n) as i32;
        if v < 0 { -magnitude } else { magnitude }
    }
}

/// One group of N products of split operands. Terms are truncated at `fraction` bits below the group's exponent;
/// `operand_bits` is the number of fraction bits of one operand's significand.
fn group<const N: usize>(a: [(i32, i32); N], b: [(i32, i32); N], acc: u16, fraction: i32, operand_bits: i32) -> u16 {
    if !half::is_finite(acc) {
        return acc;
    }
    let (acc_significand, acc_exponent) = split_half(acc);
    // The exponent of the group: sums of operand exponents, not exponents of products; zeros take no part.
    let mut largest = (acc_significand != 0).then_some(acc_exponent);
    for ((x, ex), (y, ey)) in a.into_iter().zip(b) {
        if x * y != 0 {
            largest = largest.max(Some(ex + ey));
        }
    }
    let Some(largest) = largest else { return 0 };
    // Everything in units of 2^(largest - fraction).
    let mut sum = 0;
    if acc_significand != 0 {
        sum += shift_truncated(acc_significand, acc_exponent - largest + fraction - 10);
    }
    for ((x, ex), (y, ey)) in a.into_iter().zip(b) {
        if x * y != 0 {
            sum += shift_truncated(x * y, ex + ey - largest + fraction - 2 * operand_bits);
        }
    }
    half::from_fixed(sum, largest - fraction)
}

/// F13: sixteen E4M3 products into a half accumulator, 13 fraction bits (numerics section 2).
///
/// An infinite (or NaN) accumulator is returned unchanged. A zero sum is +0; a nonzero sum never rounds to zero.
pub fn group13(a: &[u8; GROUP13], b: &[u8; GROUP13], acc: u16) -> u16 {
    group(a.map(split_code), b.map(split_code), acc, 13, 3)
}

/// F24: eight half products into a half accumulator, 24 fraction bits (numerics section 4). Operands are finite.
///
/// An infinite (or NaN) accumulator is returned unchanged. A sum that rounds to zero is +0, negative ones too.
pub fn group24(a: &[u16; GROUP24], b: &[u16; GROUP24], acc: u16) -> u16 {
    let r = group(a.map(split_half), b.map(split_half), acc, 24, 10);
    if r == half::SIGN { 0 } else { r }
}

/// One output of an FP8 multiply: the chain of groups over K in natural order (numerics section 3).
///
/// `seed` starts the first partition, +0 the others; the partition results (half bits) are added with half adds, in
/// order. `partition` equals the length when unpartitioned.
///
/// # Panics
/// If the lengths differ or are not multiples of the partition, or the partition is not one of 16.
pub fn dot(a: &[u8], w: &[u8], seed: u16, partition: usize) -> u16 {
    assert!(a.len() == w.len() && partition.is_multiple_of(GROUP13) && a.len().is_multiple_of(partition));
    let mut total = None;
    let mut acc = seed;
    for (a, w) in a.chunks_exact(partition).zip(w.chunks_exact(partition)) {
        for (a, w) in a.as_chunks::<GROUP13>().0.iter().zip(w.as_chunks::<GROUP13>().0) {
            acc = group13(a, w, acc);
        }
        total = Some(total.map_or(acc, |t| half::add(t, acc)));
        acc = 0;
    }
    total.unwrap_or(seed)
}

/// One output of an f16 multiply: the chain of F24 groups over K in natural order, from +0 (numerics section 4).
///
/// # Panics
/// If the lengths differ or are not multiples of 8.
pub fn dot_half(a: &[u16], w: &[u16]) -> u16 {
    assert!(a.len() == w.len() && a.len().is_multiple_of(GROUP24));
    let pairs = a.as_chunks::<GROUP24>().0.iter().zip(w.as_chunks::<GROUP24>().0);
    pairs.fold(0, |acc, (a, w)| group24(a, w, acc))
}

/// Seed of an accumulator: the scaled skip, one half multiply (numerics section 3).
pub const fn seed(skip: u16, scale: u16) -> u16 {
    half::mul(skip, scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::{Random, STEP, bits, cases, codes, halves, load};

    #[test]
    fn f13_matches_the_vectors() {
        let file = load("f13_step");
        for g in file["groups"].as_array().unwrap() {
            let (a, b) = (codes(&g["a"]).try_into().unwrap(), codes(&g["b"]).try_into().unwrap());
            assert_eq!(group13(&a, &b, bits(&g["acc"]) as u16) as u32, bits(&g["out"]), "{}", g["name"]);
        }
        for s in file["k32"].as_array().unwrap() {
            let (a, b) = (codes(&s["a"]), codes(&s["b"]));
            let acc = bits(&s["acc"]) as u16;
            assert_eq!(dot(&a[..16], &b[..16], acc, 16) as u32, bits(&s["afterGroup0"]));
            assert_eq!(dot(&a, &b, acc, 32) as u32, bits(&s["out"]));
        }
    }

    #[test]
    fn chains_match_the_vectors() {
        for c in load("gemm_chain")["cases"].as_array().unwrap() {
            let (a, b) = (codes(&c["a"]), codes(&c["b"]));
            let k = c["K"].as_u64().unwrap() as usize;
            let partition = match c["partition"].as_u64().unwrap() as usize {
                0 => k,
                p => p,
            };
            let seed = bits(&c["seed"]) as u16;
            assert_eq!(dot(&a, &b, seed, partition) as u32, bits(&c["out"]));
            assert_eq!(dot(&a, &b, seed, k) as u32, bits(&c["outUnpartitioned"]));
        }
    }

    #[test]
    fn f24_matches_the_vectors() {
        let file = load("f24_step");
        for g in file["groups"].as_array().unwrap() {
            let (a, b) = (halves(&g["a"]).try_into().unwrap(), halves(&g["b"]).try_into().unwrap());
            assert_eq!(group24(&a, &b, bits(&g["acc"]) as u16) as u32, bits(&g["out"]), "{}", g["name"]);
        }
        for c in file["chains"].as_array().unwrap() {
            assert_eq!(dot_half(&halves(&c["a"]), &halves(&c["b"])) as u32, bits(&c["out"]));
        }
    }

    #[test]
    fn seeds_match_the_vectors() {
        for c in load("residual_seed")["cases"].as_array().unwrap() {
            let skip = match c.get("half") {
                Some(h) => bits(h) as u16,
                None => e4m3::decode(bits(&c["e4m3"]) as u8),
            };
            assert_eq!(seed(skip, bits(&c["scale"]) as u16) as u32, bits(&c["seed"]));
        }
    }

    /// `2^e`, exactly: `powi` promises no last bit.
    fn power(e: i32) -> f32 {
        f32::from_bits(((e + 127) as u32) << 23)
    }

    #[test]
    fn splits_are_the_values() {
        for code in 0..=255u8 {
            let (s, e) = split_code(code);
            assert_eq!(s as f32 * power(e - 3), e4m3::to_f32(code));
        }
        for h in (0..=u16::MAX).step_by(STEP).filter(|&h| half::is_finite(h)) {
            let (s, e) = split_half(h);
            assert_eq!(s as f32 * power(e - 10), half::to_f32(h));
        }
    }

    #[test]
    fn order_inside_a_group_is_irrelevant_and_infinity_stays() {
        let mut random = Random::new(3);
        for _ in 0..cases(20_000) {
            let mut a: [u8; 16] = std::array::from_fn(|_| random.code());
            let mut b: [u8; 16] = std::array::from_fn(|_| random.code());
            let acc = random.half();
            let first = group13(&a, &b, acc);
            assert_ne!(first, half::SIGN, "never -0");
            a.reverse();
            b.reverse();
            assert_eq!(group13(&a, &b, acc), first);
            for special in [half::INFINITY, half::INFINITY | half::SIGN, half::NAN] {
                assert_eq!(group13(&a, &b, special), special);
            }
        }
    }
}
