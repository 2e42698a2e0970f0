//! Compressed weight containers: the records of a model that differ from their default, in one file.
//!
//! ```text
//! offset  bytes
//!      0      8  magic "NRWEIGHT"
//!      8      4  version, 1
//!     12      4  length of the index, I
//!     16      8  length of the compressed payload, P
//!     24      8  length of the payload, R
//!     32     32  SHA-256 of everything that follows
//!     64      I  index, JSON: license, description, digest, records [{name, byteLength}]
//!   64+I      P  payload, zstd: the bytes of the listed records, one after another
//! ```
//!
//! Integers are little-endian. A record that is not listed has its default content: zero matrices, priors and
//! padding, unit scales, so that its block hands its state through. `digest` is [`Model::digest`] of the whole model.

use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::ModelError;
use super::files::{file_length, read_exactly};
use super::layout::{self, FieldKind, RecordLayout};
use super::records::{Model, Provenance};

const MAGIC: &[u8; 8] = b"NRWEIGHT";
const VERSION: u32 = 1;
const HEADER: usize = 64;
/// Largest index in bytes; the 153 records take less than 10 KiB.
const MAX_INDEX: usize = 1 << 20;
/// Largest payload in bytes, before and after decompression: a model of the documented size, and as much again.
const MAX_PAYLOAD: u64 = 2 * layout::TOTAL_BYTES as u64;
/// zstd level of written containers: small files matter more than the second that writing takes.
const LEVEL: i32 = 19;

/// The JSON index of a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    /// SPDX expression of the weights' licence; absent when the packer was told none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What the weights are, in words.
    pub description: String,
    /// [`Model::digest`] of the expanded model.
    pub digest: String,
    /// The records in the payload, in order.
    pub records: Vec<IndexRecord>,
}

/// A record in a container's payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexRecord {
    /// Record name.
    pub name: String,
    /// Its length in the payload.
    pub byte_length: usize,
}

/// Default content of a record: unit scales, everything else zero.
pub fn default_record(record: &RecordLayout) -> Vec<u8> {
    let mut bytes = vec![0; record.byte_len()];
    for field in &record.fields {
        let unit: &[u8] = match field.kind {
            FieldKind::Halves { .. } => &[0x00, 0x3C],
            FieldKind::HeadScale { .. } => &[0x00, 0x00, 0x80, 0x3F],
            _ => continue,
        };
        bytes[field.offset..field.end()].chunks_exact_mut(unit.len()).for_each(|e| e.copy_from_slice(unit));
    }
    bytes
}

/// Bytes that say how many of them were read.
struct Told<'a> {
    left: &'a [u8],
    all: usize,
    told: &'a dyn Fn(usize, usize),
}

impl Read for Told<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let read = self.left.read(to)?;
        (self.told)(self.all - self.left.len(), self.all);
        Ok(read)
    }
}

/// Packs a model. Only the records that differ from their default are stored. `told` hears how many bytes were read, and of
/// how many: the compressor takes minutes for a hundred megabytes.
///
/// # Errors
/// The compressor fails, which happens only when memory runs out.
pub fn pack(
    model: &Model,
    description: &str,
    license: Option<&str>,
    told: &dyn Fn(usize, usize),
) -> Result<Vec<u8>, ModelError> {
    let mut payload = Vec::new();
    let mut records = Vec::new();
    for (record, bytes) in model.records() {
        if bytes != default_record(record) {
            records.push(IndexRecord { name: record.name.clone(), byte_length: bytes.len() });
            payload.extend_from_slice(bytes);
        }
    }
    let index = Index {
        license: license.map(str::to_owned),
        description: description.to_owned(),
        digest: model.digest().to_owned(),
        records,
    };
    let failed = |error: &dyn std::fmt::Display| ModelError::InvalidContainer {
        name: description.to_owned(),
        problem: format!("cannot be packed: {error}"),
    };
    let index = serde_json::to_vec(&index).map_err(|e| failed(&e))?;
    let packed = zstd::encode_all(Told { left: &payload, all: payload.len(), told }, LEVEL).map_err(|e| failed(&e))?;
    let digest = Sha256::new().chain_update(&index).chain_update(&packed).finalize();
    let mut file = Vec::with_capacity(HEADER + index.len() + packed.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&VERSION.to_le_bytes());
    file.extend_from_slice(&(index.len() as u32).to_le_bytes());
    file.extend_from_slice(&(packed.len() as u64).to_le_bytes());
    file.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    file.extend_from_slice(&digest);
    file.extend_from_slice(&index);
    file.extend_from_slice(&packed);
    Ok(file)
}

/// Reads a container file into a complete model.
///
/// # Errors
/// The file cannot be read, is too large, or is not a sound container.
pub fn read(path: &Path) -> Result<Model, ModelError> {
    let fail = |e| ModelError::io("read", path, e);
    let length = file_length(path).map_err(fail)?;
    let limit = HEADER as u64 + MAX_INDEX as u64 + MAX_PAYLOAD;
    if length > limit {
        let what = format!("weight container {}", path.display());
        return Err(ModelError::TooLarge { what, found: length, limit });
    }
    let bytes = read_exactly(path, length).map_err(fail)?;
    let model = expand(&bytes, &path.display().to_string(), Provenance::Records)?;
    Ok(model.described(super::source::public_name(path)))
}

/// Expands the bytes of a container into a complete model; `name` appears in errors and describes the model.
///
/// # Errors
/// Anything wrong with the container: header, digest, index, payload, or a record that does not fit its layout.
pub fn expand(bytes: &[u8], name: &str, provenance: Provenance) -> Result<Model, ModelError> {
    let invalid = |problem: String| ModelError::InvalidContainer { name: name.to_owned(), problem };
    let (index, payload) = open(bytes).map_err(invalid)?;
    let mut rest = payload.as_slice();
    let mut stored = Vec::with_capacity(index.records.len());
    for record in &index.records {
        // `open` made sure that the lengths add up to the payload.
        let (bytes, after) = rest.split_at(record.byte_length);
        rest = after;
        stored.push((record.name.clone(), bytes.to_vec()));
    }
    // Made one by one, after all stored records have been found good.
    let defaults = layout::records()
        .iter()
        .filter(|layout| !index.records.iter().any(|record| record.name == layout.name))
        .map(|layout| (layout.name.clone(), default_record(layout)));
    Model::from_records(name, provenance, stored.into_iter().chain(defaults))
}

/// The index of a container, after the same checks as [`expand`].
///
/// # Errors
/// As [`expand`], records apart.
pub fn index(bytes: &[u8], name: &str) -> Result<Index, ModelError> {
    let invalid = |problem: String| ModelError::InvalidContainer { name: name.to_owned(), problem };
    open(bytes).map(|(index, _)| index).map_err(invalid)
}

/// Checks everything about a container and decompresses its payload, whose length is the sum of the record lengths.
fn open(bytes: &[u8]) -> Result<(Index, Vec<u8>), String> {
    let (header, body) = bytes.split_at_checked(HEADER).ok_or("it is shorter than a header")?;
    let u32_at = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
    if header[..8] != MAGIC[..] {
        return Err("it does not begin with NRWEIGHT".into());
    }
    if u32_at(8) != VERSION {
        return Err(format!("version {}, only {VERSION} is known", u32_at(8)));
    }
    let (index_length, packed_length, raw_length) = (u32_at(12) as usize, u64_at(16), u64_at(24));
    if index_length > MAX_INDEX || packed_length > MAX_PAYLOAD || raw_length > MAX_PAYLOAD {
        return Err("a length in its header is over the limit".into());
    }
    if body.len() as u64 != index_length as u64 + packed_length {
        return Err(format!(
            "{} bytes follow the header, which says {}",
            body.len(),
            index_length as u64 + packed_length
        ));
    }
    if Sha256::digest(body)[..] != header[32..64] {
        return Err("SHA-256 mismatch: the file is damaged".into());
    }
    let (index, packed) = body.split_at(index_length);
    let index: Index = serde_json::from_slice(index).map_err(|e| format!("index: {}", messages::shortened(&e)))?;
    let sum = index.records.iter().try_fold(0u64, |sum, record| sum.checked_add(record.byte_length as u64));
    if sum != Some(raw_length) {
        return Err("the record lengths of its index do not add up to its payload".into());
    }
    let mut payload = Vec::new();
    zstd::Decoder::new(packed)
        .and_then(|decoder| decoder.take(raw_length + 1).read_to_end(&mut payload))
        .map_err(|e| format!("payload: {e}"))?;
    if payload.len() as u64 != raw_length {
        return Err("its payload has another length than its header says".into());
    }
    Ok((index, payload))
}

#[cfg(test)]
mod tests;
