//! Whole frames on the CPU: what [`Frame`](crate::frame::Frame) does on the GPU, and single images.

use rayon::prelude::*;

use super::compose::{code, compose, stored};
use super::display::{display, original, pack, upgrade};
use super::preprocess::{LANES, Source, preprocess};
use super::sampling::{Half4, History};
use super::style::{Look, published};
use crate::frame::{FrameClock, Parameters};
use crate::geometry::{Extent, Geometry};
use crate::numerics::half;

/// The half 1.
const ONE: u16 = 0x3c00;

/// What the composition of one frame gives, each of the valid extent.
#[derive(Clone, Debug, PartialEq)]
pub struct Composed {
    /// The next history: the composed colour, truncated, alpha 1.
    pub history: Vec<Half4>,
    /// The published colour: style and intensity applied, alpha 1.
    pub published: Vec<Half4>,
    /// RGBA8 of the frame as it came. For an image, its own codes.
    pub display_input: Vec<u32>,
    /// RGBA8 of the published colour.
    pub display_neural: Vec<u32>,
}

/// The network's head: RGB residual and blend logit of each field pixel.
#[derive(Clone, Copy, Debug)]
pub enum Head<'a> {
    /// As the network publishes it.
    Half(&'a [Half4]),
    /// As fixtures record it; the values are halves in a recorded head, but need not be.
    F32(&'a [[f32; 4]]),
}

impl Head<'_> {
    fn pixel(&self, index: usize) -> [f32; 4] {
        match self {
            Self::Half(head) => head[index].map(half::to_f32),
            Self::F32(head) => head[index],
        }
    }
}

/// Composes a frame from the head (frame sections 6 to 8).
///
/// A scene is displayed through the tone upgrade; an image ([`Source::Proxy`]) by its 8-bit codes.
pub fn compose_frame(
    geometry: &Geometry,
    source: Source,
    head: Head,
    history: Option<History>,
    parameters: &Parameters,
) -> Composed {
    let (valid, field) = (geometry.valid, geometry.field);
    let history = history.filter(|_| parameters.history_valid);
    let look = Look::of(parameters);
    let paper = parameters.paper();
    let pixels: Vec<(Half4, Half4, u32, u32)> = (0..valid.pixels())
        .into_par_iter()
        .map(|i| {
            let (x, y) = (i as u32 % valid.width, i as u32 / valid.width);
            let p = source.proxy(x, y, valid, paper);
            let h = head.pixel(y as usize * field.width as usize + x as usize);
            let previous = history.map(|history| history.sample(x, y));
            let neural = compose(p, h, previous, parameters.blend_scale);
            let out = published(neural, p, look.as_ref(), parameters.intensity);
            let out_f32 = out.map(half::to_f32);
            let (input, shown) = if matches!(source, Source::Proxy(..)) {
                (codes(p), codes(out_f32))
            } else {
                let scene = source.scene(i);
                let up = upgrade(scene, p, out_f32, paper, parameters.color_strength);
                (pack(display(original(scene, paper))), pack(display(up)))
            };
            (opaque(stored(neural)), opaque(out), input, shown)
        })
        .collect();
    Composed {
        history: pixels.iter().map(|p| p.0).collect(),
        published: pixels.iter().map(|p| p.1).collect(),
        display_input: pixels.iter().map(|p| p.2).collect(),
        display_neural: pixels.iter().map(|p| p.3).collect(),
    }
}

fn opaque([r, g, b]: [u16; 3]) -> Half4 {
    [r, g, b, ONE]
}

/// The 8-bit form of a single image's pixel.
fn codes([r, g, b]: [f32; 3]) -> u32 {
    u32::from_le_bytes([code(r), code(g), code(b), 255])
}

/// An image of code values: its own proxy.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Width and height.
    pub extent: Extent,
    /// RGBA code values, row by row, alpha 1.
    pub pixels: Vec<[f32; 4]>,
}

impl Image {
    /// The proxy of an 8-bit RGB image, `code / 255` in f32. `None` where the bytes are not `width * height * 3`.
    pub fn from_rgb8(extent: Extent, rgb: &[u8]) -> Option<Self> {
        (rgb.len() == extent.pixels() * 3).then(|| {
            let pixels = rgb
                .as_chunks::<3>()
                .0
                .iter()
                .map(|&[r, g, b]| {
                    let [r, g, b] = [r, g, b].map(super::proxy::proxy_of_code);
                    [r, g, b, 1.0]
                })
                .collect();
            Self { extent, pixels }
        })
    }

    /// The image as a frame's source.
    pub fn source(&self) -> Source<'_> {
        Source::Proxy(&self.pixels, self.extent)
    }
}

/// The RGB bytes of RGBA8 words.
pub fn rgb8(words: &[u32]) -> Vec<u8> {
    words
        .iter()
        .flat_map(|w| {
            let [r, g, b, _] = w.to_le_bytes();
            [r, g, b]
        })
        .collect()
}

/// The temporal loop on the CPU: the clock and the two histories of one extent.
#[derive(Clone, Debug)]
pub struct CpuFrame {
    geometry: Geometry,
    clock: FrameClock,
    histories: [Vec<Half4>; 2],
}

impl CpuFrame {
    /// A loop without history.
    pub fn new(geometry: &Geometry) -> Self {
        let empty = vec![[0; 4]; geometry.valid.pixels()];
        Self { geometry: *geometry, clock: FrameClock::default(), histories: [empty.clone(), empty] }
    }

    /// The frame counter and the state of the history.
    pub const fn clock(&self) -> &FrameClock {
        &self.clock
    }

    /// The history that the current frame reads, RGBA halves.
    pub fn history(&self) -> &[Half4] {
        &self.histories[self.clock.parity()]
    }

    /// The next frame starts without history.
    pub const fn reset(&mut self) {
        self.clock.reset();
    }

    /// Features of the current frame. `motion` is packed, of the valid extent.
    pub fn preprocess(&self, source: Source, motion: &[u32], p: &Parameters) -> Vec<[u16; LANES]> {
        preprocess(&self.geometry, source, self.previous(motion), p)
    }

    /// Composes the current frame, stores its history and moves on to the next frame.
    pub fn composite(&mut self, source: Source, motion: &[u32], head: Head, p: &Parameters) -> Composed {
        let composed = compose_frame(&self.geometry, source, head, self.previous(motion), p);
        self.finish(composed.history.clone());
        composed
    }

    /// Shows the current frame without the network; its proxy, rounded, becomes the next history.
    pub fn bypass(&mut self, source: Source, p: &Parameters) -> Vec<u32> {
        let (valid, paper) = (self.geometry.valid, p.paper());
        let (history, shown) = (0..valid.pixels())
            .into_par_iter()
            .map(|i| {
                let (x, y) = (i as u32 % valid.width, i as u32 / valid.width);
                let proxy = source.proxy(x, y, valid, paper);
                let shown = if matches!(source, Source::Proxy(..)) {
                    codes(proxy)
                } else {
                    pack(display(original(source.scene(i), paper)))
                };
                (opaque(proxy.map(half::from_f32)), shown)
            })
            .unzip();
        self.finish(history);
        shown
    }

    fn previous<'a>(&'a self, motion: &'a [u32]) -> Option<History<'a>> {
        self.clock.history_valid(true).then(|| History { extent: self.geometry.valid, color: self.history(), motion })
    }

    fn finish(&mut self, next: Vec<Half4>) {
        self.histories[1 - self.clock.parity()] = next;
        self.clock.finish_frame();
    }
}
