//! Which part of the image is seen, and how large. All panels share one zoom.

use network::geometry::Extent;

/// Largest magnification, in window pixels per image pixel.
const LARGEST: f32 = 64.0;
/// Magnification of one notch of the wheel.
const NOTCH: f32 = 1.25;

/// Scale and centre of what is seen.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Zoom {
    /// Window pixels per image pixel; as large as fits without one.
    pub scale: Option<f32>,
    /// The image point in the middle, 0 to 1 across and down. Used as far as the image fills its area.
    pub center: [f32; 2],
}

impl Default for Zoom {
    fn default() -> Self {
        Self::FIT
    }
}

impl Zoom {
    /// All of the image, as large as fits.
    pub const FIT: Self = Self { scale: None, center: [0.5; 2] };

    /// Window pixels per image pixel, and the window position of the image's corner.
    ///
    /// An image larger than the area fills it, a smaller one is centred, along each axis.
    pub fn place(&self, area: [i32; 4], image: Extent) -> (f32, [f32; 2]) {
        let fitting = fit(area, image);
        let scale = match self.scale {
            Some(scale) if scale.is_finite() => scale.clamp(fitting.min(1.0) / 2.0, LARGEST.max(fitting)),
            _ => fitting,
        };
        let origin = [(image.width, 0), (image.height, 1)].map(|(side, axis)| {
            let (start, end) = (area[axis] as f32, area[axis + 2] as f32);
            let length = side.max(1) as f32 * scale;
            if length <= end - start {
                return start + ((end - start - length) / 2.0).round();
            }
            let center = if self.center[axis].is_finite() { self.center[axis] } else { 0.5 };
            let wished = (start + end) / 2.0 - center * length;
            wished.clamp(end - length, start).round()
        });
        (scale, origin)
    }

    /// Zooms by notches of the wheel around a window position, whose image point stays where it is.
    pub fn wheel(&mut self, notches: f32, at: [f32; 2], area: [i32; 4], image: Extent) {
        let now = self.place(area, image).0;
        self.rescale(snapped(now, now * NOTCH.powf(notches)), at, area, image);
    }

    /// Another scale around a window position.
    pub fn rescale(&mut self, scale: f32, at: [f32; 2], area: [i32; 4], image: Extent) {
        let (now, origin) = self.place(area, image);
        let point = [0, 1].map(|axis| (at[axis] - origin[axis]) / now);
        // The limits of the scale apply before the centre is chosen.
        let scale = Self { scale: Some(scale), ..*self }.place(area, image).0;
        let corner = [0, 1].map(|axis| at[axis] - point[axis] * scale);
        *self = Self { scale: Some(scale), center: self.center };
        self.move_corner(corner, scale, area, image);
    }

    /// Moves the image by window pixels.
    pub fn pan(&mut self, by: [f32; 2], area: [i32; 4], image: Extent) {
        let (scale, origin) = self.place(area, image);
        self.move_corner([origin[0] + by[0], origin[1] + by[1]], scale, area, image);
    }

    /// The same part of the image after its size has changed from one to another.
    pub fn resized(&mut self, from: Extent, to: Extent) {
        self.scale = self.scale.map(|scale| scale * from.width.max(1) as f32 / to.width.max(1) as f32);
    }

    fn move_corner(&mut self, corner: [f32; 2], scale: f32, area: [i32; 4], image: Extent) {
        for (axis, side) in [image.width, image.height].into_iter().enumerate() {
            let (start, end) = (area[axis] as f32, area[axis + 2] as f32);
            let length = side.max(1) as f32 * scale;
            let half = ((end - start) / 2.0 / length).min(0.5);
            // Kept where it has an effect, so that the way back begins at once.
            self.center[axis] = (((start + end) / 2.0 - corner[axis]) / length).clamp(half, 1.0 - half);
        }
    }
}

/// Stops at 1:1 on the way, where pixels are exact.
fn snapped(from: f32, to: f32) -> f32 {
    if (from < 0.999 && to > 1.0) || (from > 1.001 && to < 1.0) { 1.0 } else { to }
}

/// The largest scale that fits into a rectangle. One near a whole number is made whole, so that pixels stay even.
fn fit(area: [i32; 4], image: Extent) -> f32 {
    let width = (area[2] - area[0]).max(1) as f32;
    let height = (area[3] - area[1]).max(1) as f32;
    let scale = (width / image.width.max(1) as f32).min(height / image.height.max(1) as f32);
    let even = scale.floor();
    if even >= 1.0 && scale - even < 0.04 * even { even } else { scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: [i32; 4] = [276, 0, 1280, 800];
    const IMAGE: Extent = Extent::new(640, 360);

    fn point(zoom: &Zoom, at: [f32; 2]) -> [f32; 2] {
        let (scale, origin) = zoom.place(AREA, IMAGE);
        [0, 1].map(|axis| (at[axis] - origin[axis]) / scale)
    }

    #[test]
    fn the_point_under_the_pointer_stays() {
        // Larger than its area; a smaller image is centred instead.
        let mut zoom = Zoom { scale: Some(3.0), center: [0.5; 2] };
        let at = [500.0, 420.0];
        let before = point(&zoom, at);
        for _ in 0..12 {
            zoom.wheel(1.0, at, AREA, IMAGE);
        }
        let after = point(&zoom, at);
        assert!(zoom.place(AREA, IMAGE).0 > 10.0);
        assert!((before[0] - after[0]).abs() < 0.5, "{before:?} {after:?}");
        assert!((before[1] - after[1]).abs() < 0.5, "{before:?} {after:?}");
        for _ in 0..40 {
            zoom.wheel(1.0, at, AREA, IMAGE);
        }
        assert_eq!(zoom.place(AREA, IMAGE).0, LARGEST);
    }

    #[test]
    fn the_wheel_stops_at_one_to_one() {
        let large = Extent::new(3840, 2160);
        let mut zoom = Zoom::FIT;
        let mut scales = Vec::new();
        for _ in 0..12 {
            zoom.wheel(1.0, [700.0, 400.0], AREA, large);
            scales.push(zoom.place(AREA, large).0);
        }
        assert!(scales.contains(&1.0), "{scales:?}");
        assert!(scales.is_sorted() && scales[0] < scales[11]);
    }

    #[test]
    fn an_image_never_leaves_its_area() {
        let mut zoom = Zoom { scale: Some(4.0), center: [0.5; 2] };
        for by in [[1e5, 1e5], [-1e5, -1e5], [1e5, -1e5]] {
            zoom.pan(by, AREA, IMAGE);
            let (scale, origin) = zoom.place(AREA, IMAGE);
            assert!(origin[0] <= 276.0 && origin[0] + 640.0 * scale >= 1280.0, "{origin:?}");
            assert!(origin[1] <= 0.0 && origin[1] + 360.0 * scale >= 800.0, "{origin:?}");
        }
        // The way back begins at once.
        let before = zoom.place(AREA, IMAGE).1;
        zoom.pan([-10.0, 10.0], AREA, IMAGE);
        let after = zoom.place(AREA, IMAGE).1;
        assert_eq!([after[0] - before[0], after[1] - before[1]], [-10.0, 10.0]);
    }

    #[test]
    fn broken_numbers_have_a_place() {
        for zoom in [
            Zoom { scale: Some(f32::NAN), center: [f32::NAN; 2] },
            Zoom { scale: Some(0.0), center: [-9.0, 9.0] },
            Zoom { scale: Some(f32::INFINITY), center: [f32::INFINITY; 2] },
            Zoom { scale: Some(4.0), center: [f32::NAN; 2] },
        ] {
            let (scale, origin) = zoom.place(AREA, IMAGE);
            assert!(scale > 0.0 && scale.is_finite() && origin.iter().all(|side| side.is_finite()));
        }
    }

    #[test]
    fn another_size_shows_the_same_part() {
        let mut zoom = Zoom { scale: Some(4.0), center: [0.3, 0.6] };
        let at = [700.0, 300.0];
        let before = point(&zoom, at);
        let half = Extent::new(320, 180);
        zoom.resized(IMAGE, half);
        let (scale, origin) = zoom.place(AREA, half);
        let after = [0, 1].map(|axis| 2.0 * (at[axis] - origin[axis]) / scale);
        assert!((before[0] - after[0]).abs() < 0.5 && (before[1] - after[1]).abs() < 0.5);
    }
}
