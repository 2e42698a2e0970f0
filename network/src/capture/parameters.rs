//! The parameters of a frame as a document.

use serde::{Deserialize, Serialize};

use crate::frame::{CustomStyle, ParameterError, Parameters, Style};

/// [`Parameters`] as they stand in `frame.json`; f32 survive the decimal form.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FrameParameters {
    /// Noise seed.
    pub seed: u32,
    /// Whether the history was used.
    pub history_valid: bool,
    /// What lanes 12 to 14 carry.
    pub auto_mask: bool,
    /// Scene value of display white.
    pub paper_white: f32,
    /// Conditioning.
    pub local_tone: f32,
    /// Conditioning.
    pub local_structure: f32,
    /// Conditioning.
    pub skin_structure: f32,
    /// Style preset, 0 to 2.
    pub style: u32,
    /// Exposure, contrast, gamma, saturation, hue, vibrance, strength of a custom style.
    pub custom: Option<[f32; 7]>,
    /// Blend over the proxy.
    pub intensity: f32,
    /// Share of the colour change.
    pub color_strength: f32,
    /// Cap of the temporal weight.
    pub blend_scale: f32,
}

impl From<&Parameters> for FrameParameters {
    fn from(p: &Parameters) -> Self {
        Self {
            seed: p.seed,
            history_valid: p.history_valid,
            auto_mask: p.auto_mask,
            paper_white: p.paper_white,
            local_tone: p.local_tone,
            local_structure: p.local_structure,
            skin_structure: p.skin_structure,
            style: p.style.id(),
            custom: p.custom.map(|c| [c.exposure, c.contrast, c.gamma, c.saturation, c.hue, c.vibrance, c.strength]),
            intensity: p.intensity,
            color_strength: p.color_strength,
            blend_scale: p.blend_scale,
        }
    }
}

impl TryFrom<&FrameParameters> for Parameters {
    type Error = ParameterError;

    fn try_from(p: &FrameParameters) -> Result<Self, ParameterError> {
        let custom = p.custom.map(|[exposure, contrast, gamma, saturation, hue, vibrance, strength]| CustomStyle {
            exposure,
            contrast,
            gamma,
            saturation,
            hue,
            vibrance,
            strength,
        });
        let parameters = Self {
            seed: p.seed,
            history_valid: p.history_valid,
            auto_mask: p.auto_mask,
            paper_white: p.paper_white,
            local_tone: p.local_tone,
            local_structure: p.local_structure,
            skin_structure: p.skin_structure,
            style: Style::try_from(p.style)?,
            custom,
            intensity: p.intensity,
            color_strength: p.color_strength,
            blend_scale: p.blend_scale,
        };
        parameters.validate()?;
        Ok(parameters)
    }
}
