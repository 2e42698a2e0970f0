//! Comparison of tensors and images, value by value (fixtures section 3).

use sha2::{Digest, Sha256};

use super::verdict::{CompareError, Comparison, Position, Tally, Verdict};
use crate::model::records::hex;
use crate::numerics::e4m3;

/// Largest code distance that the histogram tells apart.
const HISTOGRAM_REACH: i32 = 9;

/// Compares E4M3 codes `[rows][width][channels]`.
///
/// # Errors
/// The lengths differ.
pub fn compare_codes(
    name: &str,
    width: usize,
    channels: usize,
    found: &[u8],
    expected: &[u8],
) -> Result<Comparison, CompareError> {
    same_length(name, found.len(), expected.len())?;
    let mut tally = Tallier::new(width, channels);
    let mut histogram = [0; 2 * HISTOGRAM_REACH as usize + 1];
    // Most of a boundary is equal: skip that quickly.
    for (row, (found, expected)) in chunks(found, expected, width * channels) {
        if found == expected {
            continue;
        }
        for (i, (&a, &b)) in found.iter().zip(expected).enumerate().filter(|(_, (a, b))| a != b) {
            let index = row * width * channels + i;
            if (a | b) & 0x7F == 0 {
                tally.zero_sign(index, a.into(), b.into());
                continue;
            }
            tally.difference(index, a.into(), b.into(), value(a), value(b));
            let distance = (ordinal(a) - ordinal(b)).clamp(-HISTOGRAM_REACH, HISTOGRAM_REACH);
            histogram[(distance + HISTOGRAM_REACH) as usize] += 1;
        }
    }
    let mut tally = tally.finish(found.len());
    tally.histogram = (tally.different > 0).then_some(histogram);
    Ok(Comparison::tallied(name, tally))
}

/// Compares f32 bit patterns of pixels of `channels` values, of which the first `compared` count.
///
/// # Errors
/// The lengths differ.
pub fn compare_f32(
    name: &str,
    width: usize,
    channels: usize,
    compared: usize,
    found: &[f32],
    expected: &[f32],
) -> Result<Comparison, CompareError> {
    same_length(name, found.len(), expected.len())?;
    let mut tally = Tallier::new(width, channels);
    let pairs = found.iter().zip(expected).enumerate().filter(|(i, _)| i % channels < compared);
    for (index, (a, b)) in pairs.filter(|(_, (a, b))| a.to_bits() != b.to_bits()) {
        if *a == 0.0 && *b == 0.0 {
            tally.zero_sign(index, a.to_bits(), b.to_bits());
        } else {
            tally.difference(index, a.to_bits(), b.to_bits(), (*a).into(), (*b).into());
        }
    }
    Ok(Comparison::tallied(name, tally.finish(found.len() / channels * compared)))
}

/// Compares 8-bit RGB pixels; `expected` has `expected_channels` (3, or 4 with an alpha that does not count).
///
/// # Errors
/// The lengths differ.
pub fn compare_rgb8(
    name: &str,
    width: usize,
    found: &[u8],
    expected: &[u8],
    expected_channels: usize,
) -> Result<Comparison, CompareError> {
    same_length(name, found.len(), expected.len() / expected_channels * 3)?;
    let mut tally = Tallier::new(width, 3);
    let expected = expected.chunks_exact(expected_channels).flat_map(|pixel| &pixel[..3]);
    for (index, (&a, &b)) in found.iter().zip(expected).enumerate().filter(|(_, (a, b))| a != b) {
        tally.difference(index, a.into(), b.into(), a.into(), b.into());
        tally.tally.one_code += usize::from(a.abs_diff(b) == 1);
    }
    Ok(Comparison::tallied(name, tally.finish(found.len())))
}

/// Compares bytes with a SHA-256 in lower-case hexadecimal.
pub fn compare_digest(name: &str, found: &[u8], expected: &str) -> Comparison {
    let same = hex(&Sha256::digest(found)) == expected;
    let verdict = if same { Verdict::BitExact } else { Verdict::Mismatch };
    Comparison { name: name.to_owned(), verdict, tally: None }
}

fn same_length(name: &str, found: usize, expected: usize) -> Result<(), CompareError> {
    if found == expected {
        return Ok(());
    }
    Err(CompareError::Length { name: name.to_owned(), found, expected })
}

fn chunks<'a>(a: &'a [u8], b: &'a [u8], size: usize) -> impl Iterator<Item = (usize, (&'a [u8], &'a [u8]))> {
    let size = size.max(1);
    a.chunks(size).zip(b.chunks(size)).enumerate()
}

/// The value of a code, NaN included: what differs is reported as it is, not as the network reads it.
fn value(code: u8) -> f64 {
    if code & 0x7F == 0x7F { f64::NAN } else { e4m3::to_f32(code).into() }
}

/// Codes in the order of their values; both zeros are 0.
fn ordinal(code: u8) -> i32 {
    let magnitude = i32::from(code & 0x7F);
    if code & 0x80 == 0 { magnitude } else { -magnitude }
}

/// Collects differences into a tally.
struct Tallier {
    width: usize,
    channels: usize,
    tally: Tally,
    squares: f64,
}

impl Tallier {
    fn new(width: usize, channels: usize) -> Self {
        Self { width: width.max(1), channels: channels.max(1), tally: Tally::default(), squares: 0.0 }
    }

    fn zero_sign(&mut self, index: usize, found: u32, expected: u32) {
        self.tally.zero_signs += 1;
        self.note(index, found, expected);
    }

    fn difference(&mut self, index: usize, found: u32, expected: u32, a: f64, b: f64) {
        self.tally.different += 1;
        self.note(index, found, expected);
        if a.is_finite() && b.is_finite() {
            let difference = (a - b).abs();
            self.tally.largest = self.tally.largest.max(difference);
            self.squares += difference * difference;
        } else {
            self.tally.not_finite += 1;
        }
    }

    fn note(&mut self, index: usize, found: u32, expected: u32) {
        self.tally.first.get_or_insert_with(|| {
            let pixel = index / self.channels;
            let (x, y) = (pixel % self.width, pixel / self.width);
            Position { x, y, channel: index % self.channels, found, expected }
        });
    }

    fn finish(mut self, values: usize) -> Tally {
        self.tally.values = values;
        let finite = values - self.tally.not_finite;
        self.tally.rms = (self.squares / finite.max(1) as f64).sqrt();
        self.tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(found: &[u8], expected: &[u8]) -> Comparison {
        compare_codes("block-3", 2, 2, found, expected).unwrap()
    }

    #[test]
    fn codes_are_compared_bytewise() {
        let reference = [0x38, 0x00, 0xB8, 0x01, 0x50, 0x50, 0x50, 0x50];
        let exact = codes(&reference, &reference);
        assert_eq!(exact.verdict, Verdict::BitExact);
        assert_eq!(exact.to_string(), "block-3: bit-exact");

        let mut zero = reference;
        zero[1] = 0x80;
        let signs = codes(&zero, &reference);
        assert_eq!(signs.verdict, Verdict::SignOfZero);
        assert!(!signs.verdict.passes());
        assert_eq!(signs.tally.as_ref().unwrap().zero_signs, 1);

        let mut other = zero;
        other[6] = 0x52; // 10 for 8
        other[3] = 0x81; // the least negative for the least positive
        let mismatch = codes(&other, &reference);
        assert_eq!(mismatch.verdict, Verdict::Mismatch);
        let tally = mismatch.tally.as_ref().unwrap();
        assert_eq!((tally.values, tally.different, tally.zero_signs), (8, 2, 1));
        assert_eq!(tally.largest, 2.0);
        assert!((tally.rms - (4.0f64 + 2f64.powi(-16)).sqrt() / 8f64.sqrt()).abs() < 1e-12);
        assert_eq!(tally.percentage(), 25.0);
        let first = tally.first.unwrap();
        assert_eq!((first.x, first.y, first.channel, first.found, first.expected), (0, 0, 1, 0x80, 0));
        let histogram = tally.histogram.unwrap();
        assert_eq!((histogram[11], histogram[7], histogram.iter().sum::<usize>()), (1, 1, 2));
        assert!(mismatch.to_string().contains("-2: 1 +2: 1"), "{mismatch}");
    }

    #[test]
    fn far_and_nan_codes_are_clamped_and_counted() {
        let comparison = codes(&[0x7E, 0x7F, 0, 0], &[0xFE, 0x38, 0, 0]);
        let tally = comparison.tally.unwrap();
        assert_eq!((tally.different, tally.not_finite, tally.largest), (2, 1, 896.0));
        assert_eq!(tally.histogram.unwrap()[18], 2);
    }

    #[test]
    fn f32_are_compared_by_bits() {
        let nan = f32::from_bits(0x7FC0_0001);
        let verdict = |found: &[f32], expected: &[f32]| compare_f32("head", 1, 4, 4, found, expected).unwrap().verdict;
        let reference = [1.0, -0.0, nan, f32::INFINITY];
        assert_eq!(verdict(&reference, &reference), Verdict::BitExact);
        assert_eq!(verdict(&[1.0, 0.0, nan, f32::INFINITY], &reference), Verdict::SignOfZero);
        assert_eq!(verdict(&[1.0, -0.0, f32::NAN, f32::INFINITY], &reference), Verdict::Mismatch);
        assert_eq!(verdict(&[1.0, -0.0, nan, f32::MAX], &reference), Verdict::Mismatch);
        let alpha = compare_f32("output", 1, 4, 3, &[1.0, 2.0, 3.0, 0.5], &[1.0, 2.0, 3.0, 1.0]).unwrap();
        assert_eq!((alpha.verdict, alpha.tally.unwrap().values), (Verdict::BitExact, 3));
    }

    #[test]
    fn one_code_is_tolerated_in_8_bit_images_only() {
        let compare = |found: &[u8]| compare_rgb8("output", 2, found, &[9, 9, 9, 0, 7, 7, 7, 0], 4).unwrap();
        assert_eq!(compare(&[9, 9, 9, 7, 7, 7]).verdict, Verdict::BitExact);
        let near = compare(&[9, 10, 9, 7, 7, 6]);
        assert_eq!(near.verdict, Verdict::WithinOneCode);
        assert!(near.verdict.passes());
        assert_eq!(near.tally.unwrap().one_code, 2);
        assert_eq!(compare(&[9, 10, 9, 7, 7, 5]).verdict, Verdict::Mismatch);
        assert_eq!(codes(&[0x39, 0, 0, 0], &[0x38, 0, 0, 0]).verdict, Verdict::Mismatch);
    }

    #[test]
    fn lengths_must_agree() {
        let error = compare_codes("block-3", 2, 2, &[0; 8], &[0; 12]).unwrap_err();
        assert_eq!(error, CompareError::Length { name: "block-3".into(), found: 8, expected: 12 });
        assert!(compare_f32("head", 1, 4, 4, &[0.0; 4], &[0.0; 8]).is_err());
        assert!(compare_rgb8("output", 1, &[0; 4], &[0; 4], 4).is_err());
    }

    #[test]
    fn digests_say_only_same_or_not() {
        let digest = hex(&Sha256::digest([1, 2, 3]));
        assert_eq!(compare_digest("pooled-4-5", &[1, 2, 3], &digest).verdict, Verdict::BitExact);
        let other = compare_digest("pooled-4-5", &[1, 2, 4], &digest);
        assert_eq!(other.to_string(), "pooled-4-5: mismatch (by digest)");
    }
}
