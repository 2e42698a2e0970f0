//! Choosing the sides of the comparison.

use clap::ValueEnum as _;
use egui::{Color32, ComboBox, RichText, Slider, TextEdit};

use super::{Status, places};
use crate::cli::args::RouteArg;
use crate::engine::side::{Change, DEFAULT_SAMPLES, Side};
use crate::window::settings::{PRESETS, Settings};

/// Where the texts of both sides are.
const PLACES: [&str; 2] = ["side.left", "side.right"];
/// Models offered by name; any other can be typed.
const MODELS: [&str; 3] = ["starter", "identity", "lively"];

/// What has been typed for the left and the right side but not applied.
#[derive(Debug, Default)]
pub struct SideFields {
    texts: [Field; 2],
}

/// A text that is applied with Enter.
#[derive(Debug, Default)]
struct Field {
    text: String,
    typing: bool,
    /// The side that `text` was last filled from.
    shown: Option<Side>,
    problem: Option<String>,
}

impl SideFields {
    /// The controls of both sides.
    pub fn show(&mut self, ui: &mut egui::Ui, settings: &mut Settings, status: &Status) {
        ui.horizontal(|ui| {
            ui.strong("Sides");
            if ui.small_button("Swap").on_hover_text("X").clicked() {
                settings.sides.reverse();
            }
            if status.preparing_sides {
                ui.spinner();
                ui.label(RichText::new("preparing").weak());
            }
        });
        for (place, name) in ["Left", "Right"].into_iter().enumerate() {
            let (field, side) = (&mut self.texts[place], &mut settings.sides[place]);
            ui.push_id(name, |ui| {
                ui.horizontal(|ui| {
                    ui.label(name);
                    kind(ui, side);
                });
                match side {
                    Side::Off => {}
                    Side::Reference(samples) => {
                        // Applied on release: another count begins the picture anew.
                        let mut chosen = *samples;
                        let slider = Slider::new(&mut chosen, 1..=4096).logarithmic(true).text("Samples");
                        if ui.add(slider.update_while_editing(false)).changed() {
                            *samples = chosen;
                        }
                    }
                    Side::Network(change) => network(ui, change),
                }
                let typed = field.show(ui, side);
                places::note(ui, PLACES[place], &typed);
            });
        }
    }
}

fn kind(ui: &mut egui::Ui, side: &mut Side) {
    let name = match side {
        Side::Off => "without network",
        Side::Network(_) => "with network",
        Side::Reference(_) => "reference",
    };
    ComboBox::from_id_salt("kind").width(130.0).selected_text(name).show_ui(ui, |ui| {
        let choices = [
            ("without network", Side::Off),
            ("with network", Side::NETWORK),
            ("history off", history(false)),
            ("history on", history(true)),
            ("reference", Side::Reference(DEFAULT_SAMPLES)),
        ];
        for (name, choice) in choices {
            if ui.selectable_label(*side == choice, name).clicked() {
                *side = choice;
            }
        }
    });
}

fn history(on: bool) -> Side {
    Side::Network(Change { history: Some(on), ..Change::default() })
}

/// In what a side's network differs from the one that is set.
fn network(ui: &mut egui::Ui, change: &mut Change) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        let name = match change.history {
            None => "history as set",
            Some(true) => "history on",
            Some(false) => "history off",
        };
        ComboBox::from_id_salt("history").width(96.0).selected_text(name).show_ui(ui, |ui| {
            ui.selectable_value(&mut change.history, None, "as set");
            ui.selectable_value(&mut change.history, Some(true), "on");
            ui.selectable_value(&mut change.history, Some(false), "off");
        });
        let name = change.route.map_or("route as set", RouteArg::resolved);
        ComboBox::from_id_salt("route").width(92.0).selected_text(name).show_ui(ui, |ui| {
            ui.selectable_value(&mut change.route, None, "as set");
            for route in RouteArg::value_variants().iter().filter(|route| **route != RouteArg::Auto) {
                ui.selectable_value(&mut change.route, Some(*route), route.resolved());
            }
        });
    });
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        let name = change.size.map_or("size as set".to_owned(), |size| size.to_string());
        ComboBox::from_id_salt("size").width(96.0).selected_text(name).show_ui(ui, |ui| {
            ui.selectable_value(&mut change.size, None, "as set");
            for (name, size) in PRESETS {
                ui.selectable_value(&mut change.size, Some(size), format!("{name}  {size}"));
            }
        });
        let name = change.model.as_ref().map_or("model as set".to_owned(), ToString::to_string);
        ComboBox::from_id_salt("model").width(92.0).selected_text(name).show_ui(ui, |ui| {
            ui.selectable_value(&mut change.model, None, "as set");
            for name in MODELS {
                if let Ok(model) = name.parse() {
                    ui.selectable_value(&mut change.model, Some(model), name);
                }
            }
        });
    });
}

impl Field {
    /// The side as a text, for what the lists do not offer.
    fn show(&mut self, ui: &mut egui::Ui, side: &mut Side) -> egui::Response {
        if self.shown.as_ref() != Some(side) {
            self.shown = Some(side.clone());
            self.text = side.to_string();
            self.problem = None;
        }
        let field = ui.add(TextEdit::singleline(&mut self.text).desired_width(196.0).char_limit(400));
        // A frame may be laid out more than once, so each end of typing is taken only once.
        self.typing |= field.has_focus();
        if self.typing && field.lost_focus() {
            self.typing = false;
            if ui.input(|i| i.key_pressed(egui::Key::Enter)) {
                match self.text.parse() {
                    Ok(typed) => *side = typed,
                    Err(problem) => self.problem = Some(problem),
                }
            } else {
                self.shown = None;
            }
        }
        let field =
            field.on_hover_text("off, reference:N, or network with history:, route:, size:, model:; then Enter");
        if let Some(problem) = &self.problem {
            ui.label(RichText::new(problem).color(Color32::from_rgb(255, 150, 120)).small());
        }
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_offered_can_be() {
        for (_, size) in PRESETS {
            assert!(format!("size:{size}").parse::<Side>().is_ok(), "{size}");
        }
        for name in MODELS {
            assert!(format!("model:{name}").parse::<Side>().is_ok(), "{name}");
        }
    }
}
