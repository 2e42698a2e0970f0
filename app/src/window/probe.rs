//! Values of pixels at the pointer, read back with a frame of the window that was drawn a moment ago.

use std::sync::Arc;

use anyhow::Result;
use gpu::{Buffer, BufferDesc, BufferUsage, CommandBuffer, Device, MemoryKind};
use half::f16;
use network::geometry::Extent;

/// Pixels of the magnifier on each side; odd, so that the pointer's pixel is the middle one.
pub const SIDE: usize = 11;
/// Bytes of one picture's neighbourhood, rows of RGBA8 words.
const PATCH: u64 = (4 * SIDE * SIDE) as u64;
/// Where the values behind the two neighbourhoods begin.
const VALUES: u64 = 2 * PATCH;
/// Bytes of a pixel of four halves.
const HALF4: u64 = 8;

/// The buffers that belong to the pictures shown, pixels of the image's size.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Linear scene colour, four halves.
    pub color: &'a Buffer,
    /// Depth in metres, f32.
    pub depth: &'a Buffer,
    /// Motion in uv units, two halves.
    pub motion: &'a Buffer,
    /// The network's input as display codes, four halves; only a frame that went through it has one.
    pub proxy: Option<&'a Buffer>,
    /// The network's result in linear scene colour, four halves.
    pub published: Option<&'a Buffer>,
    /// Whether colour, depth, motion and proxy are already those of the next frame, which is in work.
    pub ahead: bool,
}

/// What is known about the pixel at the pointer.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Reading {
    /// Column and row.
    pub pixel: [u32; 2],
    /// 8-bit codes around the pixel without the network, row by row; `None` outside of the image.
    #[serde(skip)]
    pub without: Vec<Option<[u8; 3]>>,
    /// The same with the network.
    #[serde(skip)]
    pub with: Vec<Option<[u8; 3]>>,
    /// 8-bit codes of both sides at the pixel.
    pub codes: [[u8; 3]; 2],
    /// Linear scene colour.
    pub linear: [f32; 3],
    /// Linear result of the network.
    pub result: Option<[f32; 3]>,
    /// Display codes that the network sees, 0 to 1.
    pub proxy: Option<[f32; 3]>,
    /// Distance in metres; 0 for no surface.
    pub depth: f32,
    /// Motion to the previous frame, in pixels.
    pub motion: [f32; 2],
    /// Whether linear scene, proxy, depth and motion are those of the next frame, which is in work.
    pub ahead: bool,
}

/// A readback of one frame in flight.
pub struct Probe {
    buffer: Buffer,
    asked: Option<Asked>,
}

/// What a readback will hold.
#[derive(Clone, Copy)]
struct Asked {
    pixel: [u32; 2],
    image: Extent,
    proxy: bool,
    result: bool,
    ahead: bool,
}

impl Probe {
    /// A readback that holds nothing yet.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let size = VALUES + 3 * HALF4 + 8;
        let usage = BufferUsage::STORAGE_BUFFER;
        let desc = BufferDesc { name: "pixel values", size, usage, memory: MemoryKind::Readback };
        Ok(Self { buffer: Buffer::new(device, &desc)?, asked: None })
    }

    /// Records the copies for a pixel of the image, between the work that made the pictures and whatever comes next.
    pub fn record(
        &mut self,
        cmd: &mut CommandBuffer,
        pixel: [u32; 2],
        image: Extent,
        pictures: [&Buffer; 2],
        sources: &Sources<'_>,
    ) {
        cmd.compute_to_transfer_barrier();
        for (index, picture) in pictures.into_iter().enumerate() {
            for run in runs(pixel, image) {
                let to = index as u64 * PATCH + run.to;
                cmd.copy_buffer(picture, run.from, &self.buffer, to, run.bytes);
            }
        }
        let at = u64::from(pixel[1]) * u64::from(image.width) + u64::from(pixel[0]);
        let mut value = |source: &Buffer, bytes: u64, to: u64| {
            cmd.copy_buffer(source, at * bytes, &self.buffer, VALUES + to, bytes);
        };
        value(sources.color, HALF4, 0);
        if let Some(proxy) = sources.proxy {
            value(proxy, HALF4, HALF4);
        }
        if let Some(published) = sources.published {
            value(published, HALF4, 2 * HALF4);
        }
        value(sources.depth, 4, 3 * HALF4);
        value(sources.motion, 4, 3 * HALF4 + 4);
        cmd.host_read_barrier();
        cmd.transfer_to_compute_barrier();
        let (proxy, result) = (sources.proxy.is_some(), sources.published.is_some());
        self.asked = Some(Asked { pixel, image, proxy, result, ahead: sources.ahead });
    }

    /// The values of a frame that has been waited for; nothing if none were asked for.
    pub fn take(&mut self) -> Option<Reading> {
        let asked = self.asked.take()?;
        Some(decode(&asked, self.buffer.mapped()?))
    }
}

/// Bytes of one row of a neighbourhood that lie in the image.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    from: u64,
    to: u64,
    bytes: u64,
}

/// The rows of the neighbourhood of a pixel, as far as they lie in the image.
fn runs(pixel: [u32; 2], image: Extent) -> impl Iterator<Item = Run> {
    let half = (SIDE / 2) as u32;
    let left = pixel[0].saturating_sub(half);
    let right = (pixel[0] + half + 1).min(image.width);
    let skipped = (left + half).saturating_sub(pixel[0]);
    (0..SIDE as u32).filter_map(move |row| {
        let y = (pixel[1] + row).checked_sub(half).filter(|y| *y < image.height)?;
        Some(Run {
            from: 4 * (u64::from(y) * u64::from(image.width) + u64::from(left)),
            to: 4 * (u64::from(row) * SIDE as u64 + u64::from(skipped)),
            bytes: 4 * u64::from(right.saturating_sub(left)),
        })
    })
}

fn decode(asked: &Asked, bytes: &[u8]) -> Reading {
    let four = |at: u64| {
        let at = at as usize;
        bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).unwrap_or([0; 4])
    };
    let halves = |at: u64| {
        let [a, b, c, d] = four(at);
        [f16::from_le_bytes([a, b]).to_f32(), f16::from_le_bytes([c, d]).to_f32()]
    };
    let color = |at: u64| {
        let ([r, g], [b, _]) = (halves(VALUES + at), halves(VALUES + at + 4));
        [r, g, b]
    };
    let patch = |start: u64| -> Vec<Option<[u8; 3]>> {
        let mut cells = vec![None; SIDE * SIDE];
        for run in runs(asked.pixel, asked.image) {
            for word in 0..run.bytes / 4 {
                let [r, g, b, _] = four(start + run.to + 4 * word);
                if let Some(cell) = cells.get_mut((run.to / 4 + word) as usize) {
                    *cell = Some([r, g, b]);
                }
            }
        }
        cells
    };
    let (without, with) = (patch(0), patch(PATCH));
    let middle = |cells: &[Option<[u8; 3]>]| cells[SIDE * SIDE / 2].unwrap_or_default();
    let [x, y] = halves(VALUES + 3 * HALF4 + 4);
    Reading {
        pixel: asked.pixel,
        codes: [middle(&without), middle(&with)],
        without,
        with,
        linear: color(0),
        proxy: asked.proxy.then(|| color(HALF4)),
        result: asked.result.then(|| color(2 * HALF4)),
        depth: f32::from_le_bytes(four(VALUES + 3 * HALF4)),
        motion: [x * asked.image.width as f32, y * asked.image.height as f32],
        ahead: asked.ahead,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbourhoods_end_at_the_image() {
        let image = Extent::new(20, 16);
        let inside: Vec<Run> = runs([10, 8], image).collect();
        assert_eq!(inside.len(), SIDE);
        assert_eq!(inside[0], Run { from: 4 * (3 * 20 + 5), to: 0, bytes: 44 });
        // At a corner, the pointer's pixel stays in the middle of the magnifier.
        let corner: Vec<Run> = runs([0, 0], image).collect();
        assert_eq!(corner.len(), 6);
        assert_eq!(corner[0], Run { from: 0, to: 4 * (5 * 11 + 5), bytes: 24 });
        let end: Vec<Run> = runs([19, 15], image).collect();
        assert_eq!(end.len(), 6);
        assert_eq!(end[5], Run { from: 4 * (15 * 20 + 14), to: 4 * 5 * 11, bytes: 24 });
        for run in runs([19, 15], image).chain(runs([0, 15], Extent::new(1, 16))) {
            assert!(run.from + run.bytes <= 4 * 20 * 16 && run.to + run.bytes <= PATCH, "{run:?}");
        }
    }

    #[test]
    fn values_are_decoded() {
        let mut bytes = vec![0_u8; VALUES as usize + 32];
        bytes[4 * 60..4 * 60 + 4].copy_from_slice(&[1, 2, 3, 255]);
        bytes[PATCH as usize + 4 * 60..][..4].copy_from_slice(&[9, 8, 7, 255]);
        let mut put = |at: u64, value: &[u8]| {
            let at = (VALUES + at) as usize;
            bytes[at..at + value.len()].copy_from_slice(value);
        };
        let half = |value: f32| f16::from_f32(value).to_le_bytes();
        put(2, &half(2.0));
        put(24, &3.5_f32.to_le_bytes());
        put(28, &half(0.25));
        let asked = Asked { pixel: [10, 8], image: Extent::new(20, 16), proxy: false, result: false, ahead: false };
        let reading = decode(&asked, &bytes);
        assert_eq!(reading.codes, [[1, 2, 3], [9, 8, 7]]);
        assert_eq!(reading.linear, [0.0, 2.0, 0.0]);
        assert_eq!((reading.proxy, reading.depth, reading.motion), (None, 3.5, [5.0, 0.0]));
    }
}
