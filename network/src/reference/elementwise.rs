//! Pool, decoder entry and the entry of block 70 (numerics section 11) over whole tensors.

use rayon::prelude::*;

use super::dispatch::dispatch;
use super::lanes;
use crate::geometry::Extent;

/// 2x2 pool of raw halves; an output whose four sources are not all inside is +0 in every channel.
pub fn pool(input: &[u16], from: Extent, to: Extent, channels: usize) -> Vec<u8> {
    let mut out = vec![0; to.pixels() * channels];
    let (from_width, to_width) = (from.width as usize, to.width as usize);
    out.par_chunks_mut(to_width * channels).enumerate().for_each(|(y, out)| {
        if 2 * y + 1 >= from.height as usize {
            return;
        }
        for (x, out) in out.chunks_exact_mut(channels).enumerate().take(from_width / 2) {
            let upper = (2 * y * from_width + 2 * x) * channels;
            let lower = upper + from_width * channels;
            pool_pixel(&input[upper..][..2 * channels], &input[lower..][..2 * channels], out);
        }
    });
    out
}

dispatch! {
    /// `elementwise::pool` of two neighbouring pixels in each of two rows.
    fn pool_pixel(upper: &[u16], lower: &[u16], out: &mut [u8]) {
        let (a, b) = upper.split_at(out.len());
        let (c, d) = lower.split_at(out.len());
        for (i, out) in out.iter_mut().enumerate() {
            let sum = |x: u16, y: u16| lanes::add(lanes::from_half(x), lanes::from_half(y));
            *out = lanes::to_code(lanes::mul(lanes::add(sum(a[i], b[i]), sum(c[i], d[i])), 0.25));
        }
    }
}

/// A result published as half and as code.
pub struct Pair {
    /// Raw halves.
    pub halves: Vec<u16>,
    /// Their codes.
    pub codes: Vec<u8>,
}

/// Runs `row` on every pixel of `extent`, given the pixel and the nearest pixel of a coarser level `low_width` wide.
fn upsample(
    extent: Extent,
    low_width: u32,
    channels: usize,
    row: impl Fn(usize, usize, &mut [u16], &mut [u8]) + Sync,
) -> Pair {
    let (width, low_width) = (extent.width as usize, low_width as usize);
    let mut halves = vec![0; extent.pixels() * channels];
    let mut codes = vec![0; extent.pixels() * channels];
    let lines = halves.par_chunks_mut(width * channels).zip(codes.par_chunks_mut(width * channels));
    lines.enumerate().for_each(|(y, (halves, codes))| {
        let pixels = halves.chunks_exact_mut(channels).zip(codes.chunks_exact_mut(channels));
        for (x, (halves, codes)) in pixels.enumerate() {
            row(y * width + x, (y >> 1) * low_width + (x >> 1), halves, codes);
        }
    });
    Pair { halves, codes }
}

/// Decoder entry: `skip * scale + low`, the coarser level's projection taken from the nearest pixel.
pub fn merge(low: &[u16], low_width: u32, skip: &[u8], extent: Extent, scale: &[u16]) -> Pair {
    let c = scale.len();
    upsample(extent, low_width, c, |pixel, nearest, halves, codes| {
        merge_pixel(&low[nearest * c..][..c], &skip[pixel * c..][..c], scale, halves, codes);
    })
}

dispatch! {
    /// `elementwise::merge` of one pixel.
    fn merge_pixel(low: &[u16], skip: &[u8], scale: &[u16], halves: &mut [u16], codes: &mut [u8]) {
        for i in 0..scale.len().min(low.len()).min(skip.len()).min(halves.len()).min(codes.len()) {
            let projection = lanes::from_half(low[i]);
            let value = lanes::fma(lanes::from_code(skip[i]), lanes::from_half(scale[i]), projection);
            halves[i] = lanes::to_half(value);
            codes[i] = lanes::to_code(value);
        }
    }
}

/// Scales of block 70's entry, half bits per channel.
pub struct BlendScales<'a> {
    /// Of the upsampled state.
    pub input: &'a [u16],
    /// Of block 0's output.
    pub adapter: &'a [u16],
}

/// Entry of block 70: `block0 * adapter + (up * input)`, `up` taken from the nearest pixel of level 0.
pub fn blend(up: &[u8], up_width: u32, block0: &[u8], extent: Extent, scales: &BlendScales) -> Pair {
    let c = scales.input.len();
    upsample(extent, up_width, c, |pixel, nearest, halves, codes| {
        blend_pixel(&up[nearest * c..][..c], &block0[pixel * c..][..c], scales, halves, codes);
    })
}

dispatch! {
    /// `elementwise::blend` of one pixel.
    fn blend_pixel(up: &[u8], block0: &[u8], scales: &BlendScales<'_>, halves: &mut [u16], codes: &mut [u8]) {
        let (input, adapter) = (scales.input, scales.adapter);
        for i in 0..up.len().min(block0.len()).min(input.len()).min(adapter.len()).min(halves.len()).min(codes.len()) {
            let scaled = lanes::mul(lanes::from_code(up[i]), lanes::from_half(input[i]));
            let value = lanes::fma(lanes::from_code(block0[i]), lanes::from_half(adapter[i]), scaled);
            halves[i] = lanes::to_half(value);
            codes[i] = lanes::to_code(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::Random;
    use crate::numerics::{e4m3, elementwise};
    use crate::reference::dispatch::on_every_level;

    fn halves(random: &mut Random, n: usize) -> Vec<u16> {
        (0..n).map(|_| random.half()).collect()
    }

    fn codes(random: &mut Random, n: usize) -> Vec<u8> {
        (0..n).map(|_| random.code()).collect()
    }

    #[test]
    fn pool_matches_the_definition_and_leaves_missing_sources_zero() {
        on_every_level(|| {
            let mut random = Random::new(71);
            let (from, to, c) = (Extent::new(36, 20), Extent::new(20, 12), 40);
            let input = halves(&mut random, from.pixels() * c);
            let out = pool(&input, from, to, c);
            for y in 0..12 {
                for x in 0..20 {
                    for i in 0..c {
                        let at = |dx: usize, dy: usize| input[((2 * y + dy) * 36 + 2 * x + dx) * c + i];
                        let inside = 2 * x + 1 < 36 && 2 * y + 1 < 20;
                        let pooled = || elementwise::pool(at(0, 0), at(1, 0), at(0, 1), at(1, 1));
                        let want = if inside { e4m3::encode(pooled()) } else { 0 };
                        assert_eq!(out[(y * 20 + x) * c + i], want);
                    }
                }
            }
        });
    }

    #[test]
    fn merge_and_blend_match_the_definition() {
        on_every_level(|| {
            let mut random = Random::new(72);
            let (high, low, c) = (Extent::new(36, 20), Extent::new(20, 12), 40);
            let projection = halves(&mut random, low.pixels() * c);
            let up = codes(&mut random, low.pixels() * c);
            let skip = codes(&mut random, high.pixels() * c);
            let (scale, other) = (halves(&mut random, c), halves(&mut random, c));
            let merged = merge(&projection, low.width, &skip, high, &scale);
            let scales = BlendScales { input: &scale, adapter: &other };
            let blended = blend(&up, low.width, &skip, high, &scales);
            for pixel in 0..high.pixels() {
                let nearest = (pixel / 36 / 2) * 20 + pixel % 36 / 2;
                for i in 0..c {
                    let at = pixel * c + i;
                    let want = elementwise::merge(projection[nearest * c + i], skip[at], scale[i]);
                    assert_eq!((merged.halves[at], merged.codes[at]), (want, e4m3::encode(want)));
                    let want = elementwise::blend(up[nearest * c + i], scale[i], skip[at], other[i]);
                    assert_eq!((blended.halves[at], blended.codes[at]), (want, e4m3::encode(want)));
                }
            }
        });
    }
}
