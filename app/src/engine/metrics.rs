//! How alike two pictures are.

/// Peak signal-to-noise ratio of two 8-bit pictures in dB, peak 255, over all channels; infinite for equal ones.
///
/// # Panics
/// The lengths differ.
pub fn psnr(a: &[u8], b: &[u8]) -> f64 {
    assert_eq!(a.len(), b.len(), "pictures of one size");
    let square = |(a, b): (&u8, &u8)| u64::from(a.abs_diff(*b)).pow(2);
    let sum: u64 = a.iter().zip(b).map(square).sum();
    let mse = sum as f64 / a.len().max(1) as f64;
    10.0 * (255.0 * 255.0 / mse).log10()
}

#[cfg(test)]
mod tests {
    use super::psnr;

    #[test]
    fn known_values() {
        assert_eq!(psnr(&[1, 2, 3], &[1, 2, 3]), f64::INFINITY);
        assert!((psnr(&[0; 12], &[255; 12])).abs() < 1e-12);
        assert!((psnr(&[10; 12], &[11; 12]) - 48.1308).abs() < 1e-4);
    }
}
