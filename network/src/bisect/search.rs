//! The search.

use serde::Serialize;

use super::side::{Side, SideError};
use crate::numerics::{e4m3, half};
use crate::plan::{Format, OpId, Plan, TensorId, lifetimes};
use crate::reference::TensorData;

/// The first element of a tensor that differs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Element {
    /// Place in the tensor.
    pub index: usize,
    /// Column of its row's pixel or token.
    pub x: usize,
    /// Row of its row's pixel or token.
    pub y: usize,
    /// Channel.
    pub channel: usize,
    /// Bits of the first side.
    pub a: u16,
    /// Bits of the second side.
    pub b: u16,
    /// Value of the first side.
    #[serde(rename = "aValue")]
    pub a_value: f32,
    /// Value of the second side.
    #[serde(rename = "bValue")]
    pub b_value: f32,
}

/// The first operation at which two sides differ on the same inputs.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Place in the plan.
    pub op: usize,
    /// Label of the operation.
    pub label: String,
    /// Kind of the operation.
    pub kind: &'static str,
    /// Block of the operation.
    pub block: u32,
    /// The tensor.
    pub tensor: String,
    /// Elements that differ.
    pub different: usize,
    /// Elements of the tensor.
    pub elements: usize,
    /// The first of them.
    pub first: Element,
    /// Labels of earlier operations that may be to blame, because a side holds no outputs of theirs; the named one
    /// otherwise stands alone.
    pub unseen: Vec<String>,
    /// What the operation read.
    #[serde(skip)]
    pub inputs: Vec<TensorData>,
}

/// Tensors of a walk, dropped after their last use.
struct State {
    tensors: Vec<Option<TensorData>>,
    last_use: Vec<usize>,
}

impl State {
    fn new(plan: &Plan, features: &[u16]) -> Self {
        let mut tensors = vec![None; plan.tensors.len()];
        tensors[plan.features.0 as usize] = Some(TensorData::Halves(features.to_vec()));
        Self { tensors, last_use: lifetimes(plan).into_iter().map(|life| life.last).collect() }
    }

    fn inputs(&self, plan: &Plan, id: OpId) -> Result<Vec<&TensorData>, SideError> {
        let op = plan.op(id);
        let get = |tensor: TensorId| {
            self.tensors[tensor.0 as usize]
                .as_ref()
                .ok_or_else(|| SideError::Unknown { op: op.label.clone(), tensor: plan.tensor(tensor).label.clone() })
        };
        op.kind.inputs().into_iter().map(get).collect()
    }

    fn drop_unused(&mut self, plan: &Plan, id: OpId) {
        for tensor in plan.op(id).kind.inputs() {
            if self.last_use[tensor.0 as usize] == id.0 as usize {
                self.tensors[tensor.0 as usize] = None;
            }
        }
    }
}

/// Executes a whole frame on one side and returns the head. `observer` sees every output.
///
/// # Errors
/// The side fails, or does not know an output.
pub fn walk(
    plan: &Plan,
    features: &[u16],
    side: &mut dyn Side,
    mut observer: impl FnMut(OpId, TensorId, &TensorData),
) -> Result<Vec<u16>, SideError> {
    let mut state = State::new(plan, features);
    for index in 0..plan.ops.len() {
        let id = OpId(index as u32);
        let outputs = side.execute(id, &state.inputs(plan, id)?)?;
        for (tensor, data) in plan.op(id).kind.outputs().into_iter().zip(outputs) {
            if let Some(data) = &data {
                observer(id, tensor, data);
            }
            state.tensors[tensor.0 as usize] = data;
        }
        state.drop_unused(plan, id);
    }
    match state.tensors[plan.head.0 as usize].take() {
        Some(TensorData::Halves(head)) => Ok(head),
        _ => Err(SideError::Unknown { op: "the end".into(), tensor: plan.tensor(plan.head).label.clone() }),
    }
}

/// The first operation whose outputs differ when both sides get the same inputs: those of the first side where it knows
/// them. `None` when there is no difference.
///
/// # Errors
/// A side fails.
pub fn first_difference(
    plan: &Plan,
    features: &[u16],
    a: &mut dyn Side,
    b: &mut dyn Side,
    mut progress: impl FnMut(OpId),
) -> Result<Option<Difference>, SideError> {
    let mut state = State::new(plan, features);
    // Operations since the last comparison that each tensor rests on.
    let mut unseen: Vec<Vec<usize>> = vec![Vec::new(); plan.tensors.len()];
    for index in 0..plan.ops.len() {
        let id = OpId(index as u32);
        let op = plan.op(id);
        progress(id);
        let inputs = state.inputs(plan, id)?;
        let outputs = a.execute(id, &inputs)?.into_iter().zip(b.execute(id, &inputs)?);
        let mut behind: Vec<usize> =
            op.kind.inputs().into_iter().flat_map(|tensor| unseen[tensor.0 as usize].clone()).collect();
        behind.sort_unstable();
        behind.dedup();
        let mut next = Vec::new();
        for (tensor, (a, b)) in op.kind.outputs().into_iter().zip(outputs) {
            let compared = a.is_some() && b.is_some();
            if let (Some(a), Some(b)) = (&a, &b)
                && let Some((different, first)) = differ(plan, tensor, a, b)
            {
                return Ok(Some(Difference {
                    op: index,
                    label: op.label.clone(),
                    kind: op.kind.name(),
                    block: op.block,
                    tensor: plan.tensor(tensor).label.clone(),
                    different,
                    elements: plan.tensor(tensor).elements(),
                    first,
                    unseen: behind.iter().map(|&i| plan.ops[i].label.clone()).collect(),
                    inputs: inputs.into_iter().cloned().collect(),
                }));
            }
            let rests = if compared { Vec::new() } else { behind.iter().copied().chain([index]).collect() };
            next.push((tensor, a.or(b), rests));
        }
        for (tensor, data, rests) in next {
            state.tensors[tensor.0 as usize] = data;
            unseen[tensor.0 as usize] = rests;
        }
        state.drop_unused(plan, id);
    }
    Ok(None)
}

/// How many elements differ, and the first; `None` for equal tensors.
fn differ(plan: &Plan, id: TensorId, a: &TensorData, b: &TensorData) -> Option<(usize, Element)> {
    if a == b {
        return None;
    }
    let tensor = plan.tensor(id);
    let (a, b) = (a.bits(), b.bits());
    let mut unequal = a.iter().zip(&b).enumerate().filter(|(_, (a, b))| a != b);
    let (index, (&a, &b)) = unequal.next()?;
    let (row, width) = (index / tensor.channels, tensor.extent.width as usize);
    let value = |bits| value(tensor.format, bits);
    let first = Element {
        index,
        x: row % width,
        y: row / width,
        channel: index % tensor.channels,
        a,
        b,
        a_value: value(a),
        b_value: value(b),
    };
    Some((1 + unequal.count(), first))
}

fn value(format: Format, bits: u16) -> f32 {
    match format {
        Format::E4m3 => e4m3::to_f32(bits as u8),
        Format::Half => half::to_f32(bits),
    }
}
