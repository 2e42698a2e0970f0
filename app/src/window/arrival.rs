//! A scene that is loaded from a file beside the window.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use renderer::Scene;

use crate::cli::scene::SceneArgs;

/// A scene on its way. Dropping it ends the loading.
pub struct Arrival {
    thread: Option<JoinHandle<Result<Scene>>>,
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
    /// Starts loading.
    pub fn start(scene: SceneArgs) -> Self {
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let load = move || {
            scene.load(&|step| {
                shared.done.fetch_max(step.done, Ordering::Relaxed);
                shared.total.store(step.total, Ordering::Relaxed);
                !shared.unwanted.load(Ordering::Relaxed)
            })
        };
        Self { thread: Some(std::thread::spawn(load)), state }
    }

    /// Share of the steps done, 0 to 1.
    pub fn progress(&self) -> f32 {
        let total = self.state.total.load(Ordering::Relaxed).max(1);
        self.state.done.load(Ordering::Relaxed) as f32 / total as f32
    }

    /// What was loaded, once, when it is there.
    pub fn poll(&mut self) -> Option<Result<Scene>> {
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
            _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_wrong_arrives_too() {
        let args = SceneArgs { scene: "no such file.glb".to_owned(), camera: None };
        let mut arrival = Arrival::start(args);
        let result = loop {
            match arrival.poll() {
                Some(result) => break result,
                None => std::thread::yield_now(),
            }
        };
        assert!(result.unwrap_err().to_string().contains("no such file.glb"));
        assert!(arrival.poll().is_none(), "only once");
    }
}
