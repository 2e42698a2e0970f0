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
    let mut pixels = 0_usize;
    for y in 0..h {
        for x in 0..w {
            let index = y * w + x;
            let id = current.id[index];
            let [mx, my] = current.motion[index].map(|m| m.to_f32());
            let motion = [mx * w as f32, my * h as f32];
            let moved = motion[0].hypot(motion[1]) > 0.25;
            if id == 0 || (compared == Compared::Moving && !moved) {
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
                let fetched = bilinear(previous, place);
                *sum += (0..3).map(|c| f64::from((code(fetched[c]) - code(colour[c])).abs())).sum::<f64>() / 3.0;
            }
            pixels += 1;
        }
    }
    let mean = sums.map(|s| s / pixels.max(1) as f64);
    (pixels > 0).then_some(MotionCheck { reprojected: mean[0], still: mean[1], flipped: mean[2], pixels })
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

/// Linear colour at a place in pixels, clamped to the edges.
fn bilinear(picture: &Picture, place: [f32; 2]) -> [f32; 3] {
    let x = place[0].clamp(0.0, picture.width as f32 - 1.0);
    let y = place[1].clamp(0.0, picture.height as f32 - 1.0);
    let (x0, y0) = (x as usize, y as usize);
    let (x1, y1) = ((x0 + 1).min(picture.width - 1), (y0 + 1).min(picture.height - 1));
    let (fx, fy) = (x - x0 as f32, y - y0 as f32);
    let at = |x: usize, y: usize| picture.rgb(y * picture.width + x);
    let (a, b, c, d) = (at(x0, y0), at(x1, y0), at(x0, y1), at(x1, y1));
    std::array::from_fn(|i| {
        let top = a[i] + (b[i] - a[i]) * fx;
        let bottom = c[i] + (d[i] - c[i]) * fx;
        top + (bottom - top) * fy
    })
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
