//! Long random walks through the viewer's engine, and what must not grow on them.

mod random;
mod report;
mod walk;
mod watch;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::cli::Globals;
use crate::cli::outcome::{CommandResult, Outcome};
use crate::cli::write;
use crate::engine::device;
use report::Report;
use walk::Walk;
use watch::Sample;

/// Longest wait for what was given up; reading a scene takes seconds on a slow machine.
const GIVEN_UP: Duration = Duration::from_secs(30);
/// Things done from one measurement to the next.
const ROUND: u32 = 8;

/// Arguments of `nrview soak`.
#[derive(Debug, clap::Args)]
pub struct SoakArgs {
    /// Minutes; parts of one are fine.
    #[arg(long, default_value = "10", value_name = "M", value_parser = minutes)]
    minutes: f64,
    /// Decides what is done, and in which order.
    #[arg(long, default_value = "1", value_name = "S")]
    seed: u64,
    /// Largest side of a frame, in pixels.
    #[arg(long, default_value = "160", value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(64..=4096))]
    most: u32,
    /// Write the report there as JSON, and beside it as text.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes: f64 = text.parse().map_err(|_| format!("{} is not a number", messages::quoted(text)))?;
    if minutes > 0.0 && minutes <= 10_000.0 { Ok(minutes) } else { Err("minutes are above 0 and at most 10000".into()) }
}

/// Walks until the time is over or something fails.
///
/// # Errors
/// No device, or the report cannot be written.
pub fn run(globals: &Globals, args: &SoakArgs) -> CommandResult {
    if let Some(path) = &args.report {
        write::check_file(path)?;
    }
    let folder = scratch()?;
    let result = soak(globals, args, &folder);
    _ = std::fs::remove_dir_all(&folder);
    let mut report = result?;
    report.leaks = gpu::leak_report().iter().map(ToString::to_string).collect();
    report.validation = globals.validation.then(gpu::validation_messages);
    let (json, text) = (serde_json::to_value(&report)?, report.text());
    if let Some(path) = &args.report {
        write::write_file(path, format!("{json:#}\n").as_bytes())?;
        write::write_file(&path.with_extension("txt"), text.as_bytes())?;
    }
    Ok(Outcome { json, text, holds: report.holds() })
}

/// Waits until the device has no more objects than at first: what was given up while it was loaded goes when its thread
/// notices. What stays is for [`watch::grown`] to find, and is named here.
fn settle(device: &gpu::Device, first: &[String]) {
    let begun = Instant::now();
    let mut more = beyond(first, alive(device));
    while !more.is_empty() {
        if begun.elapsed() > GIVEN_UP {
            tracing::warn!("there are more objects than at first: {}", more.join(", "));
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
        more = beyond(first, alive(device));
    }
}

/// The names of a device's objects.
fn alive(device: &gpu::Device) -> Vec<String> {
    device.live_objects().iter().map(|object| format!("{} {:?}", object.kind, object.name)).collect()
}

/// Those that there are more often than at first.
fn beyond(first: &[String], mut now: Vec<String>) -> Vec<String> {
    for name in first {
        if let Some(at) = now.iter().position(|other| other == name) {
            now.swap_remove(at);
        }
    }
    now
}

/// What there is more often than at first, with a plus, and less often, with a minus.
fn apart(first: &[String], now: &[String]) -> Vec<String> {
    let more = beyond(first, now.to_vec()).into_iter().map(|name| format!("+ {name}"));
    let less = beyond(now, first.to_vec()).into_iter().map(|name| format!("- {name}"));
    more.chain(less).collect()
}

/// A folder of this run's own.
fn scratch() -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("nrview-soak-{}", std::process::id()));
    write::make_folder(&folder)?;
    Ok(folder)
}

fn soak(globals: &Globals, args: &SoakArgs, folder: &std::path::Path) -> Result<Report> {
    let device = device::open(globals)?;
    let begun = Instant::now();
    let limit = Duration::from_secs_f64(args.minutes * 60.0);
    let mut report = Report::new(device.caps().name.clone(), args.seed);
    let mut walk = Walk::new(&device, args.seed, args.most, folder).context("the walk cannot begin")?;
    let mut first = Vec::new();
    let mut round = |walk: &mut Walk, samples: &mut Vec<Sample>| -> Result<()> {
        if !samples.is_empty() {
            for _ in 0..ROUND {
                walk.step()?;
            }
        }
        let frame = walk.home()?;
        if samples.is_empty() {
            first = alive(&device);
            tracing::debug!("objects at first: {}", first.join(", "));
        }
        settle(&device, &first);
        let apart = apart(&first, &alive(&device));
        let sample = Sample::take(&device, begun.elapsed().as_secs_f64(), frame, apart);
        tracing::info!("{} deeds, {sample:?}", walk.tallies.values().map(|tally| tally.done).sum::<u64>());
        samples.push(sample);
        Ok(())
    };
    // The first round begins with what is made once; a second sample is the first that can differ.
    while report.samples.len() < 2 || begun.elapsed() < limit {
        if let Err(error) = round(&mut walk, &mut report.samples) {
            report.failure = Some(format!("{error:#}"));
            break;
        }
    }
    report.finish(&walk, begun.elapsed());
    Ok(report)
}
