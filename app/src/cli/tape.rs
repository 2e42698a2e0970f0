//! `nrview tape`: the record of a forward, its identity, its barriers, and where its time goes.

use std::sync::Arc;

use gpu::Timestamps;
use network::exec::{Network, NetworkOptions};
use network::geometry::{Extent, Geometry};
use network::plan::Plan;
use network::replay::{Claim, Lowering, Policy, TapeIdentity, hazard, lowering};
use serde_json::json;

use super::args::{self, RouteArg};
use super::outcome::{CommandResult, Outcome};
use super::{Globals, text};
use crate::engine::{Engines, fit, model};

/// Arguments of `nrview tape`.
#[derive(Debug, clap::Args)]
pub struct TapeArgs {
    /// Size of the frame.
    #[arg(long, value_name = "WxH", default_value = "320x180", value_parser = args::size)]
    size: Extent,
    /// Print the argument for every barrier, and for every place without one.
    #[arg(long)]
    barriers: bool,
    /// Leave out barriers that no hazard needs.
    #[arg(long)]
    needed: bool,
    /// Run it once with the time taken after every dispatch: attribution only.
    #[arg(long)]
    spans: bool,
}

/// Describes the tape.
pub fn run(globals: &Globals, args: &TapeArgs) -> CommandResult {
    Geometry::new(args.size)?;
    let source = model::source(globals)?;
    let mut engines = Engines::new(globals, RouteArg::Exact)?;
    let model = engines.model(&source)?;
    let (device, kernels, weights) = engines.parts(&model)?;
    let geometry = fit::check(&device, args.size, 0)?;
    let barriers = if args.needed { Policy::Needed } else { Policy::Ordered };
    let options = NetworkOptions { barriers, ..NetworkOptions::default() };
    let network = Network::new(&device, &kernels, &weights, Arc::new(Plan::new(&geometry)), options)?;
    let mut tape = network.tape();
    tape.instrumented = args.spans;
    let identity = TapeIdentity::of(&tape);
    let actors = tape.actors();
    let open = Lowering::validate(&actors, &tape.barriers).err().unwrap_or_default();
    let count = |flags: &[bool]| flags.iter().filter(|flag| **flag).count();
    let (standing, needed) = (count(&tape.barriers), count(&hazard::needed(&actors)));

    let mut out = format!(
        "{}\n{} dispatches of {} kernels, {standing} barriers, {needed} of them needed\nsequence {}\nidentity {}\n",
        identity.geometry,
        identity.dispatches,
        identity.kernels,
        identity.sequence,
        identity.digest(),
    );
    let arguments = if args.barriers { lowering::arguments(&tape) } else { Vec::new() };
    for argument in &arguments {
        let mark = if argument.barrier { "barrier" } else { "none" };
        out.push_str(&format!("{:5} {mark:8} {}\n", argument.position, argument.reason));
    }
    for hazard in &open {
        out.push_str(&format!("OPEN HAZARD: {}\n", hazard.describe(&tape)));
    }
    let spans = if args.spans { spans(&network)? } else { Vec::new() };
    if args.spans {
        out.push_str(&format!("{}\n", Claim::Attribution));
        let mut rows: Vec<(&str, &str, f64)> =
            tape.entries.iter().zip(&spans).map(|(e, &ms)| (e.label.as_str(), e.shader.as_str(), ms)).collect();
        rows.sort_by(|a, b| b.2.total_cmp(&a.2));
        let rows: Vec<Vec<String>> = rows
            .iter()
            .take(20)
            .map(|(label, shader, ms)| vec![(*label).to_owned(), (*shader).to_owned(), format!("{ms:.4} ms")])
            .collect();
        out.push_str(&text::table(&rows));
    }
    let claim = if args.spans { Claim::Attribution } else { Claim::ImplementationCapability };
    let json = json!({
        "claim": claim,
        "identity": identity,
        "digest": identity.digest(),
        "barriers": { "standing": standing, "needed": needed, "arguments": arguments },
        "openHazards": open,
        "dynamic": tape.dynamic,
        "spans": tape.entries.iter().zip(&spans).map(|(entry, ms)| json!({
            "label": entry.label, "shader": entry.shader, "ms": ms,
        })).collect::<Vec<_>>(),
    });
    Ok(Outcome { json, text: out, holds: open.is_empty() })
}

/// Milliseconds of every dispatch in one run, with the time taken in between.
fn spans(network: &Network) -> anyhow::Result<Vec<f64>> {
    let device = network.kernels().device();
    let stamps = Timestamps::new(device, "tape spans", u32::try_from(network.steps() + 1)?)?;
    // The first run warms up.
    for _ in 0..2 {
        device.run_once("tape with timestamps", |cmd| network.record_spans(cmd, &stamps))?;
    }
    let Some(ticks) = stamps.read()? else { anyhow::bail!("this device has no timestamps") };
    Ok(ticks.windows(2).map(|pair| pair[1] - pair[0]).collect())
}
