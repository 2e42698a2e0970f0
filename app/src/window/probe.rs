//! Values of pixels at the pointer, read back with a frame of the window that was drawn a moment ago.

use std::sync::Arc;

use anyhow::Result;
use gpu::{Buffer, BufferDesc, BufferUsage, CommandBuffer, Device, MemoryKind};
use half::f16;
use network::frame::Parameters;
use network::frame::cpu::{compose, display};
use network::geometry::{Extent, Geometry};

use super::debug_view::DebugView;

/// Pixels of the magnifier on each side; odd, so that the pointer's pixel is the middle one.
pub const SIDE: usize = 11;
/// Bytes of one picture's neighbourhood, rows of RGBA8 words.
const PATCH: u64 = (4 * SIDE * SIDE) as u64;
/// Where the values behind the two neighbourhoods begin.
const VALUES: u64 = 2 * PATCH;
/// Bytes of a pixel of four halves.
const HALF4: u64 = 8;
/// Bytes of a field pixel of sixteen halves.
const FEATURES: u64 = 32;
/// Places of the values: color, proxy, depth, motion, head, features; then color, proxy and published of each side.
const COLOR: u64 = 0;
const PROXY: u64 = COLOR + HALF4;
const DEPTH: u64 = PROXY + HALF4;
const MOTION: u64 = DEPTH + 4;
const HEAD: u64 = MOTION + 4;
const LANES: u64 = HEAD + HALF4;
const SIDES: u64 = LANES + FEATURES;
/// Bytes of a side's values, and of all.
const A_SIDE: u64 = 3 * HALF4;
const ALL: u64 = SIDES + 2 * A_SIDE;

/// The buffers that belong to the pictures shown. Of the image's pixels, but for features and head, which cover the field.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Size of the image and of the field.
    pub geometry: Geometry,
    /// Linear scene colour, four halves.
    pub color: &'a Buffer,
    /// Depth in metres, f32.
    pub depth: &'a Buffer,
    /// Motion in uv units, two halves.
    pub motion: &'a Buffer,
    /// The network's input as display codes, four halves; only a frame that went through it has one.
    pub proxy: Option<&'a Buffer>,
    /// The network's input, sixteen halves, where it is kept.
    pub features: Option<&'a Buffer>,
    /// The network's result, four halves, where it is kept.
    pub head: Option<&'a Buffer>,
    /// What the passes of the frame with features and head were given.
    pub with: Option<Parameters>,
    /// Whether the buffers are already those of the next frame, which is in work.
    pub ahead: bool,
}

impl Sources<'_> {
    /// Whether a view has something to show.
    pub fn has(&self, view: DebugView) -> bool {
        match view {
            DebugView::Hdr | DebugView::Depth | DebugView::Motion => true,
            DebugView::Proxy => self.proxy.is_some(),
            DebugView::History | DebugView::Field | DebugView::Noise => self.features.is_some(),
            DebugView::Residual | DebugView::Weight => self.head.is_some(),
        }
    }
}

/// The picture of a side, and the buffers that it was made of, of its own size.
#[derive(Clone, Copy)]
pub struct SideSources<'a> {
    /// RGBA8 words.
    pub picture: &'a Buffer,
    /// Width and height.
    pub extent: Extent,
    /// Linear scene colour, four halves, where it is still that of the picture.
    pub color: Option<&'a Buffer>,
    /// The network's input as display codes, four halves.
    pub proxy: Option<&'a Buffer>,
    /// The network's result as display codes, four halves.
    pub published: Option<&'a Buffer>,
    /// What its passes were given, where it went through the network.
    pub with: Option<Parameters>,
}

/// What is known about the pixel at the pointer.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Reading {
    /// Column and row.
    pub pixel: [u32; 2],
    /// 8-bit codes around the pixel of the left side, row by row; `None` outside of the image.
    #[serde(skip)]
    pub left: Vec<Option<[u8; 3]>>,
    /// The same of the right side.
    #[serde(skip)]
    pub right: Vec<Option<[u8; 3]>>,
    /// 8-bit codes of both sides at the pixel.
    pub codes: [[u8; 3]; 2],
    /// Linear colour of both sides, as it goes into the display curve; only where its buffers are kept.
    pub linears: [Option<[f32; 3]>; 2],
    /// Published display codes of both sides, 0 to 1; of the network only.
    pub published: [Option<[f32; 3]>; 2],
    /// Linear scene colour.
    pub linear: [f32; 3],
    /// Display codes that the network sees, 0 to 1.
    pub proxy: Option<[f32; 3]>,
    /// Distance in metres; 0 for no surface.
    pub depth: f32,
    /// Motion to the previous frame, in pixels.
    pub motion: [f32; 2],
    /// The reprojected history that the network saw, in display codes; `None` where there was none.
    pub history: Option<[f32; 3]>,
    /// What the network adds to the proxy, in display codes.
    pub residual: Option<[f32; 3]>,
    /// Weight of the history in the result, 0 to 1.
    pub weight: Option<f32>,
    /// Noise lanes of the network's input.
    pub noise: Option<[f32; 3]>,
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
    /// The same place in each side, whose size may be another one.
    places: [([u32; 2], Extent); 2],
    geometry: Geometry,
    has_proxy: bool,
    /// Whether features and head are there, and what their frame was given.
    with: Option<Parameters>,
    /// Of each side: whether its colour is there, and what its frame was given if all of it is.
    sides: [(bool, Option<Parameters>); 2],
    ahead: bool,
}

impl Probe {
    /// A readback that holds nothing yet.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let size = VALUES + ALL;
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
        sides: &[SideSources<'_>; 2],
        sources: &Sources<'_>,
    ) {
        cmd.compute_to_transfer_barrier();
        let places = [0, 1].map(|side: usize| (scaled(pixel, image, sides[side].extent), sides[side].extent));
        let mut copy = |source: &Buffer, from: u64, to: u64, bytes: u64| {
            cmd.copy_buffer(source, from, &self.buffer, to, bytes);
        };
        let index = |[x, y]: [u32; 2], width: u32| u64::from(y) * u64::from(width) + u64::from(x);
        for (number, (side, (place, extent))) in sides.iter().zip(places).enumerate() {
            for run in runs(place, extent) {
                copy(side.picture, run.from, number as u64 * PATCH + run.to, run.bytes);
            }
            let at = HALF4 * index(place, extent.width);
            let to = VALUES + SIDES + number as u64 * A_SIDE;
            for (order, buffer) in [side.color, side.proxy, side.published].into_iter().enumerate() {
                if let Some(buffer) = buffer {
                    copy(buffer, at, to + order as u64 * HALF4, HALF4);
                }
            }
        }
        let Geometry { valid, field, .. } = sources.geometry;
        let own = scaled(pixel, image, valid);
        let (at, in_field) = (index(own, valid.width), index(own, field.width));
        copy(sources.color, HALF4 * at, VALUES + COLOR, HALF4);
        copy(sources.depth, 4 * at, VALUES + DEPTH, 4);
        copy(sources.motion, 4 * at, VALUES + MOTION, 4);
        if let Some(proxy) = sources.proxy {
            copy(proxy, HALF4 * at, VALUES + PROXY, HALF4);
        }
        let kept = sources.features.zip(sources.head);
        if let Some((features, head)) = kept {
            copy(features, FEATURES * in_field, VALUES + LANES, FEATURES);
            copy(head, HALF4 * in_field, VALUES + HEAD, HALF4);
        }
        cmd.host_read_barrier();
        cmd.transfer_to_compute_barrier();
        let whole = |side: &SideSources<'_>| side.color.and(side.proxy).and(side.published).and(side.with);
        self.asked = Some(Asked {
            pixel,
            places,
            geometry: sources.geometry,
            has_proxy: sources.proxy.is_some(),
            with: kept.and(sources.with),
            sides: [0, 1].map(|side: usize| (sides[side].color.is_some(), whole(&sides[side]))),
            ahead: sources.ahead,
        });
    }

    /// The values of a frame that has been waited for; nothing if none were asked for.
    pub fn take(&mut self) -> Option<Reading> {
        let asked = self.asked.take()?;
        Some(decode(&asked, self.buffer.mapped()?))
    }
}

/// The pixel of an image of another size at the middle of a pixel.
pub fn scaled(pixel: [u32; 2], from: Extent, to: Extent) -> [u32; 2] {
    let side = |at: u32, from: u32, to: u32| {
        let place = (2 * u64::from(at) + 1) * u64::from(to) / (2 * u64::from(from.max(1)));
        place.min(u64::from(to.saturating_sub(1))) as u32
    };
    [side(pixel[0], from.width, to.width), side(pixel[1], from.height, to.height)]
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
        let [a, b, c, d] = four(VALUES + at);
        [f16::from_le_bytes([a, b]).to_f32(), f16::from_le_bytes([c, d]).to_f32()]
    };
    let color = |at: u64| {
        let ([r, g], [b, _]) = (halves(at), halves(at + 4));
        [r, g, b]
    };
    let patch = |side: usize| -> Vec<Option<[u8; 3]>> {
        let mut cells = vec![None; SIDE * SIDE];
        let (place, extent) = asked.places[side];
        for run in runs(place, extent) {
            for word in 0..run.bytes / 4 {
                let [r, g, b, _] = four(side as u64 * PATCH + run.to + 4 * word);
                if let Some(cell) = cells.get_mut((run.to / 4 + word) as usize) {
                    *cell = Some([r, g, b]);
                }
            }
        }
        cells
    };
    let (left, right) = (patch(0), patch(1));
    let middle = |cells: &[Option<[u8; 3]>]| cells[SIDE * SIDE / 2].unwrap_or_default();
    let sides = [0, 1].map(|side: usize| {
        let at = SIDES + side as u64 * A_SIDE;
        let (scene, proxy, published) = (color(at), color(at + HALF4), color(at + 2 * HALF4));
        match asked.sides[side] {
            (_, Some(with)) => {
                let shown = display::upgrade(scene, proxy, published, with.paper(), with.color_strength);
                (Some(shown), Some(published))
            }
            // A side without the network: its scene colour is what is displayed.
            (true, None) => (Some(scene), None),
            (false, None) => (None, None),
        }
    });
    let [x, y] = halves(MOTION);
    let valid = asked.geometry.valid;
    // A lane as the network takes it, back as a display code.
    let code = |v: f32| v * 8.0 + 0.5;
    let with = asked.with;
    Reading {
        pixel: asked.pixel,
        codes: [middle(&left), middle(&right)],
        left,
        right,
        linears: sides.map(|(linear, _)| linear),
        published: sides.map(|(_, published)| published),
        linear: color(COLOR),
        proxy: asked.has_proxy.then(|| color(PROXY)),
        depth: f32::from_le_bytes(four(VALUES + DEPTH)),
        motion: [x * valid.width as f32, y * valid.height as f32],
        history: with.filter(|with| with.history_valid).map(|_| {
            let ([_, r], [g, b]) = (halves(LANES + 12), halves(LANES + 16));
            [r, g, b].map(code)
        }),
        residual: with.map(|_| color(HEAD).map(|head| 0.25 * head)),
        weight: with.map(|with| {
            let [_, logit] = halves(HEAD + 4);
            if with.history_valid { compose::weight(logit, with.blend_scale) } else { 0.0 }
        }),
        noise: with.map(|_| color(LANES)),
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
        let mut bytes = vec![0_u8; (VALUES + ALL) as usize];
        bytes[4 * 60..4 * 60 + 4].copy_from_slice(&[1, 2, 3, 255]);
        bytes[PATCH as usize + 4 * 60..][..4].copy_from_slice(&[9, 8, 7, 255]);
        let mut put = |at: u64, value: &[u8]| {
            let at = (VALUES + at) as usize;
            bytes[at..at + value.len()].copy_from_slice(value);
        };
        let half = |value: f32| f16::from_f32(value).to_le_bytes();
        put(COLOR + 2, &half(2.0));
        put(DEPTH, &3.5_f32.to_le_bytes());
        put(MOTION, &half(0.25));
        put(HEAD, &half(0.5));
        put(LANES + 2, &half(-1.5));
        put(LANES + 14, &half(0.03125));
        put(SIDES + 4, &half(0.75));
        let mut asked = Asked {
            pixel: [10, 8],
            places: [([10, 8], Extent::new(20, 16)); 2],
            geometry: Geometry { valid: Extent::new(20, 16), ..Geometry::new(Extent::new(64, 64)).unwrap() },
            has_proxy: false,
            with: None,
            sides: [(true, None), (false, None)],
            ahead: false,
        };
        let reading = decode(&asked, &bytes);
        assert_eq!(reading.codes, [[1, 2, 3], [9, 8, 7]]);
        assert_eq!(reading.linear, [0.0, 2.0, 0.0]);
        assert_eq!(reading.linears, [Some([0.0, 0.0, 0.75]), None]);
        assert_eq!((reading.proxy, reading.depth, reading.motion), (None, 3.5, [5.0, 0.0]));
        assert_eq!((reading.history, reading.residual, reading.weight), (None, None, None));
        asked.with = Some(Parameters { history_valid: true, blend_scale: 0.5, ..Parameters::default() });
        let reading = decode(&asked, &bytes);
        assert_eq!(reading.history, Some([0.75, 0.5, 0.5]));
        assert_eq!((reading.residual, reading.weight), (Some([0.125, 0.0, 0.0]), Some(0.25)));
        assert_eq!(reading.noise, Some([0.0, -1.5, 0.0]));
    }

    #[test]
    fn places_of_other_sizes() {
        let (small, large) = (Extent::new(64, 32), Extent::new(128, 64));
        assert_eq!(scaled([5, 7], small, small), [5, 7]);
        assert_eq!(scaled([5, 7], small, large), [11, 15]);
        assert_eq!(scaled([127, 63], large, small), [63, 31]);
    }
}
