//! The arithmetic contract, scalar: the one place where the network's numbers are spelled on the CPU.
//!
//! Two programs that agree as real-valued functions but round at different places give different pictures, so every
//! rounding here is normative. Halves are plain `u16` bit patterns and E4M3 codes plain `u8`, as they lie in tensors.
//! The shaders' `numerics.glsl` mirrors these functions, names included; the CPU reference runs vector forms of the hot
//! ones that are tested bit for bit against these.
//!
//! | module | numerics section |
//! | --- | --- |
//! | [`half`] | 1.1, half conversions and single-rounded arithmetic |
//! | [`e4m3`] | 1.2, E4M3 codes |
//! | [`multiply`] | 2 to 4, the F13 and F24 steps, chains, partitions, seeds |
//! | [`silu`] | 5 |
//! | [`cosine`] | 6, cosine normalisation |
//! | [`root`] | 7, reciprocal and reciprocal square root |
//! | [`exponential`] | 8 |
//! | [`softmax`] | 9 and 10, denominators and weights |
//! | [`attention`] | 9 and 10, whole heads |
//! | [`elementwise`] | 11, pool, merge, blend |

pub mod attention;
pub mod cosine;
pub mod e4m3;
pub mod elementwise;
pub mod exponential;
pub mod half;
pub mod multiply;
pub mod root;
pub mod silu;
pub mod softmax;

#[cfg(test)]
pub(crate) mod vectors;
