//! What the overlay shows, collected once a frame.

use anyhow::Result;
use network::exec::Table;

use super::{MEMORY_EVERY, MESSAGE, Viewer};
use crate::engine::{choice, memory};
use crate::overlay::{self, Progress};
use crate::window::arrival::Arrival;
use crate::window::flight::Flight;
use crate::window::loading::Loading;
use crate::window::session::Picture;

impl Viewer {
    /// Takes what was measured a moment ago.
    pub(super) fn take_measured(&mut self, picture: Picture) -> Result<()> {
        let Some(measured) = self.measure.poll()? else { return Ok(()) };
        self.session.hear_light(measured.probes.light);
        let moves = self.session.measured(picture).moved;
        self.status.doubts = measured.probes.doubts(moves);
        self.status.effect = measured.effect;
        self.status.probes = Some(measured.probes);
        Ok(())
    }

    /// Collects what the overlay shows.
    pub(super) fn gather(&mut self, seconds: f64, picture: Picture) {
        let image = self.image();
        let geometry = *self.session.geometry();
        let numbers = self.session.numbers;
        let window = self.graphics.size();
        let scale = self.gui.egui_ctx().pixels_per_point();
        let panel = if self.settings.overlay { (overlay::PANEL_WIDTH * scale) as u32 } else { 0 };
        let status = &mut self.status;
        status.space = [image.width, image.height];
        status.size = geometry.valid.to_string();
        status.field = geometry.field.to_string();
        status.gflop = self.session.cost().map(|cost| 2e-9 * cost as f64);
        status.area = [window.width.saturating_sub(panel), window.height];
        if let Some(times) = &numbers.times {
            status.passes.extend(numbers.timed, times);
        }
        status.passes.push("frame", seconds * 1000.0);
        (status.model, status.digest) = match self.session.loading() {
            Loading::Running(..) => ("loading".to_owned(), String::new()),
            Loading::Idle(_) => ("not loaded".to_owned(), String::new()),
            Loading::Ready(loaded) => (loaded.description.clone(), loaded.digest.chars().take(16).collect()),
            Loading::Failed(_) => ("none".to_owned(), String::new()),
        };
        status.scene.clone_from(&self.scene);
        status.recording = self.flight.as_ref().map(Flight::seconds);
        let cameras = &self.session.scene().cameras;
        if !status.cameras.iter().eq(cameras.iter().map(|(name, _)| name)) {
            status.cameras = cameras.iter().map(|(name, _)| name.clone()).collect();
        }
        status.scene_loading = self.arrival.as_ref().map(Arrival::progress);
        if let Loading::Ready(loaded) = self.session.loading() {
            loaded.kernels.route().name().clone_into(&mut status.route);
            status.route_why = choice::why(&loaded.kernels, self.options.route);
            status.tiles = loaded.kernels.table().map(Table::digest);
        }
        status.loading = self.session.is_loading();
        status.network_ms = numbers.times.map(|times| times.network);
        let drawn = self.graphics.times();
        status.scene_ms = match picture {
            Picture::Pair => numbers.times.map(|times| times.scene),
            Picture::Bypass | Picture::Live => Some(drawn.live),
        };
        status.white = self.session.white();
        status.reading = self.graphics.reading().cloned();
        status.flip_mean = self.graphics.flip_mean();
        status.sides = self.session.labels(&self.settings, picture);
        status.preparing_sides = self.session.is_preparing_sides();
        status.samples = self.session.samples();
        status.differs = self.session.differs(picture);
        status.network_submissions = numbers.slices;
        let kind = self.settings.compare.view.kind;
        let sources = self.session.shown(picture).sources;
        let missing = match self.session.loading() {
            _ if sources.has(kind) => None,
            Loading::Failed(_) => Some("there is no network"),
            _ if !self.settings.network => Some("the network is off"),
            _ if picture == Picture::Pair => Some("from the next frame on"),
            _ => Some("no frame with network yet"),
        };
        status.view_missing = missing.map(ToOwned::to_owned);
        status.view_ahead = sources.ahead;
        status.view_weight = sources.with.map(|with| if with.history_valid { with.blend_scale } else { 0.0 });
        status.ignored = match self.session.loading() {
            Loading::Ready(loaded) => loaded.ignored.clone(),
            _ => Vec::new(),
        };
        (status.present_ms, status.overlay_ms) = (drawn.present, drawn.overlay);
        if status.presented > 0 {
            status.passes.push("present", drawn.present);
            status.passes.push("overlay", drawn.overlay);
            if picture != Picture::Pair {
                status.passes.push("live scene", drawn.live);
            }
        }
        // Smoothed, so that it can be read.
        status.frame_ms += (seconds * 1000.0 - status.frame_ms) * if status.presented < 4 { 1.0 } else { 0.1 };
        status.evaluated = numbers.evaluated;
        status.replay = self.session.neural().map(|neural| neural.retain().status());
        status.history = u64::from(self.session.history());
        if status.presented.is_multiple_of(MEMORY_EVERY) {
            status.memory = memory::count(self.session.device());
        }
        let slow = self.session.is_slow();
        status.progress = self.session.progress().filter(|_| slow).map(|(done, elapsed)| Progress { done, elapsed });
        status.part = self.session.part().filter(|_| slow);
        status.preview = picture == Picture::Live;
        status.error =
            self.message.as_ref().filter(|(_, since)| since.elapsed() < MESSAGE).map(|(text, _)| text.clone());
    }
}
