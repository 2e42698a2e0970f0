//! The network's side: a scene image, the frame passes and the network of one size, computed slice by slice.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use gpu::{Buffer, BufferDesc, BufferUsage, CommandBuffer, MemoryKind, Ticket, Timestamps};
use network::capture::{DType, Tensor};
use network::exec::{Kernels, Network, NetworkOptions, Route, Weights};
use network::frame::{Frame, FrameInputs, Parameters, SourceKind};
use network::geometry::{Extent, Geometry};
use network::plan::Plan;
use network::replay::{Conditions, Ledger, ReplayRoute};
use renderer::{Band, GBuffer, View};

use super::host::{Host, Running};
use super::pace::Pace;
use super::replayed;
use super::retain::{HostTimes, Injection, ReplayFailed, Retain, ms};
use super::snapshot::Snapshot;
use super::stages;
use super::studio::Studio;

/// Timestamps of a slice: start, the ends of scene, preprocessing, network and composition, and those between the stages of
/// the network.
pub(super) const STAMPS: u32 = stages::FIRST_STAMP + stages::COUNT as u32 - 1;

/// A frame that runs shorter than this goes as one submission when a retained route is asked for.
const WHOLE: Duration = Duration::from_millis(250);

/// Most bands that the scene image of a frame is divided into.
const MOST_BANDS: f64 = 16.0;
/// Milliseconds that the first scene image is taken to take on a processor, where nothing is known yet.
const FIRST_SCENE: f64 = 200.0;

/// Everything of one frame size that the network needs; extent lifetime.
pub struct Neural {
    /// Recordings are gone before anything that they refer to.
    pub(super) retain: Retain,
    pub(super) commands: CommandBuffer,
    pub(super) stamps: Arc<Timestamps>,
    /// The end of a held frame, and its times.
    ending: CommandBuffer,
    ending_stamps: Timestamps,
    pub(super) frame: Frame,
    pub(super) network: Network,
    pub(super) gbuffer: Arc<GBuffer>,
    /// Whether the scene image is another one's, who renders it.
    guest: bool,
    /// Milliseconds that the scene image of the last frame took.
    scene_ms: Option<f64>,
    /// How long each step took, where the device is a processor: some take five times as long as their work says.
    took: Vec<Option<Duration>>,
    total_cost: u64,
    /// What computes the network where the device does not.
    host: Option<Host>,
    tap: Option<Tap>,
    snapshot: Option<Snapshot>,
}

/// The two submissions of a frame whose network the device does not compute: what comes before it, and behind it.
const AROUND: usize = 2;

/// Where the features of a frame to be recorded are kept: the network overwrites its own while it runs.
struct Tap {
    features: Buffer,
    /// Whether a frame has been begun since.
    filled: bool,
}

/// GPU milliseconds of the parts of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Times {
    /// Rendering of the scene.
    pub scene: f64,
    /// Features and reprojected history.
    pub preprocess: f64,
    /// The 71 blocks.
    pub network: f64,
    /// The same by stage, in the order of [`stages::NAMES`].
    pub stages: [f64; stages::COUNT],
    /// Composition and display.
    pub composite: f64,
}

/// A frame being computed.
pub struct Job {
    view: View,
    parameters: Parameters,
    next: usize,
    /// Bands of its scene image that are drawn, and all of them once the first is.
    drawn: u32,
    bands: Option<u32>,
    done_cost: u64,
    begun: Instant,
    flight: Option<Flight>,
    /// Its network, where the device does not compute it.
    on_host: Option<Running>,
    times: Times,
    /// Of the whole frame, when it went direct as one submission.
    whole: Option<Conditions>,
    /// Whether the composition waits for [`Neural::compose`].
    held: bool,
    /// The composition of a held frame.
    ending: Option<Ticket>,
    /// Submissions of the network since they were last asked for.
    slices: u64,
}

/// A slice on the device.
struct Flight {
    /// The stages that it has times of.
    stages: Vec<usize>,
    steps: Range<usize>,
    ticket: Ticket,
    cost: u64,
    submitted: Instant,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    /// Slices are missing.
    Working,
    /// Everything but the composition is submitted; it waits for [`Neural::compose`].
    Held,
    /// The last slice is submitted: work submitted from now on sees the finished pictures.
    Submitted,
    /// Everything has run.
    Done(Times),
}

impl Neural {
    /// Buffers and recordings for frames of one size. `step_cost` is the wished largest step, in multiply-accumulates.
    ///
    /// # Errors
    /// The frame does not fit on the device; the message names a size that does.
    pub fn new(
        studio: &Studio,
        kernels: &Arc<Kernels>,
        weights: &Arc<Weights>,
        geometry: &Geometry,
        step_cost: Option<u64>,
    ) -> Result<Self> {
        let options = NetworkOptions { step_cost, ..NetworkOptions::default() };
        Self::with_options(studio, kernels, weights, geometry, options)
    }

    /// [`Neural::new`] with any set-up of the network.
    ///
    /// # Errors
    /// As [`Neural::new`].
    pub fn with_options(
        studio: &Studio,
        kernels: &Arc<Kernels>,
        weights: &Arc<Weights>,
        geometry: &Geometry,
        options: NetworkOptions,
    ) -> Result<Self> {
        let gbuffer = GBuffer::new(&studio.device, geometry.valid.width, geometry.valid.height)?;
        Self::on(studio, kernels, weights, geometry, options, Arc::new(gbuffer), false)
    }

    /// The same on the scene image of another one of this size, which renders it for every frame first.
    ///
    /// # Errors
    /// As for [`Neural::new`].
    pub fn beside(
        studio: &Studio,
        kernels: &Arc<Kernels>,
        weights: &Arc<Weights>,
        step_cost: Option<u64>,
        host: &Self,
    ) -> Result<Self> {
        let options = NetworkOptions { step_cost, ..NetworkOptions::default() };
        Self::on(studio, kernels, weights, host.frame.geometry(), options, Arc::clone(&host.gbuffer), true)
    }

    fn on(
        studio: &Studio,
        kernels: &Arc<Kernels>,
        weights: &Arc<Weights>,
        geometry: &Geometry,
        options: NetworkOptions,
        gbuffer: Arc<GBuffer>,
        guest: bool,
    ) -> Result<Self> {
        let device = &studio.device;
        let plan = Arc::new(Plan::new(geometry));
        let on_host = kernels.route() == Route::Cpu;
        let host = weights.model().filter(|_| on_host).map(|model| Host::new(&plan, model));
        let macs = plan.cost().macs;
        let network = Network::new(device, kernels, weights, plan, options)?;
        let inputs = FrameInputs { color: gbuffer.color(), kind: SourceKind::Scene, motion: Some(gbuffer.motion()) };
        let frame = Frame::new(&studio.passes, geometry, inputs, network.features(), network.head())?;
        let steps = (0..network.steps()).map(|step| network.step_cost(step)).sum();
        let total_cost = if on_host { macs } else { steps };
        Ok(Self {
            retain: Retain::default(),
            commands: CommandBuffer::new(device, "neural frame")?,
            stamps: Arc::new(Timestamps::new(device, "neural frame", STAMPS)?),
            ending: CommandBuffer::new(device, "end of a neural frame")?,
            ending_stamps: Timestamps::new(device, "end of a neural frame", 2)?,
            frame,
            network,
            gbuffer,
            guest,
            scene_ms: None,
            took: Vec::new(),
            total_cost,
            host,
            tap: None,
            snapshot: None,
        })
    }

    /// Bytes of device memory that frames of this size take, without the weights.
    pub fn bytes(geometry: &Geometry) -> u64 {
        let plan = Plan::new(geometry);
        Network::predict(&plan, false).arena
            + GBuffer::bytes(geometry.valid.width, geometry.valid.height)
            + Frame::bytes(geometry, SourceKind::Scene, true)
    }

    /// The frame passes: clock and pictures.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The scene image that the frame passes read.
    pub fn gbuffer(&self) -> &GBuffer {
        &self.gbuffer
    }

    /// The display path of the last finished frame without the network.
    pub fn display_input(&self) -> &Buffer {
        self.frame.display_input()
    }

    /// The display path of the last finished frame with the network.
    pub fn display_neural(&self) -> &Buffer {
        self.frame.display_neural()
    }

    /// Bytes of the activations, and of the weights.
    pub fn memory(&self) -> network::exec::Memory {
        self.network.memory()
    }

    /// The next frame starts without history.
    pub fn reset(&mut self) {
        self.frame.reset();
    }

    /// Begins a frame. Seed and history are the clock's; `temporal` says whether the history may be used.
    pub fn begin(&self, view: View, parameters: Parameters, temporal: bool) -> Job {
        let clock = self.frame.clock();
        let history_valid = clock.history_valid(temporal);
        Job {
            view,
            parameters: Parameters { seed: clock.counter(), history_valid, ..parameters },
            next: 0,
            drawn: 0,
            bands: None,
            done_cost: 0,
            begun: Instant::now(),
            flight: None,
            on_host: None,
            times: Times::default(),
            whole: None,
            held: false,
            ending: None,
            slices: 0,
        }
    }

    /// Moves a frame on without waiting: submits the next slice when the last one has run.
    ///
    /// # Errors
    /// The scene is broken, or an error of the device.
    pub fn advance(&mut self, studio: &Studio, job: &mut Job, pace: &mut Pace) -> Result<Stage> {
        if let Some(ending) = job.ending {
            if !studio.device.is_done(ending)? {
                return Ok(Stage::Submitted);
            }
            self.landed(studio, job, pace)?;
            if let Some(stamps) = self.ending_stamps.read()?
                && let [start, end] = stamps[..]
            {
                job.times.composite = end - start;
            }
            return Ok(Stage::Done(job.times));
        }
        if let Some(flight) = &job.flight {
            if !studio.device.is_done(flight.ticket)? {
                return Ok(self.stage(job));
            }
            self.landed(studio, job, pace)?;
        }
        if self.compute_on_host(job)? {
            return Ok(Stage::Working);
        }
        if job.next == self.end() {
            return Ok(if job.held { Stage::Held } else { Stage::Done(job.times) });
        }
        self.submit(studio, job, pace)?;
        Ok(self.stage(job))
    }

    /// Computes a whole frame and waits for it.
    ///
    /// # Errors
    /// The scene is broken, or an error of the device.
    pub fn finish(&mut self, studio: &Studio, mut job: Job, pace: &mut Pace) -> Result<Times> {
        loop {
            if let Stage::Done(times) = self.advance(studio, &mut job, pace)? {
                return Ok(times);
            }
            job.wait(studio, Duration::from_secs(600))?;
            job.on_host.as_ref().inspect(|running| running.rest());
        }
    }

    /// What `next` of a frame is when everything is submitted.
    fn end(&self) -> usize {
        if self.host.is_some() { AROUND } else { self.network.steps() }
    }

    /// Where the device does not compute the network: begins with it when the features are there, and brings its head to the
    /// device. True while it is being computed.
    fn compute_on_host(&self, job: &mut Job) -> Result<bool> {
        let (Some(host), 1) = (&self.host, job.next) else { return Ok(false) };
        let plan = self.network.plan();
        let Some(running) = &mut job.on_host else {
            let features = self.network.read_tensor(plan.features)?;
            let halves = features.as_chunks().0.iter().map(|&pair| u16::from_le_bytes(pair)).collect();
            job.on_host = Some(host.start(halves));
            return Ok(true);
        };
        let Some(finished) = running.poll()? else { return Ok(true) };
        let bytes: Vec<u8> = finished.head.iter().flat_map(|half| half.to_le_bytes()).collect();
        self.network.write_tensor(plan.head, &bytes)?;
        job.times.network += finished.network;
        job.times.stages = finished.stages;
        job.done_cost = self.total_cost;
        job.on_host = None;
        // A held frame is composed with the others.
        job.next += usize::from(job.held);
        Ok(false)
    }

    /// Records a frame without the network; its proxy becomes the next history. No frame may be in work.
    ///
    /// # Errors
    /// The scene is broken.
    pub fn record_bypass(
        &self,
        studio: &Studio,
        cmd: &mut CommandBuffer,
        view: &View,
        parameters: &Parameters,
    ) -> Result<()> {
        studio.renderer.record(cmd, &self.gbuffer, &studio.scene, view)?;
        self.frame.record_bypass(cmd, parameters);
        Ok(())
    }

    /// A recorded bypass was submitted.
    pub fn finish_bypass(&mut self) {
        self.frame.finish_frame();
    }

    fn stage(&self, job: &Job) -> Stage {
        match job.next == self.end() {
            true if job.held && job.ending.is_none() => Stage::Held,
            true => Stage::Submitted,
            false => Stage::Working,
        }
    }

    /// Submits the composition of a held frame. Work submitted from now on sees the finished pictures.
    ///
    /// # Errors
    /// An error of the device.
    pub fn compose(&mut self, studio: &Studio, job: &mut Job) -> Result<()> {
        let cmd = &mut self.ending;
        cmd.begin()?;
        cmd.reset_timestamps(&self.ending_stamps);
        cmd.write_timestamp(&self.ending_stamps, 0);
        self.frame.composite(cmd, self.frame.clock().parity());
        if let Some(snapshot) = &mut self.snapshot {
            snapshot.record_end(cmd, &self.gbuffer, &self.frame, self.network.head(), &job.parameters);
        }
        cmd.write_timestamp(&self.ending_stamps, 1);
        cmd.end()?;
        job.ending = Some(studio.device.submit(&[&self.ending], &[], &[])?);
        self.frame.finish_frame();
        Ok(())
    }

    /// Keeps the buffers of every finished frame, or stops keeping them.
    ///
    /// # Errors
    /// No memory for them.
    pub fn keep(&mut self, studio: &Studio, keep: bool) -> Result<()> {
        if keep != self.snapshot.is_some() {
            let new = || Snapshot::new(&studio.device, self.frame.geometry());
            self.snapshot = keep.then(new).transpose()?;
        }
        Ok(())
    }

    /// Whether the buffers of finished frames are kept.
    pub fn keeps(&self) -> bool {
        self.snapshot.is_some()
    }

    /// The buffers of the last finished frame, where they are kept.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref().filter(|snapshot| snapshot.parameters().is_some())
    }

    /// Whether a frame goes as one submission, however long a slice is, because a retained route is asked for.
    fn is_one_submission(&self, pace: &Pace) -> bool {
        self.retain.controller.requested().is_retained() && pace.predicts(self.total_cost) <= WHOLE
    }

    /// Into how many bands the scene image of a frame is divided: so many that each is about as long as a slice.
    fn bands(&self, studio: &Studio, pace: &Pace) -> u32 {
        if self.guest || self.is_one_submission(pace) {
            return 1;
        }
        let ms = self.scene_ms.unwrap_or(if studio.device.caps().is_cpu { FIRST_SCENE } else { 0.0 });
        (ms / (1000.0 * pace.target().as_secs_f64())).ceil().clamp(1.0, MOST_BANDS) as u32
    }

    /// Submits a band of the scene image and nothing else.
    fn submit_band(&mut self, studio: &Studio, job: &mut Job, band: Band) -> Result<()> {
        let cmd = &mut self.commands;
        cmd.begin()?;
        cmd.reset_timestamps(&self.stamps);
        cmd.write_timestamp(&self.stamps, 0);
        studio.renderer.record_band(cmd, &self.gbuffer, &studio.scene, &job.view, band)?;
        (1..stages::FIRST_STAMP).for_each(|stamp| cmd.write_timestamp(&self.stamps, stamp));
        cmd.end()?;
        let ticket = studio.device.submit(&[&self.commands], &[], &[])?;
        job.flight = Some(Flight { stages: Vec::new(), steps: 0..0, ticket, cost: 0, submitted: Instant::now() });
        job.drawn += 1;
        Ok(())
    }

    fn submit(&mut self, studio: &Studio, job: &mut Job, pace: &Pace) -> Result<()> {
        let bands = *job.bands.get_or_insert_with(|| self.bands(studio, pace));
        if job.next == 0 && bands > 1 && job.drawn < bands {
            let band = Band { number: job.drawn, of: bands };
            return self.submit_band(studio, job, band);
        }
        let steps = self.network.steps();
        let mut slice = pace.slice(job.next, steps, |step| self.work_of(step, pace));
        if job.next == 0 && self.is_one_submission(pace) {
            slice.end = steps;
        }
        let on_host = self.host.is_some();
        if on_host {
            slice = 0..0;
        }
        let (first, last) = (job.next == 0, !job.held && if on_host { job.next == 1 } else { slice.end == steps });
        let whole = !on_host && bands == 1 && slice == (0..steps);
        // Nothing but the frame: nothing is copied in its midst, and its end does not wait for others.
        let plain = self.tap.is_none() && self.snapshot.is_none() && !job.held;
        let conditions = Conditions {
            boundary_capture: !plain,
            time_sliced: !whole,
            validation: studio.device.instance().validates(),
            ..Conditions::default()
        };
        let decision = self.retain.decide(&conditions);
        job.whole = (whole && !decision.selected.is_retained()).then_some(conditions);
        let cost = slice.clone().map(|step| self.network.step_cost(step)).sum();
        let parity = self.frame.clock().parity();
        let mut ledger = Ledger::default();

        let begun = Instant::now();
        let cmd = &mut self.commands;
        cmd.begin()?;
        cmd.reset_timestamps(&self.stamps);
        cmd.write_timestamp(&self.stamps, 0);
        let mut scene = Duration::ZERO;
        if first && !self.guest && bands == 1 {
            let drawn = Instant::now();
            studio.renderer.record(cmd, &self.gbuffer, &studio.scene, &job.view)?;
            scene = drawn.elapsed();
            ledger.external("scene", cmd.dispatches());
        }
        cmd.write_timestamp(&self.stamps, 1);
        if first {
            self.frame.record_parameters(cmd, &job.parameters);
        }
        if self.retain.injected(Injection::Foreign) {
            self.frame.composite(cmd, parity);
        }
        let recording = self.retain.recordings.as_ref().map(|recordings| recordings.recording(parity));
        match (decision.selected, recording) {
            (ReplayRoute::Secondary, Some(recording)) => cmd.execute(recording),
            (route, Some(_)) if route.is_submitted() => {}
            _ if whole && plain => {
                replayed::record(&self.frame, &self.network, &self.stamps, cmd, parity, &mut ledger);
            }
            _ => {
                if first {
                    self.frame.preprocess(cmd, parity);
                }
                if let (true, Some(tap)) = (first, &mut self.tap) {
                    let features = self.network.features();
                    cmd.compute_to_transfer_barrier();
                    cmd.copy_buffer(features.buffer, features.offset, &tap.features, 0, features.range);
                    cmd.transfer_to_compute_barrier();
                    tap.filled = true;
                }
                if let (true, Some(snapshot)) = (first, &mut self.snapshot) {
                    snapshot.record_begin(cmd, self.network.features());
                }
                cmd.write_timestamp(&self.stamps, 2);
                stages::record(&self.network, cmd, slice.clone(), &self.stamps);
                cmd.write_timestamp(&self.stamps, 3);
                if last {
                    self.frame.composite(cmd, parity);
                    if let Some(snapshot) = &mut self.snapshot {
                        snapshot.record_end(cmd, &self.gbuffer, &self.frame, self.network.head(), &job.parameters);
                    }
                }
                cmd.write_timestamp(&self.stamps, 4);
            }
        }
        let ended = cmd.end();
        let record = ms(begun.elapsed() - scene);
        if !decision.selected.is_retained() {
            ended?;
            let dispatches = self.commands.dispatches();
            if job.whole.is_some() && plain {
                self.count(&ledger, dispatches);
            }
            let at = Instant::now();
            let ticket = studio.device.submit(&[&self.commands], &[], &[])?;
            let host = HostTimes { record, submit: ms(at.elapsed()) };
            self.retain.submitted(&decision, 1, dispatches, host);
            self.flown(job, ticket, cost, if on_host { job.next + 1 } else { slice.end });
            return Ok(());
        }
        let submitted = ended
            .map_err(anyhow::Error::from)
            .and_then(|()| self.submit_replay(studio, &decision, parity, record, ledger));
        match submitted {
            Ok(ticket) => {
                self.flown(job, ticket, cost, if on_host { job.next + 1 } else { slice.end });
                Ok(())
            }
            Err(error) => {
                self.retain.controller.replay_failed(&format!("{error:#}"));
                if error.downcast_ref::<gpu::Error>().is_some_and(gpu::Error::is_device_lost) {
                    return Err(error);
                }
                Err(ReplayFailed(format!("{error:#}")).into())
            }
        }
    }

    /// A slice is on the device.
    fn flown(&mut self, job: &mut Job, ticket: Ticket, cost: u64, end: usize) {
        let steps = if self.host.is_some() { 0..0 } else { job.next..end };
        let stages = stages::of_steps(&self.network, steps.clone());
        job.flight = Some(Flight { stages, steps, ticket, cost, submitted: Instant::now() });
        job.next = end;
        job.slices += u64::from(self.host.is_none());
        if end == self.end() && !job.held {
            self.frame.finish_frame();
        }
    }

    /// Takes the times of the slice that has run.
    fn landed(&mut self, studio: &Studio, job: &mut Job, pace: &mut Pace) -> Result<()> {
        let Some(flight) = job.flight.take() else { return Ok(()) };
        job.done_cost += flight.cost;
        let is_cpu = studio.device.caps().is_cpu;
        let mut took = flight.submitted.elapsed();
        if let Some(stamps) = self.stamps.read()?
            && let [start, scene, preprocess, network, composite, inner @ ..] = &stamps[..]
        {
            job.times.scene += scene - start;
            job.times.preprocess += preprocess - scene;
            job.times.network += network - preprocess;
            job.times.composite += composite - network;
            stages::add(&mut job.times.stages, &flight.stages, *preprocess, inner, *network);
            // lavapipe takes the stamps of a submission at its end where a window was drawn before.
            if !is_cpu {
                took = Duration::from_secs_f64(((network - preprocess) / 1000.0).max(1e-6));
            }
        }
        if self.host.is_none() {
            pace.finished(flight.cost, took);
        }
        if is_cpu {
            self.learn(job, &flight, took);
        }
        if job.next > 0 && job.times.scene > 0.0 && (!is_cpu || job.bands == Some(1)) {
            self.scene_ms = Some(job.times.scene);
        }
        match job.whole.take() {
            Some(conditions) if job.next == self.network.steps() => self.prepare_replay(studio, &conditions),
            _ => Ok(()),
        }
    }

    /// Remembers how long a band of the scene image, or the steps of a slice, took on a processor.
    fn learn(&mut self, job: &Job, flight: &Flight, took: Duration) {
        if let (0, Some(bands)) = (job.next, job.bands) {
            // The longest one counts.
            let before = if job.drawn > 1 { self.scene_ms.unwrap_or(0.0) } else { 0.0 };
            self.scene_ms = Some(before.max(ms(took) * f64::from(bands)));
        }
        self.took.resize(self.network.steps(), None);
        for step in flight.steps.clone() {
            let share = self.network.step_cost(step) as f64 / flight.cost.max(1) as f64;
            let now = took.mul_f64(share.min(1.0));
            self.took[step] = Some(self.took[step].map_or(now, |before| (before + now) / 2));
        }
    }

    /// Multiply-accumulates of a step, or those of a usual one that takes as long.
    fn work_of(&self, step: usize, pace: &Pace) -> u64 {
        let known = self.took.get(step).copied().flatten();
        known.map_or_else(|| self.network.step_cost(step), |took| pace.work_of(took))
    }

    /// The next frame that is begun keeps what [`Neural::recorded`] gives.
    ///
    /// # Errors
    /// No memory for another copy of the features.
    pub fn keep_next(&mut self, studio: &Studio) -> Result<()> {
        let desc = BufferDesc {
            name: "recorded features",
            size: self.network.features().range,
            usage: BufferUsage::STORAGE_BUFFER,
            memory: MemoryKind::Device,
        };
        self.tap = Some(Tap { features: Buffer::new(&studio.device, &desc)?, filled: false });
        Ok(())
    }

    /// No frame is kept any more.
    pub fn keep_none(&mut self) {
        self.tap = None;
    }

    /// Whether the frame that has just finished was kept.
    pub fn has_kept(&self) -> bool {
        self.tap.as_ref().is_some_and(|tap| tap.filled)
    }

    /// Reads everything of a kept frame back, before the next one is begun. `None` if none was kept.
    ///
    /// # Errors
    /// An error of the device.
    pub fn recorded(&mut self, studio: &Studio, job: &Job) -> Result<Option<Vec<Tensor>>> {
        if !self.has_kept() {
            return Ok(None);
        }
        let Some(tap) = self.tap.take() else { return Ok(None) };
        let read = |buffer: &Buffer| studio.device.download(buffer, 0, buffer.size());
        let plan = self.network.plan();
        let Geometry { valid, field, .. } = plan.geometry;
        let tensor = |name: &str, dtype, extent: Extent, channels, bytes| {
            Tensor::new(name, dtype, [extent.height as usize, extent.width as usize, channels], bytes)
        };
        let half =
            |name: &str, buffer: &Buffer| Ok::<_, anyhow::Error>(tensor(name, DType::F16, valid, 4, read(buffer)?));
        let frame = &self.frame;
        let mut all = vec![
            half("color", self.gbuffer.color())?,
            tensor("depth", DType::F32, valid, 1, read(self.gbuffer.depth())?),
            tensor("motion", DType::F16, valid, 2, read(self.gbuffer.motion())?),
        ];
        if let Some(proxy) = frame.proxy() {
            all.push(half("proxy", proxy)?);
        }
        // The clock has moved on: what the frame wrote is what the next one reads.
        if job.parameters.history_valid {
            all.push(half("previous-history", frame.next_history())?);
        }
        all.push(tensor("features", DType::F16, field, 16, read(&tap.features)?));
        all.push(tensor("head", DType::F16, field, 4, self.network.read_tensor(plan.head)?));
        all.push(half("next-history", frame.history())?);
        all.push(half("published", frame.published())?);
        all.push(tensor("display-input", DType::U8, valid, 4, read(frame.display_input())?));
        all.push(tensor("display", DType::U8, valid, 4, read(frame.display_neural())?));
        Ok(Some(all))
    }

    /// Share of the work that has run, 0 to 1.
    pub fn progress(&self, job: &Job) -> f32 {
        let done = job.done_cost + job.on_host.as_ref().map_or(0, Running::done);
        (done as f64 / self.total_cost.max(1) as f64).min(1.0) as f32
    }

    /// Multiply-accumulates of a frame.
    pub fn cost(&self) -> u64 {
        self.total_cost
    }
}

impl Job {
    /// What the frame passes were given.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// What the frame shows.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The same with noise of its own choice instead of the clock's.
    pub fn with_seed(mut self, seed: u32) -> Self {
        self.parameters.seed = seed;
        self
    }

    /// Whether its composition is left to [`Neural::compose`], so that several frames can appear at once. No change comes
    /// too late before the last slice is submitted.
    pub fn hold(&mut self, hold: bool) {
        self.held = hold;
    }

    /// Lets its network rest or go on, where the device does not compute it.
    pub fn pause(&self, pause: bool) {
        self.on_host.as_ref().inspect(|running| running.pause(pause));
    }

    /// Submissions with steps of the network since the last call.
    pub fn take_slices(&mut self) -> u64 {
        std::mem::take(&mut self.slices)
    }

    /// When it was begun.
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// Whether nothing of it is on the device.
    ///
    /// # Errors
    /// An error of the device.
    pub fn has_landed(&self, studio: &Studio) -> Result<bool> {
        match self.last_ticket() {
            Some(ticket) => Ok(studio.device.is_done(ticket)?),
            None => Ok(true),
        }
    }

    /// Waits for the slice on the device.
    ///
    /// # Errors
    /// It takes longer than `limit`, or an error of the device.
    pub fn wait(&self, studio: &Studio, limit: Duration) -> Result<()> {
        match self.last_ticket() {
            Some(ticket) => Ok(studio.device.wait(ticket, limit)?),
            None => Ok(()),
        }
    }

    fn last_ticket(&self) -> Option<Ticket> {
        self.ending.or(self.flight.as_ref().map(|flight| flight.ticket))
    }
}
