//! A showroom of materials: metal and roughness in steps, pictures of all kinds, things that glow.

use crate::glb::{Channel, Glb, Place};
use crate::noise::{cells, fbm, value};
use crate::shape::{Shape, ball, block, chamfered, lathe, torus, tube};
use crate::texture::{
    Texel, brick_wall, clay, glazed, glowing, marble, plain, planks, plaster, rgb, surface, texel, weave,
};
use glam::{Quat, Vec2, Vec3};
use serde_json::json;
use std::f32::consts::{FRAC_PI_2, TAU};

/// Seconds in which the turntables go round.
const ROUND: f32 = 12.0;
/// Radius of the balls, and metres from one to the next.
const R: f32 = 0.34;
const STEP: f32 = 0.92;

fn metal(color: Vec3, height: f32, roughness: f32) -> Texel {
    Texel { color, height, roughness, metallic: 1.0 }
}

/// The materials of the front row.
fn pictures(glb: &mut Glb) -> Vec<usize> {
    let none = || json!({});
    vec![
        // Copper under the hammer.
        surface(glb, 512, none(), |u, v| {
            let (d, second, id) = cells(u, v, 14, 5);
            let dent = (d * 1.3).min(1.0).powi(2);
            let edge = (second - d).min(0.3);
            let tone = 0.85 + 0.15 * crate::noise::unit(id);
            metal(rgb(226, 146, 112) * tone, 0.016 * dent + 0.004 * edge, 0.2 + 0.12 * fbm(u, v, 20, 2, 6))
        }),
        // Steel, brushed along.
        surface(glb, 512, none(), |u, v| {
            let brush = value(u * 0.02, v, 256, 3) * 0.6 + value(u * 0.1, v, 200, 4) * 0.4;
            metal(rgb(196, 198, 202) * (0.88 + 0.16 * brush), 0.0006 * brush, 0.24 + 0.22 * brush)
        }),
        // Leather.
        surface(glb, 512, none(), |u, v| {
            let (d, second, _) = cells(u, v, 34, 9);
            let crease = ((second - d) * 3.0).min(1.0);
            let c = rgb(92, 44, 26).lerp(rgb(142, 78, 46), fbm(u, v, 6, 3, 10)) * (0.6 + 0.4 * crease);
            texel(c, 0.004 * crease, 0.62 - 0.2 * crease)
        }),
        // Rust that has eaten into painted iron: metal, paint and rust side by side.
        surface(glb, 512, none(), |u, v| {
            let worn = fbm(u, v, 5, 5, 12);
            let grain = fbm(u, v, 60, 2, 13);
            if worn > 0.56 {
                let c = rgb(92, 46, 24).lerp(rgb(176, 96, 44), grain);
                texel(c, 0.004 * grain, 0.95)
            } else if worn > 0.53 {
                metal(rgb(190, 190, 186), 0.004, 0.35)
            } else {
                texel(rgb(36, 92, 120) * (0.9 + 0.15 * grain), 0.008 + 0.0006 * grain, 0.34)
            }
        }),
        // A tartan cloth.
        surface(glb, 512, none(), |u, v| {
            weave(u, v, 56.0, |u, v| {
                let band = |t: f32| {
                    let f = (t * 4.0).fract();
                    if f < 0.3 {
                        rgb(140, 26, 32)
                    } else if f < 0.36 {
                        rgb(226, 196, 90)
                    } else if f < 0.7 {
                        rgb(24, 66, 52)
                    } else {
                        rgb(22, 32, 66)
                    }
                };
                band(u).lerp(band(v), 0.5)
            })
        }),
        // Lapis with gold.
        surface(glb, 512, none(), |u, v| {
            let cloud = fbm(u, v, 6, 5, 30);
            let vein = (fbm(u, v, 5, 5, 35) - 0.5).abs();
            if vein < 0.014 {
                metal(rgb(250, 206, 110), 0.001, 0.18)
            } else {
                texel(rgb(16, 36, 120).lerp(rgb(60, 110, 190), (cloud - 0.3).max(0.0)), 0.0, 0.12)
            }
        }),
        surface(glb, 512, none(), |u, v| {
            glazed(u, v, [rgb(236, 232, 216), rgb(24, 86, 128), rgb(200, 90, 50), rgb(40, 140, 120)])
        }),
    ]
}

/// Cracks that glow in a dark crust.
fn lava(glb: &mut Glb) -> usize {
    let size = 512_u32;
    let at = |x: u32, y: u32| {
        let (u, v) = (x as f32 / size as f32, y as f32 / size as f32);
        let warp = 0.03 * (fbm(u, v, 8, 3, 50) - 0.5);
        let (d, second, _) = cells(u + warp, v - warp, 8, 51);
        (1.0 - (second - d) * 7.0).clamp(0.0, 1.0)
    };
    let image = image::RgbImage::from_fn(size, size, |x, y| {
        let heat = at(x, y);
        image::Rgb([heat.sqrt(), heat * heat * 0.62, heat.powi(4) * 0.2].map(|v| (v * 255.0) as u8))
    });
    let mut bytes = Vec::new();
    image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 88)
        .encode_image(&image)
        .expect("an encoded picture");
    let texture = glb.texture(&bytes);
    glb.uses("KHR_materials_emissive_strength");
    let more = json!({
        "emissiveFactor": [1, 1, 1], "emissiveTexture": { "index": texture },
        "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 5.0 } },
    });
    surface(glb, 512, more, |u, v| {
        let warp = 0.03 * (fbm(u, v, 8, 3, 50) - 0.5);
        let (d, second, _) = cells(u + warp, v - warp, 8, 51);
        let crust = ((second - d) * 5.0).min(1.0);
        texel(rgb(34, 30, 30) * (0.5 + 0.6 * fbm(u, v, 30, 3, 52)), 0.02 * crust, 0.9)
    })
}

/// A ball on a small stand, its texture coordinates going around `times`.
fn exhibit(times: f32) -> Shape {
    let mut shape = ball(R, 40);
    shape.uvs.iter_mut().for_each(|uv| *uv *= Vec2::new(2.0 * times, times));
    shape
}

/// A torus knot.
fn knot(radius: f32, thick: f32) -> Shape {
    let points: Vec<Vec3> = (0..=360)
        .map(|i| {
            let a = TAU * i as f32 / 360.0;
            let r = radius * (0.72 + 0.3 * (3.0 * a).cos());
            Vec3::new(r * (2.0 * a).cos(), radius * 0.42 * (3.0 * a).sin(), r * (2.0 * a).sin())
        })
        .collect();
    tube(&points, |_| thick, 18, true)
}

pub fn make() -> Glb {
    let mut glb = Glb::new();
    let mut channels = Vec::new();
    let floor = surface(&mut glb, 1024, json!({}), |u, v| marble(u, v, 4.0, rgb(206, 202, 196), rgb(58, 60, 66)));
    let wall = surface(&mut glb, 512, json!({}), |u, v| plaster(u, v, rgb(74, 96, 110)));
    let wood = surface(&mut glb, 512, json!({}), |u, v| planks(u, v, 5.0, rgb(86, 54, 32), rgb(168, 116, 70)));
    let brick = surface(&mut glb, 512, json!({}), brick_wall);
    let white = plain(&mut glb, [0.78, 0.77, 0.74], 0.0, 0.5);
    let dark = plain(&mut glb, [0.04, 0.04, 0.045], 0.0, 0.4);
    let brass = plain(&mut glb, [0.9, 0.64, 0.28], 1.0, 0.2);

    // The room: floor, a back wall of plaster with a strip of brick, wooden panels, side walls.
    let mut ground = Shape::default();
    let c =
        [Vec3::new(-7.0, 0.0, 6.0), Vec3::new(7.0, 0.0, 6.0), Vec3::new(7.0, 0.0, -3.4), Vec3::new(-7.0, 0.0, -3.4)];
    ground.quad(c, c.map(|p| Vec2::new(p.x, p.z) / 2.6));
    let back = block([-5.2, 0.0, -3.6], [5.2, 4.6, -3.3]).uv(0.3);
    let mut strip = block([-5.4, 0.0, -3.3], [-3.7, 4.6, -3.16]).uv(1.0 / 1.35);
    strip.add(&block([3.7, 0.0, -3.3], [5.4, 4.6, -3.16]).uv(1.0 / 1.35));
    let mut panels = Shape::default();
    for k in 0..9 {
        let x = -3.2 + 0.8 * k as f32;
        panels.add(&chamfered(0.74, 1.5, 0.06, 0.02).at(x, 0.1, -3.28).uv(0.7));
    }
    let mut shelf = block([-3.7, 1.66, -3.3], [3.7, 1.72, -3.0]).uv(0.7);
    shelf.add(&block([-3.7, 0.0, -3.3], [3.7, 0.1, -3.2]).uv(0.7));
    // Steps for the rows.
    let mut steps = Shape::default();
    steps.add(&chamfered(7.2, 0.9, 1.0, 0.03).at(0.0, 0.0, -1.9));
    steps.add(&chamfered(7.2, 0.45, 1.0, 0.03).at(0.0, 0.0, -0.9));
    steps.add(&chamfered(7.2, 0.12, 1.1, 0.03).at(0.0, 0.0, 0.15));
    let mut edge = Shape::default();
    for (y, z) in [(0.9, -1.4), (0.45, -0.4), (0.12, 0.7)] {
        edge.add(&block([-3.56, y - 0.05, z - 0.01], [3.56, y - 0.03, z + 0.012]));
    }
    let mesh = glb.mesh(&[
        (&ground, floor),
        (&back, wall),
        (&strip, brick),
        (&panels.with(&shelf), wood),
        (&steps, white),
        (&edge, brass),
    ]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);

    // Rows of seven: metals and plastics from mirror to matte, then pictures.
    let stand = lathe(&[[0.2, 0.0], [0.2, 0.03], [0.2, 0.03], [0.13, 0.06], [0.12, 0.1], [0.17, 0.12]], 24);
    let stand = glb.mesh(&[(&stand, dark)]);
    let front = pictures(&mut glb);
    let (smooth, round) = (exhibit(1.0), exhibit(1.5));
    let metals = [[0.95, 0.64, 0.30], [0.94, 0.55, 0.42], [0.78, 0.79, 0.81]];
    let paints = [
        [0.62, 0.03, 0.04],
        [0.75, 0.30, 0.02],
        [0.70, 0.62, 0.06],
        [0.05, 0.34, 0.10],
        [0.02, 0.26, 0.34],
        [0.04, 0.08, 0.46],
        [0.30, 0.04, 0.30],
    ];
    for k in 0..7 {
        let x = STEP * (k as f32 - 3.0);
        let roughness = 0.03 + 0.94 * k as f32 / 6.0;
        let rows = [
            (1.0_f32, -1.9_f32, plain(&mut glb, metals[k % 3], 1.0, roughness), &smooth),
            (0.55, -0.9, plain(&mut glb, paints[k], 0.0, roughness), &smooth),
            (0.22, 0.15, front[k], &round),
        ];
        for (row, (y, z, material, shape)) in rows.into_iter().enumerate() {
            glb.node(Place::at(x, y - 0.1, z), stand);
            let mesh = glb.mesh(&[(shape, material)]);
            let node = glb.node(Place::at(x, y + R, z), mesh);
            if row == 2 {
                let turns = if k % 2 == 0 { 1.0 } else { -1.0 };
                channels.push(Channel::turns(node, ROUND, 16, move |f| Quat::from_rotation_y(TAU * f * turns)));
            }
        }
    }

    // Larger things at the sides: a knot of gold that turns, a vase, a ball of lava, a cup of clay.
    let plinth = chamfered(0.9, 0.5, 0.9, 0.03);
    let plinth = glb.mesh(&[(&plinth.clone().uv(0.7), wood)]);
    for x in [-4.4_f32, 4.4] {
        glb.node(Place::at(x, 0.0, 0.2), plinth);
        glb.node(Place::at(x, 0.0, -1.9), plinth);
    }
    let gold = plain(&mut glb, [0.98, 0.70, 0.26], 1.0, 0.16);
    let mesh = glb.mesh(&[(&knot(0.42, 0.085), gold)]);
    let node = glb.node(Place::at(-4.4, 1.0, 0.2), mesh);
    channels
        .push(Channel::turns(node, ROUND, 24, |f| Quat::from_rotation_y(TAU * 2.0 * f) * Quat::from_rotation_x(0.5)));
    let crust = lava(&mut glb);
    let mut rock = ball(0.44, 40);
    rock.uvs.iter_mut().for_each(|uv| *uv *= Vec2::new(2.0, 1.0));
    let mesh = glb.mesh(&[(&rock, crust)]);
    let node = glb.node(Place::at(4.4, 0.98, 0.2), mesh);
    channels.push(Channel::turns(node, ROUND, 16, |f| Quat::from_rotation_y(TAU * f)));
    let vase = lathe(
        &[
            [0.0, 0.0],
            [0.2, 0.0],
            [0.2, 0.0],
            [0.24, 0.1],
            [0.36, 0.36],
            [0.38, 0.56],
            [0.28, 0.8],
            [0.13, 0.96],
            [0.12, 1.06],
            [0.19, 1.16],
            [0.17, 1.17],
            [0.1, 1.05],
            [0.11, 0.9],
        ],
        40,
    );
    let mesh = glb.mesh(&[(&vase.clone().uv(1.0 / 0.6), front[6])]);
    let node = glb.node(Place::at(-4.4, 0.5, -1.9), mesh);
    channels.push(Channel::turns(node, ROUND, 16, |f| Quat::from_rotation_y(TAU * f)));
    let baked = surface(&mut glb, 512, json!({}), clay);
    let mesh = glb.mesh(&[(&vase.uv(1.2), baked)]);
    let node = glb.node(Place::at(4.4, 0.5, -1.9).scaled(0.8), mesh);
    channels.push(Channel::turns(node, ROUND, 16, |f| Quat::from_rotation_y(-TAU * f)));

    // A sign of glowing tubes on the wall, and strips along the shelf.
    let pink = glowing(&mut glb, [1.0, 0.16, 0.42], 4.0);
    let blue = glowing(&mut glb, [0.12, 0.55, 1.0], 4.0);
    let warm = glowing(&mut glb, [1.0, 0.72, 0.42], 3.0);
    let letter = |points: &[[f32; 2]]| {
        let at: Vec<Vec3> = points.iter().map(|[x, y]| Vec3::new(*x, *y, 0.0)).collect();
        tube(&at, |_| 0.028, 10, false)
    };
    let n =
        letter(&[[0.0, 0.0], [0.0, 0.4], [0.0, 0.8], [0.02, 0.8], [0.46, 0.02], [0.5, 0.0], [0.5, 0.4], [0.5, 0.8]]);
    let mut bow: Vec<[f32; 2]> = vec![[0.8, 0.0], [0.8, 0.4], [0.8, 0.8], [0.95, 0.8]];
    bow.extend((0..=12).map(|i| {
        let a = FRAC_PI_2 - std::f32::consts::PI * i as f32 / 12.0;
        [1.05 + 0.2 * a.cos(), 0.6 + 0.2 * a.sin()]
    }));
    bow.extend([[0.95, 0.4], [0.85, 0.4]]);
    let mut r = letter(&bow);
    r.add(&letter(&[[1.02, 0.4], [1.16, 0.2], [1.3, 0.0]]));
    let hoop = torus(0.85, 0.022, 64, 8).turned(Quat::from_rotation_x(FRAC_PI_2));
    let hoop = hoop.at(0.65, 0.4, 0.0);
    let strip = block([-3.6, 1.625, -3.05], [3.6, 1.655, -3.02]);
    let mesh = glb.mesh(&[(&n, pink), (&r, blue), (&hoop, warm)]);
    glb.node(Place::at(-0.65, 2.7, -3.22), mesh);
    let mesh = glb.mesh(&[(&strip, warm)]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);
    glb.animation(&channels);
    glb
}
