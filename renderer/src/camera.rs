//! The camera: a pinhole looking along a yaw and a pitch, with y up, right-handed.

use glam::{Vec2, Vec3};

/// Steepest pitch, in radians: short of straight up, where yaw would be undefined.
pub const MAX_PITCH: f32 = 1.55;

/// A pinhole camera. Screen coordinates are in uv units: (0, 0) the top left corner of the
/// image, (1, 1) the bottom right one, y down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position in the world, metres.
    pub position: Vec3,
    /// Turn to the right about the vertical axis, radians; 0 looks along -z.
    pub yaw: f32,
    /// Turn upwards, radians, within ±[`MAX_PITCH`].
    pub pitch: f32,
    /// Vertical field of view, radians, in (0, pi).
    pub fov_y: f32,
}

/// The camera's axes as unit vectors of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axes {
    /// To the right of the image.
    pub right: Vec3,
    /// To the top of the image.
    pub up: Vec3,
    /// Into the image; depth is measured along it.
    pub forward: Vec3,
}

impl Camera {
    /// A camera at `position` that has `target` in the middle of its image.
    #[must_use]
    pub fn looking_at(position: Vec3, target: Vec3, fov_y: f32) -> Self {
        let d = (target - position).normalize_or(Vec3::NEG_Z);
        Self { position, yaw: d.x.atan2(-d.z), pitch: d.y.asin().clamp(-MAX_PITCH, MAX_PITCH), fov_y }
    }

    /// The axes of the image.
    #[must_use]
    pub fn axes(&self) -> Axes {
        let (sy, cy) = self.yaw.sin_cos();
        let (sp, cp) = self.pitch.sin_cos();
        let forward = Vec3::new(sy * cp, sp, -cy * cp);
        let right = Vec3::new(cy, 0.0, sy);
        Axes { right, up: right.cross(forward), forward }
    }

    /// Half extents of the image plane at distance 1, for an image of `aspect` (width over
    /// height).
    #[must_use]
    pub fn half_extent(&self, aspect: f32) -> Vec2 {
        let y = (self.fov_y * 0.5).tan();
        Vec2::new(y * aspect, y)
    }

    /// Direction of the ray through `uv`, with a component of 1 along the forward axis.
    #[must_use]
    pub fn ray(&self, uv: Vec2, aspect: f32) -> Vec3 {
        let axes = self.axes();
        let h = self.half_extent(aspect);
        let (x, y) = ((2.0 * uv.x - 1.0) * h.x, (1.0 - 2.0 * uv.y) * h.y);
        axes.forward + axes.right * x + axes.up * y
    }

    /// Where a world point appears, in uv units, and its depth along the forward axis.
    /// `None` when it isn't in front of the camera.
    #[must_use]
    pub fn project(&self, world: Vec3, aspect: f32) -> Option<(Vec2, f32)> {
        let axes = self.axes();
        let d = world - self.position;
        let depth = d.dot(axes.forward);
        if depth <= 1e-4 {
            return None;
        }
        let h = self.half_extent(aspect);
        let ndc = Vec2::new(d.dot(axes.right), d.dot(axes.up)) / (depth * h);
        Some((Vec2::new(0.5 + 0.5 * ndc.x, 0.5 - 0.5 * ndc.y), depth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAMERA: Camera = Camera { position: Vec3::new(1.0, 2.0, 3.0), yaw: 0.6, pitch: -0.3, fov_y: 1.0 };

    #[test]
    fn axes_are_orthonormal_and_right_handed() {
        let Axes { right, up, forward } = CAMERA.axes();
        for (a, b) in [(right, up), (up, forward), (forward, right)] {
            assert!(a.dot(b).abs() < 1e-6);
        }
        assert!((right.cross(up) + forward).length() < 1e-6);
        assert!(up.y > 0.0);
    }

    #[test]
    fn project_undoes_ray() {
        for uv in [Vec2::new(0.5, 0.5), Vec2::new(0.1, 0.8), Vec2::new(0.95, 0.05)] {
            let world = CAMERA.position + CAMERA.ray(uv, 1.6) * 7.0;
            let (back, depth) = CAMERA.project(world, 1.6).unwrap();
            assert!((back - uv).length() < 1e-5, "{uv} came back as {back}");
            assert!((depth - 7.0).abs() < 1e-4);
        }
    }

    #[test]
    fn screen_directions() {
        let camera = Camera { position: Vec3::ZERO, yaw: 0.0, pitch: 0.0, fov_y: 1.0 };
        let at = |p| camera.project(p, 1.0).unwrap().0;
        assert!(at(Vec3::new(1.0, 0.0, -5.0)).x > 0.5, "+x is to the right");
        assert!(at(Vec3::new(0.0, 1.0, -5.0)).y < 0.5, "+y is up, uv is down");
        assert_eq!(camera.project(Vec3::new(0.0, 0.0, 5.0), 1.0), None);
    }

    #[test]
    fn looking_at_centres_the_target() {
        let target = Vec3::new(-3.0, 0.5, -2.0);
        let camera = Camera::looking_at(Vec3::new(4.0, 2.0, 6.0), target, 0.9);
        let (uv, _) = camera.project(target, 1.5).unwrap();
        assert!((uv - Vec2::splat(0.5)).length() < 1e-5);
    }
}
