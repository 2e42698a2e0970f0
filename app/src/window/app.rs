//! Events of the window system.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow};
use winit::keyboard::{KeyCode, PhysicalKey};
use winit::window::{Fullscreen, Window, WindowId};

use super::Options;
use super::input::Shortcut;
use super::keys;
use super::layout::CompareMode;
use super::leave;
use super::settings::Action;
use super::viewer::{GivenUp, Viewer, is_lost};
use super::zoom::Zoom;
use crate::cli::Globals;

/// The program as the window system sees it.
pub struct App {
    globals: Globals,
    options: Options,
    viewer: Option<Viewer>,
    failure: Option<anyhow::Error>,
    /// The window exists no more; nothing may be asked of it.
    gone: bool,
    occluded: bool,
    /// The device was lost once and opened anew.
    recovered: bool,
}

impl App {
    /// Not yet a window.
    pub fn new(globals: Globals, options: Options) -> Self {
        Self { globals, options, viewer: None, failure: None, gone: false, occluded: false, recovered: false }
    }

    /// What stopped the viewer, if not a person.
    ///
    /// # Errors
    /// See above.
    pub fn finish(self) -> Result<()> {
        self.failure.map_or(Ok(()), Err)
    }

    fn open(&self, event_loop: &ActiveEventLoop) -> Result<Viewer> {
        let fullscreen = self.options.fullscreen.then_some(Fullscreen::Borderless(None));
        let attributes = Window::default_attributes()
            .with_title("nrview")
            .with_inner_size(LogicalSize::new(1280, 800))
            .with_fullscreen(fullscreen);
        let window = event_loop
            .create_window(attributes)
            .map_err(|error| anyhow::anyhow!("the window cannot be opened: {error}"))?;
        Viewer::new(&self.globals, self.options.clone(), Arc::new(window))
    }

    fn stop(&mut self, event_loop: &ActiveEventLoop, failure: Option<anyhow::Error>) {
        if self.failure.is_none() {
            self.failure = failure;
        }
        event_loop.exit();
    }

    /// Follows a failure of the viewer: it ends the program, but for the first loss of the device. Then the device is opened
    /// anew for the same window, with all that a person had chosen.
    fn failed(&mut self, event_loop: &ActiveEventLoop, error: anyhow::Error) {
        if self.recovered || self.options.demo.is_some() || !is_lost(&error) {
            return self.stop(event_loop, Some(error));
        }
        self.recovered = true;
        tracing::warn!("{error:#}; opening the device anew");
        let Some(viewer) = self.viewer.take() else { return };
        let GivenUp { window, options, settings, at } = viewer.give_up();
        match Viewer::new(&self.globals, options, window) {
            Ok(mut viewer) => {
                viewer.go_on(settings, at);
                self.viewer = Some(viewer);
            }
            Err(again) => {
                self.stop(event_loop, Some(again.context(format!("{error:#}; opening the device anew failed"))))
            }
        }
    }

    /// Runs `f` on the viewer; a failure ends the program.
    fn with(&mut self, event_loop: &ActiveEventLoop, f: impl FnOnce(&mut Viewer) -> Result<Vec<Action>>) {
        let Some(viewer) = &mut self.viewer else { return };
        match f(viewer) {
            Ok(rest) if rest.contains(&Action::Quit) => self.stop(event_loop, None),
            Ok(_) => {}
            Err(error) => self.failed(event_loop, error),
        }
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.viewer.is_some() {
            return;
        }
        match self.open(event_loop) {
            Ok(viewer) => self.viewer = Some(viewer),
            Err(error) => self.stop(event_loop, Some(error)),
        }
    }

    fn new_events(&mut self, _: &ActiveEventLoop, _: StartCause) {
        if let Some(viewer) = &mut self.viewer {
            viewer.answers.begins(Instant::now());
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match &event {
            WindowEvent::Destroyed => {
                self.gone = true;
                return self.stop(event_loop, None);
            }
            WindowEvent::CloseRequested => return self.stop(event_loop, None),
            WindowEvent::Occluded(occluded) => self.occluded = *occluded,
            _ => {}
        }
        if self.gone {
            return;
        }
        if matches!(event, WindowEvent::RedrawRequested) {
            return self.with(event_loop, Viewer::draw);
        }
        self.with(event_loop, |viewer| viewer.event(&event));
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        self.turn_ends(event_loop);
        if let Some(viewer) = &mut self.viewer {
            viewer.answers.ends(Instant::now());
        }
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        if let Some(mut viewer) = self.viewer.take() {
            if let Some(failure) = &self.failure {
                leave::because(format!("{failure:#}"));
            }
            viewer.finish();
            if !self.gone {
                viewer.window.set_visible(false);
            }
            drop(viewer);
        }
    }
}

impl App {
    /// Looks after the frame in work, and says when to go on.
    fn turn_ends(&mut self, event_loop: &ActiveEventLoop) {
        if self.gone {
            return;
        }
        let Some(viewer) = &mut self.viewer else { return };
        let now = Instant::now();
        let fresh = match viewer.advance() {
            Ok(fresh) => fresh,
            Err(error) => return self.failed(event_loop, error),
        };
        let mut due = viewer.pacing.due(viewer.is_calm(), viewer.settings.vsync);
        if fresh || due <= now {
            if self.occluded {
                due = now + std::time::Duration::from_millis(100);
            } else {
                viewer.window.request_redraw();
                return event_loop.set_control_flow(ControlFlow::Poll);
            }
        }
        let poll = if viewer.is_working() { viewer.pacing.poll(now) } else { due };
        event_loop.set_control_flow(ControlFlow::WaitUntil(due.min(poll)));
    }
}

/// Whether a person did something that shows.
fn is_input(event: &WindowEvent) -> bool {
    matches!(
        event,
        WindowEvent::KeyboardInput { .. }
            | WindowEvent::CursorMoved { .. }
            | WindowEvent::MouseInput { .. }
            | WindowEvent::MouseWheel { .. }
    )
}

impl Viewer {
    /// Follows an event of the window.
    ///
    /// # Errors
    /// The device is lost.
    fn event(&mut self, event: &WindowEvent) -> Result<Vec<Action>> {
        let typing = self.gui.egui_ctx().text_edit_focused();
        // The overlay would walk its focus through its buttons with Tab, and take later keys for them.
        let is_tab = matches!(event, WindowEvent::KeyboardInput { event, .. }
            if event.physical_key == PhysicalKey::Code(KeyCode::Tab));
        if typing || !is_tab {
            _ = self.gui.on_window_event(&self.window, event);
        }
        if is_input(event) {
            self.answers.heard(self.session.progress().is_some());
        }
        match event {
            WindowEvent::Resized(size) => self.graphics.resize([size.width, size.height]),
            WindowEvent::KeyboardInput { event, is_synthetic, .. } => {
                self.pacing.touched(Instant::now());
                if typing {
                    self.held.release();
                } else if !is_synthetic {
                    self.held.key(event);
                    if let Some(shortcut) = keys::shortcut(event) {
                        return self.shortcut(shortcut);
                    }
                }
            }
            WindowEvent::CursorMoved { position, .. } => {
                self.pacing.touched(Instant::now());
                self.moved([position.x as f32, position.y as f32]);
            }
            WindowEvent::MouseInput { state, button, .. } => {
                self.pacing.touched(Instant::now());
                self.pressed(*state, *button);
            }
            WindowEvent::MouseWheel { delta, .. } => {
                self.pacing.touched(Instant::now());
                self.wheel(*delta);
            }
            WindowEvent::DroppedFile(path) => self.dropped(path),
            WindowEvent::Focused(false) => self.held.release(),
            _ => {}
        }
        Ok(Vec::new())
    }

    fn shortcut(&mut self, shortcut: Shortcut) -> Result<Vec<Action>> {
        let settings = &mut self.settings;
        match shortcut {
            Shortcut::Network => settings.network = !settings.network,
            Shortcut::History => settings.temporal = !settings.temporal,
            Shortcut::Pause => settings.paused = !settings.paused,
            Shortcut::Overlay => settings.overlay = !settings.overlay,
            Shortcut::Mode(mode) => settings.compare.mode = mode,
            Shortcut::Difference => {
                settings.compare.mode = CompareMode::Difference;
                settings.compare.difference = settings.compare.difference.next();
            }
            Shortcut::Swap => settings.sides.reverse(),
            Shortcut::View(by) => {
                settings.compare.mode = CompareMode::View;
                settings.compare.view.kind = settings.compare.view.kind.moved(by);
            }
            Shortcut::Line => settings.compare.line = settings.compare.line.other(),
            Shortcut::Help => settings.help = !settings.help,
            Shortcut::Inspector => settings.inspector = !settings.inspector,
            Shortcut::Screenshot if self.held.shift() => return self.ask(Action::Linear),
            Shortcut::Screenshot => return self.ask(Action::Screenshot),
            Shortcut::Clip => return self.ask(Action::Clip),
            Shortcut::RecordPath => return self.ask(Action::RecordPath),
            Shortcut::Scene(by) => return self.ask(Action::SceneBy(by)),
            Shortcut::Step => return self.ask(Action::Step),
            Shortcut::Fit => settings.compare.zoom = Zoom::FIT,
            Shortcut::OneToOne => self.one_to_one(),
            Shortcut::Reset => return self.ask(Action::ResetHistory),
            Shortcut::Capture => return self.ask(Action::Capture),
            Shortcut::Fullscreen => return self.ask(Action::ToggleFullscreen),
            Shortcut::Escape if settings.help => settings.help = false,
            Shortcut::Escape if self.window.fullscreen().is_some() => return self.ask(Action::ToggleFullscreen),
            Shortcut::Escape => return self.ask(Action::Quit),
        }
        Ok(Vec::new())
    }
}
