//! FLIP of the two sides on the device: the perceived difference of every pixel, and its mean. Made when it is first
//! shown, and only then computed.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use gpu::{
    Bind, Buffer, BufferDesc, BufferUsage, CommandBuffer, ComputePipeline, DescriptorArena, DescriptorSet, Device,
    MemoryKind,
};
use network::geometry::Extent;
use network::metrics::{DEFAULT_PIXELS_PER_DEGREE, shader_tables};

/// The pass for pictures that meet at one size.
pub struct Flip {
    pipeline: Arc<ComputePipeline>,
    set: DescriptorSet,
    map: Buffer,
    sums: Buffer,
    extent: Extent,
    _tables: Buffer,
}

/// A mean on its way from the device.
pub struct Mean {
    buffer: Buffer,
    extent: Extent,
    asked: bool,
}

/// Mirrors the push constants of `shaders/glsl/view/flip.comp`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Push {
    space: [u32; 2],
    sizes: [[u32; 2]; 2],
}

impl Flip {
    /// The pipeline; device lifetime. `same_sizes`: for pictures that both have the size at which they are compared.
    ///
    /// # Errors
    /// An error of the device.
    pub fn pipeline(device: &Arc<Device>, same_sizes: bool) -> Result<Arc<ComputePipeline>> {
        let shader = shaders::shader("view/flip").context("shader view/flip is missing from this build")?;
        Ok(Arc::new(ComputePipeline::new(device, shader, &[(0, u32::from(same_sizes))], "view/flip")?))
    }

    /// The pass for two pictures of RGBA8 words, the first being the reference; `extent` is the size at which they are
    /// compared. They must outlive every submission.
    ///
    /// # Errors
    /// No memory, or an error of the device.
    pub fn new(
        device: &Arc<Device>,
        pipeline: &Arc<ComputePipeline>,
        pictures: [&Buffer; 2],
        extent: Extent,
    ) -> Result<Self> {
        let words =
            shader_tables(DEFAULT_PIXELS_PER_DEGREE).context("the filters of FLIP are wider than their tables")?;
        let buffer = |name: &str, size: u64| {
            let usage = BufferUsage::STORAGE_BUFFER;
            Buffer::new(device, &BufferDesc { name, size, usage, memory: MemoryKind::Device })
        };
        let tables = buffer("FLIP tables", 4 * words.len() as u64)?;
        device.upload(&tables, 0, bytemuck::cast_slice(&words))?;
        let map = buffer("FLIP map", 4 * extent.pixels() as u64)?;
        let [across, down] = groups(pipeline, extent);
        let sums = buffer("FLIP sums", 4 * u64::from(across) * u64::from(down))?;
        let binds = [
            Bind::buffer(0, pictures[0]),
            Bind::buffer(1, pictures[1]),
            Bind::buffer(2, &tables),
            Bind::buffer(3, &map),
            Bind::buffer(4, &sums),
        ];
        let set = DescriptorArena::new(device, "FLIP", 1)?.allocate(pipeline, &binds)?;
        Ok(Self { pipeline: Arc::clone(pipeline), set, map, sums, extent, _tables: tables })
    }

    /// Records the computation for pictures of these sizes. Starts with a barrier for what dispatches before have written,
    /// and ends with one that makes the map visible to dispatches.
    pub fn record(&self, cmd: &mut CommandBuffer, sizes: [Extent; 2]) {
        let pair = |extent: Extent| [extent.width, extent.height];
        let push = Push { space: pair(self.extent), sizes: sizes.map(pair) };
        let [across, down] = groups(&self.pipeline, self.extent);
        cmd.label_begin("FLIP");
        cmd.compute_barrier();
        cmd.dispatch(&self.pipeline, &self.set, bytemuck::bytes_of(&push), [across, down, 1]);
        cmd.compute_barrier();
        cmd.label_end();
    }

    /// The perceived difference of every pixel, 0 to 1, f32.
    pub fn map(&self) -> &Buffer {
        &self.map
    }

    /// Makes room for a mean in `slot`, if there is none.
    ///
    /// # Errors
    /// No memory.
    pub fn prepare_mean(&self, device: &Arc<Device>, slot: &mut Option<Mean>) -> Result<()> {
        let size = self.sums.size();
        if slot.as_ref().is_none_or(|mean| mean.buffer.size() != size) {
            let usage = BufferUsage::STORAGE_BUFFER;
            let desc = BufferDesc { name: "FLIP mean", size, usage, memory: MemoryKind::Readback };
            *slot = Some(Mean { buffer: Buffer::new(device, &desc)?, extent: self.extent, asked: false });
        }
        Ok(())
    }

    /// Records reading the mean back into the room made for it.
    pub fn record_mean(&self, cmd: &mut CommandBuffer, mean: &mut Mean) {
        cmd.compute_to_transfer_barrier();
        cmd.copy_buffer(&self.sums, 0, &mean.buffer, 0, mean.buffer.size().min(self.sums.size()));
        cmd.host_read_barrier();
        (mean.asked, mean.extent) = (true, self.extent);
    }
}

impl Mean {
    /// The mean of a computation that has been waited for; nothing if none was asked for.
    pub fn take(&mut self) -> Option<f64> {
        if !std::mem::take(&mut self.asked) {
            return None;
        }
        let words = self.buffer.mapped()?.as_chunks::<4>().0.iter().map(|word| f64::from(f32::from_le_bytes(*word)));
        Some(words.sum::<f64>() / self.extent.pixels() as f64)
    }
}

fn groups(pipeline: &ComputePipeline, extent: Extent) -> [u32; 2] {
    let [x, y, _] = pipeline.workgroup_size();
    [extent.width.div_ceil(x), extent.height.div_ceil(y)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu::testing::TestDevice;
    use network::metrics::{Rgb8, flip};

    /// A picture with edges, gradients, noise and flat parts; the second differs by colour, by noise and by a shift.
    fn picture(extent: Extent, second: bool) -> Vec<u8> {
        let pixel = |i: u32| {
            let (x, y) = (i % extent.width, i / extent.width);
            let noise = (x.wrapping_mul(73) ^ y.wrapping_mul(179)).wrapping_mul(2_654_435_761) >> 24;
            let mut p = [(x * 5) % 256, (y * 9) % 256, ((x / 8 + y / 8) % 2) * 200];
            if second && x > extent.width / 2 {
                p = [(p[0] + noise / 4).min(255), p[1], p[2] / 2 + 20];
            }
            if second && y > extent.height / 2 {
                p[1] = ((y + 2) * 9) % 256;
            }
            [p[0] as u8, p[1] as u8, p[2] as u8, 255]
        };
        (0..extent.pixels() as u32).flat_map(pixel).collect()
    }

    fn uploaded(device: &TestDevice, bytes: &[u8]) -> Result<Buffer> {
        let usage = BufferUsage::STORAGE_BUFFER;
        let desc = BufferDesc { name: "picture", size: bytes.len() as u64, usage, memory: MemoryKind::Device };
        let buffer = Buffer::new(device, &desc)?;
        device.upload(&buffer, 0, bytes)?;
        Ok(buffer)
    }

    /// Map and mean of two pictures at the size of the first.
    fn computed(device: &TestDevice, a: (&[u8], Extent), b: (&[u8], Extent)) -> Result<(Vec<f32>, f64)> {
        let (first, second) = (uploaded(device, a.0)?, uploaded(device, b.0)?);
        let pipeline = Flip::pipeline(device, a.1 == b.1)?;
        let pass = Flip::new(device, &pipeline, [&first, &second], a.1)?;
        let mut slot = None;
        pass.prepare_mean(device, &mut slot)?;
        let mean = slot.as_mut().context("room for a mean")?;
        device.run_once("FLIP", |cmd| {
            pass.record(cmd, [a.1, b.1]);
            pass.record_mean(cmd, mean);
        })?;
        let bytes = device.download(pass.map(), 0, pass.map().size())?;
        let map = bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect();
        Ok((map, mean.take().context("no mean")?))
    }

    #[test]
    fn the_device_computes_the_figure_of_the_cpu() -> Result<()> {
        let device = TestDevice::open()?;
        // Not whole workgroups; one smaller than a filter.
        for extent in [Extent::new(83, 61), Extent::new(5, 3)] {
            let (a, b) = (picture(extent, false), picture(extent, true));
            let (map, mean) = computed(&device, (&a, extent), (&b, extent))?;
            let rgb = |bytes: &[u8]| Rgb8::from_rgba(extent, bytes).context("a picture");
            let expected = flip(&rgb(&a)?, &rgb(&b)?, DEFAULT_PIXELS_PER_DEGREE);
            let off = map.iter().zip(&expected.values).map(|(got, want)| (got - want).abs()).fold(0.0, f32::max);
            println!("{extent}: mean {mean:.6} for {:.6}, largest deviation of a pixel {off:.2e}", expected.mean());
            assert!(expected.mean() > 0.05 && expected.largest() > 0.2, "the pictures differ");
            assert!(off < 1e-3, "{extent}: a pixel is off by {off}");
            assert!((mean - expected.mean()).abs() < 1e-4, "{extent}: mean {mean} for {}", expected.mean());
        }
        Ok(())
    }

    #[test]
    fn equal_pictures_have_none_and_sizes_meet() -> Result<()> {
        let device = TestDevice::open()?;
        let extent = Extent::new(40, 24);
        let a = picture(extent, false);
        let (map, mean) = computed(&device, (&a, extent), (&a, extent))?;
        assert!(mean == 0.0 && map.iter().all(|value| *value == 0.0));
        // Every pixel twice in each direction is the same picture again.
        let double = Extent::new(80, 48);
        let at = |i: u32| (i / double.width / 2 * extent.width + i % double.width / 2) as usize * 4;
        let b: Vec<u8> = (0..double.pixels() as u32).flat_map(|i| a[at(i)..at(i) + 4].to_vec()).collect();
        assert_eq!(computed(&device, (&a, extent), (&b, double))?.1, 0.0);
        assert_eq!(computed(&device, (&b, double), (&a, extent))?.1, 0.0);
        Ok(())
    }
}
