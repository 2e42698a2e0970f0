//! What the mouse does on the picture: looking around, moving the wipe's line, panning and zooming.

use winit::event::{ElementState, MouseButton, MouseScrollDelta};
use winit::window::CursorIcon;

use super::input::Drag;
use super::layout::{Line, wipe_at};
use super::viewer::Viewer;

/// How near to the wipe's line a press takes hold of it, in pixels.
const GRIP: f32 = 10.0;
/// Pixels of a touchpad's scrolling that count as one notch of a wheel.
const PIXELS_A_NOTCH: f64 = 40.0;

impl Viewer {
    /// Whether a press at the pointer is for the picture and not for the overlay. The overlay itself knows only where the
    /// pointer was when it was drawn last, which may be a while ago.
    pub(super) fn on_picture(&self) -> bool {
        let context = self.gui.egui_ctx();
        let Some(at) = self.held.pointer else { return false };
        let [x, y] = at.map(|place| place / context.pixels_per_point());
        let above = context.layer_id_at(egui::pos2(x, y)).is_some_and(|layer| layer.order != egui::Order::Background);
        let left = self.layout.panels.iter().map(|panel| panel.area[0]).min().unwrap_or(0);
        !context.egui_is_using_pointer() && !above && at[0] >= left as f32
    }

    fn near_line(&self) -> bool {
        match (self.layout.divider, self.held.pointer) {
            (Some(line), Some(at)) => (at[self.layout.line.axis()] - line).abs() <= GRIP,
            _ => false,
        }
    }

    /// The middle of the first panel, for zooming by key while the pointer is elsewhere.
    fn anchor(&self) -> Option<([f32; 2], [i32; 4])> {
        let under = self.held.pointer.and_then(|at| Some((at, self.layout.panel_at(at)?.area)));
        under.or_else(|| {
            let area = self.layout.panels.first()?.area;
            Some(([0, 1].map(|axis| (area[axis] + area[axis + 2]) as f32 / 2.0), area))
        })
    }

    /// Follows a button.
    pub(super) fn pressed(&mut self, state: ElementState, button: MouseButton) {
        let drag = match button {
            MouseButton::Left if self.near_line() => Drag::Wipe,
            MouseButton::Left => Drag::Look,
            MouseButton::Right | MouseButton::Middle => Drag::Pan,
            _ => return,
        };
        self.held.drag = match state {
            ElementState::Pressed if self.on_picture() => drag,
            ElementState::Pressed | ElementState::Released => Drag::None,
        };
    }

    /// Follows the pointer.
    pub(super) fn moved(&mut self, to: [f32; 2]) {
        let by = self.held.moved(to);
        let image = self.image();
        match self.held.drag {
            Drag::Wipe => self.settings.compare.wipe = wipe_at(&self.layout, image, to),
            Drag::Pan => {
                if let Some(panel) = self.layout.panels.first() {
                    self.settings.compare.zoom.pan(by, panel.area, image);
                }
            }
            Drag::Look | Drag::None => {}
        }
        let on_picture = self.on_picture();
        let resize = match self.layout.line {
            Line::Vertical => CursorIcon::EwResize,
            Line::Horizontal => CursorIcon::NsResize,
        };
        match self.held.drag {
            Drag::Wipe => self.window.set_cursor(resize),
            Drag::Pan => self.window.set_cursor(CursorIcon::Grabbing),
            Drag::Look | Drag::None if on_picture && self.near_line() => self.window.set_cursor(resize),
            Drag::Look | Drag::None if on_picture => self.window.set_cursor(CursorIcon::Default),
            Drag::Look | Drag::None => {}
        }
    }

    /// Zooms at the pointer.
    pub(super) fn wheel(&mut self, delta: MouseScrollDelta) {
        let notches = match delta {
            MouseScrollDelta::LineDelta(_, lines) => lines,
            MouseScrollDelta::PixelDelta(by) => (by.y / PIXELS_A_NOTCH) as f32,
        };
        if !self.on_picture() {
            return;
        }
        if let (Some(at), Some((_, area))) = (self.held.pointer, self.anchor()) {
            let image = self.image();
            self.settings.compare.zoom.wheel(notches, at, area, image);
        }
    }

    /// Image pixels as window pixels.
    pub(super) fn one_to_one(&mut self) {
        if let Some((at, area)) = self.anchor() {
            let image = self.image();
            self.settings.compare.zoom.rescale(1.0, at, area, image);
        }
    }
}
