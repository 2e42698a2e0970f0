//! The size of the rendered frame: presets, a free size and a share of the window, applied on release or Enter.

use egui::{ComboBox, RichText, Slider, TextEdit};
use network::geometry::{Extent, Geometry};

use super::{Status, places};
use crate::cli::args;
use crate::engine::fit::Forecast;
use crate::window::settings::{Action, PRESETS, Settings};

/// Colour of what cannot be.
const WARNING: egui::Color32 = egui::Color32::from_rgb(255, 150, 120);

/// What has been typed or dragged but not applied.
#[derive(Debug, Default)]
pub struct SizeFields {
    text: String,
    /// Whether the keys have been going into `text`.
    typing: bool,
    /// The size that `text` was last filled from.
    shown: Option<Extent>,
    problem: Option<String>,
    percent: Option<f32>,
    /// Whether a size is thought about that is not applied.
    considered: bool,
}

impl SizeFields {
    /// The controls of the frame's size.
    pub fn show(&mut self, ui: &mut egui::Ui, settings: &Settings, status: &Status, actions: &mut Vec<Action>) {
        if self.shown != Some(settings.size) {
            self.shown = Some(settings.size);
            self.text = settings.size.to_string();
            self.problem = None;
        }
        self.considered = false;
        ui.horizontal(|ui| {
            let current = PRESETS.iter().find(|(_, size)| *size == settings.size);
            let list = ComboBox::from_id_salt("preset")
                .width(92.0)
                .selected_text(current.map_or("custom", |(name, _)| name))
                .show_ui(ui, |ui| {
                    for (name, size) in PRESETS {
                        let text = format!("{name}  {size}");
                        let line = ui.selectable_label(settings.size == size, text);
                        places::note(ui, &format!("size.{name}"), &line);
                        if line.hovered() && settings.size != size {
                            self.considered = true;
                            actions.push(Action::Consider(size));
                        }
                        if line.clicked() {
                            actions.push(Action::Resize(size));
                        }
                    }
                });
            places::note(ui, "sizes", &list.response);
            let field = ui.add(TextEdit::singleline(&mut self.text).desired_width(88.0).char_limit(16));
            // A frame may be laid out more than once, so each end of typing is taken only once.
            self.typing |= field.has_focus();
            if self.typing && field.lost_focus() {
                self.typing = false;
                if ui.input(|i| i.key_pressed(egui::Key::Enter)) {
                    self.apply(actions);
                } else {
                    // Left without Enter: nothing was asked for.
                    self.shown = None;
                }
            }
            places::note(ui, "size", &field);
            if field.has_focus()
                && let Ok(size) = args::size(&self.text)
                && size != settings.size
            {
                self.considered = true;
                actions.push(Action::Consider(size));
            }
            field.on_hover_text("WIDTHxHEIGHT, then Enter");
        });
        self.share_of_window(ui, settings, status, actions);
        if let (true, Some(forecast)) = (self.considered, &status.forecast) {
            would_be(ui, forecast);
        }
        if let Some(problem) = &self.problem {
            ui.label(RichText::new(problem).color(WARNING).small());
        }
    }

    fn apply(&mut self, actions: &mut Vec<Action>) {
        let parsed =
            args::size(&self.text).and_then(|size| Geometry::new(size).map(|g| g.valid).map_err(|e| e.to_string()));
        match parsed {
            Ok(size) => {
                self.problem = None;
                // The next frame shows the size in use: this one, or the former where this one is refused.
                self.shown = None;
                actions.push(Action::Resize(size));
            }
            Err(problem) => self.problem = Some(problem),
        }
    }

    fn share_of_window(&mut self, ui: &mut egui::Ui, settings: &Settings, status: &Status, actions: &mut Vec<Action>) {
        let [width, height] = status.area.map(|side| side.max(1) as f32);
        let now = 100.0 * settings.size.width as f32 / width;
        // Frames of less than 33 columns have no network.
        let least = (100.0 * 33.0 / width).min(100.0);
        let mut percent = self.percent.unwrap_or(now);
        let slider = ui.add(
            Slider::new(&mut percent, least..=status.largest_percent.max(least + 1.0))
                .logarithmic(true)
                .suffix(" % of view")
                .fixed_decimals(0)
                .clamping(egui::SliderClamping::Never),
        );
        places::note(ui, "percent", &slider);
        if slider.changed() {
            self.percent = Some(percent);
        }
        let size = |percent: f32| {
            let side = |full: f32, least: f32| (full * percent / 100.0).round().clamp(least, 16384.0) as u32;
            Extent::new(side(width, 33.0), side(height, 16.0))
        };
        if let Some(percent) = self.percent
            && !slider.dragged()
            && !slider.has_focus()
        {
            self.percent = None;
            actions.push(Action::Resize(size(percent)));
        } else if let Some(percent) = self.percent {
            self.considered = true;
            actions.push(Action::Consider(size(percent)));
            slider.on_hover_text(format!("{} on release", size(percent)));
        }
    }
}

/// What frames of a size would be like.
fn would_be(ui: &mut egui::Ui, forecast: &Forecast) {
    let small = |text: String| RichText::new(text).small();
    let memory = forecast.memory as f64 / f64::from(1 << 20);
    ui.label(small(format!("{}: field {}, {} tokens", forecast.size, forecast.field, forecast.tokens)));
    ui.label(small(format!("levels {}", forecast.levels.join(", "))).weak());
    ui.label(small(format!("{:.0} GFLOP a frame, {memory:.0} MiB", forecast.gflop)));
    if let Some(refusal) = &forecast.refusal {
        ui.label(small(refusal.clone()).color(WARNING));
    }
}
