//! `nrview model`: make, check, describe and pack weight models.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::{Result, bail};
use network::model::synth::{self, Preset};
use network::model::{self, Grouping, Info, Source, WriteOptions, container, starter};
use serde_json::json;

use super::Globals;
use super::outcome::{CommandResult, Outcome};
use super::{progress, text, write};
use crate::engine;

/// Subcommands of `nrview model`.
#[derive(Debug, clap::Subcommand)]
pub enum ModelCommand {
    /// Write a synthetic model directory; the same preset and seed give the same bytes everywhere.
    Synth(SynthArgs),
    /// Check a model directory or weight container: manifest or index, sizes, digests and layouts.
    Validate(ValidateArgs),
    /// Describe a model: where it comes from, sizes, digest, records.
    Info(InfoArgs),
    /// Write a model as one compressed weight container.
    Pack(PackArgs),
}

/// Arguments of `nrview model synth`.
#[derive(Debug, clap::Args)]
pub struct SynthArgs {
    /// Kind of weights: lively, sparse, hot or identity.
    #[arg(long, default_value = "lively", value_parser = preset)]
    preset: Preset,
    /// Seed of the generator.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The directory to write; a new or empty one, or a model directory to replace.
    #[arg(long, value_name = "DIR", required_unless_present = "digest_only")]
    out: Option<PathBuf>,
    /// One stage file per record instead of eleven.
    #[arg(long)]
    per_tensor: bool,
    /// Alignment in bytes of each record inside its stage file.
    #[arg(long, value_name = "BYTES", default_value = "1", value_parser = alignment)]
    align: NonZeroUsize,
    /// Write nothing, only tell the digest.
    #[arg(long, conflicts_with_all = ["out", "per_tensor", "align"])]
    digest_only: bool,
}

/// Arguments of `nrview model validate`.
#[derive(Debug, clap::Args)]
pub struct ValidateArgs {
    /// The model directory or weight container; default: the one of `--model`.
    path: Option<PathBuf>,
    /// Skip the digests of a directory's stage files.
    #[arg(long)]
    no_digest: bool,
}

/// Arguments of `nrview model info`.
#[derive(Debug, clap::Args)]
pub struct InfoArgs {
    /// A model as `--model` names one; default: `starter`.
    source: Option<String>,
    /// List all 153 records.
    #[arg(long)]
    records: bool,
}

/// Arguments of `nrview model pack`.
#[derive(Debug, clap::Args)]
pub struct PackArgs {
    /// A model as `--model` names one; default: `starter`.
    source: Option<String>,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

fn preset(name: &str) -> std::result::Result<Preset, String> {
    let names = || Preset::ALL.map(Preset::name).join(", ");
    Preset::from_name(name).ok_or_else(|| format!("unknown preset {}; give one of {}", messages::quoted(name), names()))
}

/// Runs one of the subcommands.
pub fn run(globals: &Globals, command: ModelCommand) -> CommandResult {
    match command {
        ModelCommand::Synth(args) => run_synth(&args),
        ModelCommand::Validate(args) => run_validate(globals, &args),
        ModelCommand::Info(args) => run_info(globals, &args),
        ModelCommand::Pack(args) => run_pack(globals, &args),
    }
}

fn run_synth(args: &SynthArgs) -> CommandResult {
    let model = synth::generate(args.preset, args.seed)?;
    let mut document = json!({
        "preset": args.preset.name(),
        "seed": args.seed,
        "digest": model.digest(),
        "tensors": model.records().count(),
        "bytes": model.byte_len(),
    });
    let mut out = format!("seed {} preset {} digest {}", args.seed, args.preset.name(), model.digest());
    if let Some(dir) = args.out.as_deref().filter(|_| !args.digest_only) {
        let grouping = if args.per_tensor { Grouping::PerTensor } else { Grouping::Eleven };
        let written = model::write(&model, dir, &WriteOptions { grouping, align: args.align })?;
        out = format!(
            "{}: {} tensors in {} stages, {} bytes\n{out}",
            dir.display(),
            written.tensors,
            written.stages,
            written.packed_byte_length
        );
        document["directory"] = json!(dir);
        document["stages"] = json!(written.stages);
        document["packedByteLength"] = json!(written.packed_byte_length);
    }
    Ok(Outcome::yes(document, out))
}

fn run_validate(globals: &Globals, args: &ValidateArgs) -> CommandResult {
    named_once(globals, args.path.is_some())?;
    let path = args.path.clone().or_else(|| globals.model.as_ref().map(PathBuf::from));
    let Some(path) = path else {
        bail!("name the model to check: nrview model validate DIR, or the file of a weight container");
    };
    // A container has one digest, of all of it; without it nothing in it is read.
    let is_container = path.is_file();
    if is_container && args.no_digest {
        bail!("{} is a weight container, which is not read without its digest; leave --no-digest out", path.display());
    }
    let checked = is_container || !args.no_digest;
    let model = if is_container { container::read(&path)? } else { model::load(&path, checked)? };
    let info = Info::new(&model);
    let digests = if checked { "digests match" } else { "digests not checked" };
    let mut out = format!("{}: valid, {digests}\n", path.display());
    describe(&mut out, &info);
    let kind = if is_container { "container" } else { "directory" };
    let document = json!({ kind: path, "valid": true, "digestsChecked": checked, "info": info });
    Ok(Outcome::yes(document, out))
}

fn run_info(globals: &Globals, args: &InfoArgs) -> CommandResult {
    let model = source(globals, args.source.as_deref())?.open(true)?;
    let info = Info::new(&model);
    let mut out = format!("{}\n", info.description);
    describe(&mut out, &info);
    let mut document = serde_json::to_value(&info)?;
    if args.records {
        document["table"] = model
            .records()
            .map(|(layout, bytes)| json!({ "name": layout.name, "block": layout.block, "bytes": bytes.len() }))
            .collect();
        let rows: Vec<_> =
            model.records().map(|(layout, bytes)| vec![layout.name.clone(), bytes.len().to_string()]).collect();
        out.push_str(&text::table(&rows));
    }
    Ok(Outcome::yes(document, out))
}

fn run_pack(globals: &Globals, args: &PackArgs) -> CommandResult {
    write::check_file(&args.out)?;
    let bar = progress::bar(1, "MiB packed");
    let told = |done: usize, all: usize| {
        bar.set_length(all as u64 >> 20);
        bar.set_position(done as u64 >> 20);
    };
    let bytes = match source(globals, args.source.as_deref())? {
        // Starter weights are packed from their own sparse form as well.
        Source::Directory(dir) => starter::pack_directory(&dir, true, &told)?,
        other => {
            let model = other.open(true)?;
            container::pack(&model, model.description(), None, &told)?
        }
    };
    bar.finish_and_clear();
    write::write_file(&args.out, &bytes)?;
    let out = format!("{}: {}", args.out.display(), text::bytes(bytes.len() as u64));
    Ok(Outcome::yes(json!({ "file": args.out, "bytes": bytes.len() }), out))
}

/// Refuses two names for one model.
fn named_once(globals: &Globals, named: bool) -> Result<()> {
    match &globals.model {
        Some(model) if named => {
            bail!("the model is named twice; leave --model {} or the other out", messages::quoted(model))
        }
        _ => Ok(()),
    }
}

fn source(globals: &Globals, named: Option<&str>) -> Result<Source> {
    named_once(globals, named.is_some())?;
    match named {
        Some(text) => Ok(text.parse()?),
        None => engine::model::source(globals),
    }
}

fn describe(out: &mut String, info: &Info) {
    let none = |list: &[&str]| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let rows = [
        ("digest", info.digest.clone()),
        ("records", format!("{} of {}", info.records, text::bytes(info.bytes as u64))),
        ("zero weights", format!("{:.1} %", 100.0 * info.zero_share)),
        ("blend scale", info.blend_scale.to_string()),
        ("ignored inputs", none(&info.ignored_inputs)),
        ("NaN codes", info.nan_codes.to_string()),
        ("weights over 9", info.weights_over_nine.to_string()),
        ("surplus", format!("{} bytes in {} records", info.surplus_bytes(), info.surplus.len())),
    ];
    let rows: Vec<_> = rows.into_iter().map(|(name, value)| vec![format!("  {name}"), value]).collect();
    out.push_str(&text::table(&rows));
}
/// An alignment of records: 1 to 65536 bytes, enough for any page size, and no way to ask for petabytes of gaps.
fn alignment(text: &str) -> std::result::Result<NonZeroUsize, String> {
    match text.parse::<NonZeroUsize>() {
        Ok(value) if value.get() <= 65536 => Ok(value),
        _ => Err(format!("{text} is not a whole number from 1 to 65536")),
    }
}
