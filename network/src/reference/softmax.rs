//! The softmax's sum over 64 keys, for many queries at once.

use super::lanes;
use super::step::{Lanes, WIDTH};

/// `half::add` of [`WIDTH`] pairs.
#[inline(always)]
pub fn add(a: &Lanes, b: &Lanes) -> Lanes {
    let mut sum = *a;
    for q in 0..WIDTH {
        sum[q] = lanes::add(a[q], b[q]);
    }
    sum
}

/// `softmax::sum64` of [`WIDTH`] queries; `e[key][query]`.
#[inline(always)]
pub fn sum64(e: &[Lanes; 64]) -> Lanes {
    let mut t = [[0.0; WIDTH]; 8];
    for (g, t) in t.iter_mut().enumerate() {
        let pair = |j: usize| add(&e[g + 16 * j], &e[g + 16 * j + 8]);
        *t = add(&add(&add(&pair(0), &pair(1)), &pair(2)), &pair(3));
    }
    let even = add(&add(&add(&t[0], &t[2]), &t[4]), &t[6]);
    let odd = add(&add(&add(&t[1], &t[3]), &t[5]), &t[7]);
    add(&even, &odd)
}
