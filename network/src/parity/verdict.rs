//! Results of comparisons.

use serde::Serialize;

/// Outcome of one comparison, from the worst to the best (fixtures section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// At least one difference that is not of the kinds below.
    Mismatch,
    /// Only differences between +0 and -0. Does not pass.
    SignOfZero,
    /// Only 8-bit values one code apart. Passes.
    WithinOneCode,
    /// No difference.
    BitExact,
}

impl Verdict {
    /// Whether the comparison counts as a success.
    pub const fn passes(self) -> bool {
        matches!(self, Self::WithinOneCode | Self::BitExact)
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Mismatch => "mismatch",
            Self::SignOfZero => "equal up to the sign of zero",
            Self::WithinOneCode => "within one code",
            Self::BitExact => "bit-exact",
        })
    }
}

/// Where a value differs, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// Column of the pixel or token.
    pub x: usize,
    /// Row of the pixel or token.
    pub y: usize,
    /// Channel.
    pub channel: usize,
    /// Bits or code that were computed.
    pub found: u32,
    /// Bits or code of the reference.
    pub expected: u32,
}

/// Differences of one comparison, value by value.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Values compared.
    pub values: usize,
    /// Values that differ in more than the sign of a zero, one-code differences of 8-bit values included.
    pub different: usize,
    /// Zeros of different sign.
    pub zero_signs: usize,
    /// 8-bit values exactly one code apart, counted in `different` as well.
    pub one_code: usize,
    /// Largest absolute difference of the values, among those that are finite on both sides.
    pub largest: f64,
    /// Root mean square difference over the values that are finite on both sides.
    pub rms: f64,
    /// Differing values that are infinite or NaN on either side.
    pub not_finite: usize,
    /// The first difference of any kind in row-major order.
    pub first: Option<Position>,
    /// E4M3 only: differing values by signed code distance, clamped to -9..=9; entry 9 is distance 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<[usize; 19]>,
}

impl Tally {
    /// Share of `different` in `values`, in percent.
    pub fn percentage(&self) -> f64 {
        100.0 * self.different as f64 / self.values.max(1) as f64
    }

    /// The verdict. One-code differences are tolerated because only 8-bit comparisons count any.
    pub fn verdict(&self) -> Verdict {
        if self.different > self.one_code {
            Verdict::Mismatch
        } else if self.zero_signs > 0 {
            Verdict::SignOfZero
        } else if self.one_code > 0 {
            Verdict::WithinOneCode
        } else {
            Verdict::BitExact
        }
    }
}

/// One comparison of a tensor or image with its reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Boundary name, `head`, `output`, ...
    pub name: String,
    /// The outcome.
    pub verdict: Verdict,
    /// Absent when only a digest is known; the verdict is then bit-exact or mismatch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tally: Option<Tally>,
}

impl Comparison {
    /// A comparison value by value.
    pub(super) fn tallied(name: &str, tally: Tally) -> Self {
        Self { name: name.to_owned(), verdict: tally.verdict(), tally: Some(tally) }
    }
}

impl std::fmt::Display for Comparison {
    /// One line; the histogram of an E4M3 mismatch follows on a second.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name, self.verdict)?;
        let Some(tally) = &self.tally else {
            return f.write_str(" (by digest)");
        };
        if self.verdict == Verdict::BitExact {
            return Ok(());
        }
        write!(f, ", {} of {} values ({:.4} %)", tally.different, tally.values, tally.percentage())?;
        if tally.zero_signs > 0 {
            write!(f, ", {} signs of zero", tally.zero_signs)?;
        }
        if tally.different > 0 {
            write!(f, ", largest {:.6}, rms {:.6}", tally.largest, tally.rms)?;
        }
        if tally.not_finite > 0 {
            write!(f, ", {} not finite", tally.not_finite)?;
        }
        if let Some(at) = tally.first {
            write!(f, ", first at x {} y {} channel {}", at.x, at.y, at.channel)?;
            write!(f, " ({:#x}, expected {:#x})", at.found, at.expected)?;
        }
        if let (Verdict::Mismatch, Some(histogram)) = (self.verdict, &tally.histogram) {
            f.write_str("\n  code distance:")?;
            for (entry, count) in histogram.iter().enumerate().filter(|(_, count)| **count > 0) {
                write!(f, " {:+}: {count}", entry as i32 - 9)?;
            }
        }
        Ok(())
    }
}

/// Why two things cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// The lengths differ.
    #[error("{name}: {found} values were computed, the reference has {expected}")]
    Length {
        /// What is compared.
        name: String,
        /// Values computed.
        found: usize,
        /// Values of the reference.
        expected: usize,
    },
    /// The fixture has no such reference.
    #[error("fixture {fixture:?} has no reference for {name}")]
    NoReference {
        /// The fixture.
        fixture: String,
        /// What was to be compared.
        name: String,
    },
}
