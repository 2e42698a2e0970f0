//! Pictures without a window: what the network does to the built-in scene, and what happens where there is no display.

use std::fs;
use std::time::Duration;

use nrview_tests::program::{command, finish};

const LIMIT: Duration = Duration::from_secs(900);

/// With the starter weights the network's frames are cleaner than its input: by 3 dB on a first frame, by 5 dB with the
/// history of seven more while the camera moves (PSNR against 64 samples a pixel).
#[test]
fn the_starter_weights_clean_the_scene() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut command = command();
    command
        // The network's bytes are the same on every exact route; this one takes the least time without a GPU.
        .args(["--json", "--validation", "render", "--route=cpu", "--model=starter", "--frames=8", "--size=320x180"])
        .arg("--samples-reference=64")
        .arg("--out")
        .arg(folder.path());
    let run = finish(command, LIMIT).expect_code(0);
    assert!(!run.stderr.contains("validation:"), "{run:#?}");
    let document = run.json();
    let frames = document["frames"].as_array().expect("a list of frames");
    assert_eq!(frames.len(), 8);
    for (index, least) in [(0, 3.0), (7, 5.0)] {
        let gain = frames[index]["psnr"]["gainDb"].as_f64().expect("a PSNR");
        println!("frame {index}: {:.2}", frames[index]["psnr"]);
        assert!(gain >= least, "frame {index}: a gain of {gain:.2} dB is less than {least}");
    }
    let files = document["files"].as_array().expect("a list of files");
    for file in files {
        let path = file.as_str().expect("a path");
        let picture = image::open(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(picture.height(), 180, "{path}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), files.len(), "nothing else is left behind");
}

/// A picture of the name of one to be made stays, unless it is by the program itself or may be replaced.
#[test]
fn pictures_of_others_stay() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| folder.path().join(name);
    let others = ["frame-0000-neural.png", "frame-0000-reference.png", "frame-0001-input.png", "frame-0-input.png"];
    for name in others {
        fs::write(path(name), "of somebody else").expect("a file");
    }
    let render = |more: &[&str]| {
        let mut command = command();
        command.args(["render", "--frames=1", "--size=33x33", "--route=cpu", "--model=identity", "--out"]);
        finish(
            {
                command.arg(folder.path()).args(more);
                command
            },
            LIMIT,
        )
    };
    render(&[]).expect_refusal(&["frame-0000-neural.png", "--overwrite"]);
    let kept = |name: &&str| fs::read(path(name)).expect("a file") == b"of somebody else";
    assert!(others.iter().all(kept) && !path("frame-0000-input.png").exists());
    render(&["--overwrite"]).expect_code(0);
    render(&[]).expect_code(0);
    assert_eq!(others.iter().filter(|name| kept(name)).count(), 3, "{others:?}");
    render(&["--reference=1"]).expect_refusal(&["frame-0000-reference.png"]);
}

/// `nrview` alone, without a display: it says so and renders 8 frames to `out/`, as input, neural and side by side.
#[test]
fn without_a_display_there_are_pictures() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut command = command();
    command.arg("--size=64x64").current_dir(folder.path());
    let run = finish(command, LIMIT).expect_code(0);
    assert!(run.stderr.contains("no display"), "{run:#?}");
    let pictures: Vec<_> = fs::read_dir(folder.path().join("out"))
        .expect("the folder out")
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .collect();
    assert_eq!(pictures.len(), 24, "{pictures:?}");
    for path in pictures {
        image::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        assert!(run.stdout.contains(&name), "its path is printed: {name}; {run:#?}");
    }
}
