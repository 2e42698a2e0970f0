//! What a person asks for, done.

use anyhow::Result;
use winit::window::Fullscreen;

use super::Viewer;
use crate::window::flight::Flight;
use crate::window::screenshot::Purpose;
use crate::window::settings::Action;

impl Viewer {
    /// Does what can be done here; the rest is the window's.
    pub(super) fn act(&mut self, actions: Vec<Action>) -> Result<Vec<Action>> {
        let mut rest = Vec::new();
        for action in actions {
            match action {
                Action::ResetHistory => self.session.reset(),
                Action::Screenshot => self.graphics.snap(Purpose::Screenshot),
                Action::Linear => self.session.ask_linear(),
                Action::Clip => self.toggle_clip(),
                Action::Report => self.report(),
                Action::Model(text) => self.change_model(&text),
                Action::Unload => self.session.unload(&mut self.settings)?,
                Action::Consider(size) => self.consider(size),
                Action::Step => {
                    self.settings.paused = true;
                    self.session.step_once();
                }
                Action::ResetCamera => {
                    self.settings.path = true;
                    self.flight.iter_mut().for_each(Flight::jump);
                }
                Action::Scene(number) => self.change_scene(number),
                Action::SceneBy(by) => self.change_scene_by(by),
                Action::Camera(number) => self.change_camera(number),
                Action::RecordPath => self.record_path(),
                Action::Resize(size) => self.change_size(size)?,
                Action::Capture => match self.session.capture() {
                    Ok(()) => self.say("the next frame is captured".to_owned()),
                    Err(error) => self.complain(format!("{error:#}")),
                },
                Action::LoadPreset(name) => {
                    let loaded = self.presets.load(&name);
                    let applied = loaded.map(|preset| preset.apply(&mut self.settings));
                    self.say_of(applied, format!("preset {name:?}"));
                }
                Action::SavePreset(name) => {
                    let saved = self.presets.save(&name, &self.settings);
                    self.say_of(saved, format!("preset {name:?} saved"));
                    self.status.presets = self.presets.names();
                }
                Action::DeletePreset(name) => {
                    let deleted = self.presets.delete(&name);
                    self.say_of(deleted, format!("preset {name:?} deleted"));
                    self.status.presets = self.presets.names();
                }
                Action::ToggleFullscreen => {
                    let now = self.window.fullscreen().is_some();
                    self.window.set_fullscreen((!now).then_some(Fullscreen::Borderless(None)));
                }
                Action::Quit => rest.push(action),
            }
        }
        Ok(rest)
    }

    /// Asks for something as if from the overlay.
    ///
    /// # Errors
    /// The device is lost.
    pub fn ask(&mut self, action: Action) -> Result<Vec<Action>> {
        self.act(vec![action])
    }

    /// Says what was done, or why not.
    pub(super) fn say_of(&mut self, result: Result<()>, done: String) {
        match result {
            Ok(()) => self.say(done),
            Err(error) => self.complain(format!("{error:#}")),
        }
    }
}
