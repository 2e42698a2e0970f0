//! The same command twice gives the same bytes. Captures are held to it in `scene_folders.rs`, the processing of a picture
//! on the CPU in `command_line.rs`, whole frames by their digests in `retained.rs`, the kernels of the tensor route beside
//! them; here it is frames with a history, with weights that leave no element alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use nrview_tests::program::{command, finish};

const LIMIT: Duration = Duration::from_secs(900);

/// All files that a command with `--out` leaves, by name.
fn files(arguments: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut command = command();
    command.args(arguments).arg("--out").arg(folder.path());
    finish(command, LIMIT).expect_code(0);
    let entries = fs::read_dir(folder.path()).expect("readable").flatten();
    entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file")))
        .collect()
}

#[test]
fn rendered_frames() {
    // One frame on the device, which is slow in software; its history is in the captures.
    for (route, count) in [("exact", 1), ("cpu", 2)] {
        let (route, frames) = (format!("--route={route}"), format!("--frames={count}"));
        let arguments = ["render", "--model=lively:1", &frames, "--size=33x33", &route];
        let (one, other) = (files(&arguments), files(&arguments));
        assert_eq!(one.len(), 3 * count, "three pictures of each frame");
        let names: Vec<&String> =
            one.iter().filter(|(name, bytes)| other.get(*name) != Some(bytes)).map(|(name, _)| name).collect();
        assert!(names.is_empty() && one.len() == other.len(), "{route}: {names:?} differ");
        let pictures: BTreeSet<&Vec<u8>> = one.values().collect();
        assert_eq!(pictures.len(), 3 * count, "{route}: the pictures differ among themselves");
    }
}
