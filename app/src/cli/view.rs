//! `nrview view`, and what happens without a display.

use std::path::PathBuf;
use std::str::FromStr as _;
use std::time::Duration;

use network::geometry::{Extent, Geometry};
use serde_json::json;

use super::args::{self, RouteArg};
use super::outcome::{CommandResult, Outcome};
use super::render::{self, RenderArgs};
use super::scene::SceneArgs;
use super::{Globals, write};
use crate::engine::side::Side;
use crate::engine::{device, model};
use crate::window::layout::CompareMode;
use crate::window::presets::Presets;
use crate::window::{self, NoDisplay, Options};

/// Frames rendered where there is no display.
const FALLBACK_FRAMES: u32 = 8;

/// Arguments of `nrview view`.
#[derive(Clone, Debug, clap::Args)]
pub struct ViewArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// Size of the rendered frame, whatever the size of the window [default: by the kind of device].
    #[arg(long, value_name = "WxH", value_parser = args::size)]
    size: Option<Extent>,
    /// Where the network runs.
    #[arg(long, value_enum, default_value_t)]
    route: RouteArg,
    /// What is compared at first [default: as the last time, side by side at first].
    #[arg(long, value_enum)]
    split: Option<Split>,
    /// The left side: off, reference[:SAMPLES], or network with history:on|off, route:NAME, size:WxH, model:NAME, joined
    /// by commas [default: as the last time, off at first].
    #[arg(long, value_name = "SIDE", value_parser = Side::from_str)]
    left: Option<Side>,
    /// The right side [default: as the last time, network at first].
    #[arg(long, value_name = "SIDE", value_parser = Side::from_str)]
    right: Option<Side>,
    /// Start without any network: nothing of it is loaded.
    #[arg(long)]
    no_network: bool,
    /// Start with the defaults instead of the settings of the last time.
    #[arg(long)]
    fresh: bool,
    /// Start with the controls of a preset: its name, or a file that ends in .json.
    #[arg(long, value_name = "NAME|FILE")]
    preset: Option<String>,
    /// Go through every mode and control and end, in steps of so many milliseconds; with `--screenshots`, every step's
    /// window is written there.
    #[arg(long, value_name = "MS", num_args = 0..=1, require_equals = true, default_missing_value = "700")]
    demo: Option<u32>,
    /// Draw as fast as possible instead of with the display.
    #[arg(long)]
    no_vsync: bool,
    /// Start in fullscreen.
    #[arg(long)]
    fullscreen: bool,
    /// Keep the viewer's state in this file, as JSON.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Folder of the captures of the C key.
    #[arg(long, value_name = "DIR", default_value = "captures")]
    captures: PathBuf,
    /// Folder of the screenshots and clips [default: screenshots].
    #[arg(long, value_name = "DIR")]
    screenshots: Option<PathBuf>,
    /// Folder of the camera paths recorded in the viewer.
    #[arg(long, value_name = "DIR", default_value = "camera-paths")]
    paths: PathBuf,
}

/// Names of the compare modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Split {
    /// Only the left side, at first the frame without the network.
    Off,
    /// Only the right side, at first the frame with the network.
    On,
    /// Both, divided by a line that can be dragged.
    Wipe,
    /// Both, one beside the other.
    Side,
    /// How much they differ.
    Difference,
    /// A buffer of the network's frame.
    View,
}

impl From<Split> for CompareMode {
    fn from(split: Split) -> Self {
        match split {
            Split::Off => Self::Off,
            Split::On => Self::On,
            Split::Wipe => Self::Wipe,
            Split::Side => Self::Side,
            Split::Difference => Self::Difference,
            Split::View => Self::View,
        }
    }
}

/// Opens the window. Without a display it renders pictures instead, unless the window was asked for by name.
pub fn run(globals: &Globals, args: ViewArgs, by_name: bool) -> CommandResult {
    if let Some(size) = args.size {
        Geometry::new(size)?;
    }
    if let Some(path) = &args.state {
        write::check_file(path)?;
    }
    let preset = args.preset.as_deref().map(|name| Presets::of_user().load(name)).transpose()?;
    let options = Options {
        scene: args.scene.clone(),
        size: args.size,
        mode: args.split.map(Into::into),
        sides: [args.left.clone(), args.right.clone()],
        source: model::source(globals)?,
        route: args.route,
        network: !args.no_network,
        vsync: !args.no_vsync,
        fullscreen: args.fullscreen,
        fresh: args.fresh || args.demo.is_some(),
        preset,
        state: args.state.clone(),
        captures: args.captures.clone(),
        demo: args.demo.map(|ms| (Duration::from_millis(ms.into()), args.screenshots.clone())),
        screenshots: args.screenshots.clone().unwrap_or_else(|| "screenshots".into()),
        paths: args.paths.clone(),
    };
    match window::run(globals, options) {
        Ok(()) => closed(),
        Err(error) if error.downcast_ref::<NoDisplay>().is_some() && !by_name => fallback(globals, &args, &error),
        Err(error) if error.downcast_ref::<NoDisplay>().is_some() => {
            Err(error.context("the window cannot be opened (`nrview render` makes pictures without one)"))
        }
        Err(error) => Err(error),
    }
}

/// Everything of the device must be gone by now.
fn closed() -> CommandResult {
    let leaks = gpu::leak_report();
    if !leaks.is_empty() {
        return Ok(Outcome {
            json: json!({ "closed": true, "leaks": leaks.len() }),
            text: String::new(),
            holds: false,
        });
    }
    Ok(Outcome::yes(json!({ "closed": true, "leaks": 0 }), ""))
}

fn fallback(globals: &Globals, args: &ViewArgs, reason: &anyhow::Error) -> CommandResult {
    eprintln!("nrview: {reason}");
    let size = match args.size {
        Some(size) => size,
        None if device::open(globals)?.caps().is_cpu => Extent::new(320, 180),
        None => Extent::new(1280, 720),
    };
    let render = RenderArgs {
        scene: args.scene.clone(),
        frames: FALLBACK_FRAMES,
        size,
        out: PathBuf::from("out"),
        overwrite: false,
        route: args.route,
        reference: None,
        reference_all: false,
        rate: None,
        still_camera: false,
        check_motion: false,
        dataset: None,
        sequences: 1,
        seed: None,
        no_history: false,
        no_jitter: false,
        without: Vec::new(),
        style: network::frame::Style::Off,
    };
    eprintln!("nrview: rendering {FALLBACK_FRAMES} frames of {size} to out/ instead");
    render::run(globals, &render)
}
