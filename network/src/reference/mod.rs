//! The CPU reference: executes a plan with the contract arithmetic, every operation of it.
//!
//! The scalar definition is [`crate::numerics`]; here the same steps run on many outputs at once (`lanes`, `step`), with
//! rayon over rows, windows and heads, and each vector form is tested bit for bit against its definition. Nothing is
//! approximated and nothing depends on the number of threads or the instruction set.
//!
//! [`Reference::run`] executes a whole frame; [`Reference::execute_op`] executes one operation on given inputs, so that
//! another implementation can be checked on its own tensors.

mod agree;
mod dispatch;
mod elementwise;
mod error;
mod gemm;
mod half_multiply;
mod lanes;
mod normalise;
mod operands;
mod softmax;
mod step;
mod tensor;
mod vit;
mod weights;
mod window;

#[cfg(test)]
mod tests;

pub use error::ReferenceError;
pub use tensor::{Output, TensorData};

use rayon::prelude::*;

use crate::geometry::windows;
use crate::model::Model;
use crate::plan::{self, Op, OpId, OpKind, Plan, TensorId};
use weights::Weights;

/// Name of the instruction set that the hot loops run with on this processor: `AVX-512`, `AVX2`, `NEON` or `baseline`.
pub fn instruction_set() -> &'static str {
    dispatch::level().name()
}

/// Whether the hot loops of a multiply give the bits of the scalar definition on this processor, for a few thousand random
/// outputs compared one by one. Takes milliseconds, the first time.
pub fn agrees() -> bool {
    static AGREES: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *AGREES.get_or_init(agree::check)
}

/// A plan and the unpacked weights of a model, ready to execute.
///
/// Holds about as many bytes as the model itself; a frame adds its live tensors.
pub struct Reference {
    plan: Plan,
    /// Per operation.
    weights: Vec<Weights>,
    /// Index of the last operation that touches a tensor, per tensor.
    last_use: Vec<usize>,
}

impl Reference {
    /// Unpacks the weights of every operation of the plan.
    ///
    /// # Errors
    /// The model lacks a record, or a record is too short for what the plan reads from it.
    pub fn new(plan: &Plan, model: &Model) -> Result<Self, ReferenceError> {
        let weights = plan
            .ops
            .par_iter()
            .map(|op| {
                let error = |source| ReferenceError::Weights { op: op.label.clone(), source };
                Weights::new(&op.kind, model).map_err(error)
            })
            .collect::<Result<_, _>>()?;
        let last_use = plan::lifetimes(plan).into_iter().map(|life| life.last).collect();
        Ok(Self { plan: plan.clone(), weights, last_use })
    }

    /// The plan that is executed.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Executes the whole plan on `features`, `[field rows][16]` half bits, and returns the head, `[field rows][4]` half
    /// bits. `observer` sees every operation, in order, with all its outputs.
    ///
    /// # Errors
    /// `features` has the wrong number of elements.
    pub fn run(
        &self,
        features: &[u16],
        mut observer: impl FnMut(OpId, &Op, &[Output]),
    ) -> Result<Vec<u16>, ReferenceError> {
        let whole = self.run_while(features, |id, op, outputs| {
            observer(id, op, outputs);
            true
        })?;
        whole.ok_or(ReferenceError::NoHead)
    }

    /// [`Reference::run`] that can be given up: it ends with `None` behind the first operation after which `observer` says
    /// `false`.
    ///
    /// # Errors
    /// `features` has the wrong number of elements.
    pub fn run_while(
        &self,
        features: &[u16],
        mut observer: impl FnMut(OpId, &Op, &[Output]) -> bool,
    ) -> Result<Option<Vec<u16>>, ReferenceError> {
        let mut tensors: Vec<Option<TensorData>> = vec![None; self.plan.tensors.len()];
        tensors[self.plan.features.0 as usize] = Some(TensorData::Halves(features.to_vec()));
        for (index, op) in self.plan.ops.iter().enumerate() {
            let id = OpId(index as u32);
            let ids = op.kind.inputs();
            let inputs = ids
                .iter()
                .map(|id| tensors[id.0 as usize].as_ref().ok_or_else(|| self.order_error(op, *id)))
                .collect::<Result<Vec<_>, _>>()?;
            let outputs = self.execute_op(id, &inputs)?;
            if !observer(id, op, &outputs) {
                return Ok(None);
            }
            for output in outputs {
                tensors[output.id.0 as usize] = Some(output.data);
            }
            for id in ids {
                if self.last_use[id.0 as usize] == index {
                    tensors[id.0 as usize] = None;
                }
            }
        }
        match tensors[self.plan.head.0 as usize].take() {
            Some(TensorData::Halves(head)) => Ok(Some(head)),
            _ => Err(ReferenceError::NoHead),
        }
    }

    /// Executes one operation on inputs in the order of [`OpKind::inputs`]; returns its outputs in the order of
    /// [`OpKind::outputs`].
    ///
    /// # Errors
    /// The number, format or length of the inputs is not what the plan says.
    pub fn execute_op(&self, id: OpId, inputs: &[&TensorData]) -> Result<Vec<Output>, ReferenceError> {
        let op = self.plan.op(id);
        let ids = op.kind.inputs();
        if ids.len() != inputs.len() {
            let (expected, got) = (ids.len(), inputs.len());
            return Err(ReferenceError::InputCount { op: op.label.clone(), expected, got });
        }
        for (&id, data) in ids.iter().zip(inputs) {
            let tensor = self.plan.tensor(id);
            if data.format() != tensor.format || data.len() != tensor.elements() {
                return Err(ReferenceError::Input {
                    op: op.label.clone(),
                    tensor: tensor.label.clone(),
                    expected: (tensor.elements(), tensor.format),
                    got: (data.len(), data.format()),
                });
            }
        }
        Ok(self.execute(op, &self.weights[id.0 as usize], inputs))
    }

    /// Executes an operation whose inputs were checked.
    fn execute(&self, op: &Op, weights: &Weights, inputs: &[&TensorData]) -> Vec<Output> {
        let codes = |id: TensorId, codes: Vec<u8>| Output { id, data: TensorData::Codes(codes) };
        let halves = |id: TensorId, halves: Vec<u16>| Output { id, data: TensorData::Halves(halves) };
        let extent = |id: TensorId| self.plan.tensor(id).extent;
        match (&op.kind, weights) {
            (OpKind::Gemm(gemm), Weights::Gemm { matrix, scale }) => {
                let skip = inputs.get(1).zip(scale.as_deref()).map(|(tensor, scale)| gemm::Skip { tensor, scale });
                let inputs = gemm::Inputs { codes: inputs[0].codes(), weight: matrix, skip };
                let (half, code) = gemm::run(gemm, &inputs, extent(gemm.input).pixels());
                let half = gemm.out_half.zip(half).map(|(id, data)| halves(id, data));
                half.into_iter().chain(gemm.out_code.zip(code).map(|(id, data)| codes(id, data))).collect()
            }
            (OpKind::Adapter(op), Weights::HalfMatrix(matrix)) => {
                let half = half_multiply::run(inputs[0].halves(), matrix, op.weight.k, op.weight.n);
                let code = half.iter().map(|&h| crate::numerics::e4m3::encode(h)).collect();
                vec![halves(op.out_half, half), codes(op.out_code, code)]
            }
            (OpKind::Head(op), Weights::HalfMatrix(matrix)) => {
                vec![halves(op.output, half_multiply::run(inputs[0].halves(), matrix, op.weight.k, op.weight.n))]
            }
            (OpKind::Normalise(op), Weights::HeadScales(scales)) => {
                vec![codes(op.output, normalise::run(inputs[0].halves(), scales, op.vit))]
            }
            (OpKind::WindowAttention(op), Weights::Priors(priors)) => {
                let grid = windows(extent(op.output), op.phase);
                vec![codes(op.output, window::run(inputs[0].codes(), &grid, priors))]
            }
            (OpKind::VitAttention(op), Weights::None) => {
                let heads = self.plan.tensor(op.output).channels / crate::numerics::cosine::HEAD;
                vec![codes(op.output, vit::run(inputs[0].codes(), op.tokens, heads))]
            }
            (OpKind::Pool(op), Weights::None) => {
                let channels = self.plan.tensor(op.output).channels;
                let pooled = elementwise::pool(inputs[0].halves(), extent(op.input), extent(op.output), channels);
                vec![codes(op.output, pooled)]
            }
            (OpKind::Merge(op), Weights::MergeScale(scale)) => {
                let (low, skip) = (inputs[0].halves(), inputs[1].codes());
                let pair = elementwise::merge(low, extent(op.low).width, skip, extent(op.out_code), scale);
                let half = op.out_half.map(|id| halves(id, pair.halves));
                half.into_iter().chain([codes(op.out_code, pair.codes)]).collect()
            }
            (OpKind::PostBlend(op), Weights::BlendScales { input, adapter }) => {
                let (up, block0) = (inputs[0].codes(), inputs[1].codes());
                let scales = elementwise::BlendScales { input, adapter };
                let pair = elementwise::blend(up, extent(op.up).width, block0, extent(op.out_code), &scales);
                vec![halves(op.out_half, pair.halves), codes(op.out_code, pair.codes)]
            }
            _ => unreachable!("weights are unpacked by the operation's own kind"),
        }
    }

    fn order_error(&self, op: &Op, id: TensorId) -> ReferenceError {
        ReferenceError::Order { op: op.label.clone(), tensor: self.plan.tensor(id).label.clone() }
    }
}
