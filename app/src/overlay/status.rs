//! What the overlay shows: plain numbers and names, gathered by the window.

use super::passes::Passes;
use crate::engine::catalog::Entry;
use crate::engine::fit::Forecast;
use crate::engine::measure::{Doubt, Effect, Probes};
use crate::engine::memory::Memory;
use crate::engine::retain::Replay;
use crate::window::exposure::White;
use crate::window::probe::Reading;
use crate::window::reference::Samples;

/// The state of the program in one frame, for people.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Status {
    /// Name of the device.
    pub device: String,
    /// The weights in words.
    pub model: String,
    /// First digits of the weights' digest.
    pub digest: String,
    /// Route that computes the network.
    pub route: String,
    /// How the network's commands reach the device.
    pub replay: Option<Replay>,
    /// Size rendered, `WIDTHxHEIGHT`.
    pub size: String,
    /// Padded size that the network works on.
    pub field: String,
    /// Work of a frame, in 10^9 floating-point operations.
    pub gflop: Option<f64>,
    /// Size of the window's picture area, in pixels.
    #[serde(skip)]
    pub area: [u32; 2],
    /// What `--scene` takes to name the scene that is shown.
    pub scene: String,
    /// Scenes to choose from.
    pub scenes: Vec<Entry>,
    /// Cameras of the scene.
    pub cameras: Vec<String>,
    /// Seconds of the camera's way recorded so far, while it is.
    pub recording: Option<f64>,
    /// Share of the scene that has been loaded, 0 to 1, while it is.
    pub scene_loading: Option<f32>,
    /// Whether the network is being prepared.
    pub loading: bool,
    /// GPU milliseconds of the last network evaluation.
    pub network_ms: Option<f64>,
    /// GPU milliseconds of the last rendering of the scene.
    pub scene_ms: Option<f64>,
    /// GPU milliseconds of placing the pictures in the window.
    pub present_ms: f64,
    /// GPU milliseconds of drawing the overlay.
    pub overlay_ms: f64,
    /// Milliseconds between the last two presented frames.
    pub frame_ms: f64,
    /// Milliseconds that the CPU took for the last frame.
    pub cpu_ms: f64,
    /// Times of every pass over the last frames.
    pub passes: Passes,
    /// Frames that went through the network.
    pub evaluated: u64,
    /// Frames presented.
    pub presented: u64,
    /// Evaluated frames since the history was forgotten.
    pub history: u64,
    /// Device memory by purpose.
    pub memory: Memory,
    /// The frame being computed, on a slow device.
    pub progress: Option<Progress>,
    /// Whether the picture is the live scene without the network, shown until a frame is ready.
    pub preview: bool,
    /// What the left and the right side show.
    pub sides: [String; 2],
    /// Whether other sides are being prepared.
    pub preparing_sides: bool,
    /// Size at which the picture area is laid out, in pixels: the image's, or the field's.
    pub space: [u32; 2],
    /// How far the reference has come, where a side is one.
    pub samples: Option<Samples>,
    /// Which network of how many a frame in work is at, where a frame needs several.
    pub part: Option<[usize; 2]>,
    /// Whether the sides may differ: both are there.
    pub differs: bool,
    /// Mean of FLIP over the sides, while it is shown.
    pub flip_mean: Option<f64>,
    /// Why the chosen view has nothing to show.
    pub view_missing: Option<String>,
    /// Whether the view is already of the next frame, which is in work.
    pub view_ahead: bool,
    /// Largest weight of the history in the frame that is viewed; 0 where it had no history.
    pub view_weight: Option<f32>,
    /// Submissions that held steps of a network.
    pub network_submissions: u64,
    /// How far the network's picture is from its input.
    pub effect: Option<Effect>,
    /// What the frame's input looks like.
    pub probes: Option<Probes>,
    /// What about it is degenerate.
    pub doubts: Vec<Doubt>,
    /// Paper white, asked for and applied.
    pub white: White,
    /// A clip that is recorded or written.
    pub clip: Option<crate::window::clip::Progress>,
    /// Where the demo is.
    pub demo: Option<String>,
    /// What frames of a size that is considered would need.
    pub forecast: Option<Forecast>,
    /// Largest share of the view, in percent, that fits on the device.
    pub largest_percent: f32,
    /// Route asked for.
    pub route_asked: String,
    /// Why the route in use is used.
    pub route_why: String,
    /// Digest of the table of tuned tiles in use; none when the route is untuned.
    pub tiles: Option<String>,
    /// How often the window's swapchain was made anew.
    pub rebuilds: u32,
    /// How frames are presented.
    pub presentation: String,
    /// Names of the presets there are.
    pub presets: Vec<String>,
    /// Inputs that the loaded model ignores.
    pub ignored: Vec<&'static str>,
    /// Values at the pointer.
    pub reading: Option<Reading>,
    /// The last thing that went wrong.
    pub error: Option<String>,
}

/// How far a frame has come.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Progress {
    /// Done work over all work, 0 to 1.
    pub done: f32,
    /// Seconds since the frame was begun.
    pub elapsed: f32,
}

impl Progress {
    /// Seconds left at the present pace, once enough is done to tell.
    pub fn remaining(&self) -> Option<f32> {
        (self.done > 0.02).then(|| self.elapsed * (1.0 - self.done) / self.done)
    }
}
