//! What the person at the window has chosen. Nothing here rebuilds anything but the render size.

use network::geometry::Extent;

use super::layout::Compare;
use super::look::Look;
use crate::engine::side::{self, Side};

/// All choices. Everything but `size` is a parameter of the next frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Whether the network runs.
    pub network: bool,
    /// Whether its history is used.
    pub temporal: bool,
    /// What is compared, and how it is seen.
    pub compare: Compare,
    /// What is compared: left and right. A change is taken over when it can be shown.
    pub sides: [Side; 2],
    /// Size of the rendered frame, in pixels; independent of the window.
    pub size: Extent,
    /// Whether the scene stands still.
    pub paused: bool,
    /// Whether the camera follows its scripted path.
    pub path: bool,
    /// Whether the samples of successive frames lie at different places of their pixels.
    pub jitter: bool,
    /// Whether the sun throws (noisy, one-sample) shadows.
    pub shadows: bool,
    /// Whether the scene has (noisy, one-sample) ambient occlusion.
    pub occlusion: bool,
    /// Whether the scene has (noisy, one-sample) glossy reflections.
    pub reflections: bool,
    /// What shapes the network's frame.
    pub look: Look,
    /// Whether the overlay is visible.
    pub overlay: bool,
    /// Whether the values at the pointer are shown.
    pub inspector: bool,
    /// Whether frames wait for the display's refresh.
    pub vsync: bool,
    /// Frames of a clip.
    pub clip_frames: u32,
    /// Whether clips are PNG files even where ffmpeg is there.
    pub clip_files: bool,
    /// Whether the window with all keys is open.
    pub help: bool,
    /// Whether the hint of the first start is shown.
    pub hint: bool,
}

impl Settings {
    /// The choices at start.
    pub fn new(size: Extent) -> Self {
        Self {
            network: true,
            temporal: true,
            compare: Compare::default(),
            sides: side::DEFAULT,
            size,
            paused: false,
            path: true,
            jitter: true,
            shadows: true,
            occlusion: true,
            reflections: true,
            look: Look::default(),
            overlay: true,
            inspector: false,
            vsync: true,
            clip_frames: 90,
            clip_files: false,
            help: false,
            hint: false,
        }
    }
}

/// What a person asks for that is not a choice that stays.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Forget the history.
    ResetHistory,
    /// Back to the camera's first position.
    ResetCamera,
    /// Another scene: its number in the list.
    Scene(usize),
    /// The scene so many places further in the list, round and round.
    SceneBy(isize),
    /// Another camera of the scene: its number in the list.
    Camera(usize),
    /// Begin or end the recording of the camera's way.
    RecordPath,
    /// Another size of the rendered frame.
    Resize(Extent),
    /// Let a paused scene move on by one frame.
    Step,
    /// Write the window's picture to a file.
    Screenshot,
    /// Write the next frame as linear light to a file.
    Linear,
    /// Begin a clip, or end the one that is recorded.
    Clip,
    /// Write a report of the session into a folder.
    Report,
    /// Other weights, as `--model` names them.
    Model(String),
    /// Switch the network off and give its memory back.
    Unload,
    /// Show what frames of a size would need.
    Consider(Extent),
    /// Record the next frame with everything in it.
    Capture,
    /// Give all controls the values of a preset.
    LoadPreset(String),
    /// Keep the values of all controls under a name.
    SavePreset(String),
    /// Delete a preset.
    DeletePreset(String),
    /// Fullscreen on or off.
    ToggleFullscreen,
    /// Leave.
    Quit,
}

/// Sizes offered by name.
pub const PRESETS: [(&str, Extent); 8] = [
    ("180p", Extent::new(320, 180)),
    ("270p", Extent::new(480, 270)),
    ("360p", Extent::new(640, 360)),
    ("540p", Extent::new(960, 540)),
    ("720p", Extent::new(1280, 720)),
    ("1080p", Extent::new(1920, 1080)),
    ("1440p", Extent::new(2560, 1440)),
    ("2160p", Extent::new(3840, 2160)),
];
