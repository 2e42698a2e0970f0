//! Weight models: the 153 records of the network, from a directory, a container or a generator.
//!
//! A [`Model`] holds the records as packed bytes, in memory. Consumers ask for natural-order data through the
//! references of a plan (`Model::fp8`, `Model::prior`, ...).
//!
//! Formulas and formats: the arithmetic contract, weights sections 1 to 7.

mod access;
mod error;
pub mod layout;
pub mod packing;
mod records;

pub use error::ModelError;
pub use records::{Model, Provenance};
