//! The window under deliberate failures: surfaces and swapchains that go, a device that is lost once and twice, a full disk.

use std::time::Duration;

use nrview_tests::window::{SLOW, SOON, Viewer};
use serde_json::Value;

const ARGUMENTS: [&str; 3] = ["--size=64x64", "--model=identity", "--split=wipe"];

fn start(plan: &str, arguments: &[&str]) -> Viewer {
    Viewer::start_under(plan, (1400, 900), r#"{"hinted": true}"#, arguments)
}

fn presented(state: &Value) -> u64 {
    state["status"]["presented"].as_u64().unwrap_or(0)
}

#[test]
fn every_failure_of_surface_and_swapchain_is_survived() {
    let plan = "acquire:3,acquire:6=lost,acquire:9=suboptimal,acquire:12=slow,present:15,present:20=lost,\
                present:25=suboptimal,acquire:30,acquire:31,present:34=lost,present:35=lost";
    let viewer = start(plan, &ARGUMENTS);
    viewer.wait_for(SLOW, "frames after all failures", |state| presented(state) >= 40);
    viewer.display.key("4");
    viewer.wait_for(SOON, "it follows a key", |state| state["mode"] == "side");
    let (_, code, log) = viewer.quit();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("struck=11"), "{log}");
    for word in ["validation:", "leak", "panicked", "ERROR"] {
        assert!(!log.contains(word), "{log}");
    }
}

#[test]
fn a_lost_device_is_opened_anew_with_all_that_was_chosen_and_a_second_loss_ends_with_the_settings_kept() {
    let viewer = start("submit:30,submit:400", &ARGUMENTS);
    let anew = || viewer.log().contains("opened anew");
    nrview_tests::display::wait_until(SLOW, "the device is opened anew", anew);
    viewer.wait_for(SLOW, "frames of the new device", |state| presented(state) >= 3 && state["mode"] == "wipe");
    let ended = viewer.ended(Duration::from_secs(600));
    assert_eq!(ended.code, Some(2), "{ended:#?}");
    assert_eq!(ended.log.lines().filter(|line| line.starts_with("nrview: ")).count(), 1, "{ended:#?}");
    for word in ["validation:", "leak", "panicked"] {
        assert!(!ended.log.contains(word), "{ended:#?}");
    }
    let settings: Value = serde_json::from_str(&ended.settings).expect("the settings are kept");
    assert_eq!(settings["compare"]["mode"], "wipe");
}

#[test]
fn a_lost_device_leaves_the_camera_where_it_was() {
    let viewer = start("submit:1200", &ARGUMENTS);
    viewer.wait_for(SLOW, "the scene", |state| presented(state) >= 3);
    let first = viewer.state()["camera"].clone();
    viewer.display.xdotool(&["keydown", "w"]);
    std::thread::sleep(Duration::from_secs(1));
    viewer.display.xdotool(&["keyup", "w"]);
    viewer.display.key("p");
    viewer.wait_for(SOON, "the camera has left its path", |state| state["path"] == false && state["paused"] == true);
    viewer.settle();
    let flown = viewer.state()["camera"].clone();
    assert!(flown["position"].is_array() && flown != first, "{flown}");
    assert!(!viewer.log().contains("opened anew"), "the device was lost too soon for this test");
    nrview_tests::display::wait_until(SLOW, "the device is opened anew", || viewer.log().contains("opened anew"));
    viewer.wait_for(SLOW, "frames of the new device", |state| (3..100).contains(&presented(state)));
    viewer.settle();
    let state = viewer.state();
    assert_eq!((&state["camera"], &state["path"]), (&flown, &Value::Bool(false)), "the camera is where it was");
    assert_eq!(state["paused"], true);
    let (_, code, log) = viewer.quit();
    assert_eq!(code, Some(0), "{log}");
}

#[test]
fn a_full_disk_leaves_the_old_settings_whole_and_the_window_open() {
    let viewer = start("write:2+", &ARGUMENTS[..2]);
    // Only the first state could be written: the end of the program tells.
    std::thread::sleep(Duration::from_secs(1));
    viewer.display.key("3");
    std::thread::sleep(Duration::from_secs(1));
    let folder = viewer.settings_folder();
    let kept = std::fs::read_to_string(folder.join("settings.json")).expect("the settings");
    assert_eq!(kept, r#"{"hinted": true}"#);
    assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 1, "nothing is beside it");
    let (_, code, log) = viewer.quit();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("free space") && !log.contains("panicked"), "{log}");
}
