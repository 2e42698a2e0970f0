//! The report of a certification: one JSON document and one text.

use anyhow::Result;
use network::capture::sha256;
use network::geometry::Geometry;
use network::replay::{Claim, Gate, Ladder, Row, Verdict};
use serde_json::json;

use super::case::Case;
use crate::cli::record;

/// A report, ready to be written.
pub struct Made {
    pub json_name: String,
    pub json: String,
    pub text_name: String,
    pub text: String,
}

/// Makes the report.
///
/// # Errors
/// It cannot be encoded.
pub fn make(case: &Case, ladder: &Ladder, verdict: &Verdict, claim: Claim) -> Result<Made> {
    let Geometry { valid, field, .. } = case.geometry;
    let tape = case.identity.as_ref().map(|identity| identity.digest());
    let document = json!({
        "schema": "nrview certification 1",
        "claim": claim,
        "verdict": verdict,
        "record": record::circumstances(&case.studio.device, &case.model),
        "fixture": {
            "scene": "builtin",
            "camera": "scripted path, 30 frames a second",
            "seed": "the frame's number",
            "size": valid.to_string(),
            "field": field.to_string(),
            "route": case.route,
        },
        "subject": case.subject,
        "tape": { "identity": case.identity, "digest": tape },
        "gates": ladder.results(),
    });
    let mut text = format!("{document:#}\n");
    let digest = sha256(text.as_bytes());
    let json = std::mem::take(&mut text);

    let mut out = format!("# {} route, {valid}: {}\n\n", case.route, verdict.name());
    out.push_str(&format!(
        "- device: {} ({})\n- model: {} ({})\n- size {valid}, field {field}\n- tape: {}\n- class of evidence: {claim}\n- report: \
         sha256 {digest}\n\n",
        case.subject.device,
        case.subject.driver,
        case.model.description(),
        &case.subject.model,
        tape.as_deref().unwrap_or("none"),
    ));
    for (number, gate) in (1..).zip(Gate::ALL) {
        let line = match ladder.results().iter().find(|result| result.gate == gate) {
            Some(result) => {
                let word = if result.passed { "passed" } else { "FAILED" };
                let relaxed = match result.relaxed.as_slice() {
                    [] => String::new(),
                    relaxed => format!(" Relaxed: {}.", relaxed.join("; ")),
                };
                format!("{word}. {}.{relaxed}", result.finding)
            }
            None => "not tried".to_owned(),
        };
        out.push_str(&format!("{number}. **{gate}**: {line}\n"));
    }
    out.push_str(&format!("\nVerdict: {verdict}\n"));
    if let (Verdict::Certified, Some(tape)) = (verdict, tape) {
        let row = Row {
            device: case.subject.device.clone(),
            driver: case.subject.driver.clone(),
            model: case.subject.model.clone(),
            extent: case.subject.extent.clone(),
            route: case.route,
            tape,
            report: digest,
        };
        out.push_str(&format!("\nRow for assets/admissions.json:\n\n```json\n{:#}\n```\n", serde_json::to_value(row)?));
    }
    let stem = format!("{}-{}-{valid}-{}", name_of(&case.subject.device), case.route, verdict.name());
    Ok(Made { json_name: format!("{stem}.json"), json, text_name: format!("{stem}.md"), text: out })
}

/// A device's name as part of a file's: its first words, in small letters.
fn name_of(device: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = device.chars().map(word).collect();
    let mut parts = name.split('-').filter(|part| !part.is_empty());
    let first: Vec<&str> = parts.by_ref().take(2).collect();
    first.join("-")
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn files_are_named_after_the_device() {
        assert_eq!(name_of("NVIDIA H200"), "nvidia-h200");
        assert_eq!(name_of("llvmpipe (LLVM 19.1.7, 256 bits)"), "llvmpipe-llvm");
    }
}
