//! What the window does beside drawing: pictures, clips, reports, presets, other models, the demo.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use network::geometry::Extent;
use network::model::Source;
use serde_json::json;

use super::News;
use super::clip::{self, Clip};
use super::demo::Now;
use super::leave;
use super::screenshot::Purpose;
use super::session::Picture;
use super::settings::Action;
use super::viewer::Viewer;
use crate::cli::diagnosis;
use crate::engine::fit;

/// A view that has not changed for so long is one that stays.
const RESTS: Duration = Duration::from_millis(400);

impl Viewer {
    /// Takes pictures that have been read back where they belong, and says what became of those before.
    ///
    /// # Errors
    /// No thread can be started.
    pub(super) fn take_pictures(&mut self) -> Result<bool> {
        for pixels in self.graphics.take_pixels() {
            match (&pixels.purpose, &mut self.clip) {
                (Purpose::Clip, Some(clip)) => clip.take(pixels),
                (Purpose::Clip, None) => {}
                _ => self.screenshots.write(pixels)?,
            }
        }
        let clip = self.clip.as_mut().and_then(Clip::news);
        if clip.is_some() {
            self.clip = None;
        }
        let pictures = self.screenshots.news().filter(|_| self.demo.is_none());
        let news: Vec<News> =
            [self.session.capture_news(), pictures, self.session.linear_news(), clip].into_iter().flatten().collect();
        let told = !news.is_empty();
        for one in news {
            match one {
                Ok(done) => self.say(done),
                Err(why) => self.complain(why),
            }
        }
        Ok(told)
    }

    /// Begins a clip, or ends the one that is being recorded.
    pub(super) fn toggle_clip(&mut self) {
        if let Some(clip) = &mut self.clip {
            clip.end();
            return;
        }
        let ffmpeg = clip::ffmpeg().filter(|_| !self.settings.clip_files);
        match Clip::start(&self.options.screenshots, self.settings.clip_frames, ffmpeg) {
            Ok(clip) => {
                self.clip = Some(clip);
                self.clip_version = None;
            }
            Err(error) => self.complain(format!("no clip: {error:#}")),
        }
    }

    /// Asks for a picture of a frame that is new since the last one of the clip.
    pub(super) fn record_clip(&mut self, version: u64) {
        let wants = self.clip.as_ref().is_some_and(Clip::wants);
        if wants && self.clip_version != Some(version) {
            self.clip_version = Some(version);
            self.graphics.snap(Purpose::Clip);
        }
    }

    /// Writes a report of the session.
    pub(super) fn report(&mut self) {
        let contents = json!({
            "device": diagnosis::describe(self.session.device()),
            "state": self.state(),
        });
        let saved = diagnosis::save(&self.options.screenshots, &contents);
        match saved {
            Ok(folder) => self.say(format!("report: {}", folder.display())),
            Err(error) => self.complain(format!("no report: {error:#}")),
        }
    }

    /// Loads other weights beside those that are in use.
    pub(super) fn change_model(&mut self, text: &str) {
        let changed = text.parse::<Source>().map_err(anyhow::Error::from);
        match changed.and_then(|source| self.session.change_model(source)) {
            Ok(()) => {}
            Err(error) => self.complain(format!("{error:#}")),
        }
    }

    /// A file was dropped on the window: a scene, or a model.
    pub(super) fn dropped(&mut self, path: &Path) {
        let is_scene =
            path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gltf") || end.eq_ignore_ascii_case("glb"));
        let text = path.display().to_string();
        if is_scene { self.open_scene(&text) } else { self.change_model(&text) }
    }

    /// Shows what frames of a size would need.
    pub(super) fn consider(&mut self, size: Extent) {
        let known = self.status.forecast.as_ref().is_some_and(|forecast| forecast.size == size.to_string());
        if !known {
            self.status.forecast = Some(fit::forecast(self.session.device(), size, self.session.held()));
        }
    }

    /// What is shown of things that seldom change.
    pub(super) fn gather_rare(&mut self) {
        self.status.clip = self.clip.as_ref().map(Clip::progress);
        self.status.rebuilds = self.graphics.rebuilds();
        let presentation = self.graphics.presentation();
        self.status.presentation =
            presentation.map_or_else(String::new, |(mode, images)| format!("{mode:?}, {images} images"));
        let view = self.status.area;
        if self.view_seen.0 != view {
            self.view_seen = (view, Instant::now());
        }
        // Not for every size of a window that is being dragged.
        if self.view_seen.1.elapsed() > RESTS {
            let known = self.largest.of(self.session.device(), view, self.session.held());
            self.status.largest_percent = known.unwrap_or(self.status.largest_percent);
        }
    }

    /// Lets the demo, if there is one, go on after a drawn frame.
    pub(super) fn demonstrate(&mut self, picture: Picture) -> Vec<Action> {
        let Some(demo) = &mut self.demo else { return Vec::new() };
        let now = Now {
            presented: self.status.presented,
            evaluated: self.status.evaluated,
            complete: picture == Picture::Pair || !self.settings.network,
            viewed: self.status.view_missing.is_none() || !self.settings.network,
            writing: self.screenshots.is_busy() || self.graphics.is_snapping(),
            loading: self.status.loading || self.arrival.is_some(),
        };
        let (actions, shot) = demo.turn(&mut self.settings, &now);
        let (at, steps, name) = demo.place();
        self.status.demo = Some(format!("{at} of {steps}: {name}"));
        if let Some(path) = shot {
            self.graphics.snap(Purpose::Window(path));
        }
        actions
    }

    /// What is not finished is finished, or said, before the window goes.
    pub fn finish(&mut self) {
        self.keep_settings();
        if let Some(clip) = self.clip.take() {
            match clip.finish() {
                Ok(done) => tracing::info!("{done}"),
                Err(why) => tracing::warn!("{why}"),
            }
        }
        self.screenshots.finish();
        self.session.finish_writing();
        leave::begin();
    }
}
