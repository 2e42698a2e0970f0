//! Environments, exposure and effects from the command line.

use std::fs;
use std::path::Path;
use std::time::Duration;

use nrview_tests::program::nrview;

const LIMIT: Duration = Duration::from_secs(120);

/// A Radiance picture of one colour; narrow ones are not compressed.
fn hdr(width: usize, height: usize, rgbe: [u8; 4]) -> Vec<u8> {
    let mut bytes = format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n").into_bytes();
    bytes.extend(rgbe.repeat(width * height));
    bytes
}

/// Mean of each channel of the first frame's input.
fn mean(folder: &Path, arguments: &[&str]) -> [f64; 3] {
    let out = folder.join("out");
    let out_text = out.display().to_string();
    let fixed = ["render", "--frames=1", "--size=64x36", "--route=cpu", "--out", &out_text];
    nrview(&[&fixed[..], arguments].concat(), LIMIT).expect_code(0);
    let picture = image::open(out.join("frame-0000-input.png")).expect("a picture").into_rgb8();
    let sum = |c: usize| picture.pixels().map(|pixel| f64::from(pixel.0[c])).sum::<f64>();
    [0, 1, 2].map(|c| sum(c) / f64::from(picture.width() * picture.height()))
}

#[test]
fn an_environment_lights_the_scene_and_exposure_brightens_it() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("green.hdr");
    // Radiance 0.25 in green.
    fs::write(&path, hdr(4, 2, [0, 128, 0, 127])).expect("writable");
    let sky = ["--environment", path.to_str().expect("a path in UTF-8")];
    let green = mean(folder.path(), &sky);
    assert!(green[1] > 2.0 * green[0] && green[1] > 2.0 * green[2], "{green:?}");
    let bright = mean(folder.path(), &[&sky[..], &["--exposure=1.5", "--without=shadows,ao,reflections"]].concat());
    assert!(bright[1] > green[1] + 20.0, "{bright:?} against {green:?}");
}

#[test]
fn files_that_are_no_environments_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let out = folder.path().join("out");
    let refused = |name: &str, bytes: Option<&[u8]>, words: &[&str]| {
        let path = folder.path().join(name);
        if let Some(bytes) = bytes {
            fs::write(&path, bytes).expect("writable");
        }
        let (path, out_text) = (path.display().to_string(), out.display().to_string());
        nrview(&["render", "--environment", &path, "--out", &out_text], LIMIT).expect_refusal(words);
        assert!(!out.exists(), "nothing is written");
    };
    refused("missing.hdr", None, &["missing.hdr", "cannot be read"]);
    refused("text.hdr", Some(b"not a picture"), &["text.hdr", "neither"]);
    refused("square.hdr", Some(&hdr(4, 4, [90, 90, 90, 128])), &["square.hdr", "twice as wide"]);
    refused("cut.hdr", Some(&hdr(4, 2, [90, 90, 90, 128])[..60]), &["cut.hdr", "broken"]);
    refused("huge.exr", Some(b"\x76\x2f\x31\x01\x02\0\0\0"), &["huge.exr", "broken"]);
    nrview(&["render", "--exposure=99"], LIMIT).expect_refusal(&["exposure", "99"]);
    nrview(&["render", "--environment-rotation=30"], LIMIT).expect_refusal(&["no environment"]);
}
