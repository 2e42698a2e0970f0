//! Free flight: how held keys and mouse movement change a camera.

use crate::camera::{Camera, MAX_PITCH};

/// What the person at the controls does during one step, as plain numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlyInput {
    /// W minus S, in -1..=1.
    pub forward: f32,
    /// D minus A, in -1..=1.
    pub right: f32,
    /// E minus Q, in -1..=1; along the vertical of the world.
    pub up: f32,
    /// Mouse movement while dragging, in pixels, y down.
    pub look: [f32; 2],
    /// Whether to move faster (shift).
    pub fast: bool,
}

impl FlyInput {
    /// Whether anything would change.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.forward == 0.0 && self.right == 0.0 && self.up == 0.0 && self.look == [0.0; 2]
    }
}

/// How fast a camera flies and turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlySettings {
    /// Metres a second.
    pub speed: f32,
    /// Factor on the speed while [`FlyInput::fast`].
    pub fast_factor: f32,
    /// Radians a pixel of mouse movement.
    pub look_speed: f32,
}

impl Default for FlySettings {
    fn default() -> Self {
        Self { speed: 3.0, fast_factor: 4.0, look_speed: 0.004 }
    }
}

/// The camera after `seconds` of `input`. Moving the mouse to the right turns right, moving
/// it down looks down. Diagonal movement is no faster than straight movement.
#[must_use]
pub fn fly(camera: &Camera, input: &FlyInput, settings: &FlySettings, seconds: f32) -> Camera {
    let yaw = camera.yaw + input.look[0] * settings.look_speed;
    let pitch = camera.pitch - input.look[1] * settings.look_speed;
    let mut next =
        Camera { yaw: yaw.rem_euclid(std::f32::consts::TAU), pitch: pitch.clamp(-MAX_PITCH, MAX_PITCH), ..*camera };
    let axes = next.axes();
    let wish = axes.forward * input.forward + axes.right * input.right + glam::Vec3::Y * input.up;
    let speed = settings.speed * if input.fast { settings.fast_factor } else { 1.0 };
    next.position += wish.clamp_length_max(1.0) * (speed * seconds);
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    const START: Camera = Camera { position: Vec3::ZERO, yaw: 0.0, pitch: 0.0, fov_y: 1.0 };

    fn after(input: FlyInput, seconds: f32) -> Camera {
        fly(&START, &input, &FlySettings::default(), seconds)
    }

    #[test]
    fn keys_move_along_the_axes() {
        let forward = FlyInput { forward: 1.0, ..Default::default() };
        assert!((after(forward, 2.0).position - Vec3::new(0.0, 0.0, -6.0)).length() < 1e-5);
        let right = FlyInput { right: 1.0, ..Default::default() };
        assert!((after(right, 1.0).position - Vec3::new(3.0, 0.0, 0.0)).length() < 1e-5);
        let down = FlyInput { up: -1.0, fast: true, ..Default::default() };
        assert!((after(down, 1.0).position - Vec3::new(0.0, -12.0, 0.0)).length() < 1e-5);
    }

    #[test]
    fn diagonals_are_no_faster() {
        let input = FlyInput { forward: 1.0, right: 1.0, up: 1.0, ..Default::default() };
        assert!((after(input, 1.0).position.length() - 3.0).abs() < 1e-5);
    }

    #[test]
    fn mouse_turns_right_and_down_and_pitch_is_limited() {
        let input = FlyInput { look: [100.0, 100.0], ..Default::default() };
        let turned = after(input, 0.1);
        assert!(turned.axes().forward.x > 0.0 && turned.axes().forward.y < 0.0);
        assert_eq!(turned.position, START.position);
        let far = FlyInput { look: [0.0, -1e6], ..Default::default() };
        assert_eq!(after(far, 0.1).pitch, MAX_PITCH);
    }

    #[test]
    fn idle_changes_nothing() {
        assert!(FlyInput::default().is_idle());
        assert_eq!(after(FlyInput::default(), 1.0), START);
    }
}
