//! Index functions of the packed forms and conversion both ways (the arithmetic contract, weights sections 4 to 6).
//!
//! "Natural" order is row-major `[k][n]` by input channel; "packed" is the order of the stored record.

use half::f16;

/// Halves in one head's attention prior.
pub const PRIOR_HALVES: usize = 4096;

/// Byte of fragment element (row `r`, column `n`) in an E4M3 matrix of `width` columns.
pub fn fp8_byte(r: usize, n: usize, width: usize) -> usize {
    let lane = (n % 8) * 4 + (r % 16) / 4;
    (r / 32) * 32 * width + (n / 16) * 512 + lane * 16 + ((n % 16) / 8) * 8 + ((r % 32) / 16) * 4 + r % 4
}

/// Fragment row that holds the weights of natural input channel `c`.
pub fn row_of_channel(c: usize) -> usize {
    (c & !31) + (c & 17) + ((c & 2) << 1) + ((c & 4) << 1) + ((c & 8) >> 2)
}

/// Natural input channel whose weights fragment row `r` holds; the inverse of [`row_of_channel`].
pub fn channel_of_row(r: usize) -> usize {
    (r & !31) + (r & 16) + ((r & 15) >> 2) * 2 + (r & 1) + 8 * ((r >> 1) & 1)
}

/// Half index of natural element (`k`, `n`) in a half matrix of `width` columns.
pub fn half_index(k: usize, n: usize, width: usize) -> usize {
    let tile = (k / 16) * width.div_ceil(16) + n / 16;
    let lane = (n % 8) * 4 + (k % 8) / 2;
    tile * 256 + lane * 8 + ((n % 16) / 8) * 4 + (k % 16) / 8 * 2 + k % 2
}

/// Halves that a packed half matrix `[k x n]` occupies, padding columns included.
pub fn half_matrix_len(k: usize, n: usize) -> usize {
    k.div_ceil(16) * n.div_ceil(16) * 256
}

/// Physical (4x4-tiled) index of natural window token `t`, 0..64 (numerics section 9).
pub fn physical_token(t: usize) -> usize {
    let (x, y) = (t & 7, t >> 3);
    (y >> 2) * 32 + (x >> 2) * 16 + (y & 3) * 4 + (x & 3)
}

/// Half index of (physical query, physical key) in one head's prior.
pub fn prior_index(query: usize, key: usize) -> usize {
    let (m, n) = (query % 16, key % 16);
    let lane = (m % 8) * 4 + (n % 8) / 2;
    (query / 16) * 1024 + (key / 16) * 256 + lane * 8 + (n / 8) * 4 + (m / 8) * 2 + n % 2
}

/// Unpacks one E4M3 matrix to natural `[k][n]`. `packed` holds `k * n` bytes, `k` a multiple of 32, `n` of 16.
pub fn unpack_fp8(packed: &[u8], k: usize, n: usize) -> Vec<u8> {
    let mut natural = vec![0; k * n];
    for (c, row) in natural.chunks_exact_mut(n).enumerate() {
        let r = row_of_channel(c);
        for (column, value) in row.iter_mut().enumerate() {
            *value = packed[fp8_byte(r, column, n)];
        }
    }
    natural
}

/// Packs a natural `[k][n]` E4M3 matrix; the inverse of [`unpack_fp8`].
pub fn pack_fp8(natural: &[u8], k: usize, n: usize) -> Vec<u8> {
    let mut packed = vec![0; k * n];
    for (c, row) in natural.chunks_exact(n).enumerate().take(k) {
        let r = row_of_channel(c);
        for (column, &value) in row.iter().enumerate() {
            packed[fp8_byte(r, column, n)] = value;
        }
    }
    packed
}

/// Unpacks a half matrix to natural `[k][n]`. `packed` holds [`half_matrix_len`] little-endian halves.
pub fn unpack_half_matrix(packed: &[u8], k: usize, n: usize) -> Vec<f16> {
    let at = |index: usize| f16::from_le_bytes([packed[2 * index], packed[2 * index + 1]]);
    (0..k * n).map(|i| at(half_index(i / n, i % n, n))).collect()
}

/// Packs a natural `[k][n]` half matrix; padding columns are zero.
pub fn pack_half_matrix(natural: &[f16], k: usize, n: usize) -> Vec<u8> {
    let mut packed = vec![0; half_matrix_len(k, n) * 2];
    for (i, value) in natural.iter().enumerate().take(k * n) {
        let at = 2 * half_index(i / n, i % n, n);
        packed[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    packed
}

/// Unpacks priors to `[head][natural query][physical key]`, 8192 packed bytes a head.
pub fn unpack_prior(packed: &[u8], heads: usize) -> Vec<f16> {
    let mut out = Vec::with_capacity(heads * PRIOR_HALVES);
    for head in packed.chunks_exact(2 * PRIOR_HALVES).take(heads) {
        for query in 0..64 {
            for key in 0..64 {
                let at = 2 * prior_index(physical_token(query), key);
                out.push(f16::from_le_bytes([head[at], head[at + 1]]));
            }
        }
    }
    out
}

/// Packs `[head][natural query][physical key]` priors; the inverse of [`unpack_prior`].
pub fn pack_prior(prior: &[f16], heads: usize) -> Vec<u8> {
    let mut packed = vec![0; heads * 2 * PRIOR_HALVES];
    for (head, values) in packed.chunks_exact_mut(2 * PRIOR_HALVES).zip(prior.chunks_exact(PRIOR_HALVES)) {
        for (i, value) in values.iter().enumerate() {
            let at = 2 * prior_index(physical_token(i / 64), i % 64);
            head[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
    }
    packed
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
