//! A short walk through everything that the viewer can do.

use std::fs;
use std::time::Duration;

use nrview_tests::program::nrview;
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(900);

#[test]
fn a_short_walk_holds() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("walk.json");
    let arguments = ["--json", "--validation", "soak", "--minutes=0.33", "--seed=1", "--most=96", "--report"];
    let run = nrview(&[&arguments[..], &[file.to_str().expect("a path")]].concat(), LIMIT).expect_code(0);
    let report = run.json();
    let text = fs::read_to_string(&file).expect("the report");
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), report);
    assert!(fs::read_to_string(folder.path().join("walk.txt")).is_ok_and(|text| text.contains("operations")));
    assert!(report["operations"].as_u64() >= Some(8), "{report:#}");
    assert!(report["samples"].as_array().is_some_and(|samples| samples.len() >= 2), "{report:#}");
    for (name, value) in [("grown", Value::from(Vec::<String>::new())), ("leaks", Value::from(Vec::<String>::new()))] {
        assert_eq!(report[name], value, "{report:#}");
    }
    assert_eq!((&report["validation"], &report["failure"]), (&0.into(), &Value::Null), "{report:#}");
}

#[test]
fn what_cannot_be_walked_is_refused() {
    for (arguments, words) in [
        (["soak", "--minutes=0"], ["minutes"]),
        (["soak", "--minutes=long"], ["number"]),
        (["soak", "--report=/no/such/file"], ["/no/such"]),
    ] {
        nrview(&arguments, LIMIT).expect_refusal(&words);
    }
}
