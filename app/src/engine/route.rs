//! The network on one route: features in, head out.

use anyhow::{Context as _, Result};
use network::model::Model;
use network::plan::Plan;
use network::reference::Reference;

/// Sees the E4M3 bytes of a named boundary tensor of an instrumented run.
pub type Observer<'a> = dyn FnMut(&str, &[u8]) -> Result<()> + 'a;

/// Something that computes the whole network for one geometry.
pub trait Route {
    /// Runs the production schedule: `[field rows][16]` half bits in, `[field rows][4]` half bits out.
    fn run(&mut self, features: &[u16]) -> Result<Vec<u16>>;

    /// Runs with every tensor kept and a full barrier after every operation, and shows all boundaries in graph order.
    fn run_instrumented(&mut self, features: &[u16], observer: &mut Observer<'_>) -> Result<Vec<u16>>;
}

/// The reference interpreter on the CPU.
pub struct CpuRoute {
    reference: Reference,
}

impl CpuRoute {
    /// Unpacks the weights of a model for a plan.
    ///
    /// # Errors
    /// The model does not fit the plan.
    pub fn new(plan: &Plan, model: &Model) -> Result<Self> {
        Ok(Self { reference: Reference::new(plan, model).context("cannot prepare the CPU reference")? })
    }
}

impl Route for CpuRoute {
    fn run(&mut self, features: &[u16]) -> Result<Vec<u16>> {
        let total = self.reference.plan().ops.len() as u64;
        let bar = crate::cli::progress::bar(total, "network on the CPU");
        let head = self.reference.run(features, |_, _, _| bar.inc(1))?;
        bar.finish_and_clear();
        Ok(head)
    }

    fn run_instrumented(&mut self, features: &[u16], observer: &mut Observer<'_>) -> Result<Vec<u16>> {
        let plan = self.reference.plan();
        let bar = crate::cli::progress::bar(plan.ops.len() as u64, "network on the CPU, instrumented");
        let mut seen = Ok(());
        let head = self.reference.run(features, |_, _, outputs| {
            for output in outputs {
                if let (Some(name), true) = (&plan.tensor(output.id).boundary, seen.is_ok()) {
                    seen = observer(name, &output.data.to_bytes());
                }
            }
            bar.inc(1);
        })?;
        bar.finish_and_clear();
        seen?;
        Ok(head)
    }
}
