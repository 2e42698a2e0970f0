//! A park in autumn, and people who walk through it: skins, leaves, thin rails.

use crate::figure::{Body, CYCLE, Looks, stride, walk};
use crate::glb::{Channel, Glb, Place};
use crate::noise::{Random, fbm};
use crate::shape::{Shape, ball, block, card, chamfered, crown, cylinder, lathe, slab, terrain, tube};
use crate::texture::{bark, glowing, grass, ground, plain, planks, rgb, slabs, surface, texel, twig, weave};
use glam::{Affine3A, Quat, Vec2, Vec3};
use serde_json::json;
use std::f32::consts::{FRAC_PI_2, TAU};

/// Radius of the path that they walk.
const PATH: f32 = 5.2;

pub fn make() -> Glb {
    let mut glb = Glb::new();
    grounds(&mut glb);
    trees(&mut glb);
    things(&mut glb);
    people(&mut glb);
    glb
}

fn height(x: f32, z: f32) -> f32 {
    let r = x.hypot(z);
    let hills = ((r - 9.0) / 9.0).clamp(0.0, 1.0).powi(2) * (1.6 + (x * 0.3).sin() + (z * 0.23).cos());
    let bumps = 0.09 * (fbm(x / 16.0 + 0.5, z / 16.0 + 0.5, 8, 3, 4) - 0.5);
    let path = 1.0 - ((r - PATH).abs() / 1.5).clamp(0.0, 1.0);
    hills + bumps * (1.0 - path)
}

fn grounds(glb: &mut Glb) {
    let lawn =
        surface(glb, 1024, json!({}), |u, v| ground(u, v, rgb(62, 72, 32), rgb(118, 118, 52), rgb(170, 120, 50)));
    let gravel =
        surface(glb, 1024, json!({}), |u, v| ground(u, v, rgb(142, 124, 98), rgb(182, 164, 134), rgb(206, 196, 178)));
    let blades = grass(glb, 256, rgb(58, 74, 28), rgb(158, 156, 74), 6);
    let fallen = {
        let mut random = Random::new(8);
        let shades: Vec<f32> = (0..8).map(|_| random.next()).collect();
        crate::texture::cutout(
            glb,
            128,
            move |p| {
                // A leaf with lobes.
                let d = p - Vec2::new(0.5, 0.55);
                let (r, a) = (d.length(), d.x.atan2(-d.y));
                let lobes = 0.24 + 0.17 * (a * 2.5).cos().abs().powf(0.7) * (1.0 - 0.25 * a.abs() / 3.2);
                let stem = d.x.abs() < 0.014 && d.y > 0.0 && d.y < 0.42;
                let vein = (a * 2.5).sin().abs() < 0.1;
                (r < lobes || stem).then(|| {
                    let c = rgb(232, 214, 190) * (0.75 + 0.2 * shades[(r * 14.0) as usize % 8]);
                    if vein || stem { c * 0.8 } else { c }
                })
            },
            rgb(220, 200, 170),
        )
    };
    let field = terrain(44.0, 88, height).uv(1.0 / 2.4);
    let mut path = Shape::default();
    let around = 96;
    for i in 0..=around {
        let (s, c) = (TAU * i as f32 / around as f32).sin_cos();
        for (r, v) in [(PATH - 0.85, 0.0), (PATH, 0.85), (PATH + 0.85, 1.7)] {
            let y = height(r * s, r * c) + if v == 0.85 { 0.035 } else { 0.012 };
            path.push(Vec3::new(r * s, y, r * c), Vec3::Y, Vec2::new(TAU * PATH * i as f32 / around as f32, v) / 1.9);
        }
    }
    for i in 0..around as u32 {
        for k in 0..2 {
            let a = 3 * i + k;
            path.triangles.extend([[a, a + 1, a + 3], [a + 1, a + 4, a + 3]]);
        }
    }
    let mut random = Random::new(21);
    let (mut tufts, mut leaves) = (Shape::default(), Shape::default());
    for _ in 0..2600 {
        let (x, z) = (random.range(-12.0, 12.0), random.range(-12.0, 12.0));
        let r: f32 = x.hypot(z);
        if (r - PATH).abs() < 0.95 || !(1.5..=12.0).contains(&r) {
            continue;
        }
        let size = random.range(0.16, 0.34);
        let shade = random.range(0.6, 1.0);
        let tuft = card(size, size).turned(Quat::from_rotation_y(random.next() * TAU)).at(x, height(x, z) - 0.01, z);
        tufts.add(&tuft.colored([shade, shade * random.range(0.85, 1.0), 0.75 * shade]));
    }
    for n in &mut tufts.normals {
        *n = (*n * 0.3 + Vec3::Y).normalize();
    }
    for _ in 0..1500 {
        let a = random.next() * TAU;
        let r = 1.2 + 9.0 * random.next();
        let (x, z) = (r * a.sin(), r * a.cos());
        let size = random.range(0.1, 0.2);
        let turn =
            Quat::from_rotation_y(random.next() * TAU) * Quat::from_rotation_x(-FRAC_PI_2 + random.range(-0.35, 0.35));
        let hue = random.next();
        let color = [0.75 + 0.2 * hue, 0.16 + 0.42 * hue * hue, 0.04 + 0.04 * hue];
        leaves.add(&card(size, size).turned(turn).at(x, height(x, z) + 0.025, z).colored(color));
    }
    let mesh = glb.mesh(&[(&field, lawn), (&path, gravel), (&tufts, blades), (&leaves, fallen)]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);
}

fn trees(glb: &mut Glb) {
    let wood = surface(glb, 512, json!({}), |u, v| bark(u, v, rgb(46, 38, 32), rgb(118, 100, 80)));
    let leaves = twig(glb, 256, rgb(190, 170, 130), rgb(250, 240, 200), 0.46, 31);
    let mut random = Random::new(12);
    let palettes: [[[f32; 3]; 2]; 3] = [
        [[0.55, 0.14, 0.03], [0.95, 0.42, 0.06]],
        [[0.62, 0.36, 0.05], [1.0, 0.72, 0.16]],
        [[0.16, 0.26, 0.06], [0.5, 0.6, 0.16]],
    ];
    for (kind, [low, high]) in palettes.into_iter().enumerate() {
        let lean = Vec3::new(0.2 * kind as f32 - 0.2, 0.0, 0.1);
        let points = [
            Vec3::ZERO,
            Vec3::new(0.04, 0.7, 0.03),
            Vec3::Y * 1.7 + lean * 0.5,
            Vec3::Y * 3.1 + lean,
            Vec3::Y * 4.2 + lean * 1.6,
        ];
        let mut trunk = tube(&points, |f| 0.23 * (1.0 - 0.75 * f) + 0.12 * (1.0 - f).powi(8), 12, false);
        let mut tips = Vec::new();
        for k in 0..11 {
            let f = 0.38 + 0.055 * k as f32;
            let start = points[2].lerp(points[4], ((f - 0.4) / 0.6).clamp(0.0, 1.0));
            let a = 2.4 * k as f32 + random.next();
            let out = Vec3::new(a.sin(), 0.55 + 0.5 * f, a.cos());
            let reach = 1.7 * (1.2 - f);
            let tip = start + out * reach + Vec3::Y * 0.25;
            trunk.add(&tube(&[start, start + out * reach * 0.5, tip], |f| 0.075 * (1.0 - 0.8 * f), 7, false));
            tips.push(tip);
        }
        tips.push(points[4] + Vec3::Y * 0.3);
        let mut crowns = Shape::default();
        let tint = move |s: f32| std::array::from_fn(|i| low[i] + (high[i] - low[i]) * s);
        for tip in tips {
            let r = random.range(0.75, 1.05);
            crowns.add(&crown(Vec3::new(r, 0.75 * r, r), 58, 0.5, &mut random, tint).at(tip.x, tip.y, tip.z));
        }
        let mesh = glb.mesh(&[(&trunk.uv(1.2), wood), (&crowns, leaves)]);
        let places: Vec<Place> = (0..8)
            .map(|k| {
                let a = TAU * (k as f32 + kind as f32 / 3.0) / 8.0 + random.range(-0.12, 0.12);
                let r = if kind == 1 { random.range(8.2, 9.4) } else { random.range(9.5, 14.0) };
                let (x, z) = (r * a.sin(), r * a.cos());
                Place::at(x, height(x, z) - 0.05, z)
                    .turned(Quat::from_rotation_y(random.next() * TAU))
                    .scaled(random.range(0.85, 1.35))
            })
            .collect();
        glb.instances(mesh, &places);
        if kind == 0 {
            // The old one in the middle.
            glb.node(Place::at(0.2, -0.05, -0.3).scaled(1.25), mesh);
        }
    }
}

fn things(glb: &mut Glb) {
    let wood = surface(glb, 512, json!({}), |u, v| planks(u, v, 5.0, rgb(72, 48, 30), rgb(150, 108, 68)));
    let stone = surface(glb, 512, json!({}), |u, v| slabs(u, v, rgb(120, 114, 104), rgb(160, 152, 138)));
    let iron = plain(glb, [0.035, 0.045, 0.04], 0.3, 0.4);
    let glow = glowing(glb, [1.0, 0.78, 0.46], 4.0);
    // Benches.
    let mut seat = Shape::default();
    for k in 0..4 {
        seat.add(&chamfered(1.5, 0.035, 0.09, 0.008).at(0.0, 0.43, -0.16 + 0.11 * k as f32));
    }
    for k in 0..3 {
        let back = chamfered(1.5, 0.09, 0.03, 0.008).turned(Quat::from_rotation_x(-0.2));
        seat.add(&back.at(0.0, 0.56 + 0.13 * k as f32, -0.25 - 0.03 * k as f32));
    }
    let mut legs = Shape::default();
    for x in [-0.62_f32, 0.62] {
        legs.add(&tube(&[Vec3::new(x, 0.0, 0.18), Vec3::new(x, 0.42, 0.2)], |_| 0.022, 8, false));
        legs.add(&tube(
            &[Vec3::new(x, 0.0, -0.24), Vec3::new(x, 0.43, -0.2), Vec3::new(x, 0.94, -0.33)],
            |_| 0.022,
            8,
            false,
        ));
        legs.add(&tube(
            &[Vec3::new(x, 0.62, -0.24), Vec3::new(x, 0.64, 0.2), Vec3::new(x, 0.42, 0.2)],
            |_| 0.018,
            8,
            false,
        ));
    }
    let bench = glb.mesh(&[(&seat.uv(1.1), wood), (&legs, iron)]);
    for a in [0.5_f32, 2.3, 4.4] {
        let r = PATH + 1.45;
        glb.node(
            Place::at(r * a.sin(), 0.0, r * a.cos()).turned(Quat::from_rotation_y(a + std::f32::consts::PI)),
            bench,
        );
    }
    // Lamps.
    let mut post = lathe(
        &[[0.13, 0.0], [0.13, 0.1], [0.13, 0.1], [0.07, 0.2], [0.045, 0.5], [0.035, 2.5], [0.08, 2.58], [0.1, 2.62]],
        14,
    );
    post.add(&lathe(&[[0.17, 2.96], [0.06, 3.1], [0.02, 3.2], [0.0, 3.22]], 6));
    for k in 0..6 {
        let (s, c) = (TAU * k as f32 / 6.0).sin_cos();
        post.add(&tube(
            &[Vec3::new(0.1 * c, 2.62, 0.1 * s), Vec3::new(0.155 * c, 2.97, 0.155 * s)],
            |_| 0.01,
            5,
            false,
        ));
    }
    let globe = ball(0.075, 12).at(0.0, 2.78, 0.0);
    let lamp = glb.mesh(&[(&post, iron), (&globe, glow)]);
    for k in 0..5 {
        let a = TAU * (k as f32 + 0.35) / 5.0;
        let r = PATH + 1.25;
        glb.node(Place::at(r * a.sin(), 0.0, r * a.cos()), lamp);
    }
    // A low fence of thin rails around the middle.
    let mut fence = Shape::default();
    for k in 0..72 {
        let a = TAU * k as f32 / 72.0;
        let (s, c) = a.sin_cos();
        let r = PATH - 1.25;
        let tall = if k % 6 == 0 { 0.62 } else { 0.5 };
        fence.add(&cylinder(if k % 6 == 0 { 0.022 } else { 0.009 }, tall, 6).at(r * s, 0.0, r * c));
        if k % 6 == 0 {
            fence.add(&ball(0.035, 6).at(r * s, 0.64, r * c));
        }
    }
    for y in [0.16_f32, 0.46] {
        fence.add(&crate::shape::torus(PATH - 1.25, 0.012, 96, 6).at(0.0, y, 0.0));
    }
    let mesh = glb.mesh(&[(&fence, iron)]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);
    // A ring of stones around the old tree, and a stack of books and a lantern on a bench would be too much: a crate.
    let mut ring = Shape::default();
    let mut random = Random::new(77);
    for k in 0..16 {
        let a = TAU * k as f32 / 16.0;
        let s = random.range(0.8, 1.15);
        let stone = ball(0.2, 8).moved(Affine3A::from_scale(Vec3::new(1.3 * s, 0.8 * s, s)));
        ring.add(&stone.turned(Quat::from_rotation_y(a)).at(1.15 * a.sin() + 0.2, 0.05, 1.15 * a.cos() - 0.3));
    }
    let mut crate_ = Shape::default();
    for y in 0..3 {
        for z in [-0.24_f32, 0.24] {
            crate_.add(&block([-0.36, 0.05 + 0.15 * y as f32, z - 0.012], [0.36, 0.17 + 0.15 * y as f32, z + 0.012]));
        }
        for x in [-0.36_f32, 0.36] {
            crate_.add(&block([x - 0.012, 0.05 + 0.15 * y as f32, -0.24], [x + 0.012, 0.17 + 0.15 * y as f32, 0.24]));
        }
    }
    crate_.add(&slab(0.72, 0.03, 0.48).at(0.0, 0.04, 0.0));
    let mut apples = Shape::default();
    for _ in 0..34 {
        apples.add(&ball(0.055, 8).at(random.range(-0.28, 0.28), random.range(0.38, 0.5), random.range(-0.17, 0.17)));
    }
    let red = plain(glb, [0.62, 0.06, 0.04], 0.0, 0.28);
    let mesh = glb.mesh(&[(&crate_.uv(1.5), wood), (&apples, red)]);
    glb.node(Place::at(3.6, 0.0, 6.3).turned(Quat::from_rotation_y(0.5)), mesh);
    let mesh = glb.mesh(&[(&ring.uv(0.8), stone)]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);
}

fn people(glb: &mut Glb) {
    let body = Body::new();
    let cloth = |glb: &mut Glb, count: f32, a: glam::Vec3, b: glam::Vec3, stripes: f32| {
        surface(glb, 256, json!({}), move |u, v| {
            weave(u, v, count, |u, v| {
                let t =
                    if stripes > 0.0 { ((v * stripes).fract() > 0.5) as u8 as f32 } else { 0.4 * fbm(u, v, 12, 3, 9) };
                a.lerp(b, t)
            })
        })
    };
    let denim = cloth(glb, 48.0, rgb(38, 52, 86), rgb(92, 112, 150), 0.0);
    let tweed = cloth(glb, 40.0, rgb(86, 66, 46), rgb(156, 132, 96), 0.0);
    let wool = cloth(glb, 20.0, rgb(150, 34, 34), rgb(226, 206, 170), 4.0);
    let knit = cloth(glb, 20.0, rgb(30, 92, 96), rgb(214, 172, 70), 3.0);
    let green = cloth(glb, 40.0, rgb(42, 72, 50), rgb(96, 124, 84), 0.0);
    let mustard = cloth(glb, 40.0, rgb(176, 122, 34), rgb(216, 166, 76), 0.0);
    let grey = cloth(glb, 48.0, rgb(60, 60, 66), rgb(122, 122, 130), 0.0);
    let leather = surface(glb, 256, json!({}), |u, v| {
        let grain = fbm(u, v, 40, 3, 16);
        texel(rgb(82, 48, 28).lerp(rgb(124, 80, 50), grain), 0.004 * grain, 0.42)
    });
    let boots = plain(glb, [0.06, 0.035, 0.022], 0.0, 0.38);
    let skins = [[0.72, 0.42, 0.29], [0.30, 0.15, 0.085], [0.80, 0.52, 0.38]].map(|c| plain(glb, c, 0.0, 0.55));
    let hairs = [[0.05, 0.028, 0.015], [0.015, 0.012, 0.01], [0.45, 0.22, 0.06]].map(|c| plain(glb, c, 0.0, 0.6));
    let eyes = plain(glb, [0.01, 0.01, 0.012], 0.0, 0.08);
    let all = [
        Looks {
            jacket: mustard,
            trousers: denim,
            boots,
            skin: skins[0],
            hair: hairs[0],
            hat: wool,
            scarf: knit,
            pack: leather,
            eyes,
        },
        Looks {
            jacket: green,
            trousers: tweed,
            boots,
            skin: skins[1],
            hair: hairs[1],
            hat: mustard,
            scarf: wool,
            pack: leather,
            eyes,
        },
        Looks {
            jacket: wool,
            trousers: grey,
            boots,
            skin: skins[2],
            hair: hairs[2],
            hat: green,
            scarf: mustard,
            pack: denim,
            eyes,
        },
    ];
    // One round takes as many steps as its length, and ends on a whole one.
    let cycles = (TAU * PATH / stride()).round();
    let round = cycles * CYCLE;
    println!("a round of {cycles} cycles, {round:.1} s");
    let (mut walks, mut ways) = (Vec::new(), Vec::new());
    for (k, looks) in all.into_iter().enumerate() {
        let size = [1.0, 1.06, 0.9][k];
        let (root, joints) = body.add(glb, looks, size);
        walks.extend(walk(&joints, [0.0, 0.37, 0.7][k]));
        let start = [0.0_f32, 0.045, 0.5][k];
        let r = PATH + [0.15, -0.3, 0.2][k];
        let steps = 96;
        ways.push(Channel::moves(root, round, steps, move |f| {
            let a = TAU * (f + start);
            Vec3::new(r * a.sin(), 0.03, r * a.cos())
        }));
        ways.push(Channel::turns(root, round, steps, move |f| Quat::from_rotation_y(TAU * (f + start) + FRAC_PI_2)));
    }
    glb.animation(&walks);
    glb.animation(&ways);
}
