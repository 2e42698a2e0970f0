//! `nrview golden`: reproduces a sealed fixture. A pass says that this fixture was reproduced, and nothing more.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use gpu::Device;
use network::capture::sha256;
use network::frame::Parameters;
use network::geometry::{Extent, Geometry};
use network::replay::{Claim, ReplayRoute, TapeIdentity};
use renderer::{Scene, View};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::args::{self, RouteArg};
use super::outcome::{CommandResult, Outcome};
use super::{Globals, read, text, write};
use crate::engine::neural::Neural;
use crate::engine::pace::Pace;
use crate::engine::studio::Studio;
use crate::engine::{Engines, arms, fit, model};

/// Arguments of `nrview golden`.
#[derive(Debug, clap::Args)]
pub struct GoldenArgs {
    /// The sealed fixture.
    #[arg(value_name = "FILE")]
    fixture: PathBuf,
    /// Write the fixture from what this device does now, instead of reproducing it.
    #[arg(long)]
    seal: bool,
    /// Size, when sealing.
    #[arg(long, value_name = "WxH", default_value = "320x180", value_parser = args::size, requires = "seal")]
    size: Extent,
    /// Frames, when sealing.
    #[arg(long, default_value = "3", value_parser = args::count, requires = "seal")]
    frames: u32,
    /// Least direct host time over retained host time, when sealing; 0 times nothing.
    #[arg(long, default_value = "0", value_parser = args::finite, requires = "seal")]
    floor: f32,
}

/// What is reproduced, and what must come out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fixture {
    /// `nrview golden 1`.
    schema: String,
    /// Digest of the weights.
    model: String,
    /// Scene and camera path.
    scene: String,
    /// Valid size.
    size: String,
    /// Frames, each with the history of the one before.
    frames: u32,
    /// Kind of device and form of the kernels: what the tape depends on.
    device_class: String,
    /// The tape's identity.
    tape: TapeIdentity,
    /// SHA-256 over everything prepared before a frame: model digest, shaders of the tape, dynamic fields, memory.
    prepared: String,
    /// SHA-256 of each frame's picture with the network.
    pictures: Vec<String>,
    /// Least direct host time over retained host time; 0 times nothing.
    floor: f32,
}

const SCHEMA: &str = "nrview golden 1";
const SCENE: &str = "builtin, scripted path, 30 frames a second, seed the frame's number";

/// Seals or reproduces a fixture.
pub fn run(globals: &Globals, args: &GoldenArgs) -> CommandResult {
    let want = if args.seal {
        write::check_file(&args.fixture)?;
        None
    } else {
        let text = read::text(&args.fixture, read::DOCUMENT)
            .with_context(|| format!("cannot read the fixture {}", args.fixture.display()))?;
        let fixture: Fixture =
            read::parse(&text).with_context(|| format!("{} is no fixture", args.fixture.display()))?;
        if fixture.schema != SCHEMA {
            let schema = messages::quoted(&fixture.schema);
            bail!("{} has schema {schema}, this program knows {SCHEMA:?}", args.fixture.display());
        }
        Some(fixture)
    };
    let (size, frames, floor) = match &want {
        Some(fixture) => (args::size(&fixture.size).map_err(anyhow::Error::msg)?, fixture.frames, fixture.floor),
        None => (args.size, args.frames, args.floor),
    };
    let (got, ratio) = reproduce(globals, size, frames, floor)?;
    let Some(want) = want else {
        write::write_file(&args.fixture, format!("{:#}\n", serde_json::to_value(&got)?).as_bytes())?;
        let text = format!("{}: sealed {} of {size}", args.fixture.display(), text::counted(frames, "frame"));
        return Ok(Outcome::yes(json!({ "sealed": got }), text));
    };
    let mut moved = moved(&want, &got);
    if let Some(ratio) = ratio
        && (ratio < f64::from(floor) || !ratio.is_finite())
    {
        moved.push(format!("floor: the ratio is {ratio:.2}, at least {floor} is wanted"));
    }
    let holds = moved.is_empty();
    let text = if holds {
        format!("reproduced: {} of {size}; this says nothing of any other case", text::counted(frames, "frame"))
    } else {
        format!("not reproduced:\n  {}", moved.join("\n  "))
    };
    let claim = Claim::ImplementationCapability;
    Ok(Outcome { json: json!({ "reproduced": holds, "moved": moved, "ratio": ratio, "claim": claim }), text, holds })
}

/// Every field that is another one now.
fn moved(want: &Fixture, got: &Fixture) -> Vec<String> {
    let mut moved = Vec::new();
    for (name, was, is) in [
        ("model", &want.model, &got.model),
        ("scene", &want.scene, &got.scene),
        ("device class", &want.device_class, &got.device_class),
    ] {
        if was != is {
            moved.push(format!("{name}: was {was}, is {is}"));
        }
    }
    moved.extend(want.tape.differences(&got.tape).into_iter().map(|field| format!("tape: its {field} is another one")));
    if want.prepared != got.prepared {
        moved.push("prepared identity: is another one".to_owned());
    }
    let pairs = want.pictures.iter().zip(&got.pictures).enumerate();
    moved.extend(pairs.filter(|(_, (a, b))| a != b).map(|(frame, _)| format!("picture of frame {frame}: differs")));
    if want.pictures.len() != got.pictures.len() {
        moved.push(format!("frames: were {}, are {}", want.pictures.len(), got.pictures.len()));
    }
    moved
}

fn reproduce(globals: &Globals, size: Extent, frames: u32, floor: f32) -> Result<(Fixture, Option<f64>)> {
    let source = model::source(globals)?;
    let mut engines = Engines::new(globals, RouteArg::Exact)?;
    let model = engines.model(&source)?;
    let (device, kernels, weights) = engines.parts(&model)?;
    let geometry: Geometry = fit::check(&device, size, 0)?;
    let studio = Studio::new(&device, Scene::builtin())?;
    let blend_scale = model.blend_scale()?.to_f32();
    let mut neural = Neural::new(&studio, &kernels, &weights, &geometry, None)?;
    neural.ask_replay(&studio, globals.replay, model.digest())?;
    let parameters = Parameters { blend_scale, ..Parameters::default() };
    let mut pictures = Vec::new();
    for number in 0..frames {
        let job = neural.begin(View::scripted(&studio.scene, number, 30.0), parameters, true).with_seed(number);
        neural.finish(&studio, job, &mut Pace::unsliced())?;
        let picture = neural.display_neural();
        pictures.push(sha256(&device.download(picture, 0, picture.size())?));
    }
    let tape = TapeIdentity::of(&neural.network().tape());
    let memory = neural.memory();
    let prepared = format!("{} {} {} {}", model.digest(), tape.artifacts, tape.dynamic, memory.arena);
    drop(neural);
    let ratio = if floor > 0.0 {
        let routes = [ReplayRoute::Direct, ReplayRoute::Primary];
        let timed = arms::run(&arms::Plan {
            studio: &studio,
            kernels: &kernels,
            weights: &weights,
            model: model.digest(),
            geometry: &geometry,
            blend_scale,
            routes: &routes,
            warm: 10,
            frames: 40,
        })?;
        Some(timed.ratios.first().and_then(|ratio| ratio.value).unwrap_or(f64::NAN))
    } else {
        None
    };
    let fixture = Fixture {
        schema: SCHEMA.to_owned(),
        model: model.digest().to_owned(),
        scene: SCENE.to_owned(),
        size: size.to_string(),
        frames,
        device_class: class(&device, &kernels),
        tape,
        prepared: sha256(prepared.as_bytes()),
        pictures,
        floor,
    };
    Ok((fixture, ratio))
}

/// What of a device the tape depends on.
fn class(device: &Device, kernels: &network::exec::Kernels) -> String {
    format!("{:?}, kernels {:?}", device.caps().kind, kernels.tuning())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture() -> Fixture {
        Fixture {
            schema: SCHEMA.into(),
            model: "m".into(),
            scene: SCENE.into(),
            size: "64x64".into(),
            frames: 2,
            device_class: "Cpu".into(),
            tape: TapeIdentity {
                dispatches: 1,
                kernels: 1,
                sequence: "s".into(),
                artifacts: "a".into(),
                geometry: "g".into(),
                dynamic: "d".into(),
                instrumented: false,
            },
            prepared: "p".into(),
            pictures: vec!["x".into(), "y".into()],
            floor: 0.0,
        }
    }

    #[test]
    fn every_field_that_moved_is_named() {
        assert_eq!(moved(&fixture(), &fixture()), Vec::<String>::new());
        let changed = |change: fn(&mut Fixture)| {
            let mut other = fixture();
            change(&mut other);
            moved(&fixture(), &other).join("; ")
        };
        assert_eq!(changed(|f| f.model = "n".into()), "model: was m, is n");
        assert_eq!(changed(|f| f.tape.sequence = "t".into()), "tape: its sequence is another one");
        assert!(changed(|f| f.prepared.clear()).contains("prepared identity"));
        assert_eq!(changed(|f| f.pictures[1].clear()), "picture of frame 1: differs");
        assert!(changed(|f| drop(f.pictures.pop())).contains("frames: were 2, are 1"));
        assert!(changed(|f| f.device_class.push('2')).contains("device class"));
    }
}
