//! Which of the options of every command a command hears. One that it does not would say nothing, and is refused.

use clap::ArgMatches;
use clap::parser::ValueSource;

/// Options that decide how an answer comes about; `--json` and `--verbose` are heard everywhere.
const CHOICES: [&str; 6] = ["device", "model", "replay", "quality", "untuned", "validation"];

type Names = &'static [&'static str];

const ALL: Names = &CHOICES;
/// Commands that compute the network on any route, each frame recorded anew.
const NETWORK: Names = &["device", "model", "quality", "untuned", "validation"];
/// The same on the exact route alone.
const EXACT: Names = &["device", "model", "untuned", "validation"];
/// Commands with a device and no network of one's choice.
const DEVICE: Names = &["device", "validation"];
const NONE: Names = &[];

/// Commands and what they hear, an option that leaves them fewer (by its name in the program) before the command itself.
const HEARD: [(&str, Option<&str>, Names); 30] = [
    ("view", None, ALL),
    ("synth", None, NONE),
    ("validate", None, &["model"]),
    ("info", None, &["model"]),
    ("pack", None, &["model"]),
    ("render", Some("check_motion"), DEVICE),
    ("render", Some("dataset"), DEVICE),
    ("render", None, ALL),
    ("process", None, NETWORK),
    ("parity", None, NETWORK),
    ("verify", None, EXACT),
    ("capture", None, NETWORK),
    ("replay", Some("export_fixture"), NONE),
    ("replay", None, NETWORK),
    ("report", None, NETWORK),
    ("bisect", None, EXACT),
    ("compare", None, NONE),
    ("bench", Some("overlay"), DEVICE),
    ("bench", None, NETWORK),
    ("certify", None, EXACT),
    ("tape", None, EXACT),
    ("golden", None, &["device", "model", "replay", "untuned", "validation"]),
    ("profile", Some("compare"), NONE),
    ("profile", None, NETWORK),
    ("tune", None, &["device", "model", "validation"]),
    ("import", None, NETWORK),
    ("soak", None, DEVICE),
    ("scenes", None, NONE),
    ("doctor", None, &["device", "untuned", "validation"]),
    ("", None, ALL),
];

fn is_given(matches: &ArgMatches, option: &str) -> bool {
    matches.value_source(option) == Some(ValueSource::CommandLine)
}

/// Why a line is refused: an option that its command does not hear.
pub fn refusal(matches: &ArgMatches) -> Option<String> {
    let (mut name, mut own) = ("", matches);
    while let Some((sub, matches)) = own.subcommand() {
        (name, own) = (sub, matches);
    }
    let of_line = |(command, option, _): &&(&str, Option<&str>, Names)| {
        *command == name && option.is_none_or(|option| is_given(own, option))
    };
    let (_, with, heard) = HEARD.iter().find(of_line)?;
    let deaf = CHOICES.into_iter().find(|choice| !heard.contains(choice) && is_given(matches, choice))?;
    let with = with.map_or_else(String::new, |option| format!(" --{}", option.replace('_', "-")));
    Some(format!("--{deaf} says nothing to {name}{with}; leave it out"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::Cli;
    use super::*;

    #[test]
    fn every_command_says_what_it_hears() {
        fn leaves(command: &clap::Command, found: &mut Vec<String>) {
            match command.get_subcommands().next() {
                None => found.push(command.get_name().to_owned()),
                Some(_) => command.get_subcommands().for_each(|sub| leaves(sub, found)),
            }
        }
        let all = Cli::command();
        let mut found = vec![String::new()];
        leaves(&all, &mut found);
        let mut listed: Vec<&str> =
            HEARD.iter().filter(|(_, option, _)| option.is_none()).map(|(name, ..)| *name).collect();
        listed.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, listed);
        let choices: Vec<&str> = all
            .get_arguments()
            .filter(|option| option.is_global_set() && !matches!(option.get_id().as_str(), "json" | "verbose"))
            .map(|option| option.get_id().as_str())
            .collect();
        assert_eq!(choices, CHOICES);
    }
}
