//! The overlay: controls, numbers and labels, drawn with egui. It changes [`Settings`] and returns [`Action`]s; it knows
//! nothing of Vulkan.

mod controls;
mod help;
mod inspector;
mod labels;
mod legend;
mod numbers;
mod panel;
mod passes;
pub mod places;
mod presets;
mod scene;
mod series;
mod sides;
mod sizes;
mod status;
mod tools;

pub use panel::Overlay;
pub use status::{Progress, Status};

use crate::window::layout::Layout;
use crate::window::settings::{Action, Settings};

/// Width of the controls, in points.
pub const PANEL_WIDTH: f32 = 276.0;
/// Windows smaller than this, in points, show the picture alone.
const SMALLEST: egui::Vec2 = egui::vec2(480.0, 240.0);

/// Whether a window of `size` points has room for the controls.
pub fn has_room(size: egui::Vec2) -> bool {
    size.x >= SMALLEST.x && size.y >= SMALLEST.y
}

impl Overlay {
    /// Lays out one frame of the overlay. What a person asked for is added to `actions`.
    pub fn show(
        &mut self,
        ui: &mut egui::Ui,
        settings: &mut Settings,
        status: &Status,
        layout: &Layout,
        actions: &mut Vec<Action>,
    ) {
        places::clear(ui.ctx());
        let room = has_room(ui.ctx().content_rect().size());
        if settings.overlay && has_room(ui.ctx().content_rect().size()) {
            self.panel(ui, settings, status, actions);
            labels::show(ui, settings, status, layout);
        }
        if settings.inspector && has_room(ui.ctx().content_rect().size()) {
            inspector::show(ui, status.reading.as_ref(), &status.sides);
        }
        if settings.hint && settings.overlay && room {
            help::hint(ui, settings);
        }
        if settings.help {
            help::window(ui, settings);
        }
        if let Some(place) = &status.demo {
            labels::demo(ui, place);
        }
        if let Some(message) = &status.error {
            labels::banner(ui, message);
        }
    }
}
