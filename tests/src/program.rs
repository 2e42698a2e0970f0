//! The built `nrview` program: where it is, and running it with a time limit.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Names the folder of programs that are built already, as for `scripts/figures.sh`: a test that was built on one machine
/// runs on another one without a toolchain.
const BUILT: &str = "NRVIEW_BIN";

/// Names the root of the workspace where a test runs elsewhere than it was built.
const ROOT: &str = "NRVIEW_ROOT";

/// The root of the workspace.
///
/// # Panics
/// When `NRVIEW_ROOT` names no folder.
pub fn workspace() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| match std::env::var_os(ROOT) {
        Some(folder) => std::path::absolute(folder).expect("NRVIEW_ROOT names a folder"),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("/")).to_owned(),
    })
}

/// Path of the optimised program: in the folder that `NRVIEW_BIN` names, or built first if it is not up to date.
///
/// # Panics
/// When the build fails.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(folder) = std::env::var_os(BUILT) {
            let program = std::path::absolute(folder).expect("NRVIEW_BIN names a folder").join("nrview");
            assert!(program.is_file(), "there is no {}", program.display());
            return program;
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        // The whole workspace is selected so that its crates get the features they have under
        // `cargo test --workspace` and are not built twice; so is an example, for the features of what only tests need.
        let output = Command::new(cargo)
            .args(["build", "--release", "--workspace", "--bin", "nrview", "--example", "loading"])
            .arg("--message-format=json-render-diagnostics")
            .current_dir(workspace())
            .stderr(Stdio::inherit())
            .output()
            .expect("cargo starts");
        assert!(output.status.success(), "the program does not build");
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
            .find(|path| path.file_stem() == Some(OsStr::new("nrview")))
            .expect("cargo names the executable")
    })
}

/// A command that runs the program from the workspace root without a display, its caches and
/// settings kept apart from the user's.
pub fn command() -> Command {
    let mut command = Command::new(program());
    command
        .current_dir(workspace())
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .env_remove("NRVIEW_LOG")
        .env("XDG_CACHE_HOME", caches())
        .env("XDG_CONFIG_HOME", caches())
        .stdin(Stdio::null());
    command
}

/// Folder for the program's caches, shared by all tests.
fn caches() -> PathBuf {
    let folder = program().parent().unwrap_or(Path::new(".")).join("nrview-tests-cache");
    std::fs::create_dir_all(&folder).expect("the target directory is writable");
    folder
}

/// What a finished run left behind.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// The standard output stream.
    pub stdout: String,
    /// The standard error stream.
    pub stderr: String,
}

impl Finished {
    /// The one JSON document on the standard output stream.
    ///
    /// # Panics
    /// When there is anything else.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("the standard output is not one JSON document ({error}): {self:#?}"))
    }

    /// Asserts an exit code, showing everything that was printed when it is another.
    ///
    /// # Panics
    /// When the code differs.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts a refusal: exit code 2, nothing on the standard output stream, and a message
    /// on the error stream that contains every one of `words` and no panic.
    ///
    /// # Panics
    /// When any of that is not so.
    #[track_caller]
    pub fn expect_refusal(self, words: &[&str]) -> Self {
        let finished = self.expect_code(2);
        assert!(!finished.stderr.contains("panicked"), "{finished:#?}");
        assert!(finished.stdout.is_empty(), "{finished:#?}");
        for word in words {
            assert!(finished.stderr.contains(word), "the message does not say {word:?}: {finished:#?}");
        }
        finished
    }
}

/// Runs the program with `arguments` for at most `limit`.
///
/// # Panics
/// When it does not start or does not end in time.
#[track_caller]
pub fn nrview<A: AsRef<OsStr>>(arguments: &[A], limit: Duration) -> Finished {
    let mut command = command();
    command.args(arguments);
    finish(command, limit)
}

/// Runs a prepared command for at most `limit`.
///
/// # Panics
/// When it does not start or does not end in time.
#[track_caller]
pub fn finish(mut command: Command, limit: Duration) -> Finished {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let shown = format!("{command:?}");
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{shown} does not start: {error}"));
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let code = wait(&mut child, limit);
    let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
    match code {
        Some(code) => Finished { code, stdout, stderr },
        None => panic!("{shown} did not end within {limit:?}\n{stdout}\n{stderr}"),
    }
}

/// Waits for `child`; ends it and gives `None` when it runs past `limit`. The inner value is
/// the exit code, `None` after a signal.
pub fn wait(child: &mut Child, limit: Duration) -> Option<Option<i32>> {
    let end = Instant::now() + limit;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status.code());
        }
        if Instant::now() >= end {
            _ = child.kill();
            _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn drain<R: Read + Send + 'static>(stream: Option<R>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
