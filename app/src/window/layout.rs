//! Where the images of a frame lie in the window: one or two panels that share one zoom and one pan.

use network::geometry::Extent;

use super::debug_view::ViewSettings;
use super::zoom::Zoom;

/// What the window compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompareMode {
    /// The left side alone: at first the frame without the network.
    Off,
    /// The right side alone: at first the frame with the network.
    On,
    /// Both in one picture, divided by a line that can be dragged.
    Wipe,
    /// Both, one beside the other.
    #[default]
    Side,
    /// How much they differ.
    Difference,
    /// A buffer of the network's frame.
    View,
}

impl CompareMode {
    /// All modes, in the order of their keys 1 to 6.
    pub const ALL: [Self; 6] = [Self::Off, Self::On, Self::Wipe, Self::Side, Self::Difference, Self::View];

    /// Its name in files.
    pub fn id(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Wipe => "wipe",
            Self::Side => "side",
            Self::Difference => "difference",
            Self::View => "view",
        }
    }

    /// A short name for buttons.
    pub fn label(self) -> &'static str {
        match self {
            Self::Off => "Off",
            Self::On => "On",
            Self::Wipe => "Wipe",
            Self::Side => "Side",
            Self::Difference => "Difference",
            Self::View => "View",
        }
    }
}

/// Direction of the wipe's line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// From top to bottom: left against right.
    #[default]
    Vertical,
    /// From left to right: above against below.
    Horizontal,
}

impl Line {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Vertical => Self::Horizontal,
            Self::Horizontal => Self::Vertical,
        }
    }

    /// Index of the axis that the line is moved along: 0 is x, 1 is y.
    pub fn axis(self) -> usize {
        match self {
            Self::Vertical => 0,
            Self::Horizontal => 1,
        }
    }
}

/// What a difference shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// Its magnitude: black is none.
    #[default]
    Absolute,
    /// The right side less the left one, half of it around middle grey.
    Signed,
    /// The difference that a person perceives, as a heat map (FLIP).
    Flip,
}

impl Difference {
    /// All kinds, in the order of the key G.
    pub const ALL: [Self; 3] = [Self::Absolute, Self::Signed, Self::Flip];

    /// A short name for buttons.
    pub fn label(self) -> &'static str {
        match self {
            Self::Absolute => "absolute",
            Self::Signed => "signed",
            Self::Flip => "FLIP",
        }
    }

    /// The next one.
    pub fn next(self) -> Self {
        match self {
            Self::Absolute => Self::Signed,
            Self::Signed => Self::Flip,
            Self::Flip => Self::Absolute,
        }
    }
}

/// How the two images are compared and seen. Nothing of it has any effect on what is rendered.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Compare {
    /// What is compared.
    pub mode: CompareMode,
    /// The wipe's line: 0 at the left or upper end of what is seen of the image, 1 at the other end.
    pub wipe: f32,
    /// Direction of the wipe's line.
    pub line: Line,
    /// What a difference shows.
    pub difference: Difference,
    /// Factor of the difference.
    pub gain: f32,
    /// Which buffer a view shows, and how.
    pub view: ViewSettings,
    /// Which part of the image is seen how large.
    pub zoom: Zoom,
}

/// Gains of the difference: beyond the last one a single 8-bit step is white.
pub const GAIN: std::ops::RangeInclusive<f32> = 1.0..=255.0;

impl Default for Compare {
    fn default() -> Self {
        Self {
            mode: CompareMode::default(),
            wipe: 0.5,
            line: Line::default(),
            difference: Difference::default(),
            gain: 8.0,
            view: ViewSettings::default(),
            zoom: Zoom::default(),
        }
    }
}

impl Compare {
    /// The same with numbers inside their ranges.
    pub fn clamped(mut self) -> Self {
        let default = Self::default();
        self.wipe = clamped(self.wipe, 0.0..=1.0, default.wipe);
        self.gain = clamped(self.gain, GAIN, default.gain);
        self.view = self.view.clamped();
        self
    }

    /// The same while the original is asked for: every place shows the frame without the network.
    pub fn original(&self, layout: &mut Layout) {
        layout.panels.iter_mut().for_each(|panel| panel.source = Source::Original);
    }
}

/// A number in its range; the default in place of one that is none.
pub fn clamped(value: f32, range: std::ops::RangeInclusive<f32>, default: f32) -> f32 {
    if value.is_finite() { value.clamp(*range.start(), *range.end()) } else { default }
}

/// What a panel shows of a frame. The numbers are those of `shaders/glsl/view/present.comp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The left side.
    Left = 0,
    /// The right side.
    Right = 1,
    /// Magnitude of their difference.
    Absolute = 2,
    /// Their difference around grey.
    Signed = 3,
    /// Their perceived difference in false colours.
    Flip = 4,
    /// The frame without the network.
    Original = 5,
    /// A buffer of the network's frame, drawn by `shaders/glsl/view/debug.comp`.
    View = 6,
}

/// A rectangle of the window that shows one source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Panel {
    /// Left, top, right, bottom in window pixels; right and bottom lie outside.
    pub clip: [i32; 4],
    /// The rectangle in which the image is placed, of which `clip` is a part.
    pub area: [i32; 4],
    /// Window position of the image's top-left corner, in pixels.
    pub origin: [f32; 2],
    /// The image shown.
    pub source: Source,
}

/// The whole picture: panels and the wipe's line.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// One or two panels that do not overlap.
    pub panels: Vec<Panel>,
    /// Window pixels per image pixel.
    pub scale: f32,
    /// Window x or y of the wipe's line.
    pub divider: Option<f32>,
    /// Direction of the wipe's line.
    pub line: Line,
    /// Factor of differences.
    pub gain: f32,
    /// How a buffer is shown.
    pub view: ViewSettings,
}

impl Layout {
    /// Whether something is shown anywhere.
    pub fn shows(&self, source: Source) -> bool {
        self.panels.iter().any(|panel| panel.source == source)
    }

    /// The same places for a picture that is so many times smaller in each direction.
    pub fn of_smaller(&self, divisor: u32) -> Self {
        Self { scale: self.scale * divisor as f32, ..self.clone() }
    }

    /// The panel at a window position.
    pub fn panel_at(&self, [x, y]: [f32; 2]) -> Option<&Panel> {
        self.panels.iter().find(|panel| {
            let [left, top, right, bottom] = panel.clip.map(|side| side as f32);
            x >= left && x < right && y >= top && y < bottom
        })
    }

    /// The image pixel at a window position.
    pub fn pixel_at(&self, at: [f32; 2], image: Extent) -> Option<[u32; 2]> {
        let panel = self.panel_at(at)?;
        let place = [0, 1].map(|axis| ((at[axis] - panel.origin[axis]) / self.scale).floor());
        let inside =
            place[0] >= 0.0 && place[1] >= 0.0 && place[0] < image.width as f32 && place[1] < image.height as f32;
        inside.then(|| place.map(|side| side as u32))
    }
}

/// Pixels between the two panels of a side-by-side view.
const GAP: i32 = 2;
/// How much larger the image has to be one above the other to leave the usual place side by side.
const STACKED_GAIN: f32 = 1.6;

/// The layout of an image in an area of the window: as large as fits and centred, unless zoomed.
///
/// `area` is left, top, right, bottom in window pixels; right and bottom lie outside. A wipe outside of 0 to 1 is
/// clamped.
pub fn layout(compare: &Compare, area: [i32; 4], image: Extent) -> Layout {
    let (panels, scale, divider) = match compare.mode {
        CompareMode::Off => single(compare, area, image, Source::Left),
        CompareMode::On => single(compare, area, image, Source::Right),
        CompareMode::Difference => match compare.difference {
            Difference::Absolute => single(compare, area, image, Source::Absolute),
            Difference::Signed => single(compare, area, image, Source::Signed),
            Difference::Flip => single(compare, area, image, Source::Flip),
        },
        CompareMode::View => single(compare, area, image, Source::View),
        CompareMode::Wipe => {
            let (scale, origin) = compare.zoom.place(area, image);
            let axis = compare.line.axis();
            let [start, end] = seen(area, origin, scale, image, axis);
            let wipe = if compare.wipe.is_finite() { compare.wipe.clamp(0.0, 1.0) } else { 0.5 };
            let divider = start + wipe * (end - start);
            let split = divider.round() as i32;
            let (mut first, mut second) = (area, area);
            first[axis + 2] = split;
            second[axis] = split;
            let panels = vec![
                Panel { clip: first, area, origin, source: Source::Left },
                Panel { clip: second, area, origin, source: Source::Right },
            ];
            (panels, scale, Some(divider))
        }
        CompareMode::Side => {
            let [first, second] = halves(area, image);
            let (scale, origin0) = compare.zoom.place(first, image);
            let (_, origin1) = compare.zoom.place(second, image);
            let panels = vec![
                Panel { clip: first, area: first, origin: origin0, source: Source::Left },
                Panel { clip: second, area: second, origin: origin1, source: Source::Right },
            ];
            (panels, scale, None)
        }
    };
    Layout { panels, scale, divider, line: compare.line, gain: compare.gain, view: compare.view }
}

/// The wipe, 0 to 1, that puts its line at a window position.
pub fn wipe_at(layout: &Layout, image: Extent, at: [f32; 2]) -> f32 {
    let Some(panel) = layout.panels.first() else {
        return 0.5;
    };
    let axis = layout.line.axis();
    let [start, end] = seen(panel.area, panel.origin, layout.scale, image, axis);
    ((at[axis] - start) / (end - start).max(1.0)).clamp(0.0, 1.0)
}

/// From where to where in the window the image is seen along an axis.
fn seen(area: [i32; 4], origin: [f32; 2], scale: f32, image: Extent, axis: usize) -> [f32; 2] {
    let side = [image.width, image.height][axis] as f32 * scale;
    [origin[axis].max(area[axis] as f32), (origin[axis] + side).min(area[axis + 2] as f32)]
}

fn single(compare: &Compare, clip: [i32; 4], image: Extent, source: Source) -> (Vec<Panel>, f32, Option<f32>) {
    let (scale, origin) = compare.zoom.place(clip, image);
    (vec![Panel { clip, area: clip, origin, source }], scale, None)
}

/// Left and right; top and bottom where that shows the image much larger. Equal sizes.
fn halves(area: [i32; 4], image: Extent) -> [[i32; 4]; 2] {
    let [l, t, r, b] = area;
    let half = ((r - l - GAP) / 2).max(1);
    let beside = [[l, t, l + half, b], [r - half, t, r, b]];
    let half = ((b - t - GAP) / 2).max(1);
    let stacked = [[l, t, r, t + half], [l, b - half, r, b]];
    let fit = |area| Zoom::FIT.place(area, image).0;
    if fit(stacked[0]) > STACKED_GAIN * fit(beside[0]) { stacked } else { beside }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: [i32; 4] = [0, 0, 1280, 800];

    fn compare(mode: CompareMode) -> Compare {
        Compare { mode, ..Compare::default() }
    }

    #[test]
    fn one_panel_is_letterboxed() {
        let l = layout(&compare(CompareMode::On), WINDOW, Extent::new(640, 360));
        assert_eq!(l.scale, 2.0);
        assert_eq!(l.panels[0].origin, [0.0, 40.0]);
        assert_eq!(l.panels[0].source, Source::Right);
    }

    #[test]
    fn wipe_panels_meet_at_the_line() {
        let image = Extent::new(640, 360);
        for line in [Line::Vertical, Line::Horizontal] {
            for wipe in [0.0, 0.25, 1.0, -3.0, f32::NAN] {
                let l = layout(&Compare { wipe, line, ..compare(CompareMode::Wipe) }, WINDOW, image);
                let axis = line.axis();
                assert_eq!(l.panels[0].clip[axis + 2], l.panels[1].clip[axis]);
                assert_eq!(l.panels[0].origin, l.panels[1].origin);
                let at = l.divider.unwrap_or(-1.0);
                assert!((0.0..=1280.0).contains(&at));
                if (0.0..=1.0).contains(&wipe) {
                    assert!((wipe_at(&l, image, [at, at]) - wipe).abs() < 1e-3);
                }
            }
        }
    }

    #[test]
    fn the_line_stays_in_view_when_zoomed() {
        let image = Extent::new(640, 360);
        let mut c = Compare { wipe: 0.25, ..compare(CompareMode::Wipe) };
        c.zoom = Zoom { scale: Some(16.0), center: [0.9, 0.9] };
        let l = layout(&c, WINDOW, image);
        assert_eq!(l.divider, Some(320.0));
        assert_eq!(wipe_at(&l, image, [320.0, 5.0]), 0.25);
    }

    #[test]
    fn pixels_are_found_in_every_panel() {
        let image = Extent::new(640, 360);
        for mode in CompareMode::ALL {
            let l = layout(&compare(mode), WINDOW, image);
            for panel in &l.panels {
                let at = [panel.origin[0] + 10.5 * l.scale, panel.origin[1] + 200.5 * l.scale];
                if l.panel_at(at) == Some(panel) {
                    assert_eq!(l.pixel_at(at, image), Some([10, 200]));
                }
            }
            assert_eq!(l.pixel_at([640.0, 1.0], image), None, "the space around the image has no pixels");
        }
    }

    #[test]
    fn the_original_is_one_image_everywhere() {
        for mode in CompareMode::ALL {
            let c = compare(mode);
            let mut l = layout(&c, WINDOW, Extent::new(640, 360));
            c.original(&mut l);
            assert!(l.panels.iter().all(|panel| panel.source == Source::Original));
        }
    }

    #[test]
    fn side_by_side_is_equal_and_disjoint() {
        for image in [Extent::new(640, 360), Extent::new(33, 400), Extent::new(3840, 2160)] {
            let l = layout(&compare(CompareMode::Side), WINDOW, image);
            let size = |p: &Panel| (p.clip[2] - p.clip[0], p.clip[3] - p.clip[1]);
            assert_eq!(size(&l.panels[0]), size(&l.panels[1]));
            let [a, b] = [l.panels[0].clip, l.panels[1].clip];
            assert!(a[2] <= b[0] || a[3] <= b[1]);
            for p in &l.panels {
                assert!(p.origin[0] >= p.clip[0] as f32 && p.origin[1] >= p.clip[1] as f32);
                assert!(p.origin[0] + image.width as f32 * l.scale <= p.clip[2] as f32 + 0.51);
            }
        }
    }

    #[test]
    fn tiny_windows_have_a_layout() {
        for mode in CompareMode::ALL {
            let l = layout(&compare(mode), [0, 0, 1, 1], Extent::new(640, 360));
            assert!(l.scale > 0.0 && l.scale.is_finite());
        }
    }
}
