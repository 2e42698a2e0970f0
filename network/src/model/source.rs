//! The `--model` argument.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::error::ModelError;
use super::records::Model;
use super::synth::{self, DEFAULT_SEED, Preset};
use super::{container, load, starter};

/// What may stand for a model, as error messages and help list it.
const CHOICES: &str = "starter, identity, lively[:SEED], sparse[:SEED], hot[:SEED]";

/// Where a model is to come from.
///
/// Parsed from `starter`, `identity`, `lively[:SEED]`, `sparse[:SEED]`, `hot[:SEED]`, or the path of a model directory
/// or weight container. Seeds are decimal or, with `0x`, hexadecimal. `./starter` names a directory of that name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The starter weights, built in.
    #[default]
    Starter,
    /// Synthetic weights, generated in memory.
    Synthetic {
        /// The kind.
        preset: Preset,
        /// The generator's seed.
        seed: u64,
    },
    /// A portable model directory.
    Directory(PathBuf),
    /// A weight container.
    Container(PathBuf),
}

impl FromStr for Source {
    type Err = ModelError;

    fn from_str(argument: &str) -> Result<Self, ModelError> {
        let unknown = |problem: &str| ModelError::UnknownSource {
            argument: argument.to_owned(),
            problem: problem.to_owned(),
            choices: CHOICES,
        };
        let (name, seed) = match argument.split_once(':') {
            Some((name, seed)) => (name, Some(seed)),
            None => (argument, None),
        };
        if argument == "starter" {
            return Ok(Self::Starter);
        }
        if let Some(preset) = Preset::from_name(name) {
            let seed = match seed {
                None => DEFAULT_SEED,
                Some(_) if preset == Preset::Identity => return Err(unknown("identity takes no seed")),
                Some(text) => parse_seed(text).ok_or_else(|| unknown("its seed is not an integer below 2^64"))?,
            };
            return Ok(Self::Synthetic { preset, seed });
        }
        let path = PathBuf::from(argument);
        if path.is_dir() {
            Ok(Self::Directory(path))
        } else if path.is_file() {
            Ok(Self::Container(path))
        } else if argument.contains(std::path::is_separator) {
            // Meant as a path; the loader's error says what is missing.
            Ok(Self::Directory(path))
        } else {
            Err(unknown("no preset, and no file or folder of that name"))
        }
    }
}

impl Source {
    /// The built-in weights of a name; never a file. For names that a file of others gives.
    pub fn built_in(name: &str) -> Option<Self> {
        // Names come before paths: what parses to a path is none.
        name.parse().ok().filter(|source| !matches!(source, Self::Directory(_) | Self::Container(_)))
    }

    /// A name for documents that leave this machine: that of built-in weights, else a file's without its folders.
    pub fn public_name(&self) -> String {
        match self {
            Self::Directory(path) | Self::Container(path) => public_name(path),
            built_in => built_in.to_string(),
        }
    }
}

/// The last part of a path: where it lies is nobody's business.
pub(super) fn public_name(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole.file_name().map_or_else(|| "weights".to_owned(), |name| name.to_string_lossy().into_owned())
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Starter => f.write_str("starter"),
            Self::Synthetic { preset: Preset::Identity, .. } => f.write_str("identity"),
            Self::Synthetic { preset, seed } => write!(f, "{}:{seed}", preset.name()),
            Self::Directory(path) | Self::Container(path) => path.display().fmt(f),
        }
    }
}

impl Source {
    /// Reads, expands or generates the model. `verify` checks the stage digests of a directory.
    ///
    /// # Errors
    /// Those of the loader or the container.
    pub fn open(&self, verify: bool) -> Result<Model, ModelError> {
        match self {
            Self::Starter => starter::model(),
            Self::Synthetic { preset, seed } => synth::generate(*preset, *seed),
            Self::Directory(path) => load(path, verify),
            Self::Container(path) => container::read(path),
        }
    }
}

fn parse_seed(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => u64::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_parse_with_and_without_seed() {
        let parse = |text: &str| text.parse::<Source>().unwrap();
        assert_eq!(parse("starter"), Source::Starter);
        assert_eq!(parse("identity"), Source::Synthetic { preset: Preset::Identity, seed: 1 });
        assert_eq!(parse("lively"), Source::Synthetic { preset: Preset::Lively, seed: 1 });
        assert_eq!(parse("sparse:7"), Source::Synthetic { preset: Preset::Sparse, seed: 7 });
        assert_eq!(parse("hot:0xff"), Source::Synthetic { preset: Preset::Hot, seed: 255 });
        for text in ["starter", "identity", "lively:3", "hot:255"] {
            assert_eq!(parse(text).to_string(), text);
        }
    }

    #[test]
    fn paths_are_directories_or_containers() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap();
        assert_eq!(path.parse::<Source>().unwrap(), Source::Directory(dir.path().into()));
        let file = dir.path().join("w.nrw");
        std::fs::write(&file, b"NRWEIGHT").unwrap();
        let source = file.to_str().unwrap().parse::<Source>().unwrap();
        assert_eq!(source, Source::Container(file));
        assert!(matches!(source.open(true), Err(ModelError::InvalidContainer { .. })));
        let missing = format!("{path}/none").parse::<Source>().unwrap();
        assert!(matches!(missing.open(true), Err(ModelError::Missing { .. })));
    }

    #[test]
    fn names_from_others_lead_to_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("w.nrw");
        std::fs::write(&file, b"NRWEIGHT").unwrap();
        for text in
            [dir.path().to_str().unwrap(), file.to_str().unwrap(), "..", "../x", "./starter", "/etc", "", "C:\\x"]
        {
            assert_eq!(Source::built_in(text), None, "{text}");
        }
        for text in ["starter", "identity", "lively:3", "hot:255"] {
            assert_eq!(Source::built_in(text).unwrap().public_name(), text);
        }
        assert_eq!(Source::Container(file).public_name(), "w.nrw");
        let own = dir.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(Source::Directory(dir.path().join("../").join(own)).public_name(), own);
    }

    #[test]
    fn unknown_presets_list_the_choices() {
        for text in ["livly", "lively:", "lively:x", "lively:+1", "lively:-1", "hot:0x", "hot:0x+1", "identity:2", ""] {
            let error = text.parse::<Source>().unwrap_err().to_string();
            assert!(error.contains(CHOICES) && error.contains(&format!("{text:?}")), "{error}");
        }
    }
}
