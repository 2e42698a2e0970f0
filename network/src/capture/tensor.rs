//! Raw tensors.

use serde::{Deserialize, Serialize};

/// Element type of a stored tensor, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// Unsigned byte.
    U8,
    /// E4M3 code (numerics section 1.2).
    E4m3,
    /// binary16.
    F16,
    /// binary32.
    F32,
}

impl DType {
    /// Bytes of an element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::E4m3 => 1,
            Self::F16 => 2,
            Self::F32 => 4,
        }
    }
}

/// A named tensor `[rows][columns][channels]`, row-major, y down, tightly packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Name in the capture.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Rows, columns, channels.
    pub shape: [usize; 3],
    /// Little-endian elements.
    pub bytes: Vec<u8>,
}

impl Tensor {
    /// A tensor of bytes.
    pub fn new(name: impl Into<String>, dtype: DType, shape: [usize; 3], bytes: Vec<u8>) -> Self {
        Self { name: name.into(), dtype, shape, bytes }
    }

    /// A tensor of halves.
    pub fn halves(name: impl Into<String>, shape: [usize; 3], halves: impl IntoIterator<Item = u16>) -> Self {
        Self::new(name, DType::F16, shape, halves.into_iter().flat_map(u16::to_le_bytes).collect())
    }

    /// A tensor of f32.
    pub fn floats(name: impl Into<String>, shape: [usize; 3], values: impl IntoIterator<Item = f32>) -> Self {
        Self::new(name, DType::F32, shape, values.into_iter().flat_map(f32::to_le_bytes).collect())
    }

    /// A tensor `[rows][columns][4]` of RGBA8 words.
    pub fn words(name: impl Into<String>, shape: [usize; 3], words: &[u32]) -> Self {
        Self::new(name, DType::U8, shape, words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// Elements of the shape.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the bytes fill the shape.
    pub fn whole(&self) -> bool {
        self.bytes.len() == self.elements() * self.dtype.bytes()
    }

    /// The elements as 16-bit patterns.
    pub fn as_halves(&self) -> Vec<u16> {
        self.bytes.as_chunks().0.iter().map(|&pair| u16::from_le_bytes(pair)).collect()
    }

    /// The elements as f32 bit patterns.
    pub fn as_floats(&self) -> Vec<f32> {
        self.bytes.as_chunks().0.iter().map(|&word| f32::from_le_bytes(word)).collect()
    }

    /// The elements as 32-bit words.
    pub fn as_words(&self) -> Vec<u32> {
        self.bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
    }

    /// Element `index` as a number: codes by value, bytes over 255.
    pub fn value(&self, index: usize) -> f32 {
        use crate::numerics::{e4m3, half};
        match self.dtype {
            DType::U8 => self.bytes.get(index).map_or(0.0, |&b| f32::from(b) / 255.0),
            DType::E4m3 => self.bytes.get(index).map_or(0.0, |&b| e4m3::to_f32(b)),
            DType::F16 => {
                let pair = self.bytes.get(2 * index..2 * index + 2);
                pair.map_or(0.0, |b| half::to_f32(u16::from_le_bytes([b[0], b[1]])))
            }
            DType::F32 => {
                let word = self.bytes.get(4 * index..4 * index + 4);
                word.map_or(0.0, |b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            }
        }
    }
}
