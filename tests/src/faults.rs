//! The program under a plan of deliberate failures (see the crate `faults`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::program::{Finished, command, finish};

/// A software device takes long for a frame.
const LIMIT: Duration = Duration::from_secs(900);

/// Every file below a folder with its bytes, by its path in the folder; folders end with a slash.
pub type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// What a folder holds.
///
/// # Panics
/// When it cannot be read.
#[must_use]
pub fn tree(folder: &Path) -> Tree {
    fn walk(base: &Path, folder: &Path, found: &mut Tree) {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(base).expect("below it").to_owned();
            if path.is_dir() {
                walk(base, &path, found);
            } else {
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    let mut found = Tree::new();
    walk(folder, folder, &mut found);
    found
}

/// Runs the program in its own scratch folder under a plan; `settle` is the home of its caches and settings.
///
/// # Panics
/// When it does not end in time.
#[track_caller]
pub fn run(plan: &str, home: &Path, arguments: &[String]) -> Finished {
    let mut command = command();
    command.env("NRVIEW_FAULT", plan).env("XDG_CACHE_HOME", home).env("XDG_CONFIG_HOME", home).args(arguments);
    finish(command, LIMIT)
}

/// The numbers of the line that the program ends with: calls by their place, and `struck`.
///
/// # Panics
/// When the program did not say it.
#[track_caller]
#[must_use]
pub fn counts(run: &Finished) -> BTreeMap<String, u64> {
    let line = run.stderr.lines().find_map(|line| line.strip_prefix("faults: ")).unwrap_or_else(|| panic!("{run:#?}"));
    let number = |word: &str| {
        let (name, number) = word.split_once('=')?;
        Some((name.to_owned(), number.parse().ok()?))
    };
    line.split(' ').filter_map(number).collect()
}

/// What is wrong with a run under a plan that struck, in words.
///
/// It failed with exit code 2, one message that is not empty, no panic and no leak; or the failure was survived, and the
/// exit code is the one of a clean run.
#[must_use]
pub fn problem(run: &Finished, clean: i32) -> Option<String> {
    let said: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("nrview: ")).collect();
    let wrong = if run.stderr.contains("panicked") {
        "it panicked"
    } else if run.stderr.contains("leak") {
        "objects are left"
    } else if run.stderr.contains("validation:") {
        "the validation layer has complaints"
    } else if counts(run)["struck"] == 0 {
        "nothing was made to fail"
    } else if run.code != Some(2) && run.code != Some(clean) {
        "the exit code is another"
    } else if run.code == Some(2) && (said.len() != 1 || said[0].len() < 30) {
        "there is not one message"
    } else {
        return None;
    };
    Some(format!("{wrong}: {run:#?}"))
}
