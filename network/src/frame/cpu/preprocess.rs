//! The 16 input lanes of a field pixel (frame section 2).

use rayon::prelude::*;

use super::noise;
use super::proxy::{centred, proxy};
use super::sampling::{Half4, History, mirror, resized};
use crate::frame::Parameters;
use crate::geometry::{Extent, Geometry};
use crate::numerics::half;

/// Lanes of a field pixel.
pub const LANES: usize = 16;
/// The half 1.
const ONE: u16 = 0x3c00;

/// The image that a frame starts from.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Linear scene colour, valid extent, as halves.
    Scene(&'a [Half4]),
    /// Linear scene colour, valid extent, as f32.
    SceneF32(&'a [[f32; 4]]),
    /// Proxy code values 0..=1 of an image of its own extent.
    Proxy(&'a [[f32; 4]], Extent),
}

impl Source<'_> {
    /// Linear scene colour of a valid pixel; black for a source that is not a scene.
    pub fn scene(&self, index: usize) -> [f32; 3] {
        match self {
            Self::Scene(pixels) => {
                let p = pixels[index];
                [p[0], p[1], p[2]].map(half::to_f32)
            }
            Self::SceneF32(pixels) => {
                let p = pixels[index];
                [p[0], p[1], p[2]]
            }
            Self::Proxy(..) => [0.0; 3],
        }
    }

    /// Proxy code values of valid pixel (x, y).
    pub fn proxy(&self, x: u32, y: u32, valid: Extent, paper: f32) -> [f32; 3] {
        match self {
            Self::Proxy(pixels, size) => {
                let sx = resized(x, valid.width, size.width) as usize;
                let sy = resized(y, valid.height, size.height) as usize;
                let p = pixels[sy * size.width as usize + sx];
                [p[0], p[1], p[2]]
            }
            _ => self.scene(y as usize * valid.width as usize + x as usize).map(|v| half::to_f32(proxy(v, paper))),
        }
    }
}

/// Lanes 10 to 15: the conditioning, the same for every pixel.
pub fn conditioning(p: &Parameters) -> [u16; 6] {
    let structure = p.local_structure;
    let skin = if p.skin_structure < 0.0 { structure } else { p.skin_structure };
    let (mask, skin, local) = if p.auto_mask { (1.0, skin, structure) } else { (structure, -1.0, -1.0) };
    let style = p.style.id() as f32 / 128.0;
    [style, p.local_tone, mask, skin, local, 0.0].map(half::from_f32)
}

/// Features of a frame: the lanes of each field pixel, row by row. The history counts where the parameters allow it.
pub fn preprocess(
    geometry: &Geometry,
    source: Source,
    history: Option<History>,
    parameters: &Parameters,
) -> Vec<[u16; LANES]> {
    let (valid, field) = (geometry.valid, geometry.field);
    let history = history.filter(|_| parameters.history_valid);
    let conditioning = conditioning(parameters);
    let width = field.width as usize;
    let mut features = vec![[0; LANES]; field.pixels()];
    features.par_chunks_exact_mut(width).enumerate().for_each(|(row, lanes)| {
        let sy = mirror(row as u32, valid.height);
        for (x, lanes) in lanes.iter_mut().enumerate() {
            let sx = mirror(x as u32, valid.width);
            lanes[..3].copy_from_slice(&noise::lanes(x as u32, row as u32, parameters.seed));
            lanes[3] = ONE;
            let color = source.proxy(sx, sy, valid, parameters.paper()).map(centred);
            lanes[4..7].copy_from_slice(&color);
            let previous = history.map_or(color, |h| h.sample(sx, sy).map(centred));
            lanes[7..10].copy_from_slice(&previous);
            lanes[10..].copy_from_slice(&conditioning);
        }
    });
    features
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Style;

    #[test]
    fn conditioning_lanes() {
        let mut p =
            Parameters { style: Style::Cinematic, local_tone: 0.25, local_structure: 0.5, ..Parameters::default() };
        let lanes = |p: &Parameters| conditioning(p).map(half::to_f32);
        assert_eq!(lanes(&p), [0.015625, 0.25, 1.0, 0.5, 0.5, 0.0]);
        p.skin_structure = 0.75;
        assert_eq!(lanes(&p), [0.015625, 0.25, 1.0, 0.75, 0.5, 0.0]);
        p.auto_mask = false;
        assert_eq!(lanes(&p), [0.015625, 0.25, 0.5, -1.0, -1.0, 0.0]);
    }

    #[test]
    fn without_history_lanes_repeat_the_colour() {
        let geometry = Geometry::new(Extent::new(33, 1)).unwrap();
        let scene: Vec<Half4> = (0..33).map(|i| [half::from_f32(i as f32 / 33.0); 4]).collect();
        let history = vec![[ONE; 4]; 33];
        let motion = vec![0; 33];
        let history = History { extent: geometry.valid, color: &history, motion: &motion };
        let mut p = Parameters::default();
        let frame = |p: &Parameters| preprocess(&geometry, Source::Scene(&scene), Some(history), p);
        for (i, lanes) in frame(&p).iter().enumerate() {
            assert_eq!(lanes[4..7], lanes[7..10], "{i}");
            assert_eq!(lanes[3], ONE);
        }
        p.history_valid = true;
        for lanes in frame(&p) {
            assert_eq!(lanes[7..10], [centred(1.0); 3]);
        }
    }
}
