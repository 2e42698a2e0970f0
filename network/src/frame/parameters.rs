//! The parameters of a frame, their defaults and their ranges (frame section 1).

use std::ops::RangeInclusive;

use thiserror::Error;

/// Smallest paper white that has an effect; anything below counts as this.
pub const MIN_PAPER_WHITE: f32 = 0.05;

/// Ranges for controls. Values outside are legal for the arithmetic, which clamps where it has to; see
/// [`Parameters::validate`] for what is refused.
pub mod ranges {
    use super::RangeInclusive;

    /// Scene value that maps to display white.
    pub const PAPER_WHITE: RangeInclusive<f32> = super::MIN_PAPER_WHITE..=16.0;
    /// Local tone.
    pub const LOCAL_TONE: RangeInclusive<f32> = 0.0..=1.0;
    /// Local structure.
    pub const LOCAL_STRUCTURE: RangeInclusive<f32> = 0.0..=1.0;
    /// Skin structure; negative follows the local structure.
    pub const SKIN_STRUCTURE: RangeInclusive<f32> = -1.0..=1.0;
    /// Blend of the result over the proxy.
    pub const INTENSITY: RangeInclusive<f32> = 0.0..=1.0;
    /// Share of the colour change that is kept.
    pub const COLOR_STRENGTH: RangeInclusive<f32> = 0.0..=1.0;
    /// Cap of the temporal weight.
    pub const BLEND_SCALE: RangeInclusive<f32> = 0.0..=1.0;
    /// Exposure of a custom style, in stops.
    pub const EXPOSURE: RangeInclusive<f32> = -2.0..=2.0;
    /// Contrast of a custom style.
    pub const CONTRAST: RangeInclusive<f32> = -1.0..=1.0;
    /// Gamma of a custom style.
    pub const GAMMA: RangeInclusive<f32> = 0.25..=4.0;
    /// Saturation of a custom style; -1 is grey.
    pub const SATURATION: RangeInclusive<f32> = -1.0..=1.0;
    /// Hue shift of a custom style, in turns.
    pub const HUE: RangeInclusive<f32> = -0.5..=0.5;
    /// Vibrance of a custom style: exponent of the saturation, 1 keeps it.
    pub const VIBRANCE: RangeInclusive<f32> = 0.25..=4.0;
    /// Strength of a custom style.
    pub const STRENGTH: RangeInclusive<f32> = 0.0..=2.0;
}

/// The style presets. The network sees the choice too (feature lane 10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Style {
    /// No style.
    #[default]
    Off,
    /// A little darker, softer and less saturated, by the local tone.
    Natural,
    /// Less saturated, by the local tone.
    Cinematic,
}

impl Style {
    /// All styles, by their number.
    pub const ALL: [Self; 3] = [Self::Off, Self::Natural, Self::Cinematic];

    /// The number by which the network and the fixtures know the style.
    pub const fn id(self) -> u32 {
        match self {
            Self::Off => 0,
            Self::Natural => 1,
            Self::Cinematic => 2,
        }
    }
}

impl TryFrom<u32> for Style {
    type Error = ParameterError;

    fn try_from(id: u32) -> Result<Self, ParameterError> {
        Self::ALL.into_iter().find(|style| style.id() == id).ok_or(ParameterError::Style { id })
    }
}

/// The knobs of a custom style (frame section 7). It replaces the preset's look; the network still sees the preset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CustomStyle {
    /// In stops.
    pub exposure: f32,
    /// Blend towards an S-curve; negative flattens.
    pub contrast: f32,
    /// Exponent of the colour, 1 keeps it.
    pub gamma: f32,
    /// Relative change of the saturation.
    pub saturation: f32,
    /// Hue shift in turns.
    pub hue: f32,
    /// Exponent of the saturation, 1 keeps it.
    pub vibrance: f32,
    /// Scales all others, 0..=2.
    pub strength: f32,
}

impl Default for CustomStyle {
    fn default() -> Self {
        Self { exposure: 0.0, contrast: 0.0, gamma: 1.0, saturation: 0.0, hue: 0.0, vibrance: 1.0, strength: 1.0 }
    }
}

/// Everything that may change from frame to frame without rebuilding anything (frame section 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Noise seed: the frame counter, unless a recorded frame says otherwise.
    pub seed: u32,
    /// Whether the history may be used, see [`FrameClock::history_valid`](super::FrameClock::history_valid).
    pub history_valid: bool,
    /// Selects what lanes 12 to 14 carry: true in the renderer, false for a single image.
    pub auto_mask: bool,
    /// Scene value that maps to display white.
    pub paper_white: f32,
    /// Conditioning, lane 11; also scales the style presets.
    pub local_tone: f32,
    /// Conditioning, lanes 12 to 14.
    pub local_structure: f32,
    /// Conditioning, lane 13; negative follows `local_structure`.
    pub skin_structure: f32,
    /// Style preset, lane 10 and frame section 7.
    pub style: Style,
    /// Custom style in place of the preset's look.
    pub custom: Option<CustomStyle>,
    /// Blend of the (styled) result over the proxy.
    pub intensity: f32,
    /// 0 keeps only luminance changes.
    pub color_strength: f32,
    /// Cap of the temporal weight; comes with the model.
    pub blend_scale: f32,
}

impl Default for Parameters {
    /// The defaults of the renderer. `blend_scale` is the model's: 1 caps nothing.
    fn default() -> Self {
        Self {
            seed: 0,
            history_valid: false,
            auto_mask: true,
            paper_white: 1.0,
            local_tone: 1.0,
            local_structure: 1.0,
            skin_structure: -1.0,
            style: Style::Off,
            custom: None,
            intensity: 1.0,
            color_strength: 1.0,
            blend_scale: 1.0,
        }
    }
}

impl Parameters {
    /// The defaults for a single image: no history, no automatic mask.
    pub fn image() -> Self {
        Self { auto_mask: false, ..Self::default() }
    }

    /// Paper white with its floor.
    pub fn paper(&self) -> f32 {
        self.paper_white.max(MIN_PAPER_WHITE)
    }

    /// Checks that every number is finite.
    ///
    /// # Errors
    /// [`ParameterError::NotFinite`] names the first that is not.
    pub fn validate(&self) -> Result<(), ParameterError> {
        let custom = self.custom.unwrap_or_default();
        let named = [
            ("paper white", self.paper_white),
            ("local tone", self.local_tone),
            ("local structure", self.local_structure),
            ("skin structure", self.skin_structure),
            ("intensity", self.intensity),
            ("color strength", self.color_strength),
            ("blend scale", self.blend_scale),
            ("custom exposure", custom.exposure),
            ("custom contrast", custom.contrast),
            ("custom gamma", custom.gamma),
            ("custom saturation", custom.saturation),
            ("custom hue", custom.hue),
            ("custom vibrance", custom.vibrance),
            ("custom strength", custom.strength),
        ];
        match named.into_iter().find(|(_, value)| !value.is_finite()) {
            Some((name, value)) => Err(ParameterError::NotFinite { name, value }),
            None => Ok(()),
        }
    }
}

/// Why a parameter is refused.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum ParameterError {
    /// A number is infinite or not a number.
    #[error("{name} is {value}: it must be a finite number")]
    NotFinite {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f32,
    },
    /// No style has this number.
    #[error("style {id} is unknown: 0 is off, 1 natural, 2 cinematic")]
    Style {
        /// The number.
        id: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_inside_the_ranges() {
        let p = Parameters::default();
        assert_eq!(p.validate(), Ok(()));
        assert!(ranges::PAPER_WHITE.contains(&p.paper_white));
        assert!(ranges::SKIN_STRUCTURE.contains(&p.skin_structure));
        assert!(!Parameters::image().auto_mask && p.auto_mask);
        let c = CustomStyle::default();
        assert!(ranges::GAMMA.contains(&c.gamma) && ranges::STRENGTH.contains(&c.strength));
    }

    #[test]
    fn refusals_name_the_parameter() {
        let mut p = Parameters { local_tone: f32::NAN, ..Parameters::default() };
        assert!(p.validate().unwrap_err().to_string().contains("local tone"));
        p.local_tone = 1.0;
        p.custom = Some(CustomStyle { hue: f32::INFINITY, ..CustomStyle::default() });
        let message = p.validate().unwrap_err().to_string();
        assert!(message.contains("custom hue is inf"), "{message}");
        assert_eq!(Style::try_from(2), Ok(Style::Cinematic));
        assert!(Style::try_from(3).unwrap_err().to_string().contains('3'));
    }

    #[test]
    fn paper_white_has_a_floor() {
        let p = Parameters { paper_white: 0.0, ..Parameters::default() };
        assert_eq!(p.paper(), MIN_PAPER_WHITE);
    }
}
