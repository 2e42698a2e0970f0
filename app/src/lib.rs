//! nrview: a real-time viewer of the full 71-block neural rendering network.
//!
//! The program is a library with one entry, [`main`], so that fuzzers reach what reads files; it has no stable interface.

#![forbid(unsafe_code)]

mod cli;
mod engine;
#[doc(hidden)]
pub mod outside;
mod overlay;
mod plot;
mod window;

/// The program, with the arguments of the process.
pub fn main() -> std::process::ExitCode {
    cli::main()
}
