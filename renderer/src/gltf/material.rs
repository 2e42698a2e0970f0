//! Materials and pictures.

use super::accessor::view_bytes;
use super::error::{Error, Result};
use super::limits::Data;
use super::source::{Asking, Source};
use crate::jpeg;
use crate::mesh::{Alpha, Image, Material, Mipmaps, TextureUse, Wrap};
use glam::{Affine2, Mat2, Vec2, Vec3, Vec4};
use gltf::Document;
use gltf::material::AlphaMode;
use gltf::texture::{MagFilter, MinFilter, Texture, TextureTransform, WrappingMode};
use image::ImageReader;

/// Longest side of a picture, and most bytes that decoding one may take.
const SIDE_LIMIT: u32 = 16384;
const DECODE_LIMIT: u64 = 2 << 30;

/// Decodes picture `index`; `go_on` is asked again and again meanwhile.
pub(super) fn image(
    document: &Document,
    source: &Source<'_>,
    data: &Data,
    index: usize,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<Image> {
    let broken = |reason: String| Error::broken("picture", index, reason);
    let json = &document.as_json().images[index];
    let view = json.buffer_view.and_then(|view| document.views().nth(view.value()));
    let loaded;
    let bytes = match (&json.uri, view) {
        (_, Some(view)) => {
            let bytes = view_bytes(&data.buffers, &view);
            bytes.ok_or_else(|| broken("it reaches past the end of its buffer".to_owned()))?
        }
        (Some(uri), None) => {
            loaded = source.resolve(uri, go_on)?;
            &loaded
        }
        (None, None) => return Err(broken("it has neither a file nor data".to_owned())),
    };
    let reader = || {
        let reader = ImageReader::new(Asking::new(bytes, go_on)).with_guessed_format();
        let mut reader = reader.map_err(|e| broken(messages::shortened(&e)))?;
        if !matches!(reader.format(), Some(image::ImageFormat::Png | image::ImageFormat::Jpeg)) {
            return Err(broken("it is neither PNG nor JPEG".to_owned()));
        }
        let mut limits = image::Limits::default();
        limits.max_image_width = Some(SIDE_LIMIT);
        limits.max_image_height = Some(SIDE_LIMIT);
        limits.max_alloc = Some(DECODE_LIMIT);
        reader.limits(limits);
        Ok(reader)
    };
    // The header first: a small file may claim a huge picture.
    let size = reader()?.into_dimensions();
    go_on()?;
    let (width, height) = size.map_err(|e| broken(messages::shortened(&e)))?;
    if width > SIDE_LIMIT || height > SIDE_LIMIT {
        return Err(broken(format!("it has {width}x{height} pixels, and a side may have {SIDE_LIMIT}")));
    }
    data.limits.texels(u64::from(width) * u64::from(height))?;
    if jpeg::is_one(bytes) {
        jpeg::check(bytes, width, height).map_err(|reason| broken(format!("it {reason}")))?;
    }
    let picture = reader()?.decode();
    go_on()?;
    let picture = picture.map_err(|e| broken(messages::shortened(&e)))?.into_rgba8();
    let (width, height) = picture.dimensions();
    if width == 0 || height == 0 {
        return Err(broken("it has no pixels".to_owned()));
    }
    Ok(Image { width, height, rgba: picture.into_raw() })
}

fn wrap(mode: WrappingMode) -> Wrap {
    match mode {
        WrappingMode::ClampToEdge => Wrap::Clamp,
        WrappingMode::MirroredRepeat => Wrap::Mirror,
        WrappingMode::Repeat => Wrap::Repeat,
    }
}

fn texture_use(texture: &Texture<'_>, set: u32, transform: Option<(Option<u32>, Affine2)>) -> Result<TextureUse> {
    let set = transform.and_then(|(set, _)| set).unwrap_or(set);
    if set > 1 {
        return Err(Error::broken(
            "texture",
            texture.index(),
            format!("it uses texture coordinates {set}; 0 and 1 are supported"),
        ));
    }
    if !transform.is_none_or(|(_, transform)| transform.is_finite()) {
        return Err(Error::broken("texture", texture.index(), "its transform is not finite"));
    }
    let sampler = texture.sampler();
    let (smooth_small, mipmaps) = match sampler.min_filter() {
        Some(MinFilter::Nearest) => (false, Mipmaps::None),
        Some(MinFilter::Linear) => (true, Mipmaps::None),
        Some(MinFilter::NearestMipmapNearest) => (false, Mipmaps::Nearest),
        Some(MinFilter::LinearMipmapNearest) => (true, Mipmaps::Nearest),
        Some(MinFilter::NearestMipmapLinear) => (false, Mipmaps::Linear),
        Some(MinFilter::LinearMipmapLinear) | None => (true, Mipmaps::Linear),
    };
    Ok(TextureUse {
        image: texture.source().index(),
        set,
        transform: transform.map_or(Affine2::IDENTITY, |(_, transform)| transform),
        wrap: [wrap(sampler.wrap_s()), wrap(sampler.wrap_t())],
        smooth: sampler.mag_filter() != Some(MagFilter::Nearest),
        smooth_small,
        mipmaps,
    })
}

/// KHR_texture_transform: translation after rotation after scale.
fn affine(offset: [f32; 2], rotation: f32, scale: [f32; 2]) -> Affine2 {
    let (s, c) = rotation.sin_cos();
    let turn = Mat2::from_cols(Vec2::new(c, -s), Vec2::new(s, c));
    Affine2::from_mat2_translation(turn * Mat2::from_diagonal(scale.into()), offset.into())
}

fn info_use(info: &gltf::texture::Info<'_>) -> Result<TextureUse> {
    let transform = |t: TextureTransform<'_>| (t.tex_coord(), affine(t.offset(), t.rotation(), t.scale()));
    texture_use(&info.texture(), info.tex_coord(), info.texture_transform().map(transform))
}

/// The transform of a texture whose reader hands it over as JSON.
fn json_transform(value: Option<&serde_json::Value>) -> Option<(Option<u32>, Affine2)> {
    let value = value?;
    let float = |v: &serde_json::Value| v.as_f64().map(|v| v as f32);
    let pair = |key: &str, default: f32| {
        let part = |i: usize| value.get(key).and_then(|v| v.get(i)).and_then(float).unwrap_or(default);
        [part(0), part(1)]
    };
    let rotation = value.get("rotation").and_then(float).unwrap_or(0.0);
    let set = value.get("texCoord").and_then(serde_json::Value::as_u64).and_then(|v| u32::try_from(v).ok());
    Some((set, affine(pair("offset", 0.0), rotation, pair("scale", 1.0))))
}

/// A material; values are brought into their ranges.
pub(super) fn material(m: &gltf::Material<'_>) -> Result<Material> {
    const TRANSFORM: &str = "KHR_texture_transform";
    let pbr = m.pbr_metallic_roughness();
    let info = |info: Option<gltf::texture::Info<'_>>| info.as_ref().map(info_use).transpose();
    let normal = m.normal_texture();
    let occlusion = m.occlusion_texture();
    let unit = |v: f32| v.clamp(0.0, 1.0);
    let strength = m.emissive_strength().unwrap_or(1.0).clamp(0.0, 1e6);
    Ok(Material {
        base: Vec4::from(pbr.base_color_factor()).clamp(Vec4::ZERO, Vec4::ONE),
        base_texture: info(pbr.base_color_texture())?,
        metallic: unit(pbr.metallic_factor()),
        roughness: unit(pbr.roughness_factor()),
        metallic_roughness_texture: info(pbr.metallic_roughness_texture())?,
        normal_texture: normal
            .as_ref()
            .map(|t| texture_use(&t.texture(), t.tex_coord(), json_transform(t.extension_value(TRANSFORM))))
            .transpose()?,
        normal_scale: normal.as_ref().map_or(1.0, |t| t.scale().clamp(-1e3, 1e3)),
        occlusion_texture: occlusion
            .as_ref()
            .map(|t| texture_use(&t.texture(), t.tex_coord(), json_transform(t.extension_value(TRANSFORM))))
            .transpose()?,
        occlusion_strength: occlusion.as_ref().map_or(1.0, |t| unit(t.strength())),
        emission: Vec3::from(m.emissive_factor()).clamp(Vec3::ZERO, Vec3::splat(1e6)) * strength,
        emission_texture: info(m.emissive_texture())?,
        alpha: match m.alpha_mode() {
            AlphaMode::Opaque => Alpha::Opaque,
            AlphaMode::Mask => Alpha::Mask(m.alpha_cutoff().unwrap_or(0.5)),
            AlphaMode::Blend => Alpha::Blend,
        },
        double_sided: m.double_sided(),
        unlit: m.unlit(),
    })
}
