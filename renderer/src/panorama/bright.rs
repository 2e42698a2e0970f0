//! The bright parts of a panorama: suns, windows, lamps. What exceeds a few times the mean is
//! taken out of the smooth light and becomes a light that throws shadows. Together both parts are
//! the whole picture.

use std::f64::consts::PI;

/// Columns and rows of the grid that bright parts are gathered in.
pub const BRIGHT_SIZE: [u32; 2] = [256, 128];
/// Columns and rows of the map of their light on unshadowed surfaces.
pub const IRRADIANCE_SIZE: [u32; 2] = [32, 16];
/// Times the mean luminance from which light counts as bright.
const EXCESS: f64 = 6.0;
/// Part of all light that bright parts must give together to be worth a shadow ray.
const WORTH: f64 = 0.01;

/// What exceeds [`Bright::limit`], in cells of [`BRIGHT_SIZE`].
#[derive(Clone, Debug, PartialEq)]
pub struct Bright {
    /// Luminance up to which light is smooth; infinite when nothing is bright.
    pub limit: f32,
    /// For each cell the light of all bright parts together, as a white surface that faces it
    /// reflects it, if they had the cell's colour. Empty when nothing is bright.
    pub light: Vec<[f32; 3]>,
    /// Alias table for choosing cells by their share: the probability of keeping a cell, and the
    /// cell that is taken else.
    pub alias: Vec<(f32, u32)>,
    /// What bright parts give white surfaces by their normal when nothing is in the way, in
    /// directions of [`IRRADIANCE_SIZE`].
    pub irradiance: Vec<[f32; 3]>,
}

fn luminance(c: [f64; 3]) -> f64 {
    0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]
}

/// Solid angle of a cell in one of `rows` rows of `columns` cells.
fn solid_angle(row: u32, columns: u32, rows: u32) -> f64 {
    let edge = |y: u32| (PI * f64::from(y) / f64::from(rows)).cos();
    2.0 * PI / f64::from(columns) * (edge(row) - edge(row + 1))
}

/// Direction of the middle of a cell. The middle of the picture lies at -z.
fn direction(x: u32, y: u32, [columns, rows]: [u32; 2]) -> [f64; 3] {
    let around = 2.0 * PI * ((f64::from(x) + 0.5) / f64::from(columns) - 0.5);
    let down = PI * (f64::from(y) + 0.5) / f64::from(rows);
    [down.sin() * around.sin(), down.cos(), -down.sin() * around.cos()]
}

/// Direction of a point of the map of light on matte surfaces, whose first and last rows are the poles.
fn normal(x: u32, y: u32) -> [f64; 3] {
    let [columns, rows] = IRRADIANCE_SIZE;
    let around = 2.0 * PI * ((f64::from(x) + 0.5) / f64::from(columns) - 0.5);
    let down = PI * f64::from(y) / f64::from(rows - 1);
    [down.sin() * around.sin(), down.cos(), -down.sin() * around.cos()]
}

impl Bright {
    const NONE: Self = Self { limit: f32::INFINITY, light: Vec::new(), alias: Vec::new(), irradiance: Vec::new() };

    /// Finds the bright parts of rows of radiance.
    pub(super) fn of(width: u32, height: u32, pixels: &[[f32; 3]]) -> Self {
        let rows = || pixels.chunks_exact(width as usize).zip(0..height);
        let of = |p: &[f32; 3]| luminance(p.map(f64::from));
        let sum: f64 = rows().map(|(row, y)| row.iter().map(of).sum::<f64>() * solid_angle(y, width, height)).sum();
        let limit = EXCESS * sum / (4.0 * PI);
        let [columns, lines] = BRIGHT_SIZE;
        let mut cells = vec![[0.0_f64; 3]; (columns * lines) as usize];
        for (row, y) in rows() {
            let angle = solid_angle(y, width, height);
            let line = y * lines / height;
            for (x, pixel) in (0..width).zip(row) {
                let all = of(pixel);
                if all > limit {
                    let part = (1.0 - limit / all) * angle;
                    let cell = &mut cells[(line * columns + x * columns / width) as usize];
                    *cell = std::array::from_fn(|c| cell[c] + part * f64::from(pixel[c]));
                }
            }
        }
        let weights: Vec<f64> = cells.iter().map(|&c| luminance(c)).collect();
        let total: f64 = weights.iter().sum();
        if total <= WORTH * sum || total <= 0.0 {
            return Self::NONE;
        }
        let share = |(cell, weight): (&[f64; 3], &f64)| {
            let scale = if *weight > 0.0 { total / (PI * weight) } else { 0.0 };
            cell.map(|v| (v * scale) as f32)
        };
        Self {
            limit: limit as f32,
            light: cells.iter().zip(&weights).map(share).collect(),
            alias: alias_table(&weights, total),
            irradiance: irradiance(&cells),
        }
    }

    /// Whether there is nothing bright.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.light.is_empty()
    }
}

/// Vose's method: each entry is full with at most two cells.
fn alias_table(weights: &[f64], total: f64) -> Vec<(f32, u32)> {
    let count = weights.len() as f64;
    let mut rest: Vec<f64> = weights.iter().map(|w| w * count / total).collect();
    let mut table: Vec<(f32, u32)> = (0..weights.len() as u32).map(|i| (1.0, i)).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..weights.len()).partition(|&i| rest[i] < 1.0);
    while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
        small.pop();
        table[poor] = (rest[poor] as f32, rich as u32);
        rest[rich] -= 1.0 - rest[poor];
        if rest[rich] < 1.0 {
            large.pop();
            small.push(rich);
        }
    }
    table
}

fn irradiance(cells: &[[f64; 3]]) -> Vec<[f32; 3]> {
    let [columns, _] = BRIGHT_SIZE;
    let lit: Vec<([f64; 3], [f64; 3])> = (0..)
        .zip(cells)
        .filter(|(_, cell)| luminance(**cell) > 0.0)
        .map(|(i, cell)| (direction(i % columns, i / columns, BRIGHT_SIZE), *cell))
        .collect();
    let [width, height] = IRRADIANCE_SIZE;
    let normals = (0..height).flat_map(|y| (0..width).map(move |x| normal(x, y)));
    let gather = |n: [f64; 3]| {
        let mut sum = [0.0; 3];
        for (d, cell) in &lit {
            let cosine = (n[0] * d[0] + n[1] * d[1] + n[2] * d[2]).max(0.0) / PI;
            sum = std::array::from_fn(|c| sum[c] + cosine * cell[c]);
        }
        sum.map(|v| v as f32)
    };
    normals.map(gather).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: [u32; 2] = [512, 256];

    fn sunny() -> Vec<[f32; 3]> {
        let mut pixels = vec![[0.5, 0.6, 0.9]; 512 * 256];
        // A sun of 3x3 pixels, and a dimmer one half as far down.
        for (x0, y0, value) in [(100, 60, 9000.0), (400, 120, 3000.0)] {
            for i in 0..9 {
                pixels[(y0 + i / 3) * 512 + x0 + i % 3] = [value, value, value * 0.8];
            }
        }
        pixels
    }

    #[test]
    fn an_even_sky_has_no_bright_parts() {
        assert!(Bright::of(512, 256, &vec![[1.0; 3]; 512 * 256]).is_empty());
        assert!(Bright::of(512, 256, &vec![[0.0; 3]; 512 * 256]).is_empty());
    }

    #[test]
    fn both_parts_together_are_the_whole() {
        let pixels = sunny();
        let bright = Bright::of(512, 256, &pixels);
        let (mut all, mut smooth) = (0.0, 0.0);
        for (i, pixel) in (0..).zip(&pixels) {
            let l = luminance(pixel.map(f64::from));
            let angle = solid_angle(i / 512, 512, 256);
            all += l * angle;
            smooth += l.min(f64::from(bright.limit)) * angle;
        }
        // Every cell's light has the luminance of all bright parts, as a white surface reflects it.
        let lit = bright.light.iter().find(|c| c[1] > 0.0).unwrap();
        let found = luminance(lit.map(f64::from)) * PI;
        assert!((found - (all - smooth)).abs() < 1e-3 * found, "{found} against {}", all - smooth);
    }

    #[test]
    fn the_alias_table_chooses_by_share() {
        let weights = [0.0, 3.0, 1.0, 0.0, 4.0];
        let table = alias_table(&weights, 8.0);
        let mut chance = [0.0_f64; 5];
        for (i, &(keep, other)) in table.iter().enumerate() {
            chance[i] += f64::from(keep) / 5.0;
            chance[other as usize] += (1.0 - f64::from(keep)) / 5.0;
        }
        for (found, weight) in chance.iter().zip(weights) {
            assert!((found - weight / 8.0).abs() < 1e-6, "{chance:?}");
        }
    }

    #[test]
    fn unshadowed_light_falls_from_the_sun() {
        let bright = Bright::of(512, 256, &sunny());
        let sun = direction(101, 61, SIZE);
        let [w, h] = IRRADIANCE_SIZE;
        let brightest =
            (0..w * h).max_by(|&a, &b| bright.irradiance[a as usize][1].total_cmp(&bright.irradiance[b as usize][1]));
        let n = normal(brightest.unwrap() % w, brightest.unwrap() / w);
        let cosine: f64 = n.iter().zip(sun).map(|(a, b)| a * b).sum();
        assert!(cosine > 0.9, "{n:?} against {sun:?}");
    }
}
