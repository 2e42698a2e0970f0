//! Other scenes, cameras and sizes.

use anyhow::Result;
use network::geometry::Extent;
use renderer::CameraPath;

use super::{Viewer, is_lost};
use crate::cli::scene::SceneArgs;
use crate::engine::studio::Studio;
use crate::window::arrival::Arrival;
use crate::window::flight::{self, Flight};

impl Viewer {
    /// Shows a scene that has been loaded. One that cannot be shown leaves the earlier scene, if there is one.
    pub(super) fn arrived(&mut self, studio: Result<Studio>, args: SceneArgs) -> Result<()> {
        match studio {
            Ok(studio) => {
                let white = studio.scene.paper_white;
                self.session.set_studio(studio)?;
                // A way through another scene is of no use here.
                self.flight = None;
                self.scene = args.scene;
                (self.shows_scene, self.message) = (true, None);
                match self.returns.take() {
                    Some(at) => self.session.stand(at),
                    None => (self.settings.look.paper_white, self.settings.path) = (white, true),
                }
                Ok(())
            }
            Err(error) if !self.shows_scene || is_lost(&error) => Err(error),
            Err(error) => {
                self.complain(format!("{error:#}"));
                Ok(())
            }
        }
    }

    /// Begins to load another scene beside the one that is shown.
    pub(super) fn change_scene(&mut self, number: usize) {
        let Some(entry) = self.status.scenes.get(number) else { return };
        if let Some(reason) = &entry.broken {
            let reason = reason.clone();
            return self.complain(reason);
        }
        let name = entry.name.clone();
        self.open_scene(&name);
    }

    /// The scene `by` places further in the list than the one on its way, or the one that is shown.
    pub(super) fn change_scene_by(&mut self, by: isize) {
        let scenes = &self.status.scenes;
        let now = self.arrival.as_ref().map_or(self.scene.as_str(), |arrival| arrival.scene().scene.as_str());
        let at = scenes.iter().position(|entry| entry.name == now);
        if scenes.is_empty() {
            return;
        }
        let number = match at {
            Some(at) => (at as isize + by).rem_euclid(scenes.len() as isize) as usize,
            None => 0,
        };
        self.change_scene(number);
    }

    /// Begins to load a scene, as `--scene` names it, beside the one that is shown.
    pub(in super::super) fn open_scene(&mut self, name: &str) {
        // The one on its way is not wanted any more.
        let args = SceneArgs::of(name);
        self.returns = None;
        self.arrival = None;
        self.arrival = Some(Arrival::start(self.session.device(), self.session.passes(), args));
    }

    pub(super) fn change_camera(&mut self, number: usize) {
        let Some((_, path)) = self.session.scene().cameras.get(number) else { return };
        let path = path.clone();
        self.flight.iter_mut().for_each(Flight::jump);
        self.session.set_path(path);
        self.settings.path = true;
    }

    /// Begins to record the camera's way, or ends it: the path is written and played.
    pub(super) fn record_path(&mut self) {
        let Some(flight) = self.flight.take() else {
            self.flight = Some(Flight::default());
            return self.say("the camera's way is recorded until the same is asked for again".to_owned());
        };
        let Some(path) = flight.path() else { return self.complain("nothing was recorded".to_owned()) };
        match flight::save(&self.options.paths, &path) {
            Ok(file) => self.say(format!("the camera's way is in {}, and is played now", file.display())),
            Err(error) => self.complain(format!("{error:#}")),
        }
        self.session.set_path(CameraPath::Keyed(path));
        self.settings.path = true;
    }

    pub(super) fn change_size(&mut self, size: Extent) -> Result<()> {
        match self.session.resize(size) {
            Ok(()) => {
                self.message = None;
                self.settings.compare.zoom.resized(self.settings.size, size);
                self.status.forecast = None;
                self.settings.size = size;
                Ok(())
            }
            Err(error) if is_lost(&error) => Err(error),
            Err(error) => {
                self.complain(format!("{error:#}"));
                self.settings.size = self.session.geometry().valid;
                Ok(())
            }
        }
    }
}
