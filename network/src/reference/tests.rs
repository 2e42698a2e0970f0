//! A whole 32-channel block, from its packed record to the pooled output, against the contract's vectors.

use std::collections::HashMap;

use serde_json::Value;

use super::*;
use crate::geometry::{Extent, Geometry};
use crate::model::Provenance;
use crate::model::synth::{self, Preset};
use crate::numerics::vectors::{codes, halves, load};

fn rows<T>(v: &Value, row: fn(&Value) -> Vec<T>) -> Vec<T> {
    v.as_array().unwrap().iter().flat_map(row).collect()
}

/// Block 4 of a plan, whose output is published as half and as code and pooled, moved to another grid and phase.
fn block4(extent: Extent, pooled: Extent, phase: u32) -> Plan {
    let mut plan = Plan::new(&Geometry::new(Extent::new(64, 64)).unwrap());
    plan.ops.retain(|op| op.block == 4 && op.label != "b4.transition");
    for op in &mut plan.ops {
        for id in op.kind.inputs().into_iter().chain(op.kind.outputs()) {
            plan.tensors[id.0 as usize].extent = extent;
        }
        if let OpKind::WindowAttention(op) = &mut op.kind {
            op.phase = phase;
        }
    }
    for op in &plan.ops {
        if let OpKind::Pool(op) = &op.kind {
            plan.tensors[op.output.0 as usize].extent = pooled;
        }
    }
    plan
}

/// The identity model with one record replaced; the record's surplus stays.
fn model_with(name: &str, bytes: &[u8]) -> Model {
    let identity = synth::generate(Preset::Identity, 0).unwrap();
    let records = identity.records().map(|(layout, record)| {
        let mut record = record.to_vec();
        if layout.name == name {
            record[..bytes.len()].copy_from_slice(bytes);
        }
        (layout.name.clone(), record)
    });
    Model::from_records("block vectors", Provenance::Records, records.collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_whole_block_matches_the_vectors() {
    let file = load("block32");
    let extent = Extent::new(12, 8);
    let plan = block4(extent, Extent::new(6, 4), 1);
    let model = model_with("block4.layer0.layer", &codes(&file["record"]));
    let reference = Reference::new(&plan, &model).unwrap();
    let state = TensorData::Codes(rows(&file["state"], codes));
    let mut tensors: HashMap<TensorId, TensorData> = HashMap::from([(plan.ops[0].kind.inputs()[0], state)]);
    let mut results = HashMap::new();
    for (index, op) in plan.ops.iter().enumerate() {
        let inputs: Vec<&TensorData> = op.kind.inputs().iter().map(|id| &tensors[id]).collect();
        for output in reference.execute_op(OpId(index as u32), &inputs).unwrap() {
            results.insert((op.label.clone(), output.data.format()), output.data.clone());
            tensors.insert(output.id, output.data);
        }
    }
    let code = |label: &str| results[&(label.to_owned(), plan::Format::E4m3)].codes();
    let half = |label: &str| results[&(label.to_owned(), plan::Format::Half)].halves();
    assert_eq!(code("b4.expand")[..128], codes(&file["hiddenOfToken0"]));
    assert_eq!(half("b4.ffn"), rows(&file["ffnHalf"], halves));
    assert_eq!(code("b4.ffn"), rows(&file["ffnCodes"], codes));
    assert_eq!(half("b4.qkv")[..96], halves(&file["qkvOfToken0"]));
    for (part, key) in ["qCodes", "kCodes", "vCodes"].into_iter().enumerate() {
        let got: Vec<u8> = code("b4.normalise").chunks(96).flat_map(|row| row[part * 32..][..32].to_vec()).collect();
        assert_eq!(got, rows(&file[key], codes), "{key}");
    }
    assert_eq!(code("b4.attention"), rows(&file["attended"], codes));
    assert_eq!(half("b4.project"), rows(&file["raw"], halves));
    assert_eq!(code("b4.project"), rows(&file["output"], codes));
    assert_eq!(code("b4.pool"), rows(&file["pool"], codes));
}
