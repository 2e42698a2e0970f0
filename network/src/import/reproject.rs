//! Does the motion explain how two frames differ?

use serde::Serialize;

use super::ImportedFrame;
use crate::geometry::Extent;
use crate::numerics::half;

/// Pixels that are looked at, about.
const SAMPLES: usize = 40_000;
/// Share of the sampled pixels that must stay inside the picture for a candidate to count.
const INSIDE: f64 = 0.3;
/// The declared motion passes when its error is at most this much above the best candidate's.
const TOLERANCE: f64 = 1.10;
/// Motion below this many pixels tells nothing.
const STILL: f32 = 0.2;

/// What would have to be done to the motion vectors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fix {
    /// Factor of x.
    pub x: f32,
    /// Factor of y.
    pub y: f32,
    /// Whether the factor is that of pixels for uv units (picture width and height multiplied in).
    pub pixels: Option<bool>,
}

impl std::fmt::Display for Fix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        match (self.x < 0.0, self.y < 0.0) {
            (true, true) => parts.push("both signs flipped (the other direction)".to_owned()),
            (true, false) => parts.push("the sign of x flipped".to_owned()),
            (false, true) => parts.push("the sign of y flipped (the other y direction)".to_owned()),
            (false, false) => {}
        }
        match self.pixels {
            Some(true) => parts.push("scaled from pixels to uv (unit pixels)".to_owned()),
            Some(false) => parts.push("scaled from uv to pixels' place (unit uv)".to_owned()),
            None => {
                let scale = self.x.abs();
                if scale == 0.5 {
                    parts.push("halved (unit ndc instead of uv)".to_owned());
                } else if scale == 2.0 {
                    parts.push("doubled (unit uv instead of ndc)".to_owned());
                }
            }
        }
        if parts.is_empty() { f.write_str("as it is") } else { f.write_str(&parts.join(", ")) }
    }
}

/// The verdict on a pair of frames.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MotionVerdict {
    /// Mean error of the previous frame moved by the motion as declared, in display code values 0..=1.
    pub declared: f64,
    /// The same without motion.
    pub still: f64,
    /// The best candidate.
    pub best: Fix,
    /// Its error.
    pub best_error: f64,
    /// Whether the declared motion is as good as any candidate and better than none.
    pub passes: bool,
    /// Pixels that moved.
    pub moving: usize,
}

/// Compares a frame with the one before it, moved by the motion as declared and by what flips and scales would make of it.
/// `None` when too little moves to tell.
pub fn check_motion(current: &ImportedFrame, previous: &ImportedFrame, extent: Extent) -> Option<MotionVerdict> {
    let (w, h) = (extent.width as f32, extent.height as f32);
    let mut candidates = Vec::new();
    for (sx, sy) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        for scale in [1.0, 0.5, 2.0] {
            candidates.push((Fix { x: sx * scale, y: sy * scale, pixels: None }, [sx * scale, sy * scale]));
        }
        candidates.push((Fix { x: sx, y: sy, pixels: Some(true) }, [sx / w, sy / h]));
        candidates.push((Fix { x: sx, y: sy, pixels: Some(false) }, [sx * w, sy * h]));
    }
    // A pixel counts when any plausible reading of its vector moves it.
    let step = (extent.pixels() / SAMPLES).max(1);
    let moving: Vec<usize> = (0..extent.pixels())
        .step_by(step)
        .filter(|&i| {
            let [x, y] = current.motion[i];
            x.is_finite() && y.is_finite() && (x * w).hypot(y * h) > STILL / w.max(h)
        })
        .collect();
    if moving.len() < 64 {
        return None;
    }
    let error = |factor: [f32; 2]| {
        let (mut sum, mut count) = (0.0, 0usize);
        for &i in &moving {
            let (px, py) = ((i as u32 % extent.width) as f32, (i as u32 / extent.width) as f32);
            let (x, y) = (px + current.motion[i][0] * factor[0] * w, py + current.motion[i][1] * factor[1] * h);
            if x < 0.0 || y < 0.0 || x > w - 1.0 || y > h - 1.0 {
                continue;
            }
            let there = bilinear(&previous.color, extent, x, y);
            let here = pixel(&current.color, i);
            sum += (0..3).map(|c| f64::from((there[c] - here[c]).abs())).sum::<f64>() / 3.0;
            count += 1;
        }
        // Candidates that leave the picture everywhere explain nothing.
        (count as f64 >= INSIDE * moving.len() as f64).then(|| sum / count as f64)
    };
    let still = error([0.0, 0.0])?;
    let declared = error([1.0, 1.0]).unwrap_or(f64::INFINITY);
    let mut best = (candidates[0].0, declared);
    for (fix, factor) in candidates.into_iter().skip(1) {
        // Factors that leave (nearly) nothing of the motion are the still picture, no reading of their own.
        if let Some(error) = error(factor)
            && error < best.1
            && error < 0.95 * still
        {
            best = (fix, error);
        }
    }
    let passes = declared <= TOLERANCE * best.1 && declared <= still;
    Some(MotionVerdict { declared, still, best: best.0, best_error: best.1, passes, moving: moving.len() })
}

/// Display code values, about: clamped, gamma 2.2.
fn pixel(color: &[[u16; 4]], i: usize) -> [f32; 3] {
    let [r, g, b, _] = color[i];
    [r, g, b].map(|v| half::to_f32(v).clamp(0.0, 1.0).powf(1.0 / 2.2))
}

fn bilinear(color: &[[u16; 4]], extent: Extent, x: f32, y: f32) -> [f32; 3] {
    let width = extent.width as usize;
    let (x0, y0) = (x as usize, y as usize);
    let (x1, y1) = ((x0 + 1).min(width - 1), (y0 + 1).min(extent.height as usize - 1));
    let (fx, fy) = (x - x0 as f32, y - y0 as f32);
    let at = |x: usize, y: usize| pixel(color, y * width + x);
    let (a, b, c, d) = (at(x0, y0), at(x1, y0), at(x0, y1), at(x1, y1));
    std::array::from_fn(|i| {
        let top = a[i] + (b[i] - a[i]) * fx;
        let bottom = c[i] + (d[i] - c[i]) * fx;
        top + (bottom - top) * fy
    })
}
