//! The colour spaces of FLIP (Andersson et al. 2020): sRGB, YCxCz, L*a*b* with the Hunt effect.

/// Rows of linear sRGB to XYZ.
const TO_XYZ: [[f32; 3]; 3] = [
    [10_135_552.0 / 24_577_794.0, 8_788_810.0 / 24_577_794.0, 4_435_075.0 / 24_577_794.0],
    [2_613_072.0 / 12_288_897.0, 8_788_810.0 / 12_288_897.0, 887_015.0 / 12_288_897.0],
    [1_425_312.0 / 73_733_382.0, 8_788_810.0 / 73_733_382.0, 70_074_185.0 / 73_733_382.0],
];
/// Rows of XYZ to linear sRGB.
const TO_RGB: [[f32; 3]; 3] = [
    [3.241_003_3, -1.537_398_9, -0.498_615_86],
    [-0.969_224_3, 1.875_930_1, 0.041_554_224],
    [0.055_639_423, -0.204_011_2, 1.057_148_9],
];
/// XYZ of the white point.
const WHITE: [f32; 3] = [0.950_428_55, 1.0, 1.088_900_4];

fn rows(matrix: &[[f32; 3]; 3], v: [f32; 3]) -> [f32; 3] {
    matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// Linear light of an 8-bit sRGB code.
pub(super) fn linear(code: u8) -> f32 {
    let c = f32::from(code) / 255.0;
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// XYZ over the white point.
fn relative_xyz(rgb: [f32; 3]) -> [f32; 3] {
    let xyz = rows(&TO_XYZ, rgb);
    std::array::from_fn(|i| xyz[i] / WHITE[i])
}

/// YCxCz, a linear opponent space, of linear RGB.
pub(super) fn opponent(rgb: [f32; 3]) -> [f32; 3] {
    let [x, y, z] = relative_xyz(rgb);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Linear RGB within 0..=1 of YCxCz.
pub(super) fn from_opponent([y, cx, cz]: [f32; 3]) -> [f32; 3] {
    let y = (y + 16.0) / 116.0;
    let relative = [y + cx / 500.0, y, y - cz / 200.0];
    let xyz = std::array::from_fn(|i| relative[i] * WHITE[i]);
    rows(&TO_RGB, xyz).map(|v| v.clamp(0.0, 1.0))
}

/// L*a*b* of linear RGB, its chroma scaled by the lightness (Hunt effect).
pub(super) fn hunt_lab(rgb: [f32; 3]) -> [f32; 3] {
    const DELTA: f32 = 6.0 / 29.0;
    let f = |t: f32| if t > DELTA.powi(3) { t.cbrt() } else { t / (3.0 * DELTA * DELTA) + 4.0 / 29.0 };
    let [x, y, z] = relative_xyz(rgb).map(f);
    let light = 116.0 * y - 16.0;
    [light, 0.01 * light * 500.0 * (x - y), 0.01 * light * 200.0 * (y - z)]
}

/// HyAB distance: city block in lightness, Euclidean in chroma.
pub(super) fn hyab(a: [f32; 3], b: [f32; 3]) -> f32 {
    (a[0] - b[0]).abs() + (a[1] - b[1]).hypot(a[2] - b[2])
}
