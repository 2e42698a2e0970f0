//! Tensors of a plan: shape, element format, and what they are called.

use crate::geometry::Extent;

/// Index of a tensor in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorId(pub u32);

/// Element format of a stored tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One E4M3 code, one byte (numerics section 1.2).
    E4m3,
    /// One binary16, two bytes (numerics section 1.1).
    Half,
}

impl Format {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Format::E4m3 => 1,
            Format::Half => 2,
        }
    }
}

/// A tensor `[rows][channels]`, rows being the pixels of `extent` in row-major order, y down.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Unique dotted name, such as `b5.hidden` or `b14.raw`.
    pub label: String,
    /// The pixel grid whose tokens are the rows.
    pub extent: Extent,
    /// Channels of one row.
    pub channels: usize,
    /// Element format.
    pub format: Format,
    /// Name under which parity compares this tensor (network section 6; the `pooled-*` names are extra).
    pub boundary: Option<String>,
}

impl Tensor {
    /// Rows: pixels of the extent.
    pub fn rows(&self) -> usize {
        self.extent.width as usize * self.extent.height as usize
    }

    /// Elements of the whole tensor.
    pub fn elements(&self) -> usize {
        self.rows() * self.channels
    }

    /// Bytes of the whole tensor, tightly packed.
    pub fn bytes(&self) -> usize {
        self.elements() * self.format.bytes()
    }
}
