//! Forms of the tensor route's kernels that may be faster than the usual one and have not been timed yet.
//!
//! `NRVIEW_TENSOR_TRIAL` names those to take, so that one build can be timed in all of them. See docs/tensor.md.

/// What is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trial {
    /// Blocks of 128 and 256 channels in loops that stay loops, for fewer registers. The same bits.
    pub lean: bool,
    /// A cheaper rounding of operands between products, which leaves out the coarser grid of the smallest codes.
    pub coarse: bool,
    /// K of the 512-channel multiplies in two parts side by side where there are few rows.
    pub split: bool,
}

/// Where the names are.
const VARIABLE: &str = "NRVIEW_TENSOR_TRIAL";

impl Trial {
    /// What the environment asks for.
    ///
    /// # Errors
    /// A name that is none.
    pub fn asked() -> Result<Self, String> {
        Self::parse(&std::env::var(VARIABLE).unwrap_or_default())
    }

    fn parse(names: &str) -> Result<Self, String> {
        let mut trial = Self::default();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "lean" => trial.lean = true,
                "coarse" => trial.coarse = true,
                "split" => trial.split = true,
                other => return Err(format!("{VARIABLE} knows lean, coarse and split, not {other:?}")),
            }
        }
        Ok(trial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_trials() {
        assert_eq!(Trial::parse(""), Ok(Trial::default()));
        let both = Trial { lean: true, split: true, ..Trial::default() };
        assert_eq!(Trial::parse("lean, split"), Ok(both));
        assert!(Trial::parse("lean,fast").unwrap_err().contains("\"fast\""));
    }
}
