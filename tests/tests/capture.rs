//! Captures through the program: recorded on the exact route, replayed on the CPU, damaged, interrupted, imported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use nrview_tests::program::{Finished, command, finish, nrview, program, wait, workspace};
use serde_json::Value;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(900);

fn run(arguments: &[&str]) -> Finished {
    nrview(&[&["--json"], arguments].concat(), LIMIT)
}

/// Three frames of the scene on the software device: fast motion that leaves the picture, a reset before frame 1.
fn scene() -> &'static Path {
    static CAPTURE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = CAPTURE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("capture");
        let arguments = ["capture", text(&path), "--size=33x33", "--frames=3", "--rate=1", "--reset-at=1"];
        let made = run(&[&arguments[..], &["--route=exact", "--model=lively:1"]].concat()).expect_code(0).json();
        assert_eq!(made["frames"], 3);
        (folder, path)
    });
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// A copy of the scene's capture, to be damaged.
fn copy(folder: &Path) -> PathBuf {
    fn all(from: &Path, to: &Path) {
        fs::create_dir(to).expect("a new directory");
        for entry in fs::read_dir(from).expect("a directory").flatten() {
            let target = to.join(entry.file_name());
            if entry.path().is_dir() {
                all(&entry.path(), &target);
            } else {
                fs::copy(entry.path(), target).expect("a copy");
            }
        }
    }
    let target = folder.join("copy");
    all(scene(), &target);
    target
}

#[test]
fn a_device_capture_replays_on_the_cpu_as_a_sequence() {
    let replayed = run(&["replay", text(scene()), "--route=cpu", "--sequence"]).expect_code(0).json();
    assert_eq!((&replayed["passes"], &replayed["sequence"]), (&Value::Bool(true), &Value::Bool(true)));
    let frames = replayed["frames"].as_array().expect("frames");
    assert_eq!(frames.len(), 3);
    for frame in frames {
        let checks = frame["checks"].as_array().expect("checks");
        assert!(checks.len() == 5 && checks.iter().all(|check| check["exact"] == true), "{frame:#}");
    }
    // The sequence has what it is meant to have.
    let read = |n: u32| -> Value {
        let text = fs::read(scene().join(format!("frames/{n:06}/frame.json"))).expect("a document");
        serde_json::from_slice(&text).expect("JSON")
    };
    let valid = [0, 1, 2].map(|n| read(n)["frame"]["parameters"]["historyValid"].clone());
    assert_eq!(valid, [false, false, true].map(Value::Bool));
    let frame = scene().join("frames/000002");
    let depth = fs::read(frame.join("depth.bin")).expect("depth");
    let motion = fs::read(frame.join("motion.bin")).expect("motion");
    let surface = |i: &usize| depth[4 * i..4 * i + 4] != [0; 4];
    let gone = (0..33 * 33).filter(surface).filter(|i| motion[4 * i..4 * i + 4] == [0; 4]).count();
    assert!(gone > 0, "no surface comes from outside the picture");
}

#[test]
fn a_seeded_fault_is_found_in_its_operation_and_frame() {
    for label in ["b5.qkv", "b33.attention"] {
        let fault = format!("--fault=2:{label}:200");
        let found = run(&["replay", text(scene()), "--route=cpu", "--frames=2..3", &fault]).expect_code(1).json();
        let difference = &found["bisect"]["difference"];
        assert_eq!((&found["bisect"]["frame"], &difference["label"]), (&2.into(), &label.into()), "{found:#}");
        assert_eq!(difference["first"]["index"], 200);
        assert!(found["bisect"]["operands"]["groups"].as_array().is_some_and(|groups| !groups.is_empty()));
    }
}

#[test]
fn a_fault_of_the_recording_machine_is_told_from_one_of_this() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (picture, bundle) = (picture(folder.path()), folder.path().join("capture"));
    let arguments = ["capture", text(&bundle), "--image", text(&picture), "--route=cpu", "--model=lively:1"];
    run(&[&arguments[..], &["--boundaries", "--fault=0:b12.qkv:300"]].concat()).expect_code(0);
    let found = run(&["replay", text(&bundle), "--route=cpu"]).expect_code(1).json();
    let found = &found["bisect"];
    assert_eq!((&found["a"], &found["boundary"]), (&"the capture".into(), &"block-12".into()), "{found:#}");
    let unseen = found["difference"]["unseen"].as_array().expect("operations");
    assert!(unseen.contains(&"b12.qkv".into()) && unseen.len() < 12, "{unseen:?}");
}

#[test]
fn damage_is_named_and_nothing_runs() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let bundle = copy(folder.path());
    let refused = |words: &[&str]| {
        nrview(&["replay", text(&bundle), "--route=cpu"], Duration::from_secs(60)).expect_refusal(words);
    };
    let head = bundle.join("frames/000001/head.bin");
    let whole = fs::read(&head).expect("the head");
    let mut flipped = whole.clone();
    flipped[5000] ^= 1;
    fs::write(&head, &flipped).expect("a write");
    refused(&["frames/000001/head.bin has been changed"]);
    fs::write(&head, &whole[..whole.len() - 1]).expect("a write");
    refused(&["frames/000001/head.bin has"]);
    fs::rename(&head, bundle.join("frames/000001/heat.bin")).expect("a rename");
    refused(&["frames/000001/head.bin is missing", "frames/000001/heat.bin is not part"]);
}

#[test]
fn captures_compare_and_become_fixtures() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let out = folder.path().join("report");
    let same = run(&["compare", text(scene()), text(scene()), "--out", text(&out)]).expect_code(0).json();
    assert_eq!((same["equal"].clone(), same["pairs"].as_array().map(Vec::len)), (true.into(), Some(3)));
    let page = fs::read_to_string(out.join("report.html")).expect("the page");
    assert!(page.matches("data:image/png;base64,").count() == 9 && !page.contains("http"));
    // A report is never mixed with what is there.
    let again = nrview(&["compare", text(scene()), text(scene()), "--out", text(&out)], LIMIT);
    again.expect_refusal(&["not empty", "name a new directory"]);
    assert_eq!(fs::read_to_string(out.join("report.html")).expect("the page"), page);

    let frame = |n: u32, file: &str| scene().join(format!("frames/{n:06}/{file}"));
    let (a, b) = (frame(0, "display.png"), frame(2, "display.png"));
    let differ = run(&["compare", text(&a), text(&b), "--ppd=30"]).expect_code(1).json();
    let pair = &differ["pairs"][0];
    assert!(pair["psnrDb"].as_f64().is_some_and(|db| db > 5.0 && db < 60.0), "{pair:#}");
    assert!(pair["flip"]["mean"].as_f64().is_some_and(|mean| mean > 0.0 && mean < 1.0), "{pair:#}");
    assert_eq!(pair["flip"]["pixelsPerDegree"], 30.0);

    let fixture = folder.path().join("fixture");
    run(&["replay", text(scene()), "--export-fixture", text(&fixture)]).expect_code(0);
    let run = run(&["replay", "--fixture", text(&fixture), "--route=cpu", "--model=lively:1"]).expect_code(0).json();
    assert_eq!(run["passes"], true, "{run:#}");
}

#[test]
fn the_documented_reader_reads_it() {
    let reader = workspace().join("docs/read_capture.py");
    let source = fs::read_to_string(&reader).expect("the reader");
    assert!(source.lines().count() <= 40);
    let read = |bundle: &Path| {
        let mut python = Command::new("python3");
        python.arg(&reader).arg(bundle);
        finish(python, Duration::from_secs(60))
    };
    let output = read(scene()).expect_code(0).stdout;
    assert!(output.contains("2 features 320 320 16") && output.contains("1 display 33 33 4"), "{output}");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let bundle = copy(folder.path());
    let color = bundle.join("frames/000000/color.bin");
    let mut bytes = fs::read(&color).expect("the color");
    bytes[100] ^= 0x10;
    fs::write(&color, bytes).expect("a write");
    assert!(read(&bundle).expect_code(1).stderr.contains("color.bin has been changed"));
}

/// A picture for captures that need no device.
fn picture(folder: &Path) -> PathBuf {
    let path = folder.join("in.png");
    let pixel = |x, y| image::Rgb([(x * 7) as u8, (y * 5) as u8, (x * y) as u8]);
    image::RgbImage::from_fn(40, 33, pixel).save(&path).expect("a picture");
    path
}

#[test]
fn a_killed_capture_holds_whole_frames_and_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (picture, bundle) = (picture(folder.path()), folder.path().join("capture"));
    let arguments =
        ["capture", text(&bundle), "--image", text(&picture), "--frames=3", "--route=cpu", "--model=lively:1"];
    let mut child = command().args(arguments).spawn().expect("the program starts");
    let end = Instant::now() + LIMIT;
    while !bundle.join("frames/000000").exists() {
        assert!(Instant::now() < end, "no frame was recorded");
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("a running program");
    wait(&mut child, LIMIT);

    let replayed = run(&["replay", text(&bundle), "--route=cpu", "--frames=0..1"]).expect_code(0).json();
    assert_eq!((&replayed["finished"], &replayed["passes"]), (&false.into(), &true.into()));
    let other = [&arguments[..6], &["--model=lively:2", "--resume"]].concat();
    nrview(&other, LIMIT).expect_refusal(&["cannot be continued", "another model"]);
    let resumed = run(&[&arguments[..], &["--resume"]].concat()).expect_code(0).json();
    assert_eq!(resumed["frames"], 3);
    assert!(resumed["recorded"].as_u64().is_some_and(|n| n < 3), "{resumed:#}");
    let left: Vec<_> = fs::read_dir(folder.path()).expect("the folder").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_full_disk_leaves_no_part_of_a_frame() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (picture, bundle) = (picture(folder.path()), folder.path().join("capture"));
    // Files may not grow beyond a megabyte, as on a disk with no more room; features take three.
    let mut shell = Command::new("bash");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1024; exec \"$0\" \"$@\""]).arg(program()).args([
        "capture",
        text(&bundle),
        "--image",
        text(&picture),
        "--frames=2",
        "--route=cpu",
        "--model=lively:1",
    ]);
    finish(shell, LIMIT).expect_refusal(&["cannot write", "features.bin"]);
    assert_eq!(fs::read_dir(bundle.join("frames")).expect("the folder").count(), 0);
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 2, "a partial frame is left");
}

#[test]
fn what_cannot_be_compared_or_replayed_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let picture = picture(folder.path());
    let (picture, folder) = (text(&picture), text(folder.path()));
    let refused = |arguments: &[&str], words: &[&str]| {
        nrview(arguments, Duration::from_secs(60)).expect_refusal(words);
    };
    refused(&["compare", picture, "/no/such.png"], &["cannot read /no/such.png"]);
    refused(&["compare", picture, folder], &["different kinds"]);
    refused(&["compare", picture, picture, "--ppd=0"], &["1 to 400"]);
    refused(&["replay", folder, "--route=cpu"], &["is not a capture"]);
    refused(&["replay", "/no/such", "--route=cpu"], &["is not a capture"]);
    refused(&["bisect", folder, "--route=cpu"], &["is not a capture"]);
    refused(&["capture", folder, "--image", picture, "--route=cpu"], &["exists and is not empty"]);
    refused(&["capture", folder, "--range=5..5"], &["holds no frame"]);
    refused(&["import", picture, "/no/such"], &["in.png"]);
}

#[test]
fn frames_of_another_program_are_checked_and_imported() {
    const SIZE: usize = 64;
    let folder = tempfile::tempdir().expect("a temporary directory");
    let put = |name: &str, values: Vec<f32>| {
        fs::write(folder.path().join(name), values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
            .expect("a file");
    };
    for frame in 0..2 {
        // A pattern that moves 3 pixels to the right and 2 up.
        let color = |i: usize| {
            let (x, y) = ((i % SIZE) as f32 - 3.0 * frame as f32, (i / SIZE) as f32 + 2.0 * frame as f32);
            [0.5 + 0.4 * (x * 0.31).sin(), 0.5 + 0.4 * (y * 0.23 + x * 0.1).cos(), 0.5 + 0.3 * (x * 0.17).sin()]
        };
        put(&format!("color{frame}"), (0..SIZE * SIZE).flat_map(color).collect());
        put(&format!("motion{frame}"), (0..SIZE * SIZE).flat_map(|_| [-3.0, 2.0]).collect());
        put(&format!("depth{frame}"), vec![1.0; SIZE * SIZE]);
    }
    let document = folder.path().join("import.json");
    let write = |y: &str| {
        let frames = [0, 1].map(|n| {
            serde_json::json!({"color": format!("color{n}"), "motion": format!("motion{n}"), "depth": format!("depth{n}")})
        });
        let value = serde_json::json!({
            "size": [SIZE, SIZE],
            "color": {"format": "f32", "channels": ["R", "G", "B"]},
            "motion": {"format": "f32", "channels": ["X", "Y"], "unit": "pixels", "y": y,
                "direction": "current-to-previous"},
            "depth": {"format": "f32", "channels": ["Z"]},
            "frames": frames,
        });
        fs::write(&document, value.to_string()).expect("a document");
    };
    let bundle = folder.path().join("capture");
    write("up");
    nrview(&["import", text(&document), text(&bundle), "--route=cpu"], LIMIT)
        .expect_refusal(&["frame 1", "the sign of y flipped"]);
    assert!(!bundle.exists());
    write("down");
    let made = run(&["import", text(&document), text(&bundle), "--route=cpu"]).expect_code(0).json();
    assert_eq!((&made["frames"], &made["motion"][0]["passes"]), (&2.into(), &true.into()));
    assert_eq!(made["nonFinite"][1], serde_json::json!({"color": 0, "motion": 0}), "{made:#}");
    run(&["replay", text(&bundle), "--route=cpu", "--frames=1..2"]).expect_code(0);
    // A frame of which little is a number can be imported, and it is said.
    let mut colors = vec![0.5; 3 * SIZE * SIZE];
    colors[..3 * 100].fill(f32::NAN);
    colors[3 * 100] = f32::INFINITY;
    put("color0", colors);
    let mut value: serde_json::Value =
        serde_json::from_slice(&fs::read(&document).expect("a document")).expect("a document");
    value["frames"].as_array_mut().expect("frames").truncate(1);
    fs::write(&document, value.to_string()).expect("a document");
    let bundle = folder.path().join("broken");
    let made = run(&["import", text(&document), text(&bundle), "--route=cpu"]).expect_code(0);
    assert!(made.stderr.contains("frame 0: the color of 101 of 4096 pixels is not finite"), "{made:#?}");
    assert_eq!(made.json()["nonFinite"], serde_json::json!([{"color": 101, "motion": 0}]));
}
