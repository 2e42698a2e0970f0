//! Metallic-roughness materials and how they use pictures.

use glam::{Affine2, Vec3, Vec4};

/// What a texture coordinate outside 0..1 means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    /// The picture again and again.
    #[default]
    Repeat,
    /// The texel at the edge.
    Clamp,
    /// The picture again and again, every other time mirrored.
    Mirror,
}

/// Which smaller versions of a picture are used where it is far away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mipmaps {
    /// None: the picture alone.
    None,
    /// The one of the nearest size.
    Nearest,
    /// The mix of the two nearest sizes.
    #[default]
    Linear,
}

/// A picture as one property of a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureUse {
    /// Index of the picture.
    pub image: usize,
    /// Set of texture coordinates, 0 or 1.
    pub set: u32,
    /// Applied to the coordinates.
    pub transform: Affine2,
    /// Across and down.
    pub wrap: [Wrap; 2],
    /// Mix of the four nearest texels instead of the nearest one, where it is magnified.
    pub smooth: bool,
    /// The same where it is made smaller.
    pub smooth_small: bool,
    /// And what is used then.
    pub mipmaps: Mipmaps,
}

/// What alpha does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Alpha {
    /// Nothing.
    #[default]
    Opaque,
    /// A surface is there from this alpha on.
    Mask(f32),
    /// A sample meets the surface with this probability.
    Blend,
}

/// A material. Colours are linear RGB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Base colour and alpha, times the picture and the vertex colour.
    pub base: Vec4,
    /// Picture of the base colour, sRGB.
    pub base_texture: Option<TextureUse>,
    /// 0 dielectric, 1 metal; times blue of the picture.
    pub metallic: f32,
    /// 0 mirror, 1 matte; times green of the picture.
    pub roughness: f32,
    /// Picture of metallic and roughness.
    pub metallic_roughness_texture: Option<TextureUse>,
    /// Tangent-space normals.
    pub normal_texture: Option<TextureUse>,
    /// Times x and y of the normal.
    pub normal_scale: f32,
    /// Light of the surroundings that arrives: red of the picture.
    pub occlusion_texture: Option<TextureUse>,
    /// How much of the occlusion counts, 0 to 1.
    pub occlusion_strength: f32,
    /// Radiance of its own, with its strength; times the picture.
    pub emission: Vec3,
    /// Picture of the emission, sRGB.
    pub emission_texture: Option<TextureUse>,
    /// What alpha does.
    pub alpha: Alpha,
    /// Seen from the back too.
    pub double_sided: bool,
    /// The base colour is its radiance; no light falls on it.
    pub unlit: bool,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            base: Vec4::ONE,
            base_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            emission: Vec3::ZERO,
            emission_texture: None,
            alpha: Alpha::Opaque,
            double_sided: false,
            unlit: false,
        }
    }
}

impl Material {
    /// Its pictures: base, metallic-roughness, normal, occlusion, emission.
    #[must_use]
    pub fn textures(&self) -> [Option<TextureUse>; 5] {
        [
            self.base_texture,
            self.metallic_roughness_texture,
            self.normal_texture,
            self.occlusion_texture,
            self.emission_texture,
        ]
    }
}
