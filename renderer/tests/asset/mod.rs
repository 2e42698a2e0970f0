//! Small glTF assets made in code.

use serde_json::{Map, Value, json};
use std::path::Path;

/// An asset with one binary buffer.
#[derive(Default)]
pub struct Asset {
    pub json: Map<String, Value>,
    pub binary: Vec<u8>,
}

impl Asset {
    pub fn new() -> Self {
        let mut asset = Self::default();
        asset.json.insert("asset".into(), json!({ "version": "2.0" }));
        asset
    }

    /// Appends to a list of the JSON; the index.
    pub fn add(&mut self, list: &str, value: Value) -> usize {
        let list = self.json.entry(list).or_insert_with(|| json!([])).as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        let offset = self.binary.len();
        self.binary.extend(bytes);
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        self.add("bufferViews", json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }))
    }

    /// An accessor of rows of floats.
    pub fn floats<const N: usize>(&mut self, rows: &[[f32; N]]) -> usize {
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
        let view = self.view(&bytes);
        let kind = ["", "SCALAR", "VEC2", "VEC3", "VEC4"].get(N).copied().unwrap_or("MAT4");
        // Positions must have bounds; others may.
        let bound = |pick: fn(f32, f32) -> f32| -> [f32; N] {
            rows.iter().fold(rows[0], |a, b| std::array::from_fn(|i| pick(a[i], b[i])))
        };
        let (min, max) = (bound(f32::min).to_vec(), bound(f32::max).to_vec());
        self.add(
            "accessors",
            json!({ "bufferView": view, "componentType": 5126, "count": rows.len(), "type": kind, "min": min, "max": max }),
        )
    }

    /// An accessor of 16-bit indices.
    pub fn indices(&mut self, indices: &[u16]) -> usize {
        let bytes: Vec<u8> = indices.iter().flat_map(|v| v.to_le_bytes()).collect();
        let view = self.view(&bytes);
        self.add(
            "accessors",
            json!({ "bufferView": view, "componentType": 5123, "count": indices.len(), "type": "SCALAR" }),
        )
    }

    /// An accessor of rows of four bytes.
    pub fn bytes(&mut self, rows: &[[u8; 4]], normalized: bool) -> usize {
        let view = self.view(rows.as_flattened());
        self.add(
            "accessors",
            json!({ "bufferView": view, "componentType": 5121, "count": rows.len(), "type": "VEC4", "normalized": normalized }),
        )
    }

    /// A texture of an RGBA picture, nearest texel, with a wrap mode (the number that glTF gives it).
    pub fn texture(&mut self, width: u32, height: u32, rgba: &[[u8; 4]], wrap: u32) -> usize {
        let picture = image::RgbaImage::from_raw(width, height, rgba.as_flattened().to_vec()).unwrap();
        let mut png = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut png, image::ImageFormat::Png).unwrap();
        let view = self.view(&png.into_inner());
        let image = self.add("images", json!({ "bufferView": view, "mimeType": "image/png" }));
        let sampler = self.add("samplers", json!({ "magFilter": 9728, "wrapS": wrap, "wrapT": wrap }));
        self.add("textures", json!({ "source": image, "sampler": sampler }))
    }

    /// Attributes of a square of side 2 in the xy plane, facing z; uv (0, 0) at its top left.
    pub fn square(&mut self) -> (Map<String, Value>, usize) {
        let positions = self.floats(&[[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]);
        let normals = self.floats(&[[0.0, 0.0, 1.0]; 4]);
        let uv = self.floats(&[[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]);
        let mut attributes = Map::new();
        for (name, accessor) in [("POSITION", positions), ("NORMAL", normals), ("TEXCOORD_0", uv)] {
            attributes.insert(name.into(), accessor.into());
        }
        (attributes, self.indices(&[0, 1, 2, 0, 2, 3]))
    }

    /// A mesh of a square with a material; its index.
    pub fn square_mesh(&mut self, material: Value) -> usize {
        let (attributes, indices) = self.square();
        let material = self.add("materials", material);
        self.add(
            "meshes",
            json!({ "primitives": [{ "attributes": attributes, "indices": indices, "material": material }] }),
        )
    }

    /// A node; its index. Every node that no other has as a child belongs to the scene.
    pub fn node(&mut self, value: Value) -> usize {
        self.add("nodes", value)
    }

    /// A camera at a distance on the z axis that looks at the origin, `height` metres high there.
    pub fn camera(&mut self, name: &str, distance: f32, height: f32) {
        let fov = 2.0 * (height * 0.5 / distance).atan();
        let camera =
            self.add("cameras", json!({ "type": "perspective", "perspective": { "yfov": fov, "znear": 0.1 } }));
        self.node(json!({ "name": name, "camera": camera, "translation": [0, 0, distance] }));
    }

    /// The whole JSON.
    pub fn document(&self) -> Value {
        let mut json = self.json.clone();
        let nodes = json.get("nodes").and_then(Value::as_array).cloned().unwrap_or_default();
        let children: Vec<u64> =
            nodes.iter().filter_map(|n| n.get("children")?.as_array()).flatten().filter_map(Value::as_u64).collect();
        let roots: Vec<u64> = (0..nodes.len() as u64).filter(|i| !children.contains(i)).collect();
        json.entry("scenes").or_insert_with(|| json!([{ "nodes": roots }]));
        json.entry("buffers").or_insert_with(|| json!([{ "byteLength": self.binary.len() }]));
        Value::Object(json)
    }

    /// Writes a binary file.
    pub fn write(&self, path: &Path) {
        std::fs::write(path, glb(self.document().to_string().as_bytes(), &self.binary)).unwrap();
    }
}

/// A binary file of JSON and a binary chunk.
pub fn glb(json: &[u8], binary: &[u8]) -> Vec<u8> {
    let mut out = b"glTF".to_vec();
    let mut chunks = Vec::new();
    for (kind, data, fill) in [(b"JSON", json, b' '), (b"BIN\0", binary, 0)] {
        let mut data = data.to_vec();
        data.resize(data.len().next_multiple_of(4), fill);
        chunks.extend((data.len() as u32).to_le_bytes());
        chunks.extend(kind);
        chunks.extend(data);
    }
    out.extend(2_u32.to_le_bytes());
    out.extend((12 + chunks.len() as u32).to_le_bytes());
    out.extend(chunks);
    out
}
