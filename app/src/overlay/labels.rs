//! Texts on the picture: what each panel shows, the progress of a slow frame, and what went wrong.

use egui::{Align2, Color32, FontId, Rect, pos2, vec2};

use super::{Status, legend};
use crate::window::layout::{Layout, Line, Panel, Source};
use crate::window::settings::Settings;

/// Behind texts on the picture.
pub const BACK: Color32 = Color32::from_black_alpha(170);

/// Points between a label and the borders of what it names.
const MARGIN: f32 = 8.0;
/// Points below a label where a legend begins.
const BELOW: f32 = 30.0;

/// Names the panels, and says what their colours mean.
pub fn show(ui: &egui::Ui, settings: &Settings, status: &Status, layout: &Layout) {
    for (index, panel) in layout.panels.iter().enumerate() {
        let text = name(panel.source, settings, status);
        let scale = ui.ctx().pixels_per_point();
        let rect = visible(panel, status.space, layout.scale);
        let rect = Rect::from_min_max(pos2(rect[0], rect[1]) / scale, pos2(rect[2], rect[3]) / scale);
        // The two halves of a wipe are named at their outer sides, clear of the line.
        let outer_right = layout.divider.is_some() && layout.line == Line::Vertical && index == 1;
        let room = rect.width() - 2.0 * MARGIN - 12.0;
        let Some(text) = fitting(ui, &text, room) else { continue };
        if outer_right {
            tag(ui, pos2(rect.right() - MARGIN, rect.top() + MARGIN), Align2::RIGHT_TOP, &text);
        } else {
            let at = rect.left_top() + vec2(MARGIN, MARGIN);
            tag(ui, at, Align2::LEFT_TOP, &text);
            if panel.source != Source::Original && rect.height() > 160.0 && room > 280.0 {
                legend::show(ui, &settings.compare, status, at + vec2(0.0, BELOW));
            }
        }
    }
}

fn name(source: Source, settings: &Settings, status: &Status) -> String {
    let [left, right] = &status.sides;
    let gain = settings.compare.gain;
    let between = || format!("{left} to {right}");
    match source {
        Source::Left => left.clone(),
        Source::Right => right.clone(),
        Source::Original => "without network".to_owned(),
        Source::Absolute | Source::Signed | Source::Flip if !status.differs => {
            "no difference: no frame with network".to_owned()
        }
        Source::Absolute => format!("difference, {gain:.0} times, {}", between()),
        Source::Signed => format!("difference around grey, {gain:.0} times, {}", between()),
        Source::Flip => match status.flip_mean {
            Some(mean) => format!("FLIP, mean {mean:.4}, {}", between()),
            None => format!("FLIP, {}", between()),
        },
        Source::View => legend::view_name(&settings.compare.view, status),
    }
}

/// Left, top, right and bottom, in window pixels, of where a panel shows its image and not the space around it.
fn visible(panel: &Panel, [width, height]: [u32; 2], scale: f32) -> [f32; 4] {
    let [left, top, right, bottom] = panel.clip.map(|side| side as f32);
    let [x, y] = panel.origin;
    [left.max(x), top.max(y), right.min(x + width as f32 * scale), bottom.min(y + height as f32 * scale)]
}

/// The text, its end left out where there is no room for it; nothing where there is no room at all.
fn fitting(ui: &egui::Ui, text: &str, room: f32) -> Option<String> {
    if text_width(ui, text) <= room {
        return Some(text.to_owned());
    }
    let mut parts: Vec<&str> = text.split(", ").collect();
    while parts.len() > 1 {
        parts.pop();
        let shorter = format!("{}, \u{2026}", parts.join(", "));
        if text_width(ui, &shorter) <= room {
            return Some(shorter);
        }
    }
    None
}

fn text_width(ui: &egui::Ui, text: &str) -> f32 {
    let painter = ui.painter();
    painter.layout_no_wrap(text.to_owned(), FontId::proportional(13.0), Color32::WHITE).size().x
}

fn tag(ui: &egui::Ui, at: egui::Pos2, anchor: Align2, text: &str) {
    let painter = ui.ctx().layer_painter(egui::LayerId::background());
    let galley = painter.layout_no_wrap(text.to_owned(), FontId::proportional(13.0), Color32::WHITE);
    let rect = anchor.anchor_size(at, galley.size() + vec2(12.0, 6.0));
    painter.rect_filled(rect, 4.0, BACK);
    painter.galley(rect.min + vec2(6.0, 3.0), galley, Color32::WHITE);
}

/// Where the tour is, at the top.
pub fn demo(ui: &egui::Ui, place: &str) {
    let screen = ui.ctx().content_rect();
    tag(ui, pos2(screen.right() - 8.0, screen.bottom() - 8.0), Align2::RIGHT_BOTTOM, &format!("demo, {place}"));
}

/// A message across the bottom of the window.
pub fn banner(ui: &egui::Ui, message: &str) {
    let screen = ui.ctx().content_rect();
    let width = (screen.width() - 32.0).clamp(64.0, 640.0);
    egui::Area::new(egui::Id::new("message"))
        .anchor(Align2::CENTER_BOTTOM, vec2(0.0, -12.0))
        .order(egui::Order::Foreground)
        .interactable(false)
        .show(ui.ctx(), |ui| {
            egui::Frame::popup(ui.style()).show(ui, |ui| {
                ui.set_max_width(width);
                ui.label(egui::RichText::new(message).color(Color32::WHITE));
            });
        });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stay_on_the_image() {
        let panel = Panel {
            clip: [776, 0, 1280, 800],
            area: [276, 0, 1280, 800],
            origin: [400.0, 100.0],
            source: Source::Right,
        };
        // The image ends before its part of the window does.
        assert_eq!(visible(&panel, [320, 180], 2.5), [776.0, 100.0, 1200.0, 550.0]);
        // Zoomed beyond the window, the window's part is what is seen.
        assert_eq!(visible(&panel, [320, 180], 9.0), [776.0, 100.0, 1280.0, 800.0]);
    }
}
