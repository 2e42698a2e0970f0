//! The controls at the left side.

use egui::{Button, Panel, ProgressBar, ScrollArea};

use super::presets::PresetFields;
use super::sides::SideFields;
use super::sizes::SizeFields;
use super::tools::ToolFields;
use super::{PANEL_WIDTH, Status, controls, legend, numbers, places, scene};
use crate::engine::side;
use crate::window::layout::{CompareMode, Line};
use crate::window::settings::{Action, Settings};
use crate::window::zoom::Zoom;

/// State of the overlay's own fields.
#[derive(Debug, Default)]
pub struct Overlay {
    sizes: SizeFields,
    sides: SideFields,
    presets: PresetFields,
    tools: ToolFields,
}

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
                numbers::lines(ui, status);
                ui.separator();
                scene::show(ui, settings, status, actions);
                ui.separator();
                controls::look(ui, settings, status);
                ui.separator();
                self.presets.show(ui, status, actions);
                ui.separator();
                self.tools.show(ui, settings, status, actions);
                ui.separator();
                numbers::times(ui, status);
                let help = ui.button("All keys").on_hover_text("H");
                places::note(ui, "help.open", &help);
                if help.clicked() {
                    settings.help = true;
                }
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
            let choice = ui.selectable_value(&mut settings.compare.mode, mode, label);
            places::note(ui, &format!("mode.{}", mode.id()), &choice);
        }
    });
}

/// How the two images are seen.
fn compare(ui: &mut egui::Ui, settings: &mut Settings) {
    let compare = &mut settings.compare;
    ui.horizontal(|ui| {
        ui.strong("View");
        let fit = ui.small_button("Fit").on_hover_text("0");
        places::note(ui, "fit", &fit);
        if fit.clicked() {
            compare.zoom = Zoom::FIT;
        }
        let one = ui.small_button("1:1").on_hover_text("Z");
        places::note(ui, "one-to-one", &one);
        if one.clicked() {
            compare.zoom.scale = Some(1.0);
        }
        let line = ui.selectable_value(&mut compare.line, Line::Vertical, "|").on_hover_text("vertical wipe, V");
        places::note(ui, "line.vertical", &line);
        let line = ui.selectable_value(&mut compare.line, Line::Horizontal, "\u{2014}");
        places::note(ui, "line.horizontal", &line);
        line.on_hover_text("horizontal wipe, V");
        let inspect = ui.checkbox(&mut settings.inspector, "Inspect").on_hover_text("values at the pointer, I");
        places::note(ui, "inspect", &inspect);
    });
    legend::controls(ui, compare);
}

fn switches(ui: &mut egui::Ui, settings: &mut Settings, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let network = ui.checkbox(&mut settings.network, "Network");
        places::note(ui, "network", &network);
        let history = ui.checkbox(&mut settings.temporal, "History");
        places::note(ui, "history", &history);
        let reset = ui.add(Button::new("Reset").small()).on_hover_text("forget the history");
        places::note(ui, "history.reset", &reset);
        if reset.clicked() {
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
