//! The viewer in its window: one frame after the other.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use egui::ViewportId;
use gpu::{Device, Instance, InstanceDesc};
use network::geometry::Extent;
use renderer::Scene;
use winit::raw_window_handle::HasDisplayHandle as _;
use winit::window::Window;

use super::Options;
use super::answers::Answers;
use super::arrival::Arrival;
use super::clip::Clip;
use super::demo::Demo;
use super::flight::Flight;
use super::graphics::{Drawn, Graphics, Gui, Shown};
use super::input::Held;
use super::largest::Largest;
use super::layout::{self, CompareMode, Difference, Layout};
use super::pacing::{Courtesy, Pacing};
use super::presets::Presets;
use super::probe;
use super::saved::{self, Last, Saved};
use super::screenshot::Screenshots;
use super::session::{Refused, Session, Standpoint};
use super::settings::{Action, Settings};
use crate::cli::Globals;
use crate::cli::args::RouteArg;
use crate::engine::choice::Wish;
use crate::engine::measure::Measure;
use crate::engine::{catalog, device, fit};
use crate::overlay::{self, Overlay, Status};

mod act;
mod document;
mod gather;
mod keep;
mod scenes;

pub use keep::GivenUp;

/// How long a message stays.
const MESSAGE: Duration = Duration::from_secs(12);
/// Presented frames from one look at the device memory to the next.
const MEMORY_EVERY: u64 = 16;
/// Longest wait for a slice before a frame is drawn.
const LONGEST_SLICE: Duration = Duration::from_millis(100);
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
    /// The largest frames of views.
    pub(super) largest: Largest,
    /// The view, and since when it is so.
    pub(super) view_seen: ([u32; 2], Instant),
    /// The scene on its way.
    pub(super) arrival: Option<Arrival>,
    /// What `--scene` takes to name the scene that is shown.
    scene: String,
    /// The camera's way, while it is recorded.
    flight: Option<Flight>,
    /// From where and when the scene on its way is seen: it was shown before the device was lost.
    returns: Option<Standpoint>,
    /// Whether a scene is shown that a failed loading leaves.
    shows_scene: bool,
    overlay: Overlay,
    presets: Presets,
    pub(super) screenshots: Screenshots,
    pub(super) settings: Settings,
    pub(super) held: Held,
    pub(super) pacing: Pacing,
    courtesy: Courtesy,
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
        let Last { saved, wrong, writable } = last_settings(options.fresh, options.demo.is_some());
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
            largest: Largest::default(),
            view_seen: ([0; 2], now),
            arrival,
            scene: options.scene.scene.clone(),
            flight: None,
            returns: None,
            shows_scene: !later,
            overlay: Overlay::default(),
            presets: Presets::of_user(),
            screenshots: Screenshots::into_folder(options.screenshots.clone()),
            settings,
            held: Held::default(),
            pacing: Pacing::new(now),
            courtesy: Courtesy::new(now),
            status: Status {
                device: device.caps().name.clone(),
                route_asked: if options.route == RouteArg::Auto { "auto" } else { options.route.resolved() }.to_owned(),
                scenes: catalog::all(),
                presets: Presets::of_user().names(),
                ..Status::default()
            },
            window,
            options,
            message: wrong.map(|text| (text, now)),
            last_frame: now,
            state_written: now,
            // A tour is no choice of the person's.
            kept: saved::path().filter(|_| writable && !touring).map(|path| (path, saved, now)),
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
        if let Some(studio) = self.arrival.as_mut().and_then(Arrival::poll) {
            let arrived = self.arrival.take().map(|arrival| arrival.scene().clone()).unwrap_or_default();
            return self.arrived(studio, arrived).map(|()| true);
        }
        let told = self.take_pictures()?;
        let now = Instant::now();
        if let Some(answer) = self.answers.poll(self.session.device())? {
            self.courtesy.answered(now);
            self.status.passes.push("input", answer.ms);
            if answer.computing {
                self.status.passes.push("input, computing", answer.ms);
            }
        }
        let attentive = self.pacing.is_attentive(now) || self.held.flying();
        self.session.attend(attentive, self.courtesy.gives_way(now, self.answers.owes(now)));
        match self.session.advance(&mut self.settings) {
            Ok(false) => Ok(told),
            Err(error) if error.downcast_ref::<Refused>().is_some() => {
                self.complain(format!("{error:#}"));
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
        // A processor as device draws nothing before its slice has run, and another one would come in between.
        let (slow, is_cpu) = (self.session.is_slow(), self.session.device().caps().is_cpu);
        if !slow || is_cpu {
            self.session.settle(if slow { LONGEST_SLICE } else { Duration::from_millis(8) });
        }
        let began = Instant::now();
        self.session.hold_back(slow && is_cpu);
        let advanced = self.advance();
        self.session.hold_back(false);
        advanced?;
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

    /// Shows what was done.
    pub(super) fn say(&mut self, text: String) {
        tracing::info!("{text}");
        self.message = Some((text, Instant::now()));
    }

    /// Shows what could not be done, or what has happened to it.
    pub(super) fn complain(&mut self, text: String) {
        tracing::warn!("{text}");
        self.message = Some((text, Instant::now()));
    }
}

pub(super) fn is_lost(error: &anyhow::Error) -> bool {
    error.downcast_ref::<gpu::Error>().is_some_and(gpu::Error::is_device_lost)
}

/// The settings of the last time. A tour is no choice of the person's and writes none.
fn last_settings(fresh: bool, touring: bool) -> Last {
    let mut last = saved::path().map_or_else(Last::none, |path| Last::read(&path, !touring));
    if fresh {
        last.saved = Saved::default();
    }
    if let Some(wrong) = &last.wrong {
        tracing::warn!("{wrong}");
    }
    last
}

/// A size at which the device shows something soon.
fn default_size(device: &Device) -> Extent {
    if device.caps().is_cpu { Extent::new(320, 180) } else { Extent::new(1280, 720) }
}
