//! What was found of devices, kept in the user's cache folder: one small document for each device, driver and build of the kernels.
//!
//! It must name all of them itself. Whatever cannot be read, or names another, is as if nothing were there.

use std::fs;
use std::path::{Path, PathBuf};

use gpu::{CacheMode, Capabilities};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Finding;

/// The document. Two findings are of the same thing if everything else agrees.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Document {
    device: String,
    device_uuid: String,
    driver: String,
    driver_version: u32,
    pipeline_cache_uuid: String,
    digest: String,
    finding: Finding,
}

impl Document {
    fn of(caps: &Capabilities, digest: &str, finding: Finding) -> Self {
        Self {
            device: caps.name.clone(),
            device_uuid: caps.device_uuid.clone(),
            driver: caps.driver.clone(),
            driver_version: caps.driver_version,
            pipeline_cache_uuid: caps.pipeline_cache_uuid.clone(),
            digest: digest.to_owned(),
            finding,
        }
    }
}

/// The user's cache folder, if there is to be one.
pub fn folder() -> Option<PathBuf> {
    CacheMode::User.folder()
}

/// A name of its own for everything that the finding depends on.
fn file(folder: &Path, caps: &Capabilities, digest: &str) -> PathBuf {
    let name = serde_json::to_vec(&Document::of(caps, digest, Finding::default())).unwrap_or_default();
    let name: String = Sha256::digest(name).iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    folder.join(format!("float8-{name}.json"))
}

/// What was found, if it was of this device, this driver and these kernels.
pub fn read(folder: &Path, caps: &Capabilities, digest: &str) -> Option<Finding> {
    let document: Document = serde_json::from_slice(&fs::read(file(folder, caps, digest)).ok()?).ok()?;
    let finding = document.finding.clone();
    (document == Document::of(caps, digest, finding.clone())).then_some(finding)
}

/// Keeps a finding. That it cannot be kept is no error: the next use finds out anew.
pub fn write(folder: &Path, caps: &Capabilities, digest: &str, finding: &Finding) {
    let to = file(folder, caps, digest);
    let document = serde_json::to_vec_pretty(&Document::of(caps, digest, finding.clone())).unwrap_or_default();
    if let Err(error) = gpu::replace_file(&to, &document) {
        tracing::warn!("{} cannot be written: {error}", to.display());
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tally;
    use super::*;

    fn exact() -> Finding {
        let tally = Tally { compared: 9, differ: 0, first: None };
        Finding { steps: tally.clone(), frames: tally }
    }

    fn device() -> Capabilities {
        Capabilities { name: "one".into(), driver: "d 1".into(), driver_version: 7, ..Capabilities::default() }
    }

    #[test]
    fn a_finding_counts_for_its_device_driver_and_kernels_alone() {
        let folder = tempfile::tempdir().unwrap();
        let caps = device();
        assert_eq!(read(folder.path(), &caps, "k"), None);
        write(folder.path(), &caps, "k", &exact());
        assert_eq!(read(folder.path(), &caps, "k"), Some(exact()));
        assert_eq!(read(folder.path(), &caps, "l"), None);
        for other in [
            Capabilities { name: "two".into(), ..device() },
            Capabilities { driver: "d 2".into(), ..device() },
            Capabilities { driver_version: 8, ..device() },
            Capabilities { device_uuid: "00".into(), ..device() },
            Capabilities { pipeline_cache_uuid: "00".into(), ..device() },
        ] {
            assert_eq!(read(folder.path(), &other, "k"), None, "{other:?}");
            // Nor under that device's name.
            fs::copy(file(folder.path(), &caps, "k"), file(folder.path(), &other, "k")).unwrap();
            assert_eq!(read(folder.path(), &other, "k"), None, "{other:?}");
        }
    }

    #[test]
    fn a_damaged_finding_counts_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let caps = device();
        write(folder.path(), &caps, "k", &exact());
        let path = file(folder.path(), &caps, "k");
        let whole = fs::read(&path).unwrap();
        for length in [0, 1, whole.len() / 2, whole.len() - 2] {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(read(folder.path(), &caps, "k"), None, "{length} bytes");
        }
    }

    #[test]
    fn one_bit_or_nothing_compared_is_not_exact() {
        assert!(exact().exact());
        let wrong = Tally { compared: 9, differ: 1, first: Some("here".into()) };
        assert!(!Finding { steps: wrong.clone(), ..exact() }.exact());
        let frames = Finding { frames: wrong, ..exact() };
        assert!(!frames.exact() && frames.to_string().contains("1 of 9 differ, first here"), "{frames}");
        assert!(!Finding::default().exact());
        assert!(!Finding { frames: Tally::default(), ..exact() }.exact());
    }
}
