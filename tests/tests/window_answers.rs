//! The window answers while the network computes a frame: real keys and turns of the wheel, each followed from the moment
//! it is sent to the change of the screen. The events go over a connection that stays open, and the screen is looked at
//! every half millisecond, so that the times are the program's and the display's. They are printed, and no condition:
//! other work may fill the machine. What is asserted is that every answer comes long before the frame ends.

use std::thread;
use std::time::{Duration, Instant};

use nrview_tests::controls::number;
use nrview_tests::hand::{Hand, TAB, WHEEL_DOWN, WHEEL_UP};
use nrview_tests::screen::Eye;
use nrview_tests::window::{SLOW, SOON, Viewer};
use serde_json::Value;

/// Inputs that are followed.
const INPUTS: usize = 110;
/// Time from one look at the screen to the next.
const LOOK: Duration = Duration::from_micros(500);
/// A place in the panel, which Tab shows and hides.
const PANEL: (u32, u32) = (3, 700);
/// A column of the picture beside the panel.
const COLUMN: u32 = 1200;
/// Rows of it that are looked at: one step of the zoom changes some of them.
const ROWS: std::ops::Range<u32> = 200..700;

/// The screen where an input shows.
fn look(eye: &Eye, by_key: bool) -> Vec<[u8; 3]> {
    let pixel = |x, y| eye.pixel(x, y).expect("a pixel of the screen");
    match by_key {
        true => vec![pixel(PANEL.0, PANEL.1)],
        false => ROWS.step_by(25).map(|y| pixel(COLUMN, y)).collect(),
    }
}

fn percentile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len()) - 1]
}

/// Milliseconds from each input to the change that it makes on the screen.
fn answers(route: &str) {
    let viewer = Viewer::start(&["--split=off", "--size=320x180", "--model=starter", route]);
    let done = |state: &Value| number(state, "/status/progress/done");
    viewer.press("p");
    viewer.wait_for_frames(1);
    viewer.display.xdotool(&["mousemove", "1000", "450"]);
    viewer.settle();
    let (hand, eye) = (Hand::at(&viewer.display), viewer.display.eye());
    let tab = hand.key(TAB);
    // Of keys and of turns of the wheel.
    let mut answers: [Vec<f64>; 2] = Default::default();
    let mut input = 0_u32;
    while answers.iter().map(Vec::len).sum::<usize>() < INPUTS {
        // A pause as of a hand, of another length each time.
        input += 1;
        thread::sleep(Duration::from_millis(u64::from(40 + input * 97 % 260)));
        // With more than half of it to be computed.
        let mut frame = 0;
        viewer.wait_for(SLOW, "a frame that has just been begun", |state| {
            frame = state["status"]["evaluated"].as_u64().unwrap_or(0);
            done(state) < 0.5
        });
        let by_key = input.is_multiple_of(2);
        let before = look(&eye, by_key);
        let sent = Instant::now();
        match by_key {
            true => hand.press(tab),
            // In and out by turns.
            false => hand.click(if input % 4 == 1 { WHEEL_UP } else { WHEEL_DOWN }),
        }
        while look(&eye, by_key) == before {
            assert!(sent.elapsed() < SOON, "input {input} was not answered: {:#}", viewer.state());
            thread::sleep(LOOK);
        }
        answers[usize::from(!by_key)].push(1e3 * sent.elapsed().as_secs_f64());
        if by_key {
            hand.release(tab);
        }
        let state = viewer.state();
        assert_eq!(state["status"]["evaluated"], frame, "input {input} was answered after the frame");
        assert!(state["status"]["progress"].is_object(), "the frame is still computed: {state:#}");
    }
    let state = viewer.state();
    let own = &state["status"]["passes"]["input, computing"];
    if std::env::var_os("NRVIEW_PRINT_ANSWERS").is_some() {
        println!("{route}, one by one: {answers:.0?}");
    }
    let all = answers.concat();
    for (what, mut times) in [("keys", answers[0].clone()), ("wheel", answers[1].clone()), ("all", all)] {
        times.sort_by(f64::total_cmp);
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| percentile(&times, share));
        let (count, most) = (times.len(), times[times.len() - 1]);
        println!(
            "{route}, {what}: {count} from sending to the screen: p50 {p50:.0} p95 {p95:.0} p99 {p99:.0} most {most:.0} ms"
        );
    }
    println!("{route}, by the program's own clock: {own}");
    assert!(number(own, "/count") >= 0.8 * INPUTS as f64, "the program has heard them: {own}");
    // The panel may be away.
    if state["overlay"] == false {
        viewer.press("Tab");
    }
    viewer.display.key("Escape");
    viewer.ends_well();
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn the_window_answers_while_the_processor_computes() {
    answers("--route=auto");
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn the_window_answers_while_the_device_computes() {
    answers("--route=exact");
}
