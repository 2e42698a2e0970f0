//! Sub-pixel jitter: the Halton sequence in bases 2 and 3.

/// Number of frames after which the jitter repeats.
pub const JITTER_FRAMES: u32 = 16;

/// Element `index` of the van der Corput sequence of `base`, in [0, 1).
#[must_use]
pub fn radical_inverse(mut index: u32, base: u32) -> f32 {
    let base = base.max(2);
    let (mut value, mut scale) = (0.0_f64, 1.0 / f64::from(base));
    while index > 0 {
        value += f64::from(index % base) * scale;
        index /= base;
        scale /= f64::from(base);
    }
    value as f32
}

/// Offset of the sample of `frame` from the pixel centre, in pixels, each axis in
/// [-0.5, 0.5): Halton(2, 3) from element 1, repeating after [`JITTER_FRAMES`].
#[must_use]
pub fn halton_jitter(frame: u32) -> [f32; 2] {
    let index = frame % JITTER_FRAMES + 1;
    [radical_inverse(index, 2) - 0.5, radical_inverse(index, 3) - 0.5]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_elements_are_the_known_ones() {
        let base2: Vec<f32> = (1..5).map(|i| radical_inverse(i, 2)).collect();
        assert_eq!(base2, [0.5, 0.25, 0.75, 0.125]);
        let base3: Vec<f32> = (1..4).map(|i| radical_inverse(i, 3)).collect();
        assert_eq!(base3, [1.0 / 3.0, 2.0 / 3.0, 1.0 / 9.0]);
    }

    #[test]
    fn jitter_repeats_stays_in_the_pixel_and_is_centred() {
        let all: Vec<[f32; 2]> = (0..JITTER_FRAMES).map(halton_jitter).collect();
        assert_eq!(halton_jitter(3), halton_jitter(3 + JITTER_FRAMES));
        assert!(all.iter().flatten().all(|v| (-0.5..0.5).contains(v)));
        for axis in 0..2 {
            let mean: f32 = all.iter().map(|j| j[axis]).sum::<f32>() / all.len() as f32;
            assert!(mean.abs() < 0.05, "axis {axis} is off centre by {mean}");
        }
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b), "offset {i} repeats");
        }
    }
}
