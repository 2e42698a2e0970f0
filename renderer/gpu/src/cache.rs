//! The pipeline cache on disk.
//!
//! A driver may crash on cache data that it did not write, so a file is used only when its own
//! header names this device and driver, its length and digest are right, and Vulkan's header
//! inside agrees. Any doubt means starting empty.

use crate::capabilities::Capabilities;
use faults::files;
use sha2::{Digest, Sha256};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Where the pipeline cache is kept.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum CacheMode {
    /// The folder in `NRVIEW_CACHE_DIR` (empty: no cache), or `nrview` in the user's cache
    /// folder.
    #[default]
    User,
    /// This folder.
    Folder(PathBuf),
    /// Nowhere.
    Off,
}

impl CacheMode {
    /// The folder, when there is to be one.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        match self {
            Self::Folder(folder) => Some(folder.clone()),
            Self::Off => None,
            Self::User => user_folder(|name| std::env::var_os(name)),
        }
    }

    /// The file for a device, when there is a folder for it.
    pub(crate) fn file(&self, key: &CacheKey) -> Option<PathBuf> {
        Some(self.folder()?.join(key.file_name()))
    }
}

/// The cache folder an environment asks for.
fn user_folder(var: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    if let Some(folder) = var("NRVIEW_CACHE_DIR") {
        return (!folder.is_empty()).then(|| PathBuf::from(folder));
    }
    let absolute = |name: &str| var(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(base.join("nrview"))
}

/// The device and driver a cache belongs to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CacheKey {
    /// Vendor number.
    pub vendor: u32,
    /// Device number.
    pub device: u32,
    /// Driver version, raw.
    pub driver: u32,
    /// Pipeline cache UUID, 32 hexadecimal digits.
    pub uuid: String,
}

impl CacheKey {
    pub(crate) fn new(c: &Capabilities) -> Self {
        Self { vendor: c.vendor_id, device: c.device_id, driver: c.driver_version, uuid: c.pipeline_cache_uuid.clone() }
    }

    fn file_name(&self) -> String {
        self.named("pipelines", "bin")
    }

    /// The name of a file that belongs to the device and driver.
    pub(crate) fn named(&self, stem: &str, extension: &str) -> String {
        let Self { vendor, device, driver, uuid } = self;
        format!("{stem}-{vendor:04x}-{device:04x}-{driver:08x}-{uuid}.{extension}")
    }

    fn uuid_bytes(&self) -> [u8; 16] {
        let mut out = [0; 16];
        for (byte, i) in out.iter_mut().zip((0..).step_by(2)) {
            let digits = self.uuid.get(i..i + 2).unwrap_or("00");
            *byte = u8::from_str_radix(digits, 16).unwrap_or(0);
        }
        out
    }
}

/// Why a file was not used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// Too short for a header.
    Short,
    /// Not a file of this kind and version.
    Magic,
    /// Of another device or driver.
    OtherDevice,
    /// The data have another length than the header says.
    Length,
    /// The data do not have the digest in the header.
    Digest,
    /// Vulkan's own header disagrees.
    VulkanHeader,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "it is too short",
            Self::Magic => "it is no pipeline cache of this program",
            Self::OtherDevice => "it is of another device or driver",
            Self::Length => "its length is wrong",
            Self::Digest => "its contents are damaged",
            Self::VulkanHeader => "the driver's header inside is wrong",
        })
    }
}

const MAGIC: &[u8; 8] = b"NRVPIPE1";
/// Magic, vendor, device, driver, UUID, length, SHA-256.
const HEADER: usize = 8 + 4 + 4 + 4 + 16 + 8 + 32;
/// VkPipelineCacheHeaderVersionOne.
const VULKAN_HEADER: usize = 32;

fn identity(key: &CacheKey) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for number in [key.vendor, key.device, key.driver] {
        out.extend(number.to_le_bytes());
    }
    out.extend(key.uuid_bytes());
    out
}

/// File contents for cache data.
#[must_use]
pub fn encode(key: &CacheKey, data: &[u8]) -> Vec<u8> {
    let mut out = identity(key);
    out.extend((data.len() as u64).to_le_bytes());
    out.extend(Sha256::digest(data).iter());
    out.extend(data);
    out
}

/// The cache data in a file's contents.
///
/// # Errors
/// Why they cannot be trusted.
pub fn decode<'a>(key: &CacheKey, file: &'a [u8]) -> Result<&'a [u8], Refusal> {
    let (header, data) = file.split_at_checked(HEADER).ok_or(Refusal::Short)?;
    if &header[..8] != MAGIC {
        return Err(Refusal::Magic);
    }
    let identity = identity(key);
    if header[..identity.len()] != identity {
        return Err(Refusal::OtherDevice);
    }
    let (length, digest) = header[identity.len()..].split_at(8);
    if length != (data.len() as u64).to_le_bytes() {
        return Err(Refusal::Length);
    }
    if digest != &Sha256::digest(data)[..] {
        return Err(Refusal::Digest);
    }
    let word = |i: usize| {
        let bytes = data.get(i * 4..i * 4 + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let fits = data.len() >= VULKAN_HEADER
        && word(0).is_some_and(|size| size as usize >= VULKAN_HEADER && size as usize <= data.len())
        && word(1) == Some(1)
        && word(2) == Some(key.vendor)
        && word(3) == Some(key.device)
        && data.get(16..32) == Some(&key.uuid_bytes()[..]);
    if fits { Ok(data) } else { Err(Refusal::VulkanHeader) }
}

/// Largest file that is read.
const LARGEST: u64 = 1 << 30;

/// The bytes of a regular file of acceptable size. It is looked at before it is opened: opening a pipe waits for its other
/// end.
fn contents(file: &Path) -> io::Result<Vec<u8>> {
    let data = std::fs::metadata(file)?;
    if !data.is_file() || data.len() > LARGEST {
        return Err(io::Error::other(format!("it is no file of at most {LARGEST} bytes")));
    }
    std::fs::read(file)
}

/// Cache data from a file; empty when there is none or it is refused.
pub(crate) fn read(file: &Path, key: &CacheKey) -> Vec<u8> {
    let contents = match contents(file) {
        Ok(contents) => contents,
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!("pipeline cache {} not read: {error}", file.display());
            }
            return Vec::new();
        }
    };
    match decode(key, &contents) {
        Ok(data) => data.to_vec(),
        Err(refusal) => {
            tracing::warn!("pipeline cache {} not used: {refusal}", file.display());
            Vec::new()
        }
    }
}

/// Replaces a cache file in one step.
pub(crate) fn write(file: &Path, key: &CacheKey, data: &[u8]) -> io::Result<()> {
    replace_file(file, &encode(key, data))
}

/// Replaces a file in one step, and makes its folder: whoever reads it sees the old contents or the new ones.
///
/// # Errors
/// It cannot be written.
pub fn replace_file(file: &Path, contents: &[u8]) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    files::create_dir_all(folder)?;
    files::write_whole(file, contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> CacheKey {
        CacheKey {
            vendor: 0x10de,
            device: 0x2335,
            driver: 0x9100_0040,
            uuid: "00112233445566778899aabbccddeeff".into(),
        }
    }

    fn data() -> Vec<u8> {
        let mut out = Vec::new();
        for word in [32, 1, 0x10de, 0x2335u32] {
            out.extend(word.to_le_bytes());
        }
        out.extend(key().uuid_bytes());
        out.extend(b"pipelines");
        out
    }

    #[test]
    fn what_was_encoded_decodes() {
        let file = encode(&key(), &data());
        assert_eq!(decode(&key(), &file), Ok(&data()[..]));
    }

    #[test]
    fn every_doubt_is_a_refusal() {
        let good = encode(&key(), &data());
        assert_eq!(decode(&key(), &[]), Err(Refusal::Short));
        assert_eq!(decode(&key(), &good[..HEADER - 1]), Err(Refusal::Short));
        let mut bad = good.clone();
        bad[0] ^= 1;
        assert_eq!(decode(&key(), &bad), Err(Refusal::Magic));
        for other in [
            CacheKey { vendor: 1, ..key() },
            CacheKey { device: 1, ..key() },
            CacheKey { driver: 1, ..key() },
            CacheKey { uuid: "ff112233445566778899aabbccddeeff".into(), ..key() },
        ] {
            assert_eq!(decode(&other, &good), Err(Refusal::OtherDevice));
        }
        assert_eq!(decode(&key(), &good[..good.len() - 1]), Err(Refusal::Length));
        let mut longer = good.clone();
        longer.push(0);
        assert_eq!(decode(&key(), &longer), Err(Refusal::Length));
        let mut flipped = good.clone();
        *flipped.last_mut().unwrap() ^= 1;
        assert_eq!(decode(&key(), &flipped), Err(Refusal::Digest));
    }

    #[test]
    fn the_drivers_header_is_checked_too() {
        for (at, value) in [(0, 16u32), (0, 4096), (4, 2), (8, 1), (12, 1), (16, 1)] {
            let mut inner = data();
            inner[at..at + 4].copy_from_slice(&value.to_le_bytes());
            assert_eq!(decode(&key(), &encode(&key(), &inner)), Err(Refusal::VulkanHeader), "{at}");
        }
        assert_eq!(decode(&key(), &encode(&key(), b"")), Err(Refusal::VulkanHeader));
    }

    #[test]
    fn files_are_replaced_and_damage_reads_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        let mode = CacheMode::Folder(folder.path().join("deep/er"));
        let file = mode.file(&key()).unwrap();
        assert!(read(&file, &key()).is_empty());
        write(&file, &key(), &data()).unwrap();
        write(&file, &key(), &data()).unwrap();
        assert_eq!(read(&file, &key()), data());
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
        std::fs::write(&file, b"junk").unwrap();
        assert!(read(&file, &key()).is_empty());
        std::fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
        assert!(read(&file, &key()).is_empty());
        assert_eq!(CacheMode::Off.file(&key()), None);
    }

    #[test]
    fn the_folder_follows_the_environment() {
        let folder = |pairs: &[(&str, &str)]| {
            let pairs: Vec<_> = pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
            user_folder(move |name| pairs.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone().into()))
        };
        assert_eq!(folder(&[("NRVIEW_CACHE_DIR", "/c"), ("HOME", "/h")]), Some("/c".into()));
        assert_eq!(folder(&[("NRVIEW_CACHE_DIR", ""), ("HOME", "/h")]), None);
        assert_eq!(folder(&[("XDG_CACHE_HOME", "/x"), ("HOME", "/h")]), Some("/x/nrview".into()));
        assert_eq!(folder(&[("XDG_CACHE_HOME", "x"), ("HOME", "/h")]), Some("/h/.cache/nrview".into()));
        assert_eq!(folder(&[]), None);
    }
}
