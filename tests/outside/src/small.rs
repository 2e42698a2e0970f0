//! Parsers of one text or one blob.

use std::fmt::Write as _;

use gpu::{CacheKey, decode_cache, encode_cache};
use network::profile::{Profile, compare};
use network::replay::Registry;
use serde_json::{Value, json};

use crate::{Check, edit, sentence};

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// The pipeline cache on disk: as it is, and what lies behind a right header.
pub fn cache() -> Check {
    let key = CacheKey {
        vendor: 0x10de,
        device: 0x2335,
        driver: 0x9100_0040,
        uuid: "00112233445566778899aabbccddeeff".into(),
    };
    Box::new(move |bytes| {
        if let Ok(data) = decode_cache(&key, bytes) {
            assert_eq!(encode_cache(&key, data), bytes, "one file for the same data");
        }
        let whole = encode_cache(&key, bytes);
        if let Ok(data) = decode_cache(&key, &whole) {
            assert_eq!(data, bytes);
        }
    })
}

/// The viewer's settings: what is read is in its ranges, so that writing and reading it again changes nothing.
pub fn settings() -> Check {
    let good = nrview::outside::settings("{}").expect("settings by default");
    let good: Value = serde_json::from_str(&good).expect("JSON");
    Box::new(move |bytes| {
        let document = edit::document(&good, bytes);
        let Some(text) = text(&document) else { return };
        match nrview::outside::settings(text) {
            Ok(tame) => assert_eq!(nrview::outside::settings(&tame).as_deref(), Ok(tame.as_str()), "written twice"),
            Err(error) => sentence(&error),
        }
    })
}

/// A preset of the viewer.
pub fn preset() -> Check {
    let good = json!({ "kind": "nrview preset", "version": 1, "controls": { "tone": 0.5, "style": 1, "custom": 1, "reset-every": 3 } });
    Box::new(move |bytes| {
        let document = edit::document(&good, bytes);
        let Some(text) = text(&document) else { return };
        match nrview::outside::preset(text) {
            Ok(all) => assert_eq!(nrview::outside::preset(&all).as_deref(), Ok(all.as_str()), "written twice"),
            Err(error) => sentence(&error),
        }
    })
}

/// A side of a comparison, from the command line or the settings.
pub fn side() -> Check {
    Box::new(|bytes| {
        let Some(text) = text(bytes) else { return };
        match nrview::outside::side(text) {
            Ok(side) => assert_eq!(nrview::outside::side(&side).as_deref(), Ok(side.as_str()), "written twice"),
            Err(error) => sentence(&error),
        }
    })
}

/// A picture for the network.
pub fn picture() -> Check {
    Box::new(|bytes| match nrview::outside::picture(bytes) {
        Ok(size) => assert!(size.iter().all(|side| (1..=network::geometry::MAX_SIDE).contains(side)), "{size:?}"),
        Err(error) => sentence(&error),
    })
}

/// A saved profile, and its comparison with itself.
pub fn profile() -> Check {
    let good: Value = serde_json::from_str(include_str!("../data/profile.json")).expect("a profile");
    Box::new(move |bytes| {
        let document = edit::document(&good, bytes);
        let Some(text) = text(&document) else { return };
        match Profile::parse(text) {
            Ok(profile) => match compare(&profile, &profile) {
                Ok(comparison) => {
                    let mut out = String::new();
                    write!(out, "{comparison:?}").expect("into memory");
                }
                Err(error) => sentence(&error.to_string()),
            },
            Err(error) => sentence(&error.to_string()),
        }
    })
}

/// The registry of certified cases.
pub fn registry() -> Check {
    let row = json!({
        "device": "d", "driver": "v", "model": "m", "extent": "320x320", "route": "retained-secondary", "tape": "t", "report": "r",
    });
    let good = json!({ "rows": [row, row] });
    Box::new(move |bytes| {
        let document = edit::document(&good, bytes);
        let Some(text) = text(&document) else { return };
        match Registry::parse(text) {
            Ok(registry) => {
                assert!(registry.rows.iter().all(|row| !row.device.contains('*') && row.route.is_retained()))
            }
            Err(error) => sentence(&error),
        }
    })
}
