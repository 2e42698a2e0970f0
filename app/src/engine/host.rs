//! The network of a frame on the CPU, beside whoever shows the frame: a thread that nobody waits for.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use network::model::Model;
use network::plan::Plan;
use network::reference::{Reference, ReferenceError};

use super::stages;

/// The reference for one size; what it needs of the model is unpacked by the first frame.
pub struct Host {
    plan: Arc<Plan>,
    model: Model,
    reference: Arc<OnceLock<Reference>>,
}

/// What a frame's network gave, and how long it took.
pub struct Finished {
    /// Half bits `[field rows][4]`.
    pub head: Vec<u16>,
    /// Milliseconds of the whole.
    pub network: f64,
    /// And of the stages.
    pub stages: [f64; stages::COUNT],
}

/// A frame's network on its way. Dropped, it ends behind the operation that it is at.
pub struct Running {
    thread: Option<JoinHandle<Result<Option<Finished>>>>,
    done: Arc<AtomicU64>,
    wish: Arc<Wish>,
}

/// What the thread is asked to do behind the operation that it is at.
#[derive(Default)]
struct Wish {
    end: AtomicBool,
    rest: AtomicBool,
}

/// How long it rests before it looks whether it still should.
const REST: Duration = Duration::from_micros(500);

impl Host {
    /// For frames of a plan.
    pub fn new(plan: &Arc<Plan>, model: &Model) -> Self {
        Self { plan: Arc::clone(plan), model: model.clone(), reference: Arc::default() }
    }

    /// Begins with the network of a frame: `[field rows][16]` half bits.
    pub fn start(&self, features: Vec<u16>) -> Running {
        let (done, wish) = (Arc::new(AtomicU64::new(0)), Arc::new(Wish::default()));
        let (counted, asked) = (Arc::clone(&done), Arc::clone(&wish));
        let (plan, model, reference) = (Arc::clone(&self.plan), self.model.clone(), Arc::clone(&self.reference));
        let run = move || {
            if reference.get().is_none() {
                // Of two that arrive at once the first stays.
                _ = reference.set(Reference::new(&plan, &model)?);
            }
            let reference = reference.get().context("the weights are not unpacked")?;
            Ok(run(reference, &features, &counted, &asked)?)
        };
        Running { thread: Some(std::thread::spawn(run)), done, wish }
    }
}

fn run(
    reference: &Reference,
    features: &[u16],
    done: &AtomicU64,
    wish: &Wish,
) -> Result<Option<Finished>, ReferenceError> {
    let mut times = [0.0; stages::COUNT];
    let mut last = Instant::now();
    let head = reference.run_while(features, |_, op, _| {
        times[stages::of_block(op.block)] += 1e3 * last.elapsed().as_secs_f64();
        done.fetch_add(reference.plan().op_cost(op).macs, Ordering::Relaxed);
        let ends = || wish.end.load(Ordering::Relaxed);
        while wish.rest.load(Ordering::Relaxed) && !ends() {
            std::thread::sleep(REST);
        }
        // A rest is nobody's time.
        last = Instant::now();
        !ends()
    })?;
    let network = times.iter().sum();
    Ok(head.map(|head| Finished { head, network, stages: times }))
}

impl Running {
    /// Multiply-accumulates done so far.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// What it gave, when it is done; never waits.
    ///
    /// # Errors
    /// The model does not fit the plan.
    pub fn poll(&mut self) -> Result<Option<Finished>> {
        if !self.thread.as_ref().is_some_and(JoinHandle::is_finished) {
            return Ok(None);
        }
        let thread = self.thread.take().context("the network on the CPU has ended")?;
        thread.join().unwrap_or_else(|_| Err(anyhow!("the network on the CPU failed")))
    }

    /// Asks it to rest behind the operation that it is at, or to go on.
    pub fn pause(&self, pause: bool) {
        self.wish.rest.store(pause, Ordering::Relaxed);
    }

    /// Lets some time pass for it.
    pub fn rest(&self) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.wish.end.store(true, Ordering::Relaxed);
    }
}
