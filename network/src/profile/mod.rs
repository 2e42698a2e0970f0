//! Where the time of a frame goes: a profile of one size, model, route and device, and the comparison of two.
//!
//! [`on_device`] and [`on_cpu`] measure the operations of several frames; [`Profile::new`] puts them beside the work that
//! the plan counts. Operations that run together are one entry, which names what it covers. Everything sums to the whole:
//! an entry's samples are parts of its frame's time, work is the plan's own.

mod compare;
mod document;
mod measure;

pub use compare::{Change, Comparison, Within, compare};
pub use document::{Cut, FORMAT, Group, Header, Memory, Operation, Passes, Profile, ProfileError, Rates, Spread, Work};
pub use measure::{Clock, Samples, Stopwatch, on_cpu, on_device};

#[cfg(test)]
mod tests;
