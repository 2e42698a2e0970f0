//! `nrview report`, and the button of the same name: a folder with what somebody needs to help, without personal paths.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result};
use gpu::Device;
use network::frame::Parameters;
use network::geometry::{Extent, Geometry};
use renderer::{Scene, View};
use serde_json::{Value, json};

use super::args::RouteArg;
use super::outcome::{CommandResult, Outcome};
use super::{Globals, log, write};
use crate::engine::neural::Neural;
use crate::engine::pace::Pace;
use crate::engine::studio::Studio;
use crate::engine::{Engines, memory, model, stages};
use crate::window::presets::Presets;
use crate::window::saved::{self, Saved};

/// Frames that `nrview report` measures, after one that is not counted.
const FRAMES: u32 = 3;

/// Arguments of `nrview report`.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// Folder in which the report's own folder is made.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Measure no frames.
    #[arg(long)]
    no_timings: bool,
}

/// Writes a report of the device, the settings and a few frames.
///
/// # Errors
/// The folder cannot be written to. A device that cannot be used is part of the report.
pub fn run(globals: &Globals, args: &ReportArgs) -> CommandResult {
    write::check_folder(&args.out)?;
    let (device, timings) = match Engines::new(globals, RouteArg::Auto) {
        Ok(mut engines) => {
            let device = engines.device().map(|device| describe(device));
            let timings = if args.no_timings { Ok(Value::Null) } else { measure(globals, &mut engines) };
            (device.unwrap_or(Value::Null), timings.unwrap_or_else(|error| json!({ "error": format!("{error:#}") })))
        }
        Err(error) => (json!({ "error": format!("{error:#}") }), Value::Null),
    };
    let folder = save(&args.out, &json!({ "device": device, "settings": settings(), "timings": timings }))?;
    let text = format!("report: {}\n", folder.display());
    Ok(Outcome::yes(json!({ "folder": folder }), text))
}

/// Everything about a device that decides how the program runs on it.
pub fn describe(device: &Device) -> Value {
    let caps = device.caps();
    json!({
        "name": caps.name,
        "kind": format!("{:?}", caps.kind),
        "driver": caps.driver,
        "driverVersion": caps.driver_version,
        "vendor": format!("{:#06x}", caps.vendor_id),
        "device": format!("{:#06x}", caps.device_id),
        "api": format!("{}.{}", caps.api_version >> 22 & 0x7f, caps.api_version >> 12 & 0x3ff),
        "limits": format!("{:?}", caps.limits),
        "subgroup": format!("{:?}", caps.subgroup),
        "matrices": caps.cooperative_matrix.len(),
        "memory": memory::count(device),
    })
}

/// The settings that are kept, and the names of the presets.
fn settings() -> Value {
    let kept = saved::path().map(|path| Saved::read(&path));
    let kept = match kept {
        Some(Ok(kept)) => json!(kept),
        Some(Err(error)) => json!({ "error": format!("{error:#}") }),
        None => Value::Null,
    };
    json!({ "kept": kept, "presets": Presets::of_user().names() })
}

/// Times of a few frames of the smallest usual size.
fn measure(globals: &Globals, engines: &mut Engines) -> Result<Value> {
    let source = model::source(globals)?;
    let model = engines.model(&source)?;
    let (device, kernels, weights) = engines.parts(&model)?;
    let studio = Studio::new(&device, Scene::builtin())?;
    let geometry = Geometry::new(Extent::new(320, 180))?;
    let mut neural = Neural::new(&studio, &kernels, &weights, &geometry, None)?;
    let mut pace = Pace::new(Duration::from_millis(250));
    let mut frames = Vec::new();
    for number in 0..=FRAMES {
        let job = neural.begin(View::scripted(&studio.scene, number, 30.0), Parameters::default(), true);
        let times = neural.finish(&studio, job, &mut pace)?;
        if number > 0 {
            frames.push(json!(times));
        }
    }
    Ok(json!({
        "size": geometry.valid.to_string(),
        "model": model.description(),
        "digest": model.digest(),
        "stages": stages::NAMES,
        "frames": frames,
    }))
}

/// Makes a folder of a new name in `place` and writes the report into it: `report.json` and `log.txt`.
///
/// # Errors
/// It cannot be written.
pub fn save(place: &Path, contents: &Value) -> Result<PathBuf> {
    write::make_folder(place)?;
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let name = |number: u32| place.join(format!("nrview-report-{seconds}-{number}"));
    let folder = (1..1000).map(name).find(|path| !path.exists()).context("no name is left for a report")?;
    write::make_folder(&folder)?;
    let mut contents = contents.clone();
    if let Some(fields) = contents.as_object_mut() {
        fields.insert("version".into(), env!("CARGO_PKG_VERSION").into());
        fields.insert("system".into(), json!([std::env::consts::OS, std::env::consts::ARCH]));
        fields.insert("processors".into(), std::thread::available_parallelism().map_or(0, usize::from).into());
    }
    let names = Names::of_environment();
    let text = serde_json::to_string_pretty(&contents)?;
    write::write_file(&folder.join("report.json"), names.replaced(&text).as_bytes())?;
    let log = log::last().join("\n") + "\n";
    write::write_file(&folder.join("log.txt"), names.replaced(&log).as_bytes())?;
    Ok(folder)
}

/// What tells who somebody is.
struct Names {
    /// Texts with what stands for them; the longest first.
    all: Vec<(String, &'static str)>,
}

impl Names {
    fn of_environment() -> Self {
        let var = |name: &str| std::env::var(name).unwrap_or_default();
        let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
        let here = std::env::current_dir().map(|path| path.display().to_string()).unwrap_or_default();
        Self::new(&here, &var("HOME"), &[&var("USER"), &var("LOGNAME")], &[host.trim(), &var("HOSTNAME")])
    }

    fn new(here: &str, home: &str, users: &[&str], hosts: &[&str]) -> Self {
        let last = home.rsplit('/').next().unwrap_or_default();
        let mut all: Vec<(String, &'static str)> = vec![(here.to_owned(), "."), (home.to_owned(), "~")];
        all.extend(users.iter().copied().chain([last]).map(|name| (name.to_owned(), "user")));
        all.extend(hosts.iter().map(|name| ((*name).to_owned(), "host")));
        // A root or a single letter is no name, and would be found everywhere.
        all.retain(|(name, _)| name.len() > 2);
        all.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self { all }
    }

    /// The text with every name replaced where it stands alone.
    fn replaced(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, stand_in) in &self.all {
            text = replace_words(&text, name, stand_in);
        }
        text
    }
}

/// Replaces a word, or a path with what follows it, but no part of a longer word.
fn replace_words(text: &str, word: &str, stand_in: &str) -> String {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let joined = (before.chars().next_back().is_some_and(part) && word.chars().next().is_some_and(part))
            || after.chars().next().is_some_and(part);
        out.push_str(before);
        out.push_str(if joined { word } else { stand_in });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_named() {
        let names = Names::new("/srv/films/here", "/home/maria", &["maria", ""], &["blue-pc"]);
        let text = "/home/maria/scenes/a.glb /srv/films/here/out maria@blue-pc marian amaria /home/mariana";
        let told = names.replaced(text);
        assert_eq!(told, "~/scenes/a.glb ./out user@host marian amaria /home/mariana");
    }

    #[test]
    fn a_report_is_a_folder_of_its_own() -> Result<()> {
        let place = tempfile::tempdir()?;
        let contents = json!({ "settings": { "path": place.path() } });
        let (first, second) = (save(place.path(), &contents)?, save(place.path(), &contents)?);
        assert_ne!(first, second);
        let report: Value = serde_json::from_str(&std::fs::read_to_string(first.join("report.json"))?)?;
        assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
        assert!(first.join("log.txt").is_file());
        Ok(())
    }
}
