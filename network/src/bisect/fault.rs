//! Seeded faults.

use super::side::{Side, SideError};
use crate::plan::OpId;
use crate::reference::TensorData;

/// One wrong bit in one element of one output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The operation.
    pub op: OpId,
    /// Which of its outputs, from 0.
    pub output: usize,
    /// Element of that output; wraps.
    pub element: usize,
    /// The bit that is flipped, from the least significant; wraps at the element's size.
    pub bit: u32,
}

/// A side with faults.
pub struct Faulty<S> {
    /// What it would be.
    pub side: S,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
}

impl<S: Side> Side for Faulty<S> {
    fn name(&self) -> String {
        self.side.name()
    }

    fn execute(&mut self, id: OpId, inputs: &[&TensorData]) -> Result<Vec<Option<TensorData>>, SideError> {
        let mut outputs = self.side.execute(id, inputs)?;
        for fault in self.faults.iter().filter(|fault| fault.op == id) {
            let count = outputs.len().max(1);
            match outputs.get_mut(fault.output % count) {
                Some(Some(TensorData::Codes(codes))) if !codes.is_empty() => {
                    let at = fault.element % codes.len();
                    codes[at] ^= 1 << (fault.bit % 8);
                }
                Some(Some(TensorData::Halves(halves))) if !halves.is_empty() => {
                    let at = fault.element % halves.len();
                    halves[at] ^= 1 << (fault.bit % 16);
                }
                _ => {}
            }
        }
        Ok(outputs)
    }
}
