//! Pictures in code: colour, normals from a height, metal and roughness.

use crate::glb::Glb;
use crate::noise::{Random, cells, fbm, unit, value};
use glam::{Vec2, Vec3};
use image::codecs::jpeg::JpegEncoder;
use image::{ImageFormat, RgbImage, RgbaImage};
use serde_json::{Value, json};

/// A place of a surface. Colours are display values (sRGB).
#[derive(Clone, Copy)]
pub struct Texel {
    pub color: Vec3,
    /// In parts of the picture's side.
    pub height: f32,
    pub roughness: f32,
    pub metallic: f32,
}

pub fn texel(color: Vec3, height: f32, roughness: f32) -> Texel {
    Texel { color, height, roughness, metallic: 0.0 }
}

pub fn rgb(r: u8, g: u8, b: u8) -> Vec3 {
    Vec3::new(f32::from(r), f32::from(g), f32::from(b)) / 255.0
}

fn jpeg(image: &RgbImage, quality: u8) -> Vec<u8> {
    let mut out = Vec::new();
    JpegEncoder::new_with_quality(&mut out, quality).encode_image(image).expect("an encoded picture");
    out
}

fn byte(v: f32) -> u8 {
    (v * 255.0 + 0.5).clamp(0.0, 255.0) as u8
}

/// Adds a material of three repeating pictures of `size` texels.
pub fn surface(glb: &mut Glb, size: u32, more: Value, at: impl Fn(f32, f32) -> Texel) -> usize {
    let n = size as usize;
    let place = |i: usize| (i as f32 + 0.5) / size as f32;
    let texels: Vec<Texel> = (0..n * n).map(|i| at(place(i % n), place(i / n))).collect();
    let colour = RgbImage::from_fn(size, size, |x, y| {
        let c = texels[y as usize * n + x as usize].color;
        image::Rgb([byte(c.x), byte(c.y), byte(c.z)])
    });
    let normal = RgbImage::from_fn(size, size, |x, y| {
        let h = |dx: u32, dy: u32| {
            let (x, y) = ((x + size + dx - 1) % size, (y + size + dy - 1) % size);
            texels[y as usize * n + x as usize].height
        };
        // The picture's v goes down, the tangent space's y up.
        let slope = Vec3::new(h(0, 1) - h(2, 1), h(1, 2) - h(1, 0), 2.0 / size as f32).normalize();
        let c = slope * 0.5 + 0.5;
        image::Rgb([byte(c.x), byte(c.y), byte(c.z)])
    });
    // What shines needs less detail than what is seen.
    let half = size / 2;
    let rough = RgbImage::from_fn(half, half, |x, y| {
        let t = texels[2 * y as usize * n + 2 * x as usize];
        image::Rgb([255, byte(t.roughness), byte(t.metallic)])
    });
    let base = glb.texture(&jpeg(&colour, 82));
    let normal = glb.texture(&jpeg(&normal, 78));
    let rough = glb.texture(&jpeg(&rough, 70));
    let mut material = json!({
        "pbrMetallicRoughness": {
            "baseColorTexture": { "index": base }, "metallicRoughnessTexture": { "index": rough },
        },
        "normalTexture": { "index": normal },
    });
    merge(&mut material, &more);
    glb.material(material)
}

fn merge(to: &mut Value, from: &Value) {
    match (to, from) {
        (Value::Object(to), Value::Object(from)) => {
            for (key, value) in from {
                merge(to.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (to, from) => *to = from.clone(),
    }
}

/// A material of numbers alone; the colour is linear.
pub fn plain(glb: &mut Glb, color: [f32; 3], metallic: f32, roughness: f32) -> usize {
    let [r, g, b] = color;
    glb.material(json!({
        "pbrMetallicRoughness": {
            "baseColorFactor": [r, g, b, 1.0], "metallicFactor": metallic, "roughnessFactor": roughness,
        },
    }))
}

/// A material that glows.
pub fn glowing(glb: &mut Glb, color: [f32; 3], strength: f32) -> usize {
    glb.uses("KHR_materials_emissive_strength");
    glb.material(json!({
        "pbrMetallicRoughness": { "baseColorFactor": [0.02, 0.02, 0.02, 1], "metallicFactor": 0, "roughnessFactor": 0.6 },
        "emissiveFactor": color,
        "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": strength } },
    }))
}

/// A material of an alpha-masked picture, seen from both sides.
pub fn cutout(glb: &mut Glb, size: u32, at: impl Fn(Vec2) -> Option<Vec3>, behind: Vec3) -> usize {
    let image = RgbaImage::from_fn(size, size, |x, y| {
        // Sixteen samples, so that the mask's edge is smooth.
        let (mut sum, mut hits) = (Vec3::ZERO, 0.0);
        for k in 0..16_u32 {
            let p = Vec2::new(x as f32 + (k % 4) as f32 / 4.0 + 0.125, y as f32 + (k / 4) as f32 / 4.0 + 0.125);
            if let Some(c) = at(p / size as f32) {
                sum += c;
                hits += 1.0;
            }
        }
        let c = if hits > 0.0 { sum / hits } else { behind };
        image::Rgba([byte(c.x), byte(c.y), byte(c.z), byte(hits / 16.0)])
    });
    let mut png = std::io::Cursor::new(Vec::new());
    image.write_to(&mut png, ImageFormat::Png).expect("an encoded picture");
    let texture = glb.texture(&png.into_inner());
    glb.material(json!({
        "pbrMetallicRoughness": {
            "baseColorTexture": { "index": texture }, "metallicFactor": 0, "roughnessFactor": 0.75,
        },
        "alphaMode": "MASK", "alphaCutoff": 0.5, "doubleSided": true,
    }))
}

/// One leaf along +y from a stem at `from`, or nothing there: the place across it in -1..1 and along it in 0..1.
fn leaf(p: Vec2, from: Vec2, angle: f32, length: f32, width: f32) -> Option<(f32, f32)> {
    let (s, c) = angle.sin_cos();
    let d = p - from;
    let (along, across) = ((d.x * s - d.y * c) / length, d.x * c + d.y * s);
    if !(0.0..=1.0).contains(&along) {
        return None;
    }
    let half = width * (along * std::f32::consts::PI).sin().powf(0.75) * (1.0 - 0.35 * along);
    let at = across / half.max(1e-4);
    (at.abs() <= 1.0).then_some((at, along))
}

/// A twig of many leaves that fills a card.
pub fn twig(glb: &mut Glb, size: u32, low: Vec3, high: Vec3, slim: f32, seed: u32) -> usize {
    let mut random = Random::new(seed);
    let leaves: Vec<(Vec2, f32, f32, f32)> = (0..26)
        .map(|i| {
            let f = i as f32 / 26.0;
            let side = if i % 2 == 0 { 1.0 } else { -1.0 };
            let stem = Vec2::new(0.5 + 0.06 * (f * 7.0).sin() + side * 0.02, 0.97 - 0.8 * f);
            let angle = side * (0.55 + 0.75 * random.next()) * (1.0 - 0.5 * f);
            (stem, angle, random.range(0.24, 0.34) * (1.0 - 0.25 * f), random.next())
        })
        .collect();
    let at = move |p: Vec2| {
        for (stem, angle, length, tone) in leaves.iter().rev() {
            if let Some((across, along)) = leaf(p, *stem, *angle, *length, slim * length) {
                let vein = if across.abs() < 0.09 { 0.25 } else { 0.0 };
                let ribs = 0.06 * (along * 30.0 - across.abs() * 5.0).sin();
                let c = low.lerp(high, (tone * 0.75 + 0.25 * along + vein + ribs).clamp(0.0, 1.0));
                return Some(c * if across > 0.0 { 1.0 } else { 0.88 });
            }
        }
        let stem = 0.5 + 0.06 * ((0.97 - p.y) / 0.8 * 7.0).sin();
        ((p.x - stem).abs() < 0.012 && p.y > 0.16).then_some(rgb(92, 74, 48))
    };
    cutout(glb, size, at, low.lerp(high, 0.4))
}

/// A tuft of grass blades.
pub fn grass(glb: &mut Glb, size: u32, low: Vec3, high: Vec3, seed: u32) -> usize {
    let mut random = Random::new(seed);
    let blades: Vec<[f32; 5]> = (0..34)
        .map(|_| {
            let x = random.range(0.12, 0.88);
            [
                x,
                (x - 0.5) * 0.7 + random.range(-0.18, 0.18),
                random.range(0.45, 0.97),
                random.range(0.011, 0.02),
                random.next(),
            ]
        })
        .collect();
    let at = move |p: Vec2| {
        let up = 1.0 - p.y;
        blades.iter().find_map(|[x, lean, height, width, tone]| {
            let f = up / height;
            let centre = x + lean * f * f;
            (f <= 1.0 && (p.x - centre).abs() < width * (1.0 - f * f) + 0.001)
                .then(|| low.lerp(high, (0.6 * f + 0.4 * tone).clamp(0.0, 1.0)))
        })
    };
    cutout(glb, size, at, low.lerp(high, 0.5))
}

/// Bricks of one picture: rows of `across`, and how deep into the joint a place is. Returns (0 in the joint to 1,
/// number of the brick, place in it).
pub fn bricks(u: f32, v: f32, across: f32, rows: f32, joint: f32) -> (f32, u32, Vec2) {
    let row = (v * rows).floor();
    let x = u * across + 0.5 * (row % 2.0);
    let column = x.floor();
    let (fx, fy) = (x - column, v * rows - row);
    let edge = (fx.min(1.0 - fx) * rows / across).min(fy.min(1.0 - fy));
    let number = (column.rem_euclid(across) + 64.0 * row) as u32;
    ((edge / joint).clamp(0.0, 1.0), number, Vec2::new(fx, fy))
}

/// A wall of bricks.
pub fn brick_wall(u: f32, v: f32) -> Texel {
    let wobble = 0.004 * (fbm(u, v, 16, 2, 5) - 0.5);
    let (inside, id, _) = bricks(u + wobble, v + wobble, 6.0, 18.0, 0.12);
    let tone = unit(id * 31 + 7);
    let grain = fbm(u, v, 48, 3, 9);
    let brick = rgb(142, 74, 54).lerp(rgb(176, 104, 74), tone) * (0.78 + 0.4 * grain);
    let mortar = rgb(168, 158, 142) * (0.8 + 0.3 * grain);
    let face = (inside * 1.6 - 0.3).clamp(0.0, 1.0);
    texel(mortar.lerp(brick, face), 0.006 * inside + 0.002 * grain, 0.9 - 0.12 * face * grain)
}

/// Plaster with stains.
pub fn plaster(u: f32, v: f32, color: Vec3) -> Texel {
    let large = fbm(u, v, 4, 4, 21);
    let fine = fbm(u, v, 64, 2, 22);
    let crack = (0.08 - (fbm(u, v, 6, 4, 31) - 0.5).abs()).max(0.0) * 3.0;
    let c = color * (0.84 + 0.22 * large + 0.1 * (fine - 0.5)) - Vec3::splat(0.03) * crack;
    texel(c, 0.003 * fine + 0.002 * large, 0.92)
}

/// Stone slabs of one picture.
pub fn slabs(u: f32, v: f32, low: Vec3, high: Vec3) -> Texel {
    let wobble = 0.006 * (fbm(u, v, 10, 2, 4) - 0.5);
    let (inside, id, _) = bricks(u + wobble, v - wobble, 4.0, 6.0, 0.05);
    let grain = fbm(u, v, 40, 3, 41);
    let stain = fbm(u, v, 5, 3, 44);
    let face = (inside * 1.5 - 0.2).clamp(0.0, 1.0);
    let c = low.lerp(high, unit(id * 17 + 3)) * (0.75 + 0.35 * grain + 0.15 * (stain - 0.5));
    let tilt = 0.002 * unit(id * 5 + 1);
    texel((low * 0.35).lerp(c, face), 0.006 * inside + 0.002 * grain + tilt, 0.85 - 0.3 * face * stain)
}

/// Polished squares of two marbles.
pub fn marble(u: f32, v: f32, squares: f32, light: Vec3, dark: Vec3) -> Texel {
    let (i, j) = ((u * squares).floor(), (v * squares).floor());
    let even = (i + j) % 2.0 == 0.0;
    let f = Vec2::new(u * squares - i, v * squares - j);
    let edge = f.min(Vec2::ONE - f).min_element();
    let vein = (1.0 - ((fbm(u, v, 6, 5, if even { 60 } else { 80 }) - 0.5).abs() * 12.0)).clamp(0.0, 1.0).powi(2);
    let cloud = fbm(u, v, 8, 4, 63);
    let base = if even { light } else { dark };
    let other = if even { dark } else { light };
    let c = (base * (0.86 + 0.2 * cloud)).lerp(other, 0.35 * vein);
    let joint = (edge * 60.0).clamp(0.0, 1.0);
    texel(c * (0.55 + 0.45 * joint), 0.001 * joint, 0.34 + 0.12 * cloud + 0.4 * (1.0 - joint))
}

/// Glazed tiles with a star and petals, four of them to a picture.
pub fn glazed(u: f32, v: f32, paint: [Vec3; 4]) -> Texel {
    let (i, j) = ((u * 2.0).floor(), (v * 2.0).floor());
    let f = Vec2::new(u * 2.0 - i, v * 2.0 - j);
    let edge = f.min(Vec2::ONE - f).min_element();
    let p = f - 0.5;
    let (r, a) = (p.length(), p.y.atan2(p.x));
    let petals = 0.30 + 0.09 * (a * 8.0).cos();
    let corner = (f - f.round()).length();
    let color = if r < 0.1 {
        paint[2]
    } else if r < petals {
        if (r - 0.2).abs() < 0.025 { paint[3] } else { paint[1] }
    } else if corner < 0.2 {
        if corner < 0.1 { paint[2] } else { paint[3] }
    } else if (r - 0.44).abs() < 0.02 {
        paint[1]
    } else {
        paint[0]
    };
    let joint = (edge * 45.0).clamp(0.0, 1.0);
    let wear = fbm(u, v, 24, 3, 90);
    let id = unit((i + 2.0 * j) as u32 * 7 + 5);
    let c = color * (0.82 + 0.16 * wear + 0.08 * id);
    texel(rgb(120, 112, 100).lerp(c, joint), 0.003 * joint, 0.22 + 0.3 * wear + 0.4 * (1.0 - joint))
}

/// Planks along v.
pub fn planks(u: f32, v: f32, count: f32, low: Vec3, high: Vec3) -> Texel {
    let i = (u * count).floor();
    let f = u * count - i;
    let seam = (f.min(1.0 - f) * 18.0).clamp(0.0, 1.0);
    let tone = unit(i as u32 * 13 + 2);
    let warp = fbm(u, v, 4, 3, 100 + i as u32);
    let ring = ((f * 2.5 + tone * 7.0 + warp * 2.2) * 9.0).sin() * 0.5 + 0.5;
    let fibre = value(u, v * 0.06, 160, 101);
    let knot = cells(u, v, 5, 102).0;
    let dark = (1.0 - knot * 5.0).clamp(0.0, 1.0);
    let c =
        low.lerp(high, (0.25 + 0.35 * ring + 0.3 * fibre + 0.25 * (tone - 0.5)).clamp(0.0, 1.0)) * (1.0 - 0.5 * dark);
    texel(c * (0.35 + 0.65 * seam), 0.003 * seam + 0.0012 * fibre, 0.62 + 0.25 * fibre)
}

/// Fired clay.
pub fn clay(u: f32, v: f32) -> Texel {
    let grain = fbm(u, v, 32, 3, 110);
    let stain = fbm(u, v, 5, 4, 111);
    let c = rgb(176, 92, 58).lerp(rgb(206, 138, 98), stain) * (0.82 + 0.3 * grain);
    texel(c, 0.004 * grain, 0.85)
}

/// Bark.
pub fn bark(u: f32, v: f32, low: Vec3, high: Vec3) -> Texel {
    let warp = 0.05 * fbm(u, v, 4, 3, 120);
    let ridge = (1.0 - (fbm(u + warp, v * 0.35, 14, 3, 121) - 0.5).abs() * 4.0).clamp(0.0, 1.0);
    let grain = fbm(u, v, 40, 2, 122);
    texel(low.lerp(high, ridge * (0.5 + 0.5 * grain)), 0.02 * ridge, 0.95)
}

/// Earth or lawn: patches of two colours with specks of a third.
pub fn ground(u: f32, v: f32, low: Vec3, high: Vec3, speck: Vec3) -> Texel {
    let patch = fbm(u, v, 6, 4, 130);
    let grain = fbm(u, v, 90, 2, 131);
    let (d, _, id) = cells(u, v, 48, 132);
    let stone = if unit(id) > 0.7 { (1.0 - d * 2.6).clamp(0.0, 1.0) } else { 0.0 };
    let c = low.lerp(high, (patch * 1.3 + 0.5 * (grain - 0.5)).clamp(0.0, 1.0)) * (0.8 + 0.35 * grain);
    texel(c.lerp(speck, stone.sqrt() * 0.8), 0.006 * grain + 0.006 * stone.sqrt(), 0.95)
}

/// Woven cloth: two yarns, with a pattern by place.
pub fn weave(u: f32, v: f32, count: f32, pattern: impl Fn(f32, f32) -> Vec3) -> Texel {
    let (x, y) = (u * count, v * count);
    let over = (x.floor() + y.floor()) as i64 % 2 == 0;
    let bump = |t: f32| ((t - t.floor()) * std::f32::consts::PI).sin();
    let h = if over { bump(y) } else { bump(x) };
    let fuzz = value(u, v, 200, 140);
    texel(pattern(u, v) * (0.62 + 0.3 * h + 0.14 * fuzz), 0.25 / count * h, 0.95)
}
