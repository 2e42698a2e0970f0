//! Profiles through the program.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use nrview_tests::program::{Finished, command, finish};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(300);

/// The program with a cache folder of the test's own.
fn with_cache(cache: &Path, arguments: &[&str]) -> Command {
    let mut command = command();
    command.env("XDG_CACHE_HOME", cache).env_remove("NRVIEW_CACHE_DIR").args(arguments);
    command
}

fn run(cache: &Path, arguments: &[&str]) -> Finished {
    finish(with_cache(cache, arguments), LIMIT)
}

fn sum(groups: &Value, of: impl Fn(&Value) -> f64) -> f64 {
    groups.as_array().expect("a list").iter().map(of).sum()
}

#[test]
fn profiles_sum_to_the_whole_and_can_be_compared() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (cpu, device, plot, changes) = (path("cpu.json"), path("device.json"), path("a.png"), path("b.png"));
    let run = |arguments: &[&str]| run(folder.path(), arguments);

    let first = run(&["--json", "profile", "--route=cpu", "--size=33x33", "--frames=2", "--save", &cpu]);
    let first = first.expect_code(0).json();
    assert_eq!(first["route"], "cpu");
    let arguments = ["--validation", "--json", "profile", "--route=exact", "--size=33x33", "--frames=1"];
    let second = run(&[&arguments[..], &["--save", &device, "--plot", &plot]].concat()).expect_code(0);
    assert!(!second.stderr.contains("validation:"), "{second:#?}");
    let second = second.json();
    for profile in [&first, &second] {
        for groups in ["stages", "blocks", "kinds", "operations"] {
            let share = sum(&profile[groups], |group| group["share"].as_f64().unwrap_or(0.0));
            assert!((share - 1.0).abs() < 1e-6, "{groups}: {share}");
            let flop = sum(&profile[groups], |group| group["work"]["flop"].as_f64().unwrap_or(0.0));
            assert_eq!(Some(flop), profile["work"]["flop"].as_f64(), "{groups}");
        }
        assert_eq!(profile["stages"].as_array().map(Vec::len), Some(14));
    }
    // What each route runs is the same network.
    assert_eq!(first["work"]["flop"], second["work"]["flop"]);
    let memory = &second["memory"];
    let bytes = |name: &str| memory[name].as_u64().unwrap_or(0);
    assert!(bytes("weights") > 100 << 20 && bytes("arena") >= bytes("bound") && bytes("bound") > 1 << 20, "{memory}");
    assert!(bytes("all") > bytes("weights") + bytes("arena") && bytes("histories") == 33 * 33 * 16, "{memory}");
    assert!(image::open(&plot).is_ok_and(|picture| picture.width() == 1280));

    let text = run(&["profile", "--compare", &cpu, &device, "--plot", &changes]).expect_code(0).stdout;
    assert!(text.contains("encoder 64") && text.contains("B is "), "{text}");
    assert!(image::open(&changes).is_ok());
    let same = run(&["--json", "profile", "--compare", &cpu, &cpu]).expect_code(0).json();
    assert_eq!(same["sameWithinSpread"], true);
    assert_eq!(same["comparison"]["whole"]["difference"], 0.0);

    // Other work, other files.
    let text = fs::read_to_string(&cpu).expect("a file");
    let other = path("other.json");
    fs::write(&other, text.replacen("\"field\": \"", "\"field\": \"9", 1)).expect("written");
    run(&["profile", "--compare", &cpu, &other]).expect_refusal(&["different work"]);
    fs::write(&other, text.replacen("\"flop\": ", "\"flop\": 1", 1)).expect("written");
    run(&["profile", "--compare", &cpu, &other]).expect_refusal(&["changed or damaged"]);
    fs::write(&other, "{}").expect("written");
    run(&["profile", "--compare", &other, &cpu]).expect_refusal(&["no profile"]);
    run(&["profile", "--compare", &cpu, &path("missing")]).expect_refusal(&["missing"]);
    run(&["profile", "--save", &path("no/such/folder")]).expect_refusal(&["no directory"]);
}
