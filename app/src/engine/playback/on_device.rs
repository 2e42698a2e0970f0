//! Playback on a device.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use gpu::{Buffer, BufferDesc, BufferUsage, Device, MemoryKind};
use network::bisect::DeviceSide;
use network::exec::{Kernels, Network, NetworkOptions, Route, Weights};
use network::frame::cpu::{Composed, Half4};
use network::frame::{Frame, FrameInputs, Passes, SourceKind};
use network::model::Model;
use network::plan::{Plan, TensorId};
use network::reference::TensorData;

use super::{Composition, Inputs, Keep, NetworkRun, Picture};
use crate::engine::Engines;
use crate::engine::gpu_route::submission_cost;

/// Frame passes and network of one extent.
pub struct OnDevice {
    device: Arc<Device>,
    kernels: Arc<Kernels>,
    weights: Arc<Weights>,
    network: Network,
    /// The network with every operation and tensor by itself, made when it is first wanted.
    stepwise: Option<Network>,
    frame: Frame,
    color: Buffer,
    motion: Buffer,
    name: String,
}

impl OnDevice {
    pub fn new(engines: &mut Engines, model: &Model, plan: &Plan, scene: bool, keep: Keep) -> Result<Self> {
        let (device, kernels, weights) = engines.parts(model)?;
        let options = NetworkOptions { keep_all: keep != Keep::Nothing, ..NetworkOptions::default() };
        let network = Network::new(&device, &kernels, &weights, Arc::new(plan.clone()), options)?;
        let valid = plan.geometry.valid;
        let pixels = valid.pixels() as u64;
        let kind = if scene { SourceKind::Scene } else { SourceKind::Proxy(valid) };
        let buffer = |name: &str, size: u64| {
            let usage = BufferUsage::STORAGE_BUFFER;
            Buffer::new(&device, &BufferDesc { name, size, usage, memory: MemoryKind::Device })
        };
        let color = buffer("recorded color", pixels * kind.pixel_bytes())?;
        let motion = buffer("recorded motion", pixels * 4)?;
        let passes = Passes::new(&device)?;
        let inputs = FrameInputs { color: &color, kind, motion: Some(&motion) };
        let frame = Frame::new(&passes, &plan.geometry, inputs, network.features(), network.head())?;
        if keep == Keep::All && kernels.route() != Route::Exact {
            let route = kernels.route().name();
            bail!("route {route} runs whole blocks and keeps no tensor within them; take --route exact");
        }
        let name = format!("{} on {}", kernels.route().name(), device.caps().name);
        Ok(Self { device, kernels, weights, network, stepwise: None, frame, color, motion, name })
    }

    /// Operations one by one: neither fused with others nor on memory that others reuse.
    pub fn side(&mut self) -> Result<DeviceSide<'_>> {
        if self.stepwise.is_none() {
            let options = NetworkOptions { keep_all: true, ..NetworkOptions::default() };
            let plan = Arc::clone(self.network.plan());
            self.stepwise = Some(Network::new(&self.device, &self.kernels, &self.weights, plan, options)?);
        }
        let network = self.stepwise.as_ref().context("no network for single operations")?;
        Ok(DeviceSide { network, name: self.name.clone() })
    }

    pub fn features(&mut self, inputs: &Inputs) -> Result<Vec<u16>> {
        self.preprocess(inputs)?;
        self.halves(self.network.plan().features)
    }

    pub fn network(&mut self, features: &[u16], keep: Keep) -> Result<NetworkRun> {
        let plan = Arc::clone(self.network.plan());
        self.network.write_tensor(plan.features, &bytes(features))?;
        self.network.run(submission_cost(self.device.caps().kind))?;
        let mut kept = Vec::new();
        for index in 0..plan.tensors.len() {
            let id = TensorId(u32::try_from(index)?);
            if keep.wants(&plan, id) {
                kept.push((id, TensorData::from_bytes(plan.tensor(id).format, &self.network.read_tensor(id)?)));
            }
        }
        Ok(NetworkRun { head: self.halves(plan.head)?, kept })
    }

    pub fn compose(&mut self, inputs: &Inputs, head: &[u16]) -> Result<Composition> {
        // The proxy that the composition reads is made by the preprocessing.
        self.preprocess(inputs)?;
        self.network.write_tensor(self.network.plan().head, &bytes(head))?;
        self.device.run_once("composite", |cmd| self.frame.record_composite(cmd, &inputs.parameters))?;
        Ok(Composition {
            composed: Composed {
                history: self.half4(self.frame.next_history())?,
                published: self.half4(self.frame.published())?,
                display_input: self.words(self.frame.display_input())?,
                display_neural: self.words(self.frame.display_neural())?,
            },
            proxy: self.frame.proxy().map(|proxy| self.half4(proxy)).transpose()?.unwrap_or_default(),
        })
    }

    /// Uploads a frame and computes features and proxy. The clock never moves on: every frame brings its own history.
    fn preprocess(&mut self, inputs: &Inputs) -> Result<()> {
        match &inputs.picture {
            Picture::Scene { color, motion, .. } => {
                self.device.upload(&self.color, 0, &bytes(color.as_flattened()))?;
                let packed: Vec<u8> = motion.iter().flat_map(|word| word.to_le_bytes()).collect();
                self.device.upload(&self.motion, 0, &packed)?;
            }
            Picture::Image(pixels) => {
                let raw: Vec<u8> = pixels.as_flattened().iter().flat_map(|value| value.to_le_bytes()).collect();
                self.device.upload(&self.color, 0, &raw)?;
                self.device.upload(&self.motion, 0, &vec![0; usize::try_from(self.motion.size())?])?;
            }
        }
        match &inputs.history {
            Some(history) => self.frame.upload_history(&bytes(history.as_flattened()))?,
            None => self.frame.reset(),
        }
        self.device.run_once("preprocess", |cmd| self.frame.record_preprocess(cmd, &inputs.parameters))?;
        Ok(())
    }

    fn halves(&self, id: TensorId) -> Result<Vec<u16>> {
        Ok(self.network.read_tensor(id)?.as_chunks().0.iter().map(|&pair| u16::from_le_bytes(pair)).collect())
    }

    fn half4(&self, buffer: &Buffer) -> Result<Vec<Half4>> {
        let raw = self.device.download(buffer, 0, buffer.size())?;
        let pixel = |p: &[u8; 8]| std::array::from_fn(|i| u16::from_le_bytes([p[2 * i], p[2 * i + 1]]));
        Ok(raw.as_chunks().0.iter().map(pixel).collect())
    }

    fn words(&self, buffer: &Buffer) -> Result<Vec<u32>> {
        let raw = self.device.download(buffer, 0, buffer.size())?;
        Ok(raw.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect())
    }
}

fn bytes(halves: &[u16]) -> Vec<u8> {
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}
