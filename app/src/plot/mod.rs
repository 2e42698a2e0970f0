//! Charts as picture files. They are laid out with egui, whose text and shapes the overlay uses too, and filled in here
//! on the CPU, so that they need neither a window nor a device.

mod canvas;
mod chart;
mod raster;

pub use chart::{changes, profile};

/// A finished picture.
pub struct Picture {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// RGBA, rows from the top.
    pub pixels: Vec<u8>,
}
