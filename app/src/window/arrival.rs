//! A scene that is loaded and put on the device beside the window.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow, bail};
use gpu::Device;
use network::frame::Passes;

use super::leave;
use crate::cli::scene::SceneArgs;
use crate::engine::studio::Studio;

/// A scene on its way. Dropping it ends the loading.
pub struct Arrival {
    thread: Option<JoinHandle<Result<Studio>>>,
    scene: SceneArgs,
    state: Arc<State>,
}

/// What the loading thread and the window share.
#[derive(Default)]
struct State {
    done: AtomicU32,
    total: AtomicU32,
    unwanted: AtomicBool,
}

impl Arrival {
    /// Starts loading, with the frame passes that are there already.
    pub fn start(device: &Arc<Device>, passes: &Arc<Passes>, scene: SceneArgs) -> Self {
        let state = Arc::new(State::default());
        let (shared, device, passes, wanted) =
            (Arc::clone(&state), Arc::clone(device), Arc::clone(passes), scene.clone());
        let load = move || {
            let scene = wanted.load(&|step| {
                shared.done.fetch_max(step.done, Ordering::Relaxed);
                // Putting it on the device is the last step.
                shared.total.store(step.total + 1, Ordering::Relaxed);
                !shared.unwanted.load(Ordering::Relaxed)
            })?;
            if shared.unwanted.load(Ordering::Relaxed) {
                bail!("the scene is not wanted any more");
            }
            Studio::with_passes(&device, scene, passes)
        };
        Self { thread: Some(std::thread::spawn(load)), scene, state }
    }

    /// What is being loaded.
    pub fn scene(&self) -> &SceneArgs {
        &self.scene
    }

    /// Share of the steps done, 0 to 1.
    pub fn progress(&self) -> f32 {
        let total = self.state.total.load(Ordering::Relaxed).max(1);
        self.state.done.load(Ordering::Relaxed) as f32 / total as f32
    }

    /// What was loaded, once, when it is there.
    pub fn poll(&mut self) -> Option<Result<Studio>> {
        if !self.thread.as_ref()?.is_finished() {
            return None;
        }
        let thread = self.thread.take()?;
        Some(thread.join().unwrap_or_else(|_| Err(anyhow!("loading the scene failed"))))
    }
}

impl Drop for Arrival {
    fn drop(&mut self) {
        self.state.unwanted.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            leave::join(thread);
        }
    }
}
