//! From the published colour back to scene light, and from scene light to the screen (frame section 8).

use super::math::{cube_root, saturate};
use super::proxy::{clean, srgb_decode, srgb_encode};

/// Three rows of a colour matrix.
type Matrix = [[f32; 3]; 3];

const TONE_IN: Matrix = [[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]];
const TONE_OUT: Matrix = [[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]];
#[allow(clippy::excessive_precision, reason = "the contract's decimals")]
const RGB_TO_LMS: Matrix = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
];
#[allow(clippy::excessive_precision, reason = "the contract's decimals")]
const LMS_TO_LAB: Matrix = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
];
#[allow(clippy::excessive_precision, reason = "the contract's decimals")]
const LAB_TO_LMS: Matrix =
    [[1.0, 0.3963377774, 0.2158037573], [1.0, -0.1055613458, -0.0638541728], [1.0, -0.0894841775, -1.2914855480]];
#[allow(clippy::excessive_precision, reason = "the contract's decimals")]
const LMS_TO_RGB: Matrix = [
    [4.0767416621, -3.3077115913, 0.2309699292],
    [-1.2684380046, 2.6097574011, -0.3413193965],
    [-0.0041960863, -0.7034186147, 1.7076147010],
];
const RGB_TO_AP1: Matrix =
    [[0.613_097, 0.339_523, 0.047_379], [0.070_194, 0.916_354, 0.013_452], [0.020_616, 0.109_570, 0.869_815]];
const AP1_TO_RGB: Matrix =
    [[1.705_051, -0.621_792, -0.083_259], [-0.130_256, 1.140_805, -0.010_548], [-0.024_003, -0.128_969, 1.152_972]];

fn multiply(m: &Matrix, v: [f32; 3]) -> [f32; 3] {
    m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// Luminance of a linear colour.
pub fn luminance(c: [f32; 3]) -> f32 {
    0.212_639 * c[0] + 0.715_169 * c[1] + 0.072_192 * c[2]
}

fn to_oklab(c: [f32; 3]) -> [f32; 3] {
    multiply(&LMS_TO_LAB, multiply(&RGB_TO_LMS, c).map(cube_root))
}

fn from_oklab(c: [f32; 3]) -> [f32; 3] {
    multiply(&LMS_TO_RGB, multiply(&LAB_TO_LMS, c).map(|v| v * v * v))
}

/// The lightness and chroma of `a` with the hue of `b`, without colours outside the AP1 gamut.
fn hue_transfer(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    let (a, b) = (to_oklab(a), to_oklab(b));
    let chroma = |c: [f32; 3]| (c[1] * c[1] + c[2] * c[2]).sqrt();
    let of_b = chroma(b);
    let scale = if of_b == 0.0 { 1.0 } else { chroma(a) / of_b };
    let rgb = from_oklab([a[0], b[1] * scale, b[2] * scale]);
    let ap1 = multiply(&RGB_TO_AP1, rgb).map(|v| if v > 0.0 { v } else { 0.0 });
    multiply(&AP1_TO_RGB, ap1)
}

/// The scene colour that the published colour stands for: the tone change that the network made, applied to the
/// original light, so that what the proxy's shoulder compressed comes back.
///
/// `proxy` and `published` are code values; the result is linear, in scene units.
pub fn upgrade(scene: [f32; 3], proxy: [f32; 3], published: [f32; 3], paper: f32, color_strength: f32) -> [f32; 3] {
    let original = scene.map(|v| clean(v) / paper);
    let neural = published.map(srgb_decode);
    let (y_original, y_neural) = (luminance(original), luminance(neural));
    let up = if y_neural <= 0.000_01 {
        original
    } else {
        let y_proxy = luminance(proxy.map(srgb_decode));
        let ratio = if y_original < y_proxy {
            y_original / y_proxy.max(1e-6)
        } else {
            (y_neural + (y_original - y_proxy)) / y_neural
        };
        hue_transfer(neural.map(|v| v * ratio), neural)
    };
    let factor = if y_original == 0.0 {
        1.0
    } else {
        let f = luminance(up) / y_original;
        if f > 0.0 { f.min(4.0) } else { 0.0 }
    };
    std::array::from_fn(|i| {
        let lum_only = original[i] * factor;
        (lum_only + (up[i] - lum_only) * color_strength) * paper
    })
}

/// The scene colour shown without the network.
pub fn original(scene: [f32; 3], paper: f32) -> [f32; 3] {
    scene.map(|v| clean(v) / paper * paper)
}

/// Display code values 0..=1 of a linear scene colour.
pub fn display(scene: [f32; 3]) -> [f32; 3] {
    let c = multiply(&TONE_IN, scene.map(|v| v / 0.6));
    let c = c.map(|c| (c * (c + 0.024_578_6) - 0.000_090_537) / (c * (0.983_729 * c + 0.432_951) + 0.238_081));
    multiply(&TONE_OUT, c).map(|c| srgb_encode(saturate(c)))
}

/// Code values 0..=1 as one RGBA8 word, red in the low byte, alpha 255.
pub fn pack(c: [f32; 3]) -> u32 {
    let code = |v: f32| (saturate(v) * 255.0 + 0.5).floor() as u32;
    code(c[0]) | code(c[1]) << 8 | code(c[2]) << 16 | 0xff00_0000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::cpu::proxy::proxy;
    use crate::numerics::half;

    fn inverse_error(a: &Matrix, b: &Matrix) -> f32 {
        let mut worst = 0f32;
        for i in 0..3 {
            let mut e = [0.0; 3];
            e[i] = 1.0;
            for (j, v) in multiply(a, multiply(b, e)).into_iter().enumerate() {
                worst = worst.max((v - f32::from(i == j)).abs());
            }
        }
        worst
    }

    #[test]
    fn matrices_are_pairs() {
        assert!(inverse_error(&LMS_TO_LAB, &LAB_TO_LMS) < 1e-5);
        assert!(inverse_error(&RGB_TO_AP1, &AP1_TO_RGB) < 2e-5);
        // The contract's rows into LMS differ a little from the inverse of the way back.
        assert!(inverse_error(&LMS_TO_RGB, &RGB_TO_LMS) < 2e-3);
        for m in [&TONE_IN, &RGB_TO_LMS] {
            for row in m {
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn an_unchanged_colour_keeps_its_light() {
        for scene in [[0.2, 0.4, 0.1], [3.0, 2.0, 0.5], [0.01, 0.01, 0.01]] {
            let p = scene.map(|v| half::to_f32(proxy(v, 1.0)));
            let up = upgrade(scene, p, p, 1.0, 1.0);
            let (want, got) = (luminance(scene), luminance(up));
            assert!((got / want - 1.0).abs() < 0.02, "{scene:?} {up:?}");
            // Without colour strength the ratios of the channels are the original's.
            let lum = upgrade(scene, p, p, 1.0, 0.0);
            assert!((lum[0] / lum[1] - scene[0] / scene[1]).abs() < 1e-4);
        }
    }

    #[test]
    fn black_stays_black_and_white_is_reached() {
        assert_eq!(pack(display([0.0; 3])), 0xff00_0000);
        assert_eq!(pack(display([1e4; 3])), 0xffff_ffff);
        let scene = [f32::NAN, f32::INFINITY, -1.0];
        assert_eq!(original(scene, 2.0), [0.0; 3]);
        let up = upgrade(scene, [0.0; 3], [0.0; 3], 1.0, 1.0);
        assert_eq!(up, [0.0; 3]);
        // A network that invents light where there was none.
        let up = upgrade([0.0; 3], [0.0; 3], [0.5, 0.5, 0.5], 1.0, 1.0);
        assert!((luminance(up) - srgb_decode(0.5)).abs() < 1e-3, "{up:?}");
    }

    #[test]
    fn the_curve_is_monotonic() {
        let mut last = -1.0;
        for i in 0..200 {
            let [r, g, b] = display([i as f32 * 0.05; 3]);
            assert!(g >= last && (r - g).abs() < 2e-3 && (b - g).abs() < 2e-3);
            last = g;
        }
    }
}
