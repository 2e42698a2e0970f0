//! The viewer on a virtual display: started, watched through its state file and the screen's pixels, ended.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use image::RgbImage;
use serde_json::Value;

use crate::display::{Display, wait_until};
use crate::program::{command, wait};

/// Time that the first frames of a software device may take.
pub const SLOW: Duration = Duration::from_secs(300);
/// Longest wait for what a hand does to be seen: no measure of speed, for other work may fill the machine.
pub const SOON: Duration = Duration::from_secs(60);

/// A running viewer with its window.
pub struct Viewer {
    /// The display it runs on.
    pub display: Display,
    /// The X id of its window.
    pub window: String,
    child: Child,
    folder: tempfile::TempDir,
}

/// A viewer that has ended by itself.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Everything on the error stream.
    pub log: String,
    /// The settings that it left.
    pub settings: String,
}

/// The route that takes longest on a software device, unless a test names one: several screens of one frame can be taken
/// before the next.
fn slow_route(arguments: &[&str]) -> Option<&'static str> {
    arguments.iter().all(|argument| !argument.starts_with("--route")).then_some("--route=exact")
}

impl Viewer {
    /// Starts `nrview view` with validation on a display of 1400x900 and waits for its window, which is 1280x800 at the
    /// top left corner of the screen.
    ///
    /// # Panics
    /// When no window appears.
    #[track_caller]
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_with((1400, 900), r#"{"hinted": true}"#, arguments)
    }

    /// The same on a display of another size, with settings of an earlier start.
    ///
    /// # Panics
    /// When no window appears.
    #[track_caller]
    pub fn start_with(display: (u32, u32), settings: &str, arguments: &[&str]) -> Self {
        Self::start_under("", display, settings, arguments)
    }

    /// The same under a plan of deliberate failures.
    ///
    /// # Panics
    /// When no window appears.
    #[track_caller]
    pub fn start_under(plan: &str, display: (u32, u32), settings: &str, arguments: &[&str]) -> Self {
        let display = Display::start(display.0, display.1);
        let folder = tempfile::tempdir().expect("a temporary directory");
        let log = fs::File::create(folder.path().join("stderr")).expect("a file");
        let kept = folder.path().join("nrview");
        fs::create_dir(&kept).expect("a folder");
        fs::write(kept.join("settings.json"), settings).expect("a file");
        let child = command()
            .args(["--validation", "view", "--state"])
            .arg(folder.path().join("state.json"))
            .args(arguments)
            .args(slow_route(arguments))
            .env("DISPLAY", display.name())
            .env("NRVIEW_FAULT", plan)
            .env("XDG_CONFIG_HOME", folder.path())
            .env("WINIT_X11_SCALE_FACTOR", "1")
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the program starts");
        let mut viewer = Self { display, window: String::new(), child, folder };
        viewer.window = viewer.display.window("^nrview", SLOW);
        wait_until(SLOW, "the first state", || viewer.state_file().is_file());
        viewer.display.focus(&viewer.window);
        viewer
    }

    fn state_file(&self) -> PathBuf {
        self.folder.path().join("state.json")
    }

    /// What the program says about itself; it is at most a drawn frame old.
    ///
    /// # Panics
    /// When it has ended or its state is no JSON.
    #[track_caller]
    pub fn state(&self) -> Value {
        let text = fs::read_to_string(self.state_file()).expect("the viewer keeps its state in a file");
        serde_json::from_str(&text).expect("the state is JSON")
    }

    /// Everything on the error stream so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }

    /// Waits until the state is as wished.
    ///
    /// # Panics
    /// When it is not within `limit`.
    #[track_caller]
    pub fn wait_for(&self, limit: Duration, what: &str, mut wish: impl FnMut(&Value) -> bool) {
        let end = Instant::now() + limit;
        loop {
            let state = self.state();
            if wish(&state) {
                return;
            }
            assert!(Instant::now() < end, "{what}: not within {limit:?}; {state:#}\n{}", self.log());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Frames that went through the network.
    #[track_caller]
    pub fn evaluated(&self) -> u64 {
        self.state()["status"]["evaluated"].as_u64().unwrap_or(0)
    }

    /// Waits for `count` more frames from the network to be on the screen.
    #[track_caller]
    pub fn wait_for_frames(&self, count: u64) {
        let before = self.evaluated();
        self.wait_for(SLOW, "a frame from the network", |state| {
            state["status"]["evaluated"].as_u64().unwrap_or(0) >= before + count && state["status"]["preview"] == false
        });
        self.settle();
    }

    /// Waits until the screen shows the consequence of the last event.
    #[track_caller]
    pub fn settle(&self) {
        // The event reaches the program, and the state file of the frame at that time is written.
        thread::sleep(Duration::from_millis(300));
        let presented = |state: &Value| state["status"]["presented"].as_u64().unwrap_or(0);
        let before = presented(&self.state());
        self.wait_for(Duration::from_secs(30), "two presented frames", |state| presented(state) >= before + 2);
        thread::sleep(Duration::from_millis(150));
    }

    /// Presses a key and waits until the screen shows the consequence.
    #[track_caller]
    pub fn press(&self, key: &str) {
        self.display.key(key);
        self.settle();
    }

    /// The screen after each of `keys`, all of them showing one and the same frame of the network.
    #[track_caller]
    pub fn screens<const N: usize>(&self, keys: [&str; N]) -> [RgbImage; N] {
        for _ in 0..20 {
            let before = self.evaluated();
            let screens = keys.map(|key| {
                self.press(key);
                self.display.picture()
            });
            // What is on the screen may be newer than the state that is written down.
            self.settle();
            if self.evaluated() == before {
                return screens;
            }
        }
        panic!("a new frame came between every two screens: {:#}", self.state());
    }

    /// Where a part of the overlay is: its middle, width and height, in pixels.
    ///
    /// # Panics
    /// When it does not come to the screen.
    #[track_caller]
    pub fn place(&self, name: &str) -> [u32; 4] {
        // A list that has just been opened is measured first and lies elsewhere after: only a place that stays is one.
        let mut found: Option<Vec<u32>> = None;
        let mut since = 0;
        self.wait_for(SOON, &format!("{name} on the screen"), |state| {
            let presented = state["status"]["presented"].as_u64().unwrap_or(0);
            let now = state["places"][name]
                .as_array()
                .map(|sides| sides.iter().map(|side| side.as_u64().unwrap_or(0) as u32).collect::<Vec<_>>());
            if now != found {
                (found, since) = (now, presented);
            }
            found.is_some() && presented >= since + 2
        });
        found.and_then(|sides| sides.try_into().ok()).unwrap_or_default()
    }

    /// Clicks on a part of the overlay.
    ///
    /// # Panics
    /// When it is not on the screen.
    #[track_caller]
    pub fn click_on(&self, name: &str) {
        let [x, y, ..] = self.place(name);
        self.display.click(x, y);
    }

    /// Clicks into a text field, replaces what is in it, and presses Enter.
    ///
    /// # Panics
    /// When it is not on the screen.
    #[track_caller]
    pub fn type_into(&self, name: &str, text: &str) {
        self.click_on(name);
        thread::sleep(Duration::from_millis(250));
        self.display.key("ctrl+a");
        self.display.xdotool(&["type", "--delay", "40", text]);
        thread::sleep(Duration::from_millis(250));
        self.display.key("Return");
    }

    /// The folder of the program's settings; it ends with the value.
    pub fn settings_folder(&self) -> PathBuf {
        self.folder.path().join("nrview")
    }

    /// Asks the window to close and gives the time until the program has ended, and its exit code.
    ///
    /// # Panics
    /// When it does not end within a minute.
    #[track_caller]
    pub fn quit(mut self) -> (Duration, Option<i32>, String) {
        let asked = Instant::now();
        self.display.key("Escape");
        let code = wait(&mut self.child, Duration::from_secs(60)).expect("the program ends");
        (asked.elapsed(), code, self.log())
    }

    /// Waits for the program to end by itself.
    ///
    /// # Panics
    /// When it does not end within the limit.
    #[track_caller]
    pub fn ended(mut self, limit: Duration) -> Ended {
        let code = wait(&mut self.child, limit).expect("the program ends");
        let settings = fs::read_to_string(self.folder.path().join("nrview/settings.json")).unwrap_or_default();
        Ended { code, log: self.log(), settings }
    }

    /// Saves the window's picture where `NRVIEW_SCREENSHOTS` names a folder, for the eyes of a person and for the
    /// documentation.
    ///
    /// # Panics
    /// When the folder cannot be written to.
    #[track_caller]
    pub fn screenshot(&self, name: &str) {
        let Some(folder) = std::env::var_os("NRVIEW_SCREENSHOTS").map(PathBuf::from) else { return };
        let side = |index: usize| self.state()["window"][index].as_u64().and_then(|side| side.try_into().ok());
        let (width, height) = (side(0).unwrap_or(1280), side(1).unwrap_or(800));
        let file = folder.join(format!("{name}.png"));
        let picture = self.display.picture();
        let window = image::imageops::crop_imm(&picture, 0, 0, width, height).to_image();
        window.save(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }

    /// Asserts that the program ends by itself, exit code 0, without a word from the validation layers, a leak or a
    /// panic.
    ///
    /// # Panics
    /// When not.
    #[track_caller]
    pub fn ends_well(mut self) {
        let code = wait(&mut self.child, Duration::from_secs(60));
        let log = self.log();
        assert_eq!(code, Some(Some(0)), "{log}");
        for word in ["validation:", "leak", "panicked", "ERROR"] {
            assert!(!log.contains(word), "{log}");
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
