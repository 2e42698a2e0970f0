//! Where the images of a frame lie in the window: one or two panels that share one zoom and one pan.

use network::geometry::Extent;

/// What the window compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompareMode {
    /// The frame without the network.
    Off,
    /// The frame with the network.
    On,
    /// Both in one picture, divided by a line that can be dragged.
    Wipe,
    /// Both, one beside the other.
    #[default]
    Side,
}

impl CompareMode {
    /// All modes, in the order of their keys 1 to 4.
    pub const ALL: [Self; 4] = [Self::Off, Self::On, Self::Wipe, Self::Side];

    /// A short name for buttons.
    pub fn label(self) -> &'static str {
        match self {
            Self::Off => "Off",
            Self::On => "On",
            Self::Wipe => "Wipe",
            Self::Side => "Side by side",
        }
    }
}

/// One of the two images of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The display path without the network.
    Input = 0,
    /// The display path with the network.
    Neural = 1,
}

/// A rectangle of the window that shows one source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Panel {
    /// Left, top, right, bottom in window pixels; right and bottom lie outside.
    pub clip: [i32; 4],
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
    /// Window x of the wipe's line.
    pub divider: Option<f32>,
}

/// Pixels between the two panels of a side-by-side view.
const GAP: i32 = 2;
/// How much larger the image has to be one above the other to leave the usual place side by side.
const STACKED_GAIN: f32 = 1.6;

/// The layout of an image in an area of the window, as large as fits, centred.
///
/// `area` is left, top, right, bottom in window pixels; right and bottom lie outside. `wipe` is the line's place across
/// the image: 0 at its left side, 1 at its right side; values outside are clamped.
pub fn layout(mode: CompareMode, area: [i32; 4], image: Extent, wipe: f32) -> Layout {
    match mode {
        CompareMode::Off => single(area, image, Source::Input),
        CompareMode::On => single(area, image, Source::Neural),
        CompareMode::Wipe => {
            let (scale, origin) = fit(area, image);
            let wipe = if wipe.is_finite() { wipe.clamp(0.0, 1.0) } else { 0.5 };
            let divider = origin[0] + wipe * image.width as f32 * scale;
            let split = divider.round() as i32;
            let left = [area[0], area[1], split, area[3]];
            let right = [split, area[1], area[2], area[3]];
            Layout {
                panels: vec![
                    Panel { clip: left, origin, source: Source::Input },
                    Panel { clip: right, origin, source: Source::Neural },
                ],
                scale,
                divider: Some(divider),
            }
        }
        CompareMode::Side => {
            let [first, second] = halves(area, image);
            let (scale, origin0) = fit(first, image);
            let (_, origin1) = fit(second, image);
            Layout {
                panels: vec![
                    Panel { clip: first, origin: origin0, source: Source::Input },
                    Panel { clip: second, origin: origin1, source: Source::Neural },
                ],
                scale,
                divider: None,
            }
        }
    }
}

/// The place across the image, 0 to 1, of window position `x` in a wipe.
pub fn wipe_at(layout: &Layout, image: Extent, x: f32) -> f32 {
    let Some(panel) = layout.panels.first() else {
        return 0.5;
    };
    let width = image.width as f32 * layout.scale;
    ((x - panel.origin[0]) / width.max(1.0)).clamp(0.0, 1.0)
}

fn single(clip: [i32; 4], image: Extent, source: Source) -> Layout {
    let (scale, origin) = fit(clip, image);
    Layout { panels: vec![Panel { clip, origin, source }], scale, divider: None }
}

/// Left and right; top and bottom where that shows the image much larger. Equal sizes.
fn halves(area: [i32; 4], image: Extent) -> [[i32; 4]; 2] {
    let [l, t, r, b] = area;
    let half = ((r - l - GAP) / 2).max(1);
    let beside = [[l, t, l + half, b], [r - half, t, r, b]];
    let half = ((b - t - GAP) / 2).max(1);
    let stacked = [[l, t, r, t + half], [l, b - half, r, b]];
    if fit(stacked[0], image).0 > STACKED_GAIN * fit(beside[0], image).0 { stacked } else { beside }
}

/// Scale and corner of the image, as large as fits into the rectangle. A scale near a whole number is made whole, so
/// that pixels stay even.
fn fit(clip: [i32; 4], image: Extent) -> (f32, [f32; 2]) {
    let width = (clip[2] - clip[0]).max(1) as f32;
    let height = (clip[3] - clip[1]).max(1) as f32;
    let (w, h) = (image.width.max(1) as f32, image.height.max(1) as f32);
    let mut scale = (width / w).min(height / h);
    let even = scale.floor();
    if even >= 1.0 && scale - even < 0.04 * even {
        scale = even;
    }
    let x = clip[0] as f32 + ((width - w * scale) / 2.0).round();
    let y = clip[1] as f32 + ((height - h * scale) / 2.0).round();
    (scale, [x, y])
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: [i32; 4] = [0, 0, 1280, 800];

    #[test]
    fn one_panel_is_letterboxed() {
        let l = layout(CompareMode::On, WINDOW, Extent::new(640, 360), 0.5);
        assert_eq!(l.scale, 2.0);
        assert_eq!(l.panels[0].origin, [0.0, 40.0]);
        assert_eq!(l.panels[0].source, Source::Neural);
    }

    #[test]
    fn wipe_panels_meet_at_the_line() {
        let image = Extent::new(640, 360);
        for wipe in [0.0, 0.25, 1.0, -3.0, f32::NAN] {
            let l = layout(CompareMode::Wipe, WINDOW, image, wipe);
            assert_eq!(l.panels[0].clip[2], l.panels[1].clip[0]);
            assert_eq!(l.panels[0].origin, l.panels[1].origin);
            let x = l.divider.unwrap_or(-1.0);
            assert!((0.0..=1280.0).contains(&x));
            if (0.0..=1.0).contains(&wipe) {
                assert!((wipe_at(&l, image, x) - wipe).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn side_by_side_is_equal_and_disjoint() {
        for image in [Extent::new(640, 360), Extent::new(33, 400), Extent::new(3840, 2160)] {
            let l = layout(CompareMode::Side, WINDOW, image, 0.5);
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
            let l = layout(mode, [0, 0, 1, 1], Extent::new(640, 360), 0.5);
            assert!(l.scale > 0.0 && l.scale.is_finite());
        }
    }
}
