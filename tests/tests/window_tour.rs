//! A person goes through everything that the window has: every mode, every control from end to end, sizes, scenes and
//! models, with real mouse and key events; judged by the screen and by the program's state.
//! With `NRVIEW_SCREENSHOTS=DIR` the screens are kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nrview_tests::controls::{Place, RAIL, number, value};
use nrview_tests::display::wait_until;
use nrview_tests::screen::{Rect, contrast, difference};
use nrview_tests::window::{SLOW, SOON, Viewer};
use serde_json::{Value, json};

/// A window that is high enough for all of the panel, and no wider than it needs to be: drawing it takes from the frames.
const TALL: (u32, u32) = (800, 1400);
/// In the picture, beside the panel.
const IMAGE: Rect = Rect { x: 300, y: 460, width: 480, height: 480 };

/// Every control that is a slider, with the control that has to be switched for it to be active.
const SLIDERS: [(&str, Option<(&str, bool)>); 18] = [
    ("intensity", None),
    ("color-strength", None),
    ("tone", None),
    ("structure", None),
    ("skin", Some(("skin-follows", false))),
    ("paper-white", Some(("auto-white", false))),
    ("white-low", Some(("auto-white", true))),
    ("white-high", Some(("auto-white", true))),
    ("history-cap", None),
    ("reset-every", None),
    ("exposure", Some(("custom", true))),
    ("contrast", Some(("custom", true))),
    ("gamma", Some(("custom", true))),
    ("saturation", Some(("custom", true))),
    ("hue", Some(("custom", true))),
    ("vibrance", Some(("custom", true))),
    ("strength", Some(("custom", true))),
    ("style", None),
];

/// Every control that is a box to tick.
const BOXES: [&str; 9] = [
    "skin-follows",
    "auto-mask",
    "auto-white",
    "frozen-noise",
    "custom",
    "jitter",
    "shadows",
    "occlusion",
    "reflections",
];

/// Drags a slider to a place. Returns the slider's picture.
fn slide(viewer: &Viewer, control: &str, to: Place) -> image::RgbImage {
    viewer.slide(control, to);
    thread::sleep(Duration::from_millis(150));
    let [x, y, width, height] = viewer.place(control);
    let left = x - width / 2;
    image::imageops::crop_imm(&viewer.display.picture(), left, y - height / 2, RAIL + 60, height).to_image()
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    files.sort();
    files
}

/// Every slider at one end, then a frame from the network: its picture.
fn all_at(viewer: &Viewer, to: Place, pictures: &mut [Vec<image::RgbImage>]) -> image::RgbImage {
    for (index, (control, enabler)) in SLIDERS.iter().enumerate() {
        if let Some((enabler, enabled)) = enabler {
            viewer.tick(enabler, *enabled);
        }
        if *control == "style" {
            let choice = Place::ALL.iter().position(|one| *one == to).unwrap_or(0);
            viewer.click_on(&format!("style.{choice}"));
            viewer.wait_for(SOON, "the style", |state| value(state, "style") == choice as f64);
            continue;
        }
        pictures[index].push(slide(viewer, control, to));
    }
    // In between, strength and intensity would show little at their low ends.
    viewer.display.key("n");
    viewer.wait_for_frames(1);
    let picture = viewer.display.picture();
    viewer.screenshot(&format!("controls-{}", to.name()));
    viewer.display.key("n");
    viewer.wait_for(SOON, "the network is off", |state| state["network"] == false);
    picture
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn a_person_goes_through_everything() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let shots = format!("--screenshots={}", folder.path().display());
    let settings = r#"{"hinted": true, "clip_frames": 3, "clip_files": true}"#;
    let arguments = ["--split=side", "--size=64x64", "--model=starter", "--route=auto", &shots];
    let viewer = Viewer::start_with((1300, 1420), settings, &arguments);
    let display = &viewer.display;
    display.xdotool(&["windowsize", &viewer.window, &TALL.0.to_string(), &TALL.1.to_string()]);
    viewer.wait_for(SOON, "the window's size", |state| state["window"] == json!([TALL.0, TALL.1]));
    viewer.press("p");

    // Every mode is another picture.
    viewer.wait_for_frames(1);
    let state = viewer.state();
    assert!(number(&state, "/status/effect/changed") > 0.5, "{state:#}");
    assert_eq!(state.pointer("/status/probes/nan"), Some(&json!(0)));
    assert_eq!(state["status"]["doubts"], json!([]), "{state:#}");
    let modes = ["off", "on", "wipe", "side", "difference"];
    let mut screens: Vec<image::RgbImage> = Vec::new();
    for (key, mode) in ["1", "2", "3", "4", "5"].into_iter().zip(modes) {
        viewer.press(key);
        assert_eq!(viewer.state()["mode"], mode);
        let screen = display.picture();
        assert!(screens.iter().all(|other| difference(other, &screen, IMAGE) > 0.1), "{mode} is another picture");
        screens.push(screen);
    }
    // The other kinds of difference.
    for kind in ["signed", "flip"] {
        viewer.press("g");
        assert_eq!(viewer.state()["difference"], kind);
        if kind == "flip" {
            viewer.wait_for(SLOW, "the mean", |state| state["status"]["flip_mean"].is_number());
            viewer.settle();
        }
        let screen = display.picture();
        viewer.screenshot(&format!("difference-{kind}"));
        assert!(screens.iter().all(|other| difference(other, &screen, IMAGE) > 0.1), "{kind} is another picture");
        screens.push(screen);
    }

    // Every view of the buffers of a frame.
    viewer.press("6");
    assert_eq!(viewer.state()["mode"], "view");
    viewer.wait_for(SLOW, "the buffers of a frame", |state| number(state, "/status/view_weight") >= 0.0);
    for _ in 0..9 {
        viewer.settle();
        let state = viewer.state();
        let kind = state["view"]["kind"].as_str().unwrap_or_default().to_owned();
        assert_eq!(state["status"]["view_missing"], Value::Null, "{kind}");
        let screen = display.picture();
        viewer.screenshot(&format!("view-{kind}"));
        assert!(screens.iter().all(|other| difference(other, &screen, IMAGE) > 0.1), "{kind} is another picture");
        screens.push(screen);
        viewer.display.key("bracketright");
    }
    viewer.press("2");

    // Another side, and both change places.
    viewer.type_into("side.right", "reference:4");
    let all = json!({ "done": 4, "total": 4 });
    viewer.wait_for(SLOW, "the reference", |state| state["status"]["samples"] == all);
    assert_eq!(viewer.state()["sides"], json!(["off", "reference:4"]));
    let [off, reference] = viewer.screens(["1", "2"]);
    assert!(difference(&off, &reference, IMAGE) > 0.5, "samples make another picture");
    viewer.press("x");
    assert_eq!(viewer.state()["sides"], json!(["reference:4", "off"]));
    let [swapped] = viewer.screens(["1"]);
    assert!(difference(&swapped, &off, IMAGE) > 0.5, "left is what right was");
    viewer.press("x");
    viewer.type_into("side.right", "network");
    viewer.wait_for(SOON, "the sides of before", |state| state["sides"] == json!(["off", "network"]));
    viewer.press("2");

    // Every slider from end to end, and the picture with all of them there.
    display.key("n");
    viewer.wait_for(SOON, "the network is off", |state| state["network"] == false);
    viewer.click_on("custom.header");
    viewer.place("strength");
    let mut sliders = vec![Vec::new(); SLIDERS.len()];
    let pictures = Place::ALL.map(|to| all_at(&viewer, to, &mut sliders));
    for (pictures, (control, _)) in sliders.iter().zip(SLIDERS) {
        for (one, other) in [(0, 1), (1, 2), (0, 2)] {
            let (Some(one), Some(other)) = (pictures.get(one), pictures.get(other)) else { continue };
            let area = Rect::new(0, 0, one.width().min(other.width()), one.height().min(other.height()));
            assert!(difference(one, other, area) > 0.0, "{control} looks the same at two places");
        }
    }
    for (one, other) in [(0, 1), (1, 2), (0, 2)] {
        let by = difference(&pictures[one], &pictures[other], IMAGE);
        assert!(by > 0.5, "the controls change the picture: {by}");
    }
    // The way back: of one control, then of all.
    slide(&viewer, "tone", Place::Low);
    viewer.click_on("tone.reset");
    viewer
        .wait_for(SOON, "the tone's default", |state| value(state, "tone") == number(state, "/controls/tone/default"));
    viewer.click_on("controls.reset");
    viewer.wait_for(SOON, "all defaults", |state| {
        SLIDERS.iter().all(|(id, _)| value(state, id) == number(state, &format!("/controls/{id}/default")))
    });
    for control in BOXES {
        let before = value(&viewer.state(), control);
        let active = viewer.state()["controls"][control]["active"] == true;
        assert!(active, "{control} can be ticked");
        viewer.tick(control, before == 0.0);
        viewer.tick(control, before != 0.0);
    }
    let shown = display.picture();
    viewer.tick("shadows", false);
    viewer.settle();
    assert!(difference(&shown, &display.picture(), IMAGE) > 0.2, "shadows are gone");
    viewer.tick("shadows", true);

    // A preset: kept, changed, loaded, deleted.
    slide(&viewer, "intensity", Place::Low);
    viewer.type_into("preset.name", "faint one");
    viewer.click_on("preset.save");
    viewer.wait_for(SOON, "the preset", |state| state["status"]["presets"] == json!(["faint one"]));
    assert!(viewer.settings_folder().join("presets/faint one.json").is_file());
    viewer.click_on("controls.reset");
    viewer.wait_for(SOON, "the default", |state| value(state, "intensity") == 1.0);
    viewer.click_on("presets");
    viewer.click_on("preset.faint one");
    viewer.wait_for(SOON, "the preset's value", |state| value(state, "intensity") == 0.0);
    viewer.click_on("preset.delete");
    viewer.wait_for(SOON, "no preset", |state| state["status"]["presets"] == json!([]));
    viewer.click_on("controls.reset");

    // Ten sizes, and the memory as before. The last one of the list is the first size.
    let memory = |state: &Value| number(state, "/status/memory/total");
    viewer.settle();
    let before = memory(&viewer.state());
    for size in ["33x33", "96x64", "160x90", "64x200", "320x180", "640x360", "100x100", "333x40", "80x48", "64x64"] {
        viewer.type_into("size", size);
        viewer.wait_for(SOON, size, |state| state["status"]["size"] == size);
    }
    viewer.wait_for(SOON, "the memory as before", |state| memory(state) <= before);
    viewer.type_into("size", "16384x16384");
    viewer.wait_for(SOON, "a refusal", |state| {
        state["status"]["error"].as_str().is_some_and(|text| text.contains("do not fit") && text.contains(" fits"))
    });
    assert_eq!(viewer.state()["status"]["size"], "64x64");

    // Out of sight and back; fullscreen and back.
    display.xdotool(&["windowunmap", "--sync", &viewer.window]);
    thread::sleep(Duration::from_millis(700));
    display.xdotool(&["windowmap", "--sync", &viewer.window]);
    display.focus(&viewer.window);
    viewer.settle();
    assert!(contrast(&display.picture(), IMAGE) > 5.0, "it is back");
    for full in [true, false] {
        display.key("F11");
        viewer.wait_for(SOON, "fullscreen", |state| state["fullscreen"] == full);
        viewer.settle();
    }

    // The help.
    viewer.press("h");
    assert_eq!(viewer.state()["help"], true);
    viewer.place("help");
    viewer.screenshot("help");
    viewer.press("Escape");
    assert_eq!(viewer.state()["help"], false);

    // Another scene, while the network is off; then another model.
    let scenes = viewer.state()["status"]["scenes"].as_array().map_or(0, Vec::len);
    if scenes > 1 {
        let other = viewer.state()["status"]["scenes"][1]["name"].as_str().unwrap_or_default().to_owned();
        let shown = display.picture();
        viewer.click_on("scenes");
        viewer.click_on(&format!("scene.{other}"));
        viewer.wait_for(SLOW, "another scene", |state| {
            state["status"]["scene"] == other.as_str() && state["status"]["scene_loading"].is_null()
        });
        viewer.settle();
        viewer.screenshot("scene");
        assert!(difference(&shown, &display.picture(), IMAGE) > 2.0, "another scene is another picture");
    }
    let digest = viewer.state()["status"]["digest"].clone();
    viewer.type_into("model.name", "identity");
    viewer.wait_for(SLOW, "another model", |state| {
        state["status"]["digest"] != digest && state["status"]["loading"] == false
    });
    display.key("n");
    viewer.wait_for_frames(1);
    viewer.screenshot("model");

    // Files: a linear picture, a clip, a report without names.
    display.key("shift+F2");
    wait_until(SLOW, "the linear picture", || {
        files(folder.path(), ".exr").iter().any(|file| file.metadata().is_ok_and(|m| m.len() > 1000))
    });
    display.key("n");
    viewer.wait_for(SOON, "the network is off", |state| state["network"] == false);
    display.key("F3");
    wait_until(SLOW, "the clip", || {
        viewer.state()["status"]["clip"].is_null()
            && files(folder.path(), "").iter().any(|path| path.is_dir() && files(path, ".png").len() == 3)
    });
    viewer.click_on("report");
    let report = || files(folder.path(), "").into_iter().find(|path| path.join("log.txt").is_file());
    wait_until(SOON, "the report", || report().is_some());
    let text = fs::read_to_string(report().expect("a report").join("report.json")).expect("a file");
    assert!(serde_json::from_str::<Value>(&text).is_ok_and(|report| report["device"]["driver"].is_string()));

    let state = viewer.state();
    println!("answers while it computes: {}", state["status"]["passes"]["input"]);
    assert!(number(&state, "/status/passes/input/count") > 20.0);
    assert!(number(&state, "/status/passes/network ViT/count") >= 1.0, "times by stage");
    display.key("Escape");
    viewer.ends_well();
}

#[test]
fn the_demo_goes_through_everything_and_ends() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let shots = format!("--screenshots={}", folder.path().display());
    let viewer = Viewer::start(&["--demo=0", "--size=33x33", "--model=identity", "--route=auto", &shots]);
    let ended = viewer.ended(3 * SLOW);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(!ended.log.contains("validation:") && !ended.log.contains("panicked"), "{ended:#?}");
    assert_eq!(ended.settings, r#"{"hinted": true}"#, "a tour changes no settings");
    let pictures = files(folder.path(), ".png");
    assert!(pictures.len() > 100, "{} pictures", pictures.len());
    let first = image::open(&pictures[0]).expect("a picture").to_rgb8();
    assert_eq!(first.dimensions(), (1280, 800));
    assert!(contrast(&first, Rect::new(10, 10, 250, 700)) > 5.0, "the overlay is in it");
    let names: Vec<String> =
        pictures.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect();
    for part in ["mode-wipe", "intensity-low", "intensity-high", "hue-middle", "inspector", "size-smaller", "help"] {
        assert!(names.iter().any(|name| name.contains(part)), "no picture of {part}");
    }
}

#[test]
fn closing_during_loading_takes_no_time() {
    // Without a cache the network's pipelines take long on a software device.
    let viewer = Viewer::start(&["--size=64x64", "--model=starter"]);
    let loading = viewer.state()["status"]["loading"] == true;
    let (took, code, log) = viewer.quit();
    println!("closed in {took:.2?}, still loading: {loading}");
    assert_eq!(code, Some(0), "{log}");
}
