//! The parameters of the passes: push constants, which a recording holds for good, and what may change from frame to frame,
//! which lies in a buffer. Mirrors `shaders/glsl/frame/push.glsl`.

use std::mem::{offset_of, size_of};
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use gpu::{Buffer, BufferDesc, BufferUsage, CommandBuffer, Device, MemoryKind};

use super::cpu::math::saturate;
use super::cpu::preprocess::conditioning;
use super::cpu::style::Look;
use super::{FrameError, Parameters};
use crate::geometry::{Extent, Geometry};
use crate::replay::DynamicField;

/// The history may be used.
pub(super) const HISTORY_VALID: u32 = 1;
/// A style is active.
pub(super) const STYLED: u32 = 2;
/// Binding of the buffer with a [`Dynamic`].
pub(super) const PARAMETERS: u32 = 9;

/// The push constants of all passes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct Block {
    pub valid: [u32; 2],
    pub field: [u32; 2],
    pub source: [u32; 2],
    pub first_row: u32,
    pub rows: u32,
}

impl Block {
    /// Rows `first_row..first_row + rows` of a frame. `source` is the extent of the image at binding 0.
    pub fn new(geometry: &Geometry, source: Extent, first_row: u32, rows: u32) -> Self {
        let pair = |e: Extent| [e.width, e.height];
        Self { valid: pair(geometry.valid), field: pair(geometry.field), source: pair(source), first_row, rows }
    }
}

/// What may change from frame to frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct Dynamic {
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

impl Dynamic {
    /// The parameters of a frame, and whether it uses the history.
    pub fn new(p: &Parameters, history: bool) -> Self {
        let look = Look::of(p);
        let lanes = conditioning(p);
        let word = |i: usize| u32::from(lanes[i]) | u32::from(lanes[i + 1]) << 16;
        let flags = if history { HISTORY_VALID } else { 0 } | if look.is_some() { STYLED } else { 0 };
        let look =
            look.unwrap_or(Look { exposure: 1.0, contrast: 0.0, saturation: 1.0, gamma: 1.0, hue: 0.0, vibrance: 1.0 });
        Self {
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

    /// A buffer for it.
    pub fn buffer(device: &Arc<Device>, name: &str) -> Result<Buffer, FrameError> {
        let size = size_of::<Self>() as u64;
        let usage = BufferUsage::STORAGE_BUFFER;
        Ok(Buffer::new(device, &BufferDesc { name, size, usage, memory: MemoryKind::Device })?)
    }

    /// Records the bytes into a buffer: they travel in the command buffer, so frames in flight do not share any. Dispatches
    /// before have read theirs, dispatches after read these.
    pub fn write(&self, cmd: &mut CommandBuffer, buffer: &Buffer) {
        cmd.compute_to_transfer_barrier();
        cmd.update_buffer(buffer, 0, bytemuck::bytes_of(self));
        cmd.transfer_to_compute_barrier();
    }
}

/// Every field that may change between replays of a recorded frame. All but the last lie in the parameter buffer.
pub fn dynamic_fields() -> Vec<DynamicField> {
    let field = |name, kind, offset: usize, bytes| DynamicField { name, kind, offset: Some(offset as u32), bytes };
    let float = |name, offset| field(name, "f32, finite", offset, 4);
    vec![
        field("seed", "u32, any", offset_of!(Dynamic, seed), 4),
        field("flags", "u32, bit 0 history valid, bit 1 styled", offset_of!(Dynamic, flags), 4),
        field("conditioning", "6 halves, finite", offset_of!(Dynamic, conditioning), 12),
        float("paper", offset_of!(Dynamic, paper)),
        field("blend_scale", "f32, 0 to 1", offset_of!(Dynamic, blend_scale), 4),
        float("intensity", offset_of!(Dynamic, intensity)),
        float("color_strength", offset_of!(Dynamic, color_strength)),
        float("exposure", offset_of!(Dynamic, exposure)),
        float("contrast", offset_of!(Dynamic, contrast)),
        float("saturation", offset_of!(Dynamic, saturation)),
        float("gamma", offset_of!(Dynamic, gamma)),
        float("hue", offset_of!(Dynamic, hue)),
        float("vibrance", offset_of!(Dynamic, vibrance)),
        DynamicField { name: "history parity", kind: "0 or 1, selects the recording", offset: None, bytes: 0 },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dynamic_fields_fill_the_buffer_without_gaps() {
        let mut next = 0;
        for field in dynamic_fields() {
            let Some(offset) = field.offset else { continue };
            assert_eq!(offset, next, "{}", field.name);
            next = offset + field.bytes;
        }
        assert_eq!(next as usize, size_of::<Dynamic>());
    }
}
