//! A person drives the viewer: real mouse and key events on a virtual display, judged by the screen's pixels.
//! With `NRVIEW_SCREENSHOTS=DIR` the screens are kept.

use std::thread;
use std::time::{Duration, Instant};

use image::RgbImage;
use nrview_tests::screen::{Rect, contrast, difference};
use nrview_tests::window::{SLOW, SOON, Viewer};
use serde_json::json;

/// Left edge of the picture: the overlay's panel is there.
const LEFT: u32 = 276;
/// The image of 320x180 in the picture area of the 1280x800 window, without its labels at the top.
const IMAGE: Rect = Rect { x: LEFT + 4, y: 160, width: 996, height: 510 };
/// Screen x of a place across the image, 0 to 1.
fn across(share: f64) -> u32 {
    LEFT + (share * 1004.0).round() as u32
}

/// The part of the image between two places across it, a little away from both.
fn part(from: f64, to: f64) -> Rect {
    let (left, right) = (across(from) + 12, across(to) - 12);
    Rect { x: left, width: right - left, ..IMAGE }
}

/// How much neighbouring pixels of the render differ: grain. The image is shown about three times enlarged.
fn grain(screen: &RgbImage, area: Rect) -> f64 {
    let moved = RgbImage::from_fn(screen.width(), screen.height(), |x, y| {
        *screen.get_pixel((x + 3).min(screen.width() - 1), y)
    });
    difference(screen, &moved, area)
}

#[test]
fn a_person_drives_the_window() {
    let viewer = Viewer::start(&["--split=wipe", "--size=320x180", "--model=starter"]);
    let display = &viewer.display;

    // Before the first frame of the network is done the window shows the scene and follows the hand.
    viewer.wait_for(SLOW, "the network is being computed", |s| s["status"]["progress"].is_object());
    assert_eq!(viewer.evaluated(), 0);
    let asked = Instant::now();
    display.drag((across(0.5), 400), (across(0.7), 400));
    viewer.wait_for(SOON, "the wipe follows", |s| (s["wipe"].as_f64().unwrap_or(0.0) - 0.7).abs() < 0.02);
    println!("dragged the wipe in {:.1?} while a frame was computed", asked.elapsed());
    display.key("p");
    viewer.wait_for(SOON, "the scene stands still", |s| s["paused"] == true);
    viewer.settle();
    assert!(contrast(&display.picture(), IMAGE) > 10.0, "the scene is on the screen");
    viewer.screenshot("computing");

    // Without, with, and the wipe between them.
    viewer.wait_for_frames(1);
    let [without, with, wipe] = viewer.screens(["1", "2", "3"]);
    viewer.screenshot("wipe");
    assert!(difference(&without, &with, IMAGE) > 1.0, "the network changes the picture");
    let (noisy, clean) = (grain(&without, IMAGE), grain(&with, IMAGE));
    println!("grain {noisy:.2} without, {clean:.2} with the network");
    assert!(clean < 0.9 * noisy, "the network's picture is cleaner: {clean} against {noisy}");
    let (left, right) = (part(0.0, 0.7), part(0.7, 1.0));
    assert_eq!(difference(&wipe, &without, left), 0.0, "left of the line is the frame without");
    assert_eq!(difference(&wipe, &with, right), 0.0, "right of the line is the frame with");

    // Dragging the line.
    display.drag((across(0.7), 300), (across(0.3), 500));
    viewer.wait_for(SOON, "the wipe follows", |s| (s["wipe"].as_f64().unwrap_or(0.0) - 0.3).abs() < 0.02);
    let [without, with, wipe] = viewer.screens(["1", "2", "3"]);
    assert_eq!(difference(&wipe, &without, part(0.0, 0.3)), 0.0);
    assert_eq!(difference(&wipe, &with, part(0.3, 0.7)), 0.0, "the line has been moved");

    // Side by side: two halves, the right one with the network.
    let [side] = viewer.screens(["4"]);
    viewer.screenshot("side");
    let half = |x: u32| Rect::new(x, 300, 490, 180);
    assert!(contrast(&side, half(LEFT + 4)) > 10.0 && contrast(&side, half(LEFT + 508)) > 10.0);
    assert!(grain(&side, half(LEFT + 508)) < 0.9 * grain(&side, half(LEFT + 4)));
    viewer.press("3");

    // The network off by key, and its side shows the plain frame.
    viewer.press("n");
    assert_eq!(viewer.state()["network"], false);
    viewer.press("2");
    let off = grain(&display.picture(), IMAGE);
    assert!(off > 0.9 * noisy, "with the network off its side shows the plain frame: {off} against {noisy}");

    // The temporal history off and on. The panel shows it.
    let [x, y, width, height] = viewer.place("history");
    let checkbox = Rect::new(x - width / 2, y - height / 2, 16, height);
    let on = display.picture();
    viewer.press("t");
    assert_eq!(viewer.state()["temporal"], false);
    assert!(difference(&on, &display.picture(), checkbox) > 1.0, "the check mark is gone");
    viewer.press("t");
    assert_eq!(viewer.state()["temporal"], true);

    // Another resolution while it runs: typed, then Enter. The network on by mouse.
    viewer.type_into("size", "160x160");
    viewer.wait_for(SOON, "the size", |s| s["status"]["size"] == "160x160");
    viewer.click_on("network");
    viewer.wait_for(SOON, "the checkbox", |s| s["network"] == true);
    viewer.wait_for_frames(1);
    let [without, with, square] = viewer.screens(["1", "2", "3"]);
    assert!(difference(&without, &with, IMAGE) > 1.0, "the network is on again");
    viewer.screenshot("resolution");
    assert!(contrast(&square, Rect::new(LEFT + 110, 60, 780, 720)) > 10.0, "a square picture fills the height");
    assert!(contrast(&square, Rect::new(LEFT + 8, 60, 80, 700)) < 1.0, "and leaves bars beside it");
    assert!(viewer.state()["status"]["history"].as_u64() >= Some(1));
    display.key("r");
    viewer.wait_for(SOON, "the history is forgotten", |s| s["status"]["history"] == 0);
    // Nothing is rendered at a size that cannot be.
    viewer.type_into("size", "28x28");
    viewer.settle();
    assert_eq!(viewer.state()["status"]["size"], "160x160");

    // Out of sight and back (there is no window manager to minimise it), then other sizes of the window.
    display.xdotool(&["windowunmap", "--sync", &viewer.window]);
    thread::sleep(Duration::from_secs(1));
    assert_eq!(contrast(&display.picture(), IMAGE), 0.0, "the screen is empty");
    display.xdotool(&["windowmap", "--sync", &viewer.window]);
    display.focus(&viewer.window);
    viewer.settle();
    assert!(contrast(&display.picture(), IMAGE) > 10.0, "it is back");
    for (width, height) in [(900, 600), (1, 1), (1400, 900), (300, 200), (1280, 800)] {
        display.xdotool(&["windowsize", &viewer.window, &width.to_string(), &height.to_string()]);
        viewer.wait_for(SOON, "the window's size", |s| s["window"] == json!([width, height]));
        viewer.settle();
    }
    assert!(contrast(&display.picture(), IMAGE) > 10.0, "it is whole again");

    // The panel away, and the camera by mouse and by key.
    viewer.press("Tab");
    assert!(contrast(&display.picture(), Rect::new(300, 60, 680, 700)) > 10.0, "the picture has the whole window");
    viewer.screenshot("no-panel");
    viewer.press("Tab");
    assert_eq!(viewer.state()["path"], true);
    let before = display.picture();
    display.drag((500, 400), (620, 420));
    viewer.wait_for(SOON, "the camera has left its path", |s| s["path"] == false);
    viewer.settle();
    let turned = display.picture();
    assert!(difference(&before, &turned, IMAGE) > 2.0, "the camera has turned");
    display.xdotool(&["keydown", "w"]);
    thread::sleep(Duration::from_secs(1));
    display.xdotool(&["keyup", "w"]);
    viewer.settle();
    assert!(difference(&turned, &display.picture(), IMAGE) > 1.0, "the camera has moved");

    display.key("Escape");
    viewer.ends_well();
}

#[test]
fn a_window_that_is_taken_away_is_no_crash() {
    let viewer = Viewer::start(&["--size=64x64", "--model=identity"]);
    viewer.display.xdotool(&["windowclose", &viewer.window]);
    viewer.ends_well();
}
