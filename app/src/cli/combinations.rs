//! No option is ignored: what says nothing beside another one is refused.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory as _};

use super::{Cli, parse};

fn parsed(line: &str) -> Result<(), ErrorKind> {
    let words = std::iter::once("nrview").chain(line.split(' '));
    parse(words.map(OsString::from)).map(|_| ()).map_err(|error| error.kind())
}

/// Ways to use a command that leave some of its options nothing to say, and those that are left.
const MODES: [(&str, &str, &[&str]); 9] = [
    (
        "render",
        "render --check-motion",
        &["scene", "asset_scene", "camera", "camera_path", "frames", "size", "rate", "still_camera", "seed"],
    ),
    (
        "render",
        "render --dataset d",
        &[
            "scene",
            "asset_scene",
            "camera",
            "camera_path",
            "environment",
            "environment_rotation",
            "environment_intensity",
            "exposure",
            "paper_white",
            "frames",
            "size",
            "reference",
            "rate",
            "still_camera",
            "sequences",
            "seed",
            "no_jitter",
            "without",
        ],
    ),
    (
        "capture",
        "capture d --image i.png",
        &[
            "frames",
            "range",
            "route",
            "style",
            "boundaries",
            "all_tensors",
            "pictures",
            "resume",
            "queue",
            "fixture",
            "fault",
        ],
    ),
    ("bench", "bench --overlay", &["frames"]),
    ("replay", "replay --fixture d", &["route"]),
    ("replay", "replay c --export-fixture d", &["frames"]),
    ("profile", "profile --compare a b", &["plot"]),
    ("golden", "golden f", &["seal"]),
    ("synth", "model synth --digest-only", &["preset", "seed"]),
];

/// The command of that name, at any depth.
fn command<'a>(all: &'a Command, name: &str) -> Option<&'a Command> {
    all.get_subcommands().find_map(|sub| if sub.get_name() == name { Some(sub) } else { command(sub, name) })
}

/// Whether an option can be added to a line; values of some kinds are tried until one is of the option's.
fn can_be_added(line: &str, option: &Arg) -> bool {
    let long = option.get_long().expect("a long name");
    let named = option.get_possible_values();
    let values: Vec<String> = match (option.get_action().takes_values(), named.first()) {
        (false, _) => vec![String::new()],
        (true, Some(value)) => vec![format!("={}", value.get_name())],
        (true, None) => ["=1", "=64x64", "=0..1", "=off", "=lively"].map(str::to_owned).to_vec(),
    };
    for value in values {
        match parsed(&format!("{line} --{long}{value}")) {
            Ok(()) => return true,
            Err(ErrorKind::ArgumentConflict | ErrorKind::MissingRequiredArgument) => return false,
            Err(ErrorKind::ValueValidation | ErrorKind::InvalidValue) => {}
            Err(kind) => panic!("{line} --{long}{value}: {kind}"),
        }
    }
    panic!("no value is one of --{long}");
}

#[test]
fn an_option_that_would_say_nothing_is_refused() {
    let all = Cli::command();
    for (name, line, left) in MODES {
        assert_eq!(parsed(line), Ok(()), "{line}");
        let options = command(&all, name).expect("a command").get_arguments().filter(|option| {
            let long = option.get_long();
            !option.is_global_set() && long.is_some_and(|long| long != "help" && !line.contains(&format!("--{long}")))
        });
        let mut added: Vec<&str> =
            options.filter(|option| can_be_added(line, option)).map(|option| option.get_id().as_str()).collect();
        let mut left = left.to_vec();
        added.sort_unstable();
        left.sort_unstable();
        assert_eq!(added, left, "{line}");
    }
}

#[test]
fn an_option_that_needs_another_does_not_stand_alone() {
    let missing = Err(ErrorKind::MissingRequiredArgument);
    for line in [
        "process a.png b.png --skin 1",
        "bench --warm 5",
        "render --sequences 2",
        "render --reference-all",
        "golden f --size 64x64",
        "golden f --frames 2",
        "golden f --floor 1",
    ] {
        assert_eq!(parsed(line), missing, "{line}");
    }
    for line in
        ["process a.png b.png --skin 1 --auto-mask", "bench --warm 5 --arms direct", "golden f --seal --frames 2"]
    {
        assert_eq!(parsed(line), Ok(()), "{line}");
    }
}

#[test]
fn an_option_of_every_command_that_one_does_not_hear_is_refused() {
    for line in [
        "scenes --model lively",
        "--model lively scenes",
        "doctor --replay primary",
        "doctor --model starter",
        "compare a b --device 0",
        "bench --replay primary",
        "bench --overlay --model lively",
        "render --check-motion --model lively",
        "render --dataset d --replay auto",
        "replay c --export-fixture d --device 0",
        "profile --compare a b --untuned",
        "verify --fixture d --quality fast",
        "model synth --out d --model lively",
        "model info starter --validation",
        "soak --model lively",
        "tune --untuned",
    ] {
        assert_eq!(parsed(line), Err(ErrorKind::ArgumentConflict), "{line}");
    }
    for line in [
        "scenes --json -v",
        "doctor --device 0 --untuned",
        "--model lively model info",
        "render --replay primary --quality fast --untuned --device 0 --model lively --validation",
        "golden f --replay primary",
        "soak --validation",
        "--replay primary",
        "view --replay primary",
    ] {
        assert_eq!(parsed(line), Ok(()), "{line}");
    }
}

#[test]
fn the_viewers_options_stand_before_no_other_command() {
    for line in ["--scene fair render", "--size 64x64 bench", "--no-network doctor", "--fresh model info"] {
        assert_eq!(parsed(line), Err(ErrorKind::ArgumentConflict), "{line}");
    }
    for line in ["--json render", "--device 0 --model lively:2 bench", "--scene fair", "view --scene fair", "doctor"] {
        assert_eq!(parsed(line), Ok(()), "{line}");
    }
}
