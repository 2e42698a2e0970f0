//! Measures shared by the tests and the example: the display proxy of the frame contract and PSNR.

use renderer::Picture;

/// Display code of a linear value (frame section 4, paper white 1): shoulder, then sRGB.
pub fn proxy(linear: f32) -> f32 {
    let v = if linear > 0.75 { 0.75 + 0.25 * (1.0 - (-5.770_78 * (linear - 0.75)).exp()) } else { linear.max(0.0) };
    let c = v.min(1.0);
    if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}

/// All display codes of a picture.
pub fn codes(picture: &Picture) -> Vec<f32> {
    (0..picture.color.len()).flat_map(|i| picture.rgb(i).map(proxy)).collect()
}

/// Peak signal-to-noise ratio in decibels of two lists of codes.
pub fn psnr(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    let squares = a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2));
    let mse = squares.sum::<f64>() / a.len() as f64;
    -10.0 * mse.max(1e-12).log10()
}
