//! Every command under deliberate failures of the device and of files: the right exit code, one message, nothing left on the
//! device, and no file half written or replaced.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use nrview_tests::faults::{Tree, counts, problem, run, tree};
use nrview_tests::program::{Finished, workspace};

/// A command, and what it needs.
struct Case {
    name: &'static str,
    /// `IN` and `OUT` stand for a folder of inputs and one of outputs.
    arguments: &'static str,
    /// Exit code of a clean run.
    code: i32,
    /// Whether it computes a frame of the network, which takes seconds on a software device.
    slow: bool,
}

impl Case {
    /// Whether the number of its calls is up to the device's speed: what lasts so many seconds, and a sequence of frames,
    /// which is cut into slices.
    fn is_timed(&self) -> bool {
        ["--minutes", "--replay"].iter().any(|option| self.arguments.contains(option))
    }
}

const fn case(name: &'static str, arguments: &'static str, code: i32, slow: bool) -> Case {
    Case { name, arguments, code, slow }
}

/// Every command that opens the device or writes a file.
const CASES: [Case; 24] = [
    case("doctor", "doctor", 0, false),
    case("process", "process --model=identity --route=exact IN/a.png OUT/kept.png", 0, true),
    case("process on the CPU", "process --model=identity --route=cpu IN/a.png OUT/kept.png", 0, true),
    case("render", "render --model=identity --route=exact --frames=1 --size=33x33 --out OUT/frames", 0, true),
    case("dataset", "render --frames=1 --size=33x33 --reference=1 --dataset OUT/set", 0, true),
    case("parity", "parity --fixture tests/fixtures/lively-33x33 --route=exact", 0, true),
    case("verify", "verify --fixture tests/fixtures/lively-33x33 --ops b0.", 0, true),
    case("capture", "capture OUT/capture --size=33x33 --frames=1 --route=exact --model=identity", 0, true),
    case("replay", "replay IN/capture --route=exact --no-bisect", 0, true),
    case("bisect", "bisect IN/capture --route=exact --against=capture", 0, true),
    case("fixture", "replay IN/capture --export-fixture OUT/fixture", 0, false),
    case("bench", "bench --sizes=33x33 --frames=1 --model=identity --route=exact", 0, true),
    case("profile", "profile --size=33x33 --frames=1 --model=identity --route=exact --save OUT/kept.json", 0, true),
    case("tape", "tape --size=33x33 --model=identity", 0, false),
    case("golden", "golden OUT/golden.json --seal --size=33x33 --frames=1 --model=identity", 0, true),
    case("certify", "certify --size=33x33 --to=secondary --gates=1 --out OUT/certify --model=identity", 0, true),
    case("compare", "compare IN/a.png IN/b.png --out OUT/report", 1, false),
    case("synth", "model synth --preset=identity --out OUT/model", 0, false),
    case("pack", "model pack identity --out OUT/kept.nrw", 0, false),
    case("import", "import IN/import.json OUT/capture --route=cpu", 0, true),
    case("report", "report --no-timings --out OUT/report", 0, false),
    case("tune", "tune --size=33x33 --minutes=0.2 --model=identity", 0, true),
    case("soak", "soak --minutes=0.01 --seed=5 --report OUT/kept.json", 0, true),
    // Six frames, so that the last ones are replayed; direct ones where the device cannot generate its commands.
    case(
        "generated",
        "render --replay=generated --model=identity --route=exact --frames=6 --size=33x33 --out OUT/frames",
        0,
        true,
    ),
];

const KEPT: &[u8] = b"written before the program ran";

/// Inputs of all commands.
fn inputs() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let make = || {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = |name: &str| folder.path().join(name);
        for (name, factor) in [("a.png", 7), ("b.png", 5)] {
            let pixel = |x: u32, y: u32| image::Rgb([(x * factor) as u8, (y * 5) as u8, (x * y) as u8]);
            image::RgbImage::from_fn(33, 33, pixel).save(path(name)).expect("a picture");
        }
        let floats =
            |count: usize, value: f32| vec![value; count].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        fs::write(path("color"), floats(33 * 33 * 3, 0.5)).expect("a file");
        fs::write(path("motion"), floats(33 * 33 * 2, 0.0)).expect("a file");
        fs::write(path("depth"), floats(33 * 33, 1.0)).expect("a file");
        let import = serde_json::json!({
            "size": [33, 33],
            "color": {"format": "f32", "channels": ["R", "G", "B"]},
            "motion": {"format": "f32", "channels": ["X", "Y"], "unit": "pixels", "y": "down",
                "direction": "current-to-previous"},
            "depth": {"format": "f32", "channels": ["Z"]},
            "frames": [{"color": "color", "motion": "motion", "depth": "depth"}],
        });
        fs::write(path("import.json"), import.to_string()).expect("a file");
        folder
    };
    FOLDER.get_or_init(make).path()
}

/// The inputs, with a capture among them.
fn inputs_of(case: &Case) -> &'static Path {
    static CAPTURE: OnceLock<()> = OnceLock::new();
    if case.arguments.contains("IN/capture") {
        CAPTURE.get_or_init(|| {
            let capture = inputs().join("capture");
            let arguments = ["capture", capture.to_str().expect("a path"), "--image", "IN/a.png", "--route=cpu"];
            let arguments = arguments.map(|word| word.replace("IN", &inputs().display().to_string()));
            let home = tempfile::tempdir().expect("a temporary directory");
            let made = run("count", home.path(), &[&arguments[..], &["--model=identity".to_owned()]].concat());
            assert_eq!(made.code, Some(0), "{made:#?}");
        });
    }
    inputs()
}

/// Runs a case under a plan in a fresh folder; what it left there.
fn run_case(case: &Case, plan: &str) -> (Finished, Tree) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (out, home) = (folder.path().join("out"), folder.path().join("home"));
    for made in [&out, &home] {
        fs::create_dir(made).expect("a folder");
    }
    for kept in ["kept.png", "kept.json", "kept.nrw"] {
        fs::write(out.join(kept), KEPT).expect("a file");
    }
    let place = |word: &str| {
        let word = word.replace("OUT", &out.display().to_string());
        word.replace("IN", &inputs_of(case).display().to_string())
    };
    let arguments: Vec<String> = case.arguments.split(' ').map(place).collect();
    let finished = run(plan, &home, &arguments);
    (finished, tree(&out))
}

/// What a run under a plan was.
#[derive(Debug, PartialEq)]
enum Judged {
    /// As it must be.
    Right,
    /// It ended, clean, before the call that was to fail; only of a timed case, and of a call behind the first of its place.
    NotReached,
    /// What is wrong.
    Wrong(String),
}

/// Whether a plan's call is behind the first of its place.
fn is_later(plan: &str) -> bool {
    let call = plan.split(':').nth(1).unwrap_or_default();
    call.split(|c: char| !c.is_ascii_digit()).next().is_some_and(|call| call.parse::<u64>().is_ok_and(|call| call > 1))
}

/// Runs a case under a plan and looks at what came of it.
fn judge(case: &Case, plan: &str) -> Judged {
    let (finished, left) = run_case(case, plan);
    match wrong(case, plan, &finished, &left) {
        None => Judged::Right,
        Some(_) if is_unreached(case, plan, &finished) && files_of(case, plan, &finished, &left).is_none() => {
            Judged::NotReached
        }
        Some(wrong) => Judged::Wrong(wrong),
    }
}

/// Whether a timed case has ended as a clean run does, and nothing failed because it came to fewer calls.
fn is_unreached(case: &Case, plan: &str, finished: &Finished) -> bool {
    // The look at the number of faults comes after those at panics, leaks and the validation layer.
    let unstruck =
        || problem(finished, case.code).is_some_and(|problem| problem.starts_with("nothing was made to fail"));
    case.is_timed() && is_later(plan) && finished.code == Some(case.code) && unstruck()
}

/// What is wrong with a case under a plan.
fn wrong(case: &Case, plan: &str, finished: &Finished, left: &Tree) -> Option<String> {
    // A walk or a ladder that fails has its answer: it is in the report. So has the look at a device that cannot be used.
    let answered = matches!(case.name, "soak" | "certify" | "doctor") && finished.code == Some(1);
    let code = if answered { 1 } else { case.code };
    if let Some(problem) = problem(finished, code) {
        return Some(format!("{} under {plan}: {problem}", case.name));
    }
    if case.name == "certify" && answered && !rejected(left) {
        return Some(format!("{} under {plan}: no report names the gate that failed: {finished:#?}", case.name));
    }
    files_of(case, plan, finished, left)
}

/// What is wrong with the files that a case has left.
fn files_of(case: &Case, plan: &str, finished: &Finished, left: &Tree) -> Option<String> {
    // A command that failed has replaced nothing, and leaves nothing that looks finished or half finished.
    let scrap = |path: &&std::path::PathBuf| {
        let text = path.to_string_lossy();
        text.contains(".tmp") || text.contains(".partial") || text.contains(".model-") || text.contains(".fixture-")
    };
    if let Some(path) = left.keys().find(scrap) {
        return Some(format!("{} under {plan}: left {}", case.name, path.display()));
    }
    let changed = left.iter().any(|(path, bytes)| {
        path.to_string_lossy().starts_with("kept.")
            && bytes != KEPT
            && finished.code == Some(2)
            && !complete(path, bytes)
    });
    if changed {
        return Some(format!("{} under {plan}: a file was half written: {finished:#?}", case.name));
    }
    let whole = |name: &str| left.keys().any(|path| path == Path::new(name));
    let capture = left.keys().any(|path| path.starts_with("capture/frames"));
    if capture && !whole("capture/manifest.json") {
        return Some(format!("{} under {plan}: frames without a manifest", case.name));
    }
    let folder = |name: &str| left.keys().any(|path| path.starts_with(name));
    if finished.code == Some(2) && (folder("model") || folder("fixture")) {
        return Some(format!("{} under {plan}: a folder was published in spite of the failure", case.name));
    }
    None
}

/// Whether there is a whole report of a ladder, with a gate that failed and why.
fn rejected(left: &Tree) -> bool {
    let failed = |gate: &serde_json::Value| {
        gate["passed"] == false && gate["finding"].as_str().is_some_and(|finding| finding.len() > 20)
    };
    left.iter().any(|(path, bytes)| {
        let report = serde_json::from_slice::<serde_json::Value>(bytes).unwrap_or_default();
        path.starts_with("certify") && report["gates"].as_array().is_some_and(|gates| gates.iter().any(failed))
    })
}

/// Whether a file that replaced another is a whole one: the failure came after it.
fn complete(path: &Path, bytes: &[u8]) -> bool {
    match path.extension().and_then(|end| end.to_str()) {
        Some("png") => image::load_from_memory(bytes).is_ok(),
        Some("json") => serde_json::from_slice::<serde_json::Value>(bytes).is_ok(),
        _ => false,
    }
}

fn assert_none(wrong: &[String], done: usize, unreached: usize) {
    println!("{done} runs under a plan, {} of them wrong, {unreached} ended before the call", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A few plans that strike early, so that the sweep is quick; which ones goes round from command to command.
#[test]
fn every_command_bears_an_early_failure() {
    const DEVICE: [&str; 9] =
        ["object:30", "memory:1+", "device:1", "map:1", "submit:2", "wait:1", "object:1", "wait:1=slow", "submit:1"];
    const FILES: [&str; 4] = ["create:1+", "write:1+", "rename:1+", "create:2+"];
    let (mut wrong, mut done, mut next) = (Vec::new(), 0, 0);
    for case in &CASES {
        let device =
            !case.arguments.contains("route=cpu") && !["compare", "synth", "pack", "fixture"].contains(&case.name);
        let mut plans = Vec::new();
        if case.name == "doctor" {
            continue; // it lists devices and opens none
        }
        if device {
            // Nothing is mapped or submitted for a report.
            let reaches =
                |plan: &&str| case.name != "report" || !(plan.starts_with("submit") || plan.starts_with("map"));
            let round = DEVICE.iter().cycle().skip(next).step_by(4).filter(|plan| reaches(plan));
            plans.extend(round.take(2));
            next += 1;
        }
        if case.arguments.contains("OUT") && !case.slow {
            plans.extend(FILES.iter().take(3));
        } else if case.arguments.contains("OUT") {
            plans.push("create:1");
        }
        done += plans.len();
        wrong.extend(plans.iter().filter_map(|plan| match judge(case, plan) {
            Judged::Right => None,
            Judged::NotReached => Some(format!("{} under {plan}: nothing was made to fail", case.name)),
            Judged::Wrong(wrong) => Some(wrong),
        }));
    }
    assert_none(&wrong, done, 0);
}

/// The first, a middle and the last call of every kind, in every command; what is survived is survived to the end.
///
/// `NRVIEW_FAULT_CASES` names some of the commands, separated by commas; `NRVIEW_FAULT_JOBS` runs as many at once (1);
/// `NRVIEW_FAULT_SHARD=I/N` takes every N-th run, from the I-th (1 to N).
#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn every_command_bears_every_failure() {
    let jobs = setting("NRVIEW_FAULT_JOBS").map_or(1, |text| text.parse().expect("a number of runs at once"));
    let named = setting("NRVIEW_FAULT_CASES");
    for name in named.iter().flat_map(|names| names.split(',')) {
        assert!(CASES.iter().any(|case| case.name == name), "no command is called {name:?}");
    }
    let wanted = |case: &&Case| named.as_ref().is_none_or(|names| names.split(',').any(|name| name == case.name));
    let cases: Vec<&Case> = CASES.iter().filter(wanted).collect();
    let found = at_once(jobs, &cases, |case| {
        said(|| plans(case)).unwrap_or_else(|panic| Err(format!("{} without a failure: {panic}", case.name)))
    });
    let mut wrong: Vec<String> = found.iter().filter_map(|found| found.as_ref().err().cloned()).collect();
    let all =
        cases.iter().zip(&found).flat_map(|(case, plans)| plans.iter().flatten().map(|plan| (*case, plan.as_str())));
    let (first, step) = setting("NRVIEW_FAULT_SHARD").map_or((1, 1), |text| shard(&text).expect("I/N, I from 1 to N"));
    let runs: Vec<(&Case, &str)> = all.skip(first - 1).step_by(step).collect();
    let judged = at_once(jobs, &runs, |(case, plan)| {
        let judged = said(|| judge(case, plan));
        let judged = judged.unwrap_or_else(|panic| Judged::Wrong(format!("{} under {plan}: {panic}", case.name)));
        let word = match judged {
            Judged::Right => "as it must be",
            Judged::NotReached => "not reached",
            Judged::Wrong(_) => "WRONG",
        };
        println!("{} under {plan}: {word}", case.name);
        judged
    });
    let unreached = judged.iter().filter(|judged| **judged == Judged::NotReached).count();
    wrong.extend(
        judged.into_iter().filter_map(|judged| if let Judged::Wrong(wrong) = judged { Some(wrong) } else { None }),
    );
    assert_none(&wrong, runs.len(), unreached);
}

/// A setting of the sweep.
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// `I/N`: which share of the runs.
fn shard(text: &str) -> Option<(usize, usize)> {
    let (first, step) = text.split_once('/')?;
    let (first, step) = (first.parse().ok()?, step.parse().ok()?);
    (1..=step).contains(&first).then_some((first, step))
}

/// What a run says, or how the look at it ended: a program that was killed has not said what is looked for, and the runs
/// after it are wanted all the same.
fn said<R>(look: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(look)).map_err(|panic| match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(other) => other.downcast_ref::<&str>().map_or("a panic without words", |text| text).to_owned(),
    })
}

/// Does `work` on each of `items`, `jobs` of them at a time; the answers in the order of the items.
fn at_once<T: Sync, R: Send>(jobs: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut answers = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return answers };
            answers.push((at, work(item)));
        }
    };
    let mut answers: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(take)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no worker panics")).collect()
    });
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// The plans of a command: a clean run says how often it reaches each place. An error when that run is not clean.
fn plans(case: &Case) -> Result<Vec<String>, String> {
    let (clean, _) = run_case(case, "count");
    if clean.code != Some(case.code) {
        return Err(format!("{} without a failure: {clean:#?}", case.name));
    }
    let calls = counts(&clean);
    println!("{}: {calls:?}", case.name);
    let mut all = Vec::new();
    for place in ["device", "memory", "object", "map", "submit", "wait", "create", "write", "rename"] {
        let count = calls[place];
        // Another run may come to fewer calls than this one.
        let last = if case.is_timed() { count / 2 } else { count };
        let mut at: Vec<u64> = [1, count / 3, last].into_iter().filter(|&call| (1..=count).contains(&call)).collect();
        at.dedup();
        all.extend(at.iter().map(|call| format!("{place}:{call}")));
        match place {
            "memory" => all.extend(at.iter().map(|call| format!("memory:{call}+"))),
            "wait" => all.extend(at.first().map(|call| format!("wait:{call}=slow"))),
            "write" => all.extend(at.first().map(|call| format!("write:{call}+"))),
            _ => {}
        }
    }
    Ok(all)
}

#[test]
fn only_a_timed_run_may_end_before_a_later_call() {
    let named = |name: &str| CASES.iter().find(|case| case.name == name).expect("a case");
    let timed: Vec<&str> = CASES.iter().filter(|case| case.is_timed()).map(|case| case.name).collect();
    assert_eq!(timed, ["tune", "soak", "generated"]);
    for (plan, later) in
        [("submit:1", false), ("memory:1+", false), ("wait:1=slow", false), ("submit:20", true), ("memory:3+", true)]
    {
        assert_eq!(is_later(plan), later, "{plan}");
    }
    let ended = |code, struck: u32, more: &str| Finished {
        code: Some(code),
        stdout: String::new(),
        stderr: format!("{more}faults: struck={struck} submit=9\n"),
    };
    let soak = named("soak");
    assert!(is_unreached(soak, "submit:20", &ended(0, 0, "")));
    assert!(
        !is_unreached(soak, "submit:1", &ended(0, 0, ""))
            && !is_unreached(named("bench"), "submit:20", &ended(0, 0, ""))
    );
    assert!(!is_unreached(soak, "submit:20", &ended(1, 0, "")) && !is_unreached(soak, "submit:20", &ended(0, 1, "")));
    assert!(!is_unreached(soak, "submit:20", &ended(0, 0, "leak: one\n")));
}

#[test]
fn shards_are_all_of_the_runs() {
    assert_eq!((shard("1/1"), shard("2/3")), (Some((1, 1)), Some((2, 3))));
    for bad in ["", "1", "0/2", "3/2", "a/b", "1/0"] {
        assert_eq!(shard(bad), None, "{bad}");
    }
    let items: Vec<usize> = (0..100).collect();
    assert_eq!(at_once(7, &items, |item| item * 2), (0..200).step_by(2).collect::<Vec<_>>());
    assert!(at_once(3, &[] as &[usize], |item| *item).is_empty());
    assert_eq!(said(|| 3), Ok(3));
    assert!(said(|| panic!("run {}", 7)).is_err_and(|text: String| text == "run 7"));
}

#[test]
fn a_plan_that_is_none_is_said_and_not_used() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let listed = run("memori:1", home.path(), &["scenes".to_owned()]);
    assert_eq!(listed.code, Some(0), "{listed:#?}");
    assert!(listed.stderr.contains("NRVIEW_FAULT is not used") && workspace().is_dir(), "{listed:#?}");
}
