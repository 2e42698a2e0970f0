//! The in-memory model.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use super::error::ModelError;
use super::layout;

/// Where a model comes from; decides what a written manifest says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// Read from a directory or file, or assembled from records.
    Records,
    /// Generated from a preset's name and a seed.
    Synthetic {
        /// Preset name: `lively`, `sparse`, `hot` or `identity`.
        preset: &'static str,
        /// Seed of the generator.
        seed: u64,
    },
    /// The starter weights.
    Starter,
}

/// A complete model: the packed bytes of all 153 records, checked against their layouts.
///
/// Cloning is cheap: the bytes are shared.
#[derive(Clone)]
pub struct Model {
    /// Buffers that hold one or more records each.
    storage: Vec<Arc<Vec<u8>>>,
    /// Per record in the order of [`layout::records`]: buffer and byte range.
    spans: Vec<(usize, Range<usize>)>,
    description: String,
    provenance: Provenance,
    digest: Arc<OnceLock<String>>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("description", &self.description).finish_non_exhaustive()
    }
}

impl Model {
    /// A model over shared buffers. `spans[i]` is the buffer and byte range of record i of [`layout::records`].
    ///
    /// # Errors
    /// A record of a fixed length has another one, or a record is too short for its layout.
    pub(super) fn from_spans(
        description: impl Into<String>,
        provenance: Provenance,
        storage: Vec<Arc<Vec<u8>>>,
        spans: Vec<(usize, Range<usize>)>,
    ) -> Result<Self, ModelError> {
        for (layout, (_, range)) in layout::records().iter().zip(&spans) {
            check_length(layout, range.len())?;
        }
        let digest = Arc::new(OnceLock::new());
        Ok(Self { storage, spans, description: description.into(), provenance, digest })
    }

    /// A model from the bytes of its records, in any order.
    ///
    /// # Errors
    /// An unknown, repeated or missing record, or one whose length does not fit its layout.
    pub fn from_records(
        description: impl Into<String>,
        provenance: Provenance,
        records: impl IntoIterator<Item = (String, Vec<u8>)>,
    ) -> Result<Self, ModelError> {
        let mut storage = Vec::new();
        let mut found: Vec<Option<(usize, Range<usize>)>> = vec![None; layout::RECORD_COUNT];
        for (name, bytes) in records {
            let Some(index) = layout::index(&name) else {
                return Err(ModelError::UnknownTensor(name));
            };
            if found[index].is_some() {
                return Err(ModelError::DuplicateTensor(name));
            }
            check_length(&layout::records()[index], bytes.len())?;
            found[index] = Some((storage.len(), 0..bytes.len()));
            storage.push(Arc::new(bytes));
        }
        let spans = complete(found)?;
        Self::from_spans(description, provenance, storage, spans)
    }

    /// Packed bytes of record `index` of [`layout::records`], surplus included.
    ///
    /// # Panics
    /// `index` is not below [`layout::RECORD_COUNT`].
    pub fn record_at(&self, index: usize) -> &[u8] {
        let (buffer, range) = &self.spans[index];
        &self.storage[*buffer][range.clone()]
    }

    /// Packed bytes of a record by name, surplus included.
    ///
    /// # Errors
    /// The network has no record of that name.
    pub fn record(&self, name: &str) -> Result<&[u8], ModelError> {
        let index = layout::index(name).ok_or_else(|| ModelError::MissingTensor(name.to_owned()))?;
        Ok(self.record_at(index))
    }

    /// Every record in canonical order: its layout and its bytes.
    pub fn records(&self) -> impl Iterator<Item = (&'static layout::RecordLayout, &[u8])> {
        layout::records().iter().enumerate().map(|(index, layout)| (layout, self.record_at(index)))
    }

    /// The same model in other words.
    pub(super) fn described(self, description: String) -> Self {
        Self { description, ..self }
    }

    /// The model in words, such as `lively, seed 1` or the name of the directory it was read from, without the path: it
    /// stands in reports.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Where it comes from.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// Bytes of all records, surplus included.
    pub fn byte_len(&self) -> usize {
        self.spans.iter().map(|(_, range)| range.len()).sum()
    }

    /// SHA-256, in lower-case hexadecimal, over name, one zero byte and bytes of every record in canonical order.
    ///
    /// It identifies the weights whatever files held them. Computed once, then remembered.
    pub fn digest(&self) -> &str {
        self.digest.get_or_init(|| {
            let mut hash = Sha256::new();
            for (layout, bytes) in self.records() {
                hash.update(layout.name.as_bytes());
                hash.update([0]);
                hash.update(bytes);
            }
            hex(&hash.finalize())
        })
    }

    /// A copy with one byte of one record replaced, for fault injection. The other records stay shared.
    ///
    /// # Errors
    /// An unknown record, or an offset past its end.
    pub fn with_byte(&self, record: &str, offset: usize, value: u8) -> Result<Self, ModelError> {
        let index = layout::index(record).ok_or_else(|| ModelError::MissingTensor(record.to_owned()))?;
        let mut bytes = self.record_at(index).to_vec();
        let record_length = bytes.len();
        let slot = bytes.get_mut(offset).ok_or_else(|| ModelError::ExceedsTensor {
            record: record.to_owned(),
            field: "byte".to_owned(),
            offset,
            length: 1,
            record_length,
        })?;
        *slot = value;
        let mut model = self.clone();
        model.description = format!("{} with byte {offset} of {record} set to {value:#04x}", self.description);
        model.provenance = Provenance::Records;
        model.digest = Arc::new(OnceLock::new());
        model.spans[index] = (model.storage.len(), 0..bytes.len());
        model.storage.push(Arc::new(bytes));
        Ok(model)
    }
}

/// Every span, or the first missing record.
pub(super) fn complete(found: Vec<Option<(usize, Range<usize>)>>) -> Result<Vec<(usize, Range<usize>)>, ModelError> {
    found
        .into_iter()
        .zip(layout::records())
        .map(|(span, layout)| span.ok_or_else(|| ModelError::MissingTensor(layout.name.clone())))
        .collect()
}

/// Whether a record of `length` bytes can hold its layout (weights section 2: longer is allowed where the length is
/// not part of the format).
pub(super) fn check_length(layout: &layout::RecordLayout, length: usize) -> Result<(), ModelError> {
    let expected = layout.byte_len();
    if layout.exact_length && length != expected {
        return Err(ModelError::UnexpectedLayout {
            block: layout.block,
            record: layout.name.clone(),
            found: length,
            expected,
        });
    }
    match layout.fields.iter().find(|field| field.end() > length) {
        Some(field) => Err(ModelError::ExceedsTensor {
            record: layout.name.clone(),
            field: field.name.to_owned(),
            offset: field.offset,
            length: field.kind.byte_len(),
            record_length: length,
        }),
        None => Ok(()),
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
