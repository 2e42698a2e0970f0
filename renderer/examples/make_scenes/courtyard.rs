//! A courtyard with an arcade around it: fine textures, leaves, thin things, deep shade.

use crate::glb::{Channel, Glb, Place};
use crate::noise::Random;
use crate::shape::{Shape, arch, ball, block, card, chamfered, crown, cylinder, lathe, slab, terrain, tube};
use crate::texture::{
    bark, brick_wall, clay, glazed, glowing, grass, marble, plain, planks, plaster, rgb, slabs, surface, texel, twig,
    weave,
};
use glam::{Quat, Vec2, Vec3};
use serde_json::json;
use std::f32::consts::{FRAC_PI_2, PI, TAU};

/// Half the side of the open court, and of the walls around it.
const COURT: f32 = 5.0;
const WALL: f32 = 7.8;
const SPRING: f32 = 2.3;
const EAVES: f32 = 3.6;

struct Paints {
    stone: usize,
    floor: usize,
    marble: usize,
    glazed: usize,
    plaster: usize,
    white: usize,
    brick: usize,
    wood: usize,
    shutter: usize,
    clay: usize,
    bark: usize,
    leaves: usize,
    ivy: usize,
    grass: usize,
    iron: usize,
    brass: usize,
    orange: usize,
    water: usize,
    glow: usize,
    cloth: usize,
    earth: usize,
    petals: usize,
}

impl Paints {
    fn new(glb: &mut Glb) -> Self {
        let none = || json!({});
        let both = || json!({ "doubleSided": true });
        Self {
            stone: surface(glb, 256, none(), |u, v| plaster(u, v, rgb(206, 190, 160))),
            floor: surface(glb, 1024, none(), |u, v| slabs(u, v, rgb(150, 136, 112), rgb(196, 180, 150))),
            marble: surface(glb, 1024, none(), |u, v| marble(u, v, 4.0, rgb(214, 204, 190), rgb(92, 60, 52))),
            glazed: surface(glb, 512, none(), |u, v| {
                glazed(u, v, [rgb(232, 226, 208), rgb(36, 76, 140), rgb(196, 132, 40), rgb(30, 116, 112)])
            }),
            plaster: surface(glb, 512, none(), |u, v| plaster(u, v, rgb(214, 160, 98))),
            white: surface(glb, 256, none(), |u, v| plaster(u, v, rgb(226, 220, 206))),
            brick: surface(glb, 1024, none(), brick_wall),
            wood: surface(glb, 512, none(), |u, v| planks(u, v, 4.0, rgb(70, 42, 24), rgb(142, 96, 56))),
            shutter: surface(glb, 256, none(), |_, v| {
                let louvre = (v * 14.0).fract();
                let c = rgb(46, 94, 84) * (0.55 + 0.5 * louvre);
                texel(c, 0.05 * louvre, 0.6)
            }),
            clay: surface(glb, 512, none(), clay),
            bark: surface(glb, 256, none(), |u, v| bark(u, v, rgb(56, 44, 34), rgb(128, 108, 84))),
            leaves: twig(glb, 256, rgb(38, 74, 26), rgb(110, 146, 60), 0.42, 1),
            ivy: twig(glb, 256, rgb(30, 62, 30), rgb(92, 128, 62), 0.6, 2),
            grass: grass(glb, 256, rgb(50, 78, 30), rgb(148, 168, 84), 3),
            iron: plain(glb, [0.03, 0.03, 0.035], 0.6, 0.5),
            brass: plain(glb, [0.86, 0.6, 0.26], 1.0, 0.24),
            orange: plain(glb, [0.9, 0.28, 0.03], 0.0, 0.45),
            water: surface(glb, 256, none(), |u, v| {
                let wave = (u * TAU * 3.0 + 2.0 * (v * TAU).sin()).sin() * (v * TAU * 4.0 + (u * TAU).cos()).sin();
                texel(rgb(22, 62, 70), 0.0012 * wave, 0.05)
            }),
            glow: glowing(glb, [1.0, 0.62, 0.28], 6.0),
            cloth: surface(glb, 512, both(), |u, v| {
                weave(u, v, 64.0, |u, v| {
                    let zig = ((u * 8.0).fract() - 0.5).abs() * 0.16;
                    match (((v + zig) * 7.0).floor() as i32).rem_euclid(7) {
                        0 | 3 => rgb(150, 36, 34),
                        1 | 5 => rgb(216, 172, 84),
                        2 => rgb(34, 56, 96),
                        _ => rgb(214, 200, 170),
                    }
                })
            }),
            earth: surface(glb, 256, none(), |u, v| {
                crate::texture::ground(u, v, rgb(52, 38, 28), rgb(92, 70, 50), rgb(150, 136, 120))
            }),
            petals: twig(glb, 128, rgb(190, 40, 74), rgb(246, 150, 150), 0.8, 9),
        }
    }
}

/// A face of a wall: width along x, height along y, its front towards +z.
fn panel(width: f32, low: f32, high: f32) -> Shape {
    let mut shape = Shape::default();
    let x = width / 2.0;
    let c = [[-x, low], [x, low], [x, high], [-x, high]];
    shape.quad(c.map(|[x, y]| Vec3::new(x, y, 0.0)), c.map(|[x, y]| Vec2::new(x, -y)));
    shape
}

/// A floor between two corners at a height.
fn floor(low: [f32; 2], high: [f32; 2], y: f32) -> Shape {
    let mut shape = Shape::default();
    let c = [[low[0], high[1]], [high[0], high[1]], [high[0], low[1]], [low[0], low[1]]];
    shape.quad(c.map(|[x, z]| Vec3::new(x, y, z)), c.map(|[x, z]| Vec2::new(x, z)));
    shape
}

pub fn make() -> Glb {
    let mut glb = Glb::new();
    let paint = Paints::new(&mut glb);
    ground(&mut glb, &paint);
    for side in 0..4 {
        let turn = Quat::from_rotation_y(FRAC_PI_2 * side as f32);
        let parts = one_side(&mut glb, &paint, side);
        glb.group(Place::at(0.0, 0.0, 0.0).turned(turn), &parts);
    }
    fountain(&mut glb, &paint);
    plants(&mut glb, &paint);
    things(&mut glb, &paint);
    glb
}

fn ground(glb: &mut Glb, paint: &Paints) {
    let court = floor([-COURT, -COURT], [COURT, COURT], 0.0).uv(1.0 / 2.6);
    let inlay = floor([-2.4, -2.4], [2.4, 2.4], 0.012).uv(1.0 / 0.8);
    let mut walk = floor([-WALL, COURT], [WALL, WALL], 0.14);
    walk.add(&floor([-WALL, -WALL], [WALL, -COURT], 0.14));
    walk.add(&floor([-WALL, -COURT], [-COURT, COURT], 0.14));
    walk.add(&floor([COURT, -COURT], [WALL, COURT], 0.14));
    let mesh = glb.mesh(&[(&court, paint.floor), (&inlay, paint.glazed), (&walk.uv(1.0 / 2.4), paint.marble)]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);
}

/// One side of the arcade with the wall behind it, at -z.
fn one_side(glb: &mut Glb, paint: &Paints, side: usize) -> Vec<usize> {
    let mut nodes = Vec::new();
    let mut stone = Shape::default();
    let mut white = Shape::default();
    // Kerb, arches, cornice.
    stone.add(&block([-COURT - 0.3, 0.0, -COURT - 0.35], [COURT + 0.3, 0.16, -COURT + 0.1]).uv(0.7));
    for bay in 0..5 {
        white.add(&arch(2.0, EAVES, 0.36, 0.8, SPRING).at(2.0 * bay as f32 - 4.0, 0.0, -COURT - 0.3).uv(0.5));
        let ring: Vec<Vec3> = (0..=24)
            .map(|i| {
                let (s, c) = (PI * i as f32 / 24.0).sin_cos();
                Vec3::new(2.0 * bay as f32 - 4.0 - 0.84 * c, SPRING + 0.84 * s, -COURT + 0.07)
            })
            .collect();
        stone.add(&tube(&ring, |_| 0.05, 8, false));
    }
    stone.add(&block([-COURT - 0.4, EAVES, -COURT - 0.45], [COURT + 0.4, EAVES + 0.12, -COURT + 0.16]).uv(0.7));
    stone.add(&block([-COURT - 0.4, EAVES + 0.12, -COURT - 0.4], [COURT + 0.4, EAVES + 0.2, -COURT + 0.24]).uv(0.7));
    for k in 0..26 {
        let x = -COURT + 0.4 * k as f32;
        white.add(&block([x - 0.05, EAVES - 0.1, -COURT + 0.04], [x + 0.05, EAVES, -COURT + 0.14]));
    }
    let columns = lathe(
        &[
            [0.24, 0.14],
            [0.24, 0.14],
            [0.24, 0.24],
            [0.24, 0.24],
            [0.21, 0.27],
            [0.22, 0.31],
            [0.19, 0.35],
            [0.155, 0.4],
            [0.15, 1.2],
            [0.132, 2.0],
            [0.15, 2.02],
            [0.15, 2.06],
            [0.13, 2.08],
            [0.15, 2.16],
            [0.22, 2.22],
            [0.22, 2.22],
        ],
        20,
    );
    for k in 0..5 {
        let x = 2.0 * k as f32 - 5.0;
        stone.add(&columns.at(x, 0.0, -COURT - 0.12));
        stone.add(&slab(0.52, 0.09, 0.5).at(x, 2.22, -COURT - 0.12).uv(0.7));
        stone.add(&slab(0.54, 0.12, 0.54).at(x, 0.13, -COURT - 0.12).uv(0.7));
    }
    // The roof: tiles in rows on a slope from the wall to the eaves.
    let (low, high) = (Vec3::new(0.0, EAVES + 0.22, -COURT + 0.32), Vec3::new(0.0, 4.7, -WALL));
    let slope = (high - low).length();
    let tilt = Quat::from_rotation_x(((high.y - low.y) / slope).asin());
    let tile = lathe(&[[0.11, 0.0], [0.085, 0.5]], 10);
    let tile = {
        // Half of it, lying down.
        let mut t = tile.turned(Quat::from_rotation_x(-FRAC_PI_2));
        t.triangles.retain(|k| k.iter().map(|i| t.positions[*i as usize].y).sum::<f32>() > -0.02);
        t
    };
    let mut tiles = Vec::new();
    let mut random = Random::new(40 + side as u32);
    let rows = 8;
    for row in 0..rows {
        let f = row as f32 / rows as f32;
        let at = low.lerp(high, f);
        let half = COURT + (WALL - COURT) * f + 0.2;
        let count = (half / 0.21) as i32;
        for k in -count..=count {
            let wobble = Quat::from_rotation_y(random.range(-0.05, 0.05));
            let x = 0.21 * k as f32;
            tiles.push(Place::at(x, at.y + 0.02 + random.range(0.0, 0.012), at.z).turned(tilt * wobble));
        }
    }
    let tile = glb.mesh(&[(&tile.uv(0.8), paint.clay)]);
    nodes.push(glb.instances(tile, &tiles));
    let mut under = Shape::default();
    let c = [
        Vec3::new(-COURT - 0.2, low.y, low.z),
        Vec3::new(COURT + 0.2, low.y, low.z),
        Vec3::new(WALL, high.y, high.z),
        Vec3::new(-WALL, high.y, high.z),
    ];
    under.quad(c, c.map(|p| Vec2::new(p.x, p.z)));
    // Ceiling and beams of the walk.
    let mut wood = block([-WALL, EAVES - 0.02, -WALL], [WALL, EAVES + 0.02, -COURT - 0.3]).uv(0.8);
    for k in 0..13 {
        let x = -6.0 + k as f32;
        wood.add(&block([x - 0.07, EAVES - 0.2, -WALL], [x + 0.07, EAVES, -COURT - 0.3]).uv(0.8));
    }
    // The wall: brick below, plaster above, with windows, a string course and a cornice.
    let brick = panel(2.0 * WALL, 0.14, 1.15).at(0.0, 0.0, -WALL).uv(1.0 / 1.35);
    let wall = panel(2.0 * WALL, 1.15, 7.2).at(0.0, 0.0, -WALL).uv(0.25);
    stone.add(&block([-WALL, 1.12, -WALL], [WALL, 1.24, -WALL + 0.07]).uv(0.7));
    stone.add(&block([-WALL, 4.72, -WALL], [WALL, 4.86, -WALL + 0.1]).uv(0.7));
    stone.add(&block([-WALL, 7.0, -WALL - 0.3], [WALL, 7.3, -WALL + 0.35]).uv(0.7));
    let (mut shutters, mut dark) = (Shape::default(), Shape::default());
    for k in 0..5 {
        let x = 3.0 * k as f32 - 6.0;
        stone.add(&block([x - 0.55, 5.1, -WALL], [x + 0.55, 6.6, -WALL + 0.06]).uv(0.7));
        dark.add(&block([x - 0.42, 5.2, -WALL], [x + 0.42, 6.5, -WALL + 0.07]));
        stone.add(&block([x - 0.65, 5.02, -WALL], [x + 0.65, 5.1, -WALL + 0.16]).uv(0.7));
        wood.add(&block([x - 0.03, 5.2, -WALL + 0.06], [x + 0.03, 6.5, -WALL + 0.1]));
        wood.add(&block([x - 0.42, 5.82, -WALL + 0.06], [x + 0.42, 5.88, -WALL + 0.1]));
        for s in [-1.0_f32, 1.0] {
            let open = s * (0.35 + 0.5 * ((k * 3 + side) % 4) as f32 / 3.0);
            let leaf = card(0.44, 1.34).at(s * 0.22, 0.0, 0.0);
            let leaf = leaf.turned(Quat::from_rotation_y(-open)).at(x + s * 0.48, 5.18, -WALL + 0.12);
            shutters.add(&leaf);
        }
    }
    // A door.
    if side.is_multiple_of(2) {
        wood.add(&block([-0.75, 0.14, -WALL], [0.75, 2.4, -WALL + 0.08]).uv(1.2));
        stone.add(&arch(2.1, 3.3, 0.2, 0.75, 2.4).at(0.0, 0.0, -WALL).uv(0.6));
        for s in [-0.9_f32, 0.9] {
            stone.add(&block([s - 0.15, 0.14, -WALL], [s + 0.15, 2.4, -WALL + 0.2]).uv(0.6));
        }
        let studs = (0..24).map(|k| [0.24 * (k % 6) as f32 - 0.6, 0.5 + 0.5 * (k / 6) as f32]);
        let mut iron = Shape::default();
        for [x, y] in studs {
            iron.add(&ball(0.025, 5).at(x, y, -WALL + 0.08));
        }
        iron.add(&crate::shape::torus(0.09, 0.014, 16, 6).turned(Quat::from_rotation_x(FRAC_PI_2)).at(
            0.2,
            1.25,
            -WALL + 0.12,
        ));
        let mesh = glb.mesh(&[(&iron, paint.iron)]);
        nodes.push(glb.node(Place::at(0.0, 0.0, 0.0), mesh));
    }
    let mesh = glb.mesh(&[
        (&stone, paint.stone),
        (&white, paint.white),
        (&wood, paint.wood),
        (&brick, paint.brick),
        (&wall, paint.plaster),
        (&under, paint.clay),
        (&dark, paint.iron),
    ]);
    nodes.push(glb.node(Place::at(0.0, 0.0, 0.0), mesh));
    let mesh = glb.mesh(&[(&shutters, paint.shutter)]);
    nodes.push(glb.node(Place::at(0.0, 0.0, 0.0), mesh));
    nodes
}

fn fountain(glb: &mut Glb, paint: &Paints) {
    let basin = lathe(
        &[
            [1.5, 0.0],
            [1.5, 0.0],
            [1.5, 0.12],
            [1.5, 0.12],
            [1.36, 0.14],
            [1.32, 0.4],
            [1.42, 0.46],
            [1.42, 0.46],
            [1.42, 0.54],
            [1.42, 0.54],
            [1.2, 0.54],
            [1.2, 0.54],
            [1.2, 0.2],
        ],
        8,
    );
    let stem = lathe(
        &[
            [0.3, 0.2],
            [0.3, 0.45],
            [0.16, 0.6],
            [0.12, 0.9],
            [0.17, 1.0],
            [0.13, 1.08],
            [0.3, 1.2],
            [0.62, 1.36],
            [0.66, 1.42],
            [0.6, 1.41],
            [0.3, 1.3],
            [0.1, 1.28],
            [0.08, 1.5],
            [0.12, 1.6],
            [0.05, 1.7],
        ],
        28,
    );
    let (mut pool, mut bowl) =
        (cylinder(1.22, 0.01, 32).at(0.0, 0.43, 0.0), cylinder(0.6, 0.01, 24).at(0.0, 1.37, 0.0));
    for water in [&mut pool, &mut bowl] {
        for i in 0..water.uvs.len() {
            water.uvs[i] = Vec2::new(water.positions[i].x, water.positions[i].z) * 0.9;
        }
    }
    let mut top = ball(0.12, 12).at(0.0, 1.8, 0.0);
    top.add(&lathe(&[[0.08, 1.68], [0.03, 1.72], [0.06, 1.75]], 12));
    let mesh = glb.mesh(&[
        (&basin.uv(0.8).with(&stem.uv(0.8)), paint.stone),
        (&pool.with(&bowl), paint.water),
        (&top, paint.brass),
    ]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);
    // Threads of water from the bowl.
    let mut jets = Shape::default();
    for k in 0..8 {
        let (s, c) = (TAU * (k as f32 + 0.5) / 8.0).sin_cos();
        let points: Vec<Vec3> = (0..=8)
            .map(|i| {
                let t = i as f32 / 8.0;
                let r = 0.66 + 0.22 * t;
                Vec3::new(r * c, 1.4 + 0.1 * t - 1.06 * t * t, r * s)
            })
            .collect();
        jets.add(&tube(&points, |f| 0.012 - 0.005 * f, 6, false));
    }
    let glass = plain(glb, [0.55, 0.66, 0.7], 0.0, 0.08);
    let mesh = glb.mesh(&[(&jets, glass)]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);
}

fn plants(glb: &mut Glb, paint: &Paints) {
    let mut random = Random::new(7);
    let pot = lathe(
        &[
            [0.0, 0.0],
            [0.3, 0.0],
            [0.3, 0.0],
            [0.36, 0.3],
            [0.42, 0.5],
            [0.47, 0.52],
            [0.47, 0.52],
            [0.47, 0.6],
            [0.47, 0.6],
            [0.4, 0.6],
            [0.4, 0.6],
            [0.37, 0.5],
        ],
        28,
    );
    let soil = cylinder(0.38, 0.02, 20).at(0.0, 0.5, 0.0);
    for (k, (x, z)) in [(-3.4, -3.4), (3.4, -3.4), (3.4, 3.4), (-3.4, 3.4)].into_iter().enumerate() {
        let trunk: Vec<Vec3> = (0..=8)
            .map(|i| {
                let f = i as f32 / 8.0;
                Vec3::new(0.06 * (f * 5.0 + k as f32).sin(), 0.5 + 1.25 * f, 0.05 * (f * 4.0).cos())
            })
            .collect();
        let mut wood = tube(&trunk, |f| 0.06 - 0.02 * f, 10, false);
        let mut fruit = Shape::default();
        for _ in 0..9 {
            let d = random.direction();
            let tip = Vec3::new(0.0, 2.2, 0.0) + d * Vec3::new(0.6, 0.5, 0.6);
            wood.add(&tube(
                &[Vec3::new(0.0, 1.7, 0.0), tip * 0.6 + Vec3::new(0.0, 0.75, 0.0), tip],
                |f| 0.025 - 0.018 * f,
                6,
                false,
            ));
        }
        for _ in 0..16 {
            let p = Vec3::new(0.0, 2.15, 0.0) + random.direction() * Vec3::new(0.72, 0.62, 0.72);
            fruit.add(&ball(0.055, 8).at(p.x, p.y, p.z));
        }
        let tint = |s: f32| [0.5 + 0.5 * s, 0.55 + 0.45 * s, 0.4 + 0.4 * s];
        let leaves = crown(Vec3::new(0.82, 0.7, 0.82), 190, 0.42, &mut random, tint).at(0.0, 2.2, 0.0);
        let mesh = glb.mesh(&[
            (&pot.clone().uv(1.2), paint.clay),
            (&soil, paint.earth),
            (&wood.uv(2.0), paint.bark),
            (&leaves, paint.leaves),
            (&fruit, paint.orange),
        ]);
        glb.node(Place::at(x, 0.0, z).turned(Quat::from_rotation_y(k as f32)), mesh);
    }
    // Beds along two sides, with grass and flowers.
    for turn in [0.0, FRAC_PI_2, PI, 3.0 * FRAC_PI_2] {
        let mut stone = Shape::default();
        let (mut tufts, mut flowers) = (Shape::default(), Shape::default());
        let mut soil = Shape::default();
        for s in [-1.0_f32, 1.0] {
            let (a, b) = if s < 0.0 { (-2.75, -1.15) } else { (1.15, 2.75) };
            stone.add(&chamfered(b - a, 0.3, 0.6, 0.03).at((a + b) / 2.0, 0.0, -4.5).uv(0.7));
            soil.add(&floor([a + 0.06, -4.74], [b - 0.06, -4.26], 0.301));
            for _ in 0..46 {
                let (x, z) = (random.range(a + 0.1, b - 0.1), random.range(-4.72, -4.28));
                let size = random.range(0.25, 0.55);
                let turn = Quat::from_rotation_y(random.next() * TAU);
                let shade = random.range(0.55, 1.0);
                tufts.add(&card(size, size).turned(turn).at(x, 0.28, z).colored([shade, shade, 0.8 * shade]));
            }
            for _ in 0..14 {
                let (x, z) = (random.range(a + 0.15, b - 0.15), random.range(-4.7, -4.3));
                let turn = Quat::from_rotation_y(random.next() * TAU) * Quat::from_rotation_x(-0.5);
                let size = random.range(0.12, 0.22);
                let y = random.range(0.4, 0.66);
                let hue = random.next();
                flowers.add(&card(size, size).turned(turn).at(x, y, z).colored([
                    1.0,
                    0.5 + 0.5 * hue,
                    0.6 + 0.4 * hue,
                ]));
            }
        }
        for n in &mut tufts.normals {
            *n = (*n * 0.3 + Vec3::Y).normalize();
        }
        let mesh =
            glb.mesh(&[(&stone, paint.stone), (&soil, paint.earth), (&tufts, paint.grass), (&flowers, paint.petals)]);
        glb.node(Place::at(0.0, 0.0, 0.0).turned(Quat::from_rotation_y(turn)), mesh);
    }
    // Ivy climbs two columns and the wall above them.
    let mut ivy = Shape::default();
    for (x, z, count) in [(-3.0, -COURT - 0.05, 210), (-COURT - 0.1, 1.0, 180)] {
        for _ in 0..count {
            let h = random.next().powf(0.8) * 3.7;
            let spread = 0.2 + if h > 2.3 { 0.55 * (h - 2.3) } else { 0.0 };
            let a = random.next() * TAU;
            let (s, c) = a.sin_cos();
            let along = random.range(-1.0, 1.0) * spread;
            let p = if z < -4.0 {
                Vec3::new(x + if h > 2.3 { along } else { 0.2 * c }, 0.1 + h, z + if h > 2.3 { 0.14 } else { 0.2 * s })
            } else {
                Vec3::new(x + if h > 2.3 { 0.18 } else { 0.2 * c }, 0.1 + h, z + if h > 2.3 { along } else { 0.2 * s })
            };
            let out = if h > 2.3 { if z < -4.0 { Vec3::Z } else { Vec3::X } } else { Vec3::new(c, 0.0, s) };
            let turn = Quat::from_rotation_arc(Vec3::Z, (out + random.direction() * 0.5).normalize())
                * Quat::from_rotation_z(PI + random.range(-0.9, 0.9));
            let size = random.range(0.2, 0.34);
            let tint = random.range(0.5, 1.0);
            ivy.add(&card(size, size).turned(turn).at(p.x, p.y, p.z).colored([tint, tint, 0.8 * tint]));
        }
    }
    let mesh = glb.mesh(&[(&ivy, paint.ivy)]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);
}

/// Where the line of cloths is, and how it is turned.
const LINE: Vec3 = Vec3::new(2.1, 3.3, -2.2);
const LINE_TURN: f32 = -0.62;
/// Width and length of a cloth.
const CLOTH: [f32; 2] = [1.3, 1.7];

/// Cloths over a line across a corner, which the wind swings as a whole and in waves (a morph target each); the line.
fn cloths(glb: &mut Glb, paint: &Paints, channels: &mut Vec<Channel>) -> Shape {
    let turn = Quat::from_rotation_y(LINE_TURN);
    let place = |x: f32| turn * Vec3::new(x, 0.0, 0.0) + LINE;
    let [width, length] = CLOTH;
    for (k, x) in [-2.9_f32, -1.35, 0.2, 1.75].into_iter().enumerate() {
        let k = k as f32;
        let wave = |phase: f32| {
            let mut cloth = terrain(width, 18, |_, _| 0.0);
            for i in 0..cloth.positions.len() {
                let p = cloth.positions[i];
                let hang = p.z / width + 0.5;
                let z = hang * 0.14 * ((p.x * 4.0 + phase + hang * 2.0).sin() + 0.4 * (p.x * 9.0 - phase).cos());
                cloth.positions[i] = Vec3::new(p.x, -length * hang, z);
                let slope =
                    hang * 0.14 * (4.0 * (p.x * 4.0 + phase + hang * 2.0).cos() - 3.6 * (p.x * 9.0 - phase).sin());
                cloth.normals[i] = Vec3::new(-slope, 0.1, 1.0).normalize();
                cloth.uvs[i] = Vec2::new(p.x / width + 0.5, hang);
            }
            cloth
        };
        let (rest, other) = (wave(k), wave(k + 2.2));
        let mut cloth = rest.clone();
        let difference = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| *a - *b).collect::<Vec<_>>();
        cloth.targets =
            vec![(difference(&other.positions, &rest.positions), difference(&other.normals, &rest.normals))];
        let mesh = glb.mesh(&[(&cloth, paint.cloth)]);
        let at = place(x);
        let node = glb.node(Place::at(at.x, at.y, at.z).turned(turn), mesh);
        let steps = 24;
        channels.push(Channel {
            node,
            path: "weights",
            times: (0..=steps).map(|i| i as f32 * 6.0 / steps as f32).collect(),
            values: crate::glb::Values::Weights(
                (0..=steps).map(|i| [0.5 + 0.5 * (TAU * (2.0 * i as f32 / steps as f32) + k).sin()]).collect(),
            ),
        });
        // As long as a cloth is, it swings once in two seconds; gusts come and go.
        channels.push(Channel::turns(node, 6.0, 72, move |f| {
            let gust = 0.75 + 0.25 * (TAU * f + k).sin();
            let out = gust * 0.42 * (TAU * 3.0 * f + 0.7 * k).sin() - 0.12;
            let aside = 0.025 * (TAU * 2.0 * f + 1.3 * k).sin();
            turn * Quat::from_rotation_z(aside) * Quat::from_rotation_x(out)
        }));
    }
    tube(&[place(-4.1), place(3.6)], |_| 0.008, 5, false)
}

fn things(glb: &mut Glb, paint: &Paints) {
    // Lanterns that hang in the arches.
    let mut iron = Shape::default();
    let mut glow = Shape::default();
    iron.add(&cylinder(0.008, 0.55, 6).at(0.0, -0.55, 0.0));
    iron.add(&lathe(&[[0.0, -0.52], [0.13, -0.62], [0.13, -0.64], [0.0, -0.64]], 8));
    iron.add(&lathe(&[[0.0, -0.95], [0.1, -0.95], [0.1, -0.92], [0.0, -0.92]], 8));
    for k in 0..6 {
        let (s, c) = (TAU * k as f32 / 6.0).sin_cos();
        iron.add(&tube(
            &[Vec3::new(0.11 * c, -0.63, 0.11 * s), Vec3::new(0.09 * c, -0.93, 0.09 * s)],
            |_| 0.006,
            5,
            false,
        ));
    }
    glow.add(&ball(0.06, 10).at(0.0, -0.78, 0.0));
    let lantern = glb.mesh(&[(&iron, paint.iron), (&glow, paint.glow)]);
    let mut channels = Vec::new();
    for side in 0..4 {
        for (k, bay) in [-2.0_f32, 0.0, 2.0].into_iter().enumerate() {
            let turn = Quat::from_rotation_y(FRAC_PI_2 * side as f32);
            let at = turn * Vec3::new(2.0 * bay, 3.08, -COURT - 0.12);
            let node = glb.node(Place::at(at.x, at.y, at.z), lantern);
            let phase = 1.7 * side as f32 + 2.3 * k as f32;
            let swing = move |f: f32| {
                let a = 0.1 * (TAU * (2.0 * f) + phase).sin();
                let b = 0.06 * (TAU * (3.0 * f) + phase * 2.0).sin();
                Quat::from_rotation_x(a) * Quat::from_rotation_z(b)
            };
            channels.push(Channel::turns(node, 6.0, 48, swing));
        }
    }
    let line = cloths(glb, paint, &mut channels);
    let mut wood = Shape::default();
    for (x, z, a) in [(-2.0, 3.9, 0.0), (4.1, 1.0, FRAC_PI_2)] {
        let mut bench = slab(1.5, 0.05, 0.42).at(0.0, 0.42, 0.0);
        for s in [-0.6_f32, 0.6] {
            bench.add(&slab(0.07, 0.42, 0.36).at(s, 0.0, 0.0));
        }
        for y in [0.62_f32, 0.8] {
            bench.add(&slab(1.5, 0.12, 0.035).at(0.0, y, -0.19));
        }
        wood.add(&bench.uv(1.3).turned(Quat::from_rotation_y(a + PI)).at(x, 0.0, z));
    }
    let jar = lathe(
        &[
            [0.0, 0.0],
            [0.13, 0.0],
            [0.13, 0.0],
            [0.26, 0.28],
            [0.28, 0.46],
            [0.2, 0.66],
            [0.1, 0.74],
            [0.1, 0.82],
            [0.15, 0.86],
            [0.13, 0.88],
            [0.08, 0.84],
        ],
        24,
    );
    let mut clay = Shape::default();
    for (x, z, s) in [
        (-4.3, -1.2, 1.0),
        (-4.45, -0.6, 0.75),
        (-4.0, -0.75, 0.55),
        (4.4, -1.6, 0.9),
        (1.7, 4.4, 0.8),
        (2.2, 4.5, 1.05),
    ] {
        clay.add(&jar.moved(glam::Affine3A::from_scale(Vec3::splat(s))).at(x, 0.0, z));
    }
    let mesh = glb.mesh(&[(&wood, paint.wood), (&clay.uv(1.5), paint.clay), (&line, paint.iron)]);
    glb.node(Place::at(0.0, 0.0, 0.0), mesh);
    glb.animation(&channels);
}
