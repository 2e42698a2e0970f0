//! Parity: recorded frames, and bit-exact comparison with them.
//!
//! [`Fixture::open`] reads both forms of a fixture, `manifest.json` with raw files and the compact `fixture.json` with
//! zstd tensors and digests, validates everything and reports all problems at once. The `compare` functions tally
//! differences and give verdicts; [`compose`] makes the published image from a head; [`write_fixture`] records a
//! frame. Running the network is the caller's part.
//!
//! Formats and verdicts: the arithmetic contract, fixtures sections 1 to 3 and 6.

mod checker;
mod compact;
mod compare;
pub mod compose;
mod error;
mod fixture;
mod manifest;
mod verdict;
mod write;

pub use compare::{compare_codes, compare_digest, compare_f32, compare_rgb8};
pub use error::{FixtureError, Problem};
pub use fixture::{Boundary, BoundaryError, Conditioning, Fixture, ModelIdentity, OutputReference, Proxy, Reference};
pub use verdict::{CompareError, Comparison, Position, Tally, Verdict};
pub use write::{RecordedInput, RecordedOutput, Recording, write_fixture};
