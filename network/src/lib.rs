//! The network: contract arithmetic, model, plan, execution, frame pipeline, parity.
//!
//! [`geometry`], [`numerics`], [`model`], [`plan`] and [`reference`] know nothing of Vulkan.

pub mod bisect;
pub mod capture;
pub mod exec;
pub mod frame;
pub mod geometry;
mod hostile;
pub mod import;
pub mod metrics;
pub mod model;
pub mod numerics;
pub mod parity;
pub mod plan;
pub mod profile;
pub mod reference;
pub mod replay;
