//! `nrview render`: the scripted scene without a window, as pictures.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use gpu::Buffer;
use network::frame::cpu::{CpuFrame, Head, preprocess::Source};
use network::frame::{Parameters, Style};
use network::geometry::{Extent, Geometry};
use network::metrics::{DEFAULT_PIXELS_PER_DEGREE, Rgb8, flip, psnr};
use network::model::Model;
use network::plan::Plan;
use network::reference::Reference;
use renderer::View;
use serde_json::{Value, json};

use super::args::{self, RouteArg};
use super::outcome::{CommandResult, Outcome};
use super::scene::SceneArgs;
use super::surroundings::{LIGHT, Part, effects};
use super::{Globals, dataset, motion, progress, text, write};
use crate::engine::neural::{Neural, Times};
use crate::engine::pace::Pace;
use crate::engine::retain::Replay;
use crate::engine::studio::{Plain, Studio};
use crate::engine::{Engines, fit, model};

/// Frames a second of the scripted animation.
pub const RATE: f64 = 30.0;
/// Columns between the two halves of a side-by-side picture.
const GAP: u32 = 4;
/// Columns of the printed table.
const HEAD: [&str; 8] =
    ["frame", "scene ms", "network ms", "input dB", "network dB", "gain dB", "input FLIP", "network FLIP"];

/// The first of them that every render has.
const TIMES: usize = 3;
/// Pictures of every frame.
const PICTURES: [&str; 3] = ["input", "neural", "side-by-side"];

/// Arguments of `nrview render`.
#[derive(Clone, Debug, clap::Args)]
pub struct RenderArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Number of frames.
    #[arg(long, default_value = "8", value_parser = args::count)]
    pub frames: u32,
    /// Size of a frame.
    #[arg(long, value_name = "WxH", default_value = "640x360", value_parser = args::size)]
    pub size: Extent,
    /// Directory of the pictures; made if it is not there.
    #[arg(long, value_name = "DIR", default_value = "out", conflicts_with_all = ["check_motion", "dataset"])]
    pub out: PathBuf,
    /// Replace files of the pictures' names that are not by this program; its own are replaced in any case.
    #[arg(long, conflicts_with_all = ["check_motion", "dataset"])]
    pub overwrite: bool,
    /// Where the network runs; the scene is drawn by a Vulkan device in any case.
    #[arg(long, value_enum, default_value_t, conflicts_with_all = ["check_motion", "dataset"])]
    pub route: RouteArg,
    /// Also render the first and the last frame with N samples a pixel, and tell PSNR and FLIP of input and network
    /// against it.
    #[arg(long, value_name = "N", visible_alias = "samples-reference", value_parser = args::samples)]
    pub reference: Option<u32>,
    /// With --reference: every frame, not only the first and the last.
    #[arg(long, requires = "reference", conflicts_with_all = ["check_motion", "dataset"])]
    pub reference_all: bool,
    /// Frames a second of scene time [default: 30, with --check-motion 4].
    #[arg(long, value_name = "FPS", value_parser = args::rate)]
    pub rate: Option<f64>,
    /// Let the camera stand still at its first place.
    #[arg(long)]
    pub still_camera: bool,
    /// Instead of pictures: is each frame explained by the one before and the motion? In even light, without effects; no
    /// network runs.
    #[arg(long, conflicts_with_all = ["reference", "dataset"], conflicts_with_all = LIGHT)]
    pub check_motion: bool,
    /// Instead of pictures: sequences of noisy frames and their references as raw halves, in this folder. The same command
    /// goes on where it was interrupted. No network runs.
    #[arg(long, value_name = "DIR")]
    pub dataset: Option<PathBuf>,
    /// With --dataset: sequences of --frames frames each, spread over the camera's path.
    #[arg(long, value_name = "N", default_value = "1", requires = "dataset", conflicts_with = "check_motion", value_parser = args::count)]
    pub sequences: u32,
    /// Seed of the scene.
    #[arg(long)]
    pub seed: Option<u32>,
    /// Start every frame without history.
    #[arg(long, conflicts_with_all = ["check_motion", "dataset"])]
    pub no_history: bool,
    /// Sample every pixel at its centre.
    #[arg(long, conflicts_with = "check_motion")]
    pub no_jitter: bool,
    /// Effects to leave out.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum, conflicts_with = "check_motion")]
    pub without: Vec<Part>,
    /// Style: off, natural or cinematic (0, 1, 2).
    #[arg(long, default_value = "off", value_parser = args::style, conflicts_with_all = ["check_motion", "dataset"])]
    pub style: Style,
}

impl RenderArgs {
    /// Whether a picture of the sequence has this name.
    fn makes(&self, name: &str) -> bool {
        let number = name.strip_prefix("frame-").and_then(|rest| rest.split('-').next());
        let Some(number) = number.and_then(|number| number.parse().ok()).filter(|number| *number < self.frames) else {
            return false;
        };
        let reference = self.has_reference(number).then_some("reference");
        PICTURES.into_iter().chain(reference).any(|what| name_of(number, what) == name)
    }

    /// Whether a frame is compared with a reference.
    fn has_reference(&self, number: u32) -> bool {
        self.reference.is_some() && (self.reference_all || number == 0 || number + 1 == self.frames)
    }
}

/// One rendered frame.
struct Rendered {
    /// RGB of the display path without and with the network.
    input: Vec<u8>,
    neural: Vec<u8>,
    times: Times,
}

/// Renders and writes all frames.
pub fn run(globals: &Globals, args: &RenderArgs) -> CommandResult {
    if args.check_motion {
        return motion::run(globals, args);
    }
    if let Some(folder) = &args.dataset {
        return dataset::run(globals, args, folder);
    }
    let geometry = Geometry::new(args.size)?;
    write::check_folder(&args.out)?;
    // What is there decides, since it is less than all names that there could be.
    for entry in fs::read_dir(&args.out).into_iter().flatten() {
        let entry = entry.with_context(|| format!("cannot read {}", args.out.display()))?;
        if args.makes(&entry.file_name().to_string_lossy()) {
            write::check_own_picture(&entry.path(), args.overwrite)?;
        }
    }
    let source = model::source(globals)?;
    let scene = args.scene.load_with_bar()?;
    // The scene needs a device on every route.
    let mut engines = Engines::new(globals, args.route.on_device())?;
    let device = engines.device().context("no device")?.clone();
    fit::check(&device, args.size, 0)?;
    engines.hint(args.route);
    let model = engines.model(&source)?;
    let scene = match args.seed {
        Some(seed) => scene.with_seed(seed),
        None => scene,
    };
    let studio = Studio::new(&device, scene)?;
    let mut frames: Box<dyn Frames> = match args.route {
        RouteArg::Cpu => Box::new(OnCpu::new(&studio, &geometry, &model)?),
        RouteArg::Auto | RouteArg::Exact | RouteArg::Tensor | RouteArg::Float8 => {
            let (_, kernels, weights) = engines.parts(&model)?;
            let mut neural = Neural::new(&studio, &kernels, &weights, &geometry, None)?;
            neural.ask_replay(&studio, globals.replay, model.digest())?;
            Box::new(OnDevice { neural, pace: Pace::new(Duration::from_millis(250)) })
        }
    };
    let reference = args.reference.map(|_| Plain::new(&studio, &geometry)).transpose()?;
    write::make_folder(&args.out)?;

    let parameters = parameters(args, &studio, &model)?;
    let rate = args.rate.unwrap_or(RATE);
    let first = studio.scene.path.at(0.0);
    let bar = progress::bar(u64::from(args.frames), "frames");
    let mut documents = Vec::new();
    // Without a reference there is nothing to tell of quality.
    let columns = if args.reference.is_some() { HEAD.len() } else { TIMES };
    let mut rows = vec![HEAD[..columns].iter().map(|&name| name.to_owned()).collect()];
    let mut paths = Vec::new();
    for number in 0..args.frames {
        let view = View::scripted(&studio.scene, number, rate);
        let view = if args.still_camera { view.with_still_camera(first) } else { view };
        let view = view.with_effects(effects(&args.without, !args.no_jitter));
        if !args.still_camera && View::cut_before(&studio.scene, number, rate) {
            frames.cut();
        }
        let rendered = frames.render(&studio, &view, &parameters, !args.no_history)?;
        paths.extend(save(&args.out, number, geometry.valid, &rendered)?);
        let mut quality = None;
        if let (Some(samples), Some(plain)) = (args.reference, &reference)
            && args.has_reference(number)
        {
            plain.render(&studio, &view.with_samples(samples), &parameters)?;
            let picture = rgb(&studio, plain.display())?;
            let path = args.out.join(name_of(number, "reference"));
            write::write_png(&path, geometry.valid.width, geometry.valid.height, &picture)?;
            paths.push(path);
            quality = Some(Quality::of(geometry.valid, &picture, &rendered)?);
        }
        rows.push(row(number, &rendered.times, quality.as_ref()));
        documents.push(document(number, &rendered.times, quality.as_ref()));
        bar.inc(1);
    }
    bar.finish_and_clear();

    let mut out = String::new();
    for path in &paths {
        out.push_str(&format!("{}\n", path.display()));
    }
    out.push_str(&text::table(&rows));
    let json = json!({
        "size": geometry.valid.to_string(),
        "field": geometry.field.to_string(),
        "model": model.description(),
        "digest": model.digest(),
        "route": if args.route == RouteArg::Cpu { "cpu" } else { engines.route_name() },
        "device": device.caps().name,
        "scene": args.scene.scene,
        "rate": rate,
        "samplesReference": args.reference,
        "replay": frames.replay(),
        "frames": documents,
        "files": paths,
    });
    Ok(Outcome::yes(json, out))
}

fn parameters(args: &RenderArgs, studio: &Studio, model: &Model) -> Result<Parameters> {
    let blend_scale = model.blend_scale()?.to_f32();
    let paper_white = studio.scene.paper_white;
    Ok(Parameters { style: args.style, blend_scale, paper_white, ..Parameters::default() })
}

/// Computes frames of a sequence, in order, each with the history of the one before.
trait Frames {
    fn render(&mut self, studio: &Studio, view: &View, parameters: &Parameters, temporal: bool) -> Result<Rendered>;

    /// The next frame has no history.
    fn cut(&mut self);

    /// How the network's commands reached the device, if they did.
    fn replay(&self) -> Option<Replay> {
        None
    }
}

struct OnDevice {
    neural: Neural,
    pace: Pace,
}

impl Frames for OnDevice {
    fn render(&mut self, studio: &Studio, view: &View, parameters: &Parameters, temporal: bool) -> Result<Rendered> {
        let job = self.neural.begin(*view, *parameters, temporal);
        let times = self.neural.finish(studio, job, &mut self.pace)?;
        Ok(Rendered {
            input: rgb(studio, self.neural.display_input())?,
            neural: rgb(studio, self.neural.display_neural())?,
            times,
        })
    }

    fn cut(&mut self) {
        self.neural.reset();
    }

    fn replay(&self) -> Option<Replay> {
        Some(self.neural.retain().status())
    }
}

/// The scene on the device, everything after it on the CPU.
struct OnCpu {
    plain: Plain,
    frame: CpuFrame,
    reference: Reference,
}

impl OnCpu {
    fn new(studio: &Studio, geometry: &Geometry, model: &Model) -> Result<Self> {
        Ok(Self {
            plain: Plain::new(studio, geometry)?,
            frame: CpuFrame::new(geometry),
            reference: Reference::new(&Plan::new(geometry), model)?,
        })
    }
}

impl Frames for OnCpu {
    fn render(&mut self, studio: &Studio, view: &View, parameters: &Parameters, temporal: bool) -> Result<Rendered> {
        let begun = std::time::Instant::now();
        self.plain.render(studio, view, parameters)?;
        let picture = self.plain.gbuffer().read()?;
        let scene = begun.elapsed();
        let color: Vec<[u16; 4]> = picture.color.iter().map(|pixel| pixel.map(|value| value.to_bits())).collect();
        let word = |[x, y]: [half::f16; 2]| u32::from(x.to_bits()) | u32::from(y.to_bits()) << 16;
        let motion: Vec<u32> = picture.motion.iter().copied().map(word).collect();
        let clock = *self.frame.clock();
        let parameters =
            Parameters { seed: clock.counter(), history_valid: clock.history_valid(temporal), ..*parameters };
        let source = Source::Scene(&color);
        let features = self.frame.preprocess(source, &motion, &parameters);
        let begun = std::time::Instant::now();
        let head = self.reference.run(features.as_flattened(), |_, _, _| {})?;
        let network = begun.elapsed();
        let composed = self.frame.composite(source, &motion, Head::Half(head.as_chunks().0), &parameters);
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        Ok(Rendered {
            input: network::frame::cpu::pipeline::rgb8(&composed.display_input),
            neural: network::frame::cpu::pipeline::rgb8(&composed.display_neural),
            times: Times { scene: ms(scene), network: ms(network), ..Times::default() },
        })
    }

    fn cut(&mut self) {
        self.frame.reset();
    }
}

/// How near a frame is to its reference, without and with the network.
struct Quality {
    psnr: [f64; 2],
    flip: [f64; 2],
}

impl Quality {
    fn of(size: Extent, reference: &[u8], rendered: &Rendered) -> Result<Self> {
        let picture = |rgb: &[u8]| Rgb8::new(size, rgb.to_vec()).context("the picture's size and bytes disagree");
        let truth = picture(reference)?;
        let mean = |rgb: &[u8]| Ok::<_, anyhow::Error>(flip(&truth, &picture(rgb)?, DEFAULT_PIXELS_PER_DEGREE).mean());
        Ok(Self {
            psnr: [psnr(&rendered.input, reference), psnr(&rendered.neural, reference)],
            flip: [mean(&rendered.input)?, mean(&rendered.neural)?],
        })
    }

    fn gain(&self) -> f64 {
        self.psnr[1] - self.psnr[0]
    }
}

/// RGB of a buffer of RGBA8 words.
fn rgb(studio: &Studio, buffer: &Buffer) -> Result<Vec<u8>> {
    let bytes = studio.device.download(buffer, 0, buffer.size())?;
    Ok(bytes.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect())
}

fn name_of(number: u32, what: &str) -> String {
    format!("frame-{number:04}-{what}.png")
}

fn save(out: &Path, number: u32, size: Extent, rendered: &Rendered) -> Result<[PathBuf; 3]> {
    let paths = PICTURES.map(|what| out.join(name_of(number, what)));
    write::write_png(&paths[0], size.width, size.height, &rendered.input)?;
    write::write_png(&paths[1], size.width, size.height, &rendered.neural)?;
    let side = side_by_side(size.width, &rendered.input, &rendered.neural);
    write::write_png(&paths[2], 2 * size.width + GAP, size.height, &side)?;
    Ok(paths)
}

/// Two RGB pictures of one size beside each other, with a white line between them.
fn side_by_side(width: u32, left: &[u8], right: &[u8]) -> Vec<u8> {
    let row = 3 * width as usize;
    let gap = [255; 3 * GAP as usize];
    left.chunks_exact(row).zip(right.chunks_exact(row)).flat_map(|(l, r)| [l, &gap[..], r].concat()).collect()
}

fn row(number: u32, times: &Times, quality: Option<&Quality>) -> Vec<String> {
    let mut row = vec![number.to_string(), format!("{:.2}", times.scene), format!("{:.2}", times.network)];
    if let Some(quality) = quality {
        let [input, neural] = quality.psnr;
        row.extend([format!("{input:.2}"), format!("{neural:.2}"), format!("{:+.2}", quality.gain())]);
        row.extend(quality.flip.map(|flip| format!("{flip:.4}")));
    }
    row
}

fn document(number: u32, times: &Times, quality: Option<&Quality>) -> Value {
    let psnr = quality.map(|quality| {
        let [input, neural] = quality.psnr;
        json!({ "inputDb": input, "networkDb": neural, "gainDb": quality.gain() })
    });
    let flip = quality.map(|quality| json!({ "input": quality.flip[0], "network": quality.flip[1] }));
    json!({ "frame": number, "milliseconds": times, "psnr": psnr, "flip": flip })
}

#[cfg(test)]
mod tests {
    use super::side_by_side;

    #[test]
    fn halves_stand_beside_each_other() {
        let picture = side_by_side(1, &[1, 2, 3, 4, 5, 6], &[7, 8, 9, 10, 11, 12]);
        let white = [255; 12];
        assert_eq!(picture, [&[1, 2, 3][..], &white, &[7, 8, 9, 4, 5, 6], &white, &[10, 11, 12]].concat());
    }
}
