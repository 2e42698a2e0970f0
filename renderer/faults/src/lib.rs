//! Deliberate failures, and the file operations of the program that they reach.
//!
//! `NRVIEW_FAULT` names what is to fail and when: `memory:3` is the third allocation of device memory, `write:2+` the second
//! write to a file and every one after it, `acquire:5=lost` the fifth image of the window with a lost surface. Several are
//! separated by commas; `count` makes nothing fail and counts the calls. The program then ends with a line on the error
//! stream that says how often each place was reached and how many calls were made to fail.
//!
//! The variable is read once. Without it a place costs the look at that one answer, and the device's functions are the
//! driver's own; so the program that is tested is the program that is shipped.

#![forbid(unsafe_code)]

pub mod files;
mod plan;

pub use plan::{Failure, Place, active, calls, reached, set, struck, summary};
