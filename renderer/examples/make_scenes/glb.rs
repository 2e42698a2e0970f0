//! A writer of binary glTF files.

use crate::shape::Shape;
use glam::{Mat4, Quat, Vec3};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

/// A glTF asset being made.
pub struct Glb {
    json: Map<String, Value>,
    binary: Vec<u8>,
    /// Views by their bytes, and accessors by their JSON: what is the same is stored once.
    views: HashMap<Vec<u8>, usize>,
    accessors: HashMap<String, usize>,
}

/// Where a node is in its parent's space.
#[derive(Clone, Copy)]
pub struct Place {
    pub at: Vec3,
    pub turn: Quat,
    pub scale: Vec3,
}

impl Place {
    pub fn at(x: f32, y: f32, z: f32) -> Self {
        Self { at: Vec3::new(x, y, z), turn: Quat::IDENTITY, scale: Vec3::ONE }
    }

    pub fn turned(self, turn: Quat) -> Self {
        Self { turn, ..self }
    }

    pub fn scaled(self, scale: f32) -> Self {
        Self { scale: Vec3::splat(scale), ..self }
    }

    fn json(self) -> Map<String, Value> {
        let mut map = Map::new();
        if self.at != Vec3::ZERO {
            map.insert("translation".into(), json!(self.at.to_array()));
        }
        if self.turn != Quat::IDENTITY {
            map.insert("rotation".into(), json!(self.turn.to_array()));
        }
        if self.scale != Vec3::ONE {
            map.insert("scale".into(), json!(self.scale.to_array()));
        }
        map
    }
}

impl Glb {
    pub fn new() -> Self {
        let mut json = Map::new();
        json.insert("asset".into(), json!({ "version": "2.0", "generator": "nrview make_scenes" }));
        Self { json, binary: Vec::new(), views: HashMap::new(), accessors: HashMap::new() }
    }

    fn add(&mut self, list: &str, value: Value) -> usize {
        let list = self.json.entry(list).or_insert_with(|| json!([]));
        let list = list.as_array_mut().expect("a list");
        list.push(value);
        list.len() - 1
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        if let Some(view) = self.views.get(bytes) {
            return *view;
        }
        let offset = self.binary.len();
        self.binary.extend(bytes);
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let view = self.add("bufferViews", json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }));
        self.views.insert(bytes.to_vec(), view);
        view
    }

    fn accessor(&mut self, bytes: &[u8], kind: &str, component: u32, count: usize, more: Value) -> usize {
        let view = self.view(bytes);
        let mut accessor = json!({ "bufferView": view, "componentType": component, "count": count, "type": kind });
        if let (Some(to), Some(from)) = (accessor.as_object_mut(), more.as_object()) {
            to.extend(from.clone());
        }
        let key = accessor.to_string();
        if let Some(known) = self.accessors.get(&key) {
            return *known;
        }
        let number = self.add("accessors", accessor);
        self.accessors.insert(key, number);
        number
    }

    /// An accessor of rows of floats.
    pub fn floats<const N: usize>(&mut self, rows: &[[f32; N]]) -> usize {
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
        let kind = ["", "SCALAR", "VEC2", "VEC3", "VEC4"].get(N).copied().unwrap_or("MAT4");
        let bound = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
            let first = rows.first().copied().unwrap_or([0.0; N]);
            rows.iter().fold(first, |a, b| std::array::from_fn(|i| pick(a[i], b[i]))).to_vec()
        };
        let more = json!({ "min": bound(f32::min), "max": bound(f32::max) });
        self.accessor(&bytes, kind, 5126, rows.len(), more)
    }

    /// A texture of an encoded picture.
    pub fn texture(&mut self, encoded: &[u8]) -> usize {
        let kind = if encoded.starts_with(b"\x89PNG") { "image/png" } else { "image/jpeg" };
        let view = self.view(encoded);
        let source = self.add("images", json!({ "bufferView": view, "mimeType": kind }));
        let sampler = match self.json.get("samplers") {
            Some(_) => 0,
            None => {
                self.add("samplers", json!({ "magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497 }))
            }
        };
        self.add("textures", json!({ "source": source, "sampler": sampler }))
    }

    /// A material from its glTF JSON.
    pub fn material(&mut self, json: Value) -> usize {
        self.add("materials", json)
    }

    /// A mesh of shapes, each with a material.
    pub fn mesh(&mut self, parts: &[(&Shape, usize)]) -> usize {
        let primitives: Vec<Value> = parts
            .iter()
            .filter(|(shape, _)| !shape.triangles.is_empty())
            .map(|(shape, material)| self.primitive(shape, *material))
            .collect();
        self.add("meshes", json!({ "primitives": primitives }))
    }

    fn primitive(&mut self, shape: &Shape, material: usize) -> Value {
        let mut attributes = Map::new();
        let rows: Vec<[f32; 3]> = shape.positions.iter().map(|p| p.to_array()).collect();
        attributes.insert("POSITION".into(), self.floats(&rows).into());
        let rows: Vec<[f32; 3]> = shape.normals.iter().map(|p| p.to_array()).collect();
        attributes.insert("NORMAL".into(), self.floats(&rows).into());
        let rows: Vec<[f32; 2]> = shape.uvs.iter().map(|p| p.to_array()).collect();
        attributes.insert("TEXCOORD_0".into(), self.floats(&rows).into());
        if shape.colors.iter().any(|c| *c != [255; 4]) {
            let bytes = shape.colors.as_flattened();
            let color = self.accessor(bytes, "VEC4", 5121, shape.colors.len(), json!({ "normalized": true }));
            attributes.insert("COLOR_0".into(), color.into());
        }
        if !shape.bindings.is_empty() {
            let joints: Vec<u8> = shape.bindings.iter().flat_map(|(j, _)| *j).collect();
            let joints = self.accessor(&joints, "VEC4", 5121, shape.bindings.len(), json!({}));
            attributes.insert("JOINTS_0".into(), joints.into());
            let weights: Vec<[f32; 4]> = shape.bindings.iter().map(|(_, w)| *w).collect();
            attributes.insert("WEIGHTS_0".into(), self.floats(&weights).into());
        }
        let targets: Vec<Value> = shape
            .targets
            .iter()
            .map(|(positions, normals)| {
                let p: Vec<[f32; 3]> = positions.iter().map(|p| p.to_array()).collect();
                let n: Vec<[f32; 3]> = normals.iter().map(|p| p.to_array()).collect();
                json!({ "POSITION": self.floats(&p), "NORMAL": self.floats(&n) })
            })
            .collect();
        let indices = shape.triangles.as_flattened();
        let count = indices.len();
        let index = if shape.positions.len() <= 65536 {
            let bytes: Vec<u8> = indices.iter().flat_map(|i| (*i as u16).to_le_bytes()).collect();
            self.accessor(&bytes, "SCALAR", 5123, count, json!({}))
        } else {
            let bytes: Vec<u8> = indices.iter().flat_map(|i| i.to_le_bytes()).collect();
            self.accessor(&bytes, "SCALAR", 5125, count, json!({}))
        };
        let mut primitive = json!({ "attributes": attributes, "indices": index, "material": material });
        if !targets.is_empty() {
            primitive["targets"] = targets.into();
        }
        primitive
    }

    /// A node without a mesh; its number.
    pub fn group(&mut self, place: Place, children: &[usize]) -> usize {
        let mut node = place.json();
        if !children.is_empty() {
            node.insert("children".into(), json!(children));
        }
        self.add("nodes", node.into())
    }

    /// A node with a mesh.
    pub fn node(&mut self, place: Place, mesh: usize) -> usize {
        let mut node = place.json();
        node.insert("mesh".into(), mesh.into());
        self.add("nodes", node.into())
    }

    /// Hangs another child on a node.
    pub fn adopt(&mut self, parent: usize, child: usize) {
        let node = self.json["nodes"][parent].as_object_mut().expect("a node");
        let children = node.entry("children").or_insert_with(|| json!([]));
        children.as_array_mut().expect("a list").push(child.into());
    }

    /// A node with many instances of a mesh (EXT_mesh_gpu_instancing).
    pub fn instances(&mut self, mesh: usize, places: &[Place]) -> usize {
        let at: Vec<[f32; 3]> = places.iter().map(|p| p.at.to_array()).collect();
        let turn: Vec<[f32; 4]> = places.iter().map(|p| p.turn.to_array()).collect();
        let scale: Vec<[f32; 3]> = places.iter().map(|p| p.scale.to_array()).collect();
        let attributes = json!({
            "TRANSLATION": self.floats(&at), "ROTATION": self.floats(&turn), "SCALE": self.floats(&scale),
        });
        self.uses("EXT_mesh_gpu_instancing");
        self.add(
            "nodes",
            json!({ "mesh": mesh, "extensions": { "EXT_mesh_gpu_instancing": { "attributes": attributes } } }),
        )
    }

    /// Names an extension that the asset uses.
    pub fn uses(&mut self, extension: &str) {
        let list = self.json.entry("extensionsUsed").or_insert_with(|| json!([]));
        let list = list.as_array_mut().expect("a list");
        if !list.contains(&json!(extension)) {
            list.push(extension.into());
        }
    }

    /// Lets a skin of joints (with their places in the model at rest) deform a node's mesh.
    pub fn skin(&mut self, node: usize, joints: &[usize], rest: &[Mat4]) {
        let inverse: Vec<[f32; 16]> = rest.iter().map(|m| m.inverse().to_cols_array()).collect();
        let matrices = self.floats(&inverse);
        let skin = self.add("skins", json!({ "joints": joints, "inverseBindMatrices": matrices }));
        self.json["nodes"][node]["skin"] = skin.into();
    }

    /// An animation of channels: node, path, times, values, interpolation.
    pub fn animation(&mut self, channels: &[Channel]) {
        let (mut samplers, mut targets) = (Vec::new(), Vec::new());
        for channel in channels {
            let times: Vec<[f32; 1]> = channel.times.iter().map(|t| [*t]).collect();
            let input = self.floats(&times);
            let output = match &channel.values {
                Values::Vectors(rows) => self.floats(rows),
                Values::Turns(rows) => self.floats(rows),
                Values::Weights(rows) => self.floats(rows),
            };
            samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
            targets.push(json!({
                "sampler": samplers.len() - 1, "target": { "node": channel.node, "path": channel.path },
            }));
        }
        self.add("animations", json!({ "samplers": samplers, "channels": targets }));
    }

    /// Writes the file.
    pub fn write(mut self, path: &Path) -> Result<(), Box<dyn Error>> {
        let nodes = self.json.get("nodes").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut roots = vec![true; nodes.len()];
        for child in nodes.iter().filter_map(|n| n.get("children")?.as_array()).flatten().filter_map(Value::as_u64) {
            roots[child as usize] = false;
        }
        let roots: Vec<usize> = (0..nodes.len()).filter(|i| roots[*i]).collect();
        self.json.insert("scene".into(), json!(0));
        self.json.insert("scenes".into(), json!([{ "nodes": roots }]));
        self.json.insert("buffers".into(), json!([{ "byteLength": self.binary.len() }]));
        let text = serde_json::to_vec(&self.json)?;
        let mut chunks = Vec::new();
        for (kind, mut data, fill) in [(b"JSON", text, b' '), (b"BIN\0", self.binary, 0)] {
            data.resize(data.len().next_multiple_of(4), fill);
            chunks.extend((data.len() as u32).to_le_bytes());
            chunks.extend(kind);
            chunks.extend(data);
        }
        let mut out = b"glTF".to_vec();
        out.extend(2_u32.to_le_bytes());
        out.extend((12 + chunks.len() as u32).to_le_bytes());
        out.extend(chunks);
        println!("{}: {:.2} MB", path.display(), out.len() as f64 * 1e-6);
        Ok(std::fs::write(path, out)?)
    }
}

/// One animated property.
pub struct Channel {
    pub node: usize,
    pub path: &'static str,
    pub times: Vec<f32>,
    pub values: Values,
}

/// Values of a channel, one for each time (for weights: one for each time and target).
pub enum Values {
    Vectors(Vec<[f32; 3]>),
    Turns(Vec<[f32; 4]>),
    Weights(Vec<[f32; 1]>),
}

impl Channel {
    /// A node's turn at each of `count` + 1 steps of `seconds`.
    pub fn turns(node: usize, seconds: f32, count: usize, at: impl Fn(f32) -> Quat) -> Self {
        let steps = || (0..=count).map(move |i| i as f32 / count as f32);
        let values = Values::Turns(steps().map(|f| at(f).to_array()).collect());
        Self { node, path: "rotation", times: steps().map(|f| f * seconds).collect(), values }
    }

    /// A node's place at each of `count` + 1 steps of `seconds`.
    pub fn moves(node: usize, seconds: f32, count: usize, at: impl Fn(f32) -> Vec3) -> Self {
        let steps = || (0..=count).map(move |i| i as f32 / count as f32);
        let values = Values::Vectors(steps().map(|f| at(f).to_array()).collect());
        Self { node, path: "translation", times: steps().map(|f| f * seconds).collect(), values }
    }
}
