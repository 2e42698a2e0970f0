//! Tensor contents on the CPU.

use crate::plan::{Format, TensorId};

/// The elements of one tensor, row-major, in its stored format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorData {
    /// E4M3 codes.
    Codes(Vec<u8>),
    /// Binary16 bit patterns.
    Halves(Vec<u16>),
}

impl TensorData {
    /// The bits of every element: E4M3 codes in the low byte, or halves.
    pub fn bits(&self) -> Vec<u16> {
        match self {
            Self::Codes(codes) => codes.iter().map(|&code| u16::from(code)).collect(),
            Self::Halves(halves) => halves.clone(),
        }
    }

    /// Element format.
    pub fn format(&self) -> Format {
        match self {
            TensorData::Codes(_) => Format::E4m3,
            TensorData::Halves(_) => Format::Half,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            TensorData::Codes(codes) => codes.len(),
            TensorData::Halves(halves) => halves.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The stored bytes, halves little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            TensorData::Codes(codes) => codes.clone(),
            TensorData::Halves(halves) => halves.iter().flat_map(|h| h.to_le_bytes()).collect(),
        }
    }

    /// Contents from stored bytes, halves little-endian; an odd last byte of halves is dropped.
    pub fn from_bytes(format: Format, bytes: &[u8]) -> Self {
        match format {
            Format::E4m3 => TensorData::Codes(bytes.to_vec()),
            Format::Half => TensorData::Halves(bytes.as_chunks().0.iter().map(|&b| u16::from_le_bytes(b)).collect()),
        }
    }

    /// The codes; the caller has checked the format.
    pub(super) fn codes(&self) -> &[u8] {
        match self {
            TensorData::Codes(codes) => codes,
            TensorData::Halves(_) => &[],
        }
    }

    /// The halves; the caller has checked the format.
    pub(super) fn halves(&self) -> &[u16] {
        match self {
            TensorData::Halves(halves) => halves,
            TensorData::Codes(_) => &[],
        }
    }
}

/// One result of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The tensor it belongs to.
    pub id: TensorId,
    /// Its contents.
    pub data: TensorData,
}
