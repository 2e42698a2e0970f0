//! What ties the scene renderer, the frame passes and the network together, for the window and headless alike.

pub mod arms;
pub mod catalog;
pub mod choice;
pub mod device;
pub mod fit;
pub mod gpu_route;
pub mod host;
pub mod measure;
pub mod memory;
pub mod model;
pub mod neural;
pub mod pace;
pub mod playback;
pub mod replayed;
pub mod retain;
pub mod route;
pub mod side;
pub mod snapshot;
pub mod stages;
pub mod studio;

use std::sync::Arc;

use anyhow::{Context as _, Result};
use gpu::Device;
use network::exec::{Kernels, Network, NetworkOptions, Weights};
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
            RouteArg::Auto | RouteArg::Exact | RouteArg::Tensor | RouteArg::Float8 => {
                let device = device::open(globals)?;
                let kernels = choice::kernels(&device, choice::Wish::new(globals, route))?;
                Some((device, kernels))
            }
        };
        Ok(Self { gpu, model: None, weights: None })
    }

    /// The untuned exact route on a device that is open already.
    ///
    /// # Errors
    /// The device cannot run it.
    pub fn exact(device: &Arc<Device>) -> Result<Self> {
        let kernels = Kernels::new(device, network::exec::Route::Exact)?;
        Ok(Self { gpu: Some((Arc::clone(device), kernels)), model: None, weights: None })
    }

    /// Says that the other route is faster where the Vulkan device is a CPU, unless a route was asked for.
    pub fn hint(&self, asked: RouteArg) {
        let is_cpu = self.device().is_some_and(|device| device.caps().is_cpu);
        if asked == RouteArg::Auto && is_cpu && self.is_exact() {
            tracing::info!("the Vulkan device is a CPU: `--route cpu` gives the same bytes there, sooner");
        }
    }

    /// The device, where the route has one.
    pub fn device(&self) -> Option<&Arc<Device>> {
        self.gpu.as_ref().map(|(device, _)| device)
    }

    /// Name of the route that is taken, in tables and JSON.
    pub fn route_name(&self) -> &'static str {
        self.gpu.as_ref().map_or("cpu", |(_, kernels)| kernels.route().name())
    }

    /// Whether the route gives the contract's bits.
    pub fn is_exact(&self) -> bool {
        self.gpu.as_ref().is_none_or(|(_, kernels)| kernels.is_exact())
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
        if self.gpu.is_none() {
            return Ok(Box::new(CpuRoute::new(plan, model)?));
        }
        let (device, kernels, weights) = self.parts(model)?;
        Ok(Box::new(GpuRoute::new(&device, &kernels, &weights, plan)?))
    }

    /// The network on the device.
    ///
    /// # Errors
    /// The route has no device, or the frame does not fit on it.
    pub fn network(&mut self, model: &Model, plan: Arc<Plan>, options: NetworkOptions) -> Result<Network> {
        let (device, kernels, weights) = self.parts(model)?;
        Ok(Network::new(&device, &kernels, &weights, plan, options)?)
    }

    /// What every network of a model on the device shares.
    ///
    /// # Errors
    /// The route has no device, or the weights do not fit on it.
    pub fn parts(&mut self, model: &Model) -> Result<(Arc<Device>, Arc<Kernels>, Arc<Weights>)> {
        let (device, kernels) = self.gpu.as_ref().context("this route has no device")?;
        let weights = match &self.weights {
            Some((digest, weights)) if digest == model.digest() => Arc::clone(weights),
            _ => {
                let weights = Weights::upload(device, model)?;
                self.weights = Some((model.digest().to_owned(), Arc::clone(&weights)));
                weights
            }
        };
        Ok((Arc::clone(device), Arc::clone(kernels), weights))
    }
}
