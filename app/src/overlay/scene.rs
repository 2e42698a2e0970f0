//! Which scene is shown, and how.

use egui::ComboBox;

use super::{Status, controls, places};
use crate::window::settings::{Action, Settings};

/// The scene, its camera, and what is drawn of it.
pub fn show(ui: &mut egui::Ui, settings: &mut Settings, status: &Status, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.strong("Scene");
        let pause = ui.checkbox(&mut settings.paused, "Pause").on_hover_text("P");
        places::note(ui, "pause", &pause);
        let path = ui.checkbox(&mut settings.path, "Camera path");
        places::note(ui, "path", &path);
    });
    scenes(ui, status, actions);
    cameras(ui, status, actions);
    controls::scene(ui, settings, status);
    ui.horizontal(|ui| {
        let camera = ui.small_button("Reset camera");
        places::note(ui, "camera.reset", &camera);
        if camera.clicked() {
            actions.push(Action::ResetCamera);
        }
        let step = ui.small_button("Step").on_hover_text("one frame of the paused scene");
        places::note(ui, "step", &step);
        if step.clicked() {
            actions.push(Action::Step);
        }
    });
}

/// The list of scenes. A scene that is chosen is loaded beside the one that is shown.
fn scenes(ui: &mut egui::Ui, status: &Status, actions: &mut Vec<Action>) {
    let shown = status.scenes.iter().find(|entry| entry.name == status.scene);
    let title = shown.map_or(status.scene.as_str(), |entry| entry.title.as_str());
    let list = ComboBox::from_id_salt("scenes").width(150.0).selected_text(title).show_ui(ui, |ui| {
        for (number, entry) in status.scenes.iter().enumerate() {
            let label = ui.selectable_label(entry.name == status.scene, &entry.title);
            places::note(ui, &format!("scene.{}", entry.name), &label);
            let about = entry.broken.as_deref().unwrap_or(&entry.description);
            if label.on_hover_text(about).clicked() {
                actions.push(Action::Scene(number));
            }
        }
    });
    places::note(ui, "scenes", &list.response);
}

/// Cameras of the scene, where it has some, and recording one's own.
fn cameras(ui: &mut egui::Ui, status: &Status, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        if !status.cameras.is_empty() {
            camera_menu(ui, status, actions);
        }
        let label = status.recording.map_or_else(|| "Record path".to_owned(), |s| format!("Stop, {s:.1} s"));
        if ui.small_button(label).on_hover_text("the camera's way, into a file; then it is played").clicked() {
            actions.push(Action::RecordPath);
        }
    });
}

fn camera_menu(ui: &mut egui::Ui, status: &Status, actions: &mut Vec<Action>) {
    ui.menu_button("Cameras", |ui| {
        for (number, name) in status.cameras.iter().enumerate() {
            if ui.button(name).clicked() {
                actions.push(Action::Camera(number));
                ui.close();
            }
        }
    });
}
