//! `nrview parity`: is a route bit-exact against recorded fixtures?

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use network::frame::cpu::preprocess;
use network::frame::cpu::preprocess::Source;
use network::frame::{Parameters, Style};
use network::geometry::Extent;
use network::model::Model;
use network::numerics::half;
use network::parity::{Comparison, Fixture};
use network::plan::Plan;
use serde_json::{Value, json};

use super::Globals;
use super::args::{self, RouteArg};
use super::outcome::{CommandResult, Outcome};
use super::quality;
use crate::engine::{Engines, model};

/// Submissions of an exact route unless told otherwise.
const SUBMISSIONS: u32 = 3;
/// Frames of each sequence unless told otherwise, and their size.
const SEQUENCE: u32 = 60;
const SIZE: Extent = Extent::new(640, 360);

/// Arguments of `nrview parity`.
#[derive(Debug, clap::Args)]
pub struct ParityArgs {
    /// A fixture directory, of either form; may be repeated.
    #[arg(long = "fixture", value_name = "DIR", required = true, num_args = 1..)]
    fixtures: Vec<PathBuf>,
    /// Where the network runs.
    #[arg(long, value_enum, default_value_t)]
    route: RouteArg,
    /// On an exact route of a device: production submissions that must give the same head [default: 3].
    #[arg(long, value_name = "N", value_parser = args::count)]
    submissions: Option<u32>,
    /// On a route that is not exact: frames of the temporal sequence [default: 60].
    #[arg(long, value_name = "N")]
    frames: Option<u32>,
    /// On a route that is not exact: size of the temporal sequence [default: 640x360].
    #[arg(long, value_name = "WxH", value_parser = args::size)]
    size: Option<Extent>,
    /// On a route that is not exact: frames of a still camera over which the difference must not grow [default: 60].
    #[arg(long, value_name = "N")]
    still_frames: Option<u32>,
    /// Fixtures only, no sequence.
    #[arg(skip)]
    only_fixtures: bool,
}

impl ParityArgs {
    /// The usual checks of these fixtures on a route.
    pub fn of(fixtures: Vec<PathBuf>, route: RouteArg) -> Self {
        let (submissions, frames, size, still_frames) = (None, None, None, None);
        Self { fixtures, route, submissions, frames, size, still_frames, only_fixtures: true }
    }

    /// Frames of the sequence of a moving camera, and of a still one.
    pub fn sequences(&self) -> [u32; 2] {
        let most = if self.only_fixtures { 0 } else { SEQUENCE };
        [self.frames.unwrap_or(most), self.still_frames.unwrap_or(most)]
    }

    /// Size of the sequences.
    pub fn size(&self) -> Extent {
        self.size.unwrap_or(SIZE)
    }

    /// Refuses options that say nothing on the route that is taken.
    fn check(&self, exact: bool) -> Result<()> {
        let sequence = self.frames.is_some() || self.size.is_some() || self.still_frames.is_some();
        if exact && sequence {
            bail!("--frames, --size and --still-frames are for routes that are not exact; leave them out on this one");
        }
        if self.submissions.is_some() && (!exact || self.route == RouteArg::Cpu) {
            bail!("--submissions is for the exact route of a device; leave it out on this one");
        }
        Ok(())
    }
}

/// One check of a fixture.
struct Check {
    name: &'static str,
    passes: bool,
    summary: String,
    comparisons: Vec<Comparison>,
}

/// Checks every fixture.
pub fn run(globals: &Globals, args: &ParityArgs) -> CommandResult {
    let fixtures = open_all(&args.fixtures)?;
    let mut engines = Engines::new(globals, args.route)?;
    args.check(engines.is_exact())?;
    if !engines.is_exact() {
        return quality::run(globals, args, &fixtures, engines);
    }
    let mut text = String::new();
    let mut documents = Vec::new();
    let mut all = true;
    for fixture in &fixtures {
        let started = Instant::now();
        let model = fixture_model(globals, &mut engines, fixture)?;
        let checks = check(&mut engines, args, fixture, &model)
            .with_context(|| format!("cannot run fixture {}", fixture.name))?;
        let passes = checks.iter().all(|check| check.passes);
        all &= passes;
        report(&mut text, fixture, &checks, passes);
        documents.push(document(fixture, &model, &checks, passes, started.elapsed().as_secs_f64()));
    }
    let (passed, total) = (documents.iter().filter(|d| d["passes"] == true).count(), fixtures.len());
    text.push_str(&format!("{passed} of {total} fixtures pass on route {}\n", engines.route_name()));
    let json = json!({
        "route": engines.route_name(),
        "device": engines.device_name(),
        "passes": all,
        "fixtures": documents,
    });
    Ok(Outcome { json, text, holds: all })
}

/// Opens all fixtures, or none: every problem of every fixture is reported at once.
fn open_all(directories: &[PathBuf]) -> Result<Vec<Fixture>> {
    let mut fixtures = Vec::new();
    let mut problems = Vec::new();
    for directory in directories {
        match Fixture::open(directory) {
            Ok(fixture) => fixtures.push(fixture),
            Err(error) => problems.push(error.to_string()),
        }
    }
    if !problems.is_empty() {
        bail!("nothing was run\n{}", problems.join("\n"));
    }
    Ok(fixtures)
}

/// The model of `--model`, or without one the model that the fixture names.
pub fn fixture_model(globals: &Globals, engines: &mut Engines, fixture: &Fixture) -> Result<Model> {
    let identity = fixture.model.as_ref();
    let named = globals.model.as_deref().filter(|name| *name != "auto");
    let model = match (named, identity) {
        (Some(_), _) => engines.model(&model::source(globals)?)?,
        (None, Some(identity)) => engines.model(&model::of_fixture(identity)?)?,
        (None, None) => bail!("fixture {} does not name its model; give one with --model", fixture.name),
    };
    if let Some(identity) = identity.filter(|identity| identity.digest != model.digest()) {
        if named.is_none() {
            bail!(
                "fixture {} was recorded with a model of digest {}, but {} has {}",
                fixture.name,
                identity.digest,
                model.description(),
                model.digest()
            );
        }
        // A model that this program cannot name may have been given all the same.
        let remedy = model::of_fixture(identity)
            .map_or_else(|_| String::new(), |recorded| format!(", so its bits cannot agree: give --model {recorded}"));
        let given = model.description();
        tracing::warn!("{given} is not the model that fixture {} was recorded with{remedy}", fixture.name);
    }
    Ok(model)
}

/// The features of a fixture: recorded ones, or made from its image.
pub fn features(fixture: &Fixture) -> Result<Vec<u16>> {
    if let Some(features) = fixture.features_half() {
        return Ok(features);
    }
    let (Some(proxy), Some(conditioning)) = (&fixture.proxy, fixture.conditioning) else {
        bail!("fixture {} has neither features nor an image", fixture.name);
    };
    let parameters = Parameters {
        seed: fixture.seed.unwrap_or(0),
        auto_mask: fixture.auto_mask.unwrap_or(false),
        local_tone: conditioning.local_tone,
        local_structure: conditioning.local_structure,
        skin_structure: conditioning.skin_structure,
        style: Style::try_from(conditioning.style as u32)?,
        ..Parameters::image()
    };
    let pixels = proxy.rgba().as_chunks::<4>().0;
    let source = Source::Proxy(pixels, proxy.extent());
    Ok(preprocess(&fixture.geometry, source, None, &parameters).into_flattened())
}

fn check(engines: &mut Engines, args: &ParityArgs, fixture: &Fixture, model: &Model) -> Result<Vec<Check>> {
    let plan = Plan::new(&fixture.geometry);
    let features = features(fixture)?;
    let mut route = engines.route(&plan, model)?;
    let submissions = if args.route == RouteArg::Cpu { 1 } else { args.submissions.unwrap_or(SUBMISSIONS) };
    let head = route.run(&features)?;
    let mut same = 1;
    for _ in 1..submissions {
        same += u32::from(route.run(&features)? == head);
    }
    let mut checks = vec![Check {
        name: "submissions",
        passes: same == submissions,
        summary: format!("{same} of {submissions} production submissions give the same head"),
        comparisons: Vec::new(),
    }];

    let mut boundaries = Vec::new();
    let mut seen = 0;
    let instrumented = route.run_instrumented(&features, &mut |name, bytes| {
        seen += 1;
        if let Some(boundary) = fixture.boundary(name) {
            boundaries.push(boundary.compare(bytes)?);
        }
        Ok(())
    })?;
    drop(route);
    checks.push(Check {
        name: "instrumented",
        passes: instrumented == head,
        summary: format!("the instrumented run gives the production head, {seen} boundaries seen"),
        comparisons: Vec::new(),
    });
    if !fixture.boundaries.is_empty() {
        checks.push(compared("boundaries", boundaries, fixture.boundaries.len()));
    }
    let head: Vec<f32> = head.iter().map(|&bits| half::to_f32(bits)).collect();
    if fixture.head.is_some() {
        checks.push(compared("head", vec![fixture.compare_head(&head)?], 1));
    }
    if fixture.output.is_some() {
        let comparisons = fixture.compare_output(&head)?;
        let count = comparisons.len();
        checks.push(compared("output", comparisons, count));
    }
    Ok(checks)
}

/// A check made of comparisons, of which there must be `expected`.
fn compared(name: &'static str, comparisons: Vec<Comparison>, expected: usize) -> Check {
    let passing = comparisons.iter().filter(|comparison| comparison.verdict.passes()).count();
    let worst = comparisons.iter().map(|comparison| comparison.verdict).min();
    let summary = match worst {
        Some(worst) => format!("{passing} of {expected} {worst}", worst = verdict(worst, passing == expected)),
        None => format!("none of {expected} was computed"),
    };
    Check { name, passes: passing == expected, summary, comparisons }
}

fn verdict(worst: network::parity::Verdict, passes: bool) -> String {
    if passes { worst.to_string() } else { format!("pass; the worst is: {worst}") }
}

fn report(out: &mut String, fixture: &Fixture, checks: &[Check], passes: bool) {
    let word = if passes { "pass" } else { "FAIL" };
    out.push_str(&format!("{} ({} in {}): {word}\n", fixture.name, fixture.geometry.valid, fixture.geometry.field));
    for check in checks {
        let word = if check.passes { "ok  " } else { "FAIL" };
        out.push_str(&format!("  {word} {:<12} {}\n", check.name, check.summary));
        for comparison in check.comparisons.iter().filter(|comparison| !comparison.verdict.passes()).take(8) {
            out.push_str(&format!("       {}\n", comparison.to_string().replace('\n', "\n       ")));
        }
    }
}

fn document(fixture: &Fixture, model: &Model, checks: &[Check], passes: bool, seconds: f64) -> Value {
    let checks: Vec<Value> = checks
        .iter()
        .map(|check| {
            json!({
                "check": check.name,
                "passes": check.passes,
                "summary": check.summary,
                "comparisons": check.comparisons,
            })
        })
        .collect();
    json!({
        "fixture": fixture.name,
        "directory": fixture.directory,
        "size": fixture.geometry.valid.to_string(),
        "field": fixture.geometry.field.to_string(),
        "model": model.description(),
        "digest": model.digest(),
        "passes": passes,
        "checks": checks,
        "seconds": seconds,
    })
}
