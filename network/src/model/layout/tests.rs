//! The table of records against the vectors and the offsets of the contract.

use super::*;

fn vectors() -> serde_json::Value {
    serde_json::from_str(include_str!("../../../tests/vectors/tensors.json")).unwrap()
}

#[test]
fn records_match_the_vectors() {
    let vectors = vectors();
    let tensors = vectors["tensors"].as_array().unwrap();
    assert_eq!(tensors.len(), RECORD_COUNT);
    assert_eq!(records().len(), RECORD_COUNT);
    for (layout, tensor) in records().iter().zip(tensors) {
        assert_eq!(tensor["name"], layout.name.as_str());
        assert_eq!(tensor["block"], layout.block);
        assert_eq!(tensor["layer"], layout.layer);
        assert_eq!(tensor["parameter"], layout.parameter);
        assert_eq!(tensor["byteLength"], layout.byte_len(), "{}", layout.name);
        assert_eq!(tensor["lengthCertainty"] == "checked", layout.exact_length, "{}", layout.name);
        let reader = match tensor["read"].as_str().unwrap() {
            "yes" => Reader::Graph,
            "no" => Reader::Nobody,
            _ => Reader::Frame,
        };
        assert_eq!(reader, layout.reader, "{}", layout.name);
    }
    assert_eq!(records().iter().map(RecordLayout::byte_len).sum::<usize>(), TOTAL_BYTES);
    assert_eq!(vectors["totalBytes"], TOTAL_BYTES);
}

#[test]
fn names_find_their_records() {
    for (position, layout) in records().iter().enumerate() {
        assert_eq!(index(&layout.name), Some(position));
    }
    assert_eq!(index("block71.layer0.layer"), None);
    assert!(record("block70.layer0.blend_scale").is_some());
}

#[test]
fn offsets_match_the_contract() {
    let check = |name: &str, offsets: &[(&str, usize)]| {
        let layout = record(name).unwrap();
        for &(field, offset) in offsets {
            assert_eq!(layout.field(field).unwrap().offset, offset, "{name} {field}");
        }
    };
    check("block1.layer0.layer", &[("w2", 4096), ("ffn_skip", 8208), ("qkv", 8288), ("prior", 11360)]);
    check("block1.layer0.layer", &[("head_scale", 19552), ("projection", 19568), ("attn_skip", 20592)]);
    check("block4.layer0.layer", &[("transition", 20656)]);
    check("block8.layer0.layer", &[("w3", 24576), ("ffn_skip", 28688), ("transition", 61744)]);
    check("block14.layer0.layer", &[("w2", 65536), ("qkv", 98592), ("transition", 197168)]);
    check("block22.layer0.layer", &[("head_scale", 623136), ("projection", 623168), ("transition", 689216)]);
    check("block48.layer0.layer", &[("upsample", 360448), ("merge_skip", 492032), ("attn_skip", 820256)]);
    check("block56.layer0.layer", &[("ffn_skip", 131072), ("qkv", 131584), ("head_scale", 213504)]);
    check("block62.layer0.layer", &[("merge_skip", 36992), ("prior", 49408), ("pad_end", 70032)]);
    check("block66.layer0.layer", &[("ffn_skip", 10256), ("merge_skip", 10336), ("pad_end", 22768)]);
    check("block0.layer0.layer", &[("adapter", 8208), ("ffn_skip", 9232), ("qkv", 9312), ("attn_skip", 21616)]);
    check("block70.layer0.layer", &[("input_scale", 8272), ("block0_scale", 8336), ("head", 20784)]);
    check("block23.layer0.layer", &[("w1", 0), ("w2", 262_144), ("w3", 393_216)]);
    check("block40.layer2.layer", &[("qkv", 0), ("prior", 786_432), ("head_scale", 917_504)]);
    check("block39.layer0.layer", &[("upsample", 0), ("merge_skip", 524_288)]);
    check("block31.layer2.layer", &[("head_scale", 0), ("qkv", 128)]);
}

#[test]
fn fields_follow_each_other_without_gaps() {
    for layout in records() {
        let mut end = 0;
        for field in &layout.fields {
            assert_eq!(field.offset, end, "{} {}", layout.name, field.name);
            end = field.end();
        }
    }
}
