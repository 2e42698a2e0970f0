//! A hand at the overlay's controls: boxes that are ticked, sliders that are dragged, and where the program says they are.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::window::{SOON, Viewer};

/// Width of the rail of a control's slider, in pixels.
pub const RAIL: u32 = 80;
/// Time between two movements of a hand.
const MOVEMENT: Duration = Duration::from_millis(40);

/// A place on a slider's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its smallest value, by a drag beyond the rail's left end.
    Low,
    /// About the middle of the rail.
    Middle,
    /// Its largest value, by a drag beyond the rail's right end.
    High,
}

impl Place {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Low, Self::Middle, Self::High];

    /// Its name in the state document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Middle => "middle",
            Self::High => "high",
        }
    }
}

/// A number of the state document; no number where there is none.
pub fn number(state: &Value, path: &str) -> f64 {
    state.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

/// The value of a control in the state document.
pub fn value(state: &Value, control: &str) -> f64 {
    number(state, &format!("/controls/{control}/value"))
}

impl Viewer {
    /// Ticks or clears the box of a control, if it is not as wished.
    ///
    /// # Panics
    /// When the program does not say that it is so.
    #[track_caller]
    pub fn tick(&self, control: &str, to: bool) {
        let to = f64::from(u8::from(to));
        if value(&self.state(), control) != to {
            let [x, y, width, _] = self.place(control);
            self.display.click(x - width / 2 + 8, y);
            self.wait_for(SOON, control, |state| value(state, control) == to);
        }
    }

    /// Presses on the middle of a slider's rail, which is so many pixels wide, and drags from there to a place.
    #[track_caller]
    pub fn drag_slider_of(&self, name: &str, rail: u32, to: Place) {
        let [x, y, width, _] = self.place(name);
        let left = x - width / 2;
        let go = |x: u32| {
            self.display.xdotool(&["mousemove", &x.to_string(), &y.to_string()]);
            self.seen();
        };
        go(left + rail / 2);
        self.display.xdotool(&["mousedown", "1"]);
        self.seen();
        match to {
            Place::Low => go(left.saturating_sub(6)),
            Place::High => go(left + rail + 12),
            Place::Middle => {}
        }
        self.display.xdotool(&["mouseup", "1"]);
    }

    /// Waits until the window has been drawn after the last movement: a press and all of a drag within one drawn frame are
    /// a flick that no slider sees.
    #[track_caller]
    fn seen(&self) {
        let presented = |state: &Value| state["status"]["presented"].as_u64().unwrap_or(0);
        let before = presented(&self.state());
        thread::sleep(MOVEMENT);
        self.wait_for(SOON, "a drawn frame", |state| presented(state) >= before + 2);
    }

    /// Drags the slider of a control to a place and waits until the program says that it is there.
    ///
    /// # Panics
    /// When it does not.
    #[track_caller]
    pub fn slide(&self, control: &str, to: Place) {
        self.drag_slider_of(control, RAIL, to);
        let state = self.state();
        let at = |place: Place| number(&state, &format!("/controls/{control}/{}", place.name()));
        let (low, wanted, high) = (at(Place::Low), at(to), at(Place::High));
        // The ends are exact; in the middle a hand meets a pixel or two beside it.
        let is_there = |value: f64| match to {
            Place::Low | Place::High => (value - wanted).abs() <= 1e-6,
            Place::Middle if low > 0.0 && high / low > 20.0 => (value / wanted).ln().abs() <= 0.1 * (high / low).ln(),
            Place::Middle => (value - wanted).abs() <= 0.1 * (high - low),
        };
        self.wait_for(SOON, &format!("{control} {}", to.name()), |state| is_there(value(state, control)));
    }

    /// Takes a control back to its default by its own button, which is there only where it is away from it.
    ///
    /// # Panics
    /// When it does not get there.
    #[track_caller]
    pub fn take_back(&self, control: &str) {
        let default = |state: &Value| value(state, control) == number(state, &format!("/controls/{control}/default"));
        if !default(&self.state()) {
            self.click_on(&format!("{control}.reset"));
            self.wait_for(SOON, &format!("{control} at its default"), default);
        }
    }
}
