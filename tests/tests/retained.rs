//! The retained route through the program: what it says of itself, and what it refuses.

use std::time::Duration;

use nrview_tests::program::nrview;
use serde_json::json;

const LIMIT: Duration = Duration::from_secs(300);

#[test]
fn a_tape_is_the_same_in_every_process() {
    let tape = || nrview(&["--json", "tape", "--size", "64x64"], LIMIT).expect_code(0).json();
    let (one, two) = (tape(), tape());
    assert_eq!(one["identity"], two["identity"]);
    assert_eq!(one["claim"], "implementation-capability");
    assert_eq!(one["openHazards"], json!([]));
    let (standing, needed) = (&one["barriers"]["standing"], &one["barriers"]["needed"]);
    assert!(standing.as_u64() >= needed.as_u64() && needed.as_u64() > Some(100), "{standing} {needed}");
    let fewer = nrview(&["--json", "tape", "--size", "64x64", "--needed"], LIMIT).expect_code(0).json();
    assert_eq!(&fewer["barriers"]["standing"], needed);
    assert_ne!(fewer["identity"]["sequence"], one["identity"]["sequence"]);
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let validated = nrview(&["certify", "--validation"], LIMIT).expect_code(2);
    assert!(validated.stderr.contains("certify without --validation"), "{validated:#?}");
    let missing = nrview(&["golden", "no-such-fixture.json"], LIMIT).expect_code(2);
    assert!(missing.stderr.contains("cannot read the fixture"), "{missing:#?}");
    nrview(&["--replay", "imagined", "doctor"], LIMIT).expect_code(2);
}

#[test]
fn doctor_tells_the_routes_of_the_commands() {
    let document = nrview(&["--json", "doctor"], LIMIT).expect_code(0).json();
    let replay = &document["devices"][0]["replay"];
    let able = document["devices"][0]["capabilities"]["device_generated_commands"].as_bool();
    let words = if able == Some(true) { "by opting in" } else { "not available: " };
    assert!(replay["generated"].as_str().is_some_and(|text| text.starts_with(words)), "{replay:#}");
    assert_eq!(replay["primary"], "by opting in");
}

#[test]
fn a_golden_fixture_is_reproduced_or_says_what_moved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fixture.json");
    let name = path.to_str().expect("a path in UTF-8");
    nrview(&["golden", name, "--seal", "--size", "64x64", "--frames", "1"], LIMIT).expect_code(0);
    let again = nrview(&["golden", name], LIMIT).expect_code(0);
    assert!(again.stdout.contains("reproduced: 1 frame of 64x64"), "{again:#?}");
    let text = std::fs::read_to_string(&path).expect("the fixture");
    let mut fixture: serde_json::Value = serde_json::from_str(&text).expect("a document");
    fixture["pictures"][0] = json!("00".repeat(32));
    fixture["tape"]["sequence"] = json!("11".repeat(32));
    std::fs::write(&path, fixture.to_string()).expect("written");
    let moved = nrview(&["golden", name, "--json"], LIMIT).expect_code(1).json();
    assert_eq!(moved["moved"], json!(["tape: its sequence is another one", "picture of frame 0: differs"]));
}

#[test]
fn a_slow_device_runs_direct_and_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let out = out.to_str().expect("a path in UTF-8");
    let arguments = ["--json", "--replay", "primary", "render", "--frames", "1", "--size", "64x64", "--out", out];
    let document = nrview(&arguments, LIMIT).expect_code(0).json();
    let replay = &document["replay"];
    assert_eq!((&replay["requested"], &replay["selected"]), (&json!("primary"), &json!("direct")), "{replay:#}");
    let reason = replay["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("several submissions") || reason.starts_with("not ready"), "{reason}");
    assert_eq!(replay["claim"], "implementation capability");
}
