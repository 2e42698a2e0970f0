//! Settings kept from one start to the next, as JSON.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use faults::files;
use network::geometry::{Extent, Geometry};
use serde::{Deserialize, Serialize};

use super::clip;
use super::layout::Compare;
use super::look::Look;
use super::settings::Settings;
use crate::cli::{args, read, write};
use crate::engine::side::Side;

/// Largest file that is read.
const LARGEST: u64 = 1 << 20;

/// What is kept. Whether the network runs and the scene stands still is not: a viewer starts with its picture in motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    size: Option<String>,
    compare: Compare,
    sides: [Side; 2],
    look: Look,
    temporal: bool,
    jitter: bool,
    shadows: bool,
    occlusion: bool,
    reflections: bool,
    overlay: bool,
    inspector: bool,
    vsync: bool,
    clip_frames: u32,
    clip_files: bool,
    /// Whether the hint of the first start has been read.
    hinted: bool,
}

impl Default for Saved {
    fn default() -> Self {
        let mut saved = Self::of(&Settings::new(Extent::new(1, 1)));
        saved.size = None;
        saved.hinted = false;
        saved
    }
}

impl Saved {
    /// What is kept of the settings.
    pub fn of(settings: &Settings) -> Self {
        Self {
            size: Some(settings.size.to_string()),
            compare: settings.compare,
            sides: settings.sides.clone(),
            // What automatic paper white has come to is found anew.
            look: Look { applied_white: None, ..settings.look },
            temporal: settings.temporal,
            jitter: settings.jitter,
            shadows: settings.shadows,
            occlusion: settings.occlusion,
            reflections: settings.reflections,
            overlay: settings.overlay,
            inspector: settings.inspector,
            vsync: settings.vsync,
            clip_frames: settings.clip_frames,
            clip_files: settings.clip_files,
            hinted: !settings.hint,
        }
    }

    /// The size of the frame, if it is one that can be.
    pub fn size(&self) -> Option<Extent> {
        let size = args::size(self.size.as_deref()?).ok()?;
        Geometry::new(size).ok().map(|geometry| geometry.valid)
    }

    /// Takes everything over but the size. Numbers outside of their ranges are brought into them.
    pub fn apply(&self, settings: &mut Settings) {
        settings.compare = self.compare.clamped();
        settings.sides = self.sides.clone();
        settings.look = self.look.clamped();
        settings.temporal = self.temporal;
        settings.jitter = self.jitter;
        settings.shadows = self.shadows;
        settings.occlusion = self.occlusion;
        settings.reflections = self.reflections;
        settings.overlay = self.overlay;
        settings.inspector = self.inspector;
        settings.vsync = self.vsync;
        settings.clip_frames = self.clip_frames.clamp(*clip::LENGTHS.start(), *clip::LENGTHS.end());
        settings.clip_files = self.clip_files;
        settings.hint = !self.hinted;
    }

    /// Reads a file; a missing one has no settings.
    ///
    /// # Errors
    /// It cannot be read, or its contents are no settings.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let text = match read::text(path, LARGEST) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read the settings {}", path.display())),
        };
        let saved = Self::parse(&text);
        saved.map(Some).with_context(|| format!("the settings {} are broken and not used", path.display()))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// It holds no settings.
    pub fn parse(text: &str) -> Result<Self> {
        read::parse(text)
    }

    /// The text of a file.
    ///
    /// # Errors
    /// A number has no form in JSON.
    pub fn text(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// Writes a file, with its folder.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        if let Some(folder) = path.parent() {
            files::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        write::write_file(path, self.text()?.as_bytes())
    }
}

/// What a start finds.
pub struct Last {
    /// The settings of the last time; the defaults where there are none that can be used.
    pub saved: Saved,
    /// What is wrong with the file.
    pub wrong: Option<String>,
    /// Whether the file may be written: nothing that could not be read is there.
    pub writable: bool,
}

impl Last {
    /// Without a file.
    pub fn none() -> Self {
        Self { saved: Saved::default(), wrong: None, writable: true }
    }

    /// Reads a file. One that cannot be used is put aside when this start will write its own: it may be a person's work, with
    /// one comma too many.
    pub fn read(path: &Path, writes: bool) -> Self {
        let error = match Saved::read(path) {
            Ok(saved) => return Self { saved: saved.unwrap_or_default(), ..Self::none() },
            Err(error) => format!("{error:#}"),
        };
        if !writes {
            return Self { wrong: Some(error), writable: false, ..Self::none() };
        }
        let (kept, writable) = match put_aside(path) {
            Ok(aside) => (format!("the file is kept as {}", aside.display()), true),
            Err(reason) => (format!("it stays as it is, new settings are not kept: {reason}"), false),
        };
        Self { wrong: Some(format!("{error}; {kept}")), writable, ..Self::none() }
    }
}

/// Gives a file another name in its folder, one that nothing has.
fn put_aside(path: &Path) -> std::io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let free = (0..1000)
        .map(|number| match number {
            0 => path.with_file_name(format!("{name}.broken")),
            _ => path.with_file_name(format!("{name}.broken-{number}")),
        })
        .find(|other| other.symlink_metadata().is_err())
        .ok_or_else(|| std::io::Error::other("there are too many broken ones"))?;
    std::fs::rename(path, &free)?;
    Ok(free)
}

/// The file of the user's settings; `None` without a home.
pub fn path() -> Option<PathBuf> {
    place(|name| std::env::var_os(name))
}

/// The file that an environment asks for.
fn place(var: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(base.join("nrview").join("settings.json"))
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::window::layout::CompareMode;

    #[test]
    fn settings_come_back() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("new").join("settings.json");
        assert_eq!(Saved::read(&path)?, None);
        let mut settings = Settings::new(Extent::new(640, 360));
        settings.compare.mode = CompareMode::Difference;
        settings.sides = ["history:off", "reference:16"].map(|name| name.parse().unwrap());
        settings.look.tone = 0.25;
        settings.look.custom = true;
        settings.shadows = false;
        Saved::of(&settings).write(&path)?;
        let saved = Saved::read(&path)?.unwrap_or_default();
        assert_eq!(saved.size(), Some(Extent::new(640, 360)));
        let mut back = Settings::new(Extent::new(640, 360));
        saved.apply(&mut back);
        assert_eq!(back, settings);
        Ok(())
    }

    #[test]
    fn older_and_broken_files_are_borne() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("settings.json");
        fs::write(&path, r#"{"look": {"tone": 99, "style": "natural"}, "size": "7x7", "unknown": 1}"#)?;
        let saved = Saved::read(&path)?.unwrap_or_default();
        let mut settings = Settings::new(Extent::new(64, 64));
        saved.apply(&mut settings);
        assert_eq!((settings.look.tone, settings.look.intensity, saved.size()), (1.0, 1.0, None));
        fs::write(&path, "{")?;
        assert!(Saved::read(&path).is_err());
        fs::File::create(&path)?.set_len(1 << 40)?;
        assert!(format!("{:#}", Saved::read(&path).unwrap_err()).contains("at most"));
        Ok(())
    }

    #[test]
    fn a_file_that_cannot_be_used_is_kept_beside_the_next() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("settings.json");
        assert!(Last::read(&path, true).wrong.is_none());
        let contents: [(&[u8], &str); 4] = [
            (b"\xff\xfe garbage", "settings.json.broken"),
            (br#"{"overlay": fal"#, "settings.json.broken-1"),
            (br#"{"overlay": "no"}"#, "settings.json.broken-2"),
            (b"", "settings.json.broken-3"),
        ];
        for (bytes, name) in contents {
            fs::write(&path, bytes)?;
            let unwritten = Last::read(&path, false);
            assert!(unwritten.wrong.is_some() && !unwritten.writable);
            assert_eq!(fs::read(&path)?, bytes, "a start that writes nothing moves nothing");
            let last = Last::read(&path, true);
            assert!(last.writable && last.saved == Saved::default());
            assert!(last.wrong.is_some_and(|wrong| wrong.contains("broken") && wrong.ends_with(name)), "{name}");
            Saved::default().write(&path)?;
            assert!(Last::read(&path, true).wrong.is_none());
        }
        for (bytes, name) in contents {
            assert_eq!(fs::read(folder.path().join(name))?, bytes);
        }
        Ok(())
    }

    #[test]
    fn the_file_is_in_the_users_folder() {
        let of = |vars: &[(&str, &str)]| {
            place(|name| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into()))
        };
        assert_eq!(of(&[("XDG_CONFIG_HOME", "/c"), ("HOME", "/h")]), Some("/c/nrview/settings.json".into()));
        assert_eq!(of(&[("XDG_CONFIG_HOME", "c"), ("HOME", "/h")]), Some("/h/.config/nrview/settings.json".into()));
        assert_eq!(of(&[]), None);
    }
}
