//! The controls of [`crate::window::control`]. Each has a way back to its default, and says when the loaded model ignores
//! it.

use egui::{CollapsingHeader, Color32, RichText, Slider};

use super::{Status, places};
use crate::window::control::{self, Control, Kind, Section, Seen};
use crate::window::settings::Settings;

/// Room for a slider beside its number, its name and its marks.
const SLIDER: f32 = 80.0;

/// Boxes that fit beside each other, each with the way back to its default.
const IN_A_ROW: usize = 2;

/// What shapes the picture: the look, paper white, history and noise, the custom style.
pub fn look(ui: &mut egui::Ui, settings: &mut Settings, status: &Status) {
    ui.spacing_mut().slider_width = SLIDER;
    ui.horizontal(|ui| {
        ui.strong("Look");
        let all = ui.small_button("All to defaults");
        places::note(ui, "controls.reset", &all);
        if all.clicked() {
            control::reset_look(settings);
        }
    });
    section(ui, settings, status, Section::Look);
    ui.separator();
    white(ui, settings, status);
    ui.separator();
    section(ui, settings, status, Section::Time);
    let custom = CollapsingHeader::new("Custom style").default_open(settings.look.custom).show(ui, |ui| {
        section(ui, settings, status, Section::Custom);
    });
    places::note(ui, "custom.header", &custom.header_response);
}

/// What the scene is drawn with.
pub fn scene(ui: &mut egui::Ui, settings: &mut Settings, status: &Status) {
    for row in control::of(Section::Scene).chunks(IN_A_ROW) {
        ui.horizontal(|ui| row.iter().for_each(|control| one(ui, settings, status, control)));
    }
}

fn section(ui: &mut egui::Ui, settings: &mut Settings, status: &Status, section: Section) {
    for control in control::of(section) {
        ui.horizontal(|ui| one(ui, settings, status, &control));
    }
}

/// Paper white, and what is really applied.
fn white(ui: &mut egui::Ui, settings: &mut Settings, status: &Status) {
    for control in control::of(Section::White) {
        if matches!(control.id, "white-low" | "white-high") && !control.is_active(settings) {
            continue;
        }
        ui.horizontal(|ui| {
            one(ui, settings, status, &control);
            if control.id == "auto-white" {
                let white = &status.white;
                let text = format!("{:.2} asked, {:.2} applied", white.requested, white.applied);
                ui.label(RichText::new(text).small().weak());
            }
        });
    }
}

/// A control with its marks.
fn one(ui: &mut egui::Ui, settings: &mut Settings, status: &Status, control: &Control) {
    let active = control.is_active(settings);
    ui.add_enabled_ui(active, |ui| widget(ui, settings, control));
    if active {
        mark(ui, settings, status, control);
    }
    // The way back to the default, there when it leads somewhere.
    if control.get(settings) != control.default_value() {
        let back = ui.small_button("\u{27f2}").on_hover_text("back to the default");
        places::note(ui, &format!("{}.reset", control.id), &back);
        if back.clicked() {
            control.set(settings, control.default_value());
        }
    }
}

/// The slider, the box or the choice itself.
fn widget(ui: &mut egui::Ui, settings: &mut Settings, control: &Control) {
    let value = control.get(settings);
    let mut new = value;
    let response = match &control.kind {
        Kind::Number { range, logarithmic, whole } => {
            let slider = Slider::new(&mut new, range.clone()).logarithmic(*logarithmic).text(control.name);
            let slider = if *whole { slider.integer() } else { slider.max_decimals(3) };
            ui.add(slider)
        }
        Kind::Switch => {
            let mut on = value >= 0.5;
            let response = ui.checkbox(&mut on, control.name);
            new = f32::from(u8::from(on));
            response
        }
        Kind::Choice(names) => {
            ui.label(control.name);
            let choices = ui.horizontal(|ui| {
                for (index, name) in names.iter().enumerate() {
                    let choice = ui.selectable_label(index as f32 == value, *name);
                    places::note(ui, &format!("{}.{index}", control.id), &choice);
                    if choice.clicked() {
                        new = index as f32;
                    }
                }
            });
            choices.response
        }
    };
    places::note(ui, control.id, &response);
    response.on_hover_text(control.about);
    if new != value {
        control.set(settings, new);
    }
}

/// Says when the model ignores what the control feeds.
fn mark(ui: &mut egui::Ui, settings: &Settings, status: &Status, control: &Control) {
    let lanes = control.lanes(settings).join(", ");
    let (text, hint) = match control.seen(settings, &status.ignored) {
        Seen::Yes => return,
        Seen::NoEffect => ("ignored", format!("this model's weights for {lanes} are all zero: no effect")),
        Seen::Partly => ("unseen", format!("this model's weights for {lanes} are all zero; the other effect stays")),
    };
    let label = ui.label(RichText::new(text).small().color(Color32::from_gray(150)));
    places::note(ui, &format!("{}.{text}", control.id), &label);
    label.on_hover_text(hint);
}
