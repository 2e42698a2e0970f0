//! Keys and mouse: shortcuts, and what is held down to fly.

use std::collections::HashSet;

use renderer::FlyInput;
use winit::event::{ElementState, KeyEvent};
use winit::keyboard::{KeyCode, PhysicalKey};

use super::keys::{self, Hold};
use super::layout::CompareMode;

/// What a pressed key asks for; [`keys`] says which key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shortcut {
    /// N
    Network,
    /// T
    History,
    /// R
    Reset,
    /// P
    Pause,
    /// C
    Capture,
    /// Tab
    Overlay,
    /// F2
    Screenshot,
    /// F11
    Fullscreen,
    /// Esc: leave fullscreen, or quit.
    Escape,
    /// 1 to 6
    Mode(CompareMode),
    /// G: the next kind of difference.
    Difference,
    /// X: left and right change places.
    Swap,
    /// The brackets: the next view, or the one before.
    View(isize),
    /// 0
    Fit,
    /// Z: image pixels as window pixels.
    OneToOne,
    /// V: the other direction of the wipe's line.
    Line,
    /// I
    Inspector,
    /// The full stop: one frame of a paused scene.
    Step,
    /// H or F1
    Help,
    /// F3: begin or end a clip.
    Clip,
    /// K: begin or end the recording of the camera's way.
    RecordPath,
    /// Page Down and Page Up: the next scene of the list (1), or the one before (-1).
    Scene(isize),
}

/// What a drag that began on the picture does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drag {
    /// No button is down.
    #[default]
    None,
    /// Turns the camera.
    Look,
    /// Moves the wipe's line.
    Wipe,
    /// Moves the image.
    Pan,
}

/// Everything held down.
#[derive(Debug, Default)]
pub struct Held {
    keys: HashSet<KeyCode>,
    look: [f32; 2],
    /// The drag in progress.
    pub drag: Drag,
    /// The pointer, in window pixels.
    pub pointer: Option<[f32; 2]>,
}

impl Held {
    /// Follows a key.
    pub fn key(&mut self, event: &KeyEvent) {
        if let PhysicalKey::Code(code) = event.physical_key {
            match event.state {
                ElementState::Pressed => _ = self.keys.insert(code),
                ElementState::Released => _ = self.keys.remove(&code),
            }
        }
    }

    /// Lets go of everything: the window lost the focus, or a text field took the keys.
    pub fn release(&mut self) {
        self.keys.clear();
        self.drag = Drag::None;
        self.look = [0.0; 2];
    }

    /// Follows the pointer; returns how far it moved, in pixels.
    pub fn moved(&mut self, to: [f32; 2]) -> [f32; 2] {
        let from = self.pointer.replace(to).unwrap_or(to);
        let by = [to[0] - from[0], to[1] - from[1]];
        if self.drag == Drag::Look {
            self.look[0] += by[0];
            self.look[1] += by[1];
        }
        by
    }

    /// Whether a key with this effect is down.
    fn holds(&self, hold: Hold) -> bool {
        self.keys.iter().any(|key| keys::held(*key) == Some(hold))
    }

    /// The flight since the last call.
    pub fn take_flight(&mut self) -> FlyInput {
        let axis =
            |plus: Hold, minus: Hold| f32::from(u8::from(self.holds(plus))) - f32::from(u8::from(self.holds(minus)));
        let flight = FlyInput {
            forward: axis(Hold::Forward, Hold::Back),
            right: axis(Hold::Right, Hold::Left),
            up: axis(Hold::Up, Hold::Down),
            look: self.look,
            fast: self.holds(Hold::Fast),
        };
        self.look = [0.0; 2];
        flight
    }

    /// Whether the frame without the network is asked for everywhere, as long as its key is held.
    pub fn original(&self) -> bool {
        self.holds(Hold::Original)
    }

    /// Whether Shift is held.
    pub fn shift(&self) -> bool {
        self.holds(Hold::Fast)
    }

    /// Whether a key that flies, or the looking drag, is held.
    pub fn flying(&self) -> bool {
        use Hold::{Back, Down, Forward, Left, Right, Up};
        self.drag == Drag::Look || [Forward, Back, Left, Right, Down, Up].into_iter().any(|hold| self.holds(hold))
    }
}
