//! Mipmaps of all pictures of a model, made on the device (`mipmap.comp`).

use crate::error::{Error, Result};
use crate::mesh::{Image, level_sizes};
use bytemuck::{Pod, Zeroable};
use gpu::{Bind, Buffer, CommandBuffer, ComputePipeline, DescriptorArena, Device};
use std::sync::Arc;

/// Most texels that one submission makes, so that none runs for long.
const SUBMISSION_TEXELS: u64 = 1 << 24;

/// Parameters of a pass, field for field as in the shader.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Push {
    size: [u32; 2],
    source_size: [u32; 2],
    target: u32,
    source: u32,
    srgb: u32,
}

/// One level of one picture, made of the level before.
fn levels(image: &Image, start: u32, srgb: bool) -> Vec<Push> {
    let sizes: Vec<[u32; 2]> = level_sizes(image.width, image.height).collect();
    let mut source = start;
    let pairs = sizes.windows(2).map(|pair| {
        let [source_size, size] = [pair[0], pair[1]];
        let target = source + source_size[0] * source_size[1];
        let push = Push { size, source_size, target, source, srgb: u32::from(srgb) };
        source = target;
        push
    });
    pairs.collect()
}

/// Fills the levels behind each picture, whose first level is in `texels` already. `starts` are
/// the first texels of the pictures; colours are averaged as light where `srgb` says so.
pub(crate) fn make(
    device: &Arc<Device>,
    texels: &Buffer,
    images: &[Image],
    starts: &[u32],
    srgb: &[bool],
) -> Result<()> {
    let all: Vec<Vec<Push>> =
        images.iter().zip(starts).zip(srgb).map(|((image, &start), &srgb)| levels(image, start, srgb)).collect();
    let deepest = all.iter().map(Vec::len).max().unwrap_or(0);
    if deepest == 0 {
        return Ok(());
    }
    const NAME: &str = "scene/mipmap";
    let shader = shaders::shader(NAME).ok_or(Error::Shader { name: NAME })?;
    let pipeline = ComputePipeline::new(device, shader, &[], NAME)?;
    let set = DescriptorArena::new(device, "scene mipmaps", 1)?.allocate(&pipeline, &[Bind::buffer(0, texels)])?;
    let [x, y, _] = pipeline.workgroup_size();
    for level in 0..deepest {
        // Pictures do not touch each other; only the levels of one must wait.
        let passes: Vec<&Push> = all.iter().filter_map(|levels| levels.get(level)).collect();
        let mut first = 0;
        while first < passes.len() {
            let mut texels = 0;
            let within = |push: &&&Push| {
                texels += u64::from(push.size[0]) * u64::from(push.size[1]);
                texels <= SUBMISSION_TEXELS
            };
            let count = passes[first..].iter().take_while(within).count().max(1);
            device.run_once("scene mipmaps", |commands: &mut CommandBuffer| {
                for push in &passes[first..first + count] {
                    let groups = [push.size[0].div_ceil(x), push.size[1].div_ceil(y), 1];
                    commands.dispatch(&pipeline, &set, bytemuck::bytes_of(*push), groups);
                }
                commands.compute_barrier();
            })?;
            first += count;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_each_other() {
        let image = Image { width: 8, height: 2, rgba: vec![0; 64] };
        let made: Vec<_> = levels(&image, 100, true).iter().map(|p| (p.size, p.source, p.target)).collect();
        assert_eq!(made, [([4, 1], 100, 116), ([2, 1], 116, 120), ([1, 1], 120, 122)]);
        assert_eq!(image.texels_with_mipmaps(), 16 + 4 + 2 + 1);
    }
}
