//! `nrview capture`: frames with every input and output, for another device, route, implementation or day.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use network::capture::{
    CameraPose, Capture, CapturedFrame, FrameInfo, Pictures, Recorder, SourceIdentity, Tensor, Writer,
};
use network::frame::cpu::{Half4, Image};
use network::frame::{Parameters, Style};
use network::geometry::{Extent, Geometry};
use network::model::Model;
use network::parity::write_fixture;
use renderer::{Camera, View};
use serde_json::json;

use super::args::{self, RouteArg};
use super::outcome::{CommandResult, Outcome};
use super::scene::{CHOICE, SceneArgs};
use super::seeded::FaultArgs;
use super::surroundings::{self, LIGHT, Part};
use super::{Globals, fixture, picture, progress, text, write};
use crate::engine::playback::{Inputs, Keep, Picture, Player, header, model_name, tensors};
use crate::engine::studio::{Plain, Studio};
use crate::engine::{Engines, fit, model};

/// Arguments of `nrview capture`.
#[derive(Clone, Debug, clap::Args)]
pub struct CaptureArgs {
    /// Folder of the capture; new or empty, unless --resume is given.
    #[arg(value_name = "DIR")]
    out: PathBuf,
    /// Number of frames, from frame 0.
    #[arg(long, value_parser = args::count, conflicts_with = "range")]
    frames: Option<u32>,
    /// Frames FIRST..END of the scripted animation, END not included; the first has no history.
    #[arg(long, value_name = "FIRST..END", value_parser = args::range)]
    range: Option<std::ops::Range<u32>>,
    #[command(flatten)]
    scene: SceneArgs,
    /// Size of a scene's frame.
    #[arg(long, value_name = "WxH", default_value = "640x360", value_parser = args::size)]
    size: Extent,
    /// A picture in place of the scene: PNG, JPEG or BMP. Its frames differ in their noise and have no history.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["size", "seed", "rate", "reset_at", "no_jitter", "without"],
        conflicts_with_all = CHOICE,
        conflicts_with_all = LIGHT
    )]
    image: Option<PathBuf>,
    /// Where the network runs; a scene is drawn by a Vulkan device in any case.
    #[arg(long, value_enum, default_value_t)]
    route: RouteArg,
    /// Seed of the scene.
    #[arg(long)]
    seed: Option<u32>,
    /// Frames a second of the animation: fewer make larger motion.
    #[arg(long, value_name = "FPS", default_value = "30", value_parser = args::rate)]
    rate: f64,
    /// Frames before which the history is reset.
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    reset_at: Vec<u32>,
    /// Sample every pixel at its centre.
    #[arg(long)]
    no_jitter: bool,
    /// Effects to leave out.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    without: Vec<Part>,
    /// Style: off, natural or cinematic (0, 1, 2).
    #[arg(long, default_value = "off", value_parser = args::style)]
    style: Style,
    /// Record the 75 boundaries between the blocks as well (and the four pooled tensors).
    #[arg(long)]
    boundaries: bool,
    /// Record every tensor of the network: bisecting then names the exact operation, at many times the size.
    #[arg(long)]
    all_tensors: bool,
    /// Files for looking.
    #[arg(long, value_enum, default_value_t)]
    pictures: PicturesArg,
    /// Go on with an interrupted capture of the same settings.
    #[arg(long)]
    resume: bool,
    /// Frames that may wait to be written.
    #[arg(long, default_value = "2", value_parser = args::count)]
    queue: u32,
    /// Also write the first frame as a parity fixture, into a new or empty directory.
    #[arg(long, value_name = "DIR")]
    fixture: Option<PathBuf>,
    #[command(flatten)]
    faults: FaultArgs,
}

/// Which files for looking are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum PicturesArg {
    /// OpenEXR and PNG.
    #[default]
    All,
    /// PNG only.
    Png,
    /// None.
    None,
}

impl From<PicturesArg> for Pictures {
    fn from(arg: PicturesArg) -> Self {
        match arg {
            PicturesArg::All => Self::All,
            PicturesArg::Png => Self::Png,
            PicturesArg::None => Self::None,
        }
    }
}

/// Where the frames come from.
enum Film {
    Scene(Box<(Studio, Plain)>),
    Image(Vec<[f32; 4]>),
}

/// Records all frames.
pub fn run(globals: &Globals, args: &CaptureArgs) -> CommandResult {
    let numbers = args.range.clone().unwrap_or(0..args.frames.unwrap_or(1));
    if !args.resume {
        write::check_fresh_folder(&args.out)?;
    }
    if let Some(directory) = &args.fixture {
        write::check_fresh_folder(directory)?;
    }
    let image = args.image.as_deref().map(picture::read).transpose()?;
    let geometry = Geometry::new(image.as_ref().map_or(args.size, |image| image.extent))?;
    let scene = match args.seed {
        Some(seed) => args.scene.load_with_bar()?.with_seed(seed),
        None => args.scene.load_with_bar()?,
    };
    let identity = match &args.image {
        Some(file) => SourceIdentity::Image {
            file: file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        },
        None => SourceIdentity::Scene { name: scene.name.to_string(), seed: args.seed, rate: args.rate },
    };
    // A scene needs a device on every route.
    let route = args.route.keeping(args.all_tensors);
    let mut engines = Engines::new(globals, if image.is_some() { route } else { route.on_device() })?;
    engines.hint(args.route);
    let source = model::source(globals)?;
    let model = engines.model(&source)?;
    let keep = match (args.boundaries, args.all_tensors) {
        (_, true) => Keep::All,
        (true, false) => Keep::Boundaries,
        (false, false) => Keep::Nothing,
    };
    let mut player = Player::new(&mut engines, route, &model, &geometry, image.is_none(), keep)?;
    let faults = args.faults.of(player.plan())?;
    let film = match image {
        Some(image) => {
            let image = Image::from_rgb8(image.extent, &image.rgb).context("the picture's size and bytes disagree")?;
            Film::Image(image.pixels)
        }
        None => {
            let device = engines.device().context("no device")?.clone();
            fit::check(&device, args.size, 0)?;
            let studio = Studio::new(&device, scene)?;
            let plain = Plain::new(&studio, &geometry)?;
            Film::Scene(Box::new((studio, plain)))
        }
    };
    let kernels = if args.route == RouteArg::Cpu { None } else { Some(engines.parts(&model)?.1) };
    let header = header(
        engines.device().map(|device| &**device),
        kernels.as_deref(),
        model_name(&source, &model),
        &geometry,
        identity,
        keep,
    );

    let (writer, so_far) = if args.resume {
        let (writer, capture) = Writer::resume(&args.out, &geometry, header, args.pictures.into())?;
        (writer, Some(capture))
    } else {
        (Writer::create(&args.out, &geometry, header, args.pictures.into())?, None)
    };
    let (first, mut history) = start(so_far.as_ref(), numbers.start, args.style)?;
    let mut recorder = Recorder::start(writer, args.queue as usize)?;
    let bar = progress::bar(u64::from(numbers.end.saturating_sub(first)), "frames");
    let begun = Instant::now();
    let (mut bytes, mut waited) = (0u64, Duration::ZERO);
    for number in first..numbers.end {
        let cut = matches!(&film, Film::Scene(film) if View::cut_before(&film.0.scene, number, args.rate));
        let reset = number == numbers.start || cut || args.reset_at.contains(&number);
        if reset || matches!(film, Film::Image(_)) {
            history = None;
        }
        let (picture, info) = film_frame(&film, args, &model, number, reset, history.is_some())?;
        let inputs = Inputs { picture, history, parameters: Parameters::try_from(&info.parameters)? };
        let features = player.features(&inputs)?;
        let run = player.network(&features, &faults.of_frame(number))?;
        let made = player.compose(&inputs, &run.head)?;
        history = Some(made.composed.history.clone());
        let frame = CapturedFrame { info, tensors: tensors(player.plan(), &inputs, features, run, &made) };
        if number == first
            && let Some(directory) = &args.fixture
        {
            let recorded = fixture::Recorded::of(&geometry, &frame)?;
            write_fixture(directory, &recorded.recording())?;
        }
        bytes += frame.bytes() as u64;
        let before = Instant::now();
        recorder.push(frame)?;
        waited += before.elapsed();
        bar.inc(1);
    }
    let computed = begun.elapsed();
    let frames = recorder.finish()?;
    bar.finish_and_clear();
    let recorded = numbers.end.saturating_sub(first);
    let seconds = begun.elapsed().as_secs_f64();
    let per_second = f64::from(recorded) / seconds.max(1e-9);
    let document = json!({
        "capture": args.out,
        "frames": frames,
        "recorded": recorded,
        "size": geometry.valid.to_string(),
        "field": geometry.field.to_string(),
        "model": model.description(),
        "digest": model.digest(),
        "route": args.route.resolved(),
        "device": engines.device_name(),
        "tensorBytes": bytes,
        "seconds": seconds,
        "computeSeconds": computed.saturating_sub(waited).as_secs_f64(),
        "waitedForQueueSeconds": waited.as_secs_f64(),
        "framesPerSecond": per_second,
    });
    let line = format!(
        "{}: {} ({recorded} now) of {}, {} of tensors in {seconds:.1} s, {:.1} s of them waiting for the disk",
        args.out.display(),
        text::counted(frames, "frame"),
        geometry.valid,
        text::bytes(bytes),
        waited.as_secs_f64(),
    );
    Ok(Outcome::yes(document, line))
}

/// The first frame to record, and its history, where a capture is continued.
fn start(so_far: Option<&Capture>, first: u32, style: Style) -> Result<(u32, Option<Vec<Half4>>)> {
    let Some(last) = so_far.and_then(|capture| capture.frames().last()) else { return Ok((first, None)) };
    let begins = so_far.and_then(|capture| capture.frames().first()).map(|frame| frame.info().number);
    if begins != Some(first) {
        bail!("the capture begins with frame {}, not with {first}", begins.unwrap_or(0));
    }
    let recorded = last.info().parameters.style;
    if recorded != style.id() {
        bail!("the capture was recorded with style {recorded}, not {}", style.id());
    }
    let history = last.tensor("next-history")?;
    Ok((last.info().number + 1, Some(history.as_halves().as_chunks().0.to_vec())))
}

/// One frame's picture, and what is known of it.
fn film_frame(
    film: &Film,
    args: &CaptureArgs,
    model: &Model,
    number: u32,
    reset: bool,
    history_valid: bool,
) -> Result<(Picture, FrameInfo)> {
    let base = match film {
        Film::Image(_) => Parameters::image(),
        Film::Scene(scene) => Parameters { paper_white: scene.0.scene.paper_white, ..Parameters::default() },
    };
    let parameters = Parameters {
        seed: number,
        history_valid,
        style: args.style,
        blend_scale: model.blend_scale()?.to_f32(),
        ..base
    };
    let mut info = FrameInfo {
        number,
        reset,
        parameters: (&parameters).into(),
        time: None,
        jitter: None,
        camera: None,
        previous_camera: None,
    };
    let picture = match film {
        Film::Image(pixels) => Picture::Image(pixels.clone()),
        Film::Scene(scene) => {
            let (studio, plain) = &**scene;
            let effects = surroundings::effects(&args.without, !args.no_jitter);
            let view = View::scripted(&studio.scene, number, args.rate).with_effects(effects);
            plain.render(studio, &view, &parameters)?;
            describe(&mut info, &view);
            scene_picture(&plain.gbuffer().read()?)
        }
    };
    Ok((picture, info))
}

/// Writes a view into what is known of a frame.
pub fn describe(info: &mut FrameInfo, view: &View) {
    let pose = |camera: &Camera| CameraPose {
        position: camera.position.to_array(),
        yaw: camera.yaw,
        pitch: camera.pitch,
        fov_y: camera.fov_y,
    };
    info.time = Some(view.time);
    info.jitter = Some(view.applied_jitter());
    info.camera = Some(pose(&view.camera));
    info.previous_camera = Some(pose(&view.previous_camera));
}

/// A rendered picture as playback takes it.
pub fn scene_picture(picture: &renderer::Picture) -> Picture {
    let word = |[x, y]: [half::f16; 2]| u32::from(x.to_bits()) | u32::from(y.to_bits()) << 16;
    Picture::Scene {
        color: picture.color.iter().map(|pixel| pixel.map(|value| value.to_bits())).collect(),
        depth: picture.depth.clone(),
        motion: picture.motion.iter().copied().map(word).collect(),
    }
}

/// The tensor of that name.
pub fn required<'a>(frame: &'a CapturedFrame, name: &str) -> Result<&'a Tensor> {
    frame.tensor(name).with_context(|| format!("frame {} has no tensor {name}", frame.info.number))
}
