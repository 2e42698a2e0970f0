//! Materials of the built-in scene.

use crate::scene::{Material, Pattern};
use glam::Vec3;

/// Names of the materials; the number is the index in the scene.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Paint {
    Paving,
    Brick,
    Stone,
    Oak,
    DarkWood,
    Plaster,
    Iron,
    Chrome,
    Brass,
    Copper,
    RedGloss,
    BlueGloss,
    Teal,
    Cream,
    Checker,
    FineLines,
    BallStripes,
    Dots,
    Page,
    Facade,
    FacadeWarm,
    Leaf,
    Canopy,
    Glow,
    Lantern,
    Tower,
}

impl Paint {
    pub(super) const ALL: [Self; 26] = [
        Self::Paving,
        Self::Brick,
        Self::Stone,
        Self::Oak,
        Self::DarkWood,
        Self::Plaster,
        Self::Iron,
        Self::Chrome,
        Self::Brass,
        Self::Copper,
        Self::RedGloss,
        Self::BlueGloss,
        Self::Teal,
        Self::Cream,
        Self::Checker,
        Self::FineLines,
        Self::BallStripes,
        Self::Dots,
        Self::Page,
        Self::Facade,
        Self::FacadeWarm,
        Self::Leaf,
        Self::Canopy,
        Self::Glow,
        Self::Lantern,
        Self::Tower,
    ];

    pub(super) const fn material(self) -> Material {
        use Pattern as P;
        const fn c(r: f32, g: f32, b: f32) -> Vec3 {
            Vec3::new(r, g, b)
        }
        let matte = Material::matte;
        let white = c(0.80, 0.78, 0.74);
        let ink = c(0.03, 0.03, 0.05);
        match self {
            Self::Paving => matte(c(0.38, 0.345, 0.30)).textured(P::Tiles, c(0.11, 0.10, 0.09), 0.9, 0.035),
            Self::Brick => matte(c(0.46, 0.16, 0.09)).textured(P::Bricks, c(0.50, 0.46, 0.41), 0.48, 0.055),
            Self::Stone => matte(c(0.34, 0.33, 0.31)).textured(P::Speckle, c(0.62, 0.60, 0.56), 0.35, 0.6),
            Self::Oak => matte(c(0.52, 0.31, 0.14)).textured(P::Wood, c(0.24, 0.11, 0.04), 0.16, 0.05),
            Self::DarkWood => matte(c(0.20, 0.10, 0.05)).textured(P::Wood, c(0.08, 0.035, 0.015), 0.1, 0.02),
            Self::Plaster => matte(c(0.66, 0.57, 0.43)).textured(P::Speckle, c(0.74, 0.67, 0.55), 0.5, 0.7),
            Self::Iron => matte(c(0.055, 0.06, 0.065)).polished(0.45),
            Self::Chrome => matte(c(0.82, 0.83, 0.85)).metal(0.06),
            Self::Brass => matte(c(0.86, 0.60, 0.22)).metal(0.28),
            Self::Copper => matte(c(0.80, 0.40, 0.26)).metal(0.32),
            Self::RedGloss => matte(c(0.60, 0.035, 0.03)).polished(0.12),
            Self::BlueGloss => matte(c(0.03, 0.11, 0.42)).polished(0.15),
            Self::Teal => matte(c(0.03, 0.32, 0.30)).polished(0.35),
            Self::Cream => matte(white),
            Self::Checker => matte(white).textured(P::Checker, c(0.04, 0.09, 0.20), 0.14, 0.0),
            Self::FineLines => matte(white).textured(P::Lines, c(0.35, 0.04, 0.05), 0.05, 0.2),
            // A period of an eighth of the rolling ball's girth closes the seam.
            Self::BallStripes => {
                matte(c(0.85, 0.42, 0.04)).textured(P::Stripes, c(0.85, 0.82, 0.76), 0.353_429_17, 0.5).polished(0.3)
            }
            Self::Dots => matte(c(0.82, 0.74, 0.30)).textured(P::Dots, c(0.5, 0.05, 0.2), 0.16, 0.3),
            Self::Page => matte(c(0.80, 0.77, 0.70)).textured(P::Print, ink, 0.075, 0.0),
            Self::Facade => matte(c(0.36, 0.38, 0.42)).textured(P::Windows, c(0.10, 0.13, 0.18), 0.8, 0.0),
            Self::FacadeWarm => matte(c(0.55, 0.42, 0.32)).textured(P::Windows, c(0.12, 0.12, 0.13), 0.7, 0.0),
            Self::Leaf => matte(c(0.11, 0.26, 0.05)).textured(P::Stripes, c(0.20, 0.36, 0.08), 0.06, 0.5),
            Self::Canopy => matte(c(0.68, 0.08, 0.06)).textured(P::Stripes, c(0.80, 0.76, 0.68), 0.34, 0.5),
            Self::Glow => Material::glowing(c(9.0, 5.2, 1.9)),
            Self::Lantern => Material::glowing(c(8.0, 3.4, 0.9)),
            Self::Tower => matte(c(0.62, 0.60, 0.56)).textured(P::Tiles, c(0.30, 0.28, 0.26), 0.3, 0.05).polished(0.7),
        }
    }
}
