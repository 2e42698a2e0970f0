//! Bad input: each is refused with a message that names it, exit code 2, and nothing written over.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use image::RgbImage;
use nrview_tests::model::ModelDir;
use nrview_tests::program::{command, finish, nrview};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(60);

/// Runs `process` on the CPU with a model directory and expects a refusal that says `words`.
#[track_caller]
fn model_is_refused(model: &str, words: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let input = picture(folder.path(), 64, 64);
    let output = kept(folder.path());
    nrview(&["process", "--route=cpu", "--model", model, &input, &output.text()], LIMIT).expect_refusal(words);
    output.is_untouched();
    if Path::new(model).exists() {
        nrview(&["model", "validate", model], LIMIT).expect_refusal(words);
    }
}

/// A PNG file of that size; its path.
fn picture(folder: &Path, width: u32, height: u32) -> String {
    let path = folder.join(format!("{width}x{height}.png"));
    RgbImage::from_fn(width, height, |x, y| image::Rgb([x as u8, y as u8, (x ^ y) as u8]))
        .save(&path)
        .expect("a PNG file");
    path.display().to_string()
}

/// A file that is there before the program runs and must be the same afterwards.
struct Kept(PathBuf);

const KEPT: &[u8] = b"written before the program ran";

fn kept(folder: &Path) -> Kept {
    let path = folder.join("out.png");
    fs::write(&path, KEPT).expect("a file");
    Kept(path)
}

impl Kept {
    fn text(&self) -> String {
        self.0.display().to_string()
    }

    #[track_caller]
    fn is_untouched(&self) {
        assert_eq!(fs::read(&self.0).expect("still there"), KEPT);
        let left: Vec<_> = fs::read_dir(self.0.parent().expect("a folder"))
            .expect("readable")
            .filter_map(Result::ok)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name.contains(".tmp"))
            .collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

#[test]
fn models() {
    model_is_refused("/no/such/model", &["no such file or folder: /no/such/model"]);
    model_is_refused("./w.nrw", &["no such file or folder: ./w.nrw"]);
    model_is_refused("livelier", &["livelier", "lively", "starter"]);
    model_is_refused("lively:x", &["lively:x"]);

    let whole = ModelDir::lively();
    let manifest = whole.manifest();
    let stage = manifest["stages"][0].clone();
    let file = stage["file"].as_str().expect("a file name");
    let bytes = whole.stage(file);

    let truncated = whole.relative();
    truncated.set_stage(file, &bytes[..bytes.len() - 1]);
    let (is, should) = ((bytes.len() - 1).to_string(), bytes.len().to_string());
    model_is_refused(&truncated.argument(), &[&is, &should]);

    let altered = whole.relative();
    let mut other = bytes.clone();
    other[100] ^= 1;
    altered.set_stage(file, &other);
    model_is_refused(&altered.argument(), &["SHA-256"]);

    let edited = |edit: &dyn Fn(&mut Value)| {
        let relative = whole.relative();
        let mut changed = manifest.clone();
        edit(&mut changed);
        relative.set_manifest(&changed);
        relative
    };

    let short = edited(&|m| m["totals"]["blockCount"] = json!(70));
    model_is_refused(&short.argument(), &["70", "71"]);

    let past = edited(&|m| m["tensors"][0]["stageOffset"] = json!(bytes.len()));
    let name = manifest["tensors"][0]["name"].as_str().expect("a name");
    model_is_refused(&past.argument(), &[name]);

    let overflow = edited(&|m| m["tensors"][0]["stageOffset"] = json!(u64::MAX));
    model_is_refused(&overflow.argument(), &[name]);

    let climbing = edited(&|m| m["stages"][0]["file"] = json!("../../secret"));
    model_is_refused(&climbing.argument(), &["stage"]);

    let unlisted = edited(&|m| {
        m["tensors"].as_array_mut().expect("a list").pop();
    });
    let last = manifest["tensors"].as_array().and_then(|t| t.last()).and_then(|t| t["name"].as_str()).expect("a name");
    model_is_refused(&unlisted.argument(), &[last]);

    let broken = whole.relative();
    fs::write(broken.path().join("manifest.json"), "{\"totals\":").expect("writable");
    model_is_refused(&broken.argument(), &["manifest"]);

    nrview(&["model", "validate", &whole.argument()], LIMIT).expect_code(0);
}

#[test]
fn weight_containers_are_validated() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("w.nrw");
    let name = path.display().to_string();
    nrview(&["model", "pack", "identity", "--out", &name], LIMIT).expect_code(0);
    let told = nrview(&["--json", "model", "validate", &name], LIMIT).expect_code(0).json();
    assert_eq!(
        (&told["valid"], &told["digestsChecked"], &told["container"]),
        (&json!(true), &json!(true), &json!(name))
    );
    let whole = fs::read(&path).expect("the container");
    // One bit anywhere, and every kind of end.
    for at in [0, 9, 20, 40, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).expect("writable");
        nrview(&["model", "validate", &name], LIMIT).expect_refusal(&["w.nrw"]);
    }
    for length in [0, 63, whole.len() - 1] {
        fs::write(&path, &whole[..length]).expect("writable");
        nrview(&["model", "validate", &name], LIMIT).expect_refusal(&["w.nrw"]);
        nrview(&["model", "validate", "--no-digest", &name], LIMIT).expect_refusal(&["w.nrw", "--no-digest"]);
    }
}

#[test]
fn presets() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let out = folder.path().join("model");
    nrview(&["model", "synth", "--preset=livid", "--out", &out.display().to_string()], LIMIT)
        .expect_refusal(&["livid", "lively", "sparse", "hot", "identity"]);
    assert!(!out.exists());
}

#[test]
fn a_folder_that_is_no_model_is_not_replaced() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let output = kept(folder.path());
    nrview(&["model", "synth", "--out", &folder.path().display().to_string()], LIMIT)
        .expect_refusal(&[&folder.path().display().to_string()]);
    output.is_untouched();
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1);
}

#[test]
fn pictures() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("empty.png"), b"").expect("a file");
    fs::write(path("text.png"), b"This is a text and no picture.\n").expect("a file");
    let good = fs::read(picture(folder.path(), 64, 48)).expect("a file");
    fs::write(path("cut.png"), &good[..good.len() / 2]).expect("a file");

    let cases: [(String, &[&str]); 7] = [
        (picture(folder.path(), 5, 4), &["5x4", "33"]), // 20 pixels
        (picture(folder.path(), 28, 28), &["28x28", "33"]),
        (path("empty.png"), &["empty.png", "0 bytes"]),
        (path("text.png"), &["text.png"]),
        (path("cut.png"), &["cut.png"]),
        (path("absent.png"), &["absent.png"]),
        (folder.path().display().to_string(), &[]),
    ];
    for (input, words) in cases {
        let output = kept(folder.path());
        nrview(&["process", "--route=cpu", "--model=identity", &input, &output.text()], LIMIT).expect_refusal(words);
        output.is_untouched();
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let input = picture(folder.path(), 64, 64);
    let output = kept(folder.path());
    let below_a_file = format!("{}/out.png", output.text());
    let absent = folder.path().join("no/out.png").display().to_string();
    let directory = folder.path().display().to_string();
    for out in [&below_a_file, &absent, &directory, &"/proc/out.png".to_owned()] {
        nrview(&["process", "--route=cpu", "--model=identity", &input, out], LIMIT).expect_refusal(&[out]);
    }
    nrview(
        &["render", "--route=cpu", "--model=identity", "--frames=1", "--size=64x64", "--out", &output.text()],
        LIMIT,
    )
    .expect_refusal(&[&output.text()]);
    output.is_untouched();
}

#[test]
fn pictures_have_the_suffix_of_what_is_written() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let input = picture(folder.path(), 64, 64);
    for name in ["out.jpg", "out.bmp", "out.png.exr"] {
        let out = folder.path().join(name);
        fs::write(&out, KEPT).expect("a file");
        let text = out.display().to_string();
        nrview(&["process", "--route=cpu", "--model=identity", &input, &text], LIMIT).expect_refusal(&[name, ".png"]);
        nrview(&["profile", "--plot", &text], LIMIT).expect_refusal(&[name, ".png"]);
        assert_eq!(fs::read(&out).expect("still there"), KEPT);
    }
}

#[test]
fn sizes() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let out = folder.path().join("frames");
    let size = |size: &str| {
        nrview(
            &[
                "render",
                "--frames=1",
                "--model=identity",
                &format!("--size={size}"),
                "--out",
                &out.display().to_string(),
            ],
            LIMIT,
        )
    };
    for bad in ["0x0", "640", "640x", "-1x5", "99999x1", "NaNx5", ""] {
        size(bad).expect_refusal(&["--size"]);
    }
    size("28x28").expect_refusal(&["28x28", "33"]);
    assert!(!out.exists(), "refused before anything was written");

    // Over the limits of the device: the message names a size that fits, and that one is accepted.
    let refusal = size("16384x16384").expect_refusal(&["16384x16384"]);
    assert!(!out.exists(), "refused before anything was written");
    let fits = refusal
        .stderr
        .split(|c: char| !(c.is_ascii_digit() || c == 'x'))
        .filter(|word| word.contains('x') && !word.starts_with('x') && !word.ends_with('x'))
        .find(|word| *word != "16384x16384")
        .unwrap_or_else(|| panic!("no size that fits: {refusal:#?}"));
    let side = |n: usize| fits.split('x').nth(n).and_then(|s| s.parse::<u32>().ok());
    assert!(side(0).is_some_and(|w| w >= 640), "{fits}");
    assert!(side(1).is_some_and(|h| h >= 360), "{fits}");
}

#[test]
fn no_vulkan_device() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let input = picture(folder.path(), 64, 64);
    let output = kept(folder.path());
    let out = output.text();
    for arguments in [
        vec!["process", "--model=identity", &input, &out],
        vec!["render", "--frames=1", "--out=/proc/none"],
        vec!["doctor"],
    ] {
        let mut command = command();
        command
            .env("VK_DRIVER_FILES", "/no/such/driver.json")
            .env("VK_ICD_FILENAMES", "/no/such/driver.json")
            .args(&arguments);
        finish(command, LIMIT).expect_refusal(&[]);
    }
    output.is_untouched();

    nrview(&["--device=no such device", "process", "--model=identity", &input, &out], LIMIT)
        .expect_refusal(&["no such device"]);
    output.is_untouched();
}

#[test]
fn no_display() {
    for display in [None, Some(":4711")] {
        let mut command = command();
        command.arg("view");
        if let Some(display) = display {
            command.env("DISPLAY", display);
        }
        finish(command, LIMIT).expect_refusal(&["display"]);
    }
}

#[test]
fn json_refusals() {
    let run = nrview(&["--json", "model", "validate", "/no/such/model"], Duration::from_secs(20)).expect_code(2);
    let message = run.json()["error"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("/no/such/model"), "{run:#?}");
}
