//! Every control of the overlay, one by one: dragged by the mouse to its least, its middle and its largest value, or
//! ticked and cleared, and judged by the pixels of a frame that was begun after it. What the loaded model ignores is
//! marked so, and has no effect.
//! With `NRVIEW_SCREENSHOTS=DIR` the screens are kept.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use image::RgbImage;
use nrview_tests::controls::{Place, number, value};
use nrview_tests::screen::{Rect, difference};
use nrview_tests::window::{SLOW, SOON, Viewer};
use serde_json::{Value, json};

/// A window that is high enough for all of the panel, and no wider than it needs to be: drawing it takes from the frames.
const TALL: (u32, u32) = (560, 1400);
/// In the picture, beside the panel and below the label.
const IMAGE: Rect = Rect { x: 290, y: 610, width: 250, height: 210 };

/// Another control, and where it has to be.
enum Need {
    /// A box.
    Box(&'static str, bool),
    /// A slider.
    Slider(&'static str, Place),
}
use Need::{Box, Slider};

/// Every slider of the look, and what has to be so that it has an effect.
const LOOK: [(&str, &[Need]); 7] = [
    ("intensity", &[]),
    ("color-strength", &[]),
    ("tone", &[]),
    ("structure", &[]),
    ("skin", &[Box("skin-follows", false)]),
    ("paper-white", &[]),
    ("history-cap", &[]),
];

/// Every knob of the custom style.
const KNOBS: [(&str, &[Need]); 7] = [
    ("exposure", &[Box("custom", true)]),
    ("contrast", &[Box("custom", true)]),
    ("gamma", &[Box("custom", true)]),
    ("saturation", &[Box("custom", true)]),
    ("hue", &[Box("custom", true)]),
    ("vibrance", &[Box("custom", true)]),
    ("strength", &[Box("custom", true), Slider("exposure", Place::High)]),
];

/// Every box that changes each frame alike, and what has to be so that it has an effect.
const BOXES: [(&str, &[Need]); 7] = [
    ("skin-follows", &[Slider("structure", Place::High), Box("skin-follows", false), Slider("skin", Place::Low)]),
    ("auto-mask", &[]),
    ("custom", &[Box("custom", true), Slider("exposure", Place::High)]),
    ("shadows", &[]),
    ("occlusion", &[]),
    ("reflections", &[]),
    ("auto-white", &[]),
];

/// The controls that are driven by a part of the test of their own.
const OTHERS: [&str; 6] = ["style", "white-low", "white-high", "reset-every", "frozen-noise", "jitter"];

/// A frame so many behind a forgetting of the history: the picture of it, and no other frame's.
fn frame(viewer: &Viewer, behind: u64) -> RgbImage {
    let history = |state: &Value| state["status"]["history"].as_u64().unwrap_or(0);
    let evaluated = |state: &Value| state["status"]["evaluated"].as_u64().unwrap_or(0);
    for _ in 0..20 {
        viewer.display.key("r");
        // A frame in work is begun anew: all that come now were begun after what was done before.
        let mut since = 0;
        viewer.wait_for(SOON, "the history is forgotten", |state| {
            since = evaluated(state);
            history(state) == 0
        });
        viewer.wait_for(SLOW, "a frame from the network", |state| {
            evaluated(state) >= since + behind && state["status"]["preview"] == false
        });
        thread::sleep(Duration::from_millis(150));
        let picture = viewer.display.picture();
        thread::sleep(Duration::from_millis(150));
        if behind == 1 || evaluated(&viewer.state()) == since + behind {
            return picture;
        }
    }
    panic!("the next frame came too soon, every time: {:#}", viewer.state());
}

/// Brings other controls where they have to be.
fn prepare(viewer: &Viewer, needs: &[Need]) {
    for need in needs {
        match need {
            Box(control, to) => viewer.tick(control, *to),
            Slider(control, to) => viewer.slide(control, *to),
        }
    }
}

/// And back to their defaults.
fn undo(viewer: &Viewer, control: &str, needs: &[Need]) {
    viewer.take_back(control);
    // A knob has its way back while the custom style is on.
    for need in needs.iter().rev() {
        let (Box(control, _) | Slider(control, _)) = need;
        viewer.take_back(control);
    }
}

/// Waits until automatic paper white rests, and gives it.
fn white(viewer: &Viewer) -> f64 {
    let presented = |state: &Value| state["status"]["presented"].as_u64().unwrap_or(0);
    let (mut last, mut since) = (f64::NAN, 0);
    viewer.wait_for(SOON, "paper white rests", |state| {
        let applied = number(state, "/status/white/applied");
        // It moves with every drawn frame, and there may be few of them.
        let rests = (applied / last).ln().abs() < 1e-4;
        if !rests {
            (last, since) = (applied, presented(state));
        }
        rests && presented(state) >= since + 4
    });
    last
}

/// Asserts that pictures differ, each from each, and tells by how much.
fn all_differ(control: &str, pictures: &[RgbImage]) {
    let mut told = Vec::new();
    for (index, one) in pictures.iter().enumerate() {
        for other in &pictures[index + 1..] {
            told.push(difference(one, other, IMAGE));
        }
    }
    // Both ends of the hue are the same turn.
    if control == "hue" {
        told.remove(1);
    }
    println!("{control}: {told:.3?}");
    assert!(told.iter().all(|by| *by > 0.0), "{control} gives the same picture at two places: {told:?}");
}

/// A viewer whose frames of one instant are alike to the byte: no noise and no history of their own.
fn start(model: &str) -> Viewer {
    let settings = r#"{"hinted": true, "jitter": false, "temporal": false, "look": {"frozen_seed": true}}"#;
    let arguments = ["--split=on", "--size=64x64", model, "--route=auto"];
    let viewer = Viewer::start_with((1300, 1420), settings, &arguments);
    viewer.display.xdotool(&["windowsize", &viewer.window, &TALL.0.to_string(), &TALL.1.to_string()]);
    viewer.wait_for(SOON, "the window's size", |state| state["window"] == json!([TALL.0, TALL.1]));
    viewer.press("p");
    viewer.click_on("custom.header");
    viewer.place("strength");
    viewer.wait_for_frames(1);
    viewer
}

/// Drags each slider to its ends and its middle, and judges the pictures.
fn drag_all(sliders: &[(&str, &[Need])]) {
    let viewer = start("--model=lively");
    let known: BTreeSet<String> = viewer.state()["controls"].as_object().expect("controls").keys().cloned().collect();
    let driven: BTreeSet<String> = (LOOK.iter().chain(&KNOBS).chain(&BOXES).map(|(control, _)| *control))
        .chain(OTHERS)
        .map(str::to_owned)
        .collect();
    assert_eq!(driven, known, "every control is driven here");
    for control in &known {
        assert_eq!(viewer.state()["controls"][control]["seen"], "yes", "a lively model sees {control}");
    }
    // With nothing changed nothing differs, so that whatever differs below is the control's doing.
    assert_eq!(difference(&frame(&viewer, 1), &frame(&viewer, 1), IMAGE), 0.0, "two frames of one instant");
    for (control, needs) in sliders {
        prepare(&viewer, needs);
        // A history is there from the second frame on.
        let behind = if *control == "history-cap" { 2 } else { 1 };
        if behind == 2 {
            viewer.press("t");
            assert_eq!(viewer.state()["temporal"], true);
            assert_eq!(difference(&frame(&viewer, 2), &frame(&viewer, 2), IMAGE), 0.0, "two second frames");
        }
        let pictures = Place::ALL.map(|place| {
            viewer.slide(control, place);
            let picture = frame(&viewer, behind);
            viewer.screenshot(&format!("{control}-{}", place.name()));
            picture
        });
        all_differ(control, &pictures);
        undo(&viewer, control, needs);
    }
    viewer.display.key("Escape");
    viewer.ends_well();
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn every_slider_of_the_look_changes_the_picture_all_along_its_way() {
    drag_all(&LOOK);
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn every_knob_of_the_custom_style_changes_the_picture_all_along_its_way() {
    drag_all(&KNOBS);
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn every_box_and_choice_changes_the_picture() {
    let viewer = start("--model=lively");
    for (control, needs) in &BOXES {
        prepare(&viewer, needs);
        let pictures = [true, false].map(|on| {
            viewer.tick(control, on);
            if *control == "auto-white" && on {
                white(&viewer);
            }
            let picture = frame(&viewer, 1);
            viewer.screenshot(&format!("{control}-{on}"));
            picture
        });
        all_differ(control, &pictures);
        undo(&viewer, control, needs);
    }
    let pictures = [0, 1, 2].map(|choice| {
        viewer.click_on(&format!("style.{choice}"));
        viewer.wait_for(SOON, "the style", |state| value(state, "style") == f64::from(choice));
        let picture = frame(&viewer, 1);
        viewer.screenshot(&format!("style-{choice}"));
        picture
    });
    all_differ("style", &pictures);
    viewer.take_back("style");
    noise(&viewer);
    viewer.display.key("Escape");
    viewer.ends_well();
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn bounds_of_paper_white_and_forgetting_the_history() {
    let viewer = start("--model=lively");
    bounds(&viewer);
    forgetting(&viewer);
    viewer.display.key("Escape");
    viewer.ends_well();
}

/// Both bounds of automatic paper white: each over all of its way, against the end of the other one that leaves it room.
fn bounds(viewer: &Viewer) {
    viewer.tick("auto-white", true);
    viewer.place("white-high");
    white(viewer);
    let asked = number(&viewer.state(), "/status/white/requested");
    for (control, other) in [("white-low", "white-high"), ("white-high", "white-low")] {
        // They are taken in order, so the other one at the far side of what is asked for makes this one the nearer.
        let middle = number(&viewer.state(), &format!("/controls/{control}/middle"));
        viewer.slide(other, if asked > middle { Place::Low } else { Place::High });
        let mut whites = Vec::new();
        let pictures = Place::ALL.map(|place| {
            viewer.slide(control, place);
            let applied = white(viewer);
            let state = viewer.state();
            let [a, b] = [control, other].map(|bound| value(&state, bound));
            let wished = number(&state, "/status/white/requested").clamp(a.min(b), a.max(b));
            // A change of less than 0.15 stops moves nothing.
            assert!((applied / wished).log2().abs() < 0.16, "{control}: {applied} applied, {wished} wished");
            whites.push(applied);
            viewer.screenshot(&format!("{control}-{}", place.name()));
            frame(viewer, 1)
        });
        println!("{control}: paper white {whites:.3?} with {asked:.3} asked for");
        let apart = |a: f64, b: f64| (a / b).log2().abs() > 0.1;
        assert!(apart(whites[0], whites[1]) && apart(whites[1], whites[2]) && apart(whites[0], whites[2]));
        all_differ(control, &pictures);
        viewer.take_back(control);
        viewer.take_back(other);
    }
    viewer.tick("auto-white", false);
}

/// Frozen noise makes frames of one instant alike, and jitter makes them different.
fn noise(viewer: &Viewer) {
    let two = || [frame(viewer, 1), frame(viewer, 1)];
    viewer.tick("frozen-noise", false);
    let [one, other] = two();
    let by = difference(&one, &other, IMAGE);
    println!("frozen-noise: {by:.3} without it");
    assert!(by > 0.0, "every frame has noise of its own");
    viewer.tick("frozen-noise", true);
    let [still, same] = two();
    assert_eq!(difference(&still, &same, IMAGE), 0.0, "frozen noise");
    viewer.tick("jitter", true);
    let [one, other] = two();
    let by = difference(&one, &other, IMAGE);
    println!("jitter: {by:.3}");
    assert!(by > 0.0, "samples lie elsewhere in every frame");
    viewer.tick("jitter", false);
    assert_eq!(difference(&still, &frame(viewer, 1), IMAGE), 0.0, "and where they lay, without it");
}

/// "Reset every": a frame behind so many that had a history has none, so it is the picture of a frame behind a reset.
/// Frames without the network are quick, and count too.
fn forgetting(viewer: &Viewer) {
    viewer.press("t");
    assert_eq!(viewer.state()["temporal"], true);
    let history = |state: &Value| state["status"]["history"].as_u64().unwrap_or(0);
    let first = frame(viewer, 1);
    for (place, every) in [(Place::Low, 0_u64), (Place::Middle, 16), (Place::High, 32)] {
        viewer.slide("reset-every", place);
        assert_eq!(value(&viewer.state(), "reset-every"), every as f64);
        for behind in [16_u64, 33] {
            viewer.display.key("n");
            viewer.wait_for(SOON, "the network is off", |state| state["network"] == false);
            viewer.display.key("r");
            viewer.wait_for(SOON, "the history is forgotten", |state| history(state) < 8);
            // Drawing goes on until the key is heard: a few more frames.
            viewer.wait_for(SOON, "frames without the network", |state| history(state) >= behind);
            viewer.display.key("n");
            viewer.wait_for_frames(1);
            let (state, picture) = (viewer.state(), viewer.display.picture());
            let forgets = every > 0 && behind >= every;
            let age = history(&state);
            println!("reset-every {every}: {age} frames of history behind {behind} and a few more");
            assert_eq!(age < behind, forgets, "every {every}, behind {behind}: {age}");
            let same = difference(&picture, &first, IMAGE) == 0.0;
            // The next frame may be on the screen already, and that has a history again.
            assert_eq!(same, forgets && age == 1, "every {every}, behind {behind}: the picture without a history");
        }
    }
    viewer.take_back("reset-every");
    viewer.press("t");
}

/// The starter's weights for some inputs are zero: the controls that feed them are marked, and those that do nothing else
/// change nothing.
#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn what_the_model_ignores_is_marked_and_has_no_effect() {
    let viewer = start("--model=starter");
    viewer.screenshot("ignored");
    let plain = frame(&viewer, 1);
    let mut marked = Vec::new();
    for (control, seen) in viewer.state()["controls"].as_object().expect("controls") {
        let (seen, active) = (seen["seen"].as_str().unwrap_or_default(), seen["active"] == true);
        let places = viewer.state()["places"].clone();
        let has = |mark: &str| places.get(format!("{control}.{mark}")).is_some();
        // A control that others switch off says nothing.
        assert_eq!(has("ignored"), seen == "no-effect" && active, "{control}, {seen}");
        assert_eq!(has("unseen"), seen == "partly" && active, "{control}, {seen}");
        if seen == "no-effect" {
            marked.push(control.clone());
        }
    }
    println!("the starter ignores {marked:?}");
    assert!(["structure", "skin", "skin-follows", "auto-mask"].iter().all(|one| marked.iter().any(|is| is == one)));
    for control in marked {
        let is_box = BOXES.iter().any(|(id, _)| *id == control);
        if control == "skin" {
            viewer.tick("skin-follows", false);
        }
        for place in [Place::Low, Place::High] {
            match (is_box, place) {
                (true, _) => viewer.tick(&control, place == Place::High),
                (false, _) => viewer.slide(&control, place),
            }
            let by = difference(&plain, &frame(&viewer, 1), IMAGE);
            assert_eq!(by, 0.0, "{control} is ignored, and {} changes the picture", place.name());
        }
        viewer.take_back(&control);
        viewer.take_back("skin-follows");
    }
    viewer.display.key("Escape");
    viewer.ends_well();
}
