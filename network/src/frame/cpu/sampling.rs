//! Where pixels are read from: the mirrored border, the motion rule and the history filter (frame sections 2 and 5).

use super::math::saturate;
use crate::geometry::Extent;
use crate::numerics::half;

/// An RGBA pixel of halves.
pub type Half4 = [u16; 4];

/// Source coordinate of field coordinate `i` in a row or column of `n` pixels: mirrored as often as needed, the edge
/// pixel not repeated.
pub const fn mirror(i: u32, n: u32) -> u32 {
    if i < n {
        return i;
    }
    if n == 1 {
        return 0;
    }
    let period = 2 * (n - 1);
    let r = i % period;
    if r < n { r } else { period - r }
}

/// Coordinate in a source image of `source` pixels of coordinate `i` in a valid rectangle of `valid` pixels.
pub const fn resized(i: u32, valid: u32, source: u32) -> u32 {
    ((2 * i as u64 + 1) * source as u64 / (2 * valid as u64)) as u32
}

/// Motion of a pixel in uv units, y down, current to previous frame, from the renderer's NDC velocity (y up).
///
/// A pixel that shows nothing (`object` 0 and depth 0), or whose previous position is not strictly inside the frame, has
/// zero motion.
pub fn motion_uv(pixel: [u32; 2], extent: Extent, object: u32, depth: f32, velocity: [f32; 2]) -> [f32; 2] {
    let x = (pixel[0] as f32 + 0.5) / extent.width as f32 * 2.0 - 1.0;
    let y = 1.0 - (pixel[1] as f32 + 0.5) / extent.height as f32 * 2.0;
    let drawn = object != 0 || depth.to_bits() != 0;
    if drawn && (x + velocity[0]).abs() < 1.0 && (y + velocity[1]).abs() < 1.0 {
        [0.5 * velocity[0], -0.5 * velocity[1]]
    } else {
        [0.0, 0.0]
    }
}

/// A motion vector as the motion image holds it: two halves, x in the low one.
pub const fn pack_motion(uv: [f32; 2]) -> u32 {
    half::from_f32(uv[0]) as u32 | (half::from_f32(uv[1]) as u32) << 16
}

/// The inverse of [`pack_motion`]. A component that is no finite number counts as 0.
pub const fn unpack_motion(packed: u32) -> [f32; 2] {
    [component(packed as u16), component((packed >> 16) as u16)]
}

const fn component(h: u16) -> f32 {
    if half::is_finite(h) { half::to_f32(h) } else { 0.0 }
}

/// The previous output with the motion that leads to it; both of the valid extent.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// Valid extent.
    pub extent: Extent,
    /// RGBA of each pixel.
    pub color: &'a [Half4],
    /// Packed motion of each pixel, see [`pack_motion`].
    pub motion: &'a [u32],
}

impl History<'_> {
    /// The reprojected history colour of a pixel: five taps of a Catmull-Rom filter, renormalised.
    ///
    /// The motion image has the valid extent, so the nearest motion vector is the pixel's own. Taps are bilinear, in f32;
    /// their coordinates stay in pixels, because dividing by the extent and multiplying again only adds rounding.
    pub fn sample(&self, x: u32, y: u32) -> [f32; 3] {
        let motion = unpack_motion(self.motion[self.index(x, y)]);
        let h = Axis::new(x, motion[0], self.extent.width);
        let v = Axis::new(y, motion[1], self.extent.height);
        let taps = [
            (self.bilinear(h.low, v.center), h.w0 * v.mid),
            (self.bilinear(h.center, v.low), v.w0 * h.mid),
            (self.bilinear(h.center, v.center), h.mid * v.mid),
            (self.bilinear(h.center, v.high), v.w3 * h.mid),
            (self.bilinear(h.high, v.center), h.w3 * v.mid),
        ];
        let [(l, a), (t, b), (c, wc), (bottom, d), (r, e)] = taps;
        let scale = 1.0 / (e + (d + (wc + (a + b))));
        std::array::from_fn(|i| {
            let sum = l[i].mul_add(a, t[i] * b);
            let sum = c[i].mul_add(wc, sum);
            let sum = bottom[i].mul_add(d, sum);
            r[i].mul_add(e, sum) * scale
        })
    }

    fn index(&self, x: u32, y: u32) -> usize {
        y as usize * self.extent.width as usize + x as usize
    }

    /// Bilinear sample at a position in pixels, pixel centres at one half, edges clamped.
    fn bilinear(&self, x: f32, y: f32) -> [f32; 3] {
        let (x0, x1, fx) = neighbours(x, self.extent.width);
        let (y0, y1, fy) = neighbours(y, self.extent.height);
        let pixel = |x, y| self.color[self.index(x, y)];
        let (a, b, c, d) = (pixel(x0, y0), pixel(x1, y0), pixel(x0, y1), pixel(x1, y1));
        let mix = |a: f32, b: f32, f: f32| a * (1.0 - f) + b * f;
        std::array::from_fn(|i| {
            let top = mix(half::to_f32(a[i]), half::to_f32(b[i]), fx);
            let bottom = mix(half::to_f32(c[i]), half::to_f32(d[i]), fx);
            mix(top, bottom, fy)
        })
    }
}

/// The two pixels around a position that is within the image, and the weight of the second.
fn neighbours(position: f32, size: u32) -> (u32, u32, f32) {
    let shifted = position - 0.5;
    let first = shifted.floor();
    let index = first as u32;
    (index, (index + 1).min(size - 1), shifted - first)
}

/// Weights and tap positions of one axis.
struct Axis {
    w0: f32,
    mid: f32,
    w3: f32,
    low: f32,
    center: f32,
    high: f32,
}

impl Axis {
    fn new(pixel: u32, motion: f32, valid: u32) -> Self {
        let size = valid as f32;
        let uv = (pixel as f32 + 0.5) / size;
        let position = (motion + uv) * size;
        let base = (position - 0.5).floor() + 0.5;
        let [w0, w1, w2, w3] = weights(saturate(position - base));
        let mid = w1 + w2;
        let tap = |p: f32| limit(p, 0.5, size - 0.5);
        Self { w0, mid, w3, low: tap(base - 1.0), center: tap(base + w2 / mid), high: tap(base + 2.0) }
    }
}

/// `x` limited to `low..=high`.
fn limit(x: f32, low: f32, high: f32) -> f32 {
    if x > low { if x < high { x } else { high } } else { low }
}

/// Catmull-Rom weights of the four pixels around a position `f` past the second.
pub fn weights(f: f32) -> [f32; 4] {
    let f2 = f * f;
    let f3 = f * f2;
    let w0 = (f + f3).mul_add(-0.5, f2);
    let w1 = (f3 * 1.5 - f2 * 2.5) + 1.0;
    let w3 = (f3 - f2) * 0.5;
    [w0, w1, ((1.0 - w0) - w1) - w3, w3]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::cpu::vectors;

    #[test]
    fn mirrors_of_the_contract() {
        for case in vectors::load("frame")["mirror"].as_array().unwrap() {
            let n = |key: &str| case[key].as_u64().unwrap() as u32;
            assert_eq!(mirror(n("i"), n("n")), n("source"), "{case}");
        }
        assert_eq!((resized(7, 20, 20), resized(19, 20, 10)), (7, 9));
    }

    #[test]
    fn weights_of_the_contract() {
        for case in vectors::load("frame")["catmullRom"].as_array().unwrap() {
            let n = |key: &str| case[key].as_f64().unwrap() as f32;
            assert_eq!(weights(n("f")), [n("w0"), n("w1"), n("w2"), n("w3")]);
        }
    }

    #[test]
    fn motion_of_the_contract() {
        for case in vectors::load("frame")["motion"].as_array().unwrap() {
            let pair = |key: &str| vectors::numbers(&case[key]);
            let (p, s, m) = (pair("pixel"), pair("size"), pair("ndcMotion"));
            let uv = motion_uv(
                [p[0] as u32, p[1] as u32],
                Extent::new(s[0] as u32, s[1] as u32),
                1,
                0.0,
                [m[0] as f32, m[1] as f32],
            );
            assert_eq!(uv.map(f64::from).as_slice(), pair("uvMotion"), "{case}");
        }
        let undrawn = motion_uv([2, 1], Extent::new(4, 4), 0, 0.0, [0.1, 0.1]);
        assert_eq!(undrawn, [0.0, 0.0]);
        assert_eq!(unpack_motion(pack_motion([0.25, -0.5])), [0.25, -0.5]);
    }

    #[test]
    fn no_motion_reads_the_same_pixel() {
        for (w, h) in [(37, 5), (33, 1), (1, 4)] {
            let extent = Extent::new(w, h);
            let value = |i: u32| half::from_f32((i % 97) as f32 / 97.0);
            let color: Vec<Half4> = (0..w * h).map(|i| [value(i), value(3 * i), value(7 * i), 0x3c00]).collect();
            let motion = vec![0; extent.pixels()];
            let history = History { extent, color: &color, motion: &motion };
            for y in 0..h {
                for x in 0..w {
                    let want = color[(y * w + x) as usize];
                    for (got, want) in history.sample(x, y).into_iter().zip(want) {
                        assert!((got - half::to_f32(want)).abs() < 1e-5, "{x},{y}");
                    }
                }
            }
        }
    }

    #[test]
    fn motion_that_leads_nowhere_stays_inside() {
        let extent = Extent::new(3, 2);
        let color = [[0x3800, 0x3800, 0x3800, 0x3c00]; 6];
        for motion in [0x7c00_7c00, 0xfc00_7e00, 0x7bff_fbff, pack_motion([-4.0, 9.0])] {
            let history = History { extent, color: &color, motion: &[motion; 6] };
            for v in history.sample(1, 1) {
                assert!((v - 0.5).abs() < 1e-6, "{motion:#x} {v}");
            }
        }
    }
}
