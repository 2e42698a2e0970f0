//! `nrview verify`: where does the device differ from the reference?
//!
//! Every operation runs on the device, and again on the CPU on the inputs that the device had, so a difference is found
//! in the operation that makes it and not where it shows.

use std::path::PathBuf;

use anyhow::{Result, bail};
use network::exec::{Network, NetworkOptions};
use network::model::Model;
use network::numerics::{e4m3, half};
use network::parity::Fixture;
use network::plan::{Format, Op, OpId, Plan, Tensor};
use network::reference::{Reference, TensorData};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;

use super::args::RouteArg;
use super::outcome::{CommandResult, Outcome};
use super::{Globals, parity, progress};
use crate::engine::{Engines, model};

/// Arguments of `nrview verify`.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// The fixture whose features are the input, of either form.
    #[arg(long, value_name = "DIR")]
    fixture: PathBuf,
    /// The weights of the CPU reference; default: those that the fixture names, or else those of --model.
    #[arg(long, value_name = "DIR|NAME[:SEED]")]
    reference_model: Option<String>,
    /// Compare only operations whose label contains one of these texts, such as `b31.` or `qkv`.
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    ops: Vec<String>,
    /// Stop at the first difference.
    #[arg(long)]
    first: bool,
}

/// An operation whose output on the device is not the reference's.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Difference {
    /// Place in the plan.
    op: usize,
    label: String,
    kind: &'static str,
    block: u32,
    tensor: String,
    /// Elements that differ.
    different: usize,
    elements: usize,
    /// First element that differs.
    index: usize,
    x: usize,
    y: usize,
    channel: usize,
    /// Bits on the device and in the reference, and what they mean.
    device_bits: u16,
    reference_bits: u16,
    device_value: f32,
    reference_value: f32,
}

/// Compares operation by operation.
pub fn run(globals: &Globals, args: &VerifyArgs) -> CommandResult {
    let fixture = Fixture::open(&args.fixture)?;
    let features = parity::features(&fixture)?;
    let plan = Arc::new(Plan::new(&fixture.geometry));
    let compared: Vec<usize> = (0..plan.ops.len()).filter(|&i| selected(&plan.ops[i], &args.ops)).collect();
    if compared.is_empty() {
        bail!("no operation has a label with {}; labels look like {}", args.ops.join(" or "), plan.ops[0].label);
    }
    let mut engines = Engines::new(globals, RouteArg::Exact)?;
    let (model, reference_model) = models(globals, args, &mut engines, &fixture)?;
    let reference = Reference::new(&plan, &reference_model)?;
    let options = NetworkOptions { keep_all: true, ..NetworkOptions::default() };
    let network = engines.network(&model, Arc::clone(&plan), options)?;
    let bytes: Vec<u8> = features.iter().flat_map(|value| value.to_le_bytes()).collect();
    network.write_tensor(plan.features, &bytes)?;

    let bar = progress::bar(plan.ops.len() as u64, "operations");
    let mut differences = Vec::new();
    let mut ran = 0;
    for index in 0..plan.ops.len() {
        let id = OpId(u32::try_from(index)?);
        network.run_op(id)?;
        if compared.binary_search(&index).is_ok() {
            ran += 1;
            differences.extend(compare(&plan, &network, &reference, id)?);
        }
        bar.inc(1);
        if args.first && !differences.is_empty() {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(outcome(&engines, &fixture, &plan, &model, &reference_model, ran, differences))
}

fn selected(op: &Op, texts: &[String]) -> bool {
    texts.is_empty() || texts.iter().any(|text| op.label.contains(text.as_str()))
}

/// The weights on the device and those of the reference. They differ when the device's are not what the fixture was
/// recorded with: then the first operation that differs is one that reads a changed weight.
fn models(globals: &Globals, args: &VerifyArgs, engines: &mut Engines, fixture: &Fixture) -> Result<(Model, Model)> {
    let named = globals.model.as_deref().filter(|name| *name != "auto");
    let reference_source = match (&args.reference_model, &fixture.model) {
        (Some(text), _) => Some(text.parse()?),
        (None, Some(identity)) => Some(model::of_fixture(identity)?),
        (None, None) => None,
    };
    let device_source = match (named, &reference_source) {
        (Some(_), _) => model::source(globals)?,
        (None, Some(source)) => source.clone(),
        (None, None) => bail!("fixture {} does not name its model; give one with --model", fixture.name),
    };
    let device = engines.model(&device_source)?;
    let reference = match &reference_source {
        Some(source) if *source != device_source => engines.model(source)?,
        _ => device.clone(),
    };
    if device.digest() != reference.digest() {
        tracing::warn!(
            "the device runs {}, the reference runs {}: their weights differ",
            device.description(),
            reference.description()
        );
    }
    Ok((device, reference))
}

fn compare(plan: &Plan, network: &Network, reference: &Reference, id: OpId) -> Result<Vec<Difference>> {
    let op = plan.op(id);
    let read = |tensor: &Tensor, id| -> Result<TensorData> {
        Ok(TensorData::from_bytes(tensor.format, &network.read_tensor(id)?))
    };
    let inputs = op.kind.inputs().into_iter().map(|id| read(plan.tensor(id), id)).collect::<Result<Vec<_>>>()?;
    let inputs: Vec<&TensorData> = inputs.iter().collect();
    let mut differences = Vec::new();
    for output in reference.execute_op(id, &inputs)? {
        let tensor = plan.tensor(output.id);
        let device = read(tensor, output.id)?;
        let (device, expected) = (device.bits(), output.data.bits());
        let mut unequal = device.iter().zip(&expected).enumerate().filter(|(_, (a, b))| a != b);
        let Some((index, (&device_bits, &reference_bits))) = unequal.next() else { continue };
        let row = index / tensor.channels;
        let width = tensor.extent.width as usize;
        differences.push(Difference {
            op: id.0 as usize,
            label: op.label.clone(),
            kind: op.kind.name(),
            block: op.block,
            tensor: tensor.label.clone(),
            different: 1 + unequal.count(),
            elements: tensor.elements(),
            index,
            x: row % width,
            y: row / width,
            channel: index % tensor.channels,
            device_bits,
            reference_bits,
            device_value: value(tensor.format, device_bits),
            reference_value: value(tensor.format, reference_bits),
        });
    }
    Ok(differences)
}

fn value(format: Format, bits: u16) -> f32 {
    match format {
        Format::E4m3 => e4m3::to_f32(bits as u8),
        Format::Half => half::to_f32(bits),
    }
}

fn outcome(
    engines: &Engines,
    fixture: &Fixture,
    plan: &Plan,
    model: &Model,
    reference_model: &Model,
    ran: usize,
    differences: Vec<Difference>,
) -> Outcome {
    let holds = differences.is_empty();
    let mut text = format!(
        "{} ({} in {}), {} on {}: {ran} of {} operations compared\n",
        fixture.name,
        fixture.geometry.valid,
        fixture.geometry.field,
        model.description(),
        engines.device_name().unwrap_or("no device"),
        plan.ops.len(),
    );
    if let Some(d) = differences.first() {
        text.push_str(&format!(
            "first difference: operation {} ({}, {}) of block {}\n  tensor {} index {} (x {} y {} channel {}): device {:#x} = {}, reference {:#x} = {}\n",
            d.op, d.label, d.kind, d.block, d.tensor, d.index, d.x, d.y, d.channel, d.device_bits, d.device_value,
            d.reference_bits, d.reference_value
        ));
        for d in differences.iter().take(20) {
            text.push_str(&format!(
                "  {}: {} of {} elements of {} differ\n",
                d.label, d.different, d.elements, d.tensor
            ));
        }
        if differences.len() > 20 {
            text.push_str(&format!("  and {} more\n", differences.len() - 20));
        }
    } else {
        text.push_str("the device gives the reference's bits in every one\n");
    }
    let json = json!({
        "fixture": fixture.name,
        "device": engines.device_name(),
        "model": model.description(),
        "digest": model.digest(),
        "referenceModel": reference_model.description(),
        "referenceDigest": reference_model.digest(),
        "operations": plan.ops.len(),
        "compared": ran,
        "passes": holds,
        "first": differences.first(),
        "differences": differences,
    });
    Outcome { json, text, holds }
}
