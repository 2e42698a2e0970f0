//! The viewer in its window: one frame after the other.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use egui::ViewportId;
use gpu::{Device, Instance, InstanceDesc};
use network::exec::Table;
use network::geometry::Extent;
use renderer::{CameraPath, Scene};
use winit::raw_window_handle::HasDisplayHandle as _;
use winit::window::{Fullscreen, Window};

use super::Options;
use super::answers::Answers;
use super::arrival::Arrival;
use super::clip::Clip;
use super::control;
use super::demo::Demo;
use super::flight::{self, Flight};
use super::graphics::{Drawn, Graphics, Gui, Shown};
use super::input::Held;
use super::layout::{self, CompareMode, Difference, Layout};
use super::loading::Loading;
use super::pacing::Pacing;
use super::presets::Presets;
use super::probe;
use super::saved::{self, Saved};
use super::screenshot::{Purpose, Screenshots};
use super::session::{Picture, Refused, Session};
use super::settings::{Action, Settings};
use crate::cli::args::RouteArg;
use crate::cli::scene::SceneArgs;
use crate::cli::{Globals, write};
use crate::engine::choice::{self, Wish};
use crate::engine::measure::Measure;
use crate::engine::studio::Studio;
use crate::engine::{catalog, device, fit, memory};
use crate::overlay::{self, Overlay, Progress, Status};

/// How long a message stays.
const MESSAGE: Duration = Duration::from_secs(12);
/// Presented frames from one look at the device memory to the next.
const MEMORY_EVERY: u64 = 16;
/// How often changed settings are kept.
const KEEP: Duration = Duration::from_secs(5);
/// How often the state file is written.
const STATE: Duration = Duration::from_millis(100);

/// Everything behind the window.
pub struct Viewer {
    // Dropped from top to bottom: drawing before the session, the device last.
    pub(super) graphics: Graphics,
    pub(super) gui: egui_winit::State,
    measure: Measure,
    pub(super) session: Session,
    pub(super) answers: Answers,
    pub(super) clip: Option<Clip>,
    /// The picture that the clip has last.
    pub(super) clip_version: Option<u64>,
    pub(super) demo: Option<Demo>,
    /// The view whose largest frame is known.
    pub(super) considered: Option<[u32; 2]>,
    /// The view, and since when it is so.
    pub(super) view_seen: ([u32; 2], Instant),
    /// The scene on its way.
    pub(super) arrival: Option<Arrival>,
    /// What `--scene` takes to name the scene that is shown.
    scene: String,
    /// The camera's way, while it is recorded.
    flight: Option<Flight>,
    /// Whether a scene is shown that a failed loading leaves.
    shows_scene: bool,
    overlay: Overlay,
    presets: Presets,
    pub(super) screenshots: Screenshots,
    pub(super) settings: Settings,
    pub(super) held: Held,
    pub(super) pacing: Pacing,
    pub(super) layout: Layout,
    pub(super) window: Arc<Window>,
    pub(super) status: Status,
    pub(super) options: Options,
    message: Option<(String, Instant)>,
    last_frame: Instant,
    state_written: Instant,
    /// Where the settings are kept, and what is there.
    kept: Option<(PathBuf, Saved, Instant)>,
}

impl Viewer {
    /// Opens the device for a window and prepares everything but the network, which follows in the background.
    ///
    /// # Errors
    /// No usable device, one that cannot present, or a size that does not fit.
    pub fn new(globals: &Globals, options: Options, window: Arc<Window>) -> Result<Self> {
        let display = window.display_handle().context("the window has no display")?.as_raw();
        let instance = Instance::new(&InstanceDesc { validation: globals.validation, surface: Some(display) })?;
        let device = Device::open(&instance, &device::selector(globals))?;
        tracing::info!("device: {}", device.caps().name);
        let (saved, broken) = last_settings(options.fresh);
        let kept = saved.size().filter(|size| fit::check(&device, *size, 0).is_ok());
        let size = options.size.or(kept).unwrap_or_else(|| default_size(&device));
        let graphics = Graphics::new(&device, &window, options.vsync)?;
        let later = options.scene.is_file();
        let scene = if later { Scene::empty() } else { options.scene.load(&|_| true)? };
        let source = options.network.then(|| options.source.clone());
        let wish = Wish::new(globals, options.route);
        let mut session = Session::on_route(&device, scene, size, source, wish)?;
        session.ask_replay(globals.replay)?;
        let arrival = later.then(|| Arrival::start(&device, session.passes(), options.scene.clone()));
        if later {
            session.wait_for_scene();
        }
        session.capture_into(options.captures.clone());
        session.linear_into(options.screenshots.clone());
        let context = egui::Context::default();
        context.set_theme(egui::Theme::Dark);
        let limit = device.caps().limits.max_image_dimension as usize;
        let scale = window.scale_factor() as f32;
        let gui = egui_winit::State::new(context, ViewportId::ROOT, &window, Some(scale), None, Some(limit));
        let now = Instant::now();
        let mut settings = Settings::new(size);
        saved.apply(&mut settings);
        settings.network = options.network;
        if let Some(mode) = options.mode {
            settings.compare.mode = mode;
        }
        for (side, asked) in settings.sides.iter_mut().zip(&options.sides) {
            asked.iter().for_each(|asked| side.clone_from(asked));
        }
        settings.hint &= !options.fresh;
        if let Some(preset) = &options.preset {
            preset.apply(&mut settings);
        }
        settings.vsync &= options.vsync;
        let demo = options.demo.as_ref().map(|(pace, pictures)| Demo::new(size, *pace, pictures.as_deref()));
        let touring = demo.is_some();
        Ok(Self {
            layout: layout::layout(&settings.compare, [0, 0, 1, 1], size),
            graphics,
            gui,
            measure: Measure::new(&device)?,
            session,
            answers: Answers::new(now),
            clip: None,
            clip_version: None,
            demo,
            considered: None,
            view_seen: ([0; 2], now),
            arrival,
            scene: options.scene.scene.clone(),
            flight: None,
            shows_scene: !later,
            overlay: Overlay::default(),
            presets: Presets::of_user(),
            screenshots: Screenshots::into_folder(options.screenshots.clone()),
            settings,
            held: Held::default(),
            pacing: Pacing::new(now),
            status: Status {
                device: device.caps().name.clone(),
                route_asked: if options.route == RouteArg::Auto { "auto" } else { options.route.resolved() }.to_owned(),
                scenes: catalog::all(),
                presets: Presets::of_user().names(),
                ..Status::default()
            },
            window,
            options,
            message: broken.map(|text| (text, now)),
            last_frame: now,
            state_written: now,
            // A tour is no choice of the person's.
            kept: saved::path().filter(|_| !touring).map(|path| (path, saved, now)),
        })
    }

    /// Whether nothing changes by itself but the progress of a slow frame, or the noise of a picture that takes long.
    pub fn is_calm(&self) -> bool {
        let computing = self.session.is_slow() && self.session.progress().is_some();
        let stands = self.settings.paused && self.session.is_costly();
        (computing || stands) && !self.held.flying()
    }

    /// Whether a frame in work has to be looked after.
    pub fn is_working(&self) -> bool {
        self.session.is_working() || self.answers.is_waiting()
    }

    /// Size of what the picture area shows: the rendered frame's, or the padded field's.
    pub fn image(&self) -> Extent {
        match self.settings.compare.mode {
            CompareMode::View => self.settings.compare.view.space(&self.session.viewed_geometry()),
            _ => self.session.geometry().valid,
        }
    }

    /// Looks after the frame in work; true when there is something new to draw.
    ///
    /// # Errors
    /// The device is lost.
    pub fn advance(&mut self) -> Result<bool> {
        self.session.attend(self.pacing.is_attentive(Instant::now()) || self.held.flying());
        if let Some(studio) = self.arrival.as_mut().and_then(Arrival::poll) {
            let arrived = self.arrival.take().map(|arrival| arrival.scene().clone()).unwrap_or_default();
            return self.arrived(studio, arrived).map(|()| true);
        }
        let told = self.take_pictures()?;
        if let Some(answer) = self.answers.poll(self.session.device())? {
            self.status.passes.push("input", answer.ms);
            if answer.computing {
                self.status.passes.push("input, computing", answer.ms);
            }
        }
        match self.session.advance(&mut self.settings) {
            Ok(false) => Ok(told),
            Err(error) if error.downcast_ref::<Refused>().is_some() => {
                self.say(format!("{error:#}"));
                Ok(true)
            }
            other => other,
        }
    }

    /// Draws one frame. Returns what a person asked for that concerns the window itself.
    ///
    /// # Errors
    /// The device or the surface is lost for good.
    pub fn draw(&mut self) -> Result<Vec<Action>> {
        // First of all, while the window is known to exist: asking one that was taken away for its size is a panic.
        let input = self.gui.take_egui_input(&self.window);
        let now = Instant::now();
        let seconds = now.duration_since(self.last_frame).as_secs_f64();
        self.last_frame = now;
        let flight = self.held.take_flight();
        self.session.step(&mut self.settings, &flight, seconds);
        if let Some(flight) = &mut self.flight {
            flight.follow(self.session.camera(), seconds.min(1.0));
            if flight.is_full() {
                self.record_path();
            }
        }
        if !self.session.is_slow() {
            self.session.settle(Duration::from_millis(8));
        }
        let began = Instant::now();
        self.advance()?;
        let picture = self.session.picture(&self.settings);
        self.take_measured(picture)?;
        self.gather(seconds, picture);
        self.gather_rare();

        let mut actions = Vec::new();
        let (gui, delay) = self.lay_out(input, &mut actions)?;
        if let Some(cost) = self.graphics.take_live_cost() {
            self.session.hear_live(cost);
        }
        let view = match self.session.wants_live(&self.settings, picture, self.wants_whole())? {
            true => Some(self.session.live_view(&self.settings, picture)?),
            false => None,
        };
        let on_image = self.settings.inspector && self.on_picture();
        let pointer = self.held.pointer.filter(|_| on_image);
        // Of the image only: the border of the padded field has no pixel of it.
        let valid = self.session.geometry().valid;
        let seen = match self.settings.compare.mode {
            CompareMode::View => self.session.viewed_geometry().valid,
            _ => valid,
        };
        let pick = pointer.and_then(|at| Some(probe::scaled(self.layout.pixel_at(at, seen)?, seen, valid)));
        self.session.give_linear(&self.settings, picture)?;
        let version = self.session.shown(picture).version;
        self.record_clip(version);
        self.graphics.set_vsync(self.settings.vsync);
        let pixels = self.session.measured(picture).size.pixels() as u64;
        let shown = Shown { pick, live_pixels: view.map(|_| pixels), ..self.session.shown(picture) };
        let placed = self.layout.of_smaller(self.session.divisor(picture));
        let (session, settings, measure) = (&self.session, &self.settings, &mut self.measure);
        let measured = session.measured(picture);
        let drawn = self.graphics.draw(&shown, &placed, &gui, |cmd| {
            if let Some(view) = &view {
                session.record(cmd, picture, view, settings)?;
            }
            measure.record(cmd, &measured)
        })?;
        let ticket = (drawn == Drawn::Presented).then(|| self.session.device().last_ticket());
        self.measure.submitted(ticket);
        ticket.into_iter().for_each(|ticket| self.answers.shown(ticket));
        if drawn == Drawn::Presented {
            self.status.presented += 1;
            if let Some(view) = view {
                self.session.submitted(picture, view);
            }
        } else {
            self.session.skipped();
        }
        let done = Instant::now();
        let worked = (done - began).saturating_sub(self.graphics.waited());
        self.status.cpu_ms = worked.as_secs_f64() * 1000.0;
        self.status.passes.push("cpu", self.status.cpu_ms);
        self.pacing.drawn(done, delay);
        self.write_state();
        actions.extend(self.demonstrate(picture));
        if self.kept.as_ref().is_some_and(|(_, _, since)| since.elapsed() > KEEP) {
            self.keep_settings();
        }
        self.act(actions)
    }

    /// Whether somebody looks at pixels or keeps them, so that no smaller picture may stand in.
    fn wants_whole(&self) -> bool {
        let compare = &self.settings.compare;
        let perceived = compare.mode == CompareMode::Difference && compare.difference == Difference::Flip;
        let looks = self.settings.inspector || compare.mode == CompareMode::View || perceived;
        looks || self.clip.is_some() || self.graphics.is_snapping()
    }

    /// Lays the overlay out and takes over its textures.
    fn lay_out(&mut self, input: egui::RawInput, actions: &mut Vec<Action>) -> Result<(Gui, Duration)> {
        let context = self.gui.egui_ctx().clone();
        let size = self.graphics.size();
        self.layout = self.placed(size, context.pixels_per_point());
        let (overlay, settings, status, layout) = (&mut self.overlay, &mut self.settings, &self.status, &self.layout);
        let output = context.run_ui(input, |ui| overlay.show(ui, settings, status, layout, actions));
        self.graphics.update_textures(output.textures_delta)?;
        self.gui.handle_platform_output(&self.window, output.platform_output);
        // A mode chosen in this very frame is shown in it.
        self.layout = self.placed(size, output.pixels_per_point);
        let delay = output.viewport_output.get(&ViewportId::ROOT).map_or(Duration::MAX, |v| v.repaint_delay);
        let primitives = context.tessellate(output.shapes, output.pixels_per_point);
        Ok((Gui { primitives, pixels_per_point: output.pixels_per_point }, delay))
    }

    fn placed(&self, window: Extent, scale: f32) -> Layout {
        let (width, height) = (window.width as i32, window.height as i32);
        let room = overlay::has_room(egui::vec2(window.width as f32, window.height as f32) / scale);
        let left = if self.settings.overlay && room { (overlay::PANEL_WIDTH * scale).round() as i32 } else { 0 };
        let compare = &self.settings.compare;
        let image = self.image();
        let mut layout = layout::layout(compare, [left, 0, width, height], image);
        if self.held.original() {
            compare.original(&mut layout);
        }
        layout
    }

    /// Takes what was measured a moment ago.
    fn take_measured(&mut self, picture: Picture) -> Result<()> {
        let Some(measured) = self.measure.poll()? else { return Ok(()) };
        self.session.hear_light(measured.probes.light);
        let moves = self.session.measured(picture).moved;
        self.status.doubts = measured.probes.doubts(moves);
        self.status.effect = measured.effect;
        self.status.probes = Some(measured.probes);
        Ok(())
    }

    /// Collects what the overlay shows.
    fn gather(&mut self, seconds: f64, picture: Picture) {
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

    /// Does what can be done here; the rest is the window's.
    fn act(&mut self, actions: Vec<Action>) -> Result<Vec<Action>> {
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
                    Err(error) => self.say(format!("{error:#}")),
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

    /// Shows a scene that has been loaded. One that cannot be shown leaves the earlier scene, if there is one.
    fn arrived(&mut self, studio: Result<Studio>, args: SceneArgs) -> Result<()> {
        match studio {
            Ok(studio) => {
                self.settings.look.paper_white = studio.scene.paper_white;
                self.session.set_studio(studio)?;
                // A way through another scene is of no use here.
                self.flight = None;
                self.scene = args.scene;
                (self.shows_scene, self.message) = (true, None);
                self.settings.path = true;
                Ok(())
            }
            Err(error) if !self.shows_scene || is_lost(&error) => Err(error),
            Err(error) => {
                self.say(format!("{error:#}"));
                Ok(())
            }
        }
    }

    /// Begins to load another scene beside the one that is shown.
    fn change_scene(&mut self, number: usize) {
        let Some(entry) = self.status.scenes.get(number) else { return };
        if let Some(reason) = &entry.broken {
            let reason = reason.clone();
            return self.say(reason);
        }
        let name = entry.name.clone();
        self.open_scene(&name);
    }

    /// The scene `by` places further in the list than the one on its way, or the one that is shown.
    fn change_scene_by(&mut self, by: isize) {
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
    pub(super) fn open_scene(&mut self, name: &str) {
        // The one on its way is not wanted any more.
        let args = SceneArgs::of(name);
        self.arrival = None;
        self.arrival = Some(Arrival::start(self.session.device(), self.session.passes(), args));
    }

    fn change_camera(&mut self, number: usize) {
        let Some((_, path)) = self.session.scene().cameras.get(number) else { return };
        let path = path.clone();
        self.flight.iter_mut().for_each(Flight::jump);
        self.session.set_path(path);
        self.settings.path = true;
    }

    /// Begins to record the camera's way, or ends it: the path is written and played.
    fn record_path(&mut self) {
        let Some(flight) = self.flight.take() else {
            self.flight = Some(Flight::default());
            return self.say("the camera's way is recorded until the same is asked for again".to_owned());
        };
        let Some(path) = flight.path() else { return self.say("nothing was recorded".to_owned()) };
        match flight::save(&self.options.paths, &path) {
            Ok(file) => self.say(format!("the camera's way is in {}, and is played now", file.display())),
            Err(error) => self.say(format!("{error:#}")),
        }
        self.session.set_path(CameraPath::Keyed(path));
        self.settings.path = true;
    }

    fn change_size(&mut self, size: Extent) -> Result<()> {
        match self.session.resize(size) {
            Ok(()) => {
                self.message = None;
                self.settings.compare.zoom.resized(self.settings.size, size);
                (self.status.forecast, self.considered) = (None, None);
                self.settings.size = size;
                Ok(())
            }
            Err(error) if is_lost(&error) => Err(error),
            Err(error) => {
                self.say(format!("{error:#}"));
                self.settings.size = self.session.geometry().valid;
                Ok(())
            }
        }
    }

    /// Says what was done, or why not.
    fn say_of(&mut self, result: Result<()>, done: String) {
        match result {
            Ok(()) => self.say(done),
            Err(error) => self.say(format!("{error:#}")),
        }
    }

    pub(super) fn say(&mut self, text: String) {
        tracing::warn!("{text}");
        self.message = Some((text, Instant::now()));
    }

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

    /// Every control with its value, its ends and whether the model sees it.
    fn control_states(&self) -> serde_json::Value {
        let state = |control: control::Control| {
            let [low, high] = control.ends();
            let value = serde_json::json!({
                "value": control.get(&self.settings),
                "low": low,
                "high": high,
                "middle": control.middle(),
                "default": control.default_value(),
                "active": control.is_active(&self.settings),
                "seen": control.seen(&self.settings, &self.status.ignored),
            });
            (control.id.to_owned(), value)
        };
        control::all().into_iter().map(state).collect::<serde_json::Map<_, _>>().into()
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

    fn write_state(&mut self) {
        let Some(path) = &self.options.state else { return };
        if self.state_written.elapsed() < STATE {
            return;
        }
        self.state_written = Instant::now();
        let document = self.state();
        if let Err(error) = write::write_file(path, document.to_string().as_bytes()) {
            tracing::warn!("{error:#}");
            self.options.state = None;
        }
    }

    /// Everything that the program says about itself.
    pub(super) fn state(&self) -> serde_json::Value {
        let window = self.graphics.size();
        serde_json::json!({
            "window": [window.width, window.height],
            "mode": self.settings.compare.mode,
            "wipe": self.settings.compare.wipe,
            "line": self.settings.compare.line,
            "difference": self.settings.compare.difference,
            "gain": self.settings.compare.gain,
            "sides": self.session.sides(),
            "wanted_sides": self.settings.sides,
            "view": self.settings.compare.view,
            "scale": self.layout.scale,
            "fits": self.settings.compare.zoom.scale.is_none(),
            "original": self.held.original(),
            "network": self.settings.network,
            "temporal": self.settings.temporal,
            "overlay": self.settings.overlay,
            "paused": self.settings.paused,
            "inspector": self.settings.inspector,
            "look": self.settings.look,
            "fullscreen": self.window.fullscreen().is_some(),
            "vsync": self.settings.vsync,
            "help": self.settings.help,
            "hint": self.settings.hint,
            "controls": self.control_states(),
            "places": overlay::places::all(self.gui.egui_ctx()),
            "path": self.settings.path,
            "status": self.status,
        })
    }
}

pub(super) fn is_lost(error: &anyhow::Error) -> bool {
    error.downcast_ref::<gpu::Error>().is_some_and(gpu::Error::is_device_lost)
}

/// The settings of the last time, and what is wrong with them.
fn last_settings(fresh: bool) -> (Saved, Option<String>) {
    let Some(path) = saved::path().filter(|_| !fresh) else { return (Saved::default(), None) };
    match Saved::read(&path) {
        Ok(saved) => (saved.unwrap_or_default(), None),
        Err(error) => {
            tracing::warn!("{error:#}");
            (Saved::default(), Some(format!("{error:#}")))
        }
    }
}

/// A size at which the device shows something soon.
fn default_size(device: &Device) -> Extent {
    if device.caps().is_cpu { Extent::new(320, 180) } else { Extent::new(1280, 720) }
}
