//! A rendered frame in ordinary memory.

use half::f16;

/// One frame, row by row, y down. Each list has `width * height` elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Linear scene-referred RGB, alpha 1.
    pub color: Vec<[f16; 4]>,
    /// Distance along the camera's forward axis in metres; 0 where there is no surface.
    pub depth: Vec<f32>,
    /// From this frame to the previous one, uv units, y down; zero where invalid.
    pub motion: Vec<[f16; 2]>,
    /// Object id; 0 where there is no surface.
    pub id: Vec<u32>,
}

impl Picture {
    /// Colour of a pixel, linear RGB.
    #[must_use]
    pub fn rgb(&self, index: usize) -> [f32; 3] {
        let [r, g, b, _] = self.color[index];
        [r.to_f32(), g.to_f32(), b.to_f32()]
    }
}
