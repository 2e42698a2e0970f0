//! False colours for difference maps.

use super::{FlipMap, Rgb8};

/// Colours from black over violet, red and orange to pale yellow, at equal steps.
const STOPS: [[f32; 3]; 6] = [
    [0.0, 0.0, 4.0],
    [66.0, 10.0, 104.0],
    [147.0, 38.0, 103.0],
    [221.0, 81.0, 58.0],
    [252.0, 165.0, 10.0],
    [252.0, 255.0, 164.0],
];

/// The map in false colours: black for no difference, pale yellow for 1.
pub fn heat_map(map: &FlipMap) -> Rgb8 {
    let bytes = map.values.iter().flat_map(|&value| heat_color(value)).collect();
    Rgb8 { extent: map.extent, bytes }
}

/// The false colour of a value, 0 to 1.
pub fn heat_color(value: f32) -> [u8; 3] {
    let at = value.clamp(0.0, 1.0) * (STOPS.len() - 1) as f32;
    let low = (at as usize).min(STOPS.len() - 2);
    let part = at - low as f32;
    std::array::from_fn(|c| (STOPS[low][c] + (STOPS[low + 1][c] - STOPS[low][c]) * part + 0.5) as u8)
}
