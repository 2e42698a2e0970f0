//! nrview: a real-time viewer of the full 71-block neural rendering network.

mod cli;
mod engine;
mod overlay;
mod plot;
mod window;

fn main() -> std::process::ExitCode {
    cli::main()
}
