//! The debug views: which buffer of the network's frame the picture area shows, and how.

use network::geometry::{Extent, Geometry, LEVELS, WINDOW, windows};
use serde::{Deserialize, Serialize};

use super::layout::clamped;

/// What is shown. The numbers are those of `shaders/glsl/view/debug.comp`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DebugView {
    /// Linear scene colour with an exposure.
    #[default]
    Hdr = 0,
    /// The scene as the network sees it, before centring.
    Proxy = 1,
    /// Distance from the camera.
    Depth = 2,
    /// Motion to the previous frame, as colours and arrows.
    Motion = 3,
    /// The history, reprojected, as the network saw it.
    History = 4,
    /// What the network adds to the proxy, around grey.
    Residual = 5,
    /// Weight of the history in the result.
    Weight = 6,
    /// The padded field with the attention windows of a level.
    Field = 7,
    /// A noise lane of the network's input.
    Noise = 8,
}

impl DebugView {
    /// All views, in the order of the keys `[` and `]`.
    pub const ALL: [Self; 9] = [
        Self::Hdr,
        Self::Proxy,
        Self::Depth,
        Self::Motion,
        Self::History,
        Self::Residual,
        Self::Weight,
        Self::Field,
        Self::Noise,
    ];

    /// A short name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Hdr => "HDR input",
            Self::Proxy => "Proxy",
            Self::Depth => "Depth",
            Self::Motion => "Motion",
            Self::History => "Reprojected history",
            Self::Residual => "Residual",
            Self::Weight => "Blend weight",
            Self::Field => "Padded field",
            Self::Noise => "Noise lanes",
        }
    }

    /// Its name in files.
    pub fn id(self) -> &'static str {
        match self {
            Self::Hdr => "hdr",
            Self::Proxy => "proxy",
            Self::Depth => "depth",
            Self::Motion => "motion",
            Self::History => "history",
            Self::Residual => "residual",
            Self::Weight => "weight",
            Self::Field => "field",
            Self::Noise => "noise",
        }
    }

    /// The view so many places further in the list, around its ends.
    pub fn moved(self, by: isize) -> Self {
        let place = Self::ALL.iter().position(|view| *view == self).unwrap_or(0) as isize;
        Self::ALL[(place + by).rem_euclid(Self::ALL.len() as isize) as usize]
    }

    /// Whether it covers the padded field rather than the image.
    pub fn is_of_field(self) -> bool {
        matches!(self, Self::Field | Self::Noise)
    }
}

/// How the views are shown. Nothing of it has any effect on what is computed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewSettings {
    /// What is shown.
    pub kind: DebugView,
    /// Exposure of the HDR input, in stops.
    pub exposure: f32,
    /// Distance that is the end of the depth scale, in metres.
    pub far: f32,
    /// Motion that has the full colour and an arrow as long as its cell, in pixels.
    pub motion: f32,
    /// Whether motion has arrows.
    pub arrows: bool,
    /// Factor of the residual.
    pub gain: f32,
    /// Level of the window grid, 0 to 5; the field's own without one.
    pub level: Option<u32>,
    /// Phase of the window grid, 0 to 3.
    pub phase: u32,
    /// Noise lane, 0 to 2.
    pub lane: u32,
}

/// Exposures of the HDR input, in stops.
pub const EXPOSURE: std::ops::RangeInclusive<f32> = -10.0..=10.0;
/// Ends of the depth scale, in metres.
pub const FAR: std::ops::RangeInclusive<f32> = 1.0..=1000.0;
/// Where the depth scale begins, in metres.
pub const NEAR: f32 = 0.5;
/// Full motions, in pixels.
pub const MOTION: std::ops::RangeInclusive<f32> = 0.25..=128.0;
/// Factors of the residual.
pub const RESIDUAL_GAIN: std::ops::RangeInclusive<f32> = 1.0..=64.0;
/// Noise that is white, or black when negative.
pub const NOISE: f32 = 4.0;
/// Window pixels of a cell of the arrows.
pub const ARROW_CELL: f32 = 28.0;

impl Default for ViewSettings {
    fn default() -> Self {
        Self {
            kind: DebugView::default(),
            exposure: 0.0,
            far: 50.0,
            motion: 2.0,
            arrows: true,
            gain: 4.0,
            level: Some(0),
            phase: 0,
            lane: 0,
        }
    }
}

impl ViewSettings {
    /// The same with numbers inside their ranges.
    pub fn clamped(mut self) -> Self {
        let d = Self::default();
        self.exposure = clamped(self.exposure, EXPOSURE, d.exposure);
        self.far = clamped(self.far, FAR, d.far);
        self.motion = clamped(self.motion, MOTION, d.motion);
        self.gain = clamped(self.gain, RESIDUAL_GAIN, d.gain);
        self.level = self.level.map(|level| level.min(LEVELS as u32 - 1));
        self.phase = self.phase.min(3);
        self.lane = self.lane.min(2);
        self
    }

    /// The size of what is shown, of a frame's geometry.
    pub fn space(&self, geometry: &Geometry) -> Extent {
        if self.kind.is_of_field() { geometry.field } else { geometry.valid }
    }

    /// The grid of the padded field's view.
    pub fn grid(&self, geometry: &Geometry) -> Grid {
        let (extent, token) = match self.level {
            None => (geometry.field, 1),
            Some(level) => (geometry.levels[(level as usize).min(LEVELS - 1)], 2 << level),
        };
        // The coarsest level is one attention over all tokens: its grid is that of the tokens.
        if self.level == Some(LEVELS as u32 - 1) {
            return Grid { cell: token, shift: [0; 2], end: [extent.width * token, extent.height * token], count: 1 };
        }
        let grid = windows(extent, self.phase);
        Grid {
            cell: WINDOW * token,
            shift: [grid.shift_x * token, grid.shift_y * token],
            end: [extent.width * token, extent.height * token],
            count: grid.count(),
        }
    }
}

/// Lines on the padded field, in its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Side of a window, of a token on the coarsest level.
    pub cell: u32,
    /// How far the first window begins left of and above the field.
    pub shift: [u32; 2],
    /// Where the level ends; beyond the field where the level is padded itself.
    pub end: [u32; 2],
    /// Number of windows.
    pub count: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_goes_round() {
        assert_eq!(DebugView::Noise.moved(1), DebugView::Hdr);
        assert_eq!(DebugView::Hdr.moved(-1), DebugView::Noise);
        for (place, view) in DebugView::ALL.into_iter().enumerate() {
            assert_eq!(view as usize, place);
            assert_eq!(serde_json::json!(view), view.id());
        }
    }

    #[test]
    fn grids_are_those_of_the_geometry() {
        let geometry = Geometry::new(Extent::new(320, 180)).unwrap();
        let grid = |level, phase| ViewSettings { level, phase, ..ViewSettings::default() }.grid(&geometry);
        assert_eq!(grid(None, 0).cell, 8);
        assert_eq!((grid(Some(0), 1).cell, grid(Some(0), 1).shift), (16, [8, 8]));
        assert_eq!(grid(Some(2), 2).shift, [32, 0]);
        assert_eq!(grid(Some(4), 3).shift, [0, 128]);
        for level in (0..5).map(Some).chain([None]) {
            for phase in 0..4 {
                let grid = grid(level, phase);
                let across = |axis: usize| (grid.end[axis] + grid.shift[axis]).div_ceil(grid.cell) as usize;
                assert_eq!(across(0) * across(1), grid.count, "{level:?} {phase}");
            }
        }
        assert_eq!((grid(Some(5), 0).cell, grid(Some(5), 0).count), (64, 1));
    }

    #[test]
    fn numbers_are_brought_into_their_ranges() {
        let wild =
            ViewSettings { exposure: f32::NAN, far: 0.0, level: Some(9), phase: 7, lane: 3, ..Default::default() };
        let tame = wild.clamped();
        assert_eq!((tame.exposure, tame.far, tame.level, tame.phase, tame.lane), (0.0, 1.0, Some(5), 3, 2));
    }
}
