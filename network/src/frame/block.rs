//! The push constants of the passes. Mirrors `shaders/glsl/frame/push.glsl`.

use bytemuck::{Pod, Zeroable};

use super::Parameters;
use super::cpu::math::saturate;
use super::cpu::preprocess::conditioning;
use super::cpu::style::Look;
use crate::geometry::{Extent, Geometry};

/// The history may be used.
pub(super) const HISTORY_VALID: u32 = 1;
/// A style is active.
pub(super) const STYLED: u32 = 2;

/// One block for all passes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct Block {
    pub valid: [u32; 2],
    pub field: [u32; 2],
    pub source: [u32; 2],
    pub first_row: u32,
    pub rows: u32,
    pub seed: u32,
    pub flags: u32,
    pub conditioning: [u32; 3],
    pub paper: f32,
    pub blend_scale: f32,
    pub intensity: f32,
    pub color_strength: f32,
    pub exposure: f32,
    pub contrast: f32,
    pub saturation: f32,
    pub gamma: f32,
    pub hue: f32,
    pub vibrance: f32,
}

impl Block {
    /// The block of a frame, without its rows. `source` is the extent of the image at binding 0.
    pub fn new(geometry: &Geometry, source: Extent, p: &Parameters, history: bool) -> Self {
        let pair = |e: Extent| [e.width, e.height];
        let look = Look::of(p);
        let lanes = conditioning(p);
        let word = |i: usize| u32::from(lanes[i]) | u32::from(lanes[i + 1]) << 16;
        let flags = if history { HISTORY_VALID } else { 0 } | if look.is_some() { STYLED } else { 0 };
        let look =
            look.unwrap_or(Look { exposure: 1.0, contrast: 0.0, saturation: 1.0, gamma: 1.0, hue: 0.0, vibrance: 1.0 });
        Self {
            valid: pair(geometry.valid),
            field: pair(geometry.field),
            source: pair(source),
            first_row: 0,
            rows: 0,
            seed: p.seed,
            flags,
            conditioning: [word(0), word(2), word(4)],
            paper: p.paper(),
            blend_scale: saturate(p.blend_scale),
            intensity: p.intensity,
            color_strength: p.color_strength,
            exposure: look.exposure,
            contrast: look.contrast,
            saturation: look.saturation,
            gamma: look.gamma,
            hue: look.hue,
            vibrance: look.vibrance,
        }
    }
}
