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
    nrview(&["--replay", "generated", "doctor"], LIMIT).expect_code(2);
}

#[test]
fn doctor_tells_the_routes_of_the_commands() {
    let document = nrview(&["--json", "doctor"], LIMIT).expect_code(0).json();
    let replay = &document["devices"][0]["replay"];
    assert!(replay["generated"].as_str().is_some_and(|text| text.starts_with("not built")), "{replay:#}");
    assert_eq!(replay["primary"], "by opting in");
}
