//! The controls at the left side.

use egui::{Button, CollapsingHeader, Grid, Panel, ProgressBar, RichText, ScrollArea};

use super::sides::SideFields;
use super::sizes::SizeFields;
use super::{PANEL_WIDTH, Status, controls, legend, scene};
use crate::engine::retain::Replay;
use crate::engine::side;
use crate::window::layout::{CompareMode, Line};
use crate::window::settings::{Action, Settings};
use crate::window::zoom::Zoom;

/// Width of the plot of frame times, in points.
const PLOT_WIDTH: f32 = 230.0;

/// State of the overlay's own fields.
#[derive(Debug, Default)]
pub struct Overlay {
    sizes: SizeFields,
    sides: SideFields,
}

/// Every key, for the help at the panel's end.
const KEYS: &[(&str, &str)] = &[
    ("1 2 3 4 5 6", "off, on, wipe, side by side, difference, view"),
    ("G", "next kind of difference"),
    ("[ ]", "next view"),
    ("X", "swap the sides"),
    ("B, held", "the frame without the network"),
    ("V", "vertical or horizontal wipe"),
    ("wheel", "zoom at the pointer"),
    ("right drag", "move the image; middle drag too"),
    ("0", "the whole image"),
    ("Z", "image pixels as window pixels"),
    ("N", "network on or off"),
    ("T", "history on or off"),
    ("R", "reset the history"),
    ("C", "capture the next frame"),
    ("F2", "screenshot without the overlay"),
    ("P", "pause the scene"),
    (".", "one frame of the paused scene"),
    ("I", "values at the pointer"),
    ("W A S D Q E", "fly; Shift is faster"),
    ("left drag", "look around, or move the wipe's line"),
    ("Tab, F11", "hide this, fullscreen"),
    ("Esc", "leave fullscreen, quit"),
];

impl Overlay {
    pub(super) fn panel(
        &mut self,
        ui: &mut egui::Ui,
        settings: &mut Settings,
        status: &Status,
        actions: &mut Vec<Action>,
    ) {
        Panel::left("controls").exact_size(PANEL_WIDTH).resizable(false).show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                ui.spacing_mut().slider_width = 110.0;
                ui.add_space(4.0);
                modes(ui, settings);
                ui.add_space(2.0);
                switches(ui, settings, actions);
                progress(ui, settings, status);
                ui.separator();
                ui.strong("Resolution");
                self.sizes.show(ui, settings, status, actions);
                ui.separator();
                compare(ui, settings);
                ui.separator();
                self.sides.show(ui, settings, status);
                ui.separator();
                numbers(ui, status);
                ui.separator();
                scene::show(ui, settings, status, actions);
                ui.separator();
                controls::look(ui, &mut settings.look, status);
                ui.separator();
                times(ui, status);
                keys(ui);
            });
        });
    }
}

fn modes(ui: &mut egui::Ui, settings: &mut Settings) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        for mode in CompareMode::ALL {
            // The names of the sides as they are at first; others are named on the picture.
            let label = match mode {
                CompareMode::Off if settings.sides != side::DEFAULT => "Left",
                CompareMode::On if settings.sides != side::DEFAULT => "Right",
                mode => mode.label(),
            };
            ui.selectable_value(&mut settings.compare.mode, mode, label);
        }
    });
}

/// How the two images are seen.
fn compare(ui: &mut egui::Ui, settings: &mut Settings) {
    let compare = &mut settings.compare;
    ui.horizontal(|ui| {
        ui.strong("View");
        if ui.small_button("Fit").on_hover_text("0").clicked() {
            compare.zoom = Zoom::FIT;
        }
        if ui.small_button("1:1").on_hover_text("Z").clicked() {
            compare.zoom.scale = Some(1.0);
        }
        ui.selectable_value(&mut compare.line, Line::Vertical, "|").on_hover_text("vertical wipe, V");
        ui.selectable_value(&mut compare.line, Line::Horizontal, "\u{2014}").on_hover_text("horizontal wipe, V");
        ui.checkbox(&mut settings.inspector, "Inspect").on_hover_text("values at the pointer, I");
    });
    legend::controls(ui, compare);
}

fn switches(ui: &mut egui::Ui, settings: &mut Settings, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.checkbox(&mut settings.network, "Network");
        ui.checkbox(&mut settings.temporal, "History");
        if ui.add(Button::new("Reset").small()).on_hover_text("forget the history").clicked() {
            actions.push(Action::ResetHistory);
        }
    });
}

fn progress(ui: &mut egui::Ui, settings: &Settings, status: &Status) {
    if let Some(done) = status.scene_loading {
        ui.add(ProgressBar::new(done).text(format!("loading the scene, {:.0} %", 100.0 * done)));
        return;
    }
    // A frame of several networks says at which it is.
    let of = status.part.map_or_else(String::new, |[at, all]| format!(" {at} of {all}"));
    let (done, text) = match status.progress {
        _ if !settings.network => (0.0, "network is off".to_owned()),
        _ if status.loading => (0.0, "preparing the network".to_owned()),
        Some(progress) => match progress.remaining() {
            Some(left) => (progress.done, format!("computing{of}, {:.0} %, {left:.0} s left", 100.0 * progress.done)),
            None => (progress.done, format!("computing{of}, {:.0} %", 100.0 * progress.done)),
        },
        None if status.preview => (0.0, "waiting for the camera to rest".to_owned()),
        None => (1.0, "running".to_owned()),
    };
    ui.add(ProgressBar::new(done).text(text));
}

fn numbers(ui: &mut egui::Ui, status: &Status) {
    let ms = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.2} ms"));
    let rows = [
        ("Network", ms(status.network_ms)),
        ("Scene", ms(status.scene_ms)),
        ("Present", format!("{:.2} ms, overlay {:.2} ms", status.present_ms, status.overlay_ms)),
        ("Frame", format!("{:.1} ms", status.frame_ms)),
        ("Evaluated", format!("{} of {} presented", status.evaluated, status.presented)),
        ("History", format!("{} frames", status.history)),
        ("Size", format!("{}, field {}", status.size, status.field)),
        ("Work", status.gflop.map_or_else(|| "-".to_owned(), |work| format!("{work:.0} GFLOP a frame"))),
        ("Memory", format!("{:.0} MiB", status.memory as f64 / f64::from(1 << 20))),
        ("Route", status.route.clone()),
        ("Commands", status.replay.as_ref().map_or_else(|| "-".to_owned(), Replay::text)),
        ("Model", status.model.clone()),
        ("Digest", status.digest.clone()),
        ("Device", status.device.clone()),
    ];
    Grid::new("numbers").num_columns(2).spacing([8.0, 2.0]).show(ui, |ui| {
        for (name, value) in rows {
            ui.label(RichText::new(name).weak());
            ui.add(egui::Label::new(value.as_str()).truncate()).on_hover_text(value);
            ui.end_row();
        }
    });
}

/// How the times of the last frames are spread, and the frame times as a line.
fn times(ui: &mut egui::Ui, status: &Status) {
    CollapsingHeader::new("Times").default_open(false).show(ui, |ui| {
        for (name, series) in [("Network", &status.network), ("Frame", &status.frames)] {
            let text = series.summary().map_or_else(|| "-".to_owned(), |summary| summary.text());
            ui.label(format!("{name}: {text}"));
        }
        status.frames.plot(ui, PLOT_WIDTH);
    });
}

fn keys(ui: &mut egui::Ui) {
    CollapsingHeader::new("Keys").default_open(false).show(ui, |ui| {
        Grid::new("keys").num_columns(2).spacing([8.0, 2.0]).show(ui, |ui| {
            for (key, what) in KEYS {
                ui.label(RichText::new(*key).strong());
                ui.label(*what);
                ui.end_row();
            }
        });
    });
}
