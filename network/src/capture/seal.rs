//! Documents that carry a digest of themselves.
//!
//! The last member of a sealed document is `"sha256"`. The digest is that of the document's bytes with 64 zeros in
//! place of its own digits.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::model::records::hex;

/// What stands in front of the digits.
const KEY: &str = "\"sha256\": \"";
/// The digits while the digest is computed.
const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The sealed text of a document, which must serialize to an object with at least one member and no `sha256` of its own
/// at the top.
pub(super) fn seal(document: &impl Serialize) -> serde_json::Result<String> {
    let open = serde_json::to_string_pretty(document)?;
    let body = open.trim_end().trim_end_matches('}').trim_end();
    let blank = format!("{body},\n  {KEY}{BLANK}\"\n}}\n");
    let digest = hex(&Sha256::digest(blank.as_bytes()));
    Ok(format!("{body},\n  {KEY}{digest}\"\n}}\n"))
}

/// Whether a document carries its own digest.
pub(super) fn intact(text: &[u8]) -> bool {
    let Some(start) = text.windows(KEY.len()).rposition(|window| window == KEY.as_bytes()).map(|at| at + KEY.len())
    else {
        return false;
    };
    let Some(digits) = text.get(start..start + 64) else { return false };
    let mut hash = Sha256::new();
    hash.update(&text[..start]);
    hash.update(BLANK.as_bytes());
    hash.update(&text[start + 64..]);
    hex(&hash.finalize()).as_bytes() == digits
}

/// The digest that a sealed document carries.
pub(super) fn digest_of(text: &str) -> String {
    let start = text.rfind(KEY).map_or(text.len(), |at| at + KEY.len());
    text.get(start..start + 64).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts() {
        let text = seal(&serde_json::json!({"a": 1, "b": ["x"]})).unwrap();
        assert!(intact(text.as_bytes()), "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["sha256"], digest_of(&text));
        for bit in 0..text.len() * 8 {
            let mut changed = text.clone().into_bytes();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(!intact(&changed), "bit {bit}");
        }
    }
}
