//! The viewer apart from its window: camera and time, the frame in work, which pictures are shown.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use gpu::{CommandBuffer, Device};
use network::frame::Passes;
use network::geometry::{Extent, Geometry};
use network::model::Source;
use renderer::{Camera, CameraPath, Effects, FlyInput, Scene, View, fly, halton_jitter};

use super::exposure::{Exposure, White};
use super::graphics::Shown;
use super::layout::{Compare, CompareMode};
use super::linear::Linear;
use super::live::Live;
use super::loading::Loading;
use super::look::Look;
use super::probe::{SideSources, Sources};
use super::record::Record;
use super::reference::{Reference, Samples};
use super::settings::Settings;
use super::sides::{Base, Sides};
use crate::engine::choice::Wish;
use crate::engine::fit;
use crate::engine::measure;
use crate::engine::neural::{Job, Neural, Stage, Times};
use crate::engine::pace::Pace;
use crate::engine::retain::{ReplayArg, ReplayFailed};
use crate::engine::side::{self, Side};
use crate::engine::studio::Studio;

#[cfg(test)]
mod tests;

/// Wanted duration of a slice of the network.
const SLICE: Duration = Duration::from_millis(25);
/// The same while a person is at the controls.
const SHORT_SLICE: Duration = Duration::from_millis(8);
/// A frame that takes longer is computed while the live scene can be flown through.
const SLOW: Duration = Duration::from_millis(700);
/// How long the camera rests before a frame is begun from its new place, on a slow device.
const REST: Duration = Duration::from_millis(400);
/// Longest step of the scene's time from one frame to the next, in seconds.
const LONGEST_STEP: f64 = 1.0 / 20.0;
/// Noise of frozen frames.
const FROZEN_SEED: u32 = 0;
/// Longest wait for a slice of a frame that is given up.
const PATIENCE: Duration = Duration::from_secs(30);
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

/// A frame in work: one job of the network as it is set, and one of every network beside it, one after the other.
struct Work {
    jobs: Vec<Job>,
    /// How it was begun; the same for all jobs.
    look: Look,
    temporal: bool,
    /// It is not wanted any more; only its slice on the device is waited for.
    cancelled: bool,
    published: bool,
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

impl Work {
    /// The job that is being computed.
    fn current(&self) -> &Job {
        &self.jobs[self.jobs.len() - 1]
    }

    /// The job of the network as it is set, which begins every frame.
    fn first(&self) -> &Job {
        &self.jobs[0]
    }
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

    /// The network, ready or not.
    pub fn loading(&self) -> &Loading {
        &self.loading
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

    /// Runs every frame as one submission, however long it takes.
    pub fn unslice(&mut self) {
        self.pace = Pace::unsliced();
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

    /// Share of the frame in work that has run, and seconds since its beginning.
    pub fn progress(&self) -> Option<(f32, f32)> {
        let work = self.job.as_ref().filter(|work| !work.cancelled)?;
        let neurals = self.neural.iter().chain(self.sides.lanes().iter().map(|lane| &lane.neural));
        let (mut done, mut all) = (0.0, 0.0);
        for (place, neural) in neurals.enumerate() {
            all += neural.cost() as f32;
            done += work.jobs.get(place).map_or(0.0, |job| neural.progress(job) * neural.cost() as f32);
        }
        Some((done / all.max(1.0), work.first().begun().elapsed().as_secs_f32()))
    }

    /// The network in work of how many that a frame needs, counted from one; nothing where there is but one.
    pub fn part(&self) -> Option<[usize; 2]> {
        let work = self.job.as_ref().filter(|work| !work.cancelled)?;
        let lanes = self.sides.lanes().len();
        (lanes > 0).then(|| [work.jobs.len(), lanes + 1])
    }

    /// Left and right as they are shown.
    pub fn sides(&self) -> &[Side; 2] {
        self.sides.shown()
    }

    /// Whether other sides are being prepared.
    pub fn is_preparing_sides(&self) -> bool {
        self.sides.is_preparing()
    }

    /// Whether weights are still being read for a side, wanted or not.
    pub fn is_reading(&self) -> bool {
        self.sides.is_reading()
    }

    /// How far the reference has come, where a side is one.
    pub fn samples(&self) -> Option<Samples> {
        self.sides.samples(&self.studio)
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

    /// Captures go into this folder.
    pub fn capture_into(&mut self, folder: PathBuf) {
        self.record = Record::into_folder(folder);
    }

    /// Records the next frame with everything in it.
    ///
    /// # Errors
    /// [`Refused`] when that cannot be done now.
    pub fn capture(&mut self) -> Result<()> {
        let asked = self.record.ask(self.neural.as_mut(), &self.studio);
        asked.map_err(|error| Refused(format!("{error:#}")).into())
    }

    /// Linear pictures go into this folder.
    pub fn linear_into(&mut self, folder: PathBuf) {
        self.linear = Linear::into_folder(folder);
    }

    /// Writes the next frame as linear light.
    pub fn ask_linear(&mut self) {
        self.linear.ask();
    }

    /// What became of linear pictures since the last call.
    pub fn linear_news(&mut self) -> Option<String> {
        self.linear.news()
    }

    /// Writes the live scene as linear light, if that is asked for and no frame of the network will come.
    ///
    /// # Errors
    /// An error of the device.
    pub fn give_linear(&mut self, settings: &Settings, picture: Picture) -> Result<()> {
        if !self.linear.is_asked() || settings.network || picture == Picture::Pair {
            return Ok(());
        }
        let neural = self.neural.as_ref().filter(|_| picture == Picture::Bypass);
        let buffers = neural.map_or(self.live.plain().gbuffer(), Neural::gbuffer);
        self.linear.scene(&self.studio.device, buffers.color(), self.geometry.valid)
    }

    /// Prepares other weights beside those in use, which stay until the others are ready.
    ///
    /// # Errors
    /// [`Refused`] while a model is being prepared.
    pub fn change_model(&mut self, source: Source) -> Result<()> {
        if self.is_loading() {
            anyhow::bail!(Refused("a model is being prepared; wait a moment".to_owned()));
        }
        let kernels = match &self.loading {
            Loading::Ready(loaded) => Some(Arc::clone(&loaded.kernels)),
            _ => None,
        };
        self.next_model = Some(Loading::start(&self.studio.device, source, kernels, self.wish));
        Ok(())
    }

    /// Whether weights are being prepared.
    pub fn is_loading(&self) -> bool {
        self.next_model.is_some() || matches!(self.loading, Loading::Running(..))
    }

    /// Gives the memory of the network back. It is prepared again when it is switched on.
    ///
    /// # Errors
    /// An error of the device.
    pub fn unload(&mut self, settings: &mut Settings) -> Result<()> {
        settings.network = false;
        if let Loading::Ready(loaded) = &self.loading
            && let Ok(source) = loaded.source.parse()
        {
            self.drop_network()?;
            self.loading = Loading::Idle(source);
        }
        Ok(())
    }

    /// Takes down what belongs to the weights and the size.
    fn drop_network(&mut self) -> Result<()> {
        self.job = None;
        self.sides.forget();
        self.neural = None;
        self.record.forget();
        self.studio.device.wait_idle()?;
        (self.last, self.pair) = (None, None);
        self.live.forget();
        self.numbers.duration = None;
        self.generation += 1;
        Ok(())
    }

    /// Takes other weights over when they are ready.
    fn poll_next_model(&mut self) -> Result<()> {
        if !self.next_model.as_mut().is_some_and(Loading::poll) {
            return Ok(());
        }
        match self.next_model.take() {
            Some(Loading::Failed(ref reason)) => anyhow::bail!(Refused(format!("the model cannot be used: {reason}"))),
            Some(next) => {
                self.drop_network()?;
                self.loading = next;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Waits for everything that is being written.
    pub fn finish_writing(&mut self) {
        self.record.finish();
        self.linear.finish();
    }

    /// What became of captures since the last call.
    pub fn capture_news(&mut self) -> Option<String> {
        self.record.news()
    }

    /// A person is at the controls: slices give way to drawing.
    pub fn attend(&mut self, attentive: bool) {
        self.attentive = attentive;
        self.pace.set_target(if attentive { SHORT_SLICE } else { SLICE });
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

    /// Moves the frame in work on without waiting. True when a new pair of pictures is there.
    ///
    /// # Errors
    /// An error of the device.
    pub fn advance(&mut self, settings: &mut Settings) -> Result<bool> {
        if self.waiting {
            return Ok(false);
        }
        self.prepare(settings)?;
        self.update_sides(settings)?;
        self.keep_buffers(settings)?;
        // On a CPU a part of the reference is as long as a frame of the scene: it gives way to a person at the controls.
        let gives_way = self.attentive && self.studio.device.caps().is_cpu;
        let mut fresh = !gives_way && self.sides.refine(&self.studio)?;
        self.version += u64::from(fresh);
        let Some(neural) = &mut self.neural else { return Ok(fresh) };
        // At most a finished frame and the next one, with a turn for its beginning and for each of its networks.
        for _ in 0..4 + 2 * self.sides.lanes().len() {
            let Some(work) = &mut self.job else {
                if !settings.network
                    || !matches!(self.loading, Loading::Ready(_))
                    || Self::rests(self.flown, &self.numbers)
                {
                    break;
                }
                // The camera is about to jump.
                let (earlier, later) = (self.time, self.time + self.pending);
                if settings.path && self.studio.scene.path.cuts(earlier, later) {
                    neural.reset();
                    self.sides.reset();
                    self.last = None;
                }
                let every = settings.look.reset_every;
                if every > 0 && neural.frame().clock().since_reset() >= every {
                    neural.reset();
                    self.sides.reset();
                }
                let view = next_view(
                    &self.studio.scene,
                    settings,
                    &mut self.camera,
                    &mut self.time,
                    &mut self.pending,
                    self.last,
                    self.number,
                );
                self.number = self.number.wrapping_add(1);
                let parameters = settings.look.parameters(blend_scale(&self.loading));
                let job = neural.begin(view, parameters, settings.temporal);
                let job = if settings.look.frozen_seed { job.with_seed(FROZEN_SEED) } else { job };
                let mut job = job;
                job.hold(!self.sides.lanes().is_empty());
                let (look, temporal) = (settings.look, settings.temporal);
                self.job = Some(Work { jobs: vec![job], look, temporal, cancelled: false, published: false });
                continue;
            };
            if work.cancelled {
                if work.current().has_landed(&self.studio)? {
                    self.job = None;
                    continue;
                }
                break;
            }
            let place = work.jobs.len() - 1;
            let Work { jobs, look, temporal, .. } = work;
            let lanes = self.sides.lanes_mut();
            let computing = if place == 0 { &mut *neural } else { &mut lanes[place - 1].neural };
            let stage = match computing.advance(&self.studio, &mut jobs[place], &mut self.pace) {
                Ok(stage) => stage,
                Err(error) => {
                    // The frame is lost and not computed again.
                    self.job = None;
                    return Err(match error.downcast::<ReplayFailed>() {
                        Ok(failed) => Refused(failed.to_string()).into(),
                        Err(error) => error,
                    });
                }
            };
            self.numbers.slices = self.numbers.slices.wrapping_add(jobs[place].take_slices());
            if stage == Stage::Held {
                if let Some(lane) = lanes.get(place) {
                    // The next network's frame: the same instant, noise and look, with its own history.
                    let temporal = lane.change.history.unwrap_or(*temporal);
                    let job = lane.neural.begin(*jobs[0].view(), look.parameters(lane.blend_scale), temporal);
                    let seed = jobs[0].parameters().seed;
                    let mut job = job.with_seed(seed);
                    job.hold(true);
                    jobs.push(job);
                    continue;
                }
                // All of them appear at once.
                neural.compose(&self.studio, &mut jobs[0])?;
                for (lane, job) in lanes.iter_mut().zip(&mut jobs[1..]) {
                    lane.neural.compose(&self.studio, job)?;
                }
            }
            let submitted = matches!(stage, Stage::Held | Stage::Submitted | Stage::Done(_));
            if submitted && !work.published {
                work.published = true;
                let view = *work.first().view();
                self.last = Some(view);
                self.pair = Some(view);
                self.pair_history = work.first().parameters().history_valid;
                self.numbers.evaluated += 1;
                self.version += 1;
                fresh = true;
                let parameters = work.look.parameters(1.0);
                self.sides.follow(&self.studio, &view, &parameters, true)?;
            }
            let Stage::Done(times) = stage else { if stage == Stage::Held { continue } else { break } };
            let Work { jobs, .. } = work;
            // The last one has run, so the first has: its times are those of the network as it is set.
            let times = if jobs.len() == 1 {
                times
            } else {
                match neural.advance(&self.studio, &mut jobs[0], &mut self.pace)? {
                    Stage::Done(times) => times,
                    _ => times,
                }
            };
            self.numbers.times = Some(times);
            self.numbers.timed += 1;
            self.numbers.duration = Some(work.first().begun().elapsed());
            self.linear.finished(&self.studio.device, neural, work.first().parameters())?;
            if let Loading::Ready(loaded) = &self.loading {
                self.record.finished(neural, &self.studio, loaded, work.first())?;
            }
            self.job = None;
        }
        // A frame from where the camera no longer is would be minutes late on a slow device.
        if self.is_slow() && self.job.as_ref().is_some_and(|work| work.first().view().camera != self.camera) {
            self.cancel();
        }
        Ok(fresh)
    }

    /// Whether a slow device should wait with the next frame because the camera is being moved.
    fn rests(flown: Instant, numbers: &Numbers) -> bool {
        numbers.duration.is_some_and(|duration| duration > SLOW) && flown.elapsed() < REST
    }

    /// Makes what the network needs for the present size when it is first wanted.
    fn prepare(&mut self, settings: &mut Settings) -> Result<()> {
        self.poll_next_model()?;
        if let (Loading::Idle(source), true) = (&self.loading, settings.network) {
            self.loading = Loading::start(&self.studio.device, source.clone(), None, self.wish);
        }
        if self.loading.poll()
            && let Loading::Failed(reason) = &self.loading
        {
            settings.network = false;
            anyhow::bail!(Refused(format!("the network cannot be used: {reason}")));
        }
        if let (Loading::Failed(reason), true) = (&self.loading, settings.network) {
            settings.network = false;
            anyhow::bail!(Refused(format!("the network cannot be used: {reason}")));
        }
        if !settings.network && self.job.as_ref().is_some_and(|work| !work.cancelled) {
            self.cancel();
        }
        let Loading::Ready(loaded) = &self.loading else { return Ok(()) };
        if !settings.network || self.neural.is_some() {
            return Ok(());
        }
        let step_cost = self.studio.device.caps().is_cpu.then_some(CPU_STEP);
        match Neural::new(&self.studio, &loaded.kernels, &loaded.weights, &self.geometry, step_cost) {
            Ok(mut neural) => {
                neural.ask_replay(&self.studio, self.replay, &loaded.digest)?;
                self.neural = Some(neural);
                self.pair = None;
                self.generation += 1;
                Ok(())
            }
            Err(error) => {
                settings.network = false;
                if error.downcast_ref::<gpu::Error>().is_some_and(gpu::Error::is_device_lost) {
                    return Err(error);
                }
                anyhow::bail!(Refused(format!("the network cannot run at {}: {error:#}", self.geometry.valid)))
            }
        }
    }

    /// Moves towards the sides that are chosen; what cannot be is refused, and the choice goes back.
    fn update_sides(&mut self, settings: &mut Settings) -> Result<()> {
        let main = match (&self.neural, &self.loading) {
            (Some(neural), Loading::Ready(loaded)) => Some((neural, loaded)),
            _ => None,
        };
        let step_cost = self.studio.device.caps().is_cpu.then_some(CPU_STEP);
        let base = Base { studio: &self.studio, main, geometry: &self.geometry, step_cost };
        match self.sides.update(&settings.sides, &base) {
            Ok(None) => Ok(()),
            Ok(Some(changed)) => {
                self.generation += 1;
                self.live.forget();
                if changed.networks {
                    // A frame in work is one of the former sides; the pictures of new networks are not there yet.
                    self.drop_work()?;
                    if !self.sides.lanes().is_empty() {
                        self.pair = None;
                    }
                }
                if let (Some(view), true) = (self.last, self.sides.reference().is_some()) {
                    self.sides.follow(&self.studio, &view, &settings.look.parameters(1.0), true)?;
                }
                Ok(())
            }
            Err(error) if error.downcast_ref::<gpu::Error>().is_some_and(gpu::Error::is_device_lost) => Err(error),
            Err(error) => {
                settings.sides = self.sides.shown().clone();
                anyhow::bail!(Refused(format!("{error:#}")))
            }
        }
    }

    /// Ends the frame in work, waiting for the slice of it that is on the device; one whose first network is still being
    /// computed goes on with the new ones.
    fn drop_work(&mut self) -> Result<()> {
        if let Some(work) = &mut self.job
            && let [job] = &mut work.jobs[..]
            && !work.published
        {
            job.hold(!self.sides.lanes().is_empty());
            return Ok(());
        }
        if let Some(work) = self.job.take() {
            work.current().wait(&self.studio, PATIENCE)?;
        }
        Ok(())
    }

    /// Keeps the buffers that a view or the inspector shows, and lets go of them when nothing does.
    fn keep_buffers(&mut self, settings: &mut Settings) -> Result<()> {
        let Some(neural) = &mut self.neural else { return Ok(()) };
        let view = settings.compare.mode == CompareMode::View;
        let viewed = self.sides.viewed();
        let mut changed = false;
        let mut keep = |neural: &mut Neural, place: Option<usize>| {
            let wanted = settings.inspector || (view && place == viewed);
            changed |= wanted != neural.keeps();
            neural.keep(&self.studio, wanted)
        };
        let mut result = keep(neural, None);
        for (place, lane) in self.sides.lanes_mut().iter_mut().enumerate() {
            result = result.and_then(|()| keep(&mut lane.neural, Some(place)));
        }
        self.generation += u64::from(changed);
        result.or_else(|error| {
            if error.downcast_ref::<gpu::Error>().is_some_and(gpu::Error::is_device_lost) {
                return Err(error);
            }
            settings.inspector = false;
            if view {
                settings.compare.mode = CompareMode::Side;
            }
            anyhow::bail!(Refused(format!("the buffers of a frame cannot be kept: {error:#}")))
        })
    }

    fn cancel(&mut self) {
        if let Some(work) = &mut self.job
            && !work.published
        {
            work.cancelled = true;
        }
    }

    /// Whether the finished pair is what should be seen, rather than the live scene.
    fn shows_pair(&self, settings: &Settings) -> bool {
        let Some(pair) = &self.pair else { return false };
        let left = self.is_slow() && pair.camera != self.camera && !settings.path;
        settings.network && self.neural.is_some() && !left
    }

    /// What the next drawn frame shows.
    pub fn picture(&self, settings: &Settings) -> Picture {
        if self.shows_pair(settings) {
            Picture::Pair
        } else if !settings.network && self.neural.is_some() && self.job.is_none() {
            Picture::Bypass
        } else {
            Picture::Live
        }
    }

    /// The pictures to show.
    pub fn shown(&self, picture: Picture) -> Shown<'_> {
        let live = picture == Picture::Live;
        let extent = if live { self.live.geometry().valid } else { self.geometry.valid };
        let original = match (&self.neural, picture) {
            (Some(neural), Picture::Pair | Picture::Bypass) => neural.display_input(),
            _ => self.live.plain().display(),
        };
        Shown {
            sides: [0, 1].map(|place| self.side_sources(&self.sides.shown()[place], picture)),
            original,
            extent,
            generation: 16 * self.generation + 3 * u64::from(self.live.divisor() - 1) + picture as u64,
            version: self.version,
            sources: self.sources(picture),
            pick: None,
            live_pixels: None,
        }
    }

    /// By how much the pictures shown are smaller in each direction than a frame.
    pub fn divisor(&self, picture: Picture) -> u32 {
        if picture == Picture::Live { self.live.divisor() } else { 1 }
    }

    /// Whether drawing the scene takes so long that it is felt.
    pub fn is_costly(&self) -> bool {
        self.live.is_costly()
    }

    /// Hears how many seconds of the device a pixel of the live picture took.
    pub fn hear_live(&mut self, cost: f64) {
        self.live.measured(cost);
    }

    /// The picture of a side, and what it was made of.
    fn side_sources(&self, side: &Side, picture: Picture) -> SideSources<'_> {
        let extent = self.geometry.valid;
        if let (Side::Reference(_), Some(reference)) = (side, self.sides.reference()) {
            let color = Some(reference.gbuffer().color());
            return SideSources {
                picture: reference.display(),
                extent,
                color,
                proxy: None,
                published: None,
                with: None,
            };
        }
        let Some(main) = self.neural.as_ref().filter(|_| picture != Picture::Live) else {
            let color = Some(self.live.plain().gbuffer().color());
            return SideSources {
                picture: self.live.plain().display(),
                extent: self.live.geometry().valid,
                color,
                proxy: None,
                published: None,
                with: None,
            };
        };
        let ahead = picture == Picture::Pair && self.job.as_ref().is_some_and(|work| !work.published);
        let lane = self.sides.lane_of(side).filter(|_| picture == Picture::Pair);
        let neural = lane.map_or(main, |place| &self.sides.lanes()[place].neural);
        // The kept buffers are those of the picture; the frame's own may be those of the next one already.
        let kept = neural.snapshot().filter(|_| picture == Picture::Pair);
        let color = kept.map(|kept| kept.color()).or((!ahead).then(|| neural.gbuffer().color()));
        if *side == Side::Off || picture == Picture::Bypass {
            return SideSources {
                picture: main.display_input(),
                extent,
                color,
                proxy: None,
                published: None,
                with: None,
            };
        }
        SideSources {
            picture: neural.display_neural(),
            extent: neural.frame().geometry().valid,
            color,
            proxy: kept.map(|kept| kept.proxy()),
            published: kept.map(|kept| kept.published()),
            with: kept.and_then(|kept| kept.parameters().copied()),
        }
    }

    /// The buffers behind the pictures, for the inspector and the views: of the right side's network, else of the left
    /// one's, else of the network as it is set.
    fn sources(&self, picture: Picture) -> Sources<'_> {
        let neural = self.neural.as_ref().filter(|_| picture != Picture::Live).map(|main| {
            let lane = self.sides.viewed().filter(|_| picture == Picture::Pair);
            lane.map_or(main, |place| &self.sides.lanes()[place].neural)
        });
        let pair = neural.filter(|_| picture == Picture::Pair);
        if let Some((neural, kept)) = pair.and_then(|neural| Some((neural, neural.snapshot()?))) {
            return Sources {
                geometry: *neural.frame().geometry(),
                color: kept.color(),
                depth: kept.depth(),
                motion: kept.motion(),
                proxy: Some(kept.proxy()),
                features: Some(kept.features()),
                head: Some(kept.head()),
                with: kept.parameters().copied(),
                ahead: false,
            };
        }
        let buffers = neural.map_or(self.live.plain().gbuffer(), Neural::gbuffer);
        Sources {
            geometry: neural.map_or(*self.live.geometry(), |neural| *neural.frame().geometry()),
            color: buffers.color(),
            depth: buffers.depth(),
            motion: buffers.motion(),
            proxy: pair.and_then(|neural| neural.frame().proxy()),
            features: None,
            head: None,
            with: None,
            ahead: pair.is_some() && self.job.as_ref().is_some_and(|work| !work.published),
        }
    }

    /// Geometry of the frames whose buffers the views show.
    pub fn viewed_geometry(&self) -> Geometry {
        let lane = self.sides.viewed().map(|place| &self.sides.lanes()[place].neural);
        lane.map_or(self.geometry, |neural| *neural.frame().geometry())
    }

    /// Whether the pictures of both sides are of what they are called: otherwise one stands in for the other.
    pub fn differs(&self, picture: Picture) -> bool {
        let pair = picture == Picture::Pair;
        self.sides.shown().iter().all(|side| pair || !matches!(side, Side::Network(_)))
    }

    /// What the sides show, in words.
    pub fn labels(&self, settings: &Settings, picture: Picture) -> [String; 2] {
        [0, 1].map(|place| {
            let side = &self.sides.shown()[place];
            match side {
                Side::Off => side.label(),
                Side::Reference(_) if self.sides.reference().is_some_and(Reference::is_late) => {
                    "reference of an earlier instant".to_owned()
                }
                Side::Reference(samples) => match self.samples() {
                    Some(Samples { done, total }) if done < total => format!("reference, {done} of {samples} samples"),
                    _ => side.label(),
                },
                Side::Network(_) if !settings.network => "network is off".to_owned(),
                Side::Network(_) if picture == Picture::Live => "without network, computing".to_owned(),
                Side::Network(_) => side.label(),
            }
        })
    }

    /// The buffers of a picture that are measured.
    pub fn measured(&self, picture: Picture) -> measure::Inputs<'_> {
        let shows = self.neural.as_ref().filter(|_| picture != Picture::Live);
        let buffers = shows.map_or(self.live.plain().gbuffer(), Neural::gbuffer);
        let view = match picture {
            Picture::Pair => self.pair,
            Picture::Bypass => self.last,
            Picture::Live => None,
        };
        measure::Inputs {
            input: shows.map_or(self.live.plain().display(), Neural::display_input),
            neural: shows.filter(|_| picture == Picture::Pair).map(Neural::display_neural),
            color: buffers.color(),
            depth: buffers.depth(),
            motion: buffers.motion(),
            size: shows.map_or(self.live.geometry().valid, |_| self.geometry.valid),
            generation: 8 * self.generation + 2 * u64::from(self.live.divisor() - 1) + u64::from(shows.is_some()),
            moved: view.is_some_and(|view| view.camera != view.previous_camera),
            history: picture == Picture::Pair && self.pair_history,
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

    /// Whether a live picture has to be drawn: not where the one that is there will do. `whole`: it has to have a frame's
    /// size.
    ///
    /// # Errors
    /// No memory for a smaller picture.
    pub fn wants_live(&mut self, settings: &Settings, picture: Picture, whole: bool) -> Result<bool> {
        if picture != Picture::Live {
            return Ok(picture == Picture::Bypass);
        }
        // How it is seen does not change it.
        let drawn_with =
            Settings { compare: Compare::default(), sides: side::DEFAULT, inspector: false, ..settings.clone() };
        // Without a network it is no stand-in: it is what is looked at.
        let reduce = settings.network && !whole && self.sides.reference().is_none();
        let slow = self.is_slow() || self.job.is_some() || self.live.is_costly();
        // One that waits for its instant begins with a live picture.
        let keep = slow && !self.sides.reference().is_some_and(Reference::is_late);
        self.live.wants(&self.studio, (self.camera, self.time, drawn_with), reduce, keep)
    }

    /// The view of a live picture; takes the time that has passed when nothing else will.
    ///
    /// # Errors
    /// An error of the device.
    pub fn live_view(&mut self, settings: &Settings, picture: Picture) -> Result<View> {
        let mut view = if settings.network && picture == Picture::Live && self.job.is_some() {
            // Time belongs to the frame in work.
            view_at(settings, self.camera, self.time, self.last, self.number)
        } else {
            next_view(
                &self.studio.scene,
                settings,
                &mut self.camera,
                &mut self.time,
                &mut self.pending,
                self.last,
                self.number,
            )
        };
        self.number = self.number.wrapping_add(1);
        self.version += 1;
        if picture == Picture::Live {
            view.previous_camera = view.camera;
            view.previous_time = view.time;
        }
        // A live picture does not wait for the reference of an earlier one.
        self.sides.follow(&self.studio, &view, &settings.look.parameters(1.0), false)?;
        Ok(view)
    }

    /// Records a live picture.
    ///
    /// # Errors
    /// The scene is broken.
    pub fn record(&self, cmd: &mut CommandBuffer, picture: Picture, view: &View, settings: &Settings) -> Result<()> {
        let parameters = settings.look.parameters(blend_scale(&self.loading));
        match (&self.neural, picture) {
            (Some(neural), Picture::Bypass) => neural.record_bypass(&self.studio, cmd, view, &parameters),
            (_, Picture::Live) => self.live.plain().record(&self.studio, cmd, view, &parameters),
            _ => Ok(()),
        }
    }

    /// A live picture was not recorded after all.
    pub fn skipped(&mut self) {
        self.live.forget();
    }

    /// A recorded live picture was submitted.
    pub fn submitted(&mut self, picture: Picture, view: View) {
        if let (Some(neural), Picture::Bypass) = (&mut self.neural, picture) {
            neural.finish_bypass();
            // The networks beside it see nothing of this frame.
            self.sides.reset();
            self.last = Some(view);
            // The pictures of the frame passes are no pair any more.
            self.pair = None;
        }
    }

    /// Waits a little for a frame that is about to be finished, so that it is not missed by a moment.
    pub fn settle(&self, limit: Duration) {
        if let Some(work) = &self.job {
            // Running out of time is no error here.
            _ = work.current().wait(&self.studio, limit);
        }
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

/// Which pictures a frame of the window shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// The last frame that went through the network, without and with it.
    Pair,
    /// The live scene through the frame passes, without the network; keeps the history primed.
    Bypass,
    /// The live scene alone.
    Live,
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

/// The next frame: takes the pending time and, on the path, the camera.
fn next_view(
    scene: &Scene,
    settings: &Settings,
    camera: &mut Camera,
    time: &mut f64,
    pending: &mut f64,
    last: Option<View>,
    number: u32,
) -> View {
    *time += std::mem::take(pending);
    if settings.path {
        *camera = scene.path.at(*time);
    }
    view_at(settings, *camera, *time, last, number)
}

fn view_at(settings: &Settings, camera: Camera, time: f64, last: Option<View>, number: u32) -> View {
    View {
        camera,
        previous_camera: last.map_or(camera, |view| view.camera),
        time,
        previous_time: last.map_or(time, |view| view.time),
        jitter: halton_jitter(number),
        frame: if settings.look.frozen_seed { FROZEN_SEED } else { number },
        samples: 1,
        effects: Effects {
            shadows: settings.shadows,
            ao: settings.occlusion,
            reflections: settings.reflections,
            jitter: settings.jitter,
        },
    }
}

#[cfg(test)]
mod side_tests;
