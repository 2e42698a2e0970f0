//! Natural-order data behind the weight references of a plan (weights sections 4 to 7).
//!
//! Every reference is checked against the record's length, so a plan and a model that disagree give an error that
//! names the record, never a panic.

use half::f16;

use super::error::ModelError;
use super::packing;
use super::records::Model;
use crate::plan::{MatrixF16Ref, MatrixRef, PriorRef, ScaleRef, VectorRef};

impl Model {
    /// The packed bytes of all matrices of a reference, in fragment order.
    ///
    /// # Errors
    /// An unknown record, a shape without packed form, or a reference past the end of its record.
    pub fn fp8_packed(&self, matrix: &MatrixRef) -> Result<&[u8], ModelError> {
        let MatrixRef { record, offset, k, n, groups, .. } = matrix;
        let fits = k.is_multiple_of(32) && n.is_multiple_of(16);
        if !fits || *k == 0 || *n == 0 || *groups == 0 {
            let rule = "an E4M3 matrix needs K in multiples of 32, N in multiples of 16 and at least one group";
            return Err(ModelError::BadMatrixShape { record: record.clone(), k: *k, n: *n, rule });
        }
        self.bytes_at(record, "E4M3 matrix", *offset, product(&[*k, *n, *groups]))
    }

    /// E4M3 weights in natural channel order, `[group][k][n]`; with `stacked` the combined `[k][group * n]`.
    ///
    /// Codes are as stored: a NaN code (0x7f, 0xff) is for the consumer to read as zero.
    ///
    /// # Errors
    /// As [`Model::fp8_packed`].
    pub fn fp8(&self, matrix: &MatrixRef) -> Result<Vec<u8>, ModelError> {
        let packed = self.fp8_packed(matrix)?;
        let MatrixRef { k, n, groups, stacked, .. } = *matrix;
        let parts = packed.chunks_exact(k * n).map(|part| packing::unpack_fp8(part, k, n));
        if !stacked {
            // Whole matrices at a time: collecting the flattened bytes one by one is several times slower.
            return Ok(parts.collect::<Vec<_>>().concat());
        }
        let mut combined = vec![0; k * n * groups];
        for (group, part) in parts.enumerate() {
            for (row, values) in part.chunks_exact(n).enumerate() {
                let at = row * n * groups + group * n;
                combined[at..at + n].copy_from_slice(values);
            }
        }
        Ok(combined)
    }

    /// A half matrix in natural `[k][n]` order, without the padding columns.
    ///
    /// # Errors
    /// An unknown record, K not a multiple of 16, or a reference past the end of its record.
    pub fn half_matrix(&self, matrix: &MatrixF16Ref) -> Result<Vec<f16>, ModelError> {
        let MatrixF16Ref { record, offset, k, n } = matrix;
        if *k == 0 || !k.is_multiple_of(16) || *n == 0 {
            let rule = "a half matrix needs K in multiples of 16 and at least one column";
            return Err(ModelError::BadMatrixShape { record: record.clone(), k: *k, n: *n, rule });
        }
        let length = product(&[packing::half_matrix_len(*k, *n), 2]);
        let packed = self.bytes_at(record, "half matrix", *offset, length)?;
        Ok(packing::unpack_half_matrix(packed, *k, *n))
    }

    /// Skip, merge or blend scales, one half per channel.
    ///
    /// # Errors
    /// An unknown record, or a reference past its end.
    pub fn vector(&self, vector: &VectorRef) -> Result<Vec<f16>, ModelError> {
        let bytes = self.bytes_at(&vector.record, "scale vector", vector.offset, product(&[vector.len, 2]))?;
        Ok(bytes.chunks_exact(2).map(|half| f16::from_le_bytes([half[0], half[1]])).collect())
    }

    /// Attention priors as `[head][natural query][physical key]`, 4096 halves a head.
    ///
    /// # Errors
    /// An unknown record, or a reference past its end.
    pub fn prior(&self, prior: &PriorRef) -> Result<Vec<f16>, ModelError> {
        let length = product(&[prior.heads, 2 * packing::PRIOR_HALVES]);
        let packed = self.bytes_at(&prior.record, "attention prior", prior.offset, length)?;
        Ok(packing::unpack_prior(packed, prior.heads))
    }

    /// Attention head scales, rounded from f32 to the nearest half (ties to even), one per head.
    ///
    /// # Errors
    /// An unknown record, or a reference past its end.
    pub fn head_scales(&self, scales: &ScaleRef) -> Result<Vec<f16>, ModelError> {
        let bytes = self.bytes_at(&scales.record, "head scales", scales.offset, product(&[scales.heads, 4]))?;
        let value = |b: &[u8]| f16::from_f32(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        Ok(bytes.chunks_exact(4).map(value).collect())
    }

    /// The blend scale of the composition (frame section 6).
    ///
    /// # Errors
    /// None on a complete model; the signature is that of the other accessors.
    pub fn blend_scale(&self) -> Result<f16, ModelError> {
        let bytes = self.bytes_at("block70.layer0.blend_scale", "blend scale", 0, 2)?;
        Ok(f16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// `length` bytes of a record from `offset`.
    fn bytes_at(&self, record: &str, field: &str, offset: usize, length: usize) -> Result<&[u8], ModelError> {
        let bytes = self.record(record)?;
        offset.checked_add(length).and_then(|end| bytes.get(offset..end)).ok_or_else(|| ModelError::ExceedsTensor {
            record: record.to_owned(),
            field: field.to_owned(),
            offset,
            length,
            record_length: bytes.len(),
        })
    }
}

/// The product, saturating: a saturated length never fits a record.
fn product(factors: &[usize]) -> usize {
    factors.iter().fold(1, |a, &b| a.saturating_mul(b))
}

#[cfg(test)]
mod tests;
