//! The command line contract: exit codes, JSON, and what the commands leave behind.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use nrview_tests::fixture;
use nrview_tests::program::{command, finish, nrview, program};

const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn help_and_version() {
    let help = nrview(&["--help"], LIMIT).expect_code(0);
    for word in ["view", "render", "process", "parity", "verify", "model", "doctor", "--device", "--model", "--json"] {
        assert!(help.stdout.contains(word), "{word}: {help:#?}");
    }
    for name in ["view", "render", "process", "parity", "verify", "model", "doctor"] {
        nrview(&[name, "--help"], LIMIT).expect_code(0);
    }
    let version = nrview(&["--version"], LIMIT).expect_code(0);
    assert!(version.stdout.starts_with("nrview "), "{version:#?}");
}

#[test]
fn wrong_usage() {
    for arguments in [&["--no-such-option"][..], &["no-such-command"], &["process"], &["model"], &["parity"]] {
        nrview(arguments, LIMIT).expect_code(2);
    }
}

#[test]
fn wrong_usage_is_a_document_too() {
    for arguments in [&["--json", "no-such-command"][..], &["--json", "render", "--size", "0x0"]] {
        let document = nrview(arguments, LIMIT).expect_code(2).json();
        assert!(document["error"].as_str().is_some_and(|text| !text.is_empty()), "{document:#}");
    }
    let huge = u64::MAX.to_string();
    nrview(&["model", "synth", "--out", "out/never", "--align", &huge], LIMIT).expect_refusal(&["1 to 65536"]);
}

#[test]
fn global_options_stand_on_either_side() {
    for arguments in [["--json", "model", "info"], ["model", "info", "--json"]] {
        let document = nrview(&arguments, LIMIT).expect_code(0).json();
        assert_eq!(document["records"], 153, "{document:#}");
    }
}

#[test]
fn doctor_lists_devices() {
    let document = nrview(&["--json", "doctor"], LIMIT).expect_code(0).json();
    let devices = document["devices"].as_array().expect("a list");
    assert!(devices.iter().any(|device| device["chosen"] == true), "{document:#}");
    let text = nrview(&["doctor"], LIMIT).expect_code(0).stdout;
    assert!(text.contains("route exact: usable"), "{text}");
}

#[test]
fn a_table_of_tiles_is_kept_with_the_caches_and_trusted_only_whole() {
    let cache = tempfile::tempdir().expect("a temporary directory");
    let run = |arguments: &[&str]| {
        let mut command = command();
        command.env("NRVIEW_CACHE_DIR", cache.path()).args(arguments);
        finish(command, LIMIT).expect_code(0)
    };
    let found = run(&["--json", "tune", "--size", "64x64", "--minutes", "0"]).json();
    assert_eq!((&found["table"]["entries"], &found["sizes"][0]["shapes"]), (&0.into(), &serde_json::json!([])));
    let file = found["table"]["file"].as_str().expect("a file");
    let contents = fs::read_to_string(file).expect("the table");
    let doctor = run(&["doctor"]);
    assert!(doctor.stdout.contains("tiles untuned") && !doctor.stderr.contains("not used"), "{doctor:#?}");
    fs::write(file, &contents[..contents.len() / 2]).expect("a truncated table");
    let doctor = run(&["doctor"]);
    assert!(doctor.stdout.contains("tiles untuned") && doctor.stderr.contains("not used"), "{doctor:#?}");
    nrview(&["tune", "--minutes", "-1"], LIMIT).expect_code(2);
}

#[test]
fn a_closed_pipe_is_no_crash() {
    let mut child = command()
        .args(["model", "info", "--records"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn models_have_the_digests_of_the_fixtures() {
    let mut seen = Vec::new();
    for name in fixture::names() {
        let model = fixture::model(&name);
        if seen.contains(&model) {
            continue;
        }
        let document = nrview(&["--json", "model", "info", &model], LIMIT).expect_code(0).json();
        assert_eq!(document["digest"], fixture::description(&name)["model"]["digest"], "{model}");
        seen.push(model);
    }
}

#[test]
fn a_model_that_is_all_identity_returns_the_picture() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let input = fixture::folder("identity-120x90").join("image.png");
    let picture = image::open(&input).expect("a picture").into_rgb8();
    let mut files = Vec::new();
    for name in ["a.png", "b.png"] {
        let output = folder.path().join(name);
        let mut command = command();
        command.args(["--json", "process", "--route=cpu", "--model=identity"]).arg(&input).arg(&output);
        finish(command, LIMIT).expect_code(0).json();
        assert_eq!(image::open(&output).expect("a picture").into_rgb8(), picture);
        files.push(fs::read(&output).expect("a file"));
    }
    assert_eq!(files[0], files[1], "two runs give the same bytes");
}

#[test]
fn the_program_is_one_file() {
    // X libraries and Vulkan are opened when they are needed: without a display or a device the program must start.
    let output = Command::new("ldd").arg(program()).output().expect("ldd runs");
    let text = String::from_utf8_lossy(&output.stdout);
    for library in ["libX11", "libxcb", "libvulkan", "libxkbcommon", "libstdc++"] {
        assert!(!text.contains(library), "{text}");
    }
}
