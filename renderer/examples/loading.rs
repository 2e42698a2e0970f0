//! Makes a large glTF scene, or loads one and prints what each step costs.
//!
//!     cargo run --release -p renderer --example loading -- make OUT.glb [TRIANGLES] [TEXTURES] [SIDE]
//!     cargo run --release -p renderer --example loading -- FILE [WIDTH HEIGHT]
//!
//! The scene is a landscape of tiles, each a mesh with a texture of its own; all of them share one
//! list of vertices, as exporters like to do. [default: 2000000 triangles, 200 textures of 512 texels a side]

use gpu::{Device, DeviceSelector, Instance, InstanceDesc};
use renderer::{GBuffer, Renderer, Scene, View, gltf};
use serde_json::{Value, json};
use std::error::Error;
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn noise(x: u32, y: u32) -> f32 {
    let mut v = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77);
    v = (v ^ v >> 15).wrapping_mul(0x2C1B_3C6D);
    v = (v ^ v >> 12).wrapping_mul(0x297A_2D39);
    (v >> 8) as f32 / 16_777_216.0
}

fn smooth_noise(x: f32, y: f32) -> f32 {
    let (i, j) = (x.floor(), y.floor());
    let ease = |f: f32| f * f * (3.0 - 2.0 * f);
    let (u, v) = (ease(x - i), ease(y - j));
    let at = |di: i32, dj: i32| noise((i as i32 + di) as u32, (j as i32 + dj) as u32);
    let row = |dj: i32| at(0, dj) + (at(1, dj) - at(0, dj)) * u;
    row(0) + (row(1) - row(0)) * v
}

fn height(x: f32, z: f32) -> f32 {
    [(9.0, 4.0), (2.3, 1.0), (0.6, 0.2)].iter().map(|(size, high)| high * smooth_noise(x / size, z / size)).sum()
}

/// A picture of a tile: stones in some colour.
fn picture(tile: u32, side: u32) -> Result<Vec<u8>> {
    let hue = [noise(tile, 1), noise(tile, 2), noise(tile, 3)];
    let texel = |x: u32, y: u32| {
        let cell = noise(x * 16 / side + 100 * tile, y * 16 / side);
        let grain = (noise(x / 2, y / 2 + tile) * 4.0).floor() / 4.0;
        let light = 0.35 + 0.4 * cell + 0.2 * grain;
        image::Rgb(hue.map(|h| (255.0 * light * (0.6 + 0.4 * h)) as u8))
    };
    let picture = image::RgbImage::from_fn(side, side, texel);
    let mut png = Cursor::new(Vec::new());
    picture.write_to(&mut png, image::ImageFormat::Png)?;
    Ok(png.into_inner())
}

/// Appends a part to the binary chunk; its view.
fn view(binary: &mut Vec<u8>, views: &mut Vec<Value>, bytes: &[u8]) -> usize {
    views.push(json!({ "buffer": 0, "byteOffset": binary.len(), "byteLength": bytes.len() }));
    binary.extend(bytes);
    binary.resize(binary.len().next_multiple_of(4), 0);
    views.len() - 1
}

fn make(path: &Path, triangles: u32, textures: u32, side: u32) -> Result<()> {
    let across = (f64::from(textures).sqrt().ceil()) as u32;
    let edge = (f64::from(triangles) / 2.0 / f64::from(textures)).sqrt().ceil() as u32;
    let (mut positions, mut normals, mut coordinates) = (Vec::new(), Vec::new(), Vec::new());
    let (mut binary, mut views, mut accessors) = (Vec::new(), Vec::new(), Vec::new());
    let (mut meshes, mut materials, mut images, mut nodes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for tile in 0..textures {
        let first = positions.len() as u32;
        let (tx, tz) = ((tile % across) as f32 * 4.0, (tile / across) as f32 * 4.0);
        for i in 0..(edge + 1) * (edge + 1) {
            let (u, v) = ((i % (edge + 1)) as f32 / edge as f32, (i / (edge + 1)) as f32 / edge as f32);
            let (x, z) = (tx + 4.0 * u, tz + 4.0 * v);
            let e = 4.0 / edge as f32;
            let slope = [height(x - e, z) - height(x + e, z), 2.0 * e, height(x, z - e) - height(x, z + e)];
            let length = slope.iter().map(|v| v * v).sum::<f32>().sqrt();
            positions.push([x, height(x, z), z]);
            normals.push(slope.map(|v| v / length));
            coordinates.push([2.0 * u, 2.0 * v]);
        }
        let corner = |x: u32, z: u32| first + z * (edge + 1) + x;
        let cells = (0..edge * edge).map(|i| (i % edge, i / edge));
        let corners = cells.flat_map(|(x, z)| {
            let [a, b, c, d] = [corner(x, z), corner(x + 1, z), corner(x, z + 1), corner(x + 1, z + 1)];
            [a, c, b, b, c, d]
        });
        let bytes: Vec<u8> = corners.flat_map(u32::to_le_bytes).collect();
        let indices = view(&mut binary, &mut views, &bytes);
        accessors
            .push(json!({ "bufferView": indices, "componentType": 5125, "count": 6 * edge * edge, "type": "SCALAR" }));
        let png = view(&mut binary, &mut views, &picture(tile, side)?);
        images.push(json!({ "bufferView": png, "mimeType": "image/png" }));
        materials.push(json!({ "pbrMetallicRoughness": {
            "baseColorTexture": { "index": tile }, "metallicFactor": 0, "roughnessFactor": 0.8,
        } }));
        nodes.push(json!({ "mesh": tile }));
    }
    let list = |rows: &[[f32; 3]]| rows.as_flattened().iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let far = 4.0 * across as f32;
    let shared = accessors.len();
    for (bytes, kind, bounds) in [
        (list(&positions), "VEC3", Some(([0.0, 0.0, 0.0], [far, 10.0, far]))),
        (list(&normals), "VEC3", None),
        (coordinates.as_flattened().iter().flat_map(|v: &f32| v.to_le_bytes()).collect(), "VEC2", None),
    ] {
        let view = view(&mut binary, &mut views, &bytes);
        let mut accessor = json!({ "bufferView": view, "componentType": 5126, "count": positions.len(), "type": kind });
        if let Some((min, max)) = bounds {
            accessor["min"] = json!(min);
            accessor["max"] = json!(max);
        }
        accessors.push(accessor);
    }
    for tile in 0..textures {
        meshes.push(json!({ "primitives": [{
            "attributes": { "POSITION": shared, "NORMAL": shared + 1, "TEXCOORD_0": shared + 2 },
            "indices": tile, "material": tile,
        }] }));
    }
    let numbers: Vec<u32> = (0..textures).collect();
    let textures: Vec<Value> = numbers.iter().map(|i| json!({ "source": i })).collect();
    let json = json!({
        "asset": { "version": "2.0" }, "scenes": [{ "nodes": numbers }], "nodes": nodes, "meshes": meshes,
        "materials": materials, "textures": textures, "images": images, "accessors": accessors,
        "bufferViews": views, "buffers": [{ "byteLength": binary.len() }],
    });
    let mut json = json.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    file.write_all(b"glTF\x02\0\0\0")?;
    file.write_all(&u32::try_from(28 + json.len() + binary.len())?.to_le_bytes())?;
    for (kind, data) in [(b"JSON", &json), (b"BIN\0", &binary)] {
        file.write_all(&u32::try_from(data.len())?.to_le_bytes())?;
        file.write_all(kind)?;
        file.write_all(data)?;
    }
    println!("{}: {} triangles, {} textures", path.display(), numbers.len() as u32 * 2 * edge * edge, numbers.len());
    Ok(file.flush()?)
}

/// Most memory that the program has held, MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024
}

fn load(path: &Path, width: u32, height: u32) -> Result<()> {
    let instance = Instance::new(&InstanceDesc::default())?;
    let device = Device::open(&instance, &DeviceSelector::Auto)?;
    println!("{}", device.caps().name);
    let begun = Instant::now();
    // Longest time between two questions whether to go on: what cancelling may take.
    let (last, longest) = (AtomicU64::new(0), AtomicU64::new(0));
    let model = gltf::load(path, &|_| {
        let now = begun.elapsed().as_micros() as u64;
        longest.fetch_max(now - last.swap(now, Ordering::Relaxed).min(now), Ordering::Relaxed);
        true
    })?;
    let (triangles, pictures) = (model.triangle_count(), model.images.len());
    println!("file: {:.2?}, {triangles} triangles, {pictures} textures, peak {} MiB", begun.elapsed(), peak());
    println!("longest without asking whether to go on: {:.3} s", longest.load(Ordering::Relaxed) as f64 * 1e-6);
    let step = Instant::now();
    let scene = Scene::around(model);
    println!("scene: {:.2?}", step.elapsed());
    let step = Instant::now();
    let renderer = Renderer::for_scene(&device, &scene)?;
    let used = device.memory_use();
    println!("onto the device: {:.2?}, peak {} MiB, device memory {used:?}", step.elapsed(), peak());
    println!("all: {:.2?}", begun.elapsed());
    let target = GBuffer::new(&device, width, height)?;
    for frame in 0..3 {
        let step = Instant::now();
        let mut recorded = Ok(());
        device.run_once("frame", |commands| {
            recorded = renderer.record(commands, &target, &scene, &View::scripted(&scene, frame, 30.0));
        })?;
        recorded?;
        println!("frame {frame} of {width}x{height}: {:.1?}", step.elapsed());
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u32| arguments.get(at).map_or(Ok(default), |text| text.parse());
    match arguments.first().map(String::as_str) {
        Some("make") => {
            let path = arguments.get(1).ok_or("give a file to write")?;
            make(Path::new(path), number(2, 2_000_000)?, number(3, 200)?, number(4, 512)?)
        }
        Some(file) => load(Path::new(file), number(1, 640)?, number(2, 360)?),
        None => Err("give a file, or: make OUT.glb [TRIANGLES] [TEXTURES] [SIDE]".into()),
    }
}
