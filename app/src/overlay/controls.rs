//! Controls of the network's frame. Each has a way back to its default, and says when the loaded model ignores it.

use std::ops::RangeInclusive;

use egui::emath::Numeric;
use egui::{CollapsingHeader, RichText, Slider};
use network::frame::{CustomStyle, Style, ranges};

use super::Status;
use crate::window::look::{Look, RESET_EVERY};

/// Style, strength, and what the network is told.
pub fn look(ui: &mut egui::Ui, look: &mut Look, status: &Status) {
    let default = Look::default();
    // Leaves room for the marks and the way back.
    ui.spacing_mut().slider_width = 80.0;
    ui.horizontal(|ui| {
        ui.strong("Style");
        for (value, name) in [(Style::Off, "off"), (Style::Natural, "natural"), (Style::Cinematic, "cinematic")] {
            ui.selectable_value(&mut look.style, value, name);
        }
        mark(ui, status, "style");
    });
    slider(ui, &mut look.intensity, ranges::INTENSITY, default.intensity, "Intensity");
    slider(ui, &mut look.color_strength, ranges::COLOR_STRENGTH, default.color_strength, "Colour strength");
    logarithmic(ui, &mut look.paper_white, ranges::PAPER_WHITE, default.paper_white, "Paper white");
    input(ui, status, "tone", &mut look.tone, ranges::LOCAL_TONE, default.tone, "Tone");
    input(ui, status, "structure", &mut look.structure, ranges::LOCAL_STRUCTURE, default.structure, "Structure");
    input(ui, status, "skin", &mut look.skin, ranges::SKIN_STRUCTURE, default.skin, "Skin");
    ui.horizontal(|ui| {
        ui.checkbox(&mut look.auto_mask, "Auto mask");
        mark(ui, status, "mask");
    });
    slider(ui, &mut look.blend_cap, ranges::BLEND_SCALE, default.blend_cap, "History cap");
    slider(ui, &mut look.reset_every, RESET_EVERY, default.reset_every, "Reset every");
    ui.horizontal(|ui| {
        ui.checkbox(&mut look.frozen_seed, "Frozen noise");
        if ui.small_button("All to defaults").clicked() {
            *look = default;
        }
    });
    CollapsingHeader::new("Custom style").default_open(look.custom).show(ui, |ui| {
        ui.checkbox(&mut look.custom, "in place of the style's look");
        knobs(ui, &mut look.knobs);
    });
}

fn knobs(ui: &mut egui::Ui, knobs: &mut CustomStyle) {
    let default = CustomStyle::default();
    slider(ui, &mut knobs.exposure, ranges::EXPOSURE, default.exposure, "Exposure");
    slider(ui, &mut knobs.contrast, ranges::CONTRAST, default.contrast, "Contrast");
    logarithmic(ui, &mut knobs.gamma, ranges::GAMMA, default.gamma, "Gamma");
    slider(ui, &mut knobs.saturation, ranges::SATURATION, default.saturation, "Saturation");
    slider(ui, &mut knobs.hue, ranges::HUE, default.hue, "Hue");
    logarithmic(ui, &mut knobs.vibrance, ranges::VIBRANCE, default.vibrance, "Vibrance");
    slider(ui, &mut knobs.strength, ranges::STRENGTH, default.strength, "Strength");
}

fn slider<N: Numeric>(ui: &mut egui::Ui, value: &mut N, range: RangeInclusive<N>, default: N, name: &str) {
    ui.horizontal(|ui| {
        ui.add(Slider::new(value, range).text(name));
        reset(ui, value, default);
    });
}

fn logarithmic(ui: &mut egui::Ui, value: &mut f32, range: RangeInclusive<f32>, default: f32, name: &str) {
    ui.horizontal(|ui| {
        ui.add(Slider::new(value, range).logarithmic(true).text(name));
        reset(ui, value, default);
    });
}

/// A number that goes into the network.
fn input(
    ui: &mut egui::Ui,
    status: &Status,
    lane: &str,
    value: &mut f32,
    range: RangeInclusive<f32>,
    default: f32,
    name: &str,
) {
    ui.horizontal(|ui| {
        ui.add(Slider::new(value, range).text(name));
        mark(ui, status, lane);
        reset(ui, value, default);
    });
}

/// The way back to the default, there when it leads somewhere.
fn reset<N: Numeric>(ui: &mut egui::Ui, value: &mut N, default: N) {
    if *value != default && ui.small_button("\u{27f2}").on_hover_text("back to the default").clicked() {
        *value = default;
    }
}

/// Says when the model ignores an input.
fn mark(ui: &mut egui::Ui, status: &Status, lane: &str) {
    if status.ignored.contains(&lane) {
        let text = RichText::new("ignored").small().weak();
        ui.label(text).on_hover_text("this model's weights for the input are all zero: the network does not see it");
    }
}
