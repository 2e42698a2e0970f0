//! Natural-order access through plan references.

use super::*;
use crate::model::Provenance;
use crate::model::layout;

/// A model whose record `name` holds `bytes` from `offset`; everything else is zero.
fn model(name: &str, offset: usize, bytes: &[u8]) -> Model {
    let records = layout::records().iter().map(|record| {
        let mut data = vec![0; record.byte_len()];
        if record.name == name {
            data[offset..offset + bytes.len()].copy_from_slice(bytes);
        }
        (record.name.clone(), data)
    });
    Model::from_records("test", Provenance::Records, records).unwrap()
}

fn matrix(record: &str, offset: usize, k: usize, n: usize, groups: usize, stacked: bool) -> MatrixRef {
    MatrixRef { record: record.into(), offset, k, n, groups, stacked }
}

#[test]
fn stacked_matrices_stand_side_by_side() {
    let name = "block5.layer0.layer";
    let packed: Vec<u8> = (0..2 * 64 * 128).map(|i| (i % 251) as u8).collect();
    let model = model(name, 0, &packed);
    let apart = model.fp8(&matrix(name, 0, 64, 128, 2, false)).unwrap();
    let beside = model.fp8(&matrix(name, 0, 64, 128, 2, true)).unwrap();
    for c in 0..64 {
        for n in 0..128 {
            for group in 0..2 {
                let value = packed[group * 8192 + packing::fp8_byte(packing::row_of_channel(c), n, 128)];
                assert_eq!(apart[(group * 64 + c) * 128 + n], value);
                assert_eq!(beside[c * 256 + group * 128 + n], value);
            }
        }
    }
}

#[test]
fn vectors_scales_and_half_matrices_are_read() {
    let skip: Vec<u8> = (0..32u16).flat_map(|i| (0x3c00 + i).to_le_bytes()).collect();
    let name = "block70.layer0.layer";
    let m = model(name, 8272, &skip);
    let vector = m.vector(&VectorRef { record: name.into(), offset: 8272, len: 32 }).unwrap();
    assert_eq!(vector[31].to_bits(), 0x3c1f);

    let name = "block31.layer2.layer";
    // 1 + 2^-11 lies between two halves and goes to the even one; 1 + 3 * 2^-11 goes up.
    let scales: Vec<u8> = [1.000_488_3_f32, 1.001_464_8].iter().flat_map(|v| v.to_le_bytes()).collect();
    let m = model(name, 0, &scales);
    let scales = m.head_scales(&ScaleRef { record: name.into(), offset: 0, heads: 32 }).unwrap();
    assert_eq!((scales[0].to_bits(), scales[1].to_bits(), scales.len()), (0x3c00, 0x3c02, 32));

    let natural: Vec<f16> = (0..128).map(|i| f16::from_bits(0x2000 + i)).collect();
    let name = "block70.layer0.layer";
    let m = model(name, 20784, &packing::pack_half_matrix(&natural, 32, 4));
    let head = MatrixF16Ref { record: name.into(), offset: 20784, k: 32, n: 4 };
    assert_eq!(m.half_matrix(&head).unwrap(), natural);

    let prior: Vec<f16> = (0..4096).map(f16::from_bits).collect();
    let m = model("block1.layer0.layer", 11360, &packing::pack_prior(&prior, 1));
    let reference = PriorRef { record: "block1.layer0.layer".into(), offset: 11360, heads: 1 };
    assert_eq!(m.prior(&reference).unwrap(), prior);

    let m = model("block70.layer0.blend_scale", 0, &[0, 0x3a]);
    assert_eq!(m.blend_scale().unwrap().to_f32(), 0.75);
}

#[test]
fn bad_references_are_errors() {
    let name = "block5.layer0.layer";
    let m = model(name, 0, &[]);
    for (k, n, groups) in [(48, 32, 1), (32, 24, 1), (0, 32, 1), (32, 0, 1), (32, 32, 0)] {
        let error = m.fp8(&matrix(name, 0, k, n, groups, false)).unwrap_err();
        assert!(matches!(error, ModelError::BadMatrixShape { .. }), "{error}");
    }
    let exceeds = |error: ModelError| {
        assert!(matches!(&error, ModelError::ExceedsTensor { record, .. } if record == name), "{error}");
    };
    exceeds(m.fp8(&matrix(name, 61_744, 32, 16, 1, false)).unwrap_err());
    exceeds(m.fp8(&matrix(name, usize::MAX, 32, 16, 1, false)).unwrap_err());
    exceeds(m.fp8(&matrix(name, 0, 1 << 40, 1 << 40, 1, false)).unwrap_err());
    exceeds(m.vector(&VectorRef { record: name.into(), offset: 0, len: usize::MAX }).unwrap_err());
    exceeds(m.prior(&PriorRef { record: name.into(), offset: 60_000, heads: 1 }).unwrap_err());
    exceeds(m.head_scales(&ScaleRef { record: name.into(), offset: 0, heads: 1 << 60 }).unwrap_err());
    let adapter = MatrixF16Ref { record: name.into(), offset: 0, k: 24, n: 32 };
    assert!(matches!(m.half_matrix(&adapter).unwrap_err(), ModelError::BadMatrixShape { .. }));
    let head = MatrixF16Ref { record: name.into(), offset: 61_000, k: 32, n: 4 };
    exceeds(m.half_matrix(&head).unwrap_err());
    let missing = m.fp8(&matrix("block5.layer9.layer", 0, 32, 16, 1, false)).unwrap_err();
    assert!(matches!(missing, ModelError::MissingTensor(_)));
}
