//! `nrview certify`: the ladder of a retained route. Stops at the first gate that fails, and writes a report.

mod case;
mod gates;
mod life;
mod parity;
mod report;

use std::path::PathBuf;

use network::geometry::{Extent, Geometry};
use network::replay::{Claim, Gate, GateResult, Ladder, ReplayRoute, Verdict};

use super::args;
use super::outcome::{CommandResult, Outcome};
use super::{Globals, write};
use case::Case;

/// Arguments of `nrview certify`.
#[derive(Debug, clap::Args)]
pub struct CertifyArgs {
    /// Size of the frame.
    #[arg(long, value_name = "WxH", default_value = "320x180", value_parser = args::size)]
    pub size: Extent,
    /// The retained route.
    #[arg(long, value_enum, default_value = "primary")]
    pub to: Target,
    /// Folder of the report.
    #[arg(long, value_name = "DIR", default_value = "out/certify")]
    pub out: PathBuf,
    /// Ask less of the long run, the timings and the viewer, for devices on which a frame takes seconds. Each thing that is
    /// relaxed is named, and the verdict is at best "screening".
    #[arg(long)]
    pub relaxed: bool,
    /// Run only the gates up to this one; the verdict is at best "screening".
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub gates: Option<u8>,
    /// Take the timings from the JSON of `nrview bench --arms` instead of measuring them.
    #[arg(long, value_name = "FILE")]
    pub bench: Option<PathBuf>,
}

/// A route that can be certified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Target {
    /// Secondary command buffers.
    Secondary,
    /// Whole frames submitted again.
    Primary,
    /// Whole frames whose dispatches the device reads from a stream.
    Generated,
}

impl Target {
    /// The route.
    pub const fn route(self) -> ReplayRoute {
        match self {
            Self::Secondary => ReplayRoute::Secondary,
            Self::Primary => ReplayRoute::Primary,
            Self::Generated => ReplayRoute::Generated,
        }
    }
}

/// How much is asked.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// Frames compared bit for bit.
    pub shadow: u32,
    /// Frames of the route proof.
    pub proof: u32,
    /// Frames of the viewer's session.
    pub viewer: u32,
    /// Timed frames of each arm, and those before.
    pub timed: (u32, u32),
    /// Frames of the long run.
    pub frames: u32,
    /// Changes of the size.
    pub resizes: u32,
    /// Resets of the history.
    pub resets: u32,
    /// Changes of the model.
    pub swaps: u32,
    /// Injected failures, of five.
    pub failures: usize,
}

impl Demand {
    /// Everything.
    pub const FULL: Self = Self {
        shadow: 15,
        proof: 60,
        viewer: 60,
        timed: (120, 40),
        frames: 10_000,
        resizes: 50,
        resets: 20,
        swaps: 5,
        failures: 5,
    };

    /// What a device can be asked on which a frame takes seconds. Parity is asked in full.
    pub const RELAXED: Self = Self {
        proof: 2,
        viewer: 2,
        timed: (3, 4),
        frames: 4,
        resizes: 1,
        resets: 1,
        swaps: 1,
        failures: 2,
        ..Self::FULL
    };
}

/// Runs the ladder.
pub fn run(globals: &Globals, args: &CertifyArgs) -> CommandResult {
    Geometry::new(args.size)?;
    write::check_folder(&args.out)?;
    if globals.validation {
        anyhow::bail!(
            "the validation layer changes timings and is a reason against replay: certify without --validation"
        );
    }
    let mut case = Case::new(globals, args)?;
    let mut ladder = Ladder::default();
    while let Some(gate) = ladder.next() {
        if args.gates.is_some_and(|gates| ladder.results().len() >= usize::from(gates)) {
            break;
        }
        tracing::info!("gate: {gate}");
        let result = match case.pass(gate) {
            Ok(result) => result,
            Err(error) => GateResult {
                gate,
                passed: false,
                finding: format!("{error:#}"),
                relaxed: Vec::new(),
                details: serde_json::Value::Null,
            },
        };
        tracing::info!("gate: {gate}: {} ({})", if result.passed { "passed" } else { "failed" }, result.finding);
        ladder.record(result);
    }
    let verdict = ladder.verdict().unwrap_or_else(|| {
        let mut relaxed: Vec<String> = ladder.results().iter().flat_map(|result| result.relaxed.clone()).collect();
        let missing = Gate::ALL.len() - ladder.results().len();
        relaxed.push(format!("the last {missing} gates were not tried"));
        Verdict::Screening { relaxed }
    });
    let claim = match verdict {
        Verdict::Certified => Claim::Certified,
        Verdict::Screening { .. } => Claim::OptInAvailability,
        Verdict::Rejected { .. } => Claim::ImplementationCapability,
    };
    let holds = !matches!(verdict, Verdict::Rejected { .. });
    let made = report::make(&case, &ladder, &verdict, claim)?;
    write::make_folder(&args.out)?;
    for (name, bytes) in [(&made.json_name, made.json.as_bytes()), (&made.text_name, made.text.as_bytes())] {
        write::write_file(&args.out.join(name), bytes)?;
    }
    let mut text = made.text;
    text.push_str(&format!("\nreport: {}\n", args.out.join(&made.json_name).display()));
    Ok(Outcome { json: serde_json::from_str(&made.json)?, text, holds })
}
