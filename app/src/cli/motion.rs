//! `nrview render --check-motion`: does the motion explain what changes from one frame to the next?

use anyhow::Context as _;
use network::frame::Parameters;
use network::geometry::{Extent, Geometry};
use renderer::{Compared, Effects, MotionCheck, Picture, View, check_motion};
use serde_json::{Value, json};

use super::outcome::{CommandResult, Outcome};
use super::render::RenderArgs;
use super::{Globals, progress, text};
use crate::engine::studio::{Plain, Studio};
use crate::engine::{device, fit};

/// Frames a second unless told otherwise: steps large enough for things to move by pixels.
const RATE: f64 = 4.0;
/// Samples of a pixel: enough for edges and textures not to count as errors.
const SAMPLES: u32 = 8;
/// Most of either control's error that may remain.
const SHARE: f64 = 1.0 / 3.0;

/// Reprojects each frame's predecessor by the frame's motion, and compares with two controls.
pub fn run(globals: &Globals, args: &RenderArgs) -> CommandResult {
    let geometry = Geometry::new(args.size)?;
    // Highlights and shadows do not move with surfaces, so their motion is none of the surfaces'.
    let scene = args.scene.load_with_bar()?.evenly_lit();
    let scene = match args.seed {
        Some(seed) => scene.with_seed(seed),
        None => scene,
    };
    let device = device::open(globals)?;
    fit::check(&device, args.size, 0)?;
    let studio = Studio::new(&device, scene)?;
    let plain = Plain::new(&studio, &geometry)?;
    let rate = args.rate.unwrap_or(RATE);
    let first = studio.scene.path.at(0.0);
    // Under a still camera only what moves is asked about.
    let compared = if args.still_camera { Compared::Moving } else { Compared::Surfaces };

    let bar = progress::bar(u64::from(args.frames) + 1, "frames");
    let mut rows = vec![["frame", "pixels", "reprojected", "as it was", "sign flipped"].map(str::to_owned).to_vec()];
    let (mut documents, mut checks) = (Vec::new(), Vec::new());
    let mut before: Option<Picture> = None;
    for number in 0..=args.frames {
        let view = View::scripted(&studio.scene, number, rate);
        let view = if args.still_camera { view.with_still_camera(first) } else { view };
        // Light that is sampled at random would count as an error.
        let view = view.with_samples(SAMPLES).with_effects(Effects::NONE);
        plain.render(&studio, &view, &Parameters::default())?;
        let now = plain.gbuffer().read()?;
        let cut = !args.still_camera && View::cut_before(&studio.scene, number, rate);
        if let Some(check) = before.filter(|_| !cut).and_then(|before| check_motion(&now, &before, compared)) {
            rows.push(row(number.to_string(), &check));
            documents.push(document(Some(number), &check));
            checks.push(check);
        }
        before = Some(now);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let all = mean(&checks).with_context(|| {
        let frames = text::counted(args.frames, "frame");
        format!("nothing moves in {frames} of {}, so there is nothing to check", args.scene.scene)
    })?;
    rows.push(row("all".to_owned(), &all));
    let holds = all.passes(SHARE);
    let answer = if holds { "the motion explains the change" } else { "the motion does not explain the change" };
    let hint = if holds { None } else { hint(geometry.valid, &all, checks.len()) };
    let share = all.reprojected / all.still.min(all.flipped).max(1e-12);
    let json = json!({
        "scene": args.scene.scene,
        "size": geometry.valid.to_string(),
        "rate": rate,
        "samples": SAMPLES,
        "stillCamera": args.still_camera,
        "compared": if args.still_camera { "moving surfaces" } else { "surfaces" },
        "device": device.caps().name,
        "frames": documents,
        "all": document(None, &all),
        "share": share,
        "limit": SHARE,
        "holds": holds,
        "hint": hint,
    });
    let text = format!(
        "mean error of display codes (0 to 1)\n{}{answer}: {share:.3} of the smaller control, at most {SHARE:.3}\n",
        text::table(&rows)
    );
    let text = match hint {
        Some(hint) => format!("{text}{hint}\n"),
        None => text,
    };
    Ok(Outcome { json, text, holds })
}

/// Why a no may say more of the case than of the motion; `None` where there is enough to see.
fn hint(size: Extent, all: &MotionCheck, frames: usize) -> Option<String> {
    let area = f64::from(size.width) * f64::from(size.height);
    let share = all.pixels as f64 / (area * frames.max(1) as f64);
    let reasons = [
        (area < 320.0 * 180.0, "the picture is small"),
        (share < 0.02, "few pixels are compared"),
        (all.moved < 1.0, "they move by less than a pixel"),
    ];
    let reasons: Vec<&str> = reasons.into_iter().filter(|(holds, _)| *holds).map(|(_, reason)| reason).collect();
    let advice = "judge at 320x180 or more and with a longer step, such as --rate 4";
    (!reasons.is_empty()).then(|| format!("{}: {advice}", reasons.join(", ")))
}

/// All checks as one, each with the weight of its pixels.
fn mean(checks: &[MotionCheck]) -> Option<MotionCheck> {
    let pixels = checks.iter().map(|check| check.pixels).sum::<usize>();
    let sum = |of: fn(&MotionCheck) -> f64| checks.iter().map(|c| of(c) * c.pixels as f64).sum::<f64>() / pixels as f64;
    let (reprojected, still, flipped) = (sum(|c| c.reprojected), sum(|c| c.still), sum(|c| c.flipped));
    let moved = sum(|c| c.moved);
    (pixels > 0).then_some(MotionCheck { reprojected, still, flipped, pixels, moved })
}

fn row(name: String, check: &MotionCheck) -> Vec<String> {
    let error = |value: f64| format!("{value:.5}");
    let MotionCheck { reprojected, still, flipped, pixels, .. } = *check;
    vec![name, pixels.to_string(), error(reprojected), error(still), error(flipped)]
}

fn document(number: Option<u32>, check: &MotionCheck) -> Value {
    let MotionCheck { reprojected, still, flipped, pixels, moved } = *check;
    json!({
        "frame": number,
        "pixels": pixels,
        "movedPixels": moved,
        "reprojected": reprojected,
        "still": still,
        "flipped": flipped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_where_little_can_be_seen() {
        let all = |pixels, moved| MotionCheck { reprojected: 1.0, still: 1.0, flipped: 1.0, pixels, moved };
        assert_eq!(hint(Extent::new(320, 180), &all(57_600, 3.0), 1), None);
        let said = |width, height, check, words: &str| {
            assert!(hint(Extent::new(width, height), &check, 1).is_some_and(|hint| hint.starts_with(words)), "{words}");
        };
        said(64, 64, all(4096, 3.0), "the picture is small: judge");
        said(320, 180, all(1000, 3.0), "few pixels are compared: judge");
        said(320, 180, all(57_600, 0.5), "they move by less than a pixel: judge");
        said(64, 64, all(10, 0.5), "the picture is small, few pixels");
    }

    #[test]
    fn pixels_weigh() {
        assert_eq!(mean(&[]), None);
        let check =
            |error: f64, pixels| MotionCheck { reprojected: error, still: 1.0, flipped: 2.0, pixels, moved: 3.0 };
        let all = mean(&[check(0.0, 30), check(0.4, 10)]);
        assert_eq!(all.map(|c| (c.reprojected, c.flipped, c.pixels)), Some((0.1, 2.0, 40)));
    }
}
