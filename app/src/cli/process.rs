//! `nrview process`: one picture through the network.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use network::frame::cpu::pipeline::rgb8;
use network::frame::cpu::{Composed, Half4, Head, compose_frame, pipeline::Image, preprocess};
use network::frame::{Parameters, Style};
use network::geometry::Geometry;
use network::numerics::half;
use network::parity::{Conditioning, Proxy, RecordedInput, RecordedOutput, Recording, write_fixture};
use network::plan::Plan;
use serde_json::json;

use super::args::{self, RouteArg};
use super::outcome::{CommandResult, Outcome};
use super::{Globals, picture, write};
use crate::engine::{Engines, model};

/// Arguments of `nrview process`.
#[derive(Debug, clap::Args)]
pub struct ProcessArgs {
    /// The picture: PNG, JPEG or BMP, at least 33 pixels wide.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The PNG file to write.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Where the network runs.
    #[arg(long, value_enum, default_value_t)]
    route: RouteArg,
    /// Noise seed.
    #[arg(long, default_value_t = 0)]
    seed: u32,
    /// Style: off, natural or cinematic (0, 1, 2).
    #[arg(long, default_value = "off", value_parser = args::style)]
    style: Style,
    /// Local tone, usually 0 to 1.
    #[arg(long, default_value = "1", value_parser = args::finite, allow_negative_numbers = true)]
    tone: f32,
    /// Local structure, usually 0 to 1.
    #[arg(long, default_value = "1", value_parser = args::finite, allow_negative_numbers = true)]
    structure: f32,
    /// Skin structure; negative follows the structure. Counts with --auto-mask only.
    #[arg(
        long,
        default_value = "-1",
        value_parser = args::finite,
        allow_negative_numbers = true,
        requires = "auto_mask"
    )]
    skin: f32,
    /// Let the network find what to treat as skin.
    #[arg(long)]
    auto_mask: bool,
    /// Also write the network's head: little-endian f32, [field rows][4].
    #[arg(long, value_name = "FILE")]
    head: Option<PathBuf>,
    /// Also record the frame as a parity fixture, into a new or empty directory.
    #[arg(long, value_name = "DIR")]
    fixture: Option<PathBuf>,
}

/// Processes one picture.
pub fn run(globals: &Globals, args: &ProcessArgs) -> CommandResult {
    let picture = picture::read(&args.input)?;
    check_outputs(args)?;
    let geometry = Geometry::new(picture.extent)?;
    let parameters = Parameters {
        seed: args.seed,
        style: args.style,
        local_tone: args.tone,
        local_structure: args.structure,
        skin_structure: args.skin,
        auto_mask: args.auto_mask,
        ..Parameters::image()
    };
    parameters.validate()?;
    let mut engines = Engines::new(globals, args.route)?;
    engines.hint(args.route);
    let model = engines.model(&model::source(globals)?)?;
    let plan = Plan::new(&geometry);
    let mut route = engines.route(&plan, &model)?;

    let image = Image::from_rgb8(picture.extent, &picture.rgb).context("the picture's size and bytes disagree")?;
    let started = Instant::now();
    let features = preprocess(&geometry, image.source(), None, &parameters);
    let head = route.run(features.as_flattened())?;
    let seconds = started.elapsed().as_secs_f64();
    let (pixels, rest) = head.as_chunks::<4>();
    if pixels.len() != geometry.field.pixels() || !rest.is_empty() {
        bail!("the network returned {} values for a field of {}", head.len(), geometry.field);
    }
    let composed = compose_frame(&geometry, image.source(), Head::Half(pixels), None, &parameters);
    let rgb = rgb8(&composed.display_neural);

    let head: Vec<f32> = head.iter().map(|&bits| half::to_f32(bits)).collect();
    if let Some(path) = &args.head {
        let bytes: Vec<u8> = head.iter().flat_map(|value| value.to_le_bytes()).collect();
        write::write_file(path, &bytes)?;
    }
    if let Some(directory) = &args.fixture {
        record(directory, &geometry, &picture, &parameters, &head, &composed)?;
    }
    write::write_png(&args.output, picture.extent.width, picture.extent.height, &rgb)?;
    Ok(outcome(args, &geometry, &model, &picture.rgb, &rgb, seconds))
}

/// Everything that will be written can be, before the long work.
fn check_outputs(args: &ProcessArgs) -> Result<()> {
    write::check_png(&args.output)?;
    if let Some(path) = &args.head {
        write::check_file(path)?;
        if *path == args.output {
            bail!("the picture and the head would both be {}; name two files", path.display());
        }
    }
    if let Some(directory) = &args.fixture {
        write::check_fresh_folder(directory)?;
    }
    Ok(())
}

fn record(
    directory: &Path,
    geometry: &Geometry,
    picture: &picture::Picture,
    parameters: &Parameters,
    head: &[f32],
    composed: &Composed,
) -> Result<()> {
    let proxy = Proxy::from_rgb8(picture.extent.width, picture.extent.height, &picture.rgb)
        .context("the picture's size and bytes disagree")?;
    // The fixture's output is the composed colour before style and intensity.
    let output: Vec<f32> = composed.history.iter().flat_map(|pixel: &Half4| pixel.map(half::to_f32)).collect();
    write_fixture(
        directory,
        &Recording {
            geometry,
            input: RecordedInput::Proxy {
                proxy: &proxy,
                conditioning: Conditioning {
                    local_tone: parameters.local_tone,
                    local_structure: parameters.local_structure,
                    skin_structure: parameters.skin_structure,
                    style: parameters.style.id() as f32,
                },
                seed: parameters.seed,
                auto_mask: parameters.auto_mask,
            },
            boundaries: &[],
            head: Some(head),
            output: Some(RecordedOutput::F32(&output)),
        },
    )?;
    Ok(())
}

fn outcome(
    args: &ProcessArgs,
    geometry: &Geometry,
    model: &network::model::Model,
    before: &[u8],
    after: &[u8],
    seconds: f64,
) -> Outcome {
    let pixels = before.len() / 3;
    let changed = before.chunks_exact(3).zip(after.chunks_exact(3)).filter(|(a, b)| a != b).count();
    let largest = before.iter().zip(after).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
    let share = 100.0 * changed as f64 / pixels.max(1) as f64;
    let document = json!({
        "input": args.input,
        "output": args.output,
        "head": args.head,
        "fixture": args.fixture,
        "size": geometry.valid.to_string(),
        "field": geometry.field.to_string(),
        "model": model.description(),
        "digest": model.digest(),
        "route": args.route.resolved(),
        "seconds": seconds,
        "changedPixelsPercent": share,
        "largestChange": largest,
    });
    let text = format!(
        "{}: {} in a field of {}, {} on route {}, {seconds:.2} s; {share:.1} % of the pixels changed, at most by {largest} codes",
        args.output.display(),
        geometry.valid,
        geometry.field,
        model.description(),
        args.route.resolved(),
    );
    Outcome::yes(document, text)
}
