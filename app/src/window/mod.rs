//! The window: events, pacing, and what ties session, overlay and drawing together.

mod answers;
mod app;
mod arrival;
pub mod clip;
pub mod control;
pub mod debug_view;
mod deeds;
mod demo;
pub mod exposure;
mod flight;
mod flip;
mod graphics;
mod input;
pub mod keys;
mod largest;
pub mod layout;
mod leave;
mod linear;
mod live;
mod loading;
pub mod look;
pub mod offscreen;
mod overlay_memory;
mod pacing;
mod pointer;
pub mod presets;
pub mod probe;
mod record;
pub mod reference;
pub mod saved;
mod screenshot;
pub mod session;
pub mod settings;
mod sides;
pub mod soak;
mod target;
mod viewer;
pub mod zoom;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use network::geometry::Extent;
use network::model::Source;
use winit::event_loop::EventLoop;

use crate::cli::Globals;
use crate::cli::args::RouteArg;
use crate::cli::scene::SceneArgs;
use crate::engine::side::Side;
use layout::CompareMode;
use presets::Preset;

/// What became of a picture, clip or capture: what was done, or why not.
pub type News = std::result::Result<String, String>;

/// How the window starts.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is drawn; a file is loaded beside the window.
    pub scene: SceneArgs,
    /// Size of the rendered frame; by the kind of device without one.
    pub size: Option<Extent>,
    /// What is compared; as the last time without one.
    pub mode: Option<CompareMode>,
    /// The left and the right side; as the last time without one.
    pub sides: [Option<Side>; 2],
    /// The weights.
    pub source: Source,
    /// Route asked for.
    pub route: RouteArg,
    /// Wait for the display's refresh.
    pub vsync: bool,
    /// Start in fullscreen.
    pub fullscreen: bool,
    /// A file that always holds the viewer's state as JSON.
    pub state: Option<PathBuf>,
    /// Whether there is a network at all.
    pub network: bool,
    /// Start with the defaults instead of the settings of the last time.
    pub fresh: bool,
    /// A preset for the controls, in place of those of the last time.
    pub preset: Option<Preset>,
    /// A tour through everything at this pace, with pictures if a folder is named.
    pub demo: Option<(Duration, Option<PathBuf>)>,
    /// Where the captures of the C key go.
    pub captures: PathBuf,
    /// Where the screenshots of the F2 key go.
    pub screenshots: PathBuf,
    /// Folder of recorded camera paths.
    pub paths: PathBuf,
}

/// There is no display to open a window on.
#[derive(Debug, thiserror::Error)]
#[error("no display: {0}")]
pub struct NoDisplay(String);

/// Opens the window and returns when it is closed.
///
/// # Errors
/// [`NoDisplay`] when there is none; otherwise whatever stops the viewer.
pub fn run(globals: &Globals, options: Options) -> Result<()> {
    let event_loop = event_loop()?;
    let mut app = app::App::new(globals.clone(), options);
    event_loop.run_app(&mut app).map_err(|error| anyhow::anyhow!("the window's event loop failed: {error}"))?;
    app.finish()
}

/// The event loop; a display that is not there, and a missing library, are told in our own words.
fn event_loop() -> Result<EventLoop<()>, NoDisplay> {
    let display = std::env::var("DISPLAY").unwrap_or_default();
    if display.is_empty() {
        let text = "DISPLAY is not set; start the program in a graphical X11 session (XWayland will do)";
        return Err(NoDisplay(text.to_owned()));
    }
    // The keyboard library panics when it is not installed.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = std::panic::catch_unwind(EventLoop::new);
    std::panic::set_hook(hook);
    match result {
        Ok(Ok(event_loop)) => Ok(event_loop),
        Ok(Err(error)) if error.to_string().contains("could not be loaded") => Err(NoDisplay(format!(
            "an X client library is missing; install libx11-6, libx11-xcb1, libxcb1, libxi6 and libxcursor1 ({})",
            reason(&error.to_string())
        ))),
        Ok(Err(_)) => Err(NoDisplay(format!(
            "the X display {} cannot be opened; check DISPLAY and its access rights",
            messages::quoted(&display)
        ))),
        Err(_) => {
            Err(NoDisplay("a keyboard library is missing; install libxkbcommon0 and libxkbcommon-x11-0".to_owned()))
        }
    }
}

/// The end of an error text, without the source path that it begins with.
fn reason(text: &str) -> &str {
    text.rsplit(": ").next().unwrap_or(text)
}
