//! What is claimed is not allocated: inputs of a few hundred bytes that speak of gigabytes. A program of its own, because
//! it watches the memory of the whole process.

use serde_json::json;

/// Most address space that all claims together may take.
const MOST: u64 = 768 << 20;

/// The largest address space so far, in bytes; memory that is asked for and never touched counts.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Fifteen inputs by the parser that is to refuse or bear them.
fn claims() -> Vec<(&'static str, Vec<u8>)> {
    let big = u64::MAX;
    let four = 1_u64 << 32;
    let glb = |document: serde_json::Value| document.to_string().into_bytes();
    let asset = |buffer: u64, count: u64, kind: &str| {
        glb(json!({
            "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "mesh": 0 }],
            "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
            "accessors": [{ "componentType": 5126, "count": count, "type": kind, "min": [0, 0, 0], "max": [1, 1, 1],
                "sparse": { "count": count, "indices": { "bufferView": 0, "componentType": 5125 }, "values": { "bufferView": 0 } } }],
            "bufferViews": [{ "buffer": 0, "byteLength": buffer }],
            "buffers": [{ "byteLength": buffer, "uri": "data:application/octet-stream;base64,AAAA" }],
        }))
    };
    let stage =
        |length: u64| json!({ "id": "a", "file": "a.bin", "packedByteLength": length, "sha256": "0".repeat(64) });
    let manifest =
        |length: u64| json!({ "totals": { "blockCount": 71 }, "stages": [stage(length)], "tensors": [] }).to_string();
    let container = |length: u64| {
        let records = json!([{ "name": "block0.layer0.layer", "byteLength": length }]);
        [
            json!({ "description": "", "digest": "", "records": records }).to_string().into_bytes(),
            vec![0, 0x28, 0xb5, 0x2f, 0xfd],
        ]
        .concat()
    };
    let mut header = b"NRWEIGHT\x01\0\0\0".to_vec();
    header.extend([0xff; 20]);
    header.extend([0; 32]);
    let fixture = |side: u64, form: u8| {
        let picture = json!({ "width": side, "height": side, "file": "p.bin", "dtype": "u8" });
        let document = json!({
            "formatVersion": 1, "sourceDimensions": [16384, 16384], "fullDimensions": [16384, 16384], "checks": ["head", "output"],
            "proxy": picture, "nativeOutput": picture, "referenceHead": { "file": "h.bin" }, "seed": 1, "autoMask": true,
            "inputFeatures": { "file": "h.bin", "sha256": "0".repeat(64) }, "boundaries": [],
            "conditioning": { "localTone": 0.5, "localStructure": 0.5, "skinStructure": -1, "style": 1 },
        });
        [vec![form], document.to_string().into_bytes()].concat()
    };
    let import = json!({
        "size": [16384, 16384], "color": { "format": "f16", "channels": ["R", "G", "B"] },
        "motion": { "format": "f32", "channels": ["X", "Y"], "direction": "current-to-previous", "unit": "uv", "y": "down" },
        "depth": { "format": "f32", "channels": ["Z"] }, "frames": [{ "color": "c.bin", "motion": "m.bin", "depth": "d.bin" }],
    });
    vec![
        ("gltf", asset(four, 3, "VEC3")),
        ("gltf", asset(3, four, "VEC3")),
        ("gltf", asset(3, big, "MAT4")),
        ("panorama", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 100000 +X 200000\n".to_vec()),
        ("panorama", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 8000 +X 16000\n\x02\x02".to_vec()),
        ("model", manifest(four).into_bytes()),
        ("model", manifest(big).into_bytes()),
        ("container", header),
        ("container", container(four)),
        ("container", container(big)),
        ("fixture", fixture(u64::from(u32::MAX), 1)),
        ("fixture", fixture(16384, 1)),
        ("fixture", fixture(16384, 0)),
        ("import", import.to_string().into_bytes()),
        ("side", b"network,size:4294967297x4294967297".to_vec()),
    ]
}

#[test]
fn claims_take_no_memory() {
    let run = |name: &str, bytes: &[u8]| (outside::find(name).unwrap().make)()(bytes);
    // What good inputs take, and the threads' own stacks.
    for name in ["gltf", "panorama", "model", "container", "fixture", "import", "side"] {
        run(name, b"");
    }
    let before = peak();
    for (name, bytes) in claims() {
        let earlier = peak();
        run(name, &bytes);
        let took = peak() - earlier;
        assert!(peak() - before < MOST, "{name}: {} MiB for {} bytes of input", took >> 20, bytes.len());
    }
}
