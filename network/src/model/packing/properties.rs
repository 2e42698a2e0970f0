//! Both ways of every packed form, for shapes and contents of chance.

use proptest::prelude::*;

use super::*;

fn distinct(count: usize, index: impl Fn(usize) -> usize, room: usize) -> bool {
    let mut seen = vec![false; room];
    (0..count).all(|i| !std::mem::replace(&mut seen[index(i)], true))
}

/// Bytes of a seed, without a pattern that an index error could hide behind.
fn scrambled(seed: u64, len: usize) -> Vec<u8> {
    (1..=len as u64).map(|i| ((seed ^ i).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23) >> 48) as u8).collect()
}

fn halves(seed: u64, len: usize) -> Vec<f16> {
    scrambled(seed, 2 * len).chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]])).collect()
}

fn bits(values: &[f16]) -> Vec<u16> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Cases of a suite: the interpreter of undefined behaviour takes a thousand times as long.
const CASES: u32 = if cfg!(miri) { 2 } else { 64 };
/// Bounds of an FP8 matrix's tiles down and across, and of a matrix of halves; smaller for it too.
const TILES: [usize; 2] = if cfg!(miri) { [3, 6] } else { [12, 24] };
const HALVES: usize = if cfg!(miri) { 20 } else { 80 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn fp8_both_ways(k in 1..TILES[0], n in 1..TILES[1], seed: u64) {
        let (k, n) = (32 * k, 16 * n);
        prop_assert!(distinct(k * n, |i| fp8_byte(i / n, i % n, n), k * n), "an index twice");
        let packed = scrambled(seed, k * n);
        let natural = unpack_fp8(&packed, k, n);
        prop_assert_eq!(&pack_fp8(&natural, k, n), &packed);
        let row = seed as usize % k;
        prop_assert_eq!(natural[row * n], packed[fp8_byte(row_of_channel(row), 0, n)]);
    }

    #[test]
    fn half_matrices_both_ways(k in 1..HALVES, n in 1..HALVES, seed: u64) {
        let room = half_matrix_len(k, n);
        prop_assert!(distinct(k * n, |i| half_index(i / n, i % n, n), room), "an index twice");
        let natural = halves(seed, k * n);
        let packed = pack_half_matrix(&natural, k, n);
        prop_assert_eq!(packed.len(), 2 * room);
        prop_assert_eq!(bits(&unpack_half_matrix(&packed, k, n)), bits(&natural));
    }

    #[test]
    fn priors_both_ways(heads in 1..if cfg!(miri) { 2usize } else { 4 }, seed: u64) {
        let packed = scrambled(seed, heads * 2 * PRIOR_HALVES);
        let natural = unpack_prior(&packed, heads);
        prop_assert_eq!(natural.len(), heads * PRIOR_HALVES);
        prop_assert_eq!(pack_prior(&natural, heads), packed);
    }

    #[test]
    fn channels_and_rows_are_inverse(c in 0usize..1 << 20) {
        prop_assert_eq!(channel_of_row(row_of_channel(c)), c);
        prop_assert_eq!(row_of_channel(channel_of_row(c)), c);
        prop_assert_eq!(row_of_channel(c) / 32, c / 32);
    }
}
