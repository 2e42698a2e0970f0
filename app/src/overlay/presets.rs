//! Named presets: choose, save, delete.

use egui::{ComboBox, TextEdit};

use super::{Status, places};
use crate::window::settings::Action;

/// What has been chosen or typed.
#[derive(Debug, Default)]
pub struct PresetFields {
    name: String,
}

impl PresetFields {
    /// A line with the list, the name and the buttons.
    pub fn show(&mut self, ui: &mut egui::Ui, status: &Status, actions: &mut Vec<Action>) {
        ui.horizontal(|ui| {
            let list = ComboBox::from_id_salt("presets").width(84.0).selected_text("Presets").show_ui(ui, |ui| {
                if status.presets.is_empty() {
                    ui.weak("none yet: type a name and save");
                }
                for name in &status.presets {
                    let line = ui.selectable_label(*name == self.name, name);
                    places::note(ui, &format!("preset.{name}"), &line);
                    if line.clicked() {
                        self.name.clone_from(name);
                        actions.push(Action::LoadPreset(name.clone()));
                    }
                }
            });
            places::note(ui, "presets", &list.response);
            let field =
                ui.add(TextEdit::singleline(&mut self.name).desired_width(64.0).char_limit(48).hint_text("name"));
            places::note(ui, "preset.name", &field);
            let name = self.name.trim().to_owned();
            ui.add_enabled_ui(!name.is_empty(), |ui| {
                let save = ui.small_button("Save").on_hover_text("keep the values of all controls under this name");
                places::note(ui, "preset.save", &save);
                if save.clicked() {
                    actions.push(Action::SavePreset(name.clone()));
                }
            });
            ui.add_enabled_ui(status.presets.contains(&name), |ui| {
                let delete = ui.small_button("\u{2716}").on_hover_text("delete the preset of this name");
                places::note(ui, "preset.delete", &delete);
                if delete.clicked() {
                    actions.push(Action::DeletePreset(name));
                }
            });
        });
    }
}
