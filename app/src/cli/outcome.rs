//! What a command hands back to be printed.

use serde_json::Value;

/// The outcome of a command that could run.
#[derive(Debug)]
pub struct Outcome {
    /// The document printed with `--json`.
    pub json: Value,
    /// The text printed otherwise.
    pub text: String,
    /// Whether the answer is yes; `false` makes the exit code 1.
    pub holds: bool,
}

impl Outcome {
    /// An outcome whose answer is yes.
    pub fn yes(json: Value, text: impl Into<String>) -> Self {
        Self { json, text: text.into(), holds: true }
    }
}

/// `Err` means that the command could not run: exit code 2.
pub type CommandResult = anyhow::Result<Outcome>;
