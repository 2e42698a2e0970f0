//! The help: every key, from the table that the input reads; and a hint at the first start.

use egui::{Align2, Grid, RichText, Window, vec2};

use super::places;
use crate::window::keys::LINES;
use crate::window::settings::Settings;

/// Keys of the hint.
const HINT: [(&str, &str); 4] = [
    ("H", "all keys"),
    ("N", "network on or off"),
    ("3, 4, 5", "wipe, side by side, difference"),
    ("Tab", "hide all this"),
];

/// The window with all keys.
pub fn window(ui: &egui::Ui, settings: &mut Settings) {
    let mut open = settings.help;
    let window = Window::new("Keys")
        .id(egui::Id::new("help"))
        .open(&mut open)
        .collapsible(false)
        .resizable(false)
        .anchor(Align2::CENTER_CENTER, vec2(0.0, 0.0))
        .show(ui.ctx(), |ui| {
            Grid::new("keys").num_columns(2).spacing([16.0, 4.0]).striped(true).show(ui, |ui| {
                for line in LINES {
                    ui.label(RichText::new(line.keys).strong().monospace());
                    ui.label(line.about);
                    ui.end_row();
                }
            });
        });
    if let Some(window) = window {
        places::note(ui, "help", &window.response);
    }
    settings.help = open;
}

/// What a person needs to know at the first start.
pub fn hint(ui: &egui::Ui, settings: &mut Settings) {
    let area = egui::Area::new(egui::Id::new("hint"))
        .anchor(Align2::RIGHT_BOTTOM, vec2(-12.0, -12.0))
        .order(egui::Order::Foreground)
        .show(ui.ctx(), |ui| {
            egui::Frame::popup(ui.style()).show(ui, |ui| {
                ui.strong("Drag to look around, wheel to zoom");
                Grid::new("hint").num_columns(2).spacing([12.0, 2.0]).show(ui, |ui| {
                    for (key, about) in HINT {
                        ui.label(RichText::new(key).strong().monospace());
                        ui.label(about);
                        ui.end_row();
                    }
                });
                let understood = ui.button("Understood");
                places::note(ui, "hint.understood", &understood);
                if understood.clicked() {
                    settings.hint = false;
                }
            });
        });
    places::note(ui, "hint", &area.response);
}
