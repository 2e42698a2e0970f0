//! Where two executions of a frame part: the first operation and element that differ, and the operands of that element.
//!
//! A [`Side`] executes single operations on given inputs: the CPU reference, a device, or a recording. [`first_difference`]
//! walks a plan in order and gives both sides the same inputs, so a difference is found in the operation that makes it.
//! [`operands`] spells the arithmetic of one output element, down to the groups of the multiply chains. [`Faulty`] seeds a
//! fault into one operation, so that the search itself can be tested.

mod attention;
mod fault;
mod operands;
mod search;
mod side;

pub use fault::{Fault, Faulty};
pub use operands::{Group, Operand, Operands, operands};
pub use search::{Difference, Element, first_difference, walk};
pub use side::{DeviceSide, RecordedSide, ReferenceSide, Side, SideError};

#[cfg(test)]
mod tests;
