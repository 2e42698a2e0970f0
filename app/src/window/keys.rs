//! Every key and what it does: the one table that the input code, the help and the documentation's test read.

use winit::event::{ElementState, KeyEvent};
use winit::keyboard::{Key, KeyCode, PhysicalKey};

use super::input::Shortcut;
use super::layout::CompareMode;

/// How a key is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// By what is printed on it, in lower case, on whatever keyboard.
    Printed(&'static str),
    /// By its place.
    Place(KeyCode),
}

/// What a key that is held down does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hold {
    /// Fly forwards.
    Forward,
    /// Fly backwards.
    Back,
    /// Fly to the left.
    Left,
    /// Fly to the right.
    Right,
    /// Fly down.
    Down,
    /// Fly up.
    Up,
    /// Fly faster.
    Fast,
    /// Show the frame without the network.
    Original,
}

/// What happens at a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    /// Once when it goes down.
    Press(Shortcut),
    /// As long as it is down.
    Hold(Hold),
}

/// A line of the help: keys that belong together.
#[derive(Debug)]
pub struct Line {
    /// The keys as people name them.
    pub keys: &'static str,
    /// What they do.
    pub about: &'static str,
    /// Each key with its effect; empty for the mouse, which [`super::pointer`] follows.
    pub acts: &'static [(Trigger, Act)],
}

use Trigger::{Place, Printed};

const fn press(trigger: Trigger, shortcut: Shortcut) -> (Trigger, Act) {
    (trigger, Act::Press(shortcut))
}

const fn hold(code: KeyCode, hold: Hold) -> (Trigger, Act) {
    (Place(code), Act::Hold(hold))
}

const fn mode(code: KeyCode, mode: CompareMode) -> (Trigger, Act) {
    press(Place(code), Shortcut::Mode(mode))
}

/// All keys, in the order of the help.
pub const LINES: &[Line] = &[
    Line {
        keys: "1 2 3 4 5 6",
        about: "off, on, wipe, side by side, difference, view",
        acts: &[
            mode(KeyCode::Digit1, CompareMode::Off),
            mode(KeyCode::Digit2, CompareMode::On),
            mode(KeyCode::Digit3, CompareMode::Wipe),
            mode(KeyCode::Digit4, CompareMode::Side),
            mode(KeyCode::Digit5, CompareMode::Difference),
            mode(KeyCode::Digit6, CompareMode::View),
            mode(KeyCode::Numpad1, CompareMode::Off),
            mode(KeyCode::Numpad2, CompareMode::On),
            mode(KeyCode::Numpad3, CompareMode::Wipe),
            mode(KeyCode::Numpad4, CompareMode::Side),
            mode(KeyCode::Numpad5, CompareMode::Difference),
            mode(KeyCode::Numpad6, CompareMode::View),
        ],
    },
    Line { keys: "B, held", about: "the frame without the network", acts: &[hold(KeyCode::KeyB, Hold::Original)] },
    Line { keys: "V", about: "vertical or horizontal wipe", acts: &[press(Printed("v"), Shortcut::Line)] },
    Line { keys: "G", about: "next kind of difference", acts: &[press(Printed("g"), Shortcut::Difference)] },
    Line {
        keys: "[ ]",
        about: "next view",
        acts: &[press(Printed("["), Shortcut::View(-1)), press(Printed("]"), Shortcut::View(1))],
    },
    Line { keys: "X", about: "swap the sides", acts: &[press(Printed("x"), Shortcut::Swap)] },
    Line { keys: "wheel", about: "zoom at the pointer", acts: &[] },
    Line { keys: "right drag", about: "move the image; middle drag too", acts: &[] },
    Line {
        keys: "0",
        about: "the whole image",
        acts: &[press(Place(KeyCode::Digit0), Shortcut::Fit), press(Place(KeyCode::Numpad0), Shortcut::Fit)],
    },
    Line { keys: "Z", about: "image pixels as window pixels", acts: &[press(Printed("z"), Shortcut::OneToOne)] },
    Line { keys: "I", about: "values at the pointer", acts: &[press(Printed("i"), Shortcut::Inspector)] },
    Line { keys: "N", about: "network on or off", acts: &[press(Printed("n"), Shortcut::Network)] },
    Line { keys: "T", about: "temporal history on or off", acts: &[press(Printed("t"), Shortcut::History)] },
    Line { keys: "R", about: "reset the history", acts: &[press(Printed("r"), Shortcut::Reset)] },
    Line {
        keys: "P, .",
        about: "pause the scene; one frame of it",
        acts: &[press(Printed("p"), Shortcut::Pause), press(Printed("."), Shortcut::Step)],
    },
    Line {
        keys: "W A S D Q E",
        about: "fly; Shift is faster",
        acts: &[
            hold(KeyCode::KeyW, Hold::Forward),
            hold(KeyCode::KeyA, Hold::Left),
            hold(KeyCode::KeyS, Hold::Back),
            hold(KeyCode::KeyD, Hold::Right),
            hold(KeyCode::KeyQ, Hold::Down),
            hold(KeyCode::KeyE, Hold::Up),
            hold(KeyCode::ShiftLeft, Hold::Fast),
            hold(KeyCode::ShiftRight, Hold::Fast),
        ],
    },
    Line { keys: "left drag", about: "look around, or move the wipe's line", acts: &[] },
    Line {
        keys: "F2, Shift F2",
        about: "screenshot as PNG; the frame as linear light, EXR",
        acts: &[press(Place(KeyCode::F2), Shortcut::Screenshot)],
    },
    Line { keys: "F3", about: "record a clip, or end it", acts: &[press(Place(KeyCode::F3), Shortcut::Clip)] },
    Line {
        keys: "K",
        about: "record the camera's way, or end it and play it",
        acts: &[press(Printed("k"), Shortcut::RecordPath)],
    },
    Line {
        keys: "Page Down, Page Up",
        about: "next scene, or the one before",
        acts: &[
            press(Place(KeyCode::PageDown), Shortcut::Scene(1)),
            press(Place(KeyCode::PageUp), Shortcut::Scene(-1)),
        ],
    },
    Line {
        keys: "C",
        about: "capture the next frame with everything in it",
        acts: &[press(Printed("c"), Shortcut::Capture)],
    },
    Line {
        keys: "H, F1",
        about: "this help",
        acts: &[press(Printed("h"), Shortcut::Help), press(Place(KeyCode::F1), Shortcut::Help)],
    },
    Line { keys: "Tab", about: "show or hide the overlay", acts: &[press(Place(KeyCode::Tab), Shortcut::Overlay)] },
    Line { keys: "F11", about: "fullscreen", acts: &[press(Place(KeyCode::F11), Shortcut::Fullscreen)] },
    Line {
        keys: "Esc",
        about: "close the help, leave fullscreen, quit",
        acts: &[press(Place(KeyCode::Escape), Shortcut::Escape)],
    },
];

/// What the key of an event does, if anything. Letters go by what is printed on the key, the rest by its place.
pub fn act_of(logical: &Key, physical: PhysicalKey) -> impl Iterator<Item = Act> {
    let printed = match logical {
        Key::Character(text) => Some(text.to_lowercase()),
        _ => None,
    };
    let place = match physical {
        PhysicalKey::Code(code) => Some(code),
        PhysicalKey::Unidentified(_) => None,
    };
    let matches = move |trigger: &Trigger| match trigger {
        Printed(text) => printed.as_deref() == Some(text),
        Place(code) => place == Some(*code),
    };
    LINES.iter().flat_map(|line| line.acts).filter(move |(trigger, _)| matches(trigger)).map(|(_, act)| *act)
}

/// The shortcut of a key that went down; repeats of a held key are none.
pub fn shortcut(event: &KeyEvent) -> Option<Shortcut> {
    if event.state != ElementState::Pressed || event.repeat {
        return None;
    }
    act_of(&event.logical_key, event.physical_key).find_map(|act| match act {
        Act::Press(shortcut) => Some(shortcut),
        Act::Hold(_) => None,
    })
}

/// What a key does as long as it is held.
pub fn held(code: KeyCode) -> Option<Hold> {
    LINES.iter().flat_map(|line| line.acts).find_map(|(trigger, act)| match act {
        Act::Hold(hold) if *trigger == Place(code) => Some(*hold),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things() {
        let all: Vec<_> = LINES.iter().flat_map(|line| line.acts).collect();
        for (index, (trigger, _)) in all.iter().enumerate() {
            assert!(!all[..index].iter().any(|(other, _)| other == trigger), "{trigger:?} is there twice");
        }
        // A letter's place and its print are one key on a usual keyboard.
        for (trigger, _) in &all {
            if let Printed(text) = trigger {
                let place = format!("Key{}", text.to_uppercase());
                let taken = all.iter().any(|(other, _)| matches!(other, Place(code) if format!("{code:?}") == place));
                assert!(!taken, "{text} is used twice");
            }
        }
    }

    #[test]
    fn letters_go_by_their_print_and_the_rest_by_its_place() {
        let act = |key: Key, code: KeyCode| act_of(&key, PhysicalKey::Code(code)).collect::<Vec<_>>();
        // On a French keyboard the key at the place of ; prints m, the one at the place of W prints z.
        assert_eq!(
            act(Key::Character("z".into()), KeyCode::KeyW),
            [Act::Press(Shortcut::OneToOne), Act::Hold(Hold::Forward)]
        );
        assert_eq!(act(Key::Character("N".into()), KeyCode::KeyN), [Act::Press(Shortcut::Network)]);
        assert_eq!(act(Key::Character("y".into()), KeyCode::KeyY), []);
        assert_eq!(held(KeyCode::KeyB), Some(Hold::Original));
    }

    #[test]
    fn the_documentation_names_every_key() {
        let page = include_str!("../../../docs/viewer.md");
        for line in LINES {
            let row = format!("| {} | {} |", line.keys, line.about);
            assert!(page.contains(&row), "docs/viewer.md lacks the row: {row}");
        }
    }
}
