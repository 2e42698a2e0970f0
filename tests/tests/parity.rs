//! The fixtures, bit for bit, through the program.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nrview_tests::fixture;
use nrview_tests::program::nrview;

/// Every fixture on a route, those of one model in one run; nothing but bit-exact will do.
fn all_fixtures(route: &str) {
    let mut by_model: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in fixture::names() {
        by_model.entry(fixture::model(&name)).or_default().push(name);
    }
    for (model, names) in by_model {
        let started = Instant::now();
        let mut arguments = vec![
            "--json".to_owned(),
            "--validation".to_owned(),
            "parity".to_owned(),
            format!("--route={route}"),
            format!("--model={model}"),
        ];
        for name in &names {
            arguments.push(format!("--fixture={}", fixture::folder(name).display()));
        }
        let run = nrview(&arguments, Duration::from_secs(1200)).expect_code(0);
        run.json();
        assert!(!run.stderr.contains("validation:"), "{run:#?}");
        println!("{route}: {model} {names:?} in {:.1?}", started.elapsed());
    }
}

#[test]
fn cpu_reference() {
    all_fixtures("cpu");
}

#[test]
fn exact_route() {
    all_fixtures("exact");
}
