//! References from operations into the records of a model (weights sections 2 and 3).
//!
//! A reference names bytes, never holds them; the model module turns one into natural-order data.

/// A packed E4M3 weight of an FP8 multiply: `groups` matrices `[k][n]`, one after the other from `offset`.
///
/// When `groups` is 1 this is one `[k x n]` matrix. When `stacked` is set the matrices share their input and are used
/// side by side, so that natural column `g * n + j` of the combined `[k][groups * n]` matrix is column j of matrix g
/// (the first matrices of the expert FFN). Otherwise matrix g reads input channels `g * k ..` and writes output
/// channels `g * n ..`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MatrixRef {
    /// Record name, such as `block5.layer0.layer`.
    pub record: String,
    /// Byte offset of the first matrix in the record.
    pub offset: usize,
    /// Input channels of one matrix.
    pub k: usize,
    /// Output channels of one matrix.
    pub n: usize,
    /// Number of matrices.
    pub groups: usize,
    /// Whether all matrices read the same input channels.
    pub stacked: bool,
}

impl MatrixRef {
    /// Bytes of all the matrices.
    pub fn bytes(&self) -> usize {
        self.k * self.n * self.groups
    }
}

/// A packed f16 matrix `[k x n]` in fragment order (weights section 5): the input adapter or the head.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MatrixF16Ref {
    /// Record name.
    pub record: String,
    /// Byte offset in the record.
    pub offset: usize,
    /// Input channels.
    pub k: usize,
    /// Output channels.
    pub n: usize,
}

/// A vector of `len` halves, one per channel: a skip, merge or blend scale.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VectorRef {
    /// Record name.
    pub record: String,
    /// Byte offset in the record.
    pub offset: usize,
    /// Number of halves.
    pub len: usize,
}

/// The attention priors of `heads` heads, 4096 halves each, in fragment order (weights section 6).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PriorRef {
    /// Record name.
    pub record: String,
    /// Byte offset in the record.
    pub offset: usize,
    /// Number of heads.
    pub heads: usize,
}

/// The f32 head scales of `heads` heads, rounded to half before use (weights section 7).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScaleRef {
    /// Record name.
    pub record: String,
    /// Byte offset in the record.
    pub offset: usize,
    /// Number of heads.
    pub heads: usize,
}
