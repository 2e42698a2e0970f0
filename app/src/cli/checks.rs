//! A computed frame against a recorded one, check by check.

use anyhow::{Context as _, Result};
use network::capture::{Check, DType, RecordedFrame, Tensor};
use network::geometry::Extent;
use network::metrics::{DEFAULT_PIXELS_PER_DEGREE, Likeness, Rgb8};
use network::numerics::half;
use network::parity::{Comparison, Verdict, compare_codes, compare_f32, compare_rgb8};
use serde::Serialize;

/// The comparison of one tensor, or of all boundaries.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// Which check.
    pub check: Check,
    /// Whether every bit is the recorded one.
    pub exact: bool,
    /// The same: nothing else passes.
    pub passes: bool,
    /// Tensors compared.
    pub tensors: usize,
    /// Those that differ, with counts and first positions.
    pub comparisons: Vec<Comparison>,
    /// Largest distance in steps of the half grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_steps: Option<u32>,
    /// PSNR in dB, SSIM and FLIP of the presented picture, where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likeness: Option<Alike>,
}

/// How alike two pictures are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Alike {
    /// dB, peak 255.
    pub psnr: f64,
    /// Of the luma.
    pub ssim: f64,
    /// Mean FLIP at the default pixels per degree.
    pub flip: f64,
    /// Those pixels per degree.
    pub pixels_per_degree: f32,
}

impl std::fmt::Display for Checked {
    /// A line a tensor that differs, or one line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.exact {
            return writeln!(f, "  ok   {:?}: bit-exact ({} tensors)", self.check, self.tensors);
        }
        writeln!(f, "  DIFF {:?}: {} of {} tensors", self.check, self.comparisons.len(), self.tensors)?;
        for comparison in self.comparisons.iter().take(4) {
            writeln!(f, "       {}", comparison.to_string().replace('\n', "\n       "))?;
        }
        if let Some(steps) = self.half_steps {
            writeln!(f, "       at most {steps} half steps apart")?;
        }
        if let Some(a) = self.likeness {
            let ppd = a.pixels_per_degree;
            writeln!(
                f,
                "       PSNR {:.2} dB, SSIM {:.6}, FLIP {:.6} at {ppd} pixels a degree",
                a.psnr, a.ssim, a.flip
            )?;
        }
        Ok(())
    }
}

/// Compares every output of a frame with the recorded one.
///
/// # Errors
/// A recorded file has changed, or a tensor has another shape.
pub fn compare_frame(frame: &RecordedFrame, computed: &[Tensor]) -> Result<Vec<Checked>> {
    let single = [
        (Check::Features, "features"),
        (Check::Head, "head"),
        (Check::NextHistory, "next-history"),
        (Check::Published, "published"),
        (Check::Display, "display"),
    ];
    let mut checks = Vec::new();
    for (check, name) in single {
        let found = computed.iter().find(|tensor| tensor.name == name).with_context(|| format!("no {name}"))?;
        checks.push(checked(check, vec![(found, frame.tensor(name)?)])?);
    }
    let known = ["color", "depth", "motion", "proxy", "image", "previous-history", "display-input"].map(str::to_owned);
    let mut boundaries = Vec::new();
    for tensor in computed {
        let plain = single.iter().any(|(_, name)| *name == tensor.name) || known.contains(&tensor.name);
        if !plain && frame.has(&tensor.name) {
            boundaries.push((tensor, frame.tensor(&tensor.name)?));
        }
    }
    if !boundaries.is_empty() {
        checks.insert(1, checked(Check::Boundaries, boundaries)?);
    }
    Ok(checks)
}

fn checked(check: Check, pairs: Vec<(&Tensor, Tensor)>) -> Result<Checked> {
    let tensors = pairs.len();
    let mut comparisons = Vec::new();
    let (mut half_steps, mut likeness) = (None, None);
    for (found, recorded) in pairs {
        if found.bytes == recorded.bytes {
            continue;
        }
        comparisons.push(compare_tensors(found, &recorded)?);
        if found.dtype == DType::F16 {
            half_steps = half_steps.max(Some(largest_steps(found, &recorded)));
        }
        if check == Check::Display {
            likeness = alike(found, &recorded);
        }
    }
    let exact = comparisons.is_empty();
    Ok(Checked { check, exact, passes: exact, tensors, comparisons, half_steps, likeness })
}

/// The tally of two tensors of one name.
///
/// # Errors
/// Their shapes differ.
pub fn compare_tensors(found: &Tensor, recorded: &Tensor) -> Result<Comparison> {
    let [_, width, channels] = recorded.shape;
    let name = &recorded.name;
    let widened = |tensor: &Tensor| -> Vec<f32> { tensor.as_halves().into_iter().map(half::to_f32).collect() };
    let comparison = match recorded.dtype {
        DType::E4m3 => compare_codes(name, width, channels, &found.bytes, &recorded.bytes)?,
        DType::F16 => compare_f32(name, width, channels, channels, &widened(found), &widened(recorded))?,
        DType::F32 => compare_f32(name, width, channels, channels, &found.as_floats(), &recorded.as_floats())?,
        DType::U8 => {
            let rgb: Vec<u8> = found.bytes.as_chunks::<4>().0.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
            let mut comparison = compare_rgb8(name, width, &rgb, &recorded.bytes, 4)?;
            // One code of tolerance is for pictures of unknown rounding; here the rounding is known.
            if comparison.verdict == Verdict::WithinOneCode {
                comparison.verdict = Verdict::Mismatch;
            }
            comparison
        }
    };
    Ok(comparison)
}

fn largest_steps(a: &Tensor, b: &Tensor) -> u32 {
    let ordinal = |bits: u16| {
        let magnitude = i32::from(bits & 0x7fff);
        if bits & 0x8000 == 0 { magnitude } else { -magnitude }
    };
    a.as_halves().iter().zip(b.as_halves()).map(|(&a, b)| ordinal(a).abs_diff(ordinal(b))).max().unwrap_or(0)
}

fn alike(found: &Tensor, recorded: &Tensor) -> Option<Alike> {
    let extent = Extent::new(u32::try_from(recorded.shape[1]).ok()?, u32::try_from(recorded.shape[0]).ok()?);
    let picture = |tensor: &Tensor| Rgb8::from_rgba(extent, &tensor.bytes);
    let likeness = Likeness::of(&picture(recorded)?, &picture(found)?, DEFAULT_PIXELS_PER_DEGREE).ok()?;
    Some(Alike {
        psnr: likeness.psnr,
        ssim: likeness.ssim.luma,
        flip: likeness.flip.mean(),
        pixels_per_degree: likeness.flip.pixels_per_degree,
    })
}
