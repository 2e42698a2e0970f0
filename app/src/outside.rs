//! What reads outside data in this crate, for fuzzers and tests of whole kinds: text or bytes in, and what a person would
//! be told.

use network::geometry::Extent;

use crate::engine::side::Side;
use crate::window::presets::Preset;
use crate::window::saved::Saved;
use crate::window::settings::Settings;

/// Reads settings, takes them over and writes them again.
///
/// # Errors
/// They are no settings.
pub fn settings(text: &str) -> Result<String, String> {
    let saved = Saved::parse(text).map_err(|error| format!("{error:#}"))?;
    let mut settings = Settings::new(saved.size().unwrap_or(Extent::new(64, 64)));
    saved.apply(&mut settings);
    Saved::of(&settings).text().map_err(|error| format!("{error:#}"))
}

/// Reads a preset, applies it and writes what the controls have then.
///
/// # Errors
/// It is no preset.
pub fn preset(text: &str) -> Result<String, String> {
    let preset = Preset::parse(text).map_err(|error| format!("{error:#}"))?;
    let mut settings = Settings::new(Extent::new(64, 64));
    preset.apply(&mut settings);
    Preset::of(&settings).text().map_err(|error| format!("{error:#}"))
}

/// Reads a side of a comparison and writes it again.
///
/// # Errors
/// It is no side.
pub fn side(text: &str) -> Result<String, String> {
    text.parse::<Side>().map(|side| side.to_string())
}

/// Width and height of a picture for the network.
///
/// # Errors
/// The bytes are no picture, or none that the network takes.
pub fn picture(bytes: &[u8]) -> Result<[u32; 2], String> {
    let picture = crate::cli::picture::decode(bytes, &"the picture").map_err(|error| format!("{error:#}"))?;
    assert_eq!(picture.rgb.len(), picture.extent.pixels() * 3, "three bytes a pixel");
    Ok([picture.extent.width, picture.extent.height])
}
