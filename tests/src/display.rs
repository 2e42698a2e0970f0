//! A virtual X display with real mouse and key events: Xvfb and xdotool.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use image::RgbImage;

use crate::screen::{self, Eye};

/// A running Xvfb with one screen of 24-bit colour. Ends with the value.
pub struct Display {
    server: Child,
    name: String,
    framebuffer: tempfile::TempDir,
}

impl Display {
    /// Starts a display of the given size and waits until it answers.
    ///
    /// # Panics
    /// When Xvfb or xdotool is not installed or does not start.
    pub fn start(width: u32, height: u32) -> Self {
        let framebuffer = tempfile::tempdir().expect("a temporary directory");
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-noreset"])
            .args(["-screen", "0", &format!("{width}x{height}x24")])
            .arg("-fbdir")
            .arg(framebuffer.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb does not start; install the package xvfb");
        let mut number = String::new();
        let stdout = server.stdout.take().expect("the pipe was asked for");
        BufReader::new(stdout).read_line(&mut number).expect("Xvfb tells its display number");
        let number = number.trim();
        assert!(!number.is_empty(), "Xvfb ended without telling a display number");
        Self { server, name: format!(":{number}"), framebuffer }
    }

    /// The value for the environment variable `DISPLAY`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the screen shows now.
    ///
    /// # Panics
    /// When Xvfb's framebuffer file cannot be read.
    pub fn picture(&self) -> RgbImage {
        screen::read(&self.framebuffer.path().join("Xvfb_screen0")).expect("Xvfb's framebuffer")
    }

    /// An eye on single pixels of the screen: much less work than whole pictures.
    ///
    /// # Panics
    /// When Xvfb's framebuffer file cannot be read.
    pub fn eye(&self) -> Eye {
        Eye::open(&self.framebuffer.path().join("Xvfb_screen0")).expect("Xvfb's framebuffer")
    }

    /// Runs xdotool and gives what it prints.
    ///
    /// # Panics
    /// When xdotool is not installed or fails.
    #[track_caller]
    pub fn xdotool(&self, arguments: &[&str]) -> String {
        match self.try_xdotool(arguments) {
            Ok(text) => text,
            Err(message) => panic!("xdotool {arguments:?}: {message}"),
        }
    }

    /// Runs xdotool and gives what it prints, or why it failed.
    ///
    /// # Errors
    /// The error stream of a failed xdotool.
    ///
    /// # Panics
    /// When xdotool is not installed.
    pub fn try_xdotool(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new("xdotool")
            .args(arguments)
            .env("DISPLAY", &self.name)
            .stdin(Stdio::null())
            .output()
            .expect("xdotool does not start; install the package xdotool");
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// Waits for a visible window whose title contains `title` (a regular expression) and gives
    /// its id.
    ///
    /// # Panics
    /// When none appears within `limit`.
    #[track_caller]
    pub fn window(&self, title: &str, limit: Duration) -> String {
        let mut found = String::new();
        wait_until(limit, &format!("a window titled {title}"), || {
            match self.try_xdotool(&["search", "--onlyvisible", "--name", title]) {
                Ok(text) if !text.is_empty() => {
                    found = text.lines().next().unwrap_or_default().to_owned();
                    true
                }
                _ => false,
            }
        });
        found
    }

    /// Gives keyboard focus to a window. Without a window manager it is needed again each time
    /// that the window was mapped.
    #[track_caller]
    pub fn focus(&self, window: &str) {
        self.xdotool(&["windowfocus", "--sync", window]);
    }

    /// Presses and releases a key (an X keysym name).
    #[track_caller]
    pub fn key(&self, key: &str) {
        self.xdotool(&["key", key]);
    }

    /// Clicks the left button at a place of the screen.
    #[track_caller]
    pub fn click(&self, x: u32, y: u32) {
        self.xdotool(&["mousemove", &x.to_string(), &y.to_string()]);
        thread::sleep(Duration::from_millis(60));
        self.xdotool(&["click", "1"]);
    }

    /// Drags with the left button from one place of the screen to another, in steps that a hand
    /// could make.
    #[track_caller]
    pub fn drag(&self, from: (u32, u32), to: (u32, u32)) {
        const STEPS: u32 = 8;
        let at = |step: u32| {
            let mix = |a: u32, b: u32| (a * (STEPS - step) + b * step) / STEPS;
            (mix(from.0, to.0).to_string(), mix(from.1, to.1).to_string())
        };
        for step in 0..=STEPS {
            let (x, y) = at(step);
            self.xdotool(&["mousemove", &x, &y]);
            thread::sleep(Duration::from_millis(50));
            if step == 0 {
                self.xdotool(&["mousedown", "1"]);
            }
        }
        self.xdotool(&["mouseup", "1"]);
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        _ = self.server.kill();
        _ = self.server.wait();
    }
}

/// Polls `condition` until it holds.
///
/// # Panics
/// When it does not within `limit`; `what` says what was waited for.
#[track_caller]
pub fn wait_until(limit: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + limit;
    while !condition() {
        assert!(Instant::now() < end, "{what}: not within {limit:?}");
        thread::sleep(Duration::from_millis(100));
    }
}
