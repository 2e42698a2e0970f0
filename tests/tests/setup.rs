//! The set-up half of the scripts: what they say and do when something is missing and may not be installed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use nrview_tests::program::{Finished, finish, workspace};

/// Runs a script as if by a person who is not root, has no sudo, and has no Vulkan driver installed.
fn run_unprivileged(script: &str) -> Finished {
    let folder = tempfile::tempdir().expect("a temporary directory");
    for (name, body) in [("id", "echo 1000"), ("sudo", "exit 1")] {
        let file = folder.path().join(name);
        fs::write(&file, format!("#!/bin/sh\n{body}\n")).expect("a stand-in command");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("an executable");
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(workspace().join(script));
    command
        .env("PATH", format!("{}:{path}", folder.path().display()))
        .env("XDG_DATA_DIRS", folder.path())
        .env("XDG_DATA_HOME", folder.path())
        .env_remove("VK_DRIVER_FILES")
        .env_remove("VK_ICD_FILENAMES")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY");
    finish(command, Duration::from_secs(60))
}

#[test]
fn scripts_name_the_packages_they_may_not_install() {
    // A driver manifest outside the searched folders of this run would hide what is tested.
    for folder in ["/etc/vulkan/icd.d", "/usr/local/etc/vulkan/icd.d"] {
        if fs::read_dir(Path::new(folder)).is_ok_and(|mut entries| entries.next().is_some()) {
            eprintln!("{folder} holds drivers: only the test script's list is checked");
            run_unprivileged("scripts/test.sh").expect_refusal(&["vulkan-validationlayers"]);
            return;
        }
    }
    let run = run_unprivileged("scripts/run.sh").expect_refusal(&["apt-get install"]);
    assert!(run.stderr.contains("mesa-vulkan-drivers"), "{run:#?}");
    assert!(!run.stderr.contains("xvfb"), "{run:#?}");
    run_unprivileged("scripts/test.sh").expect_refusal(&[
        "sudo apt-get update",
        "mesa-vulkan-drivers",
        "vulkan-validationlayers",
    ]);
}

#[test]
fn unknown_stages_are_refused() {
    let mut command = Command::new(workspace().join("scripts/test.sh"));
    command.arg("everything");
    finish(command, Duration::from_secs(60)).expect_refusal(&["everything", "format", "tests"]);
}
