//! The `C` key: a frame of the window becomes a capture that replays on the CPU.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use nrview_tests::display::wait_until;
use nrview_tests::program::nrview;
use nrview_tests::window::{SLOW, Viewer};

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn a_frame_of_the_window_is_captured_and_replays_on_the_cpu() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().to_str().expect("a path in UTF-8");
    let viewer = Viewer::start(&["--size=33x33", "--model=starter", "--captures", path]);
    viewer.wait_for_frames(1);
    viewer.display.key("c");
    let captures = || -> Vec<PathBuf> {
        let entries = fs::read_dir(folder.path()).map(Iterator::flatten).into_iter().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.join("frames").is_dir()).collect()
    };
    let finished = |path: &PathBuf| {
        fs::read_to_string(path.join("manifest.json")).is_ok_and(|text| !text.contains("\"frames\": null"))
    };
    wait_until(SLOW, "a capture", || captures().iter().any(finished));
    let bundle = captures().remove(0);
    drop(viewer);
    let bundle = bundle.to_str().expect("a path in UTF-8");
    let replayed = nrview(&["--json", "replay", bundle, "--route=cpu", "--sequence"], Duration::from_secs(300));
    let replayed = replayed.expect_code(0).json();
    assert_eq!((&replayed["finished"], &replayed["passes"]), (&true.into(), &true.into()), "{replayed:#}");
    let checks = replayed["frames"][0]["checks"].as_array().expect("checks");
    assert!(checks.iter().all(|check| check["exact"] == true), "{checks:#?}");
}
