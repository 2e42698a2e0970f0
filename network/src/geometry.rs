//! Geometry of a frame: the padded field, the six pooled levels and the window grids (network sections 2 and 4.4).
//!
//! The valid rectangle is the image; the network runs on a *field* at least 320 pixels wide and high whose top-left corner
//! is the image. The field decides the window grid, so it changes results inside the valid rectangle too.

use thiserror::Error;

/// Number of pooled levels below the field.
pub const LEVELS: usize = 6;
/// Smallest width and height of a field, in pixels.
pub const MIN_FIELD: u32 = 320;
/// Largest accepted width and height of a valid rectangle, in pixels. Not part of the contract: a bound that keeps every
/// size computed from a geometry far from overflow.
pub const MAX_SIDE: u32 = 16384;
/// Side of an attention window, in tokens.
pub const WINDOW: u32 = 8;
/// Tokens of one attention window.
pub const WINDOW_TOKENS: usize = 64;
/// ViT tokens are padded to a multiple of this.
pub const VIT_ALIGN: usize = 64;

/// Width and height of a pixel grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    /// Pixels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Extent {
    /// An extent of `width` x `height` pixels.
    pub const fn new(width: u32, height: u32) -> Self {
        Self { width, height }
    }

    /// Number of pixels.
    pub const fn pixels(self) -> usize {
        self.width as usize * self.height as usize
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// Why a size has no geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GeometryError {
    /// Width or height is zero.
    #[error("image size {0} is empty: width and height must be at least 1")]
    Empty(Extent),
    /// Width or height is over [`MAX_SIDE`].
    #[error("image size {0} is too large: at most {MAX_SIDE} pixels on each side")]
    TooLarge(Extent),
    /// Level 0 is not a whole number of windows (network section 2); happens only for widths 1..16 and 25..32.
    #[error(
        "image size {valid} is refused: its level 0 would be {level0}, not a whole number of 8-pixel windows; \
         use a width of 33 or more"
    )]
    PartialWindow {
        /// The refused size.
        valid: Extent,
        /// The level 0 that the rule gives.
        level0: Extent,
    },
}

/// The valid rectangle, its padded field and the pooled levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The image, at the top-left of the field.
    pub valid: Extent,
    /// The padded field, on which blocks 0 and 70 run.
    pub field: Extent,
    /// Levels 0 (finest, half the field) to 5 (the ViT's). Every side is a multiple of 4.
    pub levels: [Extent; LEVELS],
    /// Tokens of the ViT: pixels of level 5.
    pub vit_tokens: usize,
    /// `vit_tokens` rounded up to [`VIT_ALIGN`].
    pub vit_padded: usize,
}

impl Geometry {
    /// The geometry of a valid size (network section 2).
    ///
    /// # Errors
    /// An empty size, a side over [`MAX_SIDE`], or a size whose level 0 is not a whole number of windows.
    pub fn new(valid: Extent) -> Result<Self, GeometryError> {
        if valid.width == 0 || valid.height == 0 {
            return Err(GeometryError::Empty(valid));
        }
        if valid.width > MAX_SIDE || valid.height > MAX_SIDE {
            return Err(GeometryError::TooLarge(valid));
        }
        let (align_w, align_h) = (alignment(valid.width), alignment(valid.height));
        let mut field = Extent::new(
            valid.width.next_multiple_of(align_w).max(MIN_FIELD),
            valid.height.next_multiple_of(align_h).max(MIN_FIELD),
        );
        // No reason is known for this step; the contract requires it, for the width only.
        if field.width.is_multiple_of(4 * align_w) && field.height.is_multiple_of(4 * align_h) {
            field.width += align_w;
        }
        let mut levels = [field; LEVELS];
        let mut size = field;
        for level in &mut levels {
            size = Extent::new(halved(size.width), halved(size.height));
            *level = size;
        }
        let level0 = levels[0];
        if !level0.width.is_multiple_of(WINDOW) || !level0.height.is_multiple_of(WINDOW) {
            return Err(GeometryError::PartialWindow { valid, level0 });
        }
        let vit_tokens = levels[LEVELS - 1].pixels();
        Ok(Self { valid, field, levels, vit_tokens, vit_padded: vit_tokens.next_multiple_of(VIT_ALIGN) })
    }
}

/// Side of the next coarser level: half, rounded up, to a multiple of 4.
fn halved(side: u32) -> u32 {
    side.div_ceil(2).next_multiple_of(4)
}

/// Alignment of one side of the field, a power of two up to 128 (`2^steps` of network section 2).
fn alignment(side: u32) -> u32 {
    let mut steps = 0;
    let mut size = side;
    for level in 0..LEVELS {
        let half = halved(size);
        steps += u32::from(half < size);
        steps += u32::from(level == 0 && !half.is_multiple_of(WINDOW));
        size = half;
    }
    1 << steps
}

/// The grid of attention windows of one level in one phase (network section 4.4).
///
/// Windows at the edge reach outside the level; tokens there are zero vectors that stay in the softmax denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowGrid {
    /// The level's extent.
    pub extent: Extent,
    /// Windows per row.
    pub columns: u32,
    /// Rows of windows.
    pub rows: u32,
    /// How far the first window starts left of the level, in tokens.
    pub shift_x: u32,
    /// How far the first window starts above the level, in tokens.
    pub shift_y: u32,
}

impl WindowGrid {
    /// Number of windows.
    pub const fn count(&self) -> usize {
        self.columns as usize * self.rows as usize
    }

    /// Top-left token of window `index` (row-major); negative where the window reaches outside the level.
    pub const fn origin(&self, index: usize) -> (i32, i32) {
        let (i, j) = (index as u32 % self.columns, index as u32 / self.columns);
        ((i * WINDOW) as i32 - self.shift_x as i32, (j * WINDOW) as i32 - self.shift_y as i32)
    }

    /// Row index, in the level, of natural token `t` (= y * 8 + x) of window `index`; `None` outside the level.
    pub fn row(&self, index: usize, t: usize) -> Option<usize> {
        let (x0, y0) = self.origin(index);
        let (x, y) = (x0 + (t % 8) as i32, y0 + (t / 8) as i32);
        let inside = (0..self.extent.width as i32).contains(&x) && (0..self.extent.height as i32).contains(&y);
        inside.then(|| y as usize * self.extent.width as usize + x as usize)
    }

    /// Window and natural token of column `x`, row `y` of the level; the inverse of [`WindowGrid::row`].
    pub const fn locate(&self, x: usize, y: usize) -> (usize, usize) {
        let (x, y) = (x + self.shift_x as usize, y + self.shift_y as usize);
        ((y / 8) * self.columns as usize + x / 8, (y % 8) * 8 + x % 8)
    }
}

/// The windows of a level in a phase. Phases 0..3 shift the grid by (0,0), (4,4), (4,0), (0,4); larger numbers wrap.
pub const fn windows(extent: Extent, phase: u32) -> WindowGrid {
    let (shift_x, shift_y) = match phase % 4 {
        0 => (0, 0),
        1 => (4, 4),
        2 => (4, 0),
        _ => (0, 4),
    };
    WindowGrid {
        extent,
        columns: (extent.width + shift_x).div_ceil(WINDOW),
        rows: (extent.height + shift_y).div_ceil(WINDOW),
        shift_x,
        shift_y,
    }
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn vectors() -> Value {
        serde_json::from_str(include_str!("../tests/vectors/geometry.json")).unwrap()
    }

    fn extent(v: &Value) -> Extent {
        Extent::new(v[0].as_u64().unwrap() as u32, v[1].as_u64().unwrap() as u32)
    }

    #[test]
    fn cases_of_the_contract() {
        for case in vectors()["cases"].as_array().unwrap() {
            let valid = extent(&case["valid"]);
            assert_eq!(Extent::new(alignment(valid.width), alignment(valid.height)), extent(&case["align"]));
            match Geometry::new(valid) {
                Ok(g) => {
                    assert_eq!(case["accepted"], true, "{valid}");
                    assert_eq!(g.field, extent(&case["field"]), "{valid}");
                    for (level, want) in g.levels.iter().zip(case["levels"].as_array().unwrap()) {
                        assert_eq!(*level, extent(want), "{valid}");
                    }
                    assert_eq!(g.vit_tokens as u64, case["vitTokens"].as_u64().unwrap());
                    assert_eq!(g.vit_padded as u64, case["vitPadded"].as_u64().unwrap());
                }
                Err(GeometryError::PartialWindow { level0, .. }) => {
                    assert_eq!(case["accepted"], false, "{valid}");
                    assert_eq!(level0, extent(&case["levels"][0]));
                }
                Err(e) => panic!("{valid}: {e}"),
            }
        }
    }

    #[test]
    fn refused_widths() {
        let refused: Vec<u32> = (1..400).filter(|&w| Geometry::new(Extent::new(w, 512)).is_err()).collect();
        let want: Vec<u32> =
            vectors()["refusedWidths"].as_array().unwrap().iter().map(|w| w.as_u64().unwrap() as u32).collect();
        assert_eq!(refused, want);
    }

    #[test]
    fn heights_never_cause_a_refusal() {
        for h in 1..=2200 {
            assert!(Geometry::new(Extent::new(512, h)).is_ok(), "512x{h}");
        }
    }

    #[test]
    fn every_level_is_a_multiple_of_four_and_covers_its_pool() {
        for w in (33..1000).step_by(7) {
            for h in (1..1000).step_by(11) {
                let g = Geometry::new(Extent::new(w, h)).unwrap();
                assert!(g.field.width >= w && g.field.height >= h);
                let mut finer = g.field;
                for level in g.levels {
                    assert!(level.width.is_multiple_of(4) && level.height.is_multiple_of(4));
                    assert!(level.width * 2 >= finer.width && level.height * 2 >= finer.height);
                    finer = level;
                }
            }
        }
    }

    #[test]
    fn outside_sizes_are_refused_with_their_numbers() {
        assert_eq!(Geometry::new(Extent::new(0, 5)), Err(GeometryError::Empty(Extent::new(0, 5))));
        let large = Extent::new(MAX_SIDE + 1, 64);
        assert_eq!(Geometry::new(large), Err(GeometryError::TooLarge(large)));
        assert!(Geometry::new(Extent::new(MAX_SIDE, MAX_SIDE)).is_ok());
        let message = Geometry::new(Extent::new(20, 512)).map(|g| g.field);
        assert_eq!(message, Ok(Extent::new(336, 512)));
        let message = Geometry::new(Extent::new(30, 512)).unwrap_err().to_string();
        assert!(message.contains("30x512") && message.contains("164x256"), "{message}");
    }

    #[test]
    fn window_grids_cover_each_token_once() {
        for phase in 0..4 {
            let grid = windows(Extent::new(12, 20), phase);
            let mut seen = vec![0u32; 12 * 20];
            for window in 0..grid.count() {
                for t in 0..WINDOW_TOKENS {
                    if let Some(row) = grid.row(window, t) {
                        seen[row] += 1;
                        assert_eq!(grid.locate(row % 12, row / 12), (window, t));
                    }
                }
            }
            assert!(seen.iter().all(|&n| n == 1), "phase {phase}");
        }
        let grid = windows(Extent::new(12, 8), 1);
        assert_eq!((grid.columns, grid.rows), (2, 2));
        assert_eq!(grid.origin(3), (4, 4));
        assert_eq!(grid.row(0, 0), None);
        assert_eq!(grid.row(0, 36), Some(0));
    }
}
