//! Every view of the buffers of a frame shows what it names: its pixels on the screen are compared with colours that are
//! computed here from the numbers that the inspector gives for them, and its own controls are driven by the mouse.
//! With `NRVIEW_SCREENSHOTS=DIR` the screens are kept.

use std::f64::consts::TAU;

use image::RgbImage;
use network::metrics::heat_color;
use nrview_tests::controls::{Place, number};
use nrview_tests::window::{SLOW, SOON, Viewer};
use serde_json::{Value, json};

/// Side of the image.
const SIDE: u32 = 50;
/// Left edge of the picture: the overlay's panel is there.
const LEFT: f64 = 276.0;
/// Image pixels that are looked at: surfaces near and far, and the sky.
const PIXELS: [[u32; 2]; 3] = [[24, 8], [11, 31], [36, 40]];
/// The same in views of the padded field, where the image is smaller: beside and below what names them.
const IN_FIELD: [[u32; 2]; 3] = [[24, 33], [11, 40], [36, 45]];
/// Largest difference of an 8-bit code to what is computed here: two roundings and a half.
const NEAR: u8 = 3;

fn three(value: &Value) -> Option<[f64; 3]> {
    let list = value.as_array()?;
    Some([0, 1, 2].map(|channel| list[channel].as_f64().unwrap_or(f64::NAN)))
}

fn codes(color: [f64; 3]) -> [u8; 3] {
    color.map(|channel| (255.0 * channel.clamp(0.0, 1.0)).round() as u8)
}

fn encoded(linear: f64) -> f64 {
    let linear = linear.clamp(0.0, 1.0);
    if linear > 0.003_130_8 { 1.055 * linear.powf(1.0 / 2.4) - 0.055 } else { 12.92 * linear }
}

/// The colour wheel: red is to the right, a third of a turn on is green.
fn wheel([x, y]: [f64; 2]) -> [f64; 3] {
    let (strength, turn) = (x.hypot(y).min(1.0), y.atan2(x) / TAU);
    [0.0, 2.0 / 3.0, 1.0 / 3.0].map(|shift| {
        let k = (turn + shift).rem_euclid(1.0) * 6.0;
        strength * ((k - 3.0).abs() - 1.0).clamp(0.0, 1.0)
    })
}

/// The colour of a pixel in a view, from its values; `None` where there is nothing to compute it from.
fn expected(view: &Value, reading: &Value) -> Option<[u8; 3]> {
    let setting = |name: &str| number(view, &format!("/{name}"));
    let around_grey = |value: f64, scale: f64| 0.5 + 0.5 * value * scale;
    match view["kind"].as_str()? {
        "hdr" => Some(codes(three(&reading["linear"])?.map(|v| encoded(v * setting("exposure").exp2())))),
        "proxy" | "field" => three(&reading["proxy"]).map(codes),
        "depth" => Some(match reading["depth"].as_f64()? {
            depth if depth > 0.0 => {
                heat_color((1.0 - (depth.max(0.5) / 0.5).ln() / (setting("far") / 0.5).ln()) as f32)
            }
            _ => [26, 31, 51],
        }),
        "motion" => {
            let motion = [0, 1].map(|axis| reading["motion"][axis].as_f64().unwrap_or(f64::NAN) / setting("motion"));
            Some(codes(wheel(motion)))
        }
        "history" => three(&reading["history"]).map(codes),
        "residual" => Some(codes(three(&reading["residual"])?.map(|v| around_grey(v, setting("gain"))))),
        "weight" => Some(heat_color(reading["weight"].as_f64()? as f32)),
        "noise" => {
            let lane = view["lane"].as_u64()? as usize;
            Some(codes([around_grey(three(&reading["noise"])?[lane], 0.25); 3]))
        }
        _ => None,
    }
}

/// Where the middle of a pixel of what is shown is on the screen. All of it fits in the window.
fn on_screen(state: &Value, pixel: [u32; 2]) -> (u32, u32) {
    let scale = number(state, "/scale");
    let at = |axis: usize| {
        let before = if axis == 0 { LEFT } else { 0.0 };
        let area = number(state, &format!("/window/{axis}")) - before;
        let corner = before + (area - scale * number(state, &format!("/status/space/{axis}"))) / 2.0;
        (corner + (f64::from(pixel[axis]) + 0.5) * scale) as u32
    };
    (at(0), at(1))
}

/// The state and the screen of one and the same frame with the pointer on a pixel.
fn caught(viewer: &Viewer, pixel: [u32; 2]) -> (Value, RgbImage) {
    let (x, y) = on_screen(&viewer.state(), pixel);
    viewer.display.xdotool(&["mousemove", &x.to_string(), &y.to_string()]);
    let evaluated = |state: &Value| state["status"]["evaluated"].as_u64();
    let presented = |state: &Value| state["status"]["presented"].as_u64().unwrap_or(0);
    for _ in 0..60 {
        // The values are those of a picture that was drawn one or two before.
        let (mut frame, mut since) = (None, 0);
        viewer.wait_for(SOON, "the values of a pixel that rests", |state| {
            let there = state["status"]["reading"]["pixel"] == json!(pixel);
            if !there || evaluated(state) != frame {
                (frame, since) = (evaluated(state), presented(state));
            }
            there && presented(state) >= since + 4
        });
        let before = viewer.state();
        // The pointer, the magnifier and its shadow out of the way.
        viewer.display.xdotool(&["mousemove", if pixel[0] < SIDE / 2 { "1270" } else { "290" }, "780"]);
        viewer.wait_for(SOON, "other drawn frames", |state| presented(state) >= presented(&before) + 3);
        let screen = viewer.display.picture();
        viewer.wait_for(SOON, "another drawn frame", |state| presented(state) >= presented(&before) + 5);
        let after = viewer.state();
        if evaluated(&before) == evaluated(&after) && before["view"] == after["view"] {
            return (before, screen);
        }
        viewer.display.xdotool(&["mousemove", &x.to_string(), &y.to_string()]);
    }
    panic!("a new frame came between every two looks: {:#}", viewer.state());
}

/// Asserts that the view shows the values of some pixels. Returns its colours there.
fn judge(viewer: &Viewer, what: &str) -> Vec<[u8; 3]> {
    let of_field = ["field", "noise"].iter().any(|kind| viewer.state()["view"]["kind"] == *kind);
    let colors = if of_field { IN_FIELD } else { PIXELS }.map(|pixel| {
        let (state, screen) = caught(viewer, pixel);
        assert_eq!(state["status"]["view_missing"], Value::Null, "{what}");
        let reading = &state["status"]["reading"];
        let wished = expected(&state["view"], reading).unwrap_or_else(|| panic!("{what}: no value in {reading:#}"));
        let (x, y) = on_screen(&state, pixel);
        let seen = screen.get_pixel(x, y).0;
        let near = (0..3).all(|channel| seen[channel].abs_diff(wished[channel]) <= NEAR);
        assert!(near, "{what}, pixel {pixel:?}: {seen:?} is shown for {wished:?}; {reading:#}");
        seen
    });
    viewer.screenshot(&format!("buffer-{what}"));
    println!("{what}: {colors:?}");
    colors.to_vec()
}

/// Drags a slider of the present view to both ends and its middle; the picture follows the value each time.
fn ends(viewer: &Viewer, slider: &str, field: &str) {
    let value = || number(&viewer.state(), &format!("/view/{field}"));
    let mut shown: Vec<(f64, Vec<[u8; 3]>)> = Vec::new();
    for place in Place::ALL {
        viewer.drag_slider_of(slider, 110, place);
        let before = shown.last().map(|(value, _)| *value);
        viewer.wait_for(SOON, slider, |_| before.is_none_or(|before| value() > before));
        viewer.settle();
        shown.push((value(), judge(viewer, &format!("{slider}-{}", place.name()))));
    }
    println!("{slider}: {:?}", shown.iter().map(|(value, _)| *value).collect::<Vec<_>>());
    assert!(shown.windows(2).all(|pair| pair[0].1 != pair[1].1), "{slider} gives the same picture at two places");
}

/// Chooses a view from the list.
fn choose(viewer: &Viewer, kind: &str) {
    viewer.click_on("views");
    viewer.click_on(&format!("view.{kind}"));
    viewer.wait_for(SOON, kind, |state| state["view"]["kind"] == kind);
    viewer.settle();
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn every_view_shows_what_it_names() {
    let size = format!("--size={SIDE}x{SIDE}");
    let viewer = Viewer::start(&["--split=off", &size, "--model=starter", "--route=auto"]);
    viewer.click_on("mode.view");
    viewer.wait_for(SOON, "the mode", |state| state["mode"] == "view");
    viewer.click_on("inspect");
    viewer.wait_for(SOON, "the inspector", |state| state["inspector"] == true);
    // The scene goes on: there is motion, and a history that differs from the frame.
    viewer.wait_for(SLOW, "a frame with a history", |state| number(state, "/status/view_weight") > 0.0);

    for kind in ["hdr", "proxy", "depth", "motion", "history", "residual", "weight", "field", "noise"] {
        choose(&viewer, kind);
        if kind == "motion" {
            viewer.click_on("view.arrows");
            viewer.wait_for(SOON, "no arrows", |state| state["view"]["arrows"] == false);
            viewer.settle();
        }
        let colors = judge(&viewer, kind);
        assert!(colors.iter().any(|color| *color != colors[0]), "{kind} is the same everywhere");
        match kind {
            "hdr" => ends(&viewer, "view.exposure", "exposure"),
            "depth" => ends(&viewer, "view.far", "far"),
            "motion" => {
                ends(&viewer, "view.full", "motion");
                arrows(&viewer);
            }
            "residual" => ends(&viewer, "view.gain", "gain"),
            "field" => field(&viewer),
            "noise" => {
                for lane in [1, 2, 0] {
                    viewer.click_on(&format!("view.lane.{lane}"));
                    viewer.wait_for(SOON, "the lane", |state| state["view"]["lane"] == lane);
                    viewer.settle();
                    judge(&viewer, &format!("noise-{lane}"));
                }
            }
            _ => {}
        }
    }
    viewer.display.key("Escape");
    viewer.ends_well();
}

/// Arrows are black and white on the colours, and gone without their box.
fn arrows(viewer: &Viewer) {
    let white = || {
        let (state, screen) = caught(viewer, PIXELS[0]);
        let (left, top) = on_screen(&state, [2, 12]);
        let (right, bottom) = on_screen(&state, [SIDE - 3, SIDE - 3]);
        let all = (left..right).flat_map(|x| (top..bottom).map(move |y| (x, y)));
        all.filter(|(x, y)| screen.get_pixel(*x, *y).0 == [255; 3]).count()
    };
    // A small motion makes a long arrow.
    viewer.drag_slider_of("view.full", 110, Place::Low);
    viewer.settle();
    let without = white();
    viewer.click_on("view.arrows");
    viewer.wait_for(SOON, "arrows", |state| state["view"]["arrows"] == true);
    viewer.settle();
    let with = white();
    viewer.screenshot("buffer-arrows");
    println!("arrows: {without} white pixels without, {with} with");
    assert!(with > without + 200, "{with} white pixels with arrows, {without} without");
}

/// The padded field: its border mirrors the image, dimmed, and the lines of a level lie where its windows begin.
fn field(viewer: &Viewer) {
    let (state, screen) = caught(viewer, IN_FIELD[0]);
    let color = |pixel: [u32; 2]| {
        let (x, y) = on_screen(&state, pixel);
        screen.get_pixel(x, y).0
    };
    for (x, y) in [(SIDE + 2, 20), (SIDE + 5, 33), (SIDE + 9, 44)] {
        // The edge's own pixel is not repeated (frame contract, section 2).
        let (border, mirrored) = (color([x, y]), color([2 * (SIDE - 1) - x, y]));
        for channel in 0..3 {
            let wished = 0.45 * f64::from(mirrored[channel]);
            let off = (f64::from(border[channel]) - wished).abs();
            assert!(off <= f64::from(NEAR), "the border at {x}, {y} is {border:?}, dimmed from {mirrored:?}");
        }
    }
    // Share of a row's pixels in the colour of a line, for field columns that begin a window and for others.
    let line = |screen: &RgbImage, state: &Value, column: u32| {
        let scale = number(state, "/scale");
        let (x, _) = on_screen(state, [column, 0]);
        let x = x - (scale / 2.0) as u32;
        let lit = |x: u32, y: u32| {
            let [r, g, b] = screen.get_pixel(x, y).0.map(i32::from);
            // Two thirds of the line's colour lie over the picture.
            g >= 140 && b >= 160 && r <= 140
        };
        let rows = 300..700;
        // A line is one window pixel wide, wherever the column begins.
        let best = (x.saturating_sub(1)..x + 2).map(|x| rows.clone().filter(|y| lit(x, *y)).count()).max();
        best.unwrap_or(0) as f64 / 400.0
    };
    for (level, cell) in [(0, 16), (1, 32), (2, 64)] {
        viewer.click_on(&format!("view.level.{level}"));
        viewer.wait_for(SOON, "the level", |state| state["view"]["level"] == level);
        viewer.settle();
        let (state, screen) = caught(viewer, IN_FIELD[0]);
        let field = number(&state, "/status/space/0") as u32;
        viewer.screenshot(&format!("buffer-field-{level}"));
        for column in (16..field.min(112)).step_by(8) {
            let share = line(&screen, &state, column);
            assert_eq!(share > 0.9, column % cell == 0, "level {level}, column {column}: {share}");
        }
    }
    // Another phase moves the windows by half of their side.
    viewer.click_on("view.phase.1");
    viewer.wait_for(SOON, "the phase", |state| state["view"]["phase"] == 1);
    viewer.settle();
    let (state, screen) = caught(viewer, IN_FIELD[0]);
    viewer.screenshot("buffer-field-phase");
    assert!(line(&screen, &state, 32) > 0.9 && line(&screen, &state, 64) < 0.9, "half of 64 columns on");
    viewer.click_on("view.phase.0");
    viewer.click_on("view.level.0");
    viewer.wait_for(SOON, "the first level", |state| state["view"]["level"] == 0 && state["view"]["phase"] == 0);
}
