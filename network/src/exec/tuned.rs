//! Which multiplies take which tile on a device: what `nrview tune` found, kept beside the pipeline cache.
//!
//! A table belongs to one device, driver, form of the kernels and set of shaders; its file says so and carries a digest of
//! all it says. Any doubt means no table: the kernels then take the tiles that they take untuned.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use gpu::{CacheKey, Device};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::kernels::{Kernel, Tuning};
use super::variants::{self, Shape, Variant};

/// Version of the file.
const FORMAT: u32 = 1;

/// Why a file holds no table for a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// It is no document of this kind.
    #[error("it cannot be understood: {0}")]
    Unreadable(String),
    /// It is of another version.
    #[error("it is of format {0}")]
    Format(u32),
    /// Its contents do not have the digest that it names.
    #[error("its contents are damaged")]
    Digest,
    /// It was made on another device or driver.
    #[error("it is of another device or driver")]
    OtherDevice,
    /// It was made for another form of the kernels.
    #[error("it is of the {} form", messages::shortened(.0))]
    OtherForm(String),
    /// It was made with other shaders.
    #[error("it was made with other shaders")]
    OtherShaders,
    /// It names a variant that cannot compute its shape.
    #[error("{} is no variant for {shape}", messages::shortened(variant))]
    Variant {
        /// The variant.
        variant: String,
        /// The shape.
        shape: Shape,
    },
}

/// What a table is good for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Identity {
    vendor: u32,
    device: u32,
    driver: u32,
    uuid: String,
    form: String,
    shaders: String,
}

impl Identity {
    fn new(key: &CacheKey, form: Tuning) -> Self {
        let CacheKey { vendor, device, driver, uuid } = key.clone();
        Self { vendor, device, driver, uuid, form: format!("{form:?}").to_lowercase(), shaders: shaders_digest() }
    }
}

/// A digest of every shader of the exact route.
fn shaders_digest() -> String {
    let mut sha = Sha256::new();
    for shader in shaders::all().filter(|shader| shader.name.starts_with("network/")) {
        sha.update(shader.name);
        sha.update(shader.info.spirv_sha256);
    }
    hex(&sha.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A row of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Row {
    shape: Shape,
    variant: String,
    nanoseconds: u64,
    untuned_nanoseconds: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    format: u32,
    identity: Identity,
    rows: Vec<Row>,
    sha256: String,
}

impl Document {
    /// The digest of all but the digest.
    fn digest(&self) -> String {
        let bare = Self { sha256: String::new(), ..self.clone() };
        hex(&Sha256::digest(serde_json::to_vec(&bare).unwrap_or_default()))
    }
}

/// What was found for a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The variant that wins.
    pub variant: &'static Variant,
    /// Its median time.
    pub nanoseconds: u64,
    /// That of the untuned kernel beside it.
    pub untuned_nanoseconds: u64,
}

/// The tiles that multiplies take on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    identity: Identity,
    form: Tuning,
    entries: BTreeMap<Shape, Entry>,
}

impl Table {
    /// A table in which nothing wins.
    pub fn new(key: &CacheKey, form: Tuning) -> Self {
        Self { identity: Identity::new(key, form), form, entries: BTreeMap::new() }
    }

    /// Where the table of a device lies; `None` when nothing is cached.
    pub fn file(device: &Device) -> Option<PathBuf> {
        device.cached_file("tiles", "json")
    }

    /// The table of a device, if there is one without any doubt; otherwise the doubt is logged.
    pub fn load(device: &Device, form: Tuning) -> Option<Self> {
        let file = Self::file(device)?;
        let contents = match std::fs::read(&file) {
            Ok(contents) => contents,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!("the table of tiles {} is not read: {error}", file.display());
                }
                return None;
            }
        };
        match Self::parse(&contents, device.cache_key(), form) {
            Ok(table) => Some(table),
            Err(refusal) => {
                tracing::warn!("the table of tiles {} is not used: {refusal}", file.display());
                None
            }
        }
    }

    /// The table in a file's contents.
    ///
    /// # Errors
    /// Why it cannot be trusted on this device.
    pub fn parse(contents: &[u8], key: &CacheKey, form: Tuning) -> Result<Self, Refusal> {
        let document: Document =
            serde_json::from_slice(contents).map_err(|error| Refusal::Unreadable(messages::shortened(&error)))?;
        if document.format != FORMAT {
            return Err(Refusal::Format(document.format));
        }
        if document.digest() != document.sha256 {
            return Err(Refusal::Digest);
        }
        let (identity, here) = (document.identity, Identity::new(key, form));
        let device = |i: &Identity| (i.vendor, i.device, i.driver, i.uuid.clone());
        if device(&identity) != device(&here) {
            return Err(Refusal::OtherDevice);
        }
        if identity.form != here.form {
            return Err(Refusal::OtherForm(identity.form));
        }
        if identity.shaders != here.shaders {
            return Err(Refusal::OtherShaders);
        }
        let mut table = Self { identity, form, entries: BTreeMap::new() };
        for Row { shape, variant, nanoseconds, untuned_nanoseconds } in document.rows {
            let found = variants::named(form, &variant).filter(|found| found.computes(&shape));
            let Some(found) = found else { return Err(Refusal::Variant { variant, shape }) };
            table.insert(shape, Entry { variant: found, nanoseconds, untuned_nanoseconds });
        }
        Ok(table)
    }

    fn document(&self) -> Document {
        let row = |(&shape, entry): (&Shape, &Entry)| Row {
            shape,
            variant: entry.variant.name.to_owned(),
            nanoseconds: entry.nanoseconds,
            untuned_nanoseconds: entry.untuned_nanoseconds,
        };
        let rows = self.entries.iter().map(row).collect();
        let mut document = Document { format: FORMAT, identity: self.identity.clone(), rows, sha256: String::new() };
        document.sha256 = document.digest();
        document
    }

    /// The contents of its file.
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(&self.document()).unwrap_or_default()
    }

    /// Writes it where [`Table::load`] finds it, in one step. `None` when nothing is cached.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, device: &Device) -> io::Result<Option<PathBuf>> {
        let Some(file) = Self::file(device) else { return Ok(None) };
        gpu::replace_file(&file, &self.encode())?;
        Ok(Some(file))
    }

    /// Identity of all it says: 64 hexadecimal digits.
    pub fn digest(&self) -> String {
        self.document().sha256
    }

    /// What was found, by shape.
    pub fn entries(&self) -> impl Iterator<Item = (&Shape, &Entry)> {
        self.entries.iter()
    }

    /// Whether nothing wins.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A shape takes a variant from now on.
    pub fn insert(&mut self, shape: Shape, entry: Entry) {
        self.entries.insert(shape, entry);
    }

    /// A shape takes the untuned kernel from now on.
    pub fn remove(&mut self, shape: &Shape) {
        self.entries.remove(shape);
    }

    /// What computes a shape, unless it is the untuned kernel.
    pub(super) fn kernel(&self, shape: &Shape) -> Option<Kernel> {
        self.entries.get(shape).map(|entry| Kernel::Tuned(shape.class(self.form), entry.variant))
    }

    /// Every kernel that it takes.
    pub(super) fn kernels(&self) -> Vec<Kernel> {
        let mut kernels: Vec<Kernel> = Vec::new();
        for kernel in self.entries.keys().filter_map(|shape| self.kernel(shape)) {
            if !kernels.contains(&kernel) {
                kernels.push(kernel);
            }
        }
        kernels
    }
}

#[cfg(test)]
mod tests {
    use super::super::variants::Kind;
    use super::*;

    fn key() -> CacheKey {
        CacheKey { vendor: 0x10de, device: 0x2335, driver: 7, uuid: "00112233445566778899aabbccddeeff".into() }
    }

    const FORM: Tuning = Tuning::Lanes(8);
    const SHAPE: Shape = Shape { rows: 1024, k: 64, n: 256, groups: 1, partition: 64, kind: Kind::Multiply };

    fn entry() -> Entry {
        Entry { variant: variants::named(FORM, "rows16").unwrap(), nanoseconds: 1000, untuned_nanoseconds: 1500 }
    }

    fn table() -> Table {
        let mut table = Table::new(&key(), FORM);
        table.insert(SHAPE, entry());
        table
    }

    #[test]
    fn a_table_comes_back() {
        let table = table();
        let read = Table::parse(&table.encode(), &key(), FORM).unwrap();
        assert_eq!(read, table);
        assert_eq!(read.digest(), table.digest());
        assert_eq!(read.kernels().len(), 1);
        assert!(read.kernel(&SHAPE).is_some() && read.kernel(&Shape { rows: 1, ..SHAPE }).is_none());
    }

    #[test]
    fn a_table_is_kept_beside_the_pipeline_cache_and_damage_means_none() {
        let folder = tempfile::tempdir().unwrap();
        let cache = gpu::CacheMode::Folder(folder.path().join("deep"));
        let instance = gpu::Instance::new(&gpu::InstanceDesc { validation: false, surface: None }).unwrap();
        let wanted = std::env::var("NRVIEW_TEST_DEVICE").unwrap_or_default();
        let desc =
            gpu::DeviceDesc { selector: gpu::DeviceSelector::parse(&wanted), cache, ..gpu::DeviceDesc::default() };
        let device = Device::open_with(&instance, &desc).unwrap();
        assert_eq!(Table::load(&device, FORM), None);
        let mut table = Table::new(device.cache_key(), FORM);
        table.insert(SHAPE, entry());
        let file = table.save(&device).unwrap().unwrap();
        assert_eq!(table.save(&device).unwrap(), Some(file.clone()));
        assert_eq!(Table::load(&device, FORM), Some(table.clone()));
        // Nothing but the table: it was replaced as a whole.
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
        let contents = std::fs::read(&file).unwrap();
        for damaged in [&contents[..contents.len() / 2], b"", b"{}"] {
            std::fs::write(&file, damaged).unwrap();
            assert_eq!(Table::load(&device, FORM), None);
        }
    }

    #[test]
    fn every_doubt_is_a_refusal() {
        let good = table().encode();
        let parse = |bytes: &[u8]| Table::parse(bytes, &key(), FORM).unwrap_err();
        assert!(matches!(parse(b""), Refusal::Unreadable(_)));
        for cut in [1, good.len() / 2, good.len() - 1] {
            assert!(matches!(parse(&good[..cut]), Refusal::Unreadable(_)), "{cut}");
        }
        let text = String::from_utf8(good.clone()).unwrap();
        let with = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to).into_bytes()
        };
        assert_eq!(parse(&with("\"nanoseconds\": 1000", "\"nanoseconds\": 1001")), Refusal::Digest);
        assert_eq!(parse(&with("\"rows16\"", "\"rows8\"")), Refusal::Digest);
        assert_eq!(parse(&with("\"format\": 1", "\"format\": 2")), Refusal::Format(2));
        assert!(matches!(parse(&with("\"format\"", "\"more\": 1, \"format\"")), Refusal::Unreadable(_)));
        for other in [
            CacheKey { vendor: 1, ..key() },
            CacheKey { device: 1, ..key() },
            CacheKey { driver: 1, ..key() },
            CacheKey { uuid: "ff112233445566778899aabbccddeeff".into(), ..key() },
        ] {
            assert_eq!(Table::parse(&good, &other, FORM).unwrap_err(), Refusal::OtherDevice);
        }
        let refused = Table::parse(&good, &key(), Tuning::Tile).unwrap_err();
        assert_eq!(refused, Refusal::OtherForm("lanes(8)".into()));
        // Signed, but by shaders that are gone, or with a variant that is none.
        let signed = |change: fn(&mut Document)| {
            let mut document = table().document();
            change(&mut document);
            document.sha256 = document.digest();
            parse(&serde_json::to_vec(&document).unwrap())
        };
        assert_eq!(signed(|d| d.identity.shaders.clear()), Refusal::OtherShaders);
        assert!(matches!(signed(|d| d.rows[0].variant = "best".into()), Refusal::Variant { .. }));
        assert!(matches!(signed(|d| d.rows[0].shape.n = 60), Refusal::Variant { .. }));
    }
}
