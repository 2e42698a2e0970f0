//! `nrview render --dataset`: noisy frames and what they should have been, as raw halves.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use half::f16;
use network::frame::Parameters;
use network::geometry::Geometry;
use renderer::{Camera, Picture, View};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::outcome::{CommandResult, Outcome};
use super::render::{RATE, RenderArgs};
use super::surroundings::{Part, effects};
use super::{Globals, progress, read, text, write};
use crate::engine::studio::{Plain, Studio};
use crate::engine::{device, fit};

const FORMAT: &str = "nrview-dataset";
const VERSION: u32 = 1;
/// Samples of a reference unless told otherwise.
const SAMPLES: u32 = 64;
const MANIFEST: &str = "manifest.json";
const FRAME: &str = "frame.json";
/// Most bytes of a file whose digest is part of the settings; what reads it has a limit of its own.
const MOST_INPUT: u64 = 1 << 30;
/// Arrays of a frame, with their channels.
const ARRAYS: [(&str, usize); 4] = [("color", 3), ("depth", 1), ("motion", 2), ("reference", 3)];

/// What the same command makes the same frames of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    scene: String,
    /// Which scene of a glTF file.
    asset_scene: Option<String>,
    camera: Option<String>,
    /// Digest of the file of the camera's path.
    camera_path: Option<String>,
    /// Digest of the environment's picture.
    environment: Option<String>,
    environment_rotation: Option<f32>,
    environment_intensity: Option<f32>,
    exposure: Option<f32>,
    paper_white: Option<f32>,
    width: u32,
    height: u32,
    sequences: u32,
    frames: u32,
    rate: f64,
    samples: u32,
    seed: u32,
    jitter: bool,
    /// Effects that are left out, in the noisy frames and in the references.
    #[serde(default)]
    without: Vec<Part>,
    still_camera: bool,
    device: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: String,
    version: u32,
    /// Whether all frames are there.
    complete: bool,
    settings: Settings,
    /// Name and channels of each array of a frame.
    arrays: Vec<(String, usize)>,
    /// Folder and digest of the document of each frame, in order; filled when all are there.
    frames: Vec<(String, String)>,
}

/// What a frame's document says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameDocument {
    sequence: u32,
    frame: u32,
    /// Whether it has no predecessor.
    reset: bool,
    time: f64,
    jitter: [f32; 2],
    camera: Pose,
    previous_camera: Pose,
    /// File, bytes and SHA-256 of each array.
    files: Vec<(String, u64, String)>,
}

/// A camera: metres and radians.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pose {
    position: [f32; 3],
    yaw: f32,
    pitch: f32,
    fov_y: f32,
}

impl From<&Camera> for Pose {
    fn from(c: &Camera) -> Self {
        Self { position: c.position.to_array(), yaw: c.yaw, pitch: c.pitch, fov_y: c.fov_y }
    }
}

/// Writes all frames that are not there yet.
pub fn run(globals: &Globals, args: &RenderArgs, folder: &Path) -> CommandResult {
    let geometry = Geometry::new(args.size)?;
    write::check_folder(folder)?;
    let mut scene = args.scene.load_with_bar()?;
    if let Some(seed) = args.seed {
        scene = scene.with_seed(seed);
    }
    let device = device::open(globals)?;
    fit::check(&device, args.size, 0)?;
    let digest = |path: &Option<PathBuf>| {
        path.as_deref().map(|path| read::bytes(path, MOST_INPUT).map(|bytes| hex(&bytes))).transpose()
    };
    let light = &args.scene.light;
    let settings = Settings {
        scene: without_folders(&args.scene.scene),
        asset_scene: args.scene.asset_scene.clone(),
        camera: args.scene.camera.clone(),
        camera_path: digest(&args.scene.camera_path)?,
        environment: digest(&light.environment)?,
        environment_rotation: light.environment_rotation,
        environment_intensity: light.environment_intensity,
        exposure: light.exposure,
        paper_white: light.paper_white,
        width: geometry.valid.width,
        height: geometry.valid.height,
        sequences: args.sequences,
        frames: args.frames,
        rate: args.rate.unwrap_or(RATE),
        samples: args.reference.unwrap_or(SAMPLES),
        seed: scene.seed,
        jitter: effects(&args.without, !args.no_jitter).jitter,
        without: left_out(&args.without),
        still_camera: args.still_camera,
        device: device.caps().name.clone(),
    };
    begin(folder, &settings)?;
    let mut studio = Studio::new(&device, scene)?;
    let plain = Plain::new(&studio, &geometry)?;
    let total = u64::from(args.sequences) * u64::from(args.frames);
    let bar = progress::bar(total, "frames");
    let (mut done, mut made, mut bytes) = (Vec::new(), 0_u64, 0_u64);
    for sequence in 0..args.sequences {
        studio.scene.seed = settings.seed.wrapping_add(sequence);
        for frame in 0..args.frames {
            let name = format!("sequence-{sequence:04}/frame-{frame:06}");
            let at = folder.join(&name);
            let digest = match finished(&at) {
                Some(digest) => digest,
                None => {
                    let (view, reset) = view(&studio, &settings, sequence, frame);
                    made += 1;
                    save(&at, &shoot(&studio, &plain, &view, settings.samples)?, &view, [sequence, frame], reset)?
                }
            };
            bytes += ARRAYS.iter().map(|(_, channels)| (2 * channels * geometry.valid.pixels()) as u64).sum::<u64>();
            done.push((name, digest));
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    write_manifest(folder, &settings, done)?;
    let json = json!({
        "dataset": folder, "frames": total, "rendered": made, "bytes": bytes, "settings": settings,
    });
    let line = format!(
        "{}: {} of {}, {} of arrays; {} rendered now\n",
        folder.display(),
        text::counted(args.sequences, "sequence"),
        text::counted(args.frames, "frame"),
        text::bytes(bytes),
        text::counted(made, "frame")
    );
    Ok(Outcome::yes(json, line))
}

/// Effects to leave out, each once and in one order, so that the same choice is the same setting. The jitter has one of its
/// own.
fn left_out(parts: &[Part]) -> Vec<Part> {
    [Part::Shadows, Part::Ao, Part::Reflections].into_iter().filter(|part| parts.contains(part)).collect()
}

/// A scene's name; of a path its last part, because datasets are given away.
fn without_folders(scene: &str) -> String {
    Path::new(scene).file_name().map_or_else(|| scene.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Begins a dataset, or goes on with one of the same settings.
fn begin(folder: &Path, settings: &Settings) -> Result<()> {
    let path = folder.join(MANIFEST);
    if !path.exists() {
        write::check_fresh_folder(folder)?;
        write::make_folder(folder)?;
        return write_manifest(folder, settings, Vec::new());
    }
    let text = read::text(&path, read::DOCUMENT).with_context(|| format!("cannot read {}", path.display()))?;
    let manifest: Manifest =
        read::parse(&text).with_context(|| format!("{} is no manifest of a dataset", path.display()))?;
    if manifest.format != FORMAT || manifest.version != VERSION {
        bail!("{} is not of version {VERSION} of {FORMAT}; name a new directory", path.display());
    }
    if manifest.settings != *settings {
        bail!(
            "{} holds a dataset of other settings; give the same command again to go on with it, or name a new directory \
             ({})",
            folder.display(),
            differences(&manifest.settings, settings)?
        );
    }
    Ok(())
}

/// The settings that differ, in words.
fn differences(there: &Settings, wanted: &Settings) -> Result<String> {
    let (there, wanted) = (serde_json::to_value(there)?, serde_json::to_value(wanted)?);
    let members = wanted.as_object().into_iter().flatten().filter(|(key, value)| there[*key] != **value);
    Ok(messages::listed(members.map(|(key, value)| format!("{key}: {} there, {value} asked for", there[key]))))
}

fn write_manifest(folder: &Path, settings: &Settings, frames: Vec<(String, String)>) -> Result<()> {
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        version: VERSION,
        complete: !frames.is_empty(),
        settings: settings.clone(),
        arrays: ARRAYS.map(|(name, channels)| (name.to_owned(), channels)).to_vec(),
        frames,
    };
    write::write_file(&folder.join(MANIFEST), &serde_json::to_vec_pretty(&manifest)?)
}

/// The digest of a whole frame's document; `None` when anything of it is missing or has changed.
fn finished(folder: &Path) -> Option<String> {
    let text = read::bytes(&folder.join(FRAME), read::DOCUMENT).ok()?;
    let document: FrameDocument = serde_json::from_slice(&text).ok()?;
    // The document names the arrays, in order, and no other file.
    let good = |((file, size, digest), (name, _)): (&(String, u64, String), &(&str, usize))| {
        let same = |bytes: Vec<u8>| bytes.len() as u64 == *size && hex(&bytes) == *digest;
        *file == format!("{name}.f16") && read::bytes(&folder.join(file), *size).is_ok_and(same)
    };
    (document.files.len() == ARRAYS.len() && document.files.iter().zip(&ARRAYS).all(good)).then(|| hex(&text))
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A frame's view, and whether it has no predecessor. Sequences begin at places spread over the camera's path.
fn view(studio: &Studio, settings: &Settings, sequence: u32, frame: u32) -> (View, bool) {
    let scene = &studio.scene;
    let start = scene.path.seconds() * f64::from(sequence) / f64::from(settings.sequences);
    let time = |frame: u32| start + f64::from(frame) / settings.rate;
    let (before, now) = (time(frame.saturating_sub(1)), time(frame));
    let view = View::between(scene, before, now, frame);
    let view = if settings.still_camera { view.with_still_camera(scene.path.at(start)) } else { view };
    let cut = !settings.still_camera && scene.path.cuts(before, now);
    (view.with_effects(effects(&settings.without, settings.jitter)), frame == 0 || cut)
}

/// A noisy frame, and its reference.
fn shoot(studio: &Studio, plain: &Plain, view: &View, samples: u32) -> Result<[Picture; 2]> {
    let render = |view: &View| {
        plain.render(studio, view, &Parameters::default())?;
        Ok::<_, anyhow::Error>(plain.gbuffer().read()?)
    };
    Ok([render(view)?, render(&view.with_samples(samples))?])
}

/// Writes a frame; its document comes last, so that a frame with one is whole. Returns the document's digest.
fn save(
    folder: &Path,
    pictures: &[Picture; 2],
    view: &View,
    [sequence, frame]: [u32; 2],
    reset: bool,
) -> Result<String> {
    // What an interrupted run has left.
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    write::make_folder(folder)?;
    let [noisy, reference] = pictures;
    let rgb = |picture: &Picture| -> Vec<u8> {
        picture.color.iter().flat_map(|[r, g, b, _]| [r, g, b]).flat_map(|v| v.to_le_bytes()).collect()
    };
    let contents = [
        rgb(noisy),
        noisy.depth.iter().flat_map(|v| f16::from_f32(*v).to_le_bytes()).collect(),
        noisy.motion.iter().flatten().flat_map(|v| v.to_le_bytes()).collect(),
        rgb(reference),
    ];
    let mut files = Vec::new();
    for ((name, _), bytes) in ARRAYS.iter().zip(&contents) {
        let file = format!("{name}.f16");
        write::write_file(&folder.join(&file), bytes)?;
        files.push((file, bytes.len() as u64, hex(bytes)));
    }
    let document = FrameDocument {
        sequence,
        frame,
        reset,
        time: view.time,
        jitter: view.applied_jitter(),
        camera: (&view.camera).into(),
        previous_camera: (&view.previous_camera).into(),
        files,
    };
    let text = serde_json::to_vec_pretty(&document)?;
    write::write_file(&folder.join(FRAME), &text)?;
    Ok(hex(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of one pixel in `in`, and the same arrays in `out` beside it.
    fn frame(root: &Path, name: &dyn Fn(&str) -> String) -> Result<PathBuf> {
        let (inside, outside) = (root.join("in"), root.join("out"));
        let mut files = Vec::new();
        for (array, channels) in ARRAYS {
            let bytes = vec![7; 2 * channels];
            for folder in [&inside, &outside] {
                fs::create_dir_all(folder)?;
                fs::write(folder.join(format!("{array}.f16")), &bytes)?;
            }
            files.push((name(array), bytes.len() as u64, hex(&bytes)));
        }
        let pose = || Pose { position: [0.0; 3], yaw: 0.0, pitch: 0.0, fov_y: 1.0 };
        let (camera, previous_camera) = (pose(), pose());
        let document = FrameDocument {
            sequence: 0,
            frame: 0,
            reset: true,
            time: 0.0,
            jitter: [0.0; 2],
            camera,
            previous_camera,
            files,
        };
        fs::write(inside.join(FRAME), serde_json::to_vec(&document)?)?;
        Ok(inside)
    }

    #[test]
    fn the_document_of_a_frame_names_no_file_outside_its_folder() -> Result<()> {
        let root = tempfile::tempdir()?;
        let whole = root.path().display().to_string();
        assert!(finished(&frame(root.path(), &|array| format!("{array}.f16"))?).is_some(), "the sound document");
        // Each of these names a file that is there, of the right length and digest.
        let ways: [&dyn Fn(&str) -> String; 6] = [
            &|array| format!("../out/{array}.f16"),
            &|array| format!("{whole}/out/{array}.f16"),
            &|array| format!("{whole}/in/{array}.f16"),
            &|array| format!("./{array}.f16"),
            &|array| format!("../in/{array}.f16"),
            &|array| format!("{array}.f16/"),
        ];
        for way in ways {
            assert_eq!(finished(&frame(root.path(), way)?), None, "{}", way("color"));
        }
        // One of the four is enough.
        for at in ARRAYS {
            let mixed =
                |array: &str| if array == at.0 { format!("../out/{array}.f16") } else { format!("{array}.f16") };
            assert_eq!(finished(&frame(root.path(), &mixed)?), None, "{}", at.0);
        }
        Ok(())
    }

    #[test]
    fn differences_are_named() -> Result<()> {
        let of = |exposure: Option<f32>, scene: &str| -> Result<Settings> {
            Ok(serde_json::from_value(json!({
                "scene": scene, "width": 33, "height": 7, "sequences": 1, "frames": 1, "rate": 30.0, "samples": 4, "seed": 1,
                "jitter": true, "stillCamera": false, "device": "d", "exposure": exposure,
            }))?)
        };
        let (a, b) = (of(None, "s")?, of(Some(1.5), "s")?);
        assert_eq!(differences(&a, &b)?, "exposure: null there, 1.5 asked for");
        assert!(a != b, "a dataset of another exposure is not continued");
        let long = differences(&a, &of(None, &"x".repeat(100_000))?)?;
        assert!(long.starts_with("scene: ") && long.len() < 1000, "{long}");
        Ok(())
    }
}
