//! Style presets and the custom style (frame section 7).

use super::math::{exp2, log2, saturate};
use crate::frame::{Parameters, Style};
use crate::numerics::half;

const THIRD: f32 = f32::from_bits(0x3eaa_aaab);
const SIXTH: f32 = f32::from_bits(0x3e2a_aaab);
const TWO_THIRDS: f32 = f32::from_bits(0x3f2a_aaab);

/// The numbers of an active style, ready for the per-pixel chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Factor on the colour, `2^exposure`.
    pub exposure: f32,
    /// Blend towards the S-curve, -1..=1.
    pub contrast: f32,
    /// Factor on the saturation.
    pub saturation: f32,
    /// Exponent of the colour; 1 in a preset.
    pub gamma: f32,
    /// Hue shift in turns; 0 in a preset.
    pub hue: f32,
    /// Exponent of the saturation; 1 in a preset.
    pub vibrance: f32,
}

impl Look {
    /// The look that the parameters ask for; `None` without a style.
    pub fn of(p: &Parameters) -> Option<Self> {
        if let Some(c) = p.custom {
            let k = c.strength.clamp(0.0, 2.0);
            let mix = |to: f32| (1.0 + (to - 1.0) * k).max(0.05);
            return Some(Self {
                exposure: exp2(c.exposure * k),
                contrast: (c.contrast * k).clamp(-1.0, 1.0),
                saturation: c.saturation * k + 1.0,
                gamma: mix(c.gamma),
                hue: c.hue * k,
                vibrance: mix(c.vibrance),
            });
        }
        let k = saturate(p.local_tone);
        let (exposure, contrast, saturation) = match p.style {
            Style::Off => return None,
            Style::Natural => (-0.1 * k, -0.25 * k, -0.1 * k),
            Style::Cinematic => (0.0, 0.0, -0.15 * k),
        };
        Some(Self {
            exposure: exp2(exposure),
            contrast,
            saturation: saturation + 1.0,
            gamma: 1.0,
            hue: 0.0,
            vibrance: 1.0,
        })
    }

    /// The styled colour. The presets' powers of exponent 1 are the contract's identity round trips.
    pub fn apply(&self, color: [f32; 3]) -> [f32; 3] {
        let graded = color.map(|v| {
            let x = saturate(saturate(v) * self.exposure);
            let q = x * x;
            let d = q.mul_add(3.0 - (x + x), -x);
            power(saturate(self.contrast.mul_add(d, x)), self.gamma)
        });
        let [hue, sat, light] = to_hsl(graded);
        let hue = hue + self.hue;
        let hue = hue - hue.floor();
        let [hue, sat, light] = to_hsl(from_hsl(hue, saturate(sat * self.saturation), light));
        from_hsl(hue, saturate(power(sat, self.vibrance)), light).map(saturate)
    }
}

/// `c^exponent` of a value that is not negative; 0 stays 0.
fn power(c: f32, exponent: f32) -> f32 {
    if c <= 0.0 { 0.0 } else { exp2(log2(c) * exponent) }
}

/// Hue in turns, saturation and lightness.
fn to_hsl([r, g, b]: [f32; 3]) -> [f32; 3] {
    let (hi, lo) = (r.max(g).max(b), r.min(g).min(b));
    let sum = hi + lo;
    let light = sum / 2.0;
    if hi <= lo {
        return [0.0, 0.0, light];
    }
    let delta = hi - lo;
    let sat = if light > 0.5 { delta / ((2.0 - hi) - lo) } else { delta / sum };
    let scale = 1.0 / delta;
    let sixths = if hi == r {
        (g - b).mul_add(scale, if g < b { 6.0 } else { 0.0 })
    } else if hi == g {
        (b - r).mul_add(scale, 2.0)
    } else {
        (r - g).mul_add(scale, 4.0)
    };
    [sixths / 6.0, sat, light]
}

fn from_hsl(hue: f32, sat: f32, light: f32) -> [f32; 3] {
    if sat <= 0.0 {
        return [light; 3];
    }
    let q = if light < 0.5 { light * (sat + 1.0) } else { (-light).mul_add(sat, light + sat) };
    let p = (light + light) - q;
    [ramp(hue + THIRD, p, q), ramp(hue, p, q), ramp(hue - THIRD, p, q)]
}

fn ramp(x: f32, p: f32, q: f32) -> f32 {
    let x = if x < 0.0 {
        x + 1.0
    } else if x > 1.0 {
        x - 1.0
    } else {
        x
    };
    if x < SIXTH {
        ((q - p) * 6.0).mul_add(x, p)
    } else if x < 0.5 {
        q
    } else if x < TWO_THIRDS {
        ((TWO_THIRDS - x) * (q - p)).mul_add(6.0, p)
    } else {
        p
    }
}

/// The published colour of a pixel: the composed colour, styled and blended over the proxy, truncated to half.
pub fn published(neural: [f32; 3], p: [f32; 3], look: Option<&Look>, intensity: f32) -> [u16; 3] {
    let truncated = neural.map(half::from_f32_truncated);
    let styled = match look {
        None if intensity == 1.0 => return truncated,
        None => neural,
        Some(look) => look.apply(truncated.map(half::to_f32)),
    };
    std::array::from_fn(|i| half::from_f32_truncated(saturate(intensity.mul_add(styled[i] - p[i], p[i]))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::CustomStyle;

    const COLORS: [[f32; 3]; 6] =
        [[0.2, 0.5, 0.7], [0.9, 0.1, 0.3], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.4, 0.4, 0.4], [0.95, 0.9, 0.2]];

    #[test]
    fn hsl_there_and_back() {
        for c in COLORS {
            let [h, s, l] = to_hsl(c);
            for (got, want) in from_hsl(h, s, l).into_iter().zip(c) {
                assert!((got - want).abs() < 1e-6, "{c:?}");
            }
        }
        assert_eq!(to_hsl([1.0, 0.0, 0.0]), [0.0, 1.0, 0.5]);
        let green = to_hsl([0.0, 1.0, 0.0]);
        assert!((green[0] - 1.0 / 3.0).abs() < 1e-7);
    }

    #[test]
    fn a_neutral_custom_style_changes_nothing() {
        let p = Parameters { custom: Some(CustomStyle::default()), style: Style::Natural, ..Parameters::default() };
        let look = Look::of(&p).unwrap();
        for c in COLORS {
            for (got, want) in look.apply(c).into_iter().zip(c) {
                assert!((got - want).abs() < 2e-6, "{c:?}");
            }
        }
    }

    #[test]
    fn presets_do_what_they_say() {
        let look = |style, local_tone| Look::of(&Parameters { style, local_tone, ..Parameters::default() });
        assert_eq!(look(Style::Off, 1.0), None);
        let saturation = |c: [f32; 3]| to_hsl(c)[1];
        let c = COLORS[0];
        let cinematic = look(Style::Cinematic, 1.0).unwrap().apply(c);
        assert!((saturation(cinematic) / saturation(c) - 0.85).abs() < 1e-5);
        let natural = look(Style::Natural, 5.0).unwrap();
        assert!((natural.exposure - 2f32.powf(-0.1)).abs() < 1e-7);
        assert_eq!((natural.contrast, natural.saturation), (-0.25, 0.9));
        let none = look(Style::Natural, 0.0).unwrap().apply(c);
        for (got, want) in none.into_iter().zip(c) {
            assert!((got - want).abs() < 2e-6);
        }
    }

    #[test]
    fn custom_knobs() {
        let look = |custom| Look::of(&Parameters { custom: Some(custom), ..Parameters::default() }).unwrap();
        let base = CustomStyle::default();
        let grey = look(CustomStyle { saturation: -1.0, ..base });
        let [r, g, b] = grey.apply(COLORS[0]);
        assert!((r - g).abs() < 1e-6 && (g - b).abs() < 1e-6);
        let turned = look(CustomStyle { hue: 0.5, ..base });
        let [r, g, b] = turned.apply([0.75, 0.25, 0.25]);
        assert!(r < g && (g - b).abs() < 1e-5, "{r} {g} {b}");
        let off = look(CustomStyle { gamma: 3.0, hue: 0.3, vibrance: 2.0, strength: 0.0, ..base });
        assert_eq!((off.gamma, off.hue, off.vibrance), (1.0, 0.0, 1.0));
        let doubled = look(CustomStyle { contrast: 0.8, gamma: 0.0, strength: 9.0, ..base });
        assert_eq!((doubled.contrast, doubled.gamma), (1.0, 0.05));
    }

    #[test]
    fn publishing() {
        let (neural, p) = ([0.3, 0.6, 0.9], [0.1, 0.2, 0.3]);
        let plain = published(neural, p, None, 1.0);
        assert_eq!(plain, neural.map(half::from_f32_truncated));
        let none = published(neural, p, None, 0.0);
        assert_eq!(none, p.map(half::from_f32_truncated));
        let part = published(neural, p, None, 0.5).map(half::to_f32);
        assert!((part[0] - 0.2).abs() < 1e-3);
    }
}
