//! Keys and mouse: shortcuts, and what is held down to fly.

use std::collections::HashSet;

use renderer::FlyInput;
use winit::event::{ElementState, KeyEvent};
use winit::keyboard::{Key, KeyCode, PhysicalKey};

use super::layout::CompareMode;

/// What a pressed key asks for.
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
}

impl Shortcut {
    /// The shortcut of a key that went down; repeats of a held key are none.
    pub fn of(event: &KeyEvent) -> Option<Self> {
        if event.state != ElementState::Pressed || event.repeat {
            return None;
        }
        // Letters go by what is printed on the key, the rest by its place.
        if let Key::Character(text) = &event.logical_key {
            match text.to_lowercase().as_str() {
                "n" => return Some(Self::Network),
                "t" => return Some(Self::History),
                "r" => return Some(Self::Reset),
                "p" => return Some(Self::Pause),
                "c" => return Some(Self::Capture),
                "z" => return Some(Self::OneToOne),
                "v" => return Some(Self::Line),
                "i" => return Some(Self::Inspector),
                "." => return Some(Self::Step),
                "g" => return Some(Self::Difference),
                "x" => return Some(Self::Swap),
                "[" => return Some(Self::View(-1)),
                "]" => return Some(Self::View(1)),
                _ => {}
            }
        }
        let PhysicalKey::Code(code) = event.physical_key else {
            return None;
        };
        Some(match code {
            KeyCode::F2 => Self::Screenshot,
            KeyCode::Tab => Self::Overlay,
            KeyCode::F11 => Self::Fullscreen,
            KeyCode::Escape => Self::Escape,
            KeyCode::Digit0 | KeyCode::Numpad0 => Self::Fit,
            KeyCode::Digit1 | KeyCode::Numpad1 => Self::Mode(CompareMode::Off),
            KeyCode::Digit2 | KeyCode::Numpad2 => Self::Mode(CompareMode::On),
            KeyCode::Digit3 | KeyCode::Numpad3 => Self::Mode(CompareMode::Wipe),
            KeyCode::Digit4 | KeyCode::Numpad4 => Self::Mode(CompareMode::Side),
            KeyCode::Digit5 | KeyCode::Numpad5 => Self::Mode(CompareMode::Difference),
            KeyCode::Digit6 | KeyCode::Numpad6 => Self::Mode(CompareMode::View),
            _ => return None,
        })
    }
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

    /// The flight since the last call.
    pub fn take_flight(&mut self) -> FlyInput {
        let axis = |plus: KeyCode, minus: KeyCode| {
            f32::from(u8::from(self.keys.contains(&plus))) - f32::from(u8::from(self.keys.contains(&minus)))
        };
        let flight = FlyInput {
            forward: axis(KeyCode::KeyW, KeyCode::KeyS),
            right: axis(KeyCode::KeyD, KeyCode::KeyA),
            up: axis(KeyCode::KeyE, KeyCode::KeyQ),
            look: self.look,
            fast: self.keys.contains(&KeyCode::ShiftLeft) || self.keys.contains(&KeyCode::ShiftRight),
        };
        self.look = [0.0; 2];
        flight
    }

    /// Whether the frame without the network is asked for everywhere, as long as B is held.
    pub fn original(&self) -> bool {
        self.keys.contains(&KeyCode::KeyB)
    }

    /// Whether a key that flies, or the looking drag, is held.
    pub fn flying(&self) -> bool {
        use KeyCode::{KeyA, KeyD, KeyE, KeyQ, KeyS, KeyW};
        self.drag == Drag::Look || [KeyW, KeyA, KeyS, KeyD, KeyQ, KeyE].iter().any(|key| self.keys.contains(key))
    }
}
