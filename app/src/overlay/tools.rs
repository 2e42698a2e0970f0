//! Pictures, clips, captures, the report, other weights, and how frames are presented.

use egui::{DragValue, ProgressBar, RichText, TextEdit};

use super::{Status, places};
use crate::window::clip;
use crate::window::settings::{Action, Settings};

/// What has been typed.
#[derive(Debug, Default)]
pub struct ToolFields {
    model: String,
}

fn button(ui: &mut egui::Ui, id: &str, text: &str, hint: &str, action: Action, actions: &mut Vec<Action>) {
    let button = ui.small_button(text).on_hover_text(hint);
    places::note(ui, id, &button);
    if button.clicked() {
        actions.push(action);
    }
}

impl ToolFields {
    /// All of them.
    pub fn show(&mut self, ui: &mut egui::Ui, settings: &mut Settings, status: &Status, actions: &mut Vec<Action>) {
        ui.horizontal(|ui| {
            ui.strong("Keep");
            button(ui, "shot.png", "PNG", "screenshot without the overlay, F2", Action::Screenshot, actions);
            button(ui, "shot.exr", "EXR", "the frame as linear light, Shift F2", Action::Linear, actions);
            button(ui, "capture", "Capture", "the next frame with everything in it, C", Action::Capture, actions);
            let report = "log, device, driver, settings and times in a folder, without personal paths";
            button(ui, "report", "Report", report, Action::Report, actions);
        });
        ui.horizontal(|ui| {
            let text = if status.clip.is_some() { "End clip" } else { "Clip" };
            button(ui, "clip", text, "so many frames, F3", Action::Clip, actions);
            ui.add(DragValue::new(&mut settings.clip_frames).range(clip::LENGTHS).suffix(" frames"));
            ui.checkbox(&mut settings.clip_files, "PNG files").on_hover_text("even where ffmpeg is there");
        });
        if let Some(clip) = &status.clip {
            let done = clip.taken as f32 / clip.total.max(1) as f32;
            let what = if clip.writing { "writing" } else { "recording" };
            ui.add(ProgressBar::new(done).text(format!("{what}, {} of {} frames", clip.taken, clip.total)));
        }
        self.model(ui, status, actions);
        ui.horizontal(|ui| {
            let vsync = ui.checkbox(&mut settings.vsync, "Wait for the display");
            places::note(ui, "vsync", &vsync);
            vsync.on_hover_text("off: as many frames as there can be, and tearing");
            ui.label(RichText::new(&status.presentation).small().weak());
        });
    }

    fn model(&mut self, ui: &mut egui::Ui, status: &Status, actions: &mut Vec<Action>) {
        ui.horizontal(|ui| {
            ui.strong("Model");
            let field = ui.add(TextEdit::singleline(&mut self.model).desired_width(100.0).hint_text("name or path"));
            places::note(ui, "model.name", &field);
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
            field.on_hover_text(
                "starter, identity, lively:SEED, a folder or a container; dropping one on the window does too",
            );
            let load =
                ui.add_enabled(!status.loading && !self.model.trim().is_empty(), egui::Button::new("Load").small());
            places::note(ui, "model.load", &load);
            if load.clicked() || entered && !self.model.trim().is_empty() {
                actions.push(Action::Model(self.model.trim().to_owned()));
            }
            button(ui, "model.unload", "Unload", "network off, its memory given back", Action::Unload, actions);
        });
    }
}
