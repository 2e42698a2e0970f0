//! Texts on the picture: what each panel shows, the progress of a slow frame, and what went wrong.

use egui::{Align2, Color32, FontId, Rect, pos2, vec2};

use super::Status;
use crate::window::layout::{Layout, Line, Panel, Source};
use crate::window::settings::Settings;

const BACK: Color32 = Color32::from_black_alpha(170);

/// Names the panels, and shows how far a slow frame has come.
pub fn show(ui: &egui::Ui, settings: &Settings, status: &Status, layout: &Layout) {
    for (index, panel) in layout.panels.iter().enumerate() {
        let text = name(panel.source, settings, status);
        let rect = visible(ui, panel);
        // The two halves of a wipe are named at their outer sides, clear of the line.
        let outer_right = layout.divider.is_some() && layout.line == Line::Vertical && index == 1;
        let fits = text_width(ui, &text) + 28.0 < rect.width();
        if fits && outer_right {
            tag(ui, pos2(rect.right() - 8.0, rect.top() + 8.0), Align2::RIGHT_TOP, &text);
        } else if fits {
            tag(ui, rect.left_top() + vec2(8.0, 8.0), Align2::LEFT_TOP, &text);
        }
    }
}

fn name(source: Source, settings: &Settings, status: &Status) -> String {
    let text = match source {
        Source::Input => "without network",
        Source::Neural if !settings.network => "network is off",
        Source::Neural if status.preview => "without network, computing",
        Source::Neural => "with network",
        Source::Absolute | Source::Signed if !settings.network || status.preview => {
            "no difference: no frame with network"
        }
        Source::Absolute => return format!("difference, {:.0} times", settings.compare.gain),
        Source::Signed => return format!("difference around grey, {:.0} times", settings.compare.gain),
    };
    text.to_owned()
}

/// The part of the window, in points, where the panel shows the image and not the space around it.
fn visible(ui: &egui::Ui, panel: &Panel) -> Rect {
    let scale = ui.ctx().pixels_per_point();
    let [left, top, right, bottom] = panel.clip.map(|v| v as f32);
    Rect::from_min_max(pos2(left.max(panel.origin[0]), top.max(panel.origin[1])) / scale, pos2(right, bottom) / scale)
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
