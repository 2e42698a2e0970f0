//! What can execute operations one by one.

use thiserror::Error;

use crate::exec::{ExecError, Network};
use crate::plan::{OpId, Plan, TensorId};
use crate::reference::{Reference, ReferenceError, TensorData};

/// Why a side cannot execute an operation.
#[derive(Debug, Error)]
pub enum SideError {
    /// The CPU reference.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The device.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// A recording.
    #[error("{0}")]
    Recording(String),
    /// Neither side knows a tensor that the search needs.
    #[error("operation {op} needs tensor {tensor}, which neither side can give")]
    Unknown {
        /// Label of the operation.
        op: String,
        /// Label of the tensor.
        tensor: String,
    },
}

/// One execution of a plan, operation by operation.
pub trait Side {
    /// What it is, for people.
    fn name(&self) -> String;

    /// The outputs of an operation on `inputs`, in the order of [`OpKind::outputs`](crate::plan::OpKind::outputs); `None`
    /// for what a recording does not hold.
    ///
    /// # Errors
    /// The operation cannot be executed.
    fn execute(&mut self, id: OpId, inputs: &[&TensorData]) -> Result<Vec<Option<TensorData>>, SideError>;
}

/// The CPU reference.
pub struct ReferenceSide<'a>(pub &'a Reference);

impl Side for ReferenceSide<'_> {
    fn name(&self) -> String {
        "CPU reference".to_owned()
    }

    fn execute(&mut self, id: OpId, inputs: &[&TensorData]) -> Result<Vec<Option<TensorData>>, SideError> {
        Ok(self.0.execute_op(id, inputs)?.into_iter().map(|output| Some(output.data)).collect())
    }
}

/// A network on a device. Inputs and outputs of one operation live at the same time, so shared memory is no obstacle.
pub struct DeviceSide<'a> {
    /// The network.
    pub network: &'a Network,
    /// What it is called.
    pub name: String,
}

impl Side for DeviceSide<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn execute(&mut self, id: OpId, inputs: &[&TensorData]) -> Result<Vec<Option<TensorData>>, SideError> {
        let plan = self.network.plan();
        let op = plan.op(id);
        for (tensor, data) in op.kind.inputs().into_iter().zip(inputs) {
            self.network.write_tensor(tensor, &data.to_bytes())?;
        }
        self.network.run_op(id)?;
        let read = |id: TensorId| -> Result<Option<TensorData>, SideError> {
            let bytes = self.network.read_tensor(id)?;
            Ok(Some(TensorData::from_bytes(plan.tensor(id).format, &bytes)))
        };
        op.kind.outputs().into_iter().map(read).collect()
    }
}

/// A recording, of all tensors or of some.
pub struct RecordedSide<'a> {
    plan: &'a Plan,
    name: String,
    load: Box<Loader<'a>>,
}

/// Reads a recorded tensor; `None` where it is not recorded.
type Loader<'a> = dyn FnMut(TensorId) -> Result<Option<TensorData>, SideError> + 'a;

impl<'a> RecordedSide<'a> {
    /// A recording whose tensors `load` reads when they are needed.
    pub fn new(
        plan: &'a Plan,
        name: impl Into<String>,
        load: impl FnMut(TensorId) -> Result<Option<TensorData>, SideError> + 'a,
    ) -> Self {
        Self { plan, name: name.into(), load: Box::new(load) }
    }
}

impl Side for RecordedSide<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn execute(&mut self, id: OpId, _: &[&TensorData]) -> Result<Vec<Option<TensorData>>, SideError> {
        self.plan.op(id).kind.outputs().into_iter().map(|tensor| (self.load)(tensor)).collect()
    }
}
