//! The command line: arguments, exit codes, and one file per subcommand.
//!
//! Exit codes: 0 done and true, 1 ran but the answer is no, 2 could not run. Logs go to the standard error stream; with
//! `--json` the standard output stream holds exactly one JSON document.

pub mod args;
mod bench;
mod bisect;
pub mod capture;
mod certify;
mod checks;
mod compare;
mod dataset;
pub mod diagnosis;
mod doctor;
mod fixture;
mod golden;
mod heard;
mod import;
pub mod log;
mod model;
mod motion;
pub mod outcome;
mod parity;
pub mod picture;
mod process;
mod profile;
mod profile_text;
pub mod progress;
mod quality;
pub mod read;
mod record;
pub mod render;
mod replay;
mod report;
pub mod scene;
mod scenes;
mod seeded;
pub mod surroundings;
mod tape;
pub mod text;
mod tune;
mod verify;
mod view;
pub mod write;

#[cfg(test)]
mod combinations;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use serde_json::json;

use crate::engine::retain::ReplayArg;
use outcome::CommandResult;

/// Real-time viewer of the full 71-block neural rendering network.
///
/// Without a subcommand it opens the viewer. Exit status: 0 done and true, 1 ran but the answer is no (mismatch,
/// refused), 2 could not run (bad input, no device).
#[derive(Debug, Parser)]
#[command(name = "nrview", version)]
struct Cli {
    // Before the others, whose heading is for all that follows.
    #[command(flatten)]
    view: view::ViewArgs,
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Options that every subcommand takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Globals {
    /// Vulkan device: its number in `nrview doctor`, or a part of its name. Default: the most capable one.
    #[arg(long, global = true, value_name = "N|NAME")]
    pub device: Option<String>,
    /// Weights: a model directory, a weight container, `starter`, `identity`, `lively[:SEED]`, `sparse[:SEED]` or
    /// `hot[:SEED]`.
    #[arg(long, global = true, value_name = "DIR|NAME[:SEED]")]
    pub model: Option<String>,
    /// Print one JSON document on the standard output stream; logs stay on the error stream.
    #[arg(long, global = true)]
    pub json: bool,
    /// More log lines; twice for all.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// How the network's commands reach the device: `auto` takes what was certified for exactly this case.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "ROUTE")]
    pub replay: ReplayArg,
    /// What `--route auto` may take: only bit-exact routes, or also faster ones that come near. Default: exact.
    #[arg(long, global = true, value_enum, value_name = "QUALITY")]
    pub quality: Option<args::Quality>,
    /// The exact route takes its usual tiles, not those that `nrview tune` has found the fastest.
    #[arg(long, global = true)]
    pub untuned: bool,
    /// Switch the Vulkan validation layer on (it must be installed).
    #[arg(long, global = true)]
    pub validation: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Open the viewer (also without a subcommand).
    View(view::ViewArgs),
    /// Make, check, describe or pack weight models.
    #[command(subcommand)]
    Model(model::ModelCommand),
    /// Render a scene along its camera path to picture files: input, network, side by side.
    Render(render::RenderArgs),
    /// Send one picture through the network.
    Process(process::ProcessArgs),
    /// Check whether a route is bit-exact against recorded fixtures.
    Parity(parity::ParityArgs),
    /// Run every operation on the device and on the CPU on the same inputs; name the first that differs.
    Verify(verify::VerifyArgs),
    /// Record frames with every input and output.
    Capture(capture::CaptureArgs),
    /// Compute recorded frames again, on any route and device: bit-exact, or how far?
    Replay(replay::ReplayArgs),
    /// Write a folder with device, driver, settings, timings and log, without personal paths, for whoever is to help.
    Report(diagnosis::ReportArgs),
    /// Find the first operation at which two routes, or a route and a capture, differ.
    Bisect(bisect::BisectArgs),
    /// PSNR, SSIM, FLIP and exact counts of two pictures, captures or folders.
    Compare(compare::CompareArgs),
    /// Measure how long frames take at some sizes, and their device memory.
    Bench(bench::BenchArgs),
    /// Climb the ladder of a retained route: bytes, proof, timings, long run; write the report.
    Certify(certify::CertifyArgs),
    /// Describe the recorded forward: identity, barriers and why, where its time goes.
    Tape(tape::TapeArgs),
    /// Reproduce a sealed fixture, or say which field moved.
    Golden(golden::GoldenArgs),
    /// Measure where the time and the memory of a frame go, or compare two such profiles.
    Profile(profile::ProfileArgs),
    /// Find the fastest tiles of the exact route's multiplies on this device, and keep them.
    Tune(tune::TuneArgs),
    /// Make a capture of another program's frames: color, motion and depth.
    Import(import::ImportArgs),
    /// Walk at random through everything the viewer can do, for hours if need be, and watch what grows.
    Soak(crate::window::soak::SoakArgs),
    /// List the scenes that come with the program.
    Scenes,
    /// List the Vulkan devices, what each can run, and why not.
    Doctor,
}

/// Parses the arguments, runs the command, prints its outcome and returns the exit code.
pub fn main() -> ExitCode {
    let cli = match parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    log::start(cli.globals.verbose);
    let json = cli.globals.json;
    let code = match run(cli) {
        Ok(outcome) => {
            let code = u8::from(!outcome.holds);
            if json {
                print(&format!("{:#}", outcome.json), code)
            } else if outcome.text.is_empty() {
                code
            } else {
                print(outcome.text.trim_end(), code)
            }
        }
        Err(error) => {
            let message = message(&error);
            if json {
                print(&format!("{:#}", json!({ "error": message })), 2);
            }
            complain(&message);
            2
        }
    };
    ExitCode::from(code.max(u8::from(leaks())))
}

/// Lets every value be a negative number, so that what is wrong with it is said by what reads it: `-1` is no option.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let adapted = |option: clap::Arg| {
        if option.get_action().takes_values() { option.allow_negative_numbers(true) } else { option }
    };
    command.mut_args(adapted).mut_subcommands(with_negative_numbers)
}

/// Reads the arguments.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let matches = with_negative_numbers(Cli::command()).try_get_matches_from(arguments)?;
    // The viewer's own options can stand without `view`; before another command they would say nothing.
    if let Some(command) = matches.subcommand_name() {
        let view = view::ViewArgs::augment_args(clap::Command::new("view"));
        let given =
            |option: &&clap::Arg| matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine);
        if let Some(option) = view.get_arguments().find(given).and_then(clap::Arg::get_long) {
            let message =
                format!("--{option} stands before {command}, where it is the viewer's; put it behind, or leave it out");
            return Err(Cli::command().error(ErrorKind::ArgumentConflict, message));
        }
    }
    match heard::refusal(&matches) {
        Some(message) => Err(Cli::command().error(ErrorKind::ArgumentConflict, message)),
        None => Cli::from_arg_matches(&matches),
    }
}

/// Whether an object of a device is left when all is over; says so, and what a plan of faults has done.
fn leaks() -> bool {
    if let Some(summary) = faults::summary() {
        eprintln!("{summary}");
    }
    let left = gpu::leak_report();
    if !left.is_empty() {
        tracing::error!("leak: {left:?}");
    }
    !left.is_empty()
}

/// Prints a usage error, or the help or version that was asked for. With `--json` an error is a document too.
fn refuse(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        print(&format!("{:#}", json!({ "error": first })), 2);
    }
    let written = error.print();
    if error.use_stderr() {
        return ExitCode::from(2);
    }
    ExitCode::from(code_of(written.and_then(|()| io::stdout().flush()), 0))
}

/// Prints to the standard output stream; the exit code is `code`, unless the text could not be written.
fn print(text: &str, code: u8) -> u8 {
    let mut out = io::stdout();
    code_of(writeln!(out, "{text}").and_then(|()| out.flush()), code)
}

/// The exit code after writing to the standard output stream: an answer that is lost is none. A reader that has gone
/// away (`nrview doctor | head`) has what it wanted.
fn code_of(written: io::Result<()>, code: u8) -> u8 {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("cannot write the output: {error}"));
            2
        }
        _ => code,
    }
}

/// Says on the error stream why the program could not do what it was asked for. With that stream closed the exit code is
/// all that is left to say it.
fn complain(message: &str) {
    _ = writeln!(io::stderr(), "nrview: {message}");
}

/// An error and its causes, leaving out causes that the message before already quotes.
fn message(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        if parts.last().is_none_or(|last| !last.contains(&text)) {
            parts.push(text);
        }
    }
    parts.join(": ")
}

fn run(cli: Cli) -> CommandResult {
    let globals = &cli.globals;
    match cli.command {
        None => view::run(globals, cli.view, false),
        Some(Command::View(args)) => view::run(globals, args, true),
        Some(Command::Model(command)) => model::run(globals, command),
        Some(Command::Process(args)) => process::run(globals, &args),
        Some(Command::Parity(args)) => parity::run(globals, &args),
        Some(Command::Verify(args)) => verify::run(globals, &args),
        Some(Command::Render(args)) => render::run(globals, &args),
        Some(Command::Capture(args)) => capture::run(globals, &args),
        Some(Command::Replay(args)) => replay::run(globals, &args),
        Some(Command::Bisect(args)) => bisect::run(globals, &args),
        Some(Command::Compare(args)) => compare::run(globals, &args),
        Some(Command::Bench(args)) => bench::run(globals, &args),
        Some(Command::Certify(args)) => certify::run(globals, &args),
        Some(Command::Tape(args)) => tape::run(globals, &args),
        Some(Command::Golden(args)) => golden::run(globals, &args),
        Some(Command::Profile(args)) => profile::run(globals, &args),
        Some(Command::Tune(args)) => tune::run(globals, &args),
        Some(Command::Import(args)) => import::run(globals, &args),
        Some(Command::Soak(args)) => crate::window::soak::run(globals, &args),
        Some(Command::Scenes) => scenes::run(),
        Some(Command::Report(args)) => diagnosis::run(globals, &args),
        Some(Command::Doctor) => doctor::run(globals),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_number_is_a_value_wherever_a_value_is() {
        fn check(command: &clap::Command, path: &[&str], seen: &mut usize) {
            for option in command.get_arguments().filter(|option| option.get_action().takes_values()) {
                let Some(long) = option.get_long().filter(|_| !option.is_require_equals_set()) else { continue };
                let name = format!("--{long}");
                let words = ["nrview"].iter().chain(path).copied().chain([name.as_str(), "-1"]);
                if let Err(error) = parse(words.map(OsString::from)) {
                    let wrong = [ErrorKind::UnknownArgument, ErrorKind::InvalidSubcommand];
                    assert!(!wrong.contains(&error.kind()), "{path:?} {error}");
                }
                *seen += 1;
            }
            for sub in command.get_subcommands() {
                check(sub, &[path, &[sub.get_name()]].concat(), seen);
            }
        }
        let mut seen = 0;
        check(&Cli::command(), &[], &mut seen);
        assert!(seen > 60, "{seen} options");
    }

    /// An argument of a subcommand with the name of a global option is the same one to the parser, and ends the program
    /// where they differ in type.
    #[test]
    fn no_argument_has_the_name_of_a_global_one() {
        fn check(command: &clap::Command, globals: &[String], seen: &mut usize) {
            for argument in command.get_arguments().filter(|argument| !argument.is_global_set()) {
                let id = argument.get_id().as_str();
                assert!(!globals.iter().any(|global| global == id), "{} {id}", command.get_name());
                *seen += 1;
            }
            command.get_subcommands().for_each(|command| check(command, globals, seen));
        }
        let all = Cli::command();
        let global = all.get_arguments().filter(|argument| argument.is_global_set());
        let globals: Vec<String> = global.map(|argument| argument.get_id().to_string()).collect();
        assert!(globals.iter().any(|id| id == "model"), "{globals:?}");
        let mut seen = 0;
        check(&all, &globals, &mut seen);
        assert!(seen > 60, "{seen} arguments");
    }
}
