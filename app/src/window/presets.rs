//! Named presets: the values of all controls as a JSON file each, beside the settings.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::control;
use super::settings::Settings;
use crate::cli::{read, write};

/// What a preset's file says that it is.
const KIND: &str = "nrview preset";
/// Form of the file.
const VERSION: u32 = 1;
/// Longest name.
const LONGEST: usize = 48;
/// Largest file that is read.
const LARGEST: u64 = 1 << 16;

/// Values of controls by their ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    kind: String,
    version: u32,
    controls: BTreeMap<String, f32>,
}

impl Preset {
    /// The values that the controls have now.
    pub fn of(settings: &Settings) -> Self {
        let controls = control::all().iter().map(|c| (c.id.to_owned(), c.get(settings))).collect();
        Self { kind: KIND.to_owned(), version: VERSION, controls }
    }

    /// Gives every control its value; one that is not named gets its default.
    pub fn apply(&self, settings: &mut Settings) {
        for control in control::all() {
            let value = self.controls.get(control.id).copied().unwrap_or_else(|| control.default_value());
            control.set(settings, value);
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is no preset, or has a control or a value that there is not.
    pub fn read(path: &Path) -> Result<Self> {
        let broken = || format!("the preset {} is broken and not used", path.display());
        let text = read::text(path, LARGEST).with_context(broken)?;
        Self::parse(&text).with_context(broken)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// It is no preset, or has a control or a value that there is not.
    pub fn parse(text: &str) -> Result<Self> {
        let preset: Self = read::parse(text)?;
        preset.check()?;
        Ok(preset)
    }

    /// The text of a file.
    ///
    /// # Errors
    /// A number has no form in JSON.
    pub fn text(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    fn check(&self) -> Result<()> {
        ensure!(self.kind == KIND, "it says that it is {}, not {KIND:?}", messages::quoted(&self.kind));
        ensure!(self.version == VERSION, "its form is version {}; this program reads {VERSION}", self.version);
        for (id, value) in &self.controls {
            let Some(control) = control::find(id) else { bail!("there is no control {}", messages::quoted(id)) };
            let [low, high] = control.ends();
            ensure!(control.takes(*value), "{id} is {value}; it goes from {low} to {high}");
        }
        Ok(())
    }
}

/// The folder of the presets.
#[derive(Clone, Debug)]
pub struct Presets {
    folder: Option<PathBuf>,
}

impl Presets {
    /// Those of a folder; without one nothing can be kept.
    pub fn in_folder(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Those beside the user's settings.
    pub fn of_user() -> Self {
        Self::in_folder(super::saved::path().and_then(|path| Some(path.parent()?.join("presets"))))
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = self.folder.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        let name = |path: PathBuf| {
            let is_preset = path.extension().is_some_and(|end| end == "json");
            path.file_stem()?.to_str().filter(|name| is_preset && check_name(name).is_ok()).map(str::to_owned)
        };
        let mut names: Vec<String> =
            entries.into_iter().flatten().flatten().filter_map(|entry| name(entry.path())).collect();
        names.sort();
        names
    }

    /// Keeps the values of all controls under a name; an older preset of that name is replaced.
    ///
    /// # Errors
    /// The name cannot be one, or the file cannot be written.
    pub fn save(&self, name: &str, settings: &Settings) -> Result<()> {
        let path = self.path(name)?;
        if let Some(folder) = path.parent() {
            write::make_folder(folder)?;
        }
        write::write_file(&path, Preset::of(settings).text()?.as_bytes())
    }

    /// The preset of a name, or in a file that is named by its path.
    ///
    /// # Errors
    /// There is none of that name, or its file is broken.
    pub fn load(&self, name: &str) -> Result<Preset> {
        if Path::new(name).extension().is_some_and(|end| end == "json") {
            return Preset::read(Path::new(name));
        }
        let path = self.path(name)?;
        if !path.is_file() {
            let names = self.names();
            match names.as_slice() {
                [] => bail!("there is no preset {}: none has been saved yet", messages::quoted(name)),
                names => bail!("there is no preset {}; there are {}", messages::quoted(name), messages::listed(names)),
            }
        }
        Preset::read(&path)
    }

    /// Deletes a preset.
    ///
    /// # Errors
    /// There is none of that name, or its file cannot be deleted.
    pub fn delete(&self, name: &str) -> Result<()> {
        let path = self.path(name)?;
        fs::remove_file(&path).with_context(|| format!("cannot delete the preset {}", path.display()))
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        check_name(name)?;
        let folder = self.folder.as_ref().context("presets have no folder: neither XDG_CONFIG_HOME nor HOME is set")?;
        Ok(folder.join(format!("{name}.json")))
    }
}

/// Names become file names: letters, digits, space, minus and underscore.
fn check_name(name: &str) -> Result<()> {
    let fine = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    ensure!(!name.trim().is_empty() && name.trim() == name, "a preset needs a name");
    ensure!(name.len() <= LONGEST, "the name of a preset has at most {LONGEST} characters");
    ensure!(name.chars().all(fine), "{name:?} cannot name a preset; use letters, digits, spaces, - and _");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use network::geometry::Extent;

    fn settings() -> Settings {
        Settings::new(Extent::new(64, 64))
    }

    #[test]
    fn presets_come_back() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let presets = Presets::in_folder(Some(folder.path().join("presets")));
        assert_eq!(presets.names(), Vec::<String>::new());
        assert!(presets.load("warm").unwrap_err().to_string().contains("none has been saved"));
        let mut changed = settings();
        for control in control::all() {
            control.set(&mut changed, control.ends()[1]);
        }
        presets.save("warm", &changed)?;
        presets.save("all at first", &settings())?;
        assert_eq!(presets.names(), ["all at first", "warm"]);
        let mut back = settings();
        presets.load("warm")?.apply(&mut back);
        assert_eq!(back, changed);
        let path = folder.path().join("presets/warm.json");
        presets.load(path.to_str().unwrap_or_default())?.apply(&mut back);
        assert_eq!(back, changed);
        presets.load("all at first")?.apply(&mut back);
        assert_eq!(back, settings());
        presets.delete("warm")?;
        assert!(presets.load("warm").unwrap_err().to_string().contains("there are all at first"));
        assert!(presets.delete("warm").is_err());
        Ok(())
    }

    #[test]
    fn broken_files_are_refused_by_what_is_wrong() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let presets = Presets::in_folder(Some(folder.path().to_owned()));
        let good = |controls: &str| format!(r#"{{"kind": "nrview preset", "version": 1, "controls": {{{controls}}}}}"#);
        for (text, word) in [
            (String::new(), "EOF"),
            (good("")[..30].to_owned(), "EOF"),
            (good("").replace("nrview preset", "song"), "song"),
            (good("").replace('1', "7"), "version 7"),
            (good(r#""warmth": 1"#), "no control \"warmth\""),
            (good(r#""intensity": 7"#), "intensity is 7; it goes from 0 to 1"),
            (good(r#""style": 0.5"#), "style is 0.5"),
            (good(r#""tone": "loud""#), "invalid type"),
            (" ".repeat(1 << 17), "bytes"),
        ] {
            fs::write(folder.path().join("bad.json"), &text)?;
            let error = format!("{:#}", presets.load("bad").unwrap_err());
            assert!(error.contains("broken and not used") && error.contains(word), "{text}: {error}");
        }
        fs::write(folder.path().join("bad.json"), good(r#""tone": 0.5"#))?;
        let mut read = settings();
        presets.load("bad")?.apply(&mut read);
        assert_eq!(read.look.tone, 0.5);
        Ok(())
    }

    #[test]
    fn names_stay_in_the_folder() {
        let presets = Presets::in_folder(Some("/nowhere".into()));
        for name in ["", " ", " a", "../a", "a/b", "a\\b", ".hidden", "a.b", &"x".repeat(60), "a\0"] {
            assert!(presets.save(name, &settings()).is_err(), "{name:?}");
        }
        assert!(check_name("Nacht 2_b-c").is_ok());
        assert!(Presets::in_folder(None).save("a", &settings()).unwrap_err().to_string().contains("HOME"));
    }
}
