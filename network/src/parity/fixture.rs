//! The in-memory fixture, the same for both forms on disk.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::compare::{compare_codes, compare_digest, compare_f32, compare_rgb8};
use super::compose::{self, Base};
use super::error::FixtureError;
use super::verdict::{CompareError, Comparison, Verdict};
use super::{compact, manifest};
use crate::geometry::{Extent, Geometry};
use crate::model::files::open_regular;
use crate::numerics::half;

/// RGBA code values of a source image.
#[derive(Clone, Debug, PartialEq)]
pub struct Proxy {
    width: usize,
    height: usize,
    rgba: Vec<f32>,
}

impl Proxy {
    /// A proxy of `width * height` RGBA pixels; `None` when the length is another.
    pub fn new(width: u32, height: u32, rgba: Vec<f32>) -> Option<Self> {
        let (width, height) = (width as usize, height as usize);
        let fits = width > 0 && height > 0 && rgba.len() == width.checked_mul(height)?.checked_mul(4)?;
        fits.then_some(Self { width, height, rgba })
    }

    /// A proxy of 8-bit RGB pixels: code / 255 in f32, alpha 1 (frame section 4).
    pub fn from_rgb8(width: u32, height: u32, rgb: &[u8]) -> Option<Self> {
        let rgba = rgb
            .chunks_exact(3)
            .flat_map(|p| [f32::from(p[0]) / 255.0, f32::from(p[1]) / 255.0, f32::from(p[2]) / 255.0, 1.0])
            .collect();
        Self::new(width, height, rgba)
    }

    /// Width and height in pixels.
    pub fn extent(&self) -> Extent {
        Extent::new(self.width as u32, self.height as u32)
    }

    /// Pixels, row-major RGBA.
    pub fn rgba(&self) -> &[f32] {
        &self.rgba
    }

    /// RGB of the pixel that stands for (x, y) of a valid rectangle of any size (frame section 2).
    pub fn pixel(&self, x: usize, y: usize, valid: Extent) -> Option<[f32; 3]> {
        let at = |i: usize, source: usize, target: u32| ((2 * i + 1) * source) / (2 * target as usize);
        let (ix, iy) = (at(x, self.width, valid.width), at(y, self.height, valid.height));
        let start = (iy * self.width + ix) * 4;
        let pixel = self.rgba.get(start..start + 3)?;
        Some([pixel[0], pixel[1], pixel[2]])
    }
}

/// Conditioning of a recorded frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditioning {
    /// Local tone, 0..=1.
    pub local_tone: f32,
    /// Local structure, 0..=1.
    pub local_structure: f32,
    /// Skin structure; negative means "as local structure".
    pub skin_structure: f32,
    /// Style id.
    pub style: f32,
}

/// Which weights a fixture was recorded with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelIdentity {
    /// `starter` or the name of a synthetic preset.
    pub preset: String,
    /// Seed of the preset.
    pub seed: u64,
    /// Digest of the model.
    pub digest: String,
}

/// Where the reference bytes of a boundary are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A raw file.
    Raw(PathBuf),
    /// A zstd file, and the SHA-256 of its content.
    Zstd(PathBuf, String),
    /// Only the SHA-256 is known.
    Digest(String),
}

/// A boundary with its reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// `block-5`, `transition-4-5` or `pooled-4-5`.
    pub name: String,
    /// Width and height of its level.
    pub extent: Extent,
    /// Channels.
    pub channels: usize,
    /// The reference.
    pub reference: Reference,
}

/// Reference of the composed image.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputReference {
    /// f32 RGBA that holds halves.
    F32(Vec<f32>),
    /// RGBA8, one code of tolerance.
    U8(Vec<u8>),
    /// SHA-256 of the f32 RGBA image and of its 8-bit RGB form.
    Digest {
        /// Of the f32 RGBA image.
        f32: String,
        /// Of the 8-bit RGB image.
        rgb8: String,
    },
}

/// A recorded frame: an input, and references for one or more checks. Everything in it has been validated.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// Name: the compact form's own, or that of the directory.
    pub name: String,
    /// Where it was read from.
    pub directory: PathBuf,
    /// The valid rectangle, the field and the levels.
    pub geometry: Geometry,
    /// Input features `[field rows][16]`.
    pub features: Option<Vec<f32>>,
    /// The source image. The compact form has both inputs; its features are what the references belong to.
    pub proxy: Option<Proxy>,
    /// Conditioning; there when the proxy is.
    pub conditioning: Option<Conditioning>,
    /// Noise seed.
    pub seed: Option<u32>,
    /// Whether the automatic mask was on.
    pub auto_mask: Option<bool>,
    /// The weights, where the fixture names them.
    pub model: Option<ModelIdentity>,
    /// Boundaries to compare, in graph order.
    pub boundaries: Vec<Boundary>,
    /// Boundaries of the graph without a reference, and why.
    pub omitted: BTreeMap<String, String>,
    /// Head `[field rows][4]`, f32 bits.
    pub head: Option<Vec<f32>>,
    /// The composed image.
    pub output: Option<OutputReference>,
}

impl Fixture {
    /// Reads and validates a fixture directory of either form.
    ///
    /// # Errors
    /// The directory is not a fixture, its manifest is unreadable, or the fixture is invalid: then all its problems
    /// are listed.
    pub fn open(directory: &Path) -> Result<Self, FixtureError> {
        if directory.join("manifest.json").is_file() {
            manifest::open(directory)
        } else if directory.join("fixture.json").is_file() {
            compact::open(directory)
        } else {
            Err(FixtureError::NotAFixture(directory.to_owned()))
        }
    }

    /// Input features narrowed to half, as the network takes them (network section 5, step 1).
    pub fn features_half(&self) -> Option<Vec<u16>> {
        Some(self.features.as_ref()?.iter().map(|&value| half::from_f32(value)).collect())
    }

    /// The boundary of that name.
    pub fn boundary(&self, name: &str) -> Option<&Boundary> {
        self.boundaries.iter().find(|boundary| boundary.name == name)
    }

    /// Compares a head `[field rows][4]`.
    ///
    /// # Errors
    /// The fixture has no head, or the lengths differ.
    pub fn compare_head(&self, found: &[f32]) -> Result<Comparison, CompareError> {
        let expected = self.head.as_ref().ok_or_else(|| self.without("head"))?;
        compare_f32("head", self.geometry.field.width as usize, 4, 4, found, expected)
    }

    /// Composes the image of a head and compares it with every form of it that the fixture knows.
    ///
    /// # Errors
    /// The fixture has no output, or the head is shorter than the field.
    pub fn compare_output(&self, head: &[f32]) -> Result<Vec<Comparison>, CompareError> {
        let output = self.output.as_ref().ok_or_else(|| self.without("output"))?;
        let published = self.compose(head)?;
        let width = self.geometry.valid.width as usize;
        match output {
            OutputReference::F32(expected) => {
                let found = compose::rgba_f32(&published);
                Ok(vec![compare_f32("output", width, 4, 3, &found, expected)?])
            }
            OutputReference::U8(expected) => {
                Ok(vec![compare_rgb8("output", width, &compose::rgb8(&published), expected, 4)?])
            }
            OutputReference::Digest { f32, rgb8 } => {
                let found: Vec<u8> = compose::rgba_f32(&published).iter().flat_map(|v| v.to_le_bytes()).collect();
                Ok(vec![
                    compare_digest("output", &found, f32),
                    compare_digest("output (8-bit)", &compose::rgb8(&published), rgb8),
                ])
            }
        }
    }

    /// The published RGB halves of a head on this fixture's input.
    ///
    /// # Errors
    /// The head is shorter than the field.
    pub fn compose(&self, head: &[f32]) -> Result<Vec<u16>, CompareError> {
        let base = match (&self.proxy, &self.features) {
            (Some(proxy), _) => Base::Proxy(proxy),
            (None, Some(features)) => Base::Features(features),
            (None, None) => return Err(self.without("the input")),
        };
        let (field, valid) = (self.geometry.field, self.geometry.valid);
        compose::published(head, field, valid, base).ok_or_else(|| CompareError::Length {
            name: "head".to_owned(),
            found: head.len(),
            expected: field.pixels() * 4,
        })
    }

    fn without(&self, name: &str) -> CompareError {
        CompareError::NoReference { fixture: self.name.clone(), name: name.to_owned() }
    }
}

impl Boundary {
    /// Bytes of the tensor, `height * width * channels`.
    pub fn byte_len(&self) -> usize {
        self.extent.pixels() * self.channels
    }

    /// The reference bytes, or `None` when only their digest is known.
    ///
    /// # Errors
    /// The file, which was sound when the fixture was opened, cannot be read any more.
    pub fn read(&self) -> Result<Option<Vec<u8>>, FixtureError> {
        let (path, compressed) = match &self.reference {
            Reference::Raw(path) => (path, false),
            Reference::Zstd(path, _) => (path, true),
            Reference::Digest(_) => return Ok(None),
        };
        let limit = self.byte_len() as u64 + 1;
        let mut bytes = Vec::with_capacity(self.byte_len());
        let result = open_regular(path).and_then(|file| match compressed {
            true => zstd::Decoder::new(file)?.take(limit).read_to_end(&mut bytes),
            false => file.take(limit).read_to_end(&mut bytes),
        });
        match result {
            Ok(_) => Ok(Some(bytes)),
            Err(source) => Err(FixtureError::Read { path: path.clone(), source }),
        }
    }

    /// Compares the tensor's E4M3 bytes, value by value where the reference is stored.
    ///
    /// # Errors
    /// The stored reference cannot be read, or the lengths differ.
    pub fn compare(&self, found: &[u8]) -> Result<Comparison, BoundaryError> {
        if found.len() != self.byte_len() {
            let (name, expected) = (self.name.clone(), self.byte_len());
            return Err(CompareError::Length { name, found: found.len(), expected }.into());
        }
        if let Reference::Digest(digest) | Reference::Zstd(_, digest) = &self.reference {
            let comparison = compare_digest(&self.name, found, digest);
            if comparison.verdict == Verdict::BitExact || matches!(self.reference, Reference::Digest(_)) {
                return Ok(comparison);
            }
        }
        // Only `Digest` has no bytes, and that was answered above.
        let expected = self.read()?.unwrap_or_default();
        Ok(compare_codes(&self.name, self.extent.width as usize, self.channels, found, &expected)?)
    }
}

/// Why a boundary cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum BoundaryError {
    /// Its stored reference cannot be read.
    #[error(transparent)]
    Fixture(#[from] FixtureError),
    /// The lengths differ.
    #[error(transparent)]
    Compare(#[from] CompareError),
}
