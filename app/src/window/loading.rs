//! Getting the network ready beside the window: kernels and weights take seconds on a slow device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use gpu::Device;
use network::exec::{Kernels, Route, Weights};
use network::model::{Info, Source};

use super::leave;
use crate::engine::choice::{self, Wish};

/// A model for a side of a comparison, on the device.
pub struct Model {
    /// The weights on the device.
    pub weights: Arc<Weights>,
    /// Cap of the temporal weight.
    pub blend_scale: f32,
}

/// A model on its way.
pub struct ModelLoading {
    thread: Option<JoinHandle<Result<Model>>>,
    model: Option<Model>,
}

impl ModelLoading {
    /// Starts reading and uploading.
    pub fn start(device: &Arc<Device>, source: Source) -> Self {
        let device = Arc::clone(device);
        let load = move || {
            let model = source.open(true)?;
            let blend_scale = model.blend_scale()?.to_f32();
            Ok(Model { weights: Weights::upload(&device, &model)?, blend_scale })
        };
        Self { thread: Some(std::thread::spawn(load)), model: None }
    }

    /// The model, when it is there.
    ///
    /// # Errors
    /// It cannot be read, or does not fit on the device.
    pub fn poll(&mut self) -> Result<Option<&Model>> {
        if self.thread.as_ref().is_some_and(JoinHandle::is_finished)
            && let Some(thread) = self.thread.take()
        {
            self.model = Some(thread.join().unwrap_or_else(|_| Err(anyhow!("reading it failed")))?);
        }
        Ok(self.model.as_ref())
    }

    /// Whether it is still being read.
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// The model, if it has been taken over.
    pub fn ready(&self) -> Option<&Model> {
        self.model.as_ref()
    }
}

impl Drop for ModelLoading {
    fn drop(&mut self) {
        // The thread uses the device.
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

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
    /// Being prepared, until it is told to stop.
    Running(Option<JoinHandle<Result<Loaded>>>, Arc<AtomicBool>),
    /// Ready to be used.
    Ready(Loaded),
    /// It cannot be used.
    Failed(String),
    /// Its memory was given back; it is prepared again when it is wanted.
    Idle(Source),
}

impl Loading {
    /// Starts preparing, with kernels that are there already if there are some.
    pub fn start(device: &Arc<Device>, source: Source, kernels: Option<Arc<Kernels>>, wish: Wish) -> Self {
        let device = Arc::clone(device);
        let unwanted = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&unwanted);
        Self::Running(Some(std::thread::spawn(move || load(&device, &source, kernels, wish, &stop))), unwanted)
    }

    /// Takes over what has been prepared; true when that has just happened.
    pub fn poll(&mut self) -> bool {
        let Self::Running(thread, _) = self else { return false };
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
        if let Self::Running(thread, unwanted) = self
            && let Some(thread) = thread.take()
        {
            unwanted.store(true, Ordering::Relaxed);
            leave::join(thread);
        }
    }
}

fn load(
    device: &Arc<Device>,
    source: &Source,
    kernels: Option<Arc<Kernels>>,
    wish: Wish,
    unwanted: &AtomicBool,
) -> Result<Loaded> {
    let go_on = || if unwanted.load(Ordering::Relaxed) { Err(anyhow!("not wanted any more")) } else { Ok(()) };
    let model = source.open(true)?;
    go_on()?;
    let kernels = match kernels {
        Some(kernels) => kernels,
        None => choice::live(device, wish)?,
    };
    go_on()?;
    let weights = match kernels.route() {
        Route::Cpu => Weights::on_host(&model),
        Route::Exact | Route::Tensor | Route::Float8 => Weights::upload(device, &model)?,
    };
    go_on()?;
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
