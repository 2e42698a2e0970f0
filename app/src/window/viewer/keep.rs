//! What outlives the window or the device: settings, and what a new device goes on with.

use std::sync::Arc;
use std::time::Instant;

use winit::window::Window;

use super::Viewer;
use crate::cli::scene::SceneArgs;
use crate::window::Options;
use crate::window::loading::Loading;
use crate::window::saved::Saved;
use crate::window::settings::Settings;

impl Viewer {
    /// Keeps the settings for the next start if they have changed.
    pub fn keep_settings(&mut self) {
        let Some((path, there, since)) = &mut self.kept else { return };
        *since = Instant::now();
        let now = Saved::of(&self.settings);
        if *there == now {
            return;
        }
        match now.write(path) {
            Ok(()) => *there = now,
            Err(error) => {
                tracing::warn!("the settings are not kept: {error:#}");
                self.kept = None;
            }
        }
    }

    /// Takes everything down, the lost device too; what a person has chosen is kept, as the file and as what is returned.
    pub fn give_up(mut self) -> (Arc<Window>, Options, Settings) {
        self.keep_settings();
        self.session.finish_writing();
        let mut options = self.options.clone();
        options.size = Some(self.session.geometry().valid);
        if self.scene != options.scene.scene {
            options.scene = SceneArgs::of(&self.scene);
        }
        if let Loading::Ready(loaded) = self.session.loading()
            && let Ok(source) = loaded.source.parse()
        {
            options.source = source;
        }
        (Arc::clone(&self.window), options, self.settings.clone())
    }

    /// Goes on with the settings of a viewer whose device was lost.
    pub fn go_on(&mut self, settings: Settings) {
        self.settings = settings;
        self.say("the GPU was lost and has been opened anew; the history begins again".to_owned());
    }
}
