//! Playback on the CPU reference.

use anyhow::{Context as _, Result};
use network::frame::cpu::{Half4, Head, History, compose_frame, preprocess};
use network::model::Model;
use network::numerics::half;
use network::plan::Plan;
use network::reference::Reference;

use super::{Composition, Inputs, Keep, NetworkRun, Picture};

/// The reference for one plan.
pub struct OnCpu {
    reference: Reference,
}

impl OnCpu {
    pub fn new(plan: &Plan, model: &Model) -> Result<Self> {
        Ok(Self { reference: Reference::new(plan, model).context("cannot prepare the CPU reference")? })
    }

    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    pub fn features(&self, inputs: &Inputs) -> Vec<u16> {
        let geometry = &self.reference.plan().geometry;
        let source = inputs.source(geometry.valid);
        preprocess(geometry, source, self.history(inputs), &inputs.parameters).into_flattened()
    }

    pub fn network(&self, features: &[u16], keep: Keep) -> Result<NetworkRun> {
        let plan = self.reference.plan();
        let mut kept = Vec::new();
        let head = self.reference.run(features, |_, _, outputs| {
            let wanted = outputs.iter().filter(|output| keep.wants(plan, output.id));
            kept.extend(wanted.map(|output| (output.id, output.data.clone())));
        })?;
        Ok(NetworkRun { head, kept })
    }

    pub fn compose(&self, inputs: &Inputs, head: &[u16]) -> Composition {
        let geometry = &self.reference.plan().geometry;
        let valid = geometry.valid;
        let source = inputs.source(valid);
        let head = Head::Half(head.as_chunks().0);
        let composed = compose_frame(geometry, source, head, self.history(inputs), &inputs.parameters);
        let paper = inputs.parameters.paper();
        let pixel = |i: u32| -> Half4 {
            let [r, g, b] = source.proxy(i % valid.width, i / valid.width, valid, paper).map(half::from_f32);
            [r, g, b, half::from_f32(1.0)]
        };
        let proxy = match inputs.picture {
            Picture::Scene { .. } => (0..valid.width * valid.height).map(pixel).collect(),
            Picture::Image(_) => Vec::new(),
        };
        Composition { composed, proxy }
    }

    fn history<'a>(&self, inputs: &'a Inputs) -> Option<History<'a>> {
        let extent = self.reference.plan().geometry.valid;
        inputs.history.as_deref().map(|color| History { extent, color, motion: inputs.motion() })
    }
}
