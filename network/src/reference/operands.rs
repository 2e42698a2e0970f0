//! E4M3 operands prepared for the vector step: values as f32 and operand exponents, in groups of 16 along K.

use super::lanes;
use super::step::{self, Exponents, Lanes, WIDTH};
use crate::numerics::multiply::GROUP13;

/// Rows of the left operand. Entry `g * count + r` holds group g of row r, so that one group of all rows is contiguous.
pub struct Rows {
    values: Vec<[f32; GROUP13]>,
    exponents: Vec<[i8; GROUP13]>,
    count: usize,
}

impl Rows {
    /// Space for `count` rows of `groups` groups.
    pub fn new(count: usize, groups: usize) -> Self {
        Self {
            values: vec![[0.0; GROUP13]; count * groups],
            exponents: vec![[lanes::ZERO_EXPONENT; GROUP13]; count * groups],
            count,
        }
    }

    /// Fills row `r` from codes along K.
    #[inline(always)]
    pub fn load(&mut self, r: usize, codes: &[u8]) {
        for (g, codes) in codes.as_chunks::<GROUP13>().0.iter().enumerate() {
            let at = g * self.count + r;
            lanes::map(codes, &mut self.values[at], lanes::from_code);
            lanes::map(codes, &mut self.exponents[at], lanes::code_exponent);
        }
    }
}

/// One group of K for [`WIDTH`] columns, aligned so that no vector load crosses a cache line.
#[repr(align(64))]
#[derive(Clone)]
struct Group {
    values: [Lanes; GROUP13],
    exponents: [Exponents; GROUP13],
}

/// [`WIDTH`] columns of the right operand.
pub struct Columns {
    groups: Vec<Group>,
}

impl Columns {
    /// Space for `groups` groups along K.
    pub fn new(groups: usize) -> Self {
        let zero = Group { values: [[0.0; WIDTH]; GROUP13], exponents: [[lanes::ZERO_EXPONENT; WIDTH]; GROUP13] };
        Self { groups: vec![zero; groups] }
    }

    /// Fills row `k` from one code per column.
    #[inline(always)]
    pub fn load(&mut self, k: usize, codes: &[u8; WIDTH]) {
        let group = &mut self.groups[k / GROUP13];
        lanes::map(codes, &mut group.values[k % GROUP13], lanes::from_code);
        lanes::map(codes, &mut group.exponents[k % GROUP13], lanes::code_exponent);
    }
}

/// Continues the chains of `acc.len()` rows by the given groups of K, in order (`multiply::dot` without partitions).
#[inline(always)]
pub fn chain(rows: &Rows, columns: &Columns, groups: std::ops::Range<usize>, acc: &mut [Lanes]) {
    for g in groups {
        let group = &columns.groups[g];
        // All rows of a group before the next group: its weights stay in the first-level cache.
        for (r, acc) in acc.iter_mut().enumerate() {
            let at = g * rows.count + r;
            step::group13(&rows.values[at], &rows.exponents[at], &group.values, &group.exponents, acc);
        }
    }
}
