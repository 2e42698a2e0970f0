//! Weight models: the 153 records of the network, from a directory, a container or a generator.
//!
//! A [`Model`] holds the records as packed bytes, in memory. [`Source`] turns the `--model` argument into one;
//! [`load`] reads a portable model directory, [`write`] writes one, [`synth`] generates synthetic weights,
//! [`container`] is the compressed form in which the weights of [`starter`] travel. Consumers ask for natural-order
//! data through the references of a plan (`Model::fp8`, `Model::prior`, ...).
//!
//! Formulas and formats: the arithmetic contract, weights sections 1 to 7.

mod access;
pub mod container;
mod error;
pub(crate) mod files;
mod info;
pub mod layout;
mod load;
mod manifest;
pub mod packing;
pub(crate) mod records;
mod source;
pub mod starter;
pub mod synth;
mod write;

pub use error::ModelError;
pub use info::{Info, Surplus};
pub use load::{is_model_directory, load};
pub use records::{Model, Provenance};
pub use source::Source;
pub use write::{Grouping, WriteOptions, Written, write};
