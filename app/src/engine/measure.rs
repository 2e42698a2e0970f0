//! Sums over the pixels of a frame: how far the network's picture is from its input, and whether the input's parts look
//! alive. Made on the device by one pass over the pixels, read back a frame or two later.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use gpu::{
    Bind, Buffer, BufferDesc, BufferUsage, CommandBuffer, ComputePipeline, DescriptorArena, DescriptorSet, Device,
    MemoryKind, Ticket,
};
use network::geometry::Extent;

/// Workgroups of the pass.
const GROUPS: u32 = 96;
/// Words that a workgroup writes.
const WORDS: usize = 10;
/// Shortest time between two passes.
const EVERY: Duration = Duration::from_millis(200);
/// Share of pixels without usable history from which on something is amiss.
const MUCH: f64 = 0.5;

/// The buffers of a frame, pixels of its size.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// RGBA8 words without the network.
    pub input: &'a Buffer,
    /// RGBA8 words with it; without it there is no effect to measure.
    pub neural: Option<&'a Buffer>,
    /// Linear scene colour, four halves.
    pub color: &'a Buffer,
    /// Depth in metres, f32.
    pub depth: &'a Buffer,
    /// Motion in uv units, two halves.
    pub motion: &'a Buffer,
    /// Size of all.
    pub size: Extent,
    /// Another number when the buffers are other ones.
    pub generation: u64,
    /// Whether the camera has moved since the previous frame.
    pub moved: bool,
    /// Whether the frame used its history.
    pub history: bool,
}

/// How far the network's picture is from its input, in 8-bit codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Effect {
    /// Mean difference of a channel, 0 to 255.
    pub mean: f64,
    /// Share of pixels that differ at all, 0 to 1.
    pub changed: f64,
    /// Largest difference of a channel.
    pub largest: u32,
}

/// What the frame's input looks like.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Probes {
    /// Share of pixels that move, 0 to 1.
    pub motion: f64,
    /// Least and largest depth in metres; `None` where there is no surface at all.
    pub depth: Option<[f32; 2]>,
    /// Share of pixels with a surface.
    pub surfaces: f64,
    /// Pixels whose colour is no number.
    pub nan: u64,
    /// Share of pixels without usable history; 1 when the frame had none.
    pub unusable: f64,
    /// Mean of the logarithm to base two of the brightness.
    pub light: f32,
    /// Whether the frame used its history.
    pub history: bool,
}

/// Both.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Measured {
    /// Of a frame that went through the network.
    pub effect: Option<Effect>,
    /// Of any frame.
    pub probes: Probes,
}

/// What about the probes is degenerate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// Nothing moves although something should.
    Motion,
    /// No surface, or all at one depth.
    Depth,
    /// Colours that are no numbers.
    Nan,
    /// Most of the picture has no usable history although the history is on.
    History,
}

impl Probes {
    /// What looks broken. `moves`: the scene or the camera is in motion.
    pub fn doubts(&self, moves: bool) -> Vec<Doubt> {
        let flat = self.depth.is_none_or(|[near, far]| near >= far);
        let all = [
            (moves && self.motion == 0.0, Doubt::Motion),
            (flat, Doubt::Depth),
            (self.nan > 0, Doubt::Nan),
            (self.history && self.unusable > MUCH, Doubt::History),
        ];
        all.into_iter().filter_map(|(amiss, doubt)| amiss.then_some(doubt)).collect()
    }
}

/// The pass, its results and when they come.
pub struct Measure {
    pipeline: ComputePipeline,
    sums: Buffer,
    set: Option<(u64, DescriptorSet)>,
    asked: Option<Asked>,
    last: Option<Instant>,
    device: Arc<Device>,
}

/// A pass that was recorded.
#[derive(Clone, Copy)]
struct Asked {
    pixels: u64,
    history: bool,
    neural: bool,
    /// The submission that it is part of, once that is known.
    ticket: Option<Ticket>,
}

/// Mirrors the push constants of `shaders/glsl/view/measure.comp`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Push {
    size: [u32; 2],
    groups: u32,
    moved: u32,
}

impl Measure {
    /// Prepares the pass.
    ///
    /// # Errors
    /// An error of the device.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let shader = shaders::shader("view/measure").context("shader view/measure is missing from this build")?;
        let size = 4 * WORDS as u64 * u64::from(GROUPS);
        let usage = BufferUsage::STORAGE_BUFFER;
        Ok(Self {
            pipeline: ComputePipeline::new(device, shader, &[], "view/measure")?,
            sums: Buffer::new(device, &BufferDesc { name: "measured", size, usage, memory: MemoryKind::Readback })?,
            set: None,
            asked: None,
            last: None,
            device: Arc::clone(device),
        })
    }

    /// Records the pass if it is time for one, behind the work that made the pictures.
    ///
    /// # Errors
    /// An error of the device.
    pub fn record(&mut self, cmd: &mut CommandBuffer, inputs: &Inputs<'_>) -> Result<()> {
        if self.asked.is_some() || self.last.is_some_and(|last| last.elapsed() < EVERY) {
            return Ok(());
        }
        let generation = 2 * inputs.generation + u64::from(inputs.neural.is_some());
        if self.set.as_ref().is_none_or(|(of, _)| *of != generation) {
            let neural = inputs.neural.unwrap_or(inputs.input);
            let buffers = [inputs.input, neural, inputs.color, inputs.depth, inputs.motion, &self.sums];
            let binds: Vec<Bind<'_>> = (0..).zip(buffers).map(|(index, buffer)| Bind::buffer(index, buffer)).collect();
            let set = DescriptorArena::new(&self.device, "measure", 1)?.allocate(&self.pipeline, &binds)?;
            self.set = Some((generation, set));
        }
        let Some((_, set)) = &self.set else { return Ok(()) };
        let Extent { width, height } = inputs.size;
        let push = Push { size: [width, height], groups: GROUPS, moved: u32::from(inputs.moved) };
        cmd.label_begin("measure");
        cmd.compute_barrier();
        cmd.dispatch(&self.pipeline, set, bytemuck::bytes_of(&push), [GROUPS, 1, 1]);
        cmd.host_read_barrier();
        cmd.label_end();
        let (pixels, neural) = (inputs.size.pixels() as u64, inputs.neural.is_some());
        self.asked = Some(Asked { pixels, history: inputs.history, neural, ticket: None });
        self.last = Some(Instant::now());
        Ok(())
    }

    /// What was recorded was submitted, or not after all.
    pub fn submitted(&mut self, ticket: Option<Ticket>) {
        match (&mut self.asked, ticket) {
            (Some(asked), Some(ticket)) => asked.ticket = asked.ticket.or(Some(ticket)),
            (asked @ Some(Asked { ticket: None, .. }), None) => *asked = None,
            _ => {}
        }
    }

    /// The results, once, when they have arrived.
    ///
    /// # Errors
    /// An error of the device.
    pub fn poll(&mut self) -> Result<Option<Measured>> {
        let Some(Asked { ticket: Some(ticket), .. }) = self.asked else { return Ok(None) };
        if !self.device.is_done(ticket)? {
            return Ok(None);
        }
        let Some(asked) = self.asked.take() else { return Ok(None) };
        let bytes = self.sums.mapped().unwrap_or_default();
        let (words, _) = bytes.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        Ok(Some(decode(&words, &asked)))
    }
}

fn decode(words: &[u32], asked: &Asked) -> Measured {
    let groups: Vec<&[u32; WORDS]> = words.as_chunks::<WORDS>().0.iter().collect();
    let sum = |word: usize| groups.iter().map(|group| u64::from(group[word])).sum::<u64>();
    let least = |word: usize| groups.iter().map(|group| group[word]).min().unwrap_or(0);
    let most = |word: usize| groups.iter().map(|group| group[word]).max().unwrap_or(0);
    let pixels = asked.pixels.max(1) as f64;
    let share = |word: usize| sum(word) as f64 / pixels;
    let numbers = asked.pixels.saturating_sub(sum(3)).max(1) as f64;
    let light: f64 = groups.iter().map(|group| f64::from(f32::from_bits(group[6]))).sum();
    let surfaces = share(5);
    Measured {
        effect: asked.neural.then(|| Effect {
            mean: sum(1) as f64 / (3.0 * pixels),
            changed: share(0),
            largest: most(7),
        }),
        probes: Probes {
            motion: share(2),
            depth: (surfaces > 0.0).then(|| [least(8), most(9)].map(f32::from_bits)),
            surfaces,
            nan: sum(3),
            unusable: if asked.history { share(4) } else { 1.0 },
            light: (light / numbers) as f32,
            history: asked.history,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu::testing::TestDevice;
    use half::f16;

    const SIZE: Extent = Extent::new(33, 20);

    fn buffer(device: &Arc<Device>, name: &str, words: &[u32]) -> Result<Buffer> {
        let size = 4 * words.len() as u64;
        let desc = BufferDesc { name, size, usage: BufferUsage::STORAGE_BUFFER, memory: MemoryKind::Device };
        let buffer = Buffer::new(device, &desc)?;
        device.upload(&buffer, 0, bytemuck::cast_slice(words))?;
        Ok(buffer)
    }

    fn halves(a: f32, b: f32) -> u32 {
        u32::from(f16::from_f32(a).to_bits()) | u32::from(f16::from_f32(b).to_bits()) << 16
    }

    #[test]
    fn the_device_counts_what_there_is() -> Result<()> {
        let device = TestDevice::open()?;
        let pixels = SIZE.pixels();
        let input = vec![0xff10_2030; pixels];
        let mut neural = input.clone();
        neural[5] = 0xff10_2031;
        neural[600] = 0xff90_2030;
        let mut color = [halves(0.5, 0.5), halves(0.5, 1.0)].repeat(pixels);
        color[2 * 7] = halves(f32::NAN, 0.5);
        let mut depth = vec![2.0_f32.to_bits(); pixels];
        (depth[0], depth[1], depth[2]) = (0, 0.5_f32.to_bits(), 40.0_f32.to_bits());
        let mut motion = vec![halves(0.0, 0.0); pixels];
        (motion[3], motion[4], motion[6]) = (halves(0.25, 0.0), halves(-0.9, 0.0), halves(f32::INFINITY, 0.0));
        let buffers = [
            buffer(&device, "input", &input)?,
            buffer(&device, "neural", &neural)?,
            buffer(&device, "color", &color)?,
            buffer(&device, "depth", &depth)?,
            buffer(&device, "motion", &motion)?,
        ];
        let [input, neural, color, depth, motion] = &buffers;
        let inputs = Inputs {
            input,
            neural: Some(neural),
            color,
            depth,
            motion,
            size: SIZE,
            generation: 1,
            moved: false,
            history: true,
        };
        let mut measure = Measure::new(&device)?;
        let mut run = |inputs: &Inputs<'_>| -> Result<Measured> {
            measure.last = None;
            let mut recorded = Ok(());
            device.run_once("measure", |cmd| recorded = measure.record(cmd, inputs))?;
            recorded?;
            measure.submitted(Some(device.last_ticket()));
            measure.poll()?.context("it has run")
        };
        let measured = run(&inputs)?;
        let count = |share: f64| (share * pixels as f64).round() as u64;
        let effect = measured.effect.unwrap_or_default();
        assert_eq!((count(effect.changed), effect.largest), (2, 128));
        assert!((effect.mean - 129.0 / (3 * pixels) as f64).abs() < 1e-9, "{effect:?}");
        let probes = &measured.probes;
        assert_eq!((count(probes.motion), probes.nan, count(probes.surfaces)), (3, 1, pixels as u64 - 1));
        assert_eq!(probes.depth, Some([0.5, 40.0]));
        assert!((probes.light + 1.0).abs() < 1e-3, "{}", probes.light);
        // Pixel 4 comes from outside, and pixel 6 from nowhere.
        assert_eq!(count(probes.unusable), 2);
        assert_eq!(probes.doubts(true), [Doubt::Nan]);
        // After a movement of the camera a surface that has no motion at all was not there before.
        let moved = run(&Inputs { moved: true, neural: None, generation: 2, ..inputs })?;
        assert_eq!(count(moved.probes.unusable), pixels as u64 - 2, "all but the sky and what moves inside");
        assert_eq!(moved.effect, None);
        assert_eq!(moved.probes.doubts(true), [Doubt::Nan, Doubt::History]);
        drop(measure);
        Ok(())
    }

    #[test]
    fn doubts_are_raised_where_something_is_broken() {
        let fine = Probes { motion: 0.5, depth: Some([1.0, 9.0]), surfaces: 0.9, history: true, ..Probes::default() };
        assert_eq!(fine.doubts(true), []);
        assert_eq!(Probes { motion: 0.0, ..fine.clone() }.doubts(true), [Doubt::Motion]);
        assert_eq!(Probes { motion: 0.0, ..fine.clone() }.doubts(false), []);
        assert_eq!(Probes { depth: Some([3.0, 3.0]), ..fine.clone() }.doubts(true), [Doubt::Depth]);
        assert_eq!(Probes { depth: None, ..fine.clone() }.doubts(true), [Doubt::Depth]);
        assert_eq!(Probes { unusable: 1.0, ..fine.clone() }.doubts(true), [Doubt::History]);
        assert_eq!(Probes { unusable: 1.0, history: false, ..fine }.doubts(true), []);
    }
}
