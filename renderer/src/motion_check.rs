//! A self check of the motion vectors: does the previous frame, moved by them, look like this
//! one?

use crate::picture::Picture;

/// Mean absolute differences between a frame and its predecessor fetched in three ways, over
/// the same pixels, in display code values 0..=1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionCheck {
    /// The predecessor reprojected by the motion vectors.
    pub reprojected: f64,
    /// Control: the predecessor as it is.
    pub still: f64,
    /// Control: reprojected with the signs of the vectors flipped.
    pub flipped: f64,
    /// Pixels compared.
    pub pixels: usize,
    /// How far they moved on average, in pixels.
    pub moved: f64,
}

impl MotionCheck {
    /// Whether reprojection explains the change: the error is at most `share` of either control.
    #[must_use]
    pub fn passes(&self, share: f64) -> bool {
        self.pixels > 0 && self.reprojected <= share * self.still.min(self.flipped)
    }
}

/// Which pixels are compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Compared {
    /// All surfaces.
    Surfaces,
    /// Surfaces that moved in the image.
    Moving,
}

/// Compares `current` with `previous`. Pixels count that show a surface, whose motion is
/// valid and whose whole neighbourhood showed the same object in the predecessor, so that what
/// was hidden there and the mixed pixels of outlines are left out; `None` when that leaves no
/// pixel or the sizes differ.
///
/// Noise counts as error, so both frames are best rendered without effects, or with many
/// samples.
#[must_use]
pub fn check_motion(current: &Picture, previous: &Picture, compared: Compared) -> Option<MotionCheck> {
    let (w, h) = (current.width, current.height);
    if (previous.width, previous.height) != (w, h) {
        return None;
    }
    let mut sums = [0.0_f64; 3];
    let mut way = 0.0_f64;
    let mut pixels = 0_usize;
    for y in 0..h {
        for x in 0..w {
            let index = y * w + x;
            let id = current.id[index];
            let [mx, my] = current.motion[index].map(|m| m.to_f32());
            let motion = [mx * w as f32, my * h as f32];
            let length = motion[0].hypot(motion[1]);
            let moves = length > 0.25;
            if id == 0 || (compared == Compared::Moving && !moves) {
                continue;
            }
            let here = [x as f32, y as f32];
            let there = [here[0] + motion[0], here[1] + motion[1]];
            if !same_object(previous, there, id) {
                continue;
            }
            let colour = current.rgb(index);
            let back = [here[0] - motion[0], here[1] - motion[1]];
            for (sum, place) in sums.iter_mut().zip([there, here, back]) {
                let fetched = fetch(previous, place);
                *sum += (0..3).map(|c| f64::from((code(fetched[c]) - code(colour[c])).abs())).sum::<f64>() / 3.0;
            }
            way += f64::from(length);
            pixels += 1;
        }
    }
    let mean = sums.map(|s| s / pixels.max(1) as f64);
    let moved = way / pixels.max(1) as f64;
    (pixels > 0).then_some(MotionCheck { reprojected: mean[0], still: mean[1], flipped: mean[2], pixels, moved })
}

/// A display code of a linear value: clamped, with the gamma of about sRGB.
fn code(linear: f32) -> f32 {
    linear.clamp(0.0, 1.0).powf(1.0 / 2.2)
}

/// Whether all four pixels around a place (in pixels, centres at integers) show this object.
fn same_object(picture: &Picture, place: [f32; 2], id: u32) -> bool {
    let (x, y) = (place[0].floor(), place[1].floor());
    if x < 0.0 || y < 0.0 || x + 1.0 >= picture.width as f32 || y + 1.0 >= picture.height as f32 {
        return false;
    }
    let (x, y) = (x as usize, y as usize);
    [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)].into_iter().all(|(x, y)| picture.id[y * picture.width + x] == id)
}

/// Linear colour at a place in pixels, clamped to the edges: by cubic convolution where all of its sixteen pixels show one
/// object, since bilinear weights blur what they fetch and that blur would count as an error; bilinear elsewhere.
fn fetch(picture: &Picture, place: [f32; 2]) -> [f32; 3] {
    let corner = place.map(f32::floor);
    let fraction = [place[0] - corner[0], place[1] - corner[1]];
    let pixel = |dx: i64, dy: i64| {
        let at = |base: f32, offset: i64, size: usize| (base as i64 + offset).clamp(0, size as i64 - 1) as usize;
        at(corner[1], dy, picture.height) * picture.width + at(corner[0], dx, picture.width)
    };
    let id = picture.id[pixel(0, 0)];
    let whole = (-1..=2).all(|dy| (-1..=2).all(|dx| picture.id[pixel(dx, dy)] == id));
    let weights = fraction.map(if whole { cubic } else { linear });
    let mut sum = [0.0; 3];
    for (dy, down) in (-1..).zip(weights[1]) {
        for (dx, across) in (-1..).zip(weights[0]) {
            let rgb = picture.rgb(pixel(dx, dy));
            sum = std::array::from_fn(|c| sum[c] + down * across * rgb[c]);
        }
    }
    sum
}

/// Weights of four neighbours for a place `t` after the second one: the Catmull-Rom spline (Keys, "Cubic convolution
/// interpolation for digital image processing", 1981, a = -1/2).
fn cubic(t: f32) -> [f32; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [-t3 + 2.0 * t2 - t, 3.0 * t3 - 5.0 * t2 + 2.0, -3.0 * t3 + 4.0 * t2 + t, t3 - t2].map(|w| 0.5 * w)
}

/// Weights of the same four neighbours for bilinear interpolation.
fn linear(t: f32) -> [f32; 4] {
    [0.0, 1.0 - t, t, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    /// A wavy picture shifted by `shift` pixels to the right, with that motion.
    fn wave(shift: f32) -> Picture {
        let (width, height) = (48, 16);
        let color = (0..width * height)
            .map(|i| {
                let x = (i % width) as f32 - shift;
                let v = f16::from_f32(0.5 + 0.4 * (x * 0.5).sin());
                [v, v, v, f16::ONE]
            })
            .collect();
        Picture {
            width,
            height,
            color,
            depth: vec![1.0; width * height],
            motion: vec![[f16::from_f32(-shift / width as f32), f16::ZERO]; width * height],
            id: vec![1; width * height],
        }
    }

    #[test]
    fn right_motion_beats_both_controls() {
        let check = check_motion(&wave(2.5), &wave(0.0), Compared::Moving).unwrap();
        assert!(check.passes(1.0 / 3.0), "{check:?}");
    }

    #[test]
    fn weights_are_those_of_the_place() {
        for weights in [linear, cubic] {
            assert_eq!(weights(0.0), [0.0, 1.0, 0.0, 0.0]);
            assert!((weights(0.3).iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
        // Exact for polynomials of the second degree.
        let square: f32 = cubic(0.25).iter().zip([1.0, 0.0, 1.0, 4.0]).map(|(w, y)| w * y).sum();
        assert!((square - 0.0625).abs() < 1e-6, "{square}");
    }

    #[test]
    fn a_fine_texture_is_not_blurred() {
        let check = check_motion(&wave(2.5), &wave(0.0), Compared::Surfaces).unwrap();
        assert!(check.passes(0.05), "{check:?}");
    }

    #[test]
    fn wrong_motion_fails() {
        let mut current = wave(2.5);
        for m in &mut current.motion {
            m[0] = -m[0];
        }
        let check = check_motion(&current, &wave(0.0), Compared::Surfaces).unwrap();
        assert!(!check.passes(1.0), "{check:?}");
    }

    #[test]
    fn nothing_to_compare_is_none() {
        let mut current = wave(1.0);
        current.id.fill(0);
        assert_eq!(check_motion(&current, &wave(0.0), Compared::Surfaces), None);
        let still = wave(0.0);
        assert_eq!(check_motion(&still, &still, Compared::Moving), None);
    }
}
