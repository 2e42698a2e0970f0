//! A person looks closely: zoom and pan, the other wipe, the original by a held key, the difference.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use image::RgbImage;
use nrview_tests::display::wait_until;
use nrview_tests::screen::{Rect, contrast, difference};
use nrview_tests::window::{SLOW, SOON, Viewer};
use serde_json::{Value, json};

/// Inside the image of 64x64 in the picture area of the 1280x800 window, without the labels.
const IMAGE: Rect = Rect { x: 400, y: 60, width: 750, height: 700 };

fn number(state: &Value, name: &str) -> f64 {
    state[name].as_f64().unwrap_or(f64::NAN)
}

/// Drags with a button other than the left one.
fn drag(viewer: &Viewer, button: &str, from: (u32, u32), to: (u32, u32)) {
    let go = |(x, y): (u32, u32)| {
        viewer.display.xdotool(&["mousemove", &x.to_string(), &y.to_string()]);
        thread::sleep(Duration::from_millis(100));
    };
    go(from);
    viewer.display.xdotool(&["mousedown", button]);
    thread::sleep(Duration::from_millis(100));
    go(((from.0 + to.0) / 2, (from.1 + to.1) / 2));
    go(to);
    viewer.display.xdotool(&["mouseup", button]);
    viewer.settle();
}

/// Share of the pixels that are `gain` times the difference of two screens.
fn share_of_difference(shown: &RgbImage, a: &RgbImage, b: &RgbImage, gain: u32) -> f64 {
    let (mut same, mut all) = (0_u32, 0_u32);
    for y in IMAGE.y..IMAGE.y + IMAGE.height {
        for x in IMAGE.x..IMAGE.x + IMAGE.width {
            let (s, a, b) = (shown.get_pixel(x, y), a.get_pixel(x, y), b.get_pixel(x, y));
            let wished = [0, 1, 2].map(|c| (u32::from(a[c].abs_diff(b[c])) * gain).min(255));
            all += 1;
            same += u32::from((0..3).all(|c| u32::from(s[c]).abs_diff(wished[c]) <= 1));
        }
    }
    f64::from(same) / f64::from(all.max(1))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "png")).collect()
}

#[test]
fn a_person_looks_closely() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let screenshots = format!("--screenshots={}", folder.path().display());
    let viewer = Viewer::start(&["--split=wipe", "--size=64x64", "--model=starter", &screenshots]);
    let display = &viewer.display;
    viewer.press("p");
    assert_eq!(viewer.state()["paused"], true);

    // The wheel zooms at the pointer, the right button moves the image and not the camera, 0 fits, Z is 1:1.
    let whole = display.picture();
    let fit = number(&viewer.state(), "scale");
    display.xdotool(&["mousemove", "700", "300"]);
    display.xdotool(&["click", "--repeat", "3", "--delay", "60", "4"]);
    viewer.wait_for(SOON, "the wheel zooms in", |s| s["fits"] == false && number(s, "scale") > 1.5 * fit);
    viewer.settle();
    let zoomed = display.picture();
    viewer.screenshot("zoomed");
    assert!(difference(&whole, &zoomed, IMAGE) > 1.0, "the image is larger");
    drag(&viewer, "3", (700, 500), (560, 420));
    assert!(difference(&zoomed, &display.picture(), IMAGE) > 1.0, "the image has moved");
    assert_eq!(viewer.state()["path"], true, "the camera has not");
    viewer.press("z");
    assert_eq!(number(&viewer.state(), "scale"), 1.0);
    viewer.press("0");
    assert_eq!((number(&viewer.state(), "scale"), &viewer.state()["fits"]), (fit, &Value::Bool(true)));

    // The wipe's line from left to right, dragged upwards.
    viewer.press("v");
    assert_eq!(viewer.state()["line"], "horizontal");
    display.drag((700, 400), (720, 200));
    viewer.wait_for(SOON, "the line follows", |s| (number(s, "wipe") - 0.25).abs() < 0.02);
    viewer.screenshot("horizontal-wipe");

    // The inspector says what the pixel under the pointer is.
    viewer.press("i");
    display.xdotool(&["mousemove", "700", "420"]);
    viewer.wait_for(SOON, "the values of a pixel", |s| s["status"]["reading"]["pixel"] == json!([25, 33]));
    viewer.settle();
    let (state, screen) = (viewer.state(), display.picture());
    viewer.screenshot("inspector");
    // The same image pixel a little up and left, where the pointer's arrow does not cover it.
    assert_eq!(state["status"]["reading"]["codes"][1], json!(screen.get_pixel(693, 415).0));
    assert!(state["status"]["reading"]["depth"].as_f64() > Some(0.0), "{state:#}");
    viewer.press("i");
    assert_eq!(viewer.state()["status"]["reading"], Value::Null);

    // A slider to its end, everything back to the defaults; the starter ignores the tone.
    assert!(viewer.state()["status"]["ignored"].as_array().is_some_and(|inputs| inputs.contains(&json!("tone"))));
    let [x, y, width, _] = viewer.place("intensity");
    let left = x - width / 2;
    display.drag((left + 50, y), (left - 6, y));
    viewer.wait_for(SOON, "the intensity", |s| s["look"]["intensity"] == 0.0);
    viewer.settle();
    viewer.screenshot("slider");
    viewer.click_on("controls.reset");
    viewer.wait_for(SOON, "the default", |s| s["look"]["intensity"] == 1.0);

    // The difference is that of the two pictures; the held key shows the original in its place.
    viewer.wait_for_frames(1);
    let pictures = || viewer.screens(["1", "2", "5"]);
    let ([mut without, mut with, mut shown], begun) = (pictures(), Instant::now());
    // The frame that was in work when the slider was reset has none of the network's effect; the next one has.
    while difference(&without, &with, IMAGE) <= 1.0 && begun.elapsed() < SLOW {
        [without, with, shown] = pictures();
    }
    viewer.screenshot("difference");
    assert_eq!(viewer.state()["gain"], 8.0);
    let share = share_of_difference(&shown, &without, &with, 8);
    assert!(share > 0.999, "{share} of the difference is as computed");
    assert!(difference(&without, &with, IMAGE) > 1.0);
    let before = viewer.evaluated();
    display.xdotool(&["keydown", "b"]);
    viewer.wait_for(SOON, "the original is asked for", |s| s["original"] == true);
    viewer.settle();
    let original = display.picture();
    display.xdotool(&["keyup", "b"]);
    viewer.wait_for(SOON, "the key is up", |s| s["original"] == false);
    if viewer.evaluated() == before {
        assert_eq!(difference(&original, &without, IMAGE), 0.0, "the held key shows the frame without the network");
    }

    // A screenshot is the picture without the overlay.
    let before = viewer.evaluated();
    let screen = display.picture();
    display.key("F2");
    let mut pictures = Vec::new();
    wait_until(SOON, "the screenshot", || {
        pictures = files(folder.path());
        // The name is taken before the picture is written.
        pictures.iter().any(|path| path.metadata().is_ok_and(|file| file.len() > 0))
    });
    let shot = image::open(&pictures[0]).expect("a picture").to_rgb8();
    assert_eq!(shot.dimensions(), (1280, 800));
    let panel = Rect { x: 0, y: 0, width: 270, height: 800 };
    assert!(contrast(&shot, panel) < 1.0, "the overlay is not in it");
    if viewer.evaluated() == before {
        assert_eq!(difference(&shot, &screen, IMAGE), 0.0, "it is what the window shows");
    }

    display.key("Escape");
    viewer.ends_well();
}
