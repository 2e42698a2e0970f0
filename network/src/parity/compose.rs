//! Composition of a frame without history: the published image from a head (frame section 6).

use crate::geometry::Extent;
use crate::numerics::half;

use super::fixture::Proxy;

/// What the head's residual is added to.
#[derive(Clone, Copy, Debug)]
pub enum Base<'a> {
    /// The proxy's code values, centred here with one rounding.
    Proxy(&'a Proxy),
    /// Lanes 4 to 6 of the input features, `[field rows][16]`: already centred.
    Features(&'a [f32]),
}

/// The published RGB halves `[valid rows][3]`: `T(clamp(inner * 8 + 0.5, 0, 1))`, truncated toward zero.
///
/// `head` is `[field rows][4]`, RGB residual first. Returns `None` when a buffer is shorter than its extent.
pub fn published(head: &[f32], field: Extent, valid: Extent, base: Base) -> Option<Vec<u16>> {
    let field_width = field.width as usize;
    let mut out = Vec::with_capacity(valid.pixels() * 3);
    for y in 0..valid.height as usize {
        for x in 0..valid.width as usize {
            let pixel = y * field_width + x;
            let residual = head.get(pixel * 4..pixel * 4 + 3)?;
            let centred: [f32; 3] = match base {
                Base::Proxy(proxy) => proxy.pixel(x, y, valid)?.map(|p| p.mul_add(0.125, -0.0625)),
                Base::Features(lanes) => {
                    let lanes = lanes.get(pixel * 16 + 4..pixel * 16 + 7)?;
                    [lanes[0], lanes[1], lanes[2]]
                }
            };
            out.extend(residual.iter().zip(centred).map(|(&h, c)| half::from_f32_truncated(neural(h, c))));
        }
    }
    Some(out)
}

/// The colour before publishing, 0..=1, from a residual and a centred code.
fn neural(residual: f32, centred: f32) -> f32 {
    let inner = residual.mul_add(0.03125, centred);
    (inner * 8.0 + 0.5).clamp(0.0, 1.0)
}

/// Published halves as f32 RGBA, alpha 1: the form of an f32 output reference.
pub fn rgba_f32(published: &[u16]) -> Vec<f32> {
    published
        .chunks_exact(3)
        .flat_map(|rgb| [half::to_f32(rgb[0]), half::to_f32(rgb[1]), half::to_f32(rgb[2]), 1.0])
        .collect()
}

/// Published halves as 8-bit RGB: `floor(v * 255 + 0.5)`, product and sum exact, one rounding to f32.
pub fn rgb8(published: &[u16]) -> Vec<u8> {
    published.iter().map(|&half| (f64::from(half::to_f32(half)) * 255.0 + 0.5) as f32 as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(case: &serde_json::Value, key: &str) -> u32 {
        let text = case[key].as_str().unwrap();
        u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
    }

    #[test]
    fn samples_match_the_vectors() {
        let vectors: serde_json::Value = serde_json::from_str(include_str!("../../tests/vectors/frame.json")).unwrap();
        let cases = vectors["compose"].as_array().unwrap();
        assert_eq!(cases.len(), 20);
        for case in cases {
            let p = f32::from_bits(bits(case, "proxyF32"));
            let h = f32::from_bits(bits(case, "headF32"));
            let value = neural(h, p.mul_add(0.125, -0.0625));
            assert_eq!(value.to_bits(), bits(case, "valueF32"), "{case}");
            let proxy = Proxy::new(1, 1, vec![p, p, p, 1.0]).unwrap();
            let one = Extent::new(1, 1);
            let out = published(&[h, h, h, 0.0], one, one, Base::Proxy(&proxy)).unwrap();
            assert_eq!(u32::from(out[1]), bits(case, "publishedHalf"), "{case}");
            assert_eq!(u64::from(rgb8(&out)[2]), case["byte"].as_u64().unwrap(), "{case}");
            assert_eq!(rgba_f32(&out)[3], 1.0);
        }
    }

    #[test]
    fn feature_lanes_stand_in_for_a_proxy() {
        let one = Extent::new(1, 1);
        let mut lanes = [0.0; 16];
        lanes[4..7].copy_from_slice(&[0.0, 0.0625, -0.0625]);
        let out = published(&[0.0; 4], one, one, Base::Features(&lanes)).unwrap();
        assert_eq!(rgb8(&out), [128, 255, 0]);
        assert!(published(&[0.0; 3], one, Extent::new(2, 1), Base::Features(&lanes)).is_none());
    }
}
