//! What outlives the window or the device: settings, and what a new device goes on with.

use std::sync::Arc;
use std::time::Instant;

use winit::window::Window;

use super::Viewer;
use crate::cli::scene::SceneArgs;
use crate::window::Options;
use crate::window::loading::Loading;
use crate::window::saved::Saved;
use crate::window::session::Standpoint;
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
    pub fn give_up(mut self) -> GivenUp {
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
        // A scene on its way has not been seen yet, but what a former loss has left for it may have been.
        let at = self.returns.take().or_else(|| self.shows_scene.then(|| self.session.standpoint()));
        GivenUp { window: Arc::clone(&self.window), options, settings: self.settings.clone(), at }
    }

    /// Goes on where a viewer was whose device was lost.
    pub fn go_on(&mut self, settings: Settings, at: Option<Standpoint>) {
        self.settings = settings;
        match at {
            // The scene is loaded anew; there it is taken up.
            at if self.arrival.is_some() => self.returns = at,
            Some(at) => self.session.stand(at),
            None => {}
        }
        self.complain("the GPU was lost and has been opened anew; the history begins again".to_owned());
    }
}

/// What outlives a lost device.
pub struct GivenUp {
    /// The window.
    pub window: Arc<Window>,
    /// How the viewer was started, with what is shown now.
    pub options: Options,
    /// What a person has chosen.
    pub settings: Settings,
    /// From where and when the scene was seen, if it was.
    pub at: Option<Standpoint>,
}
