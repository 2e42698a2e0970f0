//! What one frame shows: which instant, from where, with which random numbers.

use crate::camera::Camera;
use crate::jitter::halton_jitter;
use crate::scene::Scene;

/// Parts of the picture that can be left out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Effects {
    /// One shadow ray a sample; without, light passes through everything.
    pub shadows: bool,
    /// One ambient-occlusion ray a sample.
    pub ao: bool,
    /// One glossy-reflection ray a sample.
    pub reflections: bool,
    /// Whether [`View::jitter`] is applied to single samples.
    pub jitter: bool,
}

impl Effects {
    /// Everything on.
    pub const ALL: Self = Self { shadows: true, ao: true, reflections: true, jitter: true };

    /// Everything off: the picture holds no random number.
    pub const NONE: Self = Self { shadows: false, ao: false, reflections: false, jitter: false };
}

impl Default for Effects {
    fn default() -> Self {
        Self::ALL
    }
}

/// One frame to render.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Camera of this frame.
    pub camera: Camera,
    /// Camera of the frame before; motion points to it. After a cut: the same as `camera`.
    pub previous_camera: Camera,
    /// Instant of this frame, seconds.
    pub time: f64,
    /// Instant of the frame before, seconds.
    pub previous_time: f64,
    /// Offset of the single sample from the pixel centre, pixels, each axis in [-0.5, 0.5).
    pub jitter: [f32; 2],
    /// Noise seed; consecutive frames take consecutive numbers.
    pub frame: u32,
    /// Samples a pixel. 1 is a real-time frame; more are spread over the pixel and averaged in
    /// f32, whatever `jitter` says. 0 counts as 1.
    pub samples: u32,
    /// Parts of the picture.
    pub effects: Effects,
}

impl View {
    /// Frame `frame` of the scripted animation at `rate` frames a second (must be positive),
    /// with the scripted camera and the Halton jitter. Frame 0 has no predecessor: its motion
    /// is zero, as that of the camera is after a cut.
    #[must_use]
    pub fn scripted(scene: &Scene, frame: u32, rate: f64) -> Self {
        let time = |frame: u32| f64::from(frame) / rate;
        Self::between(scene, time(frame.saturating_sub(1)), time(frame), frame)
    }

    /// Frame number `frame` of any sequence, at `time` seconds with the frame before at `previous_time`.
    #[must_use]
    pub fn between(scene: &Scene, previous_time: f64, time: f64, frame: u32) -> Self {
        let cut = scene.path.cuts(previous_time, time);
        Self {
            camera: scene.path.at(time),
            previous_camera: scene.path.at(if cut { time } else { previous_time }),
            time,
            previous_time,
            jitter: halton_jitter(frame),
            frame,
            samples: 1,
            effects: Effects::ALL,
        }
    }

    /// Whether the scripted camera jumps before frame `frame`, so that its history is of another
    /// place.
    #[must_use]
    pub fn cut_before(scene: &Scene, frame: u32, rate: f64) -> bool {
        frame > 0 && scene.path.cuts(f64::from(frame - 1) / rate, f64::from(frame) / rate)
    }

    /// The same instant seen from a camera that does not move.
    #[must_use]
    pub fn with_still_camera(self, camera: Camera) -> Self {
        Self { camera, previous_camera: camera, ..self }
    }

    /// The same instant with `samples` samples a pixel.
    #[must_use]
    pub fn with_samples(self, samples: u32) -> Self {
        Self { samples, ..self }
    }

    /// The same instant with other effects.
    #[must_use]
    pub fn with_effects(self, effects: Effects) -> Self {
        Self { effects, ..self }
    }

    /// The jitter that a single sample really gets.
    #[must_use]
    pub fn applied_jitter(&self) -> [f32; 2] {
        if self.effects.jitter && self.samples <= 1 { self.jitter } else { [0.0; 2] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripted_frames_follow_each_other() {
        let scene = Scene::builtin();
        let (a, b) = (View::scripted(&scene, 6, 30.0), View::scripted(&scene, 7, 30.0));
        assert_eq!(b.previous_camera, a.camera);
        assert_eq!(b.previous_time, a.time);
        assert_ne!(a.jitter, b.jitter);
        let first = View::scripted(&scene, 0, 30.0);
        assert_eq!(first.camera, first.previous_camera);
    }

    #[test]
    fn jitter_is_for_single_samples() {
        let view = View::scripted(&Scene::builtin(), 3, 30.0);
        assert_eq!(view.applied_jitter(), view.jitter);
        assert_eq!(view.with_samples(4).applied_jitter(), [0.0; 2]);
        assert_eq!(view.with_effects(Effects::NONE).applied_jitter(), [0.0; 2]);
    }
}
