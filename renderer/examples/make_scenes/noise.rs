//! Random numbers and tileable noise.

use glam::Vec3;

/// A small generator, the same everywhere.
pub struct Random(u32);

pub fn hash(mut v: u32) -> u32 {
    v = v.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    v = ((v >> ((v >> 28) + 4)) ^ v).wrapping_mul(277_803_737);
    (v >> 22) ^ v
}

pub fn unit(v: u32) -> f32 {
    (hash(v) >> 8) as f32 / 16_777_216.0
}

impl Random {
    pub fn new(seed: u32) -> Self {
        Self(seed.wrapping_mul(7919).wrapping_add(13))
    }

    /// In 0..1.
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(1);
        unit(self.0.wrapping_mul(2_654_435_769))
    }

    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.next()
    }

    pub fn direction(&mut self) -> Vec3 {
        let z = self.range(-1.0, 1.0);
        let (s, c) = (self.next() * std::f32::consts::TAU).sin_cos();
        let r = (1.0 - z * z).sqrt();
        Vec3::new(r * c, z, r * s)
    }
}

fn lattice(x: i32, y: i32, period: i32, seed: u32) -> f32 {
    let (x, y) = (x.rem_euclid(period) as u32, y.rem_euclid(period) as u32);
    unit(x.wrapping_mul(1619) ^ hash(y ^ seed.wrapping_mul(6971)))
}

/// Value noise of the unit square, `period` cells a side, repeating; in 0..1.
pub fn value(u: f32, v: f32, period: i32, seed: u32) -> f32 {
    let (x, y) = (u * period as f32, v * period as f32);
    let (i, j) = (x.floor(), y.floor());
    let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
    let (fx, fy) = (smooth(x - i), smooth(y - j));
    let at = |dx: i32, dy: i32| lattice(i as i32 + dx, j as i32 + dy, period, seed);
    let top = at(0, 0) + (at(1, 0) - at(0, 0)) * fx;
    let bottom = at(0, 1) + (at(1, 1) - at(0, 1)) * fx;
    top + (bottom - top) * fy
}

/// Octaves of value noise; in 0..1.
pub fn fbm(u: f32, v: f32, period: i32, octaves: u32, seed: u32) -> f32 {
    let (mut sum, mut weight, mut total) = (0.0, 1.0, 0.0);
    for k in 0..octaves {
        sum += weight * value(u, v, period << k, seed + k);
        total += weight;
        weight *= 0.55;
    }
    sum / total
}

/// Distances to the nearest and second nearest of one point a cell, in cells, and the nearest one's number.
pub fn cells(u: f32, v: f32, period: i32, seed: u32) -> (f32, f32, u32) {
    let (x, y) = (u * period as f32, v * period as f32);
    let (i, j) = (x.floor() as i32, y.floor() as i32);
    let (mut first, mut second, mut id) = (9.0_f32, 9.0_f32, 0);
    for dj in -1..=1 {
        for di in -1..=1 {
            let (ci, cj) = (i + di, j + dj);
            let jitter = |s: u32| 0.15 + 0.7 * lattice(ci, cj, period, seed + s);
            let d = (ci as f32 + jitter(0) - x).hypot(cj as f32 + jitter(77) - y);
            if d < first {
                second = first;
                first = d;
                id = hash((ci.rem_euclid(period) * 4099 + cj.rem_euclid(period)) as u32 ^ seed);
            } else if d < second {
                second = d;
            }
        }
    }
    (first, second, id)
}
