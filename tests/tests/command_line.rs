//! The command line contract: exit codes, JSON, and what the commands leave behind.

use std::fs;
use std::path::{Path, PathBuf};
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
        finish(command, LIMIT)
    };
    let tune = |minutes: &str| run(&["--json", "tune", "--size", "64x64", "--minutes", minutes]);
    let tables = || tables_below(cache.path());
    // Too short for anything: no answer, and no table.
    assert!(tune("0.0000001").expect_code(2).stderr.contains("nothing was tried"));
    assert_eq!(tables(), Vec::<PathBuf>::new());
    // How long one shape takes depends on the machine.
    let found = ["0.05", "0.2", "0.8"].into_iter().map(tune).find(|finished| finished.code == Some(0));
    let found = found.expect("a search that measures").json();
    assert!(found["sizes"][0]["shapes"].as_array().is_some_and(|shapes| !shapes.is_empty()), "{found:#}");
    let file = Path::new(found["table"]["file"].as_str().expect("a file"));
    assert_eq!(tables(), [file.to_owned()]);
    let contents = fs::read(file).expect("the table");
    tune("0.0000001").expect_code(2);
    assert_eq!(fs::read(file).expect("the table"), contents, "what an earlier search has found stays");
    let doctor = run(&["doctor"]).expect_code(0);
    assert!(!doctor.stderr.contains("not used"), "{doctor:#?}");
    fs::write(file, &contents[..contents.len() / 2]).expect("a truncated table");
    let doctor = run(&["doctor"]).expect_code(0);
    assert!(doctor.stdout.contains("tiles untuned") && doctor.stderr.contains("not used"), "{doctor:#?}");
    for minutes in ["0", "-1", "1441", "NaN"] {
        nrview(&["tune", "--minutes", minutes], LIMIT).expect_refusal(&["above 0 and up to 1440"]);
    }
}

/// Tables of tiles in the caches.
fn tables_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let tables =
        files.into_iter().filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains("tiles")));
    tables.chain(folders.iter().flat_map(|folder| tables_below(folder))).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_none() {
    let picture = fixture::folder("identity-120x90").join("image.png").display().to_string();
    let lines: [&[&str]; 7] = [
        &["doctor"],
        &["--json", "doctor"],
        &["--help"],
        &["render", "--help"],
        &["--version"],
        &["--json", "no-such-command"],
        &["compare", &picture, &picture],
    ];
    for arguments in lines {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let child = command().args(arguments).stdout(full).stderr(Stdio::piped()).spawn().expect("the program starts");
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains("cannot write the output: No space left on device"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn help_names_a_commands_own_options_first() {
    let lists = |text: &str, option: &str| text.lines().any(|line| line.trim_start().starts_with(option));
    let all: [(&[&str], &str); 4] = [
        (&["--help"], "--fullscreen"),
        (&["view", "--help"], "--route"),
        (&["process", "--help"], "--route"),
        (&["render", "--help"], "--without"),
    ];
    for (line, option) in all {
        let help = nrview(line, LIMIT).expect_code(0).stdout;
        let (own, of_all) = help.split_once("Options of every command:").unwrap_or_else(|| panic!("{help}"));
        assert!(lists(own, option) && !lists(of_all, option), "{line:?} {option}: {help}");
        for global in ["--device", "--model", "--json"] {
            assert!(lists(of_all, global) && !lists(own, global), "{line:?} {global}: {help}");
        }
    }
}

#[test]
fn a_slow_device_is_told_of_the_faster_route() {
    let devices = nrview(&["--json", "doctor"], LIMIT).expect_code(0).json();
    let chosen = devices["devices"].as_array().and_then(|all| all.iter().find(|device| device["chosen"] == true));
    let is_cpu = chosen.expect("a device")["adapter"]["capabilities"]["is_cpu"].as_bool().expect("a kind");
    let picture = fixture::folder("identity-120x90").join("image.png").display().to_string();
    let told = |route: &str| {
        // Weights that are not there end it before the long work.
        let folder = tempfile::tempdir().expect("a temporary directory");
        let out = folder.path().join("out.png").display().to_string();
        let route = format!("--route={route}");
        let finished = nrview(&["process", &route, "--model", "livelier", &picture, &out], LIMIT).expect_code(2);
        finished.stderr.contains("`--route cpu` gives the same bytes")
    };
    assert_eq!([told("auto"), told("exact"), told("cpu")], [is_cpu, false, false]);
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
    assert_eq!((output.status.code(), stderr.as_ref()), (Some(0), ""));
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
