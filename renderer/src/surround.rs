//! The maps of an environment on the device (`scene_environment.glsl`).

use crate::error::{Error, Result};
use crate::panorama::{BRIGHT_SIZE, Bright, IRRADIANCE_SIZE};
use crate::scene::{Scene, Sky, Sun, Surroundings};
use bytemuck::{Pod, Zeroable};
use gpu::{Bind, Buffer, BufferDesc, BufferUsage, CommandBuffer, ComputePipeline, DescriptorArena, Device, MemoryKind};
use half::f16;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Texels of the picture of the built-in sky.
const SKY_SIZE: [u32; 2] = [512, 256];
/// Texels in front of all maps: where they are.
const HEADER: u32 = 8;
/// Sizes of the maps of mirrored light and of light on matte surfaces, as in the shaders.
const GLOSSY_SIZE: [u32; 2] = [128, 64];
const GLOSSY_LEVELS: u32 = 6;
/// Largest map that the light on matte surfaces is summed over.
const DIFFUSE_SOURCE: u32 = 128;
/// Bytes of a texel.
const TEXEL: u64 = 8;

type Texel = [u32; 2];

static NEXT: AtomicU64 = AtomicU64::new(1);

/// What the maps were made of.
#[derive(Clone, Debug, PartialEq)]
enum Made {
    Of(Arc<crate::panorama::Panorama>),
    Sky(Sky, Sun),
    /// No environment: nothing is in them.
    Nothing,
}

impl Made {
    fn from(scene: &Scene) -> Self {
        match scene.environment.as_ref().map(|e| &e.source) {
            Some(Surroundings::Panorama(panorama)) => Self::Of(Arc::clone(panorama)),
            Some(Surroundings::Sky) => Self::Sky(scene.sky, scene.sun),
            None => Self::Nothing,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Of(a), Self::Of(b)) => Arc::ptr_eq(a, b),
            (a, b) => a == b,
        }
    }
}

/// The maps; they live as long as the renderer, or until the surroundings change.
pub(crate) struct Surround {
    id: u64,
    made: Made,
    buffer: Buffer,
}

/// Parameters of the passes, field for field as in `environment.comp`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Push {
    size: [u32; 2],
    target: u32,
    source: u32,
    source_size: [u32; 2],
    levels: u32,
    roughness: f32,
    zenith: [f32; 4],
    horizon: [f32; 4],
    bounce: [f32; 4],
    sun_direction: [f32; 4],
    sun_radiance: [f32; 4],
}

fn texels([width, height]: [u32; 2]) -> u32 {
    width * height
}

/// Where everything is, in texels.
struct Layout {
    /// The picture, then maps of half the size each down to one texel.
    halves: Vec<([u32; 2], u32)>,
    glossy: u32,
    diffuse: u32,
    /// Bright parts, if any: their light on matte surfaces, their cells and the alias table.
    bright: Option<[u32; 3]>,
    end: u32,
}

impl Layout {
    fn new(size: [u32; 2], has_bright: bool) -> Self {
        let mut at = HEADER;
        let mut take = |count: u32| {
            let start = at;
            at += count;
            start
        };
        let mut halves = vec![(size, take(texels(size)))];
        let mut size = size;
        while size != [1, 1] {
            size = size.map(|s| (s / 2).max(1));
            halves.push((size, take(texels(size))));
        }
        let glossy = take(GLOSSY_LEVELS * texels(GLOSSY_SIZE));
        let diffuse = take(texels(IRRADIANCE_SIZE));
        let bright =
            has_bright.then(|| [take(texels(IRRADIANCE_SIZE)), take(texels(BRIGHT_SIZE)), take(texels(BRIGHT_SIZE))]);
        Self { halves, glossy, diffuse, bright, end: at }
    }

    fn header(&self, limit: f32) -> [Texel; HEADER as usize] {
        let (size, picture) = self.halves[0];
        let [bright_diffuse, cells, alias] = self.bright.unwrap_or_default();
        let mut header = [[0; 2]; HEADER as usize];
        header[..5].copy_from_slice(&[
            size,
            [picture, self.glossy],
            [self.diffuse, bright_diffuse],
            [cells, alias],
            [limit.to_bits(), 0],
        ]);
        header
    }
}

fn packed(colour: &[f32; 3]) -> Texel {
    let [r, g, b] = colour.map(|v| u32::from(f16::from_f32(v.min(crate::panorama::RADIANCE_LIMIT)).to_bits()));
    [r | g << 16, b | u32::from(f16::ONE.to_bits()) << 16]
}

impl Surround {
    /// Makes the maps of a scene's environment.
    pub(crate) fn new(device: &Arc<Device>, scene: &Scene) -> Result<Self> {
        let made = Made::from(scene);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (size, bright) = match &made {
            Made::Nothing => {
                return Ok(Self { id, made, buffer: buffer(device, u64::from(HEADER) * TEXEL)? });
            }
            Made::Of(panorama) => (panorama.size(), Some(panorama.bright()).filter(|b| !b.is_empty())),
            Made::Sky(..) => (SKY_SIZE, None),
        };
        let layout = Layout::new(size, bright.is_some());
        let maps = buffer(device, u64::from(layout.end) * TEXEL)?;
        let put = |at: u32, texels: &[Texel]| device.upload(&maps, u64::from(at) * TEXEL, bytemuck::cast_slice(texels));
        put(0, &layout.header(bright.map_or(f32::INFINITY, |b| b.limit)))?;
        if let Made::Of(panorama) = &made {
            // In parts, so that no second copy of the whole is needed.
            let width = size[0] as usize;
            for (rows, first) in panorama.pixels().chunks(256 * width).zip((0..).step_by(256)) {
                let texels: Vec<Texel> = rows.iter().map(packed).collect();
                put(layout.halves[0].1 + first * size[0], &texels)?;
            }
        }
        if let (Some(bright), Some(at)) = (bright, layout.bright) {
            put_bright(bright, at, &put)?;
        }
        prefilter(device, &maps, &layout, &made)?;
        Ok(Self { id, made, buffer: maps })
    }

    /// A number that no other maps have.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Whether a scene has surroundings.
    pub(crate) fn is_any(&self) -> bool {
        self.made != Made::Nothing
    }

    /// Whether a scene can be drawn with these maps.
    pub(crate) fn is_of(&self, scene: &Scene) -> bool {
        scene.environment.is_none() || self.made.is_same(&Made::from(scene))
    }

    pub(crate) fn bind(&self) -> Bind<'_> {
        Bind::buffer(13, &self.buffer)
    }
}

fn buffer(device: &Arc<Device>, size: u64) -> Result<Buffer> {
    let desc =
        BufferDesc { name: "scene environment", size, usage: BufferUsage::STORAGE_BUFFER, memory: MemoryKind::Device };
    Ok(Buffer::new(device, &desc)?)
}

fn put_bright(
    bright: &Bright,
    [diffuse, cells, alias]: [u32; 3],
    put: &impl Fn(u32, &[Texel]) -> gpu::Result<()>,
) -> Result<()> {
    put(diffuse, &bright.irradiance.iter().map(packed).collect::<Vec<_>>())?;
    put(cells, &bright.light.iter().map(packed).collect::<Vec<_>>())?;
    put(alias, &bright.alias.iter().map(|&(keep, other)| [keep.to_bits(), other]).collect::<Vec<_>>())?;
    Ok(())
}

/// Runs the passes that make all maps of the picture, and the picture of the built-in sky.
fn prefilter(device: &Arc<Device>, maps: &Buffer, layout: &Layout, made: &Made) -> Result<()> {
    let pipeline = |name: &'static str| -> Result<ComputePipeline> {
        let shader = shaders::shader(name).ok_or(Error::Shader { name })?;
        Ok(ComputePipeline::new(device, shader, &[], name)?)
    };
    let [sky, halve, glossy, diffuse] = [
        pipeline("scene/environment.sky")?,
        pipeline("scene/environment.halve")?,
        pipeline("scene/environment.glossy")?,
        pipeline("scene/environment.diffuse")?,
    ];
    let mut arena = DescriptorArena::new(device, "scene environment", 1)?;
    let set = arena.allocate(&halve, &[Bind::buffer(0, maps)])?;
    let pass = |commands: &mut CommandBuffer, pipeline: &ComputePipeline, push: &Push| {
        let [x, y, _] = pipeline.workgroup_size();
        let groups = [push.size[0].div_ceil(x), push.size[1].div_ceil(y), 1];
        commands.dispatch(pipeline, &set, bytemuck::bytes_of(push), groups);
        commands.compute_barrier();
    };
    device.run_once("scene environment", |commands| {
        commands.label_begin("scene environment");
        if let Made::Sky(look, sun) = made {
            let (size, target) = layout.halves[0];
            let [zenith, horizon, bounce, sun_direction, sun_radiance] =
                [look.zenith, look.horizon, look.bounce, sun.direction, sun.radiance].map(|v| v.extend(0.0).to_array());
            let push = Push { size, target, zenith, horizon, bounce, sun_direction, sun_radiance, ..Push::zeroed() };
            pass(commands, &sky, &push);
        }
        for (level, pair) in (0..).zip(layout.halves.windows(2)) {
            let [(source_size, source), (size, target)] = [pair[0], pair[1]];
            pass(commands, &halve, &Push { size, target, source, source_size, levels: level, ..Push::zeroed() });
        }
        // The first half: everything from there on is without bright parts.
        let (source_size, source) = layout.halves[layout.halves.len().min(2) - 1];
        let levels = layout.halves.len().saturating_sub(1).max(1) as u32;
        for level in 0..GLOSSY_LEVELS {
            let push = Push {
                size: GLOSSY_SIZE,
                target: layout.glossy + level * texels(GLOSSY_SIZE),
                source,
                source_size,
                levels,
                roughness: (level + 1) as f32 / GLOSSY_LEVELS as f32,
                ..Push::zeroed()
            };
            pass(commands, &glossy, &push);
        }
        let small = layout.halves.iter().skip(1).find(|(size, _)| size[0] <= DIFFUSE_SOURCE);
        let &(source_size, source) = small.unwrap_or(&layout.halves[layout.halves.len() - 1]);
        let push = Push { size: IRRADIANCE_SIZE, target: layout.diffuse, source, source_size, ..Push::zeroed() };
        pass(commands, &diffuse, &push);
        commands.label_end();
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_lie_one_after_the_other() {
        let layout = Layout::new([8, 4], true);
        let sizes: Vec<_> = layout.halves.iter().map(|(size, _)| *size).collect();
        assert_eq!(sizes, [[8, 4], [4, 2], [2, 1], [1, 1]]);
        let [diffuse, cells, alias] = layout.bright.unwrap();
        assert_eq!(layout.glossy, HEADER + 32 + 8 + 2 + 1);
        assert_eq!(diffuse, layout.diffuse + 512);
        assert_eq!((cells, alias, layout.end), (diffuse + 512, diffuse + 512 + 32768, alias + 32768));
    }
}
