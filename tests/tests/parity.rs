//! The fixtures, bit for bit, through the program.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nrview_tests::fixture;
use nrview_tests::model::ModelDir;
use nrview_tests::program::nrview;

const LIMIT: Duration = Duration::from_secs(1200);

/// The fixture that is submitted three times, to see that nothing is left over from one submission to the next; a second
/// and third time of all would take minutes on a small machine.
const REPEATED: &str = "full-64x64";

/// Every fixture on a route, those of one model in one run; nothing but bit-exact will do. `repeated` are submitted three
/// times.
fn all_fixtures(route: &str, repeated: impl Fn(&str) -> bool) {
    let mut runs: BTreeMap<(String, u32), Vec<String>> = BTreeMap::new();
    for name in fixture::names() {
        let submissions = if repeated(&name) { 3 } else { 1 };
        runs.entry((fixture::model(&name), submissions)).or_default().push(name);
    }
    assert!(runs.keys().any(|&(_, submissions)| submissions == 3), "{REPEATED} is among the fixtures");
    for ((model, submissions), names) in runs {
        let started = Instant::now();
        let mut arguments = vec![
            "--json".to_owned(),
            "--validation".to_owned(),
            "parity".to_owned(),
            format!("--route={route}"),
            format!("--model={model}"),
        ];
        // The reference on the CPU has no submissions.
        if route != "cpu" {
            arguments.push(format!("--submissions={submissions}"));
        }
        for name in &names {
            arguments.push(format!("--fixture={}", fixture::folder(name).display()));
        }
        let run = nrview(&arguments, LIMIT).expect_code(0);
        run.json();
        assert!(!run.stderr.contains("validation:"), "{run:#?}");
        println!("{route}: {model} {names:?}, {submissions} submissions, in {:.1?}", started.elapsed());
    }
}

#[test]
fn cpu_reference() {
    all_fixtures("cpu", |name| name == REPEATED);
}

#[test]
fn exact_route() {
    all_fixtures("exact", |name| name == REPEATED);
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn exact_route_three_times_each() {
    all_fixtures("exact", |_| true);
}

/// One changed byte in a wide ViT matrix and one in a window block: `parity` notices, and `verify` names the operation
/// that reads the byte.
#[test]
fn one_changed_weight_byte() {
    let whole = ModelDir::lively();
    let fixture = fixture::folder("full-64x64").display().to_string();
    // (record, bytes of the matrix in it, operation): weights section 3.
    for (record, range, label) in [
        ("block33.layer2.layer", 128..128 + 1024 * 3072, "b33.qkv"),
        ("block57.layer0.layer", 98_592..98_592 + 128 * 384, "b57.qkv"),
    ] {
        let changed = whole.relative();
        changed.flip_largest(record, range);
        let model = changed.argument();

        let parity = nrview(&["--json", "parity", "--submissions=1", "--model", &model, "--fixture", &fixture], LIMIT)
            .expect_code(1);
        parity.json();

        let verify = nrview(&["--json", "verify", "--first", "--model", &model, "--fixture", &fixture], LIMIT)
            .expect_code(1)
            .json();
        assert_eq!(verify["first"]["label"], label, "{verify:#}");
    }
}
