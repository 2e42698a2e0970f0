//! Weight models: the 153 records of the network, from a directory, a container or a generator.
//!
//! A [`Model`] holds the records as packed bytes, in memory. [`load`] reads a portable model directory, [`write`]
//! writes one, [`synth`] generates synthetic weights. Consumers ask for natural-order data through the references of
//! a plan (`Model::fp8`, `Model::prior`, ...).
//!
//! Formulas and formats: the arithmetic contract, weights sections 1 to 7.

mod access;
mod error;
mod files;
pub mod layout;
mod load;
mod manifest;
pub mod packing;
mod records;
pub mod synth;
mod write;

pub use error::ModelError;
pub use load::{is_model_directory, load};
pub use records::{Model, Provenance};
pub use write::{Grouping, WriteOptions, Written, write};
