//! `nrview parity` of a route that is not exact: how far is it, tensor by tensor and on the picture?

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use network::exec::Kernels;
use network::frame::Parameters;
use network::geometry::{Extent, Geometry};
use network::metrics::{DEFAULT_PIXELS_PER_DEGREE, Likeness, Rgb8};
use network::model::Model;
use network::numerics::half;
use network::parity::{Fixture, compose};
use network::plan::{Format, Plan};
use renderer::{Scene, View};
use serde::Serialize;
use serde_json::{Value, json};

use super::args::RouteArg;
use super::outcome::{CommandResult, Outcome};
use super::parity::{ParityArgs, features, fixture_model};
use super::text::counted;
use super::{Globals, progress};
use crate::engine::gpu_route::GpuRoute;
use crate::engine::neural::Neural;
use crate::engine::pace::Pace;
use crate::engine::route::Route as _;
use crate::engine::studio::Studio;
use crate::engine::{Engines, choice, model};

/// What a picture must reach: PSNR in dB, and the mean of FLIP.
const LEAST_PSNR: f64 = 45.0;
const MOST_FLIP: f64 = 0.01;
/// Steps of codes from which distances are counted together.
const FAR: usize = 8;

/// How far the codes of a tensor are.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Distances {
    boundary: String,
    elements: usize,
    /// Share that differs.
    differ: f64,
    /// Elements by steps between the codes: 0, 1, .. 7, and 8 or more.
    histogram: [usize; FAR + 1],
}

/// How alike two pictures are.
#[derive(Clone, Copy, Debug, Serialize)]
struct Picture {
    psnr: f64,
    ssim: f64,
    flip: f64,
    /// Largest difference of a channel, of 255.
    worst: u8,
    /// Pixel in which it is.
    at: [u32; 2],
}

impl Picture {
    fn of(size: Extent, exact: Vec<u8>, other: Vec<u8>) -> Result<Self> {
        let worst =
            exact.iter().zip(&other).map(|(a, b)| a.abs_diff(*b)).enumerate().max_by_key(|(i, d)| (*d, usize::MAX - i));
        let (place, worst) = worst.context("an empty picture")?;
        let pixel = (place / 3) as u32;
        let picture = |rgb| Rgb8::new(size, rgb).context("the picture's size and bytes disagree");
        let likeness = Likeness::of(&picture(exact)?, &picture(other)?, DEFAULT_PIXELS_PER_DEGREE)?;
        Ok(Self {
            psnr: likeness.psnr,
            ssim: likeness.ssim.luma,
            flip: likeness.flip.mean(),
            worst,
            at: [pixel % size.width, pixel / size.width],
        })
    }

    fn good(&self) -> bool {
        self.psnr >= LEAST_PSNR && self.flip <= MOST_FLIP
    }

    fn text(&self) -> String {
        let Self { psnr, ssim, flip, worst, at: [x, y] } = self;
        format!("PSNR {psnr:.2} dB, SSIM {ssim:.5}, FLIP {flip:.5}, worst {worst}/255 at {x},{y}")
    }
}

/// Reports on every fixture and on sequences of frames.
pub fn run(globals: &Globals, args: &ParityArgs, fixtures: &[Fixture], mut engines: Engines) -> CommandResult {
    let device = Arc::clone(engines.device().context("the route has no device")?);
    let exact = choice::kernels(&device, choice::Wish::new(globals, RouteArg::Exact))?;
    let route = engines.route_name();
    let (mut text, mut documents, mut good) = (String::new(), Vec::new(), true);
    for fixture in fixtures {
        let model = fixture_model(globals, &mut engines, fixture)?;
        let (distances, picture) = one(&mut engines, &exact, fixture, &model)
            .with_context(|| format!("cannot run fixture {}", fixture.name))?;
        good &= picture.good();
        text +=
            &format!("{} ({}, {})\n  {}\n", fixture.name, fixture.geometry.valid, model.description(), picture.text());
        distances.iter().for_each(|d| text += &line(d));
        documents.push(json!({
            "fixture": fixture.name,
            "model": model.description(),
            "digest": model.digest(),
            "picture": picture,
            "boundaries": distances,
        }));
    }
    let mut sequences = Vec::new();
    let source = model::source(globals)?;
    let model = engines.model(&source)?;
    let (size, [moving, standing]) = (args.size(), args.sequences());
    for (name, frames, still) in [("moving", moving, false), ("still", standing, true)] {
        if frames > 0 {
            let (document, summary, holds) = sequence(&mut engines, &exact, &model, size, frames, still)?;
            let frames = counted(frames, "frame");
            text += &format!("{name} camera, {size} of {}, {frames}\n{summary}", model.description());
            sequences.push(json!({ "camera": name, "frames": document }));
            good &= holds;
        }
    }
    text += &format!(
        "route {route} is not exact; {} {LEAST_PSNR} dB and a mean FLIP of {MOST_FLIP}\n",
        if good { "every picture reaches" } else { "NOT every picture reaches" }
    );
    let json = json!({
        "route": route,
        "exact": false,
        "device": device.caps().name,
        "driver": device.caps().driver,
        "holds": good,
        "fixtures": documents,
        "size": size.to_string(),
        "sequences": sequences,
    });
    Ok(Outcome { json, text, holds: good })
}

/// Boundaries and the composed picture of a fixture, on both routes.
fn one(
    engines: &mut Engines,
    exact: &Arc<Kernels>,
    fixture: &Fixture,
    model: &Model,
) -> Result<(Vec<Distances>, Picture)> {
    let plan = Plan::new(&fixture.geometry);
    let features = features(fixture)?;
    let (device, kernels, weights) = engines.parts(model)?;
    let mut want: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let exact_head =
        GpuRoute::new(&device, exact, &weights, &plan)?.run_instrumented(&features, &mut |name, bytes| {
            want.insert(name.to_owned(), bytes.to_vec());
            Ok(())
        })?;
    let mut distances = Vec::new();
    let mut other = GpuRoute::new(&device, &kernels, &weights, &plan)?;
    other.run_instrumented(&features, &mut |name, bytes| {
        let codes = plan.boundary(name).is_some_and(|id| plan.tensor(id).format == Format::E4m3);
        if let (Some(want), true) = (want.get(name), codes) {
            distances.push(count(name, bytes, want));
        }
        Ok(())
    })?;
    let head = other.run(&features)?;
    let lanes: Vec<f32> = features.iter().map(|&bits| half::to_f32(bits)).collect();
    let picture = |head: &[u16]| {
        let head: Vec<f32> = head.iter().map(|&bits| half::to_f32(bits)).collect();
        let (field, valid) = (fixture.geometry.field, fixture.geometry.valid);
        let halves = compose::published(&head, field, valid, compose::Base::Features(&lanes));
        Ok::<_, anyhow::Error>(compose::rgb8(&halves.context("the head is too short")?))
    };
    Ok((distances, Picture::of(fixture.geometry.valid, picture(&exact_head)?, picture(&head)?)?))
}

/// Codes in the order of their values.
fn rank(code: u8) -> i32 {
    let magnitude = i32::from(code & 0x7f);
    if code & 0x80 != 0 { -magnitude } else { magnitude }
}

fn count(name: &str, got: &[u8], want: &[u8]) -> Distances {
    let mut histogram = [0; FAR + 1];
    for (&g, &w) in got.iter().zip(want) {
        histogram[((rank(g) - rank(w)).unsigned_abs() as usize).min(FAR)] += 1;
    }
    let elements = want.len();
    Distances {
        boundary: name.to_owned(),
        elements,
        differ: 1.0 - histogram[0] as f64 / elements.max(1) as f64,
        histogram,
    }
}

fn line(d: &Distances) -> String {
    let share = |steps: usize| format!("{:.3}", 100.0 * d.histogram[steps] as f64 / d.elements.max(1) as f64);
    let shares: Vec<String> = (1..=FAR).map(share).collect();
    format!("  {:<18} {:7.3} % differ; by 1 to 7 and more steps: {}\n", d.boundary, 100.0 * d.differ, shares.join(" "))
}

/// Frames of the built-in scene on both routes, each with its own history.
fn sequence(
    engines: &mut Engines,
    exact: &Arc<Kernels>,
    model: &Model,
    size: Extent,
    frames: u32,
    still: bool,
) -> Result<(Value, String, bool)> {
    let (device, kernels, weights) = engines.parts(model)?;
    let studio = Studio::new(&device, Scene::builtin())?;
    let geometry = Geometry::new(size)?;
    let mut sides = [
        Neural::new(&studio, exact, &weights, &geometry, None)?,
        Neural::new(&studio, &kernels, &weights, &geometry, None)?,
    ];
    let parameters = Parameters {
        blend_scale: model.blend_scale()?.to_f32(),
        paper_white: studio.scene.paper_white,
        ..Parameters::default()
    };
    let first = studio.scene.path.at(0.0);
    let mut pace = Pace::new(Duration::from_millis(250));
    let bar = progress::bar(u64::from(frames), "frames on both routes");
    // FLIP on the CPU takes longer than the frames.
    let every = frames.div_ceil(60);
    let mut pictures = Vec::new();
    for number in 0..frames {
        let view = View::scripted(&studio.scene, number, 30.0);
        let view = if still { view.with_still_camera(first) } else { view };
        let mut shown = Vec::new();
        for side in &mut sides {
            let job = side.begin(view, parameters, true);
            side.finish(&studio, job, &mut pace)?;
            if number % every == 0 || number + 1 == frames {
                let bytes = device.download(side.display_neural(), 0, side.display_neural().size())?;
                shown.push(bytes.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect::<Vec<u8>>());
            }
        }
        if let Ok([a, b]) = <[Vec<u8>; 2]>::try_from(shown) {
            pictures.push((number, Picture::of(size, a, b)?));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut out = String::new();
    let shown = [0, pictures.len() / 4, pictures.len() / 2, 3 * pictures.len() / 4, pictures.len() - 1];
    for (number, picture) in shown.into_iter().map(|i| &pictures[i]) {
        out += &format!("  frame {number:>4}: {}\n", picture.text());
    }
    let least = pictures.iter().map(|(_, p)| p.psnr).fold(f64::INFINITY, f64::min);
    let mean = |part: &[(u32, Picture)]| part.iter().map(|(_, p)| p.flip).sum::<f64>() / part.len().max(1) as f64;
    let half = pictures.len() / 2;
    out += &format!(
        "  least PSNR {least:.2} dB; mean FLIP of the first half {:.5}, of the second {:.5}\n",
        mean(&pictures[..half.max(1)]),
        mean(&pictures[half..])
    );
    let good = pictures.iter().all(|(_, p)| p.good());
    let document = pictures.iter().map(|(number, p)| json!({ "frame": number, "picture": p })).collect();
    Ok((document, out, good))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_steps_between_values() {
        // One step, through zero, of both zeros, and far.
        let found = count("x", &[0x38, 0x01, 0x80, 0x7e], &[0x39, 0x81, 0x00, 0x00]);
        assert_eq!(found.histogram, [1, 1, 1, 0, 0, 0, 0, 0, 1]);
        assert!((found.differ - 0.75).abs() < 1e-12);
    }

    #[test]
    fn a_picture_names_its_worst_pixel() {
        let size = Extent::new(16, 16);
        let exact = vec![100; 16 * 16 * 3];
        let mut other = exact.clone();
        other[(3 * 16 + 5) * 3 + 1] = 130;
        let picture = Picture::of(size, exact, other).unwrap();
        assert_eq!((picture.worst, picture.at), (30, [5, 3]));
        assert!(picture.psnr > 40.0 && picture.flip > 0.0);
    }
}
