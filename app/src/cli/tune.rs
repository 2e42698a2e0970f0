//! `nrview tune`: which tiles of the exact route's multiplies are the fastest on this device.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use network::exec::tune::{Found, Search, Verdict, Whole};
use network::exec::{Entry, Kernels, Route, Table};
use network::geometry::{Extent, Geometry};
use network::plan::Plan;
use serde_json::{Value, json};

use super::args;
use super::outcome::{CommandResult, Outcome};
use super::{Globals, progress, text};
use crate::engine::gpu_route::submission_cost;
use crate::engine::{Engines, device, fit, model};

/// Arguments of `nrview tune`.
#[derive(Debug, clap::Args)]
pub struct TuneArgs {
    /// Sizes of the frame; give the ones that are used. Default: 1920x1080, on a CPU 320x180.
    #[arg(long = "size", value_name = "WxH", value_parser = args::size)]
    sizes: Vec<Extent>,
    /// The search ends after so long; what has been found by then is kept.
    #[arg(long, default_value = "5", value_name = "MINUTES", value_parser = minutes)]
    minutes: f64,
}

/// Parses minutes, more than none and up to a day.
fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && value <= 1440.0 => Ok(value),
        _ => Err(format!("{} is no number of minutes above 0 and up to 1440", messages::quoted(text))),
    }
}

/// What was found for one size.
struct Sized {
    size: Extent,
    found: Vec<Found>,
    /// Whole frames, when something won.
    whole: Option<Whole>,
}

impl Sized {
    /// Whether its winners are kept.
    fn kept(&self) -> bool {
        self.whole.is_some_and(|whole| whole.equal && whole.faster)
    }
}

/// Searches, and keeps what it finds.
pub fn run(globals: &Globals, args: &TuneArgs) -> CommandResult {
    let source = model::source(globals)?;
    let device = device::open(globals)?;
    let sizes = match (args.sizes.as_slice(), device.caps().is_cpu) {
        ([], true) => vec![Extent::new(320, 180)],
        ([], false) => vec![Extent::new(1920, 1080)],
        (sizes, _) => sizes.to_vec(),
    };
    let fitting = sizes.iter().map(|size| fit::check(&device, *size, 0));
    let geometries: Vec<Geometry> = fitting.collect::<Result<_, _>>()?;
    let mut engines = Engines::exact(&device)?;
    let (_, kernels, weights) = engines.parts(&source.open(true)?)?;
    let search = Search::new(&kernels, &weights)?;
    let key = device.cache_key();
    let mut table = Table::load(&device, kernels.tuning()).unwrap_or_else(|| Table::new(key, kernels.tuning()));
    let begun = Instant::now();
    let whole = Duration::from_secs_f64(60.0 * args.minutes);
    let mut all = Vec::new();
    for (number, (size, geometry)) in (1..).zip(sizes.iter().zip(&geometries)) {
        let plan = Plan::new(geometry);
        let share = f64::from(number) / sizes.len() as f64;
        let until = begun + whole.mul_f64(share);
        let bar = progress::bar(search.shapes(&plan) as u64, "shapes of multiplies");
        let found = search.run(&plan, until, &mut |found| {
            tracing::info!("{}", line(found).join("  "));
            bar.inc(1);
        })?;
        bar.finish_and_clear();
        all.push(settle(&search, &plan, *size, found, &mut table, &device)?);
    }
    // Without a measurement there is no answer, and no reason to touch what an earlier search has found.
    if all.iter().all(|sized| sized.found.is_empty()) && begun.elapsed() >= whole {
        bail!("nothing was tried in {} minutes, the table stays as it was; give more --minutes", args.minutes);
    }
    let file = table.save(&device).context("the table of tiles cannot be written")?;
    let (digest, kept) = (table.digest(), table.entries().count());
    // The same way that every command takes it: read back, and checked.
    let taken = Kernels::tuned(&device, Route::Exact)?;
    let json = json!({
        "device": device.caps().name,
        "driver": device.caps().driver,
        "form": format!("{:?}", kernels.tuning()).to_lowercase(),
        "table": { "file": file, "digest": digest, "entries": kept },
        "inUse": taken.table().map(Table::digest),
        "seconds": begun.elapsed().as_secs_f64(),
        "sizes": all.iter().map(document).collect::<Vec<_>>(),
    });
    let mut out = String::new();
    all.iter().for_each(|sized| out += &describe(sized));
    let place = file.map_or("kept nowhere: there is no cache folder".to_owned(), |file| file.display().to_string());
    out += &format!("table {digest:.12}, {kept} shapes: {place}\n");
    let equal = all.iter().all(|sized| sized.whole.is_none_or(|whole| whole.equal));
    Ok(Outcome { json, text: out, holds: equal })
}

/// Puts a size's winners into the table when whole frames are equal and faster with them.
fn settle(
    search: &Search<'_>,
    plan: &Plan,
    size: Extent,
    found: Vec<Found>,
    table: &mut Table,
    device: &gpu::Device,
) -> Result<Sized> {
    let before = table.clone();
    for one in &found {
        table.remove(&one.shape);
        if let Some(trial) = one.chosen() {
            let (nanoseconds, untuned_nanoseconds) = (trial.nanoseconds, one.untuned_nanoseconds);
            table.insert(one.shape, Entry { variant: trial.variant, nanoseconds, untuned_nanoseconds });
        }
    }
    let rounds = if device.caps().is_cpu { 2 } else { 15 };
    let won = found.iter().any(|one| one.chosen().is_some());
    let whole = won.then(|| search.whole(plan, table, submission_cost(device.caps().kind), rounds)).transpose()?;
    let sized = Sized { size, found, whole };
    if won && !sized.kept() {
        *table = before;
        sized.found.iter().for_each(|one| table.remove(&one.shape));
    }
    Ok(sized)
}

fn ms(nanoseconds: u64) -> String {
    format!("{:.3}", nanoseconds as f64 / 1e6)
}

/// A shape in a table: what it is, untuned, and the best variant.
fn line(found: &Found) -> Vec<String> {
    let name = |shader: &str| shader.rsplit('.').next().unwrap_or(shader).to_owned();
    let differ = found.trials.iter().filter(|trial| trial.verdict == Verdict::Differs).count();
    let fastest = found.trials.iter().filter(|trial| trial.nanoseconds > 0).min_by_key(|trial| trial.nanoseconds);
    vec![
        found.shape.to_string(),
        found.uses.to_string(),
        format!("{} {}", name(&found.untuned), ms(found.untuned_nanoseconds)),
        fastest.map_or_else(String::new, |trial| format!("{} {}", trial.variant.name, ms(trial.nanoseconds))),
        match found.chosen() {
            Some(trial) => format!("{} is taken", trial.variant.name),
            None if differ > 0 => format!("{differ} differ"),
            None => "stays".to_owned(),
        },
    ]
}

fn describe(sized: &Sized) -> String {
    let head = ["shape", "uses", "untuned ms", "fastest variant ms", "result"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(sized.found.iter().map(line));
    let whole = match sized.whole {
        None if sized.found.is_empty() => "nothing was tried".to_owned(),
        None => "nothing is clearly faster than the untuned tiles".to_owned(),
        Some(whole) => format!(
            "whole frames: {:.2} ms untuned, {:.2} ms tuned, {}{}",
            1e3 * whole.untuned,
            1e3 * whole.tuned,
            if whole.equal { "heads equal" } else { "HEADS DIFFER" },
            if sized.kept() { "" } else { "; not kept" },
        ),
    };
    format!("{}\n{}{whole}\n", sized.size, text::table(&rows))
}

fn document(sized: &Sized) -> Value {
    let trials = |found: &Found| -> Vec<Value> {
        let one = |trial: &network::exec::tune::Trial| {
            json!({
                "variant": trial.variant.name,
                "verdict": format!("{:?}", trial.verdict).to_lowercase(),
                "nanoseconds": trial.nanoseconds,
            })
        };
        found.trials.iter().map(one).collect()
    };
    let found = |found: &Found| {
        json!({
            "shape": found.shape,
            "first": found.label,
            "uses": found.uses,
            "untuned": found.untuned,
            "untunedNanoseconds": found.untuned_nanoseconds,
            "trials": trials(found),
        })
    };
    json!({
        "size": sized.size.to_string(),
        "shapes": sized.found.iter().map(found).collect::<Vec<_>>(),
        "whole": sized.whole.map(|whole| json!({
            "equal": whole.equal,
            "untunedMs": 1e3 * whole.untuned,
            "tunedMs": 1e3 * whole.tuned,
        })),
        "kept": sized.kept(),
    })
}
