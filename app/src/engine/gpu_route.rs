//! The exact route on a Vulkan device, for frames given and taken as values.

use std::sync::Arc;

use anyhow::{Result, bail};
use gpu::{Device, DeviceKind};
use network::exec::{Kernels, Network, NetworkOptions, Weights};
use network::plan::{OpId, Plan};

use super::route::{Observer, Route};

/// A plan on a device, run to its end in submissions that no driver takes for a hang.
pub struct GpuRoute {
    device: Arc<Device>,
    kernels: Arc<Kernels>,
    weights: Arc<Weights>,
    plan: Arc<Plan>,
    network: Network,
}

/// Most multiply-accumulates of one submission: a fraction of a second on any device of the kind.
pub fn submission_cost(kind: DeviceKind) -> u64 {
    match kind {
        DeviceKind::Discrete => 1 << 36,
        DeviceKind::Cpu => 1 << 29,
        DeviceKind::Integrated | DeviceKind::Virtual | DeviceKind::Other => 1 << 31,
    }
}

impl GpuRoute {
    /// Allocates the activations of a plan.
    ///
    /// # Errors
    /// The frame does not fit on the device.
    pub fn new(device: &Arc<Device>, kernels: &Arc<Kernels>, weights: &Arc<Weights>, plan: &Plan) -> Result<Self> {
        let plan = Arc::new(plan.clone());
        let network = Network::new(device, kernels, weights, Arc::clone(&plan), NetworkOptions::default())?;
        Ok(Self {
            device: Arc::clone(device),
            kernels: Arc::clone(kernels),
            weights: Arc::clone(weights),
            plan,
            network,
        })
    }

    fn write_features(&self, network: &Network, features: &[u16]) -> Result<()> {
        let bytes: Vec<u8> = features.iter().flat_map(|value| value.to_le_bytes()).collect();
        Ok(network.write_tensor(self.plan.features, &bytes)?)
    }

    fn read_head(&self, network: &Network) -> Result<Vec<u16>> {
        let bytes = network.read_tensor(self.plan.head)?;
        Ok(bytes.as_chunks().0.iter().map(|&pair| u16::from_le_bytes(pair)).collect())
    }
}

impl Route for GpuRoute {
    fn run(&mut self, features: &[u16]) -> Result<Vec<u16>> {
        self.write_features(&self.network, features)?;
        let slices = self.network.slices(submission_cost(self.device.caps().kind));
        let bar = crate::cli::progress::bar(slices.len() as u64, "network on the device");
        for slice in slices {
            self.device.run_once("network", |cmd| self.network.record(cmd, slice))?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        self.read_head(&self.network)
    }

    fn run_instrumented(&mut self, features: &[u16], observer: &mut Observer<'_>) -> Result<Vec<u16>> {
        let options = NetworkOptions { keep_all: true, ..NetworkOptions::default() };
        let network = Network::new(&self.device, &self.kernels, &self.weights, Arc::clone(&self.plan), options)?;
        self.write_features(&network, features)?;
        let bar = crate::cli::progress::bar(self.plan.ops.len() as u64, "network on the device, instrumented");
        for op in 0..self.plan.ops.len() {
            // One submission and one wait an operation: the strongest barrier there is.
            network.run_op(OpId(u32::try_from(op)?))?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        for (id, tensor) in self.plan.boundaries() {
            let Some(name) = &tensor.boundary else {
                bail!("tensor {} is a boundary without a name", tensor.label);
            };
            observer(name, &network.read_tensor(id)?)?;
        }
        self.read_head(&network)
    }
}
