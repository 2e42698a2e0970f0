//! Closed paths through positions and targets.

use crate::camera::Camera;
use glam::Vec3;

/// One stop of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraKey {
    /// Position of the camera, metres.
    pub position: Vec3,
    /// Point in the middle of the image.
    pub target: Vec3,
}

/// A smooth loop through its keys (uniform Catmull-Rom), the same time from each key to the
/// next. A pure function of time: the same time gives the same camera.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The stops, in order; the last leads back to the first. Without any the camera stands
    /// at the origin.
    pub keys: Vec<CameraKey>,
    /// Seconds for one round; must be positive.
    pub seconds: f64,
    /// Vertical field of view, radians.
    pub fov_y: f32,
}

impl Round {
    /// The camera at `time` seconds, which may be of any sign and size.
    #[must_use]
    pub fn at(&self, time: f64) -> Camera {
        let count = self.keys.len();
        if count == 0 {
            return Camera::looking_at(Vec3::ZERO, Vec3::NEG_Z, self.fov_y);
        }
        let place = (time / self.seconds).rem_euclid(1.0) * count as f64;
        let index = (place as usize).min(count - 1);
        let f = (place - index as f64) as f32;
        let key = |i: usize| self.keys[(index + count + i - 1) % count];
        let keys = [key(0), key(1), key(2), key(3)];
        Camera::looking_at(catmull_rom(keys.map(|k| k.position), f), catmull_rom(keys.map(|k| k.target), f), self.fov_y)
    }
}

/// The point at `f` in 0..=1 between `p[1]` and `p[2]`.
pub(super) fn catmull_rom(p: [Vec3; 4], f: f32) -> Vec3 {
    let slope1 = (p[2] - p[0]) * 0.5;
    let slope2 = (p[3] - p[1]) * 0.5;
    let d = p[1] - p[2];
    let a = 2.0 * d + slope1 + slope2;
    let b = -3.0 * d - 2.0 * slope1 - slope2;
    ((a * f + b) * f + slope1) * f + p[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Round {
        let key = |x: f32, z: f32| CameraKey { position: Vec3::new(x, 2.0, z), target: Vec3::new(0.0, 1.0, 0.1 * z) };
        Round { keys: vec![key(5.0, 0.0), key(0.0, 5.0), key(-5.0, 0.0), key(0.0, -5.0)], seconds: 8.0, fov_y: 0.9 }
    }

    #[test]
    fn passes_its_keys_and_closes() {
        let path = path();
        for (i, key) in path.keys.iter().enumerate() {
            let camera = path.at(i as f64 * 2.0);
            assert!((camera.position - key.position).length() < 1e-5);
        }
        assert_eq!(path.at(1.3), path.at(1.3 + 8.0));
        assert!((path.at(-0.5).position - path.at(7.5).position).length() < 1e-5);
    }

    #[test]
    fn is_smooth() {
        let path = path();
        let step = 1.0 / 60.0;
        let speed = |t: f64| (path.at(t + step).position - path.at(t).position).length();
        for i in 0..480 {
            let t = f64::from(i) * step;
            assert!(speed(t) < 0.12);
            assert!((speed(t + step) - speed(t)).abs() < 0.01, "a jolt at {t}");
        }
    }

    #[test]
    fn an_empty_path_is_harmless() {
        let path = Round { keys: Vec::new(), seconds: 1.0, fov_y: 1.0 };
        assert_eq!(path.at(3.0).position, Vec3::ZERO);
    }
}
