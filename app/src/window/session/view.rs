//! From where and when a frame sees the scene.

use renderer::{Camera, Effects, Scene, View, halton_jitter};

use super::FROZEN_SEED;
use crate::window::settings::Settings;

/// The next frame: takes the pending time and, on the path, the camera.
pub(super) fn next_view(
    scene: &Scene,
    settings: &Settings,
    camera: &mut Camera,
    time: &mut f64,
    pending: &mut f64,
    last: Option<View>,
    number: u32,
) -> View {
    *time += std::mem::take(pending);
    if settings.path {
        *camera = scene.path.at(*time);
    }
    view_at(settings, *camera, *time, last, number)
}

/// A frame's view of the scene at a time, as one that follows `last`.
pub(super) fn view_at(settings: &Settings, camera: Camera, time: f64, last: Option<View>, number: u32) -> View {
    View {
        camera,
        previous_camera: last.map_or(camera, |view| view.camera),
        time,
        previous_time: last.map_or(time, |view| view.time),
        jitter: halton_jitter(number),
        frame: if settings.look.frozen_seed { FROZEN_SEED } else { number },
        samples: 1,
        effects: Effects {
            shadows: settings.shadows,
            ao: settings.occlusion,
            reflections: settings.reflections,
            jitter: settings.jitter,
        },
    }
}
