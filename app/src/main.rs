//! The program; everything is in the library beside it.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    nrview::main()
}
