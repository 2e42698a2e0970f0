//! Everything that shapes the network's frame without rebuilding anything.

use std::ops::RangeInclusive;

use network::frame::{CustomStyle, Parameters, Style, ranges};

/// Frames from one forced reset of the history to the next; 0 is never.
pub const RESET_EVERY: RangeInclusive<u32> = 0..=32;

/// The parameters of the next frame, as chosen.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Look {
    /// The style, which the network sees too.
    #[serde(with = "StyleName")]
    pub style: Style,
    /// Whether `knobs` replace the style's own look.
    pub custom: bool,
    /// The knobs of a custom style.
    #[serde(with = "Knobs")]
    pub knobs: CustomStyle,
    /// Local tone, which the network sees; also scales the styles.
    pub tone: f32,
    /// Local structure, which the network sees.
    pub structure: f32,
    /// Whether the structure of skin is `structure`.
    pub skin_follows: bool,
    /// Structure of skin otherwise, which the network sees.
    pub skin: f32,
    /// Whether the network finds skin and structure by itself.
    pub auto_mask: bool,
    /// How much of the network's result is shown, 0 to 1.
    pub intensity: f32,
    /// 0 keeps only the changes of luminance, 1 the colours too.
    pub color_strength: f32,
    /// Scene value that becomes display white.
    pub paper_white: f32,
    /// Whether paper white follows the scene's brightness instead; see [`super::exposure`].
    pub auto_white: bool,
    /// The least that automatic paper white becomes.
    pub white_low: f32,
    /// The most that automatic paper white becomes.
    pub white_high: f32,
    /// What automatic paper white has come to; not a choice, so it is not kept.
    #[serde(skip)]
    pub applied_white: Option<f32>,
    /// Largest weight of the history, as a share of the model's own cap, 0 to 1.
    pub blend_cap: f32,
    /// Whether every frame has the same noise.
    pub frozen_seed: bool,
    /// Frames from one forced reset of the history to the next; 0 is never.
    pub reset_every: u32,
}

/// [`Style`] by name.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(remote = "Style", rename_all = "kebab-case")]
enum StyleName {
    Off,
    Natural,
    Cinematic,
}

/// [`CustomStyle`] field by field.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(remote = "CustomStyle")]
struct Knobs {
    exposure: f32,
    contrast: f32,
    gamma: f32,
    saturation: f32,
    hue: f32,
    vibrance: f32,
    strength: f32,
}

impl Default for Look {
    fn default() -> Self {
        let p = Parameters::default();
        Self {
            style: p.style,
            custom: false,
            knobs: CustomStyle::default(),
            tone: p.local_tone,
            structure: p.local_structure,
            skin_follows: p.skin_structure < 0.0,
            skin: p.local_structure,
            auto_mask: p.auto_mask,
            intensity: p.intensity,
            color_strength: p.color_strength,
            paper_white: p.paper_white,
            auto_white: false,
            white_low: 0.25,
            white_high: 4.0,
            applied_white: None,
            blend_cap: p.blend_scale,
            frozen_seed: false,
            reset_every: 0,
        }
    }
}

impl Look {
    /// The parameters of a frame with a model whose cap of the history's weight is `model_cap`.
    pub fn parameters(&self, model_cap: f32) -> Parameters {
        Parameters {
            style: self.style,
            custom: self.custom.then_some(self.knobs),
            local_tone: self.tone,
            local_structure: self.structure,
            skin_structure: if self.skin_follows { -1.0 } else { self.skin },
            auto_mask: self.auto_mask,
            intensity: self.intensity,
            color_strength: self.color_strength,
            paper_white: self.applied_white.unwrap_or(self.paper_white),
            blend_scale: model_cap * self.blend_cap,
            ..Parameters::default()
        }
    }

    /// The same with every number inside its range; one that is none becomes the default.
    pub fn clamped(mut self) -> Self {
        // Earlier files have no word for it.
        self.skin_follows |= self.skin < 0.0;
        let d = Self::default();
        let k = d.knobs;
        let numbers = [
            (&mut self.tone, ranges::LOCAL_TONE, d.tone),
            (&mut self.structure, ranges::LOCAL_STRUCTURE, d.structure),
            (&mut self.skin, ranges::LOCAL_STRUCTURE, d.skin),
            (&mut self.intensity, ranges::INTENSITY, d.intensity),
            (&mut self.color_strength, ranges::COLOR_STRENGTH, d.color_strength),
            (&mut self.paper_white, ranges::PAPER_WHITE, d.paper_white),
            (&mut self.white_low, ranges::PAPER_WHITE, d.white_low),
            (&mut self.white_high, ranges::PAPER_WHITE, d.white_high),
            (&mut self.blend_cap, ranges::BLEND_SCALE, d.blend_cap),
            (&mut self.knobs.exposure, ranges::EXPOSURE, k.exposure),
            (&mut self.knobs.contrast, ranges::CONTRAST, k.contrast),
            (&mut self.knobs.gamma, ranges::GAMMA, k.gamma),
            (&mut self.knobs.saturation, ranges::SATURATION, k.saturation),
            (&mut self.knobs.hue, ranges::HUE, k.hue),
            (&mut self.knobs.vibrance, ranges::VIBRANCE, k.vibrance),
            (&mut self.knobs.strength, ranges::STRENGTH, k.strength),
        ];
        for (value, range, default) in numbers {
            *value = if value.is_finite() { value.clamp(*range.start(), *range.end()) } else { default };
        }
        self.reset_every = self.reset_every.min(*RESET_EVERY.end());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_a_frame() {
        assert_eq!(Look::default().parameters(1.0), Parameters::default());
        assert_eq!(Look::default().clamped(), Look::default());
    }

    #[test]
    fn the_cap_is_a_share_of_the_models() {
        let look = Look { blend_cap: 0.5, ..Look::default() };
        assert_eq!(look.parameters(1.0).blend_scale, 0.5);
        assert_eq!(look.parameters(0.25).blend_scale, 0.125);
    }

    #[test]
    fn every_number_is_brought_into_its_range() {
        let wild = Look {
            tone: f32::NAN,
            paper_white: -3.0,
            knobs: CustomStyle { gamma: f32::INFINITY, hue: 7.0, ..CustomStyle::default() },
            reset_every: u32::MAX,
            ..Look::default()
        };
        let tame = wild.clamped();
        assert_eq!((tame.tone, tame.paper_white), (1.0, *ranges::PAPER_WHITE.start()));
        assert_eq!((tame.knobs.gamma, tame.knobs.hue, tame.reset_every), (1.0, 0.5, 32));
    }
}
