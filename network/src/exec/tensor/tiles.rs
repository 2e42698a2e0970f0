//! Layout of matrices for matrix units: tiles of sixteen columns, each of 16 halves or 32 codes.

use half::f16;

use crate::numerics::e4m3;

/// Halves of a tile; a tile of codes has as many bytes.
pub const TILE: usize = 256;

/// k of a column of halves.
pub const HALVES: usize = 16;
/// k of a column of codes.
pub const CODES: usize = 32;

/// A natural `[k][n]` matrix as `[k / step][n / 16]` tiles.
pub fn tiles<T: Copy + Default>(natural: &[T], k: usize, n: usize, step: usize) -> Vec<T> {
    let mut out = vec![T::default(); natural.len()];
    let columns = n / 16;
    for (at, tile) in out.chunks_exact_mut(16 * step).enumerate() {
        let (first_k, first_n) = (at / columns * step, at % columns * 16);
        for (column, values) in tile.chunks_exact_mut(step).enumerate() {
            for (row, value) in values.iter_mut().enumerate() {
                *value = natural[(first_k + row) * n + first_n + column];
            }
        }
    }
    debug_assert_eq!(natural.len(), k * n);
    out
}

/// The rows of a natural `[k][n]` matrix in the order in which the direct kernels meet the channels of each chunk of 64: an
/// invocation holds sixteen neighbouring channels, four for each step of k.
pub fn direct_rows<T: Copy>(natural: &[T], n: usize) -> Vec<T> {
    let row = |place: usize| {
        let (chunk, step, place) = (place / 64 * 64, place % 64 / 16, place % 16);
        chunk + place % 8 / 2 * 16 + 4 * step + 2 * (place % 2) + place / 8
    };
    (0..natural.len() / n).flat_map(|place| natural[row(place) * n..][..n].iter().copied()).collect()
}

/// Columns `first .. first + count` of a natural `[k][n]` matrix.
pub fn columns<T: Copy>(natural: &[T], n: usize, first: usize, count: usize) -> Vec<T> {
    natural.chunks_exact(n).flat_map(|row| row[first..first + count].iter().copied()).collect()
}

/// Halves of codes; NaN codes are zero.
pub fn halves(codes: &[u8]) -> Vec<u16> {
    let table: Vec<u16> = (0..=255).map(e4m3::decode).collect();
    codes.iter().map(|&code| table[usize::from(code)]).collect()
}

/// Codes two to a half; NaN codes, which units would multiply as NaN, are zero.
pub fn packed(codes: &[u8]) -> Vec<u16> {
    let some = |code: u8| if code & 0x7f == e4m3::NAN_MAGNITUDE { 0 } else { code };
    codes.as_chunks().0.iter().map(|&[low, high]| u16::from_le_bytes([some(low), some(high)])).collect()
}

/// A vector with each sixteen of its values in all sixteen rows of a tile, rows first.
pub fn spread(vector: &[f16]) -> Vec<u16> {
    let tile = |values: &[f16]| std::iter::repeat_n(values, 16).flatten().map(|v| v.to_bits()).collect::<Vec<_>>();
    vector.chunks_exact(16).flat_map(tile).collect()
}

/// A natural matrix of `n` columns with zero columns up to sixteen.
pub fn widened(natural: &[u16], n: usize) -> Vec<u16> {
    natural.chunks_exact(n).flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0, 16 - n))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_holds_sixteen_columns_of_sixteen_k() {
        let (k, n) = (64, 48);
        let natural: Vec<u16> = (0..k * n).map(|i| i as u16).collect();
        for step in [HALVES, CODES] {
            let out = tiles(&natural, k, n, step);
            for (kk, c) in [(0, 0), (5, 17), (31, 47), (16, 32), (63, 40)] {
                let at = ((kk / step) * (n / 16) + c / 16) * 16 * step + (c % 16) * step + kk % step;
                assert_eq!(out[at], natural[kk * n + c]);
            }
        }
    }

    #[test]
    fn direct_rows_hold_every_channel_of_a_chunk_once() {
        let natural: Vec<u16> = (0..128).flat_map(|k| [k, k]).collect();
        let out = direct_rows(&natural, 2);
        for (chunk, places) in out.chunks_exact(128).enumerate() {
            let mut rows: Vec<u16> = places.iter().step_by(2).copied().collect();
            // The first step takes four channels of each sixteen: two in its lower places, two in its upper ones.
            assert_eq!(rows[..4], [0, 2, 16, 18].map(|k| 64 * chunk as u16 + k));
            assert_eq!(rows[8..12], [1, 3, 17, 19].map(|k| 64 * chunk as u16 + k));
            rows.sort_unstable();
            assert_eq!(rows, (64 * chunk as u16..64 * (chunk as u16 + 1)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn nan_codes_are_no_operands() {
        assert_eq!(packed(&[0x38, 0x7f, 0xff, 0xfe]), [0x0038, 0xfe00]);
    }

    #[test]
    fn vectors_fill_all_rows() {
        let vector: Vec<f16> = (0..32).map(|i| f16::from_f32(i as f32)).collect();
        let out = spread(&vector);
        assert_eq!(out[TILE + 3 * 16 + 5], f16::from_f32(21.0).to_bits());
    }
}
