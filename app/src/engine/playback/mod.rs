//! Frames given as values and computed in full: features, network, composition, on the CPU or on a device.
//!
//! Unlike the window's frames these keep every intermediate result, and their history is a value too, so a recorded frame
//! can be computed again by itself or in its sequence.

mod cpu;
mod identity;
mod on_device;
mod record;

pub use identity::{header, model_name, program};
pub use record::{inputs_of, tensors};

use anyhow::Result;
use network::bisect::{DeviceSide, Fault, ReferenceSide, Side};
use network::frame::Parameters;
use network::frame::cpu::preprocess::Source;
use network::frame::cpu::{Composed, Half4};
use network::geometry::{Extent, Geometry};
use network::model::Model;
use network::plan::{Plan, TensorId};
use network::reference::TensorData;

use super::Engines;
use crate::cli::args::RouteArg;

/// The picture that a frame starts from.
#[derive(Clone, Debug)]
pub enum Picture {
    /// Linear scene colour with depth in metres and packed motion, all of the valid extent.
    Scene {
        /// RGBA halves.
        color: Vec<Half4>,
        /// Depth.
        depth: Vec<f32>,
        /// Two halves a pixel, uv units, y down, current to previous.
        motion: Vec<u32>,
    },
    /// RGBA code values of the valid extent.
    Image(Vec<[f32; 4]>),
}

/// What a frame is computed from.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The picture.
    pub picture: Picture,
    /// The history that the frame reads, where it is valid.
    pub history: Option<Vec<Half4>>,
    /// Everything else; its `history_valid` agrees with the history.
    pub parameters: Parameters,
}

impl Inputs {
    /// The picture as the frame passes take it.
    pub fn source(&self, valid: Extent) -> Source<'_> {
        match &self.picture {
            Picture::Scene { color, .. } => Source::Scene(color),
            Picture::Image(pixels) => Source::Proxy(pixels, valid),
        }
    }

    /// Packed motion; empty for an image.
    pub fn motion(&self) -> &[u32] {
        match &self.picture {
            Picture::Scene { motion, .. } => motion,
            Picture::Image(_) => &[],
        }
    }
}

/// Which tensors of the network are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// None.
    #[default]
    Nothing,
    /// Those between the blocks.
    Boundaries,
    /// All.
    All,
}

impl Keep {
    /// Whether a tensor of the plan is kept.
    pub fn wants(self, plan: &Plan, id: TensorId) -> bool {
        match self {
            Self::Nothing => false,
            Self::Boundaries => plan.tensor(id).boundary.is_some(),
            Self::All => id != plan.features && id != plan.head,
        }
    }
}

/// The head and the kept tensors of one run of the network.
pub struct NetworkRun {
    /// `[field rows][4]` half bits.
    pub head: Vec<u16>,
    /// What was kept.
    pub kept: Vec<(TensorId, TensorData)>,
}

/// What the passes around the network make of a frame.
pub struct Composition {
    /// Next history, published colour, pictures.
    pub composed: Composed,
    /// The display proxy of a scene, RGBA halves; empty for an image, which is its own.
    pub proxy: Vec<Half4>,
}

/// Computes frames of one geometry on one route.
pub struct Player {
    plan: Plan,
    keep: Keep,
    form: Form,
}

/// Where it computes.
enum Form {
    Cpu(Box<cpu::OnCpu>),
    Device(Box<on_device::OnDevice>),
}

impl Player {
    /// Prepares a route. `scene` says whether pictures are scenes or images.
    ///
    /// # Errors
    /// The model does not fit the plan, or the frame does not fit on the device.
    pub fn new(
        engines: &mut Engines,
        route: RouteArg,
        model: &Model,
        geometry: &Geometry,
        scene: bool,
        keep: Keep,
    ) -> Result<Self> {
        let plan = Plan::new(geometry);
        let form = match route {
            RouteArg::Cpu => Form::Cpu(Box::new(cpu::OnCpu::new(&plan, model)?)),
            RouteArg::Auto | RouteArg::Exact | RouteArg::Tensor | RouteArg::Float8 => {
                Form::Device(Box::new(on_device::OnDevice::new(engines, model, &plan, scene, keep)?))
            }
        };
        Ok(Self { plan, keep, form })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The network's input.
    ///
    /// # Errors
    /// An error of the device.
    pub fn features(&mut self, inputs: &Inputs) -> Result<Vec<u16>> {
        match &mut self.form {
            Form::Cpu(cpu) => Ok(cpu.features(inputs)),
            Form::Device(device) => device.features(inputs),
        }
    }

    /// Runs the network. With faults it goes operation by operation.
    ///
    /// # Errors
    /// Features of another length, or an error of the device.
    pub fn network(&mut self, features: &[u16], faults: &[Fault]) -> Result<NetworkRun> {
        if !faults.is_empty() {
            return self.faulty(features, faults);
        }
        match &mut self.form {
            Form::Cpu(cpu) => cpu.network(features, self.keep),
            Form::Device(device) => device.network(features, self.keep),
        }
    }

    fn faulty(&mut self, features: &[u16], faults: &[Fault]) -> Result<NetworkRun> {
        let (plan, keep) = (self.plan.clone(), self.keep);
        let mut side = network::bisect::Faulty { side: self.side()?, faults: faults.to_vec() };
        let mut kept = Vec::new();
        let head = network::bisect::walk(&plan, features, &mut side, |_, id, data| {
            if keep.wants(&plan, id) {
                kept.push((id, data.clone()));
            }
        })?;
        Ok(NetworkRun { head, kept })
    }

    /// Composes a frame from a head.
    ///
    /// # Errors
    /// An error of the device.
    pub fn compose(&mut self, inputs: &Inputs, head: &[u16]) -> Result<Composition> {
        match &mut self.form {
            Form::Cpu(cpu) => Ok(cpu.compose(inputs, head)),
            Form::Device(device) => device.compose(inputs, head),
        }
    }

    /// The route, operation by operation.
    ///
    /// # Errors
    /// The device has no memory for it.
    pub fn side(&mut self) -> Result<AnySide<'_>> {
        Ok(match &mut self.form {
            Form::Cpu(cpu) => AnySide::Reference(ReferenceSide(cpu.reference())),
            Form::Device(device) => AnySide::Device(device.side()?),
        })
    }
}

/// A route, operation by operation.
pub enum AnySide<'a> {
    /// The CPU reference.
    Reference(ReferenceSide<'a>),
    /// A device.
    Device(DeviceSide<'a>),
}

impl Side for AnySide<'_> {
    fn name(&self) -> String {
        match self {
            Self::Reference(side) => side.name(),
            Self::Device(side) => side.name(),
        }
    }

    fn execute(
        &mut self,
        id: network::plan::OpId,
        inputs: &[&TensorData],
    ) -> Result<Vec<Option<TensorData>>, network::bisect::SideError> {
        match self {
            Self::Reference(side) => side.execute(id, inputs),
            Self::Device(side) => side.execute(id, inputs),
        }
    }
}
