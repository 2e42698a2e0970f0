//! A small fair in the evening: more than a hundred things that move, many of them thin or small.

use crate::glb::{Channel, Glb, Place};
use crate::noise::Random;
use crate::shape::{Shape, ball, block, card, chamfered, crown, cylinder, lathe, slab, terrain, torus, tube};
use crate::texture::{bark, glowing, ground, plain, planks, rgb, slabs, surface, twig, weave};
use glam::{Affine3A, Quat, Vec2, Vec3};
use serde_json::json;
use std::f32::consts::{FRAC_PI_2, PI, TAU};

/// Seconds after which everything is where it began.
const ROUND: f32 = 24.0;

struct Paints {
    lawn: usize,
    path: usize,
    wood: usize,
    red: usize,
    cream: usize,
    blue: usize,
    teal: usize,
    yellow: usize,
    steel: usize,
    gold: usize,
    iron: usize,
    stripes: usize,
    bulb: usize,
    lamp: usize,
    bark: usize,
    leaves: usize,
    flags: Vec<usize>,
    balloons: Vec<usize>,
}

/// A full turn about an axis, `turns` times a round.
fn spin(node: usize, axis: Vec3, turns: f32, phase: f32) -> Channel {
    let keys = (turns.abs() * 12.0).round().max(12.0) as usize;
    Channel::turns(node, ROUND, keys, move |f| Quat::from_axis_angle(axis, TAU * (turns * f + phase)))
}

/// To and fro, `times` a round.
fn swing(node: usize, axis: Vec3, by: f32, times: f32, phase: f32) -> Channel {
    Channel::turns(node, ROUND, (times * 12.0) as usize, move |f| {
        Quat::from_axis_angle(axis, by * (TAU * (times * f + phase)).sin())
    })
}

impl Paints {
    fn new(glb: &mut Glb) -> Self {
        let gloss = |glb: &mut Glb, c: [f32; 3]| plain(glb, c, 0.0, 0.32);
        Self {
            lawn: surface(glb, 1024, json!({}), |u, v| {
                ground(u, v, rgb(52, 74, 34), rgb(98, 122, 52), rgb(150, 150, 90))
            }),
            path: surface(glb, 1024, json!({}), |u, v| slabs(u, v, rgb(112, 102, 96), rgb(150, 138, 126))),
            wood: surface(glb, 512, json!({}), |u, v| planks(u, v, 5.0, rgb(92, 58, 34), rgb(168, 118, 70))),
            red: gloss(glb, [0.55, 0.035, 0.03]),
            cream: gloss(glb, [0.82, 0.74, 0.56]),
            blue: gloss(glb, [0.03, 0.10, 0.42]),
            teal: gloss(glb, [0.02, 0.30, 0.30]),
            yellow: gloss(glb, [0.85, 0.48, 0.04]),
            steel: plain(glb, [0.75, 0.76, 0.78], 1.0, 0.28),
            gold: plain(glb, [0.95, 0.66, 0.24], 1.0, 0.22),
            iron: plain(glb, [0.05, 0.05, 0.055], 0.5, 0.45),
            stripes: surface(glb, 512, json!({ "doubleSided": true }), |u, v| {
                weave(u, v, 90.0, |u, _| if (u * 8.0).fract() < 0.5 { rgb(178, 38, 36) } else { rgb(236, 226, 202) })
            }),
            bulb: glowing(glb, [1.0, 0.72, 0.38], 7.0),
            lamp: glowing(glb, [1.0, 0.78, 0.5], 5.0),
            bark: surface(glb, 256, json!({}), |u, v| bark(u, v, rgb(50, 40, 32), rgb(112, 92, 72))),
            leaves: twig(glb, 256, rgb(44, 70, 26), rgb(124, 138, 54), 0.5, 11),
            flags: [[0.6, 0.05, 0.04], [0.85, 0.55, 0.06], [0.04, 0.2, 0.5], [0.05, 0.4, 0.22], [0.8, 0.76, 0.66]]
                .map(|[r, g, b]| {
                    glb.material(json!({
                        "pbrMetallicRoughness": {
                            "baseColorFactor": [r, g, b, 1], "metallicFactor": 0, "roughnessFactor": 0.85,
                        },
                        "doubleSided": true,
                    }))
                })
                .to_vec(),
            balloons: [[0.8, 0.05, 0.06], [0.9, 0.6, 0.05], [0.05, 0.25, 0.75], [0.5, 0.08, 0.5], [0.05, 0.55, 0.3]]
                .map(|c| plain(glb, c, 0.0, 0.16))
                .to_vec(),
        }
    }
}

pub fn make() -> Glb {
    let mut glb = Glb::new();
    let paint = Paints::new(&mut glb);
    let mut channels = Vec::new();
    grounds(&mut glb, &paint);
    wheel(&mut glb, &paint, &mut channels);
    carousel(&mut glb, &paint, &mut channels);
    chairs(&mut glb, &paint, &mut channels);
    boat(&mut glb, &paint, &mut channels);
    train(&mut glb, &paint, &mut channels);
    stalls(&mut glb, &paint, &mut channels);
    bunting(&mut glb, &paint, &mut channels);
    glb.animation(&channels);
    glb
}

fn grounds(glb: &mut Glb, paint: &Paints) {
    let hills = |x: f32, z: f32| {
        let r = x.hypot(z);
        ((r - 13.0) / 12.0).clamp(0.0, 1.0).powi(2) * (2.6 + (x * 0.21).sin() + (z * 0.17 + 1.0).cos())
    };
    let lawn = terrain(64.0, 64, hills).at(0.0, -0.02, 0.0).uv(1.0 / 3.0);
    let mut path = Shape::default();
    let disc = |r: f32, x: f32, z: f32, y: f32| {
        let mut d = lathe(&[[0.0, y], [r, y]], 48).at(x, 0.0, z);
        d.triangles.iter_mut().for_each(|t| t.reverse());
        d.normals.iter_mut().for_each(|n| *n = Vec3::Y);
        for i in 0..d.uvs.len() {
            d.uvs[i] = Vec2::new(d.positions[i].x, d.positions[i].z) / 2.2;
        }
        d
    };
    path.add(&disc(5.6, 0.0, 1.6, 0.004));
    path.add(&disc(2.9, -4.6, -1.6, 0.008));
    path.add(&disc(3.4, 5.2, -0.8, 0.012));
    let mesh = glb.mesh(&[(&lawn, paint.lawn), (&path, paint.path)]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);
    // Trees at the edge.
    let mut random = Random::new(3);
    for kind in 0..2 {
        let mut trunk = tube(
            &[Vec3::ZERO, Vec3::new(0.05, 1.0, 0.0), Vec3::new(-0.04, 2.0, 0.05), Vec3::new(0.0, 3.4, 0.0)],
            |f| 0.17 - 0.11 * f,
            10,
            false,
        );
        for _ in 0..7 {
            let d = (random.direction() + Vec3::Y * 0.6).normalize();
            let a = Vec3::new(0.0, random.range(1.5, 2.6), 0.0);
            trunk.add(&tube(&[a, a + d * 0.7, a + d * 1.3 + Vec3::Y * 0.2], |f| 0.06 - 0.045 * f, 6, false));
        }
        let autumn = kind == 1;
        let tint = move |s: f32| {
            if autumn { [0.9 + 0.1 * s, 0.5 + 0.3 * s, 0.25] } else { [0.45 + 0.5 * s, 0.55 + 0.45 * s, 0.4] }
        };
        let leaves = crown(Vec3::new(1.5, 1.5, 1.5), 330, 0.72, &mut random, tint).at(0.0, 3.5, 0.0);
        let mesh = glb.mesh(&[(&trunk.uv(1.4), paint.bark), (&leaves, paint.leaves)]);
        let places: Vec<Place> = (0..9)
            .map(|k| {
                let a = TAU * (k as f32 + 0.5 * kind as f32) / 9.0 + random.range(-0.15, 0.15);
                let r = random.range(13.0, 17.0);
                let (x, z) = (r * a.sin(), r * a.cos());
                Place::at(x, hills(x, z) - 0.1, z)
                    .turned(Quat::from_rotation_y(random.next() * TAU))
                    .scaled(random.range(0.9, 1.5))
            })
            .collect();
        glb.instances(mesh, &places);
    }
}

/// Bulbs on a ring.
fn bulbs(radius: f32, count: usize, size: f32) -> Shape {
    let mut shape = Shape::default();
    let bulb = ball(size, 6);
    for k in 0..count {
        let (s, c) = (TAU * k as f32 / count as f32).sin_cos();
        shape.add(&bulb.at(radius * c, 0.0, radius * s));
    }
    shape
}

fn upright(shape: &Shape) -> Shape {
    shape.turned(Quat::from_rotation_x(FRAC_PI_2))
}

fn wheel(glb: &mut Glb, paint: &Paints, channels: &mut Vec<Channel>) {
    const R: f32 = 4.6;
    let mut steel = Shape::default();
    let mut red = Shape::default();
    let mut glow = Shape::default();
    for z in [-0.45_f32, 0.45] {
        red.add(&upright(&torus(R, 0.06, 64, 8)).at(0.0, 0.0, z));
        steel.add(&upright(&torus(R * 0.55, 0.035, 48, 8)).at(0.0, 0.0, z));
        glow.add(&upright(&bulbs(R, 36, 0.06)).at(0.0, 0.0, z * 1.22));
        for k in 0..12 {
            let (s, c) = (TAU * (k as f32 + 0.5) / 12.0).sin_cos();
            steel.add(&tube(&[Vec3::new(0.3 * c, 0.3 * s, z), Vec3::new(R * c, R * s, z)], |_| 0.028, 6, false));
        }
    }
    for k in 0..12 {
        let (s, c) = (TAU * k as f32 / 12.0).sin_cos();
        steel.add(&tube(&[Vec3::new(R * c, R * s, -0.5), Vec3::new(R * c, R * s, 0.5)], |_| 0.03, 6, false));
        let (s2, c2) = (TAU * (k as f32 + 0.5) / 12.0).sin_cos();
        steel.add(&tube(&[Vec3::new(R * c2, R * s2, -0.45), Vec3::new(R * c2, R * s2, 0.45)], |_| 0.02, 6, false));
    }
    let hub = upright(&cylinder(0.34, 1.3, 24)).at(0.0, 0.0, -0.65);
    let star = upright(&bulbs(0.5, 10, 0.06)).at(0.0, 0.0, 0.66);
    glow.add(&star);
    let mesh = glb.mesh(&[(&steel, paint.steel), (&red, paint.red), (&hub, paint.gold), (&glow, paint.bulb)]);
    let turning = glb.node(Place::at(0.0, 5.4, 0.0), mesh);
    channels.push(spin(turning, Vec3::Z, 1.0, 0.0));
    // Cabins.
    let colors = [paint.teal, paint.yellow, paint.blue, paint.red];
    let cabins: Vec<usize> = colors
        .iter()
        .map(|color| {
            let tub = lathe(
                &[
                    [0.0, -1.0],
                    [0.36, -1.0],
                    [0.36, -1.0],
                    [0.44, -0.6],
                    [0.44, -0.56],
                    [0.44, -0.56],
                    [0.4, -0.56],
                    [0.36, -0.9],
                ],
                12,
            );
            let roof = lathe(&[[0.5, -0.12], [0.3, 0.02], [0.05, 0.08], [0.0, 0.1]], 12);
            let mut posts = Shape::default();
            for k in 0..6 {
                let (s, c) = (TAU * k as f32 / 6.0).sin_cos();
                posts.add(&tube(
                    &[Vec3::new(0.42 * c, -0.6, 0.42 * s), Vec3::new(0.42 * c, -0.1, 0.42 * s)],
                    |_| 0.014,
                    5,
                    false,
                ));
            }
            let mut trim = torus(0.44, 0.022, 24, 6).at(0.0, -0.56, 0.0);
            trim.add(&torus(0.47, 0.02, 24, 6).at(0.0, -0.12, 0.0));
            let mut seat = torus(0.3, 0.05, 16, 6).at(0.0, -0.8, 0.0);
            seat.add(&ball(0.05, 8).at(0.0, 0.12, 0.0));
            glb.mesh(&[
                (&tub, *color),
                (&roof, paint.cream),
                (&posts, paint.steel),
                (&trim, paint.gold),
                (&seat, paint.red),
            ])
        })
        .collect();
    for k in 0..12 {
        let (s, c) = (TAU * k as f32 / 12.0).sin_cos();
        let node = glb.node(Place::at(R * c, R * s, 0.0), cabins[k % 4]);
        glb.adopt(turning, node);
        // They stay upright, and sway a little.
        let phase = k as f32 * 1.3;
        channels.push(Channel::turns(node, ROUND, 48, move |f| {
            Quat::from_rotation_z(-TAU * f) * Quat::from_rotation_z(0.1 * (TAU * 6.0 * f + phase).sin())
        }));
    }
    // The stand.
    let mut stand = Shape::default();
    for z in [-0.95_f32, 0.95] {
        for x in [-2.2_f32, 2.2] {
            stand.add(&tube(&[Vec3::new(x, 0.0, z * 1.3), Vec3::new(0.0, 5.4, z * 0.75)], |_| 0.09, 8, false));
            stand.add(&slab(0.5, 0.16, 0.5).at(x, 0.0, z * 1.3));
        }
        stand.add(&tube(&[Vec3::new(-1.25, 2.4, z), Vec3::new(1.25, 2.4, z)], |_| 0.05, 8, false));
    }
    let mesh = glb.mesh(&[(&stand, paint.cream)]);
    let stand = glb.node(Place::at(0.0, 0.0, 0.0), mesh);
    glb.group(Place::at(1.2, 0.0, -6.6).turned(Quat::from_rotation_y(-0.12)), &[turning, stand]);
}

fn horse() -> [Shape; 2] {
    let scaled = |s: &Shape, x: f32, y: f32, z: f32| s.moved(Affine3A::from_scale(Vec3::new(x, y, z)));
    let mut body = scaled(&ball(0.2, 10), 1.7, 0.95, 0.85).at(0.0, 0.62, 0.0);
    body.add(&tube(
        &[Vec3::new(0.24, 0.66, 0.0), Vec3::new(0.38, 0.86, 0.0), Vec3::new(0.46, 1.0, 0.0)],
        |f| 0.11 - 0.04 * f,
        10,
        false,
    ));
    body.add(&scaled(&ball(0.09, 8), 1.6, 0.85, 0.75).turned(Quat::from_rotation_z(-0.6)).at(0.55, 0.98, 0.0));
    for (x, lean) in [(0.22, 0.16), (0.2, -0.1), (-0.22, 0.1), (-0.26, -0.2)] {
        let z = if lean > 0.0 { 0.09 } else { -0.09 };
        let knee = Vec3::new(x + lean, 0.34, z);
        let hoof = Vec3::new(x + lean * 0.6, 0.08, z);
        body.add(&tube(&[Vec3::new(x, 0.58, z), knee, hoof], |f| 0.07 - 0.035 * f, 8, false));
    }
    let mut trim = scaled(&ball(0.15, 8), 0.9, 0.5, 1.15).at(-0.03, 0.78, 0.0);
    trim.add(&tube(
        &[Vec3::new(-0.32, 0.7, 0.0), Vec3::new(-0.46, 0.62, 0.0), Vec3::new(-0.5, 0.38, 0.0)],
        |f| 0.05 - 0.03 * f,
        6,
        false,
    ));
    trim.add(&tube(
        &[Vec3::new(0.36, 0.98, 0.0), Vec3::new(0.28, 0.88, 0.0), Vec3::new(0.2, 0.74, 0.0)],
        |_| 0.04,
        6,
        false,
    ));
    [body, trim]
}

fn carousel(glb: &mut Glb, paint: &Paints, channels: &mut Vec<Channel>) {
    let floor = lathe(&[[0.0, 0.3], [2.1, 0.3], [2.1, 0.3], [2.1, 0.16], [2.1, 0.16], [0.0, 0.16]], 40);
    let floor = {
        let mut f = floor;
        // Up is the other way around for a profile that goes outwards.
        f.triangles.iter_mut().for_each(|t| t.reverse());
        f.normals.iter_mut().for_each(|n| *n = -*n);
        for i in 0..f.uvs.len() {
            f.uvs[i] = Vec2::new(f.positions[i].x, f.positions[i].z) * 0.9;
        }
        f
    };
    let drum = lathe(&[[0.5, 0.3], [0.5, 2.5], [0.7, 2.6]], 24);
    let roof = lathe(&[[2.3, 2.62], [1.2, 3.1], [0.5, 3.4], [0.18, 3.9], [0.0, 3.92]], 32);
    let skirt = {
        let mut s = Shape::default();
        for k in 0..32 {
            let a = TAU * k as f32 / 32.0;
            s.add(&card(0.46, 0.34).at(0.0, -0.34, 0.0).turned(Quat::from_rotation_y(-a)).at(
                -2.3 * a.sin(),
                2.64,
                2.3 * a.cos(),
            ));
        }
        s
    };
    let mut gold = torus(2.3, 0.045, 48, 8).at(0.0, 2.62, 0.0);
    gold.add(&torus(2.1, 0.03, 48, 8).at(0.0, 0.3, 0.0));
    gold.add(&ball(0.14, 12).at(0.0, 4.0, 0.0));
    let mut glow = bulbs(2.34, 40, 0.04).at(0.0, 2.56, 0.0);
    glow.add(&bulbs(0.54, 12, 0.035).at(0.0, 2.3, 0.0));
    let mut stripe = roof.clone();
    stripe.uvs.iter_mut().zip(&roof.positions).for_each(|(uv, p)| {
        uv.x = p.z.atan2(p.x) / TAU * 2.0;
        uv.y = p.y;
    });
    let mesh = glb.mesh(&[
        (&floor, paint.wood),
        (&drum, paint.cream),
        (&stripe, paint.stripes),
        (&skirt, paint.flags[1]),
        (&gold, paint.gold),
        (&glow, paint.bulb),
    ]);
    let turning = glb.node(Place::at(-4.6, 0.0, -1.6), mesh);
    channels.push(spin(turning, Vec3::Y, 2.0, 0.0));
    let [body, trim] = horse();
    let colors = [paint.cream, paint.red, paint.teal, paint.blue, paint.yellow];
    let kinds: Vec<usize> =
        colors.iter().enumerate().map(|(k, c)| glb.mesh(&[(&body, *c), (&trim, colors[(k + 3) % 5])])).collect();
    let pole = glb.mesh(&[(&cylinder(0.022, 2.35, 8), paint.gold)]);
    for k in 0..10 {
        let a = TAU * k as f32 / 10.0;
        let r = if k % 2 == 0 { 1.7 } else { 1.15 };
        let turn = Quat::from_rotation_y(a);
        let at = turn * Vec3::new(0.0, 0.0, r);
        let stand = glb.node(Place::at(at.x, 0.28, at.z), pole);
        glb.adopt(turning, stand);
        let node = glb.node(Place::at(at.x, 0.0, at.z).turned(turn), kinds[k % 5]);
        glb.adopt(turning, node);
        let phase = k as f32 * 0.31;
        channels.push(Channel::moves(node, ROUND, 96, move |f| {
            at + Vec3::Y * (0.42 + 0.2 * (TAU * (8.0 * f + phase)).sin())
        }));
    }
    let base = lathe(&[[2.3, 0.0], [2.3, 0.16], [2.3, 0.16], [1.9, 0.16]], 40);
    let mesh = glb.mesh(&[(&base, paint.red)]);
    glb.node(Place::at(-4.6, 0.0, -1.6), mesh);
}

fn chairs(glb: &mut Glb, paint: &Paints, channels: &mut Vec<Channel>) {
    let mast = lathe(&[[0.7, 0.0], [0.7, 0.2], [0.7, 0.2], [0.3, 0.4], [0.22, 0.8], [0.2, 4.4], [0.3, 4.6]], 20);
    let mesh = glb.mesh(&[(&mast, paint.cream)]);
    glb.node(Place::at(5.2, 0.0, -0.8), mesh);
    let hat = lathe(&[[0.3, 4.5], [1.7, 4.8], [1.7, 4.8], [1.75, 5.05], [1.75, 5.05], [0.6, 5.4], [0.0, 5.7]], 32);
    let mut stripe = hat.clone();
    stripe.uvs.iter_mut().zip(&hat.positions).for_each(|(uv, p)| {
        uv.x = p.z.atan2(p.x) / TAU * 2.0;
        uv.y = p.y;
    });
    let mut gold = torus(1.75, 0.04, 40, 8).at(0.0, 4.8, 0.0);
    gold.add(&torus(1.76, 0.03, 40, 8).at(0.0, 5.05, 0.0));
    let glow = bulbs(1.78, 28, 0.045).at(0.0, 4.92, 0.0);
    let mesh = glb.mesh(&[(&stripe, paint.stripes), (&gold, paint.gold), (&glow, paint.bulb)]);
    let turning = glb.node(Place::at(5.2, 0.0, -0.8), mesh);
    channels.push(spin(turning, Vec3::Y, 6.0, 0.0));
    let mut seat = chamfered(0.36, 0.06, 0.34, 0.02).at(0.0, -2.3, 0.0);
    seat.add(&chamfered(0.36, 0.34, 0.05, 0.02).at(0.0, -2.28, -0.16));
    let mut chain = Shape::default();
    for x in [-0.17_f32, 0.17] {
        for z in [-0.15_f32, 0.15] {
            chain.add(&tube(&[Vec3::new(x * 0.4, 0.0, 0.0), Vec3::new(x, -2.28, z)], |_| 0.008, 5, false));
        }
    }
    let kinds = [paint.red, paint.yellow, paint.teal].map(|color| glb.mesh(&[(&seat, color), (&chain, paint.steel)]));
    for k in 0..12 {
        let a = TAU * k as f32 / 12.0;
        let turn = Quat::from_rotation_y(a);
        let at = turn * Vec3::new(0.0, 4.8, 1.6);
        let node = glb.node(Place::at(at.x, at.y, at.z), kinds[k % 3]);
        glb.adopt(turning, node);
        let phase = k as f32 * 0.7;
        channels.push(Channel::turns(node, ROUND, 96, move |f| {
            turn * Quat::from_rotation_x(-0.62 + 0.05 * (TAU * 6.0 * f + phase).sin())
                * Quat::from_rotation_z(0.08 * (TAU * 9.0 * f + phase).sin())
                * Quat::from_rotation_y(FRAC_PI_2)
        }));
    }
}

fn boat(glb: &mut Glb, paint: &Paints, channels: &mut Vec<Channel>) {
    let mut frame = Shape::default();
    for z in [-0.9_f32, 0.9] {
        for x in [-1.6_f32, 1.6] {
            frame.add(&tube(&[Vec3::new(x, 0.0, z), Vec3::new(0.0, 4.0, z)], |_| 0.09, 8, false));
        }
    }
    frame.add(&upright(&cylinder(0.1, 2.0, 12)).at(0.0, 4.0, -1.0));
    let mesh = glb.mesh(&[(&frame, paint.blue)]);
    let stand = glb.node(Place::at(0.0, 0.0, 0.0), mesh);
    // A hull of ribs.
    let mut hull = Shape::default();
    let rib = |f: f32| {
        let x = 3.4 * (f - 0.5);
        let bow = (1.0 - (2.0 * f - 1.0).powi(2)).max(0.0).sqrt();
        let rise = 0.9 * (2.0 * f - 1.0).powi(2);
        (x, 0.55 * bow.powf(0.6), -3.4 + rise)
    };
    let (ribs, around) = (20, 8);
    for i in 0..=ribs {
        let (x, half, y) = rib(i as f32 / ribs as f32);
        for k in 0..=around {
            let a = PI * k as f32 / around as f32;
            let p = Vec3::new(x, y + 0.75 - 0.75 * a.sin(), -half * a.cos());
            hull.push(p, Vec3::new(0.1 * x, -a.sin(), -a.cos()).normalize(), Vec2::new(x, k as f32 * 0.2));
        }
    }
    let row = around as u32 + 1;
    for i in 0..ribs as u32 {
        for k in 0..around as u32 {
            let a = i * row + k;
            hull.triangles.extend([[a, a + row, a + 1], [a + 1, a + row, a + row + 1]]);
        }
    }
    let mut inside = hull.clone();
    inside.triangles.iter_mut().for_each(|t| t.reverse());
    inside.normals.iter_mut().for_each(|n| *n = -*n);
    hull.add(&inside);
    let mut trim = Shape::default();
    for s in [-1.0_f32, 1.0] {
        let rail: Vec<Vec3> = (0..=ribs)
            .map(|i| {
                let (x, half, y) = rib(i as f32 / ribs as f32);
                Vec3::new(x, y + 0.76, s * half)
            })
            .collect();
        trim.add(&tube(&rail, |_| 0.04, 8, false));
    }
    let mut benches = Shape::default();
    for k in 0..5 {
        let x = -1.1 + 0.55 * k as f32;
        benches.add(&slab(0.22, 0.06, 0.9).at(x, -3.05, 0.0));
    }
    let mut arms = Shape::default();
    for z in [-0.5_f32, 0.5] {
        for x in [-1.1_f32, 1.1] {
            arms.add(&tube(&[Vec3::new(0.0, 0.0, z * 0.9), Vec3::new(x, -2.55, z)], |_| 0.04, 6, false));
        }
    }
    let mesh =
        glb.mesh(&[(&hull.uv(0.8), paint.wood), (&trim, paint.gold), (&benches, paint.red), (&arms, paint.steel)]);
    let moving = glb.node(Place::at(0.0, 4.0, 0.0), mesh);
    channels.push(swing(moving, Vec3::Z, 0.85, 6.0, 0.1));
    glb.group(Place::at(-8.2, 0.0, -6.8).turned(Quat::from_rotation_y(0.5)), &[stand, moving]);
}

/// Where the train is after a part of the round, and where it is heading.
fn track(f: f32) -> (Vec3, Quat) {
    let at = |f: f32| {
        let (s, c) = (TAU * f).sin_cos();
        Vec3::new(9.6 * c, 0.0, 9.0 * s - 0.6 + 0.8 * (2.0 * TAU * f).cos())
    };
    let d = at(f + 0.002) - at(f - 0.002);
    (at(f), Quat::from_rotation_y(-d.z.atan2(d.x)))
}

fn train(glb: &mut Glb, paint: &Paints, channels: &mut Vec<Channel>) {
    let mut rails = Shape::default();
    for side in [-0.32_f32, 0.32] {
        let points: Vec<Vec3> = (0..=160)
            .map(|i| {
                let (p, turn) = track(i as f32 / 160.0);
                p + turn * Vec3::new(0.0, 0.09, side)
            })
            .collect();
        rails.add(&tube(&points, |_| 0.025, 6, true));
    }
    let sleeper = slab(0.14, 0.06, 0.95);
    let mut sleepers = Shape::default();
    for i in 0..120 {
        let (p, turn) = track(i as f32 / 120.0);
        sleepers.add(&sleeper.turned(turn).at(p.x, 0.0, p.z));
    }
    let mesh = glb.mesh(&[(&rails, paint.steel), (&sleepers, paint.wood)]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);
    let mut wheels = Shape::default();
    for (x, z) in [(-0.4, -0.36), (0.4, -0.36), (-0.4, 0.36), (0.4, 0.36)] {
        let mut w = upright(&cylinder(0.15, 0.06, 16)).at(0.0, 0.0, -0.03);
        w.add(&upright(&torus(0.15, 0.03, 16, 6)));
        wheels.add(&w.at(x, 0.26, z));
    }
    let mut engine = chamfered(1.5, 0.2, 0.7, 0.03).at(0.0, 0.3, 0.0);
    engine.add(&chamfered(0.5, 0.75, 0.7, 0.04).at(-0.48, 0.5, 0.0));
    engine.add(&chamfered(0.66, 0.07, 0.86, 0.03).at(-0.48, 1.24, 0.0));
    let boiler = cylinder(0.27, 0.95, 20).turned(Quat::from_rotation_z(-FRAC_PI_2)).at(-0.22, 0.78, 0.0);
    let mut brass = lathe(&[[0.09, 1.0], [0.09, 1.3], [0.16, 1.45], [0.14, 1.45]], 16).at(0.5, 0.0, 0.0);
    brass.add(&lathe(&[[0.13, 1.0], [0.13, 1.1], [0.0, 1.2]], 16).at(0.1, 0.0, 0.0));
    brass.add(&torus(0.27, 0.02, 24, 6).turned(Quat::from_rotation_z(FRAC_PI_2)).at(0.72, 0.78, 0.0));
    let light = ball(0.07, 10).at(0.78, 0.8, 0.0);
    let engine = glb.mesh(&[
        (&engine, paint.red),
        (&boiler, paint.teal),
        (&brass, paint.gold),
        (&wheels, paint.iron),
        (&light, paint.lamp),
    ]);
    let mut wagon = chamfered(1.3, 0.16, 0.7, 0.03).at(0.0, 0.3, 0.0);
    for z in [-0.33_f32, 0.33] {
        wagon.add(&chamfered(1.3, 0.36, 0.05, 0.02).at(0.0, 0.46, z));
    }
    let mut posts = Shape::default();
    for (x, z) in [(-0.6, -0.32), (0.6, -0.32), (-0.6, 0.32), (0.6, 0.32)] {
        posts.add(&cylinder(0.018, 0.6, 6).at(x, 0.8, z));
    }
    let roof = chamfered(1.42, 0.08, 0.86, 0.03).at(0.0, 1.4, 0.0);
    let wagons = [paint.yellow, paint.blue, paint.teal, paint.cream]
        .map(|color| glb.mesh(&[(&wagon, color), (&posts, paint.gold), (&roof, paint.red), (&wheels, paint.iron)]));
    for k in 0..5 {
        let mesh = if k == 0 { engine } else { wagons[k - 1] };
        let node = glb.node(Place::at(0.0, 0.0, 0.0), mesh);
        // One round, in the sense in which the engine faces forwards.
        let behind = 0.027 * k as f32;
        channels.push(Channel::moves(node, ROUND, 120, move |f| track(f - behind + 0.12).0));
        channels.push(Channel::turns(node, ROUND, 120, move |f| track(f - behind + 0.12).1));
    }
}

fn stalls(glb: &mut Glb, paint: &Paints, channels: &mut Vec<Channel>) {
    let mut wood = block([-1.1, 0.0, -0.6], [1.1, 0.9, 0.0]).uv(0.8);
    wood.add(&slab(2.4, 0.06, 0.9).at(0.0, 0.9, -0.25).uv(0.8));
    let mut posts = Shape::default();
    for (x, z, h) in [(-1.1, 0.1, 2.1), (1.1, 0.1, 2.1), (-1.1, -1.4, 2.5), (1.1, -1.4, 2.5)] {
        posts.add(&cylinder(0.04, h, 8).at(x, 0.0, z));
    }
    posts.add(&block([-1.1, 0.0, -1.45], [1.1, 2.4, -1.38]).uv(0.8));
    let mut awning = Shape::default();
    let c = [
        Vec3::new(-1.25, 2.0, 0.45),
        Vec3::new(1.25, 2.0, 0.45),
        Vec3::new(1.25, 2.6, -1.4),
        Vec3::new(-1.25, 2.6, -1.4),
    ];
    awning.quad(c, c.map(|p| Vec2::new(p.x * 0.5, p.z * 0.5)));
    for k in 0..10 {
        let x = -1.125 + 0.25 * k as f32;
        awning.add(&card(0.25, 0.22).at(x, 1.78, 0.45).uv(0.12));
    }
    // Goods on the counter.
    let mut random = Random::new(5);
    let (mut fruit, mut jars) = (Shape::default(), Shape::default());
    for _ in 0..26 {
        fruit.add(&ball(random.range(0.05, 0.08), 8).at(random.range(-0.95, 0.1), 1.02, random.range(-0.55, 0.05)));
    }
    for k in 0..7 {
        jars.add(&cylinder(0.06, 0.22, 14).at(0.25 + 0.13 * k as f32, 0.96, -0.2 - 0.1 * (k % 2) as f32));
    }
    let stall = glb.mesh(&[
        (&wood, paint.wood),
        (&posts, paint.wood),
        (&awning, paint.stripes),
        (&fruit, paint.balloons[0]),
        (&jars, paint.gold),
    ]);
    for (x, z, a) in [(-2.6, 5.6, 2.7), (3.4, 5.0, -2.6), (-7.4, 3.2, 1.7)] {
        glb.node(Place::at(x, 0.0, z).turned(Quat::from_rotation_y(a)), stall);
    }
    // Lamp posts: their globes are lamps of the scene file.
    let mut post = lathe(
        &[[0.14, 0.0], [0.14, 0.12], [0.14, 0.12], [0.07, 0.2], [0.05, 0.5], [0.04, 2.6], [0.08, 2.66], [0.08, 2.72]],
        14,
    );
    post.add(&lathe(&[[0.2, 3.12], [0.1, 3.2], [0.0, 3.3]], 14));
    let post = glb.mesh(&[(&post, paint.iron)]);
    for (x, z) in [(-1.4, 3.4), (2.6, 2.6), (-2.0, -3.2), (4.6, -4.4)] {
        glb.node(Place::at(x, 0.0, z), post);
    }
    // Pinwheels on sticks.
    let mut sails = Shape::default();
    for k in 0..6 {
        let mut s = Shape::default();
        let a = Vec3::ZERO;
        let c = [a, Vec3::new(0.28, 0.05, 0.03), Vec3::new(0.3, 0.14, -0.05), Vec3::new(0.08, 0.12, 0.0)];
        s.quad(c, [Vec2::ZERO; 4]);
        sails.add(&s.turned(Quat::from_rotation_z(TAU * k as f32 / 6.0)));
    }
    let kinds: Vec<usize> = paint.flags.iter().map(|flag| glb.mesh(&[(&sails, *flag)])).collect();
    let stick = glb.mesh(&[(&cylinder(0.012, 1.0, 6), paint.wood)]);
    for k in 0..14 {
        let a = TAU * k as f32 / 14.0;
        let (x, z) = (5.1 * a.sin(), 1.6 + 5.1 * a.cos());
        glb.node(Place::at(x, 0.0, z), stick);
        let node = glb.node(Place::at(0.0, 0.0, 0.0), kinds[k % 5]);
        let turns = 10.0 + (k * 5 % 7) as f32;
        channels.push(spin(node, Vec3::Z, turns, 0.07 * k as f32));
        glb.group(Place::at(x, 1.0, z + 0.03).turned(Quat::from_rotation_y(0.3 * (k as f32).sin())), &[node]);
    }
    // Balloons on strings.
    let skin = lathe(
        &[[0.0, 0.0], [0.02, 0.0], [0.09, 0.1], [0.17, 0.24], [0.19, 0.36], [0.16, 0.48], [0.09, 0.55], [0.0, 0.57]],
        18,
    );
    let string = tube(&[Vec3::new(0.0, -1.3, 0.0), Vec3::new(0.02, -0.6, 0.01), Vec3::ZERO], |_| 0.004, 4, false);
    let kinds: Vec<usize> =
        paint.balloons.iter().map(|color| glb.mesh(&[(&skin, *color), (&string, paint.iron)])).collect();
    for k in 0..15 {
        let cluster = [(-2.1_f32, 4.6_f32), (2.9, 4.2), (-6.6, 2.6)][k % 3];
        let spread = Quat::from_rotation_y(2.4 * k as f32) * Vec3::new(0.1 + 0.03 * k as f32, 0.0, 0.0);
        let node =
            glb.node(Place::at(cluster.0 + spread.x, 2.3 + 0.12 * (k / 3) as f32, cluster.1 + spread.z), kinds[k % 5]);
        let phase = k as f32 * 0.77;
        channels.push(Channel::turns(node, ROUND, 72, move |f| {
            Quat::from_rotation_x(0.12 * (TAU * 6.0 * f + phase).sin())
                * Quat::from_rotation_z(0.14 * (TAU * 5.0 * f + phase * 1.7).sin())
        }));
    }
}

fn bunting(glb: &mut Glb, paint: &Paints, channels: &mut Vec<Channel>) {
    let mut flag = Shape::default();
    let corners = [[-0.11, 0.0], [0.11, 0.0], [0.0, -0.28]];
    let corners = corners.map(|[x, y]: [f32; 2]| flag.push(Vec3::new(x, y, 0.0), Vec3::Z, Vec2::new(x, y)));
    flag.triangles.push([corners[0], corners[2], corners[1]]);
    let kinds: Vec<usize> = paint.flags.iter().map(|color| glb.mesh(&[(&flag, *color)])).collect();
    let posts = [(-1.4_f32, 3.4_f32), (2.6, 2.6), (4.6, -4.4), (-2.0, -3.2)];
    let mut lines = Shape::default();
    let mut number = 0;
    for k in 0..4 {
        let (a, b) = (posts[k], posts[(k + 1) % 4]);
        let at =
            |f: f32| Vec3::new(a.0 + (b.0 - a.0) * f, 3.16 - 0.5 * 4.0 * f * (1.0 - f) * 0.8, a.1 + (b.1 - a.1) * f);
        let points: Vec<Vec3> = (0..=16).map(|i| at(i as f32 / 16.0)).collect();
        lines.add(&tube(&points, |_| 0.006, 4, false));
        let turn = Quat::from_rotation_y(-(b.1 - a.1).atan2(b.0 - a.0));
        let length = (b.0 - a.0).hypot(b.1 - a.1);
        let count = (length / 0.36) as usize;
        for i in 0..count {
            let p = at((i as f32 + 0.5) / count as f32);
            let node = glb.node(Place::at(0.0, 0.0, 0.0), kinds[number % 5]);
            channels.push(swing(node, Vec3::X, 0.45, 12.0 + (number % 4) as f32, 0.13 * number as f32));
            glb.group(Place::at(p.x, p.y, p.z).turned(turn), &[node]);
            number += 1;
        }
    }
    let mesh = glb.mesh(&[(&lines, paint.iron)]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);
}
