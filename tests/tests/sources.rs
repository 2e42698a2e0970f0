//! What the sources themselves must hold.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use nrview_tests::program::workspace;

/// The only files with `unsafe`: calls of Vulkan and of the operating system, and vector instructions. A new one is added
/// here on purpose, or not at all.
const UNSAFE: [&str; 25] = [
    "network/src/reference/dispatch.rs",
    "network/src/reference/half_multiply.rs",
    "network/src/reference/step.rs",
    "renderer/gpu/src/barrier.rs",
    "renderer/gpu/src/buffer.rs",
    "renderer/gpu/src/command.rs",
    "renderer/gpu/src/debug.rs",
    "renderer/gpu/src/descriptor.rs",
    "renderer/gpu/src/device.rs",
    "renderer/gpu/src/draw.rs",
    "renderer/gpu/src/extensions.rs",
    "renderer/gpu/src/fault.rs",
    "renderer/gpu/src/generated/abi.rs",
    "renderer/gpu/src/generated/mod.rs",
    "renderer/gpu/src/heap.rs",
    "renderer/gpu/src/image.rs",
    "renderer/gpu/src/instance.rs",
    "renderer/gpu/src/leave.rs",
    "renderer/gpu/src/pipeline.rs",
    "renderer/gpu/src/probe.rs",
    "renderer/gpu/src/retire.rs",
    "renderer/gpu/src/submit.rs",
    "renderer/gpu/src/surface.rs",
    "renderer/gpu/src/swapchain.rs",
    "renderer/gpu/src/timestamps.rs",
];

/// The roots of crates that can have no `unsafe` at all.
const SAFE: [&str; 9] = [
    "app/src/lib.rs",
    "app/src/main.rs",
    "renderer/faults/src/lib.rs",
    "renderer/messages/src/lib.rs",
    "renderer/src/lib.rs",
    "shaders/src/lib.rs",
    "shaders/src/bin/build-shaders/main.rs",
    "tests/src/lib.rs",
    "tests/outside/src/lib.rs",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

/// Lines of code that hold the keyword; comments and texts do not count.
fn unsafe_lines(text: &str) -> Vec<(usize, &str)> {
    let code = |line: &str| {
        let line = line.split("//").next().unwrap_or_default().to_owned();
        line.split('"').step_by(2).collect::<Vec<_>>().join(" ")
    };
    let word = |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe");
    text.lines().enumerate().filter(|(_, line)| word(&code(line))).collect()
}

#[test]
fn unsafe_code_is_where_it_has_to_be() {
    let mut files = Vec::new();
    sources(workspace(), &mut files);
    assert!(files.len() > 300, "{} files", files.len());
    let mut found = BTreeSet::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a source file");
        if !unsafe_lines(&text).is_empty() {
            found.insert(path.strip_prefix(workspace()).expect("below the workspace").display().to_string());
        }
    }
    assert_eq!(found, UNSAFE.map(str::to_owned).into());
    for root in SAFE {
        let text = fs::read_to_string(workspace().join(root)).expect("a root");
        assert!(text.contains("\n#![forbid(unsafe_code)]\n"), "{root} does not forbid unsafe code");
    }
}

/// Clippy asks for the argument of every block and implementation; this asks for that of every function too.
#[test]
fn every_unsafe_has_its_argument() {
    for file in UNSAFE {
        let text = fs::read_to_string(workspace().join(file)).expect("a listed file");
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in unsafe_lines(&text) {
            // A type of a function pointer promises nothing; where it is called there is a block.
            if line.contains("unsafe extern") || line.contains(": unsafe fn") || line.contains("= unsafe fn") {
                continue;
            }
            // The comment stands above the statement, which may have begun some lines before.
            let above = &lines[number.saturating_sub(12)..=number];
            let argued = above.iter().any(|line| line.contains("SAFETY") || line.contains("# Safety"));
            assert!(argued, "{file}:{}: {}", number + 1, line.trim());
        }
    }
}
