//! A person compares other things than the network on and off, and looks at the buffers of a frame.
//! With `NRVIEW_SCREENSHOTS=DIR` the screens are kept.

use image::RgbImage;
use network::geometry::Extent;
use network::metrics::{DEFAULT_PIXELS_PER_DEGREE, Rgb8, flip, heat_color};
use nrview_tests::screen::{Rect, contrast, difference};
use nrview_tests::window::{SLOW, SOON, Viewer};
use serde_json::{Value, json};

/// Side of the image: the window's height is a whole number of them.
const SIDE: u32 = 50;
/// Inside the picture area of the 1280x800 window, without the labels and legends.
const IMAGE: Rect = Rect { x: 560, y: 140, width: 480, height: 620 };

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// The image after each of some keys, pixel by pixel, without the overlay.
fn images(viewer: &Viewer, keys: &[&str]) -> Vec<RgbImage> {
    viewer.press("Tab");
    let scale = number(&viewer.state()["scale"]);
    assert_eq!(scale, 16.0, "a whole number of screen pixels");
    let (left, top) = ((1280.0 - f64::from(SIDE) * scale) / 2.0, (800.0 - f64::from(SIDE) * scale) / 2.0);
    let at = |corner: f64, place: u32| (corner + (f64::from(place) + 0.5) * scale) as u32;
    let images = keys.iter().map(|key| {
        viewer.press(key);
        let screen = viewer.display.picture();
        RgbImage::from_fn(SIDE, SIDE, |x, y| *screen.get_pixel(at(left, x), at(top, y)))
    });
    let images = images.collect();
    viewer.press("Tab");
    images
}

/// Whether a colour is one of the heat map's, within an 8-bit step.
fn is_heat(pixel: [u8; 3]) -> bool {
    (0..=1000).map(|step| heat_color(step as f32 / 1000.0)).any(|heat| (0..3).all(|c| heat[c].abs_diff(pixel[c]) <= 2))
}

#[test]
fn a_reference_and_what_needs_no_network() {
    let size = format!("--size={SIDE}x{SIDE}");
    let sides = ["--left=off", "--right=reference:64"];
    // Every live frame is the same, so that pictures taken one after the other are of the same frame.
    let settings = r#"{"hinted": true, "jitter": false, "look": {"frozen_seed": true}}"#;
    let arguments = ["--no-network", "--split=off", &size, sides[0], sides[1]];
    let viewer = Viewer::start_with((1400, 900), settings, &arguments);
    viewer.press("p");
    let all = |s: &Value| s["status"]["samples"] == json!({ "done": 64, "total": 64 });
    viewer.wait_for(SLOW, "all samples of the reference", all);
    assert_eq!(viewer.state()["sides"], json!(["off", "reference:64"]));
    assert_eq!(viewer.state()["status"]["sides"][1], "reference, 64 samples");

    // FLIP of what the window shows is that of the CPU.
    let pictures = images(&viewer, &["1", "2"]);
    viewer.press("5");
    viewer.press("g");
    viewer.press("g");
    assert_eq!(viewer.state()["difference"], "flip");
    viewer.wait_for(SOON, "the mean", |s| s["status"]["flip_mean"].is_number());
    viewer.settle();
    viewer.screenshot("flip");
    let rgb = |picture: &RgbImage| Rgb8::new(Extent::new(SIDE, SIDE), picture.as_raw().clone()).expect("a picture");
    let expected = flip(&rgb(&pictures[0]), &rgb(&pictures[1]), DEFAULT_PIXELS_PER_DEGREE).mean();
    let mean = number(&viewer.state()["status"]["flip_mean"]);
    println!("FLIP {mean:.4}, of the screens {expected:.4}");
    assert!(mean > 0.01 && (mean - expected).abs() < 1e-3, "{mean} for {expected}");
    let heat = viewer.display.picture();
    assert!(contrast(&heat, IMAGE) > 4.0, "the heat map is no flat colour");
    for step in 0..40 {
        let pixel = heat.get_pixel(IMAGE.x + 11 * step, IMAGE.y + 15 * step).0;
        assert!(is_heat(pixel), "{pixel:?} is a colour of the map");
    }

    // Left and right change places.
    viewer.press("x");
    assert_eq!(viewer.state()["sides"], json!(["reference:64", "off"]));
    let swapped = images(&viewer, &["1", "2"]);
    assert!(swapped[0] == pictures[1] && swapped[1] == pictures[0], "left is what right was");

    // What needs no network is shown, the rest says why not.
    viewer.press("6");
    let mut shown: Vec<(String, RgbImage)> = Vec::new();
    for _ in 0..9 {
        let state = viewer.state();
        let kind = state["view"]["kind"].as_str().unwrap_or_default().to_owned();
        let screen = viewer.display.picture();
        if ["hdr", "depth", "motion"].contains(&kind.as_str()) {
            assert_eq!(state["status"]["view_missing"], Value::Null, "{kind}");
            for (other, earlier) in &shown {
                assert!(difference(&screen, earlier, IMAGE) > 1.0, "{kind} is not {other}");
            }
            viewer.screenshot(&format!("view-{kind}"));
            shown.push((kind, screen));
        } else {
            assert_eq!(state["status"]["view_missing"], "there is no network", "{kind}");
            assert!(contrast(&screen, IMAGE) < 1.0, "{kind} shows nothing");
        }
        viewer.press("bracketright");
    }
    assert_eq!(shown.len(), 3);

    // There is no network to switch on.
    viewer.display.key("n");
    let refused = |s: &Value| s["status"]["error"].as_str().is_some_and(|text| text.contains("--no-network"));
    viewer.wait_for(SOON, "the refusal", refused);
    assert_eq!(viewer.state()["network"], false);
    assert_eq!(viewer.state()["status"]["network_submissions"], 0);
    viewer.display.key("Escape");
    viewer.ends_well();
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn two_networks_and_their_buffers() {
    let size = format!("--size={SIDE}x{SIDE}");
    // With a paper white of one the proxy has the very codes of the HDR input.
    let settings = r#"{"hinted": true, "look": {"paper_white": 2.0}}"#;
    let arguments = ["--split=view", &size, "--model=starter", "--left=history:off", "--right=network"];
    let viewer = Viewer::start_with((1400, 900), settings, &arguments);
    viewer.press("p");
    viewer.press("i");
    viewer.display.xdotool(&["mousemove", "800", "500"]);
    viewer.wait_for(SOON, "the sides", |s| s["sides"] == json!(["network,history:off", "network"]));
    viewer.wait_for_frames(2);
    viewer.wait_for(SLOW, "a frame with a history", |s| number(&s["status"]["view_weight"]) > 0.0);

    // Every view shows something of its own, and the values at the pointer are those of its buffers.
    let mut shown: Vec<(String, RgbImage)> = Vec::new();
    for _ in 0..9 {
        let state = viewer.state();
        assert_eq!(state["status"]["view_missing"], Value::Null, "{}", state["view"]);
        let kind = state["view"]["kind"].as_str().unwrap_or_default().to_owned();
        let screen = viewer.display.picture();
        viewer.screenshot(&format!("network-{kind}"));
        for (other, earlier) in &shown {
            assert!(difference(&screen, earlier, IMAGE) > 0.2, "{kind} is not {other}");
        }
        shown.push((kind, screen));
        viewer.press("bracketright");
    }
    // The views of the field have no pixel of the image there; the values follow a drawn frame or two later.
    viewer.wait_for(SOON, "the values at the pointer", |s| !s["status"]["reading"].is_null());
    let reading = viewer.state()["status"]["reading"].clone();
    for name in ["history", "residual", "weight", "noise", "proxy"] {
        assert!(!reading[name].is_null(), "{name}: {reading:#}");
    }
    assert!((0.0..=1.0).contains(&number(&reading["weight"])));
    assert!(reading["linears"][0].is_array() && reading["linears"][1].is_array(), "{reading:#}");
    viewer.press("i");

    // The two sides differ by their history alone, and a side that cannot be leaves them.
    let [left, right] = viewer.screens(["1", "2"]);
    viewer.screenshot("history-on");
    assert!(difference(&left, &right, IMAGE) > 0.05, "the history changes the picture");
    viewer.display.key("Escape");
    viewer.ends_well();
}
