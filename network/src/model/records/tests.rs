//! Assembly of a model from records.

use super::*;

fn zeros() -> Vec<(String, Vec<u8>)> {
    layout::records().iter().map(|record| (record.name.clone(), vec![0; record.byte_len()])).collect()
}

fn build(records: Vec<(String, Vec<u8>)>) -> Result<Model, ModelError> {
    Model::from_records("test", Provenance::Records, records)
}

#[test]
fn a_complete_set_is_a_model() {
    let mut records = zeros();
    records.reverse();
    let model = build(records).unwrap();
    assert_eq!(model.byte_len(), layout::TOTAL_BYTES);
    assert_eq!(model.record("block31.layer3.layer").unwrap(), [0, 0]);
    assert!(
        matches!(model.record("block99.layer0.layer"), Err(ModelError::MissingTensor(name)) if name.contains("99"))
    );
}

#[test]
fn missing_repeated_and_unknown_records_are_named() {
    let mut records = zeros();
    records.remove(10);
    assert!(matches!(build(records), Err(ModelError::MissingTensor(name)) if name == "block10.layer0.layer"));
    let mut records = zeros();
    records.push(records[3].clone());
    assert!(matches!(build(records), Err(ModelError::DuplicateTensor(name)) if name == "block3.layer0.layer"));
    let mut records = zeros();
    records.push(("block71.layer0.layer".into(), Vec::new()));
    assert!(matches!(build(records), Err(ModelError::UnknownTensor(name)) if name == "block71.layer0.layer"));
}

#[test]
fn lengths_follow_the_layout() {
    let with_length = |name: &str, change: isize| {
        let mut records = zeros();
        let bytes = &mut records[layout::index(name).unwrap()].1;
        bytes.resize(bytes.len().checked_add_signed(change).unwrap(), 0);
        build(records)
    };
    for block in [0, 48, 56, 62, 66, 70] {
        for change in [-16, 16] {
            let error = with_length(&format!("block{block}.layer0.layer"), change).unwrap_err();
            assert!(matches!(error, ModelError::UnexpectedLayout { block: b, .. } if b == block), "{error}");
        }
    }
    let model = with_length("block1.layer0.layer", 16).unwrap();
    assert_eq!(model.byte_len(), layout::TOTAL_BYTES + 16);
    let error = with_length("block23.layer2.layer", -8).unwrap_err();
    assert!(error.to_string().contains("head_scale"), "{error}");
    let error = with_length("block5.layer0.layer", -20_000).unwrap_err();
    assert!(matches!(&error, ModelError::ExceedsTensor { field, .. } if field == "prior"), "{error}");
}

#[test]
fn one_byte_changes_the_digest_and_nothing_else() {
    let model = build(zeros()).unwrap();
    let changed = model.with_byte("block9.layer0.layer", 17, 3).unwrap();
    assert_ne!(model.digest(), changed.digest());
    assert_eq!(changed.record("block9.layer0.layer").unwrap()[17], 3);
    assert_eq!(changed.record("block10.layer0.layer").unwrap(), model.record("block10.layer0.layer").unwrap());
    assert!(matches!(model.with_byte("block31.layer3.layer", 2, 0), Err(ModelError::ExceedsTensor { .. })));
}
