//! The viewer apart from its window: camera and time, the frame in work, which pictures are shown.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use gpu::Device;
use network::frame::Passes;
use network::geometry::{Extent, Geometry};
use network::model::Source;
use renderer::{Camera, CameraPath, FlyInput, Scene, View, fly};

use super::exposure::{Exposure, White};
use super::linear::Linear;
use super::live::Live;
use super::loading::Loading;
use super::look::Look;
use super::record::Record;
use super::settings::Settings;
use super::sides::Sides;
use crate::engine::choice::Wish;
use crate::engine::fit;
use crate::engine::neural::{Neural, Times};
use crate::engine::pace::Pace;
use crate::engine::retain::ReplayArg;
use crate::engine::studio::Studio;

mod comparison;
mod keeping;
mod live_picture;
mod model;
mod picture;
#[cfg(test)]
mod side_tests;
#[cfg(test)]
mod tests;
mod view;
mod work;

pub use picture::Picture;
use work::Work;

/// Wanted duration of a slice of the network.
const SLICE: Duration = Duration::from_millis(25);
/// A frame that takes longer is computed while the live scene can be flown through.
const SLOW: Duration = Duration::from_millis(700);
/// Longest step of the scene's time from one frame to the next, in seconds.
const LONGEST_STEP: f64 = 1.0 / 20.0;
/// Noise of frozen frames.
const FROZEN_SEED: u32 = 0;
/// Scene time of a single step, in seconds.
const SINGLE_STEP: f64 = 1.0 / 30.0;
/// Wished largest step of the network on a CPU, in multiply-accumulates: it bounds how long a slice can take.
const CPU_STEP: u64 = 1 << 25;

/// Everything that lives as long as the viewer.
pub struct Session {
    /// Route asked for, and what `auto` may take.
    wish: Wish,
    /// The frame in work.
    job: Option<Work>,
    /// What the sides need beside the network as it is set. Before it, because they may share its scene image.
    sides: Sides,
    neural: Option<Neural>,
    live: Live,
    geometry: Geometry,
    loading: Loading,
    studio: Studio,
    pace: Pace,
    generation: u64,
    version: u64,
    /// The scene is still on its way.
    waiting: bool,
    camera: Camera,
    /// Scene time in seconds.
    time: f64,
    /// Scene time that has passed and not been given to a frame.
    pending: f64,
    /// View of the last frame that wrote a history.
    last: Option<View>,
    /// View of the finished pair of pictures, if there is one.
    pair: Option<View>,
    /// Whether the pair used its history.
    pair_history: bool,
    exposure: Exposure,
    white: White,
    flown: Instant,
    /// Whether a person is at the controls.
    attentive: bool,
    /// Whether the frame in work waits until they have been answered.
    gives_way: bool,
    /// Whether it waits until the window is drawn.
    held_back: bool,
    number: u32,
    record: Record,
    /// How the network's commands reach the device.
    replay: ReplayArg,
    linear: Linear,
    /// Other weights on their way, beside those in use.
    next_model: Option<Loading>,
    /// Numbers for the overlay.
    pub numbers: Numbers,
}

/// What the session counts and measures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    /// Frames that went through the network.
    pub evaluated: u64,
    /// Frames whose times are known.
    pub timed: u64,
    /// GPU times of the last one.
    pub times: Option<Times>,
    /// From its beginning to its end.
    pub duration: Option<Duration>,
    /// Submissions that held steps of a network.
    pub slices: u64,
}

impl Session {
    /// Prepares the scene, and begins to prepare the network; without a source there is none.
    ///
    /// # Errors
    /// The size does not fit on the device, or an error of the device.
    pub fn new(device: &Arc<Device>, scene: Scene, size: Extent, source: Option<Source>) -> Result<Self> {
        Self::on_route(device, scene, size, source, Wish::EXACT)
    }

    /// The same on a route other than the exact one.
    ///
    /// # Errors
    /// As for [`Session::new`].
    pub fn on_route(
        device: &Arc<Device>,
        scene: Scene,
        size: Extent,
        source: Option<Source>,
        wish: Wish,
    ) -> Result<Self> {
        let studio = Studio::new(device, scene)?;
        let geometry = fit::check(device, size, 0)?;
        let live = Live::new(&studio, &geometry)?;
        let camera = studio.scene.path.at(0.0);
        Ok(Self {
            wish,
            job: None,
            sides: Sides::default(),
            neural: None,
            live,
            geometry,
            loading: match source {
                Some(source) => Loading::start(device, source, None, wish),
                None => Loading::Failed("the viewer was started with --no-network".to_owned()),
            },
            studio,
            pace: Pace::new(SLICE),
            generation: 0,
            version: 0,
            waiting: false,
            camera,
            time: 0.0,
            pending: 0.0,
            last: None,
            pair: None,
            pair_history: false,
            exposure: Exposure::default(),
            white: Exposure::default().step(&Look::default(), 0.0),
            flown: Instant::now(),
            attentive: false,
            gives_way: false,
            held_back: false,
            number: 0,
            record: Record::default(),
            replay: ReplayArg::Auto,
            linear: Linear::default(),
            next_model: None,
            numbers: Numbers::default(),
        })
    }

    /// The size rendered and its field.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.studio.device
    }

    /// Asks for a route of the network's commands; frames of another size ask for it again.
    ///
    /// # Errors
    /// The program's registry is damaged.
    pub fn ask_replay(&mut self, asked: ReplayArg) -> Result<()> {
        self.replay = asked;
        match (&mut self.neural, &self.loading) {
            (Some(neural), Loading::Ready(loaded)) => neural.ask_replay(&self.studio, asked, &loaded.digest),
            _ => Ok(()),
        }
    }

    /// The network and its retained side, once the size is prepared.
    pub fn neural(&self) -> Option<&Neural> {
        self.neural.as_ref()
    }

    /// Multiply-accumulates of a frame, once its size is prepared.
    pub fn cost(&self) -> Option<u64> {
        self.neural.as_ref().map(Neural::cost)
    }

    /// Frames since the history was forgotten.
    pub fn history(&self) -> u32 {
        self.neural.as_ref().map_or(0, |neural| neural.frame().clock().since_reset())
    }

    /// Whether a frame takes so long that its progress is worth showing.
    pub fn is_slow(&self) -> bool {
        let running = self.progress().map(|(_, seconds)| Duration::from_secs_f32(seconds));
        let last = self.numbers.duration;
        // A processor needs seconds for any frame.
        let first = self.job.is_some() && last.is_none() && self.studio.device.caps().is_cpu;
        first || running.into_iter().chain(last).any(|duration| duration > SLOW)
    }

    /// Forgets the history. A frame in work is begun anew.
    pub fn reset(&mut self) {
        if let Some(neural) = &mut self.neural {
            neural.reset();
        }
        self.sides.reset();
        self.last = None;
        self.cancel();
    }

    /// Bytes of device memory that the present size takes, and that another one would not.
    pub fn held(&self) -> u64 {
        let need = fit::need(&self.geometry);
        need.pictures + if self.neural.is_some() { need.arena } else { 0 }
    }

    /// Changes the size of the frame. Weights and pipelines stay.
    ///
    /// # Errors
    /// The size does not fit on the device; everything stays as it was.
    pub fn resize(&mut self, size: Extent) -> Result<()> {
        if size == self.geometry.valid {
            return Ok(());
        }
        let geometry = fit::check(&self.studio.device, size, self.held())?;
        // The old buffers go first, so that both sizes never have to fit at once.
        self.job = None;
        self.sides.forget();
        self.neural = None;
        self.record.forget();
        let device = Arc::clone(&self.studio.device);
        device.wait_idle()?;
        self.live = Live::new(&self.studio, &geometry)?;
        self.geometry = geometry;
        self.last = None;
        self.pair = None;
        self.numbers.duration = None;
        self.generation += 1;
        Ok(())
    }

    /// The passes around the network, for a studio that is to be shown here.
    pub fn passes(&self) -> &Arc<Passes> {
        &self.studio.passes
    }

    /// The scene that is shown.
    pub fn scene(&self) -> &Scene {
        &self.studio.scene
    }

    /// Shows another scene from its beginning. The network and all buffers of the frame's size stay.
    ///
    /// # Errors
    /// An error of the device.
    pub fn set_studio(&mut self, studio: Studio) -> Result<()> {
        self.job = None;
        self.record.forget();
        self.studio.device.wait_idle()?;
        if let Some(neural) = &mut self.neural {
            neural.reset();
            // A capture that was asked for is given up.
            neural.keep_none();
        }
        self.sides.leave_scene();
        self.studio = studio;
        self.camera = self.studio.scene.path.at(0.0);
        (self.time, self.pending) = (0.0, 0.0);
        (self.last, self.pair) = (None, None);
        self.live.forget();
        self.exposure.reset();
        self.numbers.duration = None;
        self.generation += 1;
        self.waiting = false;
        Ok(())
    }

    /// Where the camera is.
    pub fn camera(&self) -> Camera {
        self.camera
    }

    /// From where and when the scene is seen, and the path that the camera goes.
    pub fn standpoint(&self) -> Standpoint {
        Standpoint { camera: self.camera, time: self.time, path: self.studio.scene.path.clone() }
    }

    /// Sees the scene from there and then. The history begins anew.
    pub fn stand(&mut self, at: Standpoint) {
        self.studio.scene.path = at.path;
        (self.camera, self.time, self.pending) = (at.camera, at.time, 0.0);
        self.reset();
    }

    /// Looks along another path from its beginning; scene time begins anew, and so does the history.
    pub fn set_path(&mut self, path: CameraPath) {
        (self.time, self.pending) = (0.0, 0.0);
        self.camera = path.at(self.time);
        self.studio.scene.path = path;
        self.reset();
    }

    /// Nothing is worth computing until the scene is set.
    pub fn wait_for_scene(&mut self) {
        self.waiting = true;
    }

    /// Lets a paused scene move on by one frame.
    pub fn step_once(&mut self) {
        self.pending = SINGLE_STEP;
    }

    /// Moves time and camera on.
    pub fn step(&mut self, settings: &mut Settings, flight: &FlyInput, seconds: f64) {
        self.white = self.exposure.step(&settings.look, seconds as f32);
        settings.look.applied_white = Some(self.white.applied).filter(|_| self.white.automatic);
        if !settings.paused {
            self.pending = (self.pending + seconds).min(LONGEST_STEP);
        }
        if !flight.is_idle() {
            settings.path = false;
            self.camera = fly(&self.camera, flight, &self.studio.scene.flight(), seconds.min(0.1) as f32);
            self.flown = Instant::now();
        }
    }

    /// Hears the mean of the scene's brightness, as the logarithm to base two.
    pub fn hear_light(&mut self, mean: f32) {
        self.exposure.measured(mean);
    }

    /// Paper white, asked for and applied.
    pub fn white(&self) -> White {
        self.white
    }

    /// Whether something is on the device that will want attention when it has run.
    pub fn is_working(&self) -> bool {
        self.waiting
            || self.sides.is_preparing()
            || self.sides.is_refining()
            || self.job.is_some()
            || self.record.is_busy()
            || self.is_loading()
    }
}

/// From where and when a scene is seen.
#[derive(Clone, Debug)]
pub struct Standpoint {
    /// Where the camera is.
    camera: Camera,
    /// Scene time in seconds.
    time: f64,
    /// The path that the camera goes where nobody flies.
    path: CameraPath,
}

/// Something that was asked for and cannot be; the viewer goes on.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

fn blend_scale(loading: &Loading) -> f32 {
    match loading {
        Loading::Ready(loaded) => loaded.blend_scale,
        _ => 1.0,
    }
}
