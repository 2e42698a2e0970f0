//! The weights that the command line names.

use anyhow::Result;
use network::model::Source;
use network::parity::ModelIdentity;

use crate::cli::Globals;

/// Where `--model` says that the weights come from; the starter weights by default.
///
/// # Errors
/// The argument names nothing.
pub fn source(globals: &Globals) -> Result<Source> {
    match globals.model.as_deref() {
        Some(text) => Ok(text.parse()?),
        None => Ok(Source::default()),
    }
}

/// The model that a fixture names.
///
/// # Errors
/// The fixture names a preset that this program does not have.
pub fn of_fixture(identity: &ModelIdentity) -> Result<Source> {
    let ModelIdentity { preset, seed, .. } = identity;
    Ok(match preset.as_str() {
        "starter" | "identity" => preset.parse()?,
        _ => format!("{preset}:{seed}").parse()?,
    })
}
