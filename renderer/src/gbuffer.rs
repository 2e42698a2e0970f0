//! What a frame is rendered into.

use crate::error::{Error, Result};
use crate::gpu_data::{TABLE_BYTES, TABLES};
use crate::picture::Picture;
use crate::resident::Resident;
use crate::surround::Surround;
use gpu::{Bind, Buffer, BufferDesc, BufferUsage, ComputePipeline, DescriptorArena, DescriptorSet};
use gpu::{Device, MemoryKind};
use half::f16;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of each value in its buffer.
const COLOR_BYTES: u64 = 8;
const WORD_BYTES: u64 = 4;
/// Bytes of a pixel of the f32 sum.
const SUM_BYTES: u64 = 16;

/// Storage buffers for one frame of `width` x `height` pixels, rows y * width + x, y down.
/// Lives as long as its extent.
pub struct GBuffer {
    width: u32,
    height: u32,
    color: Buffer,
    depth: Buffer,
    motion: Buffer,
    id: Buffer,
    tables: Buffer,
    sets: Mutex<Sets>,
    device: Arc<Device>,
}

/// Descriptor sets, made when first needed, and what only many-sample frames need. Each has a pool of its own, which goes
/// with it: another scene at the same size leaves nothing behind.
struct Sets {
    /// The model and the environment that the sets were made for.
    made_for: (Option<u64>, u64),
    single: Option<DescriptorSet>,
    accumulate: Option<(DescriptorSet, Buffer)>,
}

fn storage(device: &Arc<Device>, name: &str, size: u64) -> Result<Buffer> {
    let desc = BufferDesc { name, size, usage: BufferUsage::STORAGE_BUFFER, memory: MemoryKind::Device };
    Ok(Buffer::new(device, &desc)?)
}

impl GBuffer {
    /// Buffers for an image of `width` x `height` pixels, 20 bytes a pixel. Their contents are
    /// undefined until the first frame.
    ///
    /// # Errors
    /// [`Error::Empty`] for no pixels; a device error when a buffer is too large for the device
    /// or there is no memory.
    pub fn new(device: &Arc<Device>, width: u32, height: u32) -> Result<Self> {
        if width == 0 || height == 0 {
            return Err(Error::Empty { width, height });
        }
        let pixels = u64::from(width) * u64::from(height);
        Ok(Self {
            width,
            height,
            color: storage(device, "scene color", pixels * COLOR_BYTES)?,
            depth: storage(device, "scene depth", pixels * WORD_BYTES)?,
            motion: storage(device, "scene motion", pixels * WORD_BYTES)?,
            id: storage(device, "scene ids", pixels * WORD_BYTES)?,
            tables: storage(device, "scene tables", TABLE_BYTES)?,
            sets: Mutex::new(Sets { made_for: (None, 0), single: None, accumulate: None }),
            device: Arc::clone(device),
        })
    }

    /// Bytes that an image of this size takes, without the sum of many-sample frames.
    #[must_use]
    pub fn bytes(width: u32, height: u32) -> u64 {
        u64::from(width) * u64::from(height) * (COLOR_BYTES + 3 * WORD_BYTES) + TABLE_BYTES
    }

    /// Width in pixels.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Four halves a pixel: linear scene-referred RGB, not negative and at most 60000; alpha 1.
    #[must_use]
    pub fn color(&self) -> &Buffer {
        &self.color
    }

    /// One f32 a pixel: distance along the camera's forward axis in metres; 0 for no surface.
    #[must_use]
    pub fn depth(&self) -> &Buffer {
        &self.depth
    }

    /// Two halves a pixel (x in the low one): motion from this frame to the previous one in uv
    /// units, y down, without jitter; (0, 0) where there is no surface or it was outside the
    /// previous image. So the sky has no motion, even when the camera turns.
    #[must_use]
    pub fn motion(&self) -> &Buffer {
        &self.motion
    }

    /// One u32 a pixel: index of the object plus 1; 0 for no surface.
    #[must_use]
    pub fn id(&self) -> &Buffer {
        &self.id
    }

    pub(crate) fn tables(&self) -> &Buffer {
        &self.tables
    }

    /// Reads the frame back, after all work submitted before.
    ///
    /// # Errors
    /// A device error.
    pub fn read(&self) -> Result<Picture> {
        fn halves<const N: usize>(bytes: &[u8]) -> Vec<[f16; N]> {
            let pair = |b: &[u8]| f16::from_le_bytes([b[0], b[1]]);
            let pixel = |p: &[u8]| std::array::from_fn(|i| pair(&p[2 * i..]));
            bytes.chunks_exact(2 * N).map(pixel).collect()
        }
        let get = |buffer: &Buffer| self.device.download(buffer, 0, buffer.size());
        let words = |bytes: Vec<u8>| -> Vec<u32> {
            let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            bytes.chunks_exact(4).map(word).collect()
        };
        Ok(Picture {
            width: self.width as usize,
            height: self.height as usize,
            color: halves(&get(&self.color)?),
            depth: words(get(&self.depth)?).into_iter().map(f32::from_bits).collect(),
            motion: halves(&get(&self.motion)?),
            id: words(get(&self.id)?),
        })
    }

    /// The tables, the four outputs, the environment and the model.
    fn binds<'a>(&'a self, model: Option<&'a Resident>, surround: &'a Surround) -> Vec<Bind<'a>> {
        let table = |i: u32| {
            let (start, end) = (TABLES[i as usize], TABLES[i as usize + 1]);
            Bind::range(i, &self.tables, start, end - start)
        };
        let mut binds = vec![
            table(0),
            table(1),
            table(2),
            table(3),
            table(4),
            Bind::buffer(5, &self.color),
            Bind::buffer(6, &self.depth),
            Bind::buffer(7, &self.motion),
            Bind::buffer(8, &self.id),
            surround.bind(),
        ];
        binds.extend(model.into_iter().flat_map(Resident::binds));
        binds
    }

    /// The sets, without those made for another model or environment.
    fn sets_for(&self, model: Option<&Resident>, surround: &Surround) -> MutexGuard<'_, Sets> {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = (model.map(Resident::id), surround.id());
        if sets.made_for != wanted {
            (sets.made_for, sets.single, sets.accumulate) = (wanted, None, None);
        }
        sets
    }

    fn allocate(&self, pipeline: &ComputePipeline, binds: &[Bind<'_>]) -> Result<DescriptorSet> {
        Ok(DescriptorArena::new(&self.device, "scene", 1)?.allocate(pipeline, binds)?)
    }

    /// Calls `f` with the descriptor set of single-sample frames.
    pub(crate) fn with_single(
        &self,
        pipeline: &ComputePipeline,
        model: Option<&Resident>,
        surround: &Surround,
        f: impl FnOnce(&DescriptorSet),
    ) -> Result<()> {
        let mut sets = self.sets_for(model, surround);
        let set = match sets.single.take() {
            Some(set) => set,
            None => self.allocate(pipeline, &self.binds(model, surround))?,
        };
        f(sets.single.insert(set));
        Ok(())
    }

    /// Calls `f` with the descriptor set of many-sample frames.
    pub(crate) fn with_accumulate(
        &self,
        pipeline: &ComputePipeline,
        model: Option<&Resident>,
        surround: &Surround,
        f: impl FnOnce(&DescriptorSet),
    ) -> Result<()> {
        let mut sets = self.sets_for(model, surround);
        let made = match sets.accumulate.take() {
            Some(made) => made,
            None => {
                let pixels = u64::from(self.width) * u64::from(self.height);
                let sum = storage(&self.device, "scene sample sum", pixels * SUM_BYTES)?;
                let mut binds = self.binds(model, surround);
                binds.push(Bind::buffer(9, &sum));
                (self.allocate(pipeline, &binds)?, sum)
            }
        };
        f(&sets.accumulate.insert(made).0);
        Ok(())
    }
}
