//! The frame in work: begun, moved on slice by slice, shown, given up.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::view::next_view;
use super::{FROZEN_SEED, Numbers, Refused, SLICE, SLOW, Session, blend_scale};
use crate::engine::neural::{Job, Stage};
use crate::engine::pace::Pace;
use crate::engine::retain::ReplayFailed;
use crate::window::loading::Loading;
use crate::window::look::Look;
use crate::window::settings::Settings;

/// Wanted duration of a slice of the network while a person is at the controls.
const SHORT_SLICE: Duration = Duration::from_millis(8);
/// How long the camera rests before a frame is begun from its new place, on a slow device.
const REST: Duration = Duration::from_millis(400);
/// Longest wait for a slice of a frame that is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A frame in work: one job of the network as it is set, and one of every network beside it, one after the other.
pub(super) struct Work {
    jobs: Vec<Job>,
    /// How it was begun; the same for all jobs.
    look: Look,
    temporal: bool,
    /// It is not wanted any more; only its slice on the device is waited for.
    pub(super) cancelled: bool,
    pub(super) published: bool,
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
    /// Runs every frame as one submission, however long it takes.
    pub fn unslice(&mut self) {
        self.pace = Pace::unsliced();
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
            if (self.gives_way || self.held_back) && work.current().has_landed(&self.studio)? {
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
    pub(super) fn rests(flown: Instant, numbers: &Numbers) -> bool {
        numbers.duration.is_some_and(|duration| duration > SLOW) && flown.elapsed() < REST
    }

    pub(super) fn cancel(&mut self) {
        if let Some(work) = &mut self.job
            && !work.published
        {
            work.cancelled = true;
        }
    }

    /// Ends the frame in work, waiting for the slice of it that is on the device; one whose first network is still being
    /// computed goes on with the new ones.
    pub(super) fn drop_work(&mut self) -> Result<()> {
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

    /// Waits a little for a frame that is about to be finished, so that it is not missed by a moment.
    pub fn settle(&self, limit: Duration) {
        if let Some(work) = &self.job {
            // Running out of time is no error here.
            _ = work.current().wait(&self.studio, limit);
        }
    }

    /// Submits no slice until this is taken back: the window is about to be drawn, and on the device it would come behind it.
    pub fn hold_back(&mut self, hold: bool) {
        self.held_back = hold;
    }

    /// Whether a person is at the controls, so that slices are short; and whether they wait for an answer, to which a slow
    /// frame gives way altogether.
    pub fn attend(&mut self, attentive: bool, answering: bool) {
        self.attentive = attentive;
        self.pace.set_target(if attentive { SHORT_SLICE } else { SLICE });
        self.gives_way = answering && self.is_slow();
        if let Some(work) = &self.job {
            work.current().pause(self.gives_way);
        }
    }
}
