//! Forms of the tensor route's kernels that may be faster than the usual one and have not been timed yet.
//!
//! `NRVIEW_TENSOR_TRIAL` names those to take, so that one build can be timed in all of them. See docs/tensor.md.

/// What is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trial {
    /// A cheaper rounding of operands between products, which leaves out the coarser grid of the smallest codes.
    pub coarse: bool,
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
                "coarse" => trial.coarse = true,
                other => return Err(format!("{VARIABLE} knows coarse, not {other:?}")),
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
        assert_eq!(Trial::parse(" coarse"), Ok(Trial { coarse: true }));
        assert!(Trial::parse("coarse,fast").unwrap_err().contains("\"fast\""));
    }
}
