//! A random walk through everything that a person can do to the viewer's engine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use gpu::{CommandBuffer, Device};
use network::capture::Capture;
use network::geometry::Extent;
use network::model::Source;
use renderer::{FlyInput, Scene};
use serde::Serialize;

use super::random::Random;
use crate::cli::args::RouteArg;
use crate::cli::scene::SceneArgs;
use crate::engine::catalog;
use crate::engine::choice::Wish;
use crate::engine::retain::ReplayArg;
use crate::engine::side;
use crate::engine::studio::Studio;
use crate::window::arrival::Arrival;
use crate::window::control;
use crate::window::layout::CompareMode;
use crate::window::loading::Loading;
use crate::window::presets::Preset;
use crate::window::saved::Saved;
use crate::window::session::{Picture, Refused, Session};
use crate::window::settings::Settings;

/// The state in which everything is measured.
pub const HOME: Extent = Extent::new(64, 48);
const HOME_MODEL: &str = "identity";
/// Weights that need no file.
const MODELS: [&str; 6] = ["identity", "lively:1", "lively:2", "sparse:1", "hot:1", "no-such-model"];
/// Sides of a comparison.
const SIDES: [&str; 7] =
    ["off", "network", "history:off", "reference:4", "reference:1", "size:40x36", "history:on,model:lively:3"];
/// Longest wait for anything that is on its way; a software device compiles for a minute.
const PATIENCE: Duration = Duration::from_secs(900);

/// How often something was done, and how often it was refused with a reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Done.
    pub done: u64,
    /// Refused, as it should be, or given up for something else.
    pub refused: u64,
}

/// What can be done, how often among all, and how.
type Deed = (&'static str, u32, fn(&mut Walk) -> Result<()>);

const DEEDS: [Deed; 16] = [
    ("setting", 12, Walk::setting),
    ("preset", 1, Walk::preset),
    ("size", 3, Walk::size),
    ("scene", 2, Walk::scene),
    ("scene given up", 1, Walk::scene_given_up),
    ("model", 2, Walk::model),
    ("sides", 3, Walk::sides),
    ("replay route", 3, Walk::replay),
    ("network route", 1, Walk::route),
    ("capture", 2, Walk::capture),
    ("linear picture", 1, Walk::linear),
    ("reset", 3, Walk::reset),
    ("flight", 3, Walk::flight),
    ("network off or on", 2, Walk::network),
    ("network unloaded", 1, Walk::unload),
    ("settings kept", 1, Walk::keep),
];

/// The engine, and where it is in the walk.
pub struct Walk {
    device: Arc<Device>,
    session: Option<Session>,
    settings: Settings,
    arrival: Option<Arrival>,
    commands: CommandBuffer,
    random: Random,
    folder: PathBuf,
    scenes: Vec<String>,
    /// Largest side of a frame.
    most: u32,
    route: RouteArg,
    /// What was done.
    pub tallies: BTreeMap<&'static str, Tally>,
    /// Frames that went through the network in sessions that are over.
    evaluated: u64,
    /// Live frames drawn.
    pub drawn: u64,
    /// Turns of the engine.
    pub turns: u64,
    /// Times that the walk came home.
    homes: u64,
    /// Milliseconds of the last frame that was finished at home.
    home_frame: f64,
    /// The last deeds, for the report of a failure.
    pub trail: Vec<String>,
}

impl Walk {
    /// Opens the engine in its home state.
    ///
    /// # Errors
    /// An error of the device.
    pub fn new(device: &Arc<Device>, seed: u64, most: u32, folder: &Path) -> Result<Self> {
        let scenes = catalog::all().into_iter().filter(|scene| scene.broken.is_none()).map(|scene| scene.name);
        let mut walk = Self {
            device: Arc::clone(device),
            session: None,
            settings: Settings::new(HOME),
            arrival: None,
            commands: CommandBuffer::new(device, "soak frame")?,
            random: Random::new(seed),
            folder: folder.to_owned(),
            scenes: scenes.collect(),
            most,
            route: RouteArg::Exact,
            tallies: BTreeMap::new(),
            evaluated: 0,
            drawn: 0,
            turns: 0,
            homes: 0,
            home_frame: 0.0,
            trail: Vec::new(),
        };
        walk.open(HOME_MODEL.parse()?)?;
        Ok(walk)
    }

    /// Frames that went through the network.
    pub fn evaluated(&self) -> u64 {
        self.evaluated + self.session.as_ref().map_or(0, |session| session.numbers.evaluated)
    }

    /// Does one thing, and draws some frames.
    ///
    /// # Errors
    /// Something failed that should not.
    pub fn step(&mut self) -> Result<()> {
        let all = DEEDS.iter().map(|(_, weight, _)| weight).sum();
        let mut at = self.random.below(all);
        let chosen = DEEDS.iter().find(|(_, weight, _)| {
            let here = at < *weight;
            at = at.saturating_sub(*weight);
            here
        });
        let (name, _, deed) = chosen.context("no deed was chosen")?;
        self.note(*name);
        let result = deed(self);
        self.tally(name, result)?;
        let frames = 1 + self.random.below(4);
        for _ in 0..frames {
            self.frame()?;
        }
        // Often the next thing comes before a frame is finished, often after; a software device takes seconds for one.
        if self.random.below(if self.device.caps().is_cpu { 6 } else { 2 }) == 0 {
            self.finish_frame()?;
        }
        Ok(())
    }

    /// Goes back to the home state and finishes a frame there; returns its milliseconds.
    ///
    /// # Errors
    /// Something failed that should not.
    pub fn home(&mut self) -> Result<f64> {
        self.note("home");
        self.arrival = None;
        self.settings = Settings::new(HOME);
        let session = self.session.as_mut().context("no session")?;
        session.finish_writing();
        _ = (session.capture_news(), session.linear_news());
        let passes = Arc::clone(session.passes());
        session.set_studio(Studio::with_passes(&self.device, Scene::builtin(), passes)?)?;
        session.resize(HOME)?;
        session.ask_replay(ReplayArg::Direct)?;
        self.settle_model()?;
        if self.route != RouteArg::Exact || matches!(self.session()?.loading(), Loading::Failed(_)) {
            self.route = RouteArg::Exact;
            self.open(HOME_MODEL.parse()?)?;
        }
        self.session_mut()?.reset();
        let begun = Instant::now();
        while self.session()?.neural().is_none() {
            self.frame()?;
            ensure!(begun.elapsed() < PATIENCE, "the network is not prepared");
        }
        if !self.device.caps().is_cpu || self.homes.is_multiple_of(8) {
            self.session_mut()?.numbers.duration = None;
            self.finish_frame()?;
            self.frame()?;
            self.home_frame = self.session()?.numbers.duration.map_or(0.0, |duration| duration.as_secs_f64() * 1000.0);
        }
        self.homes += 1;
        // The frame that is in work by now is not of this state.
        self.session_mut()?.reset();
        let begun = Instant::now();
        self.settings.network = false;
        for turn in 0.. {
            let session = self.session()?;
            let busy = session.is_working() || session.is_reading() || *session.sides() != side::DEFAULT;
            if turn > 2 && !busy {
                break;
            }
            self.frame()?;
            ensure!(begun.elapsed() < PATIENCE, "the engine does not come to rest");
        }
        // A fast device never draws the stand-in for the network's picture unless time is lost between; it makes its
        // descriptor set when it does.
        self.draw(Picture::Live)?;
        self.device.wait_idle()?;
        Ok(self.home_frame)
    }

    fn session(&self) -> Result<&Session> {
        self.session.as_ref().context("no session")
    }

    fn session_mut(&mut self) -> Result<&mut Session> {
        self.session.as_mut().context("no session")
    }

    fn note(&mut self, text: impl Into<String>) {
        if self.trail.len() >= 24 {
            self.trail.remove(0);
        }
        self.trail.push(text.into());
    }

    /// Counts a deed. What is refused with a reason is no failure.
    fn tally(&mut self, name: &'static str, result: Result<()>) -> Result<()> {
        let tally = self.tallies.entry(name).or_default();
        match result {
            Ok(()) => tally.done += 1,
            Err(error) if error.downcast_ref::<Refused>().is_some() => {
                tally.refused += 1;
                self.note(format!("refused: {error:#}"));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// A session on the present route, in place of the one that is there.
    fn open(&mut self, source: Source) -> Result<()> {
        self.evaluated = self.evaluated();
        self.session = None;
        let size = self.settings.size;
        let wish = Wish { route: self.route, ..Wish::EXACT };
        let mut session = Session::on_route(&self.device, Scene::builtin(), size, Some(source), wish)?;
        session.capture_into(self.folder.join("captures"));
        session.linear_into(self.folder.join("linear"));
        self.session = Some(session);
        Ok(())
    }

    /// One turn of the window's loop, without the window.
    fn frame(&mut self) -> Result<()> {
        self.take_scene()?;
        let session = self.session.as_mut().context("no session")?;
        session.step(&mut self.settings, &FlyInput::default(), 1.0 / 30.0);
        session.settle(Duration::from_millis(8));
        self.turns += 1;
        if let Err(error) = session.advance(&mut self.settings) {
            self.tally("turn of the engine", Err(error))?;
        }
        let session = self.session.as_mut().context("no session")?;
        let picture = session.picture(&self.settings);
        if session.wants_live(&self.settings, picture, false)? {
            self.draw(picture)?;
        }
        let session = self.session.as_mut().context("no session")?;
        session.give_linear(&self.settings, picture)?;
        let news = [session.capture_news(), session.linear_news()];
        if let Some(failed) = news.into_iter().flatten().filter_map(Result::err).find(|why| why.contains("failed")) {
            bail!(failed);
        }
        Ok(())
    }

    /// Draws a live picture.
    fn draw(&mut self, picture: Picture) -> Result<()> {
        let session = self.session.as_mut().context("no session")?;
        let view = session.live_view(&self.settings, picture)?;
        self.commands.begin()?;
        session.record(&mut self.commands, picture, &view, &self.settings)?;
        self.commands.end()?;
        let ticket = self.device.submit(&[&self.commands], &[], &[])?;
        session.submitted(picture, view);
        self.device.wait(ticket, PATIENCE)?;
        self.drawn += 1;
        Ok(())
    }

    /// Draws until another frame went through the network, if it is on and can be.
    fn finish_frame(&mut self) -> Result<()> {
        self.settle_model()?;
        let (begun, before) = (Instant::now(), self.session()?.numbers.timed);
        while self.settings.network && self.session()?.numbers.timed == before {
            self.frame()?;
            ensure!(begun.elapsed() < PATIENCE, "no frame of the network was finished");
        }
        Ok(())
    }

    /// Waits for weights on their way.
    fn settle_model(&mut self) -> Result<()> {
        let begun = Instant::now();
        while self.session()?.is_loading() {
            self.frame()?;
            ensure!(begun.elapsed() < PATIENCE, "the weights do not come");
        }
        Ok(())
    }

    fn take_scene(&mut self) -> Result<()> {
        let Some(studio) = self.arrival.as_mut().and_then(Arrival::poll) else { return Ok(()) };
        self.arrival = None;
        self.session_mut()?.set_studio(studio?)
    }

    fn setting(&mut self) -> Result<()> {
        let controls = control::all();
        let control = self.random.of(&controls);
        let [low, high] = control.ends();
        let value = low + (high - low) * self.random.unit();
        control.set(&mut self.settings, value);
        match self.random.below(6) {
            0 => self.settings.paused = !self.settings.paused,
            1 => self.settings.temporal = !self.settings.temporal,
            2 => self.settings.inspector = !self.settings.inspector,
            3 => self.settings.compare.mode = *self.random.of(&CompareMode::ALL),
            4 => self.settings.path = !self.settings.path,
            _ => self.session_mut()?.step_once(),
        }
        Ok(())
    }

    fn preset(&mut self) -> Result<()> {
        let there = Preset::of(&self.settings);
        let mut fresh = Settings::new(self.settings.size);
        there.apply(&mut fresh);
        ensure!(Preset::of(&fresh) == there, "a preset did not give the controls their values");
        Preset::of(&Settings::new(HOME)).apply(&mut self.settings);
        Ok(())
    }

    fn size(&mut self) -> Result<()> {
        let most = self.most;
        let mut side = || 33 + self.random.below(most - 32);
        let size = Extent::new(side(), side());
        // One in eight cannot be.
        let size = if self.random.below(8) == 0 { Extent::new(70_000, size.height) } else { size };
        let result = self.session_mut()?.resize(size);
        match result {
            Ok(()) => self.settings.size = size,
            Err(error) if size.width > most => bail!(Refused(format!("{error:#}"))),
            Err(error) => return Err(error),
        }
        ensure!(size.width <= most, "a frame of {size} was accepted");
        Ok(())
    }

    fn start_scene(&mut self) -> Result<()> {
        let name = self.random.of(&self.scenes).clone();
        self.note(name.clone());
        let passes = Arc::clone(self.session()?.passes());
        self.arrival = Some(Arrival::start(&self.device, &passes, SceneArgs::of(&name)));
        Ok(())
    }

    fn scene(&mut self) -> Result<()> {
        self.start_scene()?;
        let begun = Instant::now();
        while self.arrival.is_some() {
            self.frame()?;
            ensure!(begun.elapsed() < PATIENCE, "the scene does not come");
        }
        Ok(())
    }

    fn scene_given_up(&mut self) -> Result<()> {
        self.start_scene()?;
        self.frame()?;
        self.arrival = None;
        Ok(())
    }

    fn model(&mut self) -> Result<()> {
        let name = *self.random.of(&MODELS);
        self.note(name);
        let source = match name.parse() {
            Ok(source) => source,
            Err(error) => bail!(Refused(format!("{error}"))),
        };
        self.session_mut()?.change_model(source)
    }

    fn sides(&mut self) -> Result<()> {
        let names = [*self.random.of(&SIDES), *self.random.of(&SIDES)];
        self.note(names.join(" | "));
        for (side, name) in self.settings.sides.iter_mut().zip(names) {
            *side = name.parse().map_err(anyhow::Error::msg)?;
        }
        Ok(())
    }

    fn replay(&mut self) -> Result<()> {
        // Where the device cannot generate its commands, this falls back with a reason.
        let asked =
            [ReplayArg::Auto, ReplayArg::Direct, ReplayArg::Secondary, ReplayArg::Primary, ReplayArg::Generated];
        let asked = *self.random.of(&asked);
        self.note(format!("{asked:?}"));
        self.session_mut()?.ask_replay(asked)
    }

    /// The kernels of a session are of one route: another one is another session.
    fn route(&mut self) -> Result<()> {
        self.route = *self.random.of(&[RouteArg::Exact, RouteArg::Auto]);
        self.arrival = None;
        self.settings.sides = side::DEFAULT;
        let model = self.random.of(&MODELS[..5]).parse()?;
        self.open(model)
    }

    /// Captures a frame, and reads it back as `nrview replay` would.
    fn capture(&mut self) -> Result<()> {
        if !self.settings.network {
            let refused = self.session_mut()?.capture();
            ensure!(refused.is_err() || self.session()?.neural().is_some(), "a capture without a network");
            return refused;
        }
        self.settle_model()?;
        self.finish_frame()?;
        self.session_mut()?.capture()?;
        self.finish_frame()?;
        self.finish_frame()?;
        let session = self.session_mut()?;
        session.finish_writing();
        _ = session.capture_news();
        let folder = self.folder.join("captures");
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry?.path();
            let capture = Capture::open(&path).with_context(|| format!("{} is not whole", path.display()))?;
            ensure!(!capture.frames().is_empty(), "{} holds no frame", path.display());
            drop(capture);
            std::fs::remove_dir_all(&path)?;
        }
        Ok(())
    }

    fn linear(&mut self) -> Result<()> {
        self.session_mut()?.ask_linear();
        self.finish_frame()?;
        self.frame()?;
        self.session_mut()?.finish_writing();
        _ = std::fs::remove_dir_all(self.folder.join("linear"));
        Ok(())
    }

    fn reset(&mut self) -> Result<()> {
        let path = self.session()?.scene().path.clone();
        match self.random.below(2) {
            0 => self.session_mut()?.reset(),
            _ => self.session_mut()?.set_path(path),
        }
        Ok(())
    }

    fn flight(&mut self) -> Result<()> {
        let mut way = || self.random.unit() * 2.0 - 1.0;
        let flight =
            FlyInput { forward: way(), right: way(), up: way(), look: [40.0 * way(), 40.0 * way()], fast: false };
        let session = self.session.as_mut().context("no session")?;
        session.attend(true, false);
        session.step(&mut self.settings, &flight, 0.1);
        session.attend(false, false);
        Ok(())
    }

    fn network(&mut self) -> Result<()> {
        self.settings.network = !self.settings.network;
        self.frame()?;
        // Most of the walk is with it.
        self.settings.network |= self.random.below(2) == 0;
        Ok(())
    }

    fn unload(&mut self) -> Result<()> {
        let session = self.session.as_mut().context("no session")?;
        session.unload(&mut self.settings)?;
        self.frame()?;
        self.settings.network = true;
        Ok(())
    }

    fn keep(&mut self) -> Result<()> {
        let path = self.folder.join("settings.json");
        let saved = Saved::of(&self.settings);
        saved.write(&path)?;
        ensure!(Saved::read(&path)? == Some(saved), "the settings did not come back");
        Ok(())
    }
}
