//! Everything that the program says about itself, as a document.

use std::time::Instant;

use super::{STATE, Viewer};
use crate::cli::write;
use crate::overlay;
use crate::window::control;

impl Viewer {
    /// Every control with its value, its ends and whether the model sees it.
    pub(super) fn control_states(&self) -> serde_json::Value {
        let state = |control: control::Control| {
            let [low, high] = control.ends();
            let value = serde_json::json!({
                "value": control.get(&self.settings),
                "low": low,
                "high": high,
                "middle": control.middle(),
                "default": control.default_value(),
                "active": control.is_active(&self.settings),
                "seen": control.seen(&self.settings, &self.status.ignored),
            });
            (control.id.to_owned(), value)
        };
        control::all().into_iter().map(state).collect::<serde_json::Map<_, _>>().into()
    }

    pub(super) fn write_state(&mut self) {
        let Some(path) = &self.options.state else { return };
        if self.state_written.elapsed() < STATE {
            return;
        }
        self.state_written = Instant::now();
        let document = self.state();
        if let Err(error) = write::write_file(path, document.to_string().as_bytes()) {
            tracing::warn!("{error:#}");
            self.options.state = None;
        }
    }

    /// Everything that the program says about itself.
    pub(in super::super) fn state(&self) -> serde_json::Value {
        let window = self.graphics.size();
        serde_json::json!({
            "window": [window.width, window.height],
            "mode": self.settings.compare.mode,
            "wipe": self.settings.compare.wipe,
            "line": self.settings.compare.line,
            "difference": self.settings.compare.difference,
            "gain": self.settings.compare.gain,
            "sides": self.session.sides(),
            "wanted_sides": self.settings.sides,
            "view": self.settings.compare.view,
            "scale": self.layout.scale,
            "fits": self.settings.compare.zoom.scale.is_none(),
            "original": self.held.original(),
            "network": self.settings.network,
            "temporal": self.settings.temporal,
            "overlay": self.settings.overlay,
            "paused": self.settings.paused,
            "inspector": self.settings.inspector,
            "look": self.settings.look,
            "fullscreen": self.window.fullscreen().is_some(),
            "vsync": self.settings.vsync,
            "help": self.settings.help,
            "hint": self.settings.hint,
            "controls": self.control_states(),
            "places": overlay::places::all(self.gui.egui_ctx()),
            "path": self.settings.path,
            "camera": {
                "position": self.session.camera().position.to_array(),
                "yaw": self.session.camera().yaw,
                "pitch": self.session.camera().pitch,
            },
            "status": self.status,
        })
    }
}
