//! Getting the network ready beside the window: kernels and weights take seconds on a slow device.

use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use gpu::Device;
use network::exec::{Kernels, Route, Weights};
use network::model::{Info, Source};

/// What every network of one model shares on the device.
pub struct Loaded {
    /// The route's pipelines.
    pub kernels: Arc<Kernels>,
    /// The weights on the device.
    pub weights: Arc<Weights>,
    /// What `--model` takes to name the model.
    pub source: String,
    /// The model in words.
    pub description: String,
    /// Identity of the weights.
    pub digest: String,
    /// Inputs that its weights ignore.
    pub ignored: Vec<&'static str>,
    /// Cap of the temporal weight.
    pub blend_scale: f32,
}

/// The network, ready or not.
pub enum Loading {
    /// Being prepared.
    Running(Option<JoinHandle<Result<Loaded>>>),
    /// Ready to be used.
    Ready(Loaded),
    /// It cannot be used.
    Failed(String),
}

impl Loading {
    /// Starts preparing.
    pub fn start(device: &Arc<Device>, source: Source) -> Self {
        let device = Arc::clone(device);
        Self::Running(Some(std::thread::spawn(move || load(&device, &source))))
    }

    /// Takes over what has been prepared; true when that has just happened.
    pub fn poll(&mut self) -> bool {
        let Self::Running(thread) = self else { return false };
        if thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return false;
        }
        let result = match thread.take() {
            Some(thread) => thread.join().unwrap_or_else(|_| Err(anyhow!("preparing the network failed"))),
            None => Err(anyhow!("the network was not prepared")),
        };
        *self = match result {
            Ok(loaded) => Self::Ready(loaded),
            Err(error) => Self::Failed(format!("{error:#}")),
        };
        true
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        // The thread uses the device, which must not outlive the window's end by accident.
        if let Self::Running(thread) = self
            && let Some(thread) = thread.take()
        {
            _ = thread.join();
        }
    }
}

fn load(device: &Arc<Device>, source: &Source) -> Result<Loaded> {
    let model = source.open(true)?;
    let weights = Weights::upload(device, &model)?;
    let kernels = Kernels::new(device, Route::Exact)?;
    Ok(Loaded {
        kernels,
        weights,
        source: source.to_string(),
        description: model.description().to_owned(),
        digest: model.digest().to_owned(),
        ignored: Info::new(&model).ignored_inputs,
        blend_scale: model.blend_scale()?.to_f32(),
    })
}
