//! A sheet to draw on: rectangles and text at pixels.

use egui::{Align2, Color32, FontId, Pos2, RawInput, Rect, Vec2, pos2, vec2};

use super::Picture;
use super::raster::{self, Atlas};

/// Behind everything.
pub const BACK: Color32 = Color32::from_rgb(22, 24, 28);
/// Text.
pub const INK: Color32 = Color32::from_rgb(230, 230, 230);
/// Text of less weight, and lines.
pub const FAINT: Color32 = Color32::from_rgb(150, 158, 168);

/// Where to draw.
pub struct Canvas {
    painter: egui::Painter,
}

impl Canvas {
    /// A filled rectangle.
    pub fn rect(&self, at: Pos2, size: Vec2, color: Color32) {
        self.painter.rect_filled(Rect::from_min_size(at, size), 0.0, color);
    }

    /// Text whose `anchor` lies at a place. Gives its width.
    pub fn text(&self, at: Pos2, anchor: Align2, text: &str, size: f32, color: Color32) -> f32 {
        self.painter.text(at, anchor, text, FontId::proportional(size), color).width()
    }

    /// Text from the left, cut off with an ellipsis where it is wider than `width`.
    pub fn text_within(&self, at: Pos2, width: f32, text: &str, size: f32, color: Color32) {
        let wide = |text: &str| {
            self.painter.layout_no_wrap(text.to_owned(), FontId::proportional(size), color).size().x > width
        };
        let mut shown = text.to_owned();
        while wide(&shown) && shown.chars().count() > 2 {
            shown = shown.chars().take(shown.chars().count() - 2).collect::<String>() + "\u{2026}";
        }
        self.text(at, Align2::LEFT_CENTER, &shown, size, color);
    }
}

/// Draws a picture of a size.
pub fn draw(width: u32, height: u32, paint: impl Fn(&Canvas)) -> Picture {
    let context = egui::Context::default();
    let screen = Rect::from_min_size(Pos2::ZERO, vec2(width as f32, height as f32));
    let mut atlas = Atlas::default();
    let mut primitives = Vec::new();
    // Fonts are there from the second layout on.
    for _ in 0..2 {
        let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
        let output = context.run_ui(input, |ui| {
            let painter = ui.ctx().layer_painter(egui::LayerId::background());
            painter.rect_filled(screen, 0.0, BACK);
            paint(&Canvas { painter });
        });
        atlas.update(output.textures_delta);
        primitives = context.tessellate(output.shapes, 1.0);
    }
    raster::fill(width, height, BACK, &primitives, &atlas)
}

/// A place.
pub fn at(x: f32, y: f32) -> Pos2 {
    pos2(x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_leaves_ink() {
        let picture = draw(120, 40, |canvas| {
            canvas.text(at(4.0, 20.0), Align2::LEFT_CENTER, "Tmac/s 42", 16.0, INK);
            canvas.rect(at(100.0, 0.0), vec2(20.0, 40.0), Color32::from_rgb(10, 20, 200));
        });
        let bright = |x: usize, y: usize| picture.pixels[4 * (y * 120 + x)] > 150;
        let ink = (0..40).flat_map(|y| (0..100).map(move |x| (x, y))).filter(|&(x, y)| bright(x, y)).count();
        assert!((60..1500).contains(&ink), "{ink} bright pixels");
        assert_eq!(&picture.pixels[4 * (20 * 120 + 110)..][..3], &[10, 20, 200]);
    }
}
