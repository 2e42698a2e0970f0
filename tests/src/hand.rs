//! A hand at keyboard and mouse whose events leave at once: one connection to the display that stays open, and its XTEST
//! extension. (xdotool starts a process for each event and rests in between: tens of milliseconds.)

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{self, ConnectionExt as _};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use crate::display::Display;

/// X keysym of the Tab key.
pub const TAB: u32 = 0xff09;
/// Mouse button of a turn of the wheel away from the hand.
pub const WHEEL_UP: u8 = 4;
/// Mouse button of a turn of the wheel towards the hand.
pub const WHEEL_DOWN: u8 = 5;

/// A keyboard and a mouse.
pub struct Hand {
    connection: RustConnection,
}

impl Hand {
    /// Takes hold of a display's keyboard and mouse.
    ///
    /// # Panics
    /// When the display cannot be reached or has no XTEST.
    pub fn at(display: &Display) -> Self {
        let (connection, _) = RustConnection::connect(Some(display.name())).expect("a connection to the display");
        let version = connection.xtest_get_version(2, 2).expect("a request").reply();
        version.expect("the display has XTEST");
        Self { connection }
    }

    /// The key that gives a keysym, for [`Hand::press`].
    ///
    /// # Panics
    /// When there is none.
    pub fn key(&self, keysym: u32) -> u8 {
        let setup = self.connection.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let asked = self.connection.get_keyboard_mapping(first, last - first + 1).expect("a request");
        let mapping = asked.reply().expect("the keyboard's mapping");
        let mut keys = (first..=last).zip(mapping.keysyms.chunks(mapping.keysyms_per_keycode.into()));
        keys.find(|(_, keysyms)| keysyms.first() == Some(&keysym)).expect("a key for it").0
    }

    /// Presses a key.
    pub fn press(&self, key: u8) {
        self.send(&[(xproto::KEY_PRESS_EVENT, key)]);
    }

    /// Releases a key.
    pub fn release(&self, key: u8) {
        self.send(&[(xproto::KEY_RELEASE_EVENT, key)]);
    }

    /// Presses and releases a mouse button.
    pub fn click(&self, button: u8) {
        self.send(&[(xproto::BUTTON_PRESS_EVENT, button), (xproto::BUTTON_RELEASE_EVENT, button)]);
    }

    fn send(&self, events: &[(u8, u8)]) {
        for &(kind, detail) in events {
            let sent = self.connection.xtest_fake_input(kind, detail, 0, x11rb::NONE, 0, 0, 0);
            sent.expect("the display is there").ignore_error();
        }
        self.connection.flush().expect("the display is there");
    }
}
