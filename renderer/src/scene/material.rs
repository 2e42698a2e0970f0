//! Materials with procedural textures.

use glam::Vec3;

/// A procedural texture over the two colours of a material. The numbers are those of the shaders.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Pattern {
    /// The base colour alone.
    Plain = 0,
    /// Squares of both colours.
    Checker = 1,
    /// Square slabs with joints of the second colour; detail: joint width.
    Tiles = 2,
    /// Bricks three times as long as high; detail: joint width.
    Bricks = 3,
    /// Boards; detail: width of the gap between boards.
    Wood = 4,
    /// Stripes; detail: part of a period in the base colour.
    Stripes = 5,
    /// Stone; detail: share of the fine grain.
    Speckle = 6,
    /// A grid of fine lines in the second colour; detail: line width.
    Lines = 7,
    /// Dots in the second colour; detail: radius.
    Dots = 8,
    /// A printed page.
    Print = 9,
    /// A facade with windows in the second colour.
    Windows = 10,
}

/// How a surface looks. Colours are linear RGB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Texture.
    pub pattern: Pattern,
    /// Period of the texture, metres.
    pub scale: f32,
    /// Main colour, reflectance in 0..=1.
    pub base: Vec3,
    /// Second colour of the texture.
    pub second: Vec3,
    /// A number of the pattern in 0..=1; widths are fractions of the period.
    pub detail: f32,
    /// 0 a mirror, 1 fully rough.
    pub roughness: f32,
    /// Mirror reflectance at normal incidence of a non-metal; 0.04 is usual.
    pub reflectance: f32,
    /// 1 for a metal, whose colour tints the reflection.
    pub metallic: f32,
    /// Light it gives off, radiance.
    pub emission: Vec3,
}

impl Material {
    /// A rough surface of one colour.
    #[must_use]
    pub const fn matte(base: Vec3) -> Self {
        Self {
            pattern: Pattern::Plain,
            scale: 1.0,
            base,
            second: base,
            detail: 0.0,
            roughness: 0.9,
            reflectance: 0.03,
            metallic: 0.0,
            emission: Vec3::ZERO,
        }
    }

    /// The same with a texture.
    #[must_use]
    pub const fn textured(self, pattern: Pattern, second: Vec3, scale: f32, detail: f32) -> Self {
        Self { pattern, second, scale, detail, ..self }
    }

    /// The same with another roughness.
    #[must_use]
    pub const fn polished(self, roughness: f32) -> Self {
        Self { roughness, reflectance: 0.045, ..self }
    }

    /// The same as a metal.
    #[must_use]
    pub const fn metal(self, roughness: f32) -> Self {
        Self { roughness, metallic: 1.0, ..self }
    }

    /// Something that glows and reflects nothing.
    #[must_use]
    pub const fn glowing(emission: Vec3) -> Self {
        Self { emission, reflectance: 0.0, roughness: 1.0, ..Self::matte(Vec3::ZERO) }
    }
}
