//! What ties the scene renderer, the frame passes and the network together, for the window and headless alike.

pub mod device;
pub mod gpu_route;
pub mod model;
pub mod route;

use std::sync::Arc;

use anyhow::Result;
use gpu::Device;
use network::exec::{self, Kernels, Weights};
use network::model::{Model, Source};
use network::plan::Plan;

use crate::cli::Globals;
use crate::cli::args::RouteArg;
use gpu_route::GpuRoute;
use route::{CpuRoute, Route};

/// Prepares routes for plans and models, and keeps what they share: the device, the kernels, the last model.
pub struct Engines {
    gpu: Option<(Arc<Device>, Arc<Kernels>)>,
    model: Option<(Source, Model)>,
    /// The weights on the device, with the digest of their model.
    weights: Option<(String, Arc<Weights>)>,
}

impl Engines {
    /// Opens the device that the route needs.
    ///
    /// # Errors
    /// No usable device.
    pub fn new(globals: &Globals, route: RouteArg) -> Result<Self> {
        let gpu = match route {
            RouteArg::Cpu => None,
            RouteArg::Auto | RouteArg::Exact => {
                let device = device::open(globals)?;
                let kernels = Kernels::new(&device, exec::Route::Exact)?;
                Some((device, kernels))
            }
        };
        Ok(Self { gpu, model: None, weights: None })
    }

    /// The device, where the route has one.
    pub fn device(&self) -> Option<&Arc<Device>> {
        self.gpu.as_ref().map(|(device, _)| device)
    }

    /// Name of the device, where the route has one.
    pub fn device_name(&self) -> Option<&str> {
        self.device().map(|device| device.caps().name.as_str())
    }

    /// The model of a source; the last one is kept.
    ///
    /// # Errors
    /// The model cannot be read.
    pub fn model(&mut self, source: &Source) -> Result<Model> {
        if let Some((last, model)) = &self.model
            && last == source
        {
            return Ok(model.clone());
        }
        tracing::info!("model: {source}");
        let model = source.open(true)?;
        self.model = Some((source.clone(), model.clone()));
        Ok(model)
    }

    /// The route for a plan and a model.
    ///
    /// # Errors
    /// The frame does not fit on the device.
    pub fn route(&mut self, plan: &Plan, model: &Model) -> Result<Box<dyn Route>> {
        let Some((device, kernels)) = &self.gpu else {
            return Ok(Box::new(CpuRoute::new(plan, model)?));
        };
        let weights = match &self.weights {
            Some((digest, weights)) if digest == model.digest() => Arc::clone(weights),
            _ => {
                let weights = Weights::upload(device, model)?;
                self.weights = Some((model.digest().to_owned(), Arc::clone(&weights)));
                weights
            }
        };
        Ok(Box::new(GpuRoute::new(device, kernels, &weights, plan)?))
    }
}
