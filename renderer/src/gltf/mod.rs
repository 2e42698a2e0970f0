//! glTF 2.0 files, text and binary, as models.
//!
//! Files are not trusted: sizes and counts have limits, every index and range is checked, and
//! references lead to no file outside the asset's folder.

mod accessor;
mod animation;
mod error;
mod geometry;
mod graph;
mod limits;
mod material;
pub(crate) mod source;

pub use error::{Error, Result};

use crate::mesh::{Material, Model};
use gltf::Document;
use gltf::json::Root;
use limits::{Data, Limits};
use rayon::prelude::*;
use source::Source;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Extensions that an asset may need.
pub const EXTENSIONS: [&str; 5] = [
    graph::INSTANCING,
    "KHR_lights_punctual",
    "KHR_materials_emissive_strength",
    "KHR_materials_unlit",
    "KHR_texture_transform",
];

const IMAGE_LIMIT: u64 = 4096;
const MATERIAL_LIMIT: u64 = 65536;
const MESH_LIMIT: u64 = 65536;
/// Most bytes of all buffers together.
const BUFFER_LIMIT: u64 = 4 << 30;
/// Most objects and elements of the JSON: parsed, each takes many times its text.
const OBJECT_LIMIT: u64 = 2 << 20;
const ELEMENT_LIMIT: u64 = 64 << 20;

/// How far loading has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps done: the file, each buffer, picture and mesh, and the nodes.
    pub done: u32,
    /// All steps.
    pub total: u32,
}

/// Counts steps and asks whether to go on.
struct Watch<'a> {
    done: AtomicU32,
    total: u32,
    report: &'a (dyn Fn(Progress) -> bool + Sync),
}

impl Watch<'_> {
    fn step(&self) -> Result<()> {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.ask()
    }

    fn ask(&self) -> Result<()> {
        let done = self.done.load(Ordering::Relaxed);
        if (self.report)(Progress { done, total: self.total }) { Ok(()) } else { Err(Error::Cancelled) }
    }
}

/// Loads the default scene of a `.gltf` or `.glb` file.
///
/// `report` is called after each step and many times within the longer ones, from several threads;
/// when it returns false, loading ends with [`Error::Cancelled`].
///
/// # Errors
/// One sentence about the first thing that is wrong with the file.
pub fn load(path: &Path, report: &(dyn Fn(Progress) -> bool + Sync)) -> Result<Model> {
    load_scene(path, None, report)
}

/// [`load`], for one of several scenes: by its name, or by its number in the file.
///
/// # Errors
/// See [`load`]; also when there is no such scene.
pub fn load_scene(path: &Path, scene: Option<&str>, report: &(dyn Fn(Progress) -> bool + Sync)) -> Result<Model> {
    guarded(path, || {
        let go_on = || if report(Progress { done: 0, total: 1 }) { Ok(()) } else { Err(Error::Cancelled) };
        let bytes = source::read_file(path, &go_on)?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        assemble(path, bytes, &Source { folder: Some(folder) }, scene, report)
    })
}

/// Loads a text or binary asset from memory; `name` is only used in messages. References to files
/// are refused.
///
/// # Errors
/// See [`load`].
pub fn from_bytes(name: &str, bytes: Vec<u8>, report: &(dyn Fn(Progress) -> bool + Sync)) -> Result<Model> {
    guarded(Path::new(name), || assemble(Path::new(name), bytes, &Source { folder: None }, None, report))
}

/// The gltf crate panics on some parts that its own checks leave out. Those known are checked
/// here; for others this is the last line.
fn guarded(path: &Path, f: impl FnOnce() -> Result<Model>) -> Result<Model> {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    result.unwrap_or_else(|_| Err(Error::Unreadable { path: path.to_owned() }))
}

fn assemble(
    path: &Path,
    bytes: Vec<u8>,
    source: &Source<'_>,
    scene: Option<&str>,
    report: &(dyn Fn(Progress) -> bool + Sync),
) -> Result<Model> {
    let parts = source::split(path, bytes)?;
    let document = parse(path, &parts.json)?;
    drop(parts.json);
    let counts = [document.buffers().count(), document.images().count(), document.meshes().count()];
    check_counts(&document)?;
    let total = 2 + counts.iter().sum::<usize>() as u32;
    let watch = Watch { done: AtomicU32::new(0), total, report };
    watch.step()?;

    let buffers = buffers(&document, source, parts.binary, &watch)?;
    let data = Data { buffers, limits: Limits::new() };
    let mut materials = document.materials().map(|m| material::material(&m)).collect::<Result<Vec<_>>>()?;
    materials.push(Material::default());
    // Pictures and meshes at the same time: neither alone keeps all cores busy to its end.
    let images = || {
        let images = (0..counts[1]).into_par_iter().map(|i| {
            watch.ask()?;
            let image = material::image(&document, source, &data, i, &|| watch.ask())?;
            watch.step()?;
            Ok(image)
        });
        images.collect::<Result<Vec<_>>>()
    };
    let meshes = || {
        let sources: Vec<_> = document.meshes().collect();
        let meshes = sources.par_iter().map(|mesh| {
            let mesh = geometry::mesh(&data, &materials, mesh, &|| watch.ask())?;
            watch.step()?;
            Ok(mesh)
        });
        meshes.collect::<Result<Vec<_>>>()
    };
    let (meshes, images) = rayon::join(meshes, images);
    let (images, meshes) = (images?, meshes?);
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let mut model = Model { name, meshes, materials, images, ..Model::default() };
    let scene = chosen(&document, scene)?;
    let places = graph::add(&document, &data, &scene, &mut model)?;
    animation::add(&document, &data, &places, &mut model)?;
    watch.step()?;
    Ok(model)
}

/// The scene of a name or number; without, the default one or the first.
fn chosen<'a>(document: &'a Document, wanted: Option<&str>) -> Result<gltf::Scene<'a>> {
    let Some(wanted) = wanted else {
        return document.default_scene().or_else(|| document.scenes().next()).ok_or(Error::NoScene);
    };
    let named = document.scenes().find(|scene| scene.name() == Some(wanted));
    let numbered = || wanted.parse().ok().and_then(|number| document.scenes().nth(number));
    named.or_else(numbered).ok_or_else(|| {
        let name = |scene: gltf::Scene<'_>| scene.name().map_or_else(|| scene.index().to_string(), str::to_owned);
        Error::OtherScene { wanted: wanted.to_owned(), there: messages::listed(document.scenes().map(name)) }
    })
}

/// The JSON as a checked document.
fn parse(path: &Path, json: &[u8]) -> Result<Document> {
    let format = |reason: String| Error::Format { path: path.to_owned(), reason };
    let count = |byte: u8| json.iter().filter(|b| **b == byte).count() as u64;
    let check = |what: &'static str, count: u64, limit: u64| {
        if count > limit { Err(Error::TooMany { what, count, limit }) } else { Ok(()) }
    };
    check("objects in its JSON", count(b'{'), OBJECT_LIMIT)?;
    check("elements in its JSON", count(b','), ELEMENT_LIMIT)?;
    let mut root: Root = serde_json::from_slice(json).map_err(|e| format(messages::shortened(&e)))?;
    if !root.asset.version.starts_with("2.") {
        return Err(format(format!("it has version {}", messages::quoted(&root.asset.version))));
    }
    if let Some(name) = root.extensions_required.iter().find(|name| !EXTENSIONS.contains(&name.as_str())) {
        return Err(Error::Extension { name: name.clone() });
    }
    // The crate does not know all that are supported here.
    root.extensions_required.clear();
    // And it looks up positions before it has checked that they are there.
    let here = |index: usize| index < root.accessors.len();
    let primitives = root.meshes.iter().enumerate().flat_map(|(i, m)| m.primitives.iter().map(move |p| (i, p)));
    for (mesh, primitive) in primitives {
        if let Some(index) = primitive.attributes.values().map(|i| i.value()).find(|&i| !here(i)) {
            return Err(Error::broken("mesh", mesh, format!("it refers to accessor {index}, which is not there")));
        }
    }
    Document::from_json(root).map_err(|error| match error {
        gltf::Error::Validation(list) if !list.is_empty() => {
            let (place, what) = &list[0];
            let more = if list.len() > 1 { format!(" (and {} more)", list.len() - 1) } else { String::new() };
            format(format!("{place}: {what}{more}"))
        }
        error => format(error.to_string()),
    })
}

fn check_counts(document: &Document) -> Result<()> {
    let check = |what: &'static str, count: usize, limit: u64| {
        let count = count as u64;
        if count > limit { Err(Error::TooMany { what, count, limit }) } else { Ok(()) }
    };
    check("pictures", document.images().count(), IMAGE_LIMIT)?;
    check("materials", document.materials().count(), MATERIAL_LIMIT)?;
    check("meshes", document.meshes().count(), MESH_LIMIT)
}

/// All buffers; each has at least the bytes that it claims.
fn buffers(
    document: &Document,
    source: &Source<'_>,
    binary: Option<Vec<u8>>,
    watch: &Watch<'_>,
) -> Result<Vec<Vec<u8>>> {
    let mut binary = binary;
    let mut buffers = Vec::new();
    let mut held = 0_u64;
    for (index, buffer) in document.as_json().buffers.iter().enumerate() {
        let bytes = match &buffer.uri {
            Some(uri) => source.resolve(uri, &|| watch.ask())?,
            None => binary.take().ok_or_else(|| Error::broken("buffer", index, "it has no data"))?,
        };
        let claimed = buffer.byte_length.0;
        if (bytes.len() as u64) < claimed {
            let reason = format!("it claims {claimed} bytes and has {}", bytes.len());
            return Err(Error::broken("buffer", index, reason));
        }
        held = held.saturating_add(bytes.len() as u64);
        if held > BUFFER_LIMIT {
            return Err(Error::TooMany { what: "bytes in all buffers", count: held, limit: BUFFER_LIMIT });
        }
        buffers.push(bytes);
        watch.step()?;
    }
    Ok(buffers)
}
