//! A walking figure: a skeleton, parts made of smooth solids, and a walk.

use crate::glb::{Channel, Glb, Place, Values};
use crate::shape::Shape;
use glam::{Mat4, Quat, Vec2, Vec3};
use std::collections::HashMap;
use std::f32::consts::{PI, TAU};

/// Seconds of a cycle of two steps.
pub const CYCLE: f32 = 1.2;
const COUNT: usize = 19;
/// Joints: parent, and place at rest. The figure looks towards +z; its left is +x.
const JOINTS: [(usize, [f32; 3]); COUNT] = [
    (0, [0.0, 0.95, 0.0]),     // 0 hips
    (0, [0.0, 1.10, 0.0]),     // 1 spine
    (1, [0.0, 1.30, 0.0]),     // 2 chest
    (2, [0.0, 1.50, 0.0]),     // 3 neck
    (3, [0.0, 1.60, 0.01]),    // 4 head
    (2, [0.19, 1.44, 0.0]),    // 5 left arm
    (5, [0.27, 1.18, -0.01]),  // 6 forearm
    (6, [0.33, 0.95, 0.02]),   // 7 hand
    (2, [-0.19, 1.44, 0.0]),   // 8 right arm
    (8, [-0.27, 1.18, -0.01]), // 9
    (9, [-0.33, 0.95, 0.02]),  // 10
    (0, [0.1, 0.92, 0.0]),     // 11 left thigh
    (11, [0.11, 0.50, 0.015]), // 12 shin
    (12, [0.11, 0.09, -0.02]), // 13 foot
    (0, [-0.1, 0.92, 0.0]),    // 14 right thigh
    (14, [-0.11, 0.50, 0.015]),
    (15, [-0.11, 0.09, -0.02]),
    (2, [0.04, 1.47, -0.12]),  // 17 tail of the scarf
    (17, [0.05, 1.25, -0.24]), // 18
];
/// Where the bones that have no joint at their end lead to.
const ENDS: [(usize, [f32; 3]); 5] = [
    (4, [0.0, 1.78, 0.02]),
    (7, [0.345, 0.86, 0.035]),
    (10, [-0.345, 0.86, 0.035]),
    (13, [0.12, 0.03, 0.14]),
    (16, [-0.12, 0.03, 0.14]),
];

fn joint(i: usize) -> Vec3 {
    JOINTS[i].1.into()
}

/// A solid: signed distance in metres.
pub type Solid = Box<dyn Fn(Vec3) -> f32>;

fn capsule(a: [f32; 3], b: [f32; 3], ra: f32, rb: f32) -> Solid {
    let (a, b) = (Vec3::from(a), Vec3::from(b));
    Box::new(move |p| {
        let d = b - a;
        let f = ((p - a).dot(d) / d.length_squared()).clamp(0.0, 1.0);
        (p - a - d * f).length() - (ra + (rb - ra) * f)
    })
}

fn ellipsoid(at: [f32; 3], radii: [f32; 3]) -> Solid {
    let (at, radii) = (Vec3::from(at), Vec3::from(radii));
    Box::new(move |p| {
        let q = (p - at) / radii;
        let (k0, k1) = (q.length(), (q / radii).length().max(1e-6));
        k0 * (k0 - 1.0) / k1
    })
}

fn boxy(at: [f32; 3], half: [f32; 3], round: f32) -> Solid {
    let (at, half) = (Vec3::from(at), Vec3::from(half) - round);
    Box::new(move |p| {
        let q = (p - at).abs() - half;
        q.max(Vec3::ZERO).length() + q.max_element().min(0.0) - round
    })
}

/// All of some solids, melted together over `k` metres.
fn melt(k: f32, solids: Vec<Solid>) -> Solid {
    Box::new(move |p| {
        solids.iter().fold(1e3, |a: f32, solid| {
            let b = solid(p);
            let h = (k - (a - b).abs()).max(0.0) / k;
            a.min(b) - h * h * k * 0.25
        })
    })
}

fn mirrored(solid: Solid) -> Solid {
    Box::new(move |p| solid(Vec3::new(p.x.abs(), p.y, p.z)))
}

fn cut(solid: Solid, by: Solid) -> Solid {
    Box::new(move |p| solid(p).max(-by(p)))
}

/// A part of the figure: its solid, the joints it may follow, and which of the looks it wears.
struct Part {
    solid: Solid,
    follows: Vec<usize>,
    look: usize,
    cell: f32,
}

/// Looks of a figure: materials of its parts.
#[derive(Clone, Copy)]
pub struct Looks {
    pub jacket: usize,
    pub trousers: usize,
    pub boots: usize,
    pub skin: usize,
    pub hair: usize,
    pub hat: usize,
    pub scarf: usize,
    pub pack: usize,
    pub eyes: usize,
}

fn parts() -> Vec<Part> {
    let torso = vec![
        ellipsoid([0.0, 1.28, 0.0], [0.19, 0.25, 0.125]),
        ellipsoid([0.0, 1.05, 0.0], [0.175, 0.19, 0.125]),
        ellipsoid([0.0, 0.9, 0.0], [0.19, 0.1, 0.14]),
    ];
    let sleeves = vec![
        capsule([0.16, 1.44, 0.0], [0.27, 1.18, -0.01], 0.076, 0.062),
        capsule([0.27, 1.18, -0.01], [0.325, 0.97, 0.018], 0.062, 0.05),
    ];
    let cuffs = vec![capsule([0.322, 0.985, 0.016], [0.33, 0.955, 0.02], 0.056, 0.056)];
    let jacket = melt(
        0.05,
        vec![
            melt(0.08, torso),
            mirrored(melt(0.04, sleeves)),
            mirrored(melt(0.01, cuffs)),
            capsule([-0.06, 1.5, -0.01], [0.06, 1.5, -0.01], 0.075, 0.075),
        ],
    );
    let legs = vec![
        capsule([0.1, 0.9, 0.0], [0.11, 0.5, 0.015], 0.1, 0.075),
        capsule([0.11, 0.5, 0.015], [0.11, 0.17, -0.015], 0.076, 0.066),
    ];
    let trousers = melt(0.06, vec![mirrored(melt(0.03, legs)), ellipsoid([0.0, 0.9, 0.0], [0.165, 0.12, 0.12])]);
    let boots = mirrored(melt(
        0.04,
        vec![
            capsule([0.11, 0.2, -0.02], [0.11, 0.09, -0.025], 0.07, 0.066),
            capsule([0.11, 0.055, -0.05], [0.122, 0.05, 0.13], 0.056, 0.052),
            boxy([0.117, 0.012, 0.04], [0.062, 0.018, 0.145], 0.012),
        ],
    ));
    let face = melt(
        0.03,
        vec![
            ellipsoid([0.0, 1.69, 0.015], [0.1, 0.125, 0.112]),
            ellipsoid([0.0, 1.62, 0.04], [0.07, 0.06, 0.075]),
            capsule([0.0, 1.5, 0.0], [0.0, 1.6, 0.0], 0.055, 0.055),
            capsule([0.0, 1.685, 0.12], [0.0, 1.655, 0.142], 0.014, 0.02),
            mirrored(ellipsoid([0.105, 1.67, 0.0], [0.018, 0.034, 0.026])),
        ],
    );
    let hands = mirrored(melt(
        0.02,
        vec![
            ellipsoid([0.34, 0.9, 0.03], [0.028, 0.06, 0.042]),
            capsule([0.33, 0.91, 0.06], [0.335, 0.87, 0.08], 0.015, 0.013),
            capsule([0.345, 0.87, 0.035], [0.345, 0.83, 0.045], 0.03, 0.022),
        ],
    ));
    let hair = cut(
        ellipsoid([0.0, 1.705, -0.005], [0.112, 0.128, 0.12]),
        melt(
            0.02,
            vec![boxy([0.0, 1.62, 0.12], [0.14, 0.125, 0.1], 0.02), boxy([0.0, 1.5, 0.0], [0.2, 0.1, 0.2], 0.02)],
        ),
    );
    let hat = melt(
        0.02,
        vec![
            cut(ellipsoid([0.0, 1.735, 0.0], [0.122, 0.125, 0.13]), boxy([0.0, 1.6, 0.0], [0.3, 0.15, 0.3], 0.01)),
            ellipsoid([0.0, 1.757, 0.13], [0.085, 0.01, 0.07]),
            ellipsoid([0.0, 1.862, 0.0], [0.026, 0.02, 0.026]),
        ],
    );
    let ring: Solid = Box::new(|p: Vec3| {
        let q = Vec3::new(p.x, p.y - 1.525 - 0.1 * p.z, p.z);
        let ripple = 0.006 * (q.x.atan2(q.z) * 9.0).sin();
        Vec2::new(Vec2::new(q.x, q.z * 1.05).length() - 0.085, q.y).length() - 0.042 - ripple
    });
    let tail = melt(
        0.03,
        vec![
            boxy([0.045, 1.37, -0.165], [0.05, 0.12, 0.05], 0.016),
            boxy([0.05, 1.17, -0.27], [0.052, 0.13, 0.018], 0.014),
        ],
    );
    let pack = melt(
        0.015,
        vec![
            boxy([0.0, 1.25, -0.2], [0.15, 0.2, 0.085], 0.05),
            boxy([0.0, 1.17, -0.29], [0.1, 0.085, 0.035], 0.025),
            capsule([-0.13, 1.475, -0.2], [0.13, 1.475, -0.2], 0.05, 0.05),
            mirrored(capsule([0.11, 1.44, -0.13], [0.115, 1.50, 0.0], 0.02, 0.02)),
            mirrored(capsule([0.115, 1.50, 0.0], [0.12, 1.33, 0.128], 0.018, 0.018)),
        ],
    );
    let eyes = mirrored(ellipsoid([0.038, 1.7, 0.115], [0.013, 0.017, 0.01]));
    let part = |solid, follows: &[usize], look, cell| Part { solid, follows: follows.to_vec(), look, cell };
    vec![
        part(jacket, &[0, 1, 2, 5, 6, 8, 9], 0, 0.022),
        part(trousers, &[0, 11, 12, 14, 15], 1, 0.022),
        part(boots, &[12, 13, 15, 16], 2, 0.018),
        part(face, &[3, 4], 3, 0.0155),
        part(hands, &[7, 10], 3, 0.0135),
        part(hair, &[4], 4, 0.018),
        part(hat, &[4], 5, 0.016),
        part(ring, &[3], 6, 0.016),
        part(tail, &[17, 18], 6, 0.018),
        part(pack, &[2], 7, 0.02),
        part(eyes, &[4], 8, 0.008),
    ]
}

/// The bone of a joint.
fn bone(i: usize) -> (Vec3, Vec3) {
    if let Some((_, end)) = ENDS.iter().find(|(k, _)| *k == i) {
        return (joint(i), Vec3::from(*end));
    }
    let child = (i + 1..COUNT).find(|k| JOINTS[*k].0 == i);
    let end = match i {
        0 => Vec3::new(0.0, 1.1, 0.0),
        2 => Vec3::new(0.0, 1.5, 0.0),
        18 => Vec3::new(0.05, 1.05, -0.27),
        _ => child.map_or(joint(i) + Vec3::Y * 0.1, joint),
    };
    (joint(i), end)
}

fn distance(p: Vec3, (a, b): (Vec3, Vec3)) -> f32 {
    let d = b - a;
    let f = ((p - a).dot(d) / d.length_squared().max(1e-9)).clamp(0.0, 1.0);
    (p - a - d * f).length()
}

fn binding(p: Vec3, follows: &[usize]) -> ([u8; 4], [f32; 4]) {
    let mut all: Vec<(f32, usize)> = follows.iter().map(|&i| ((distance(p, bone(i)) + 0.012).powi(-5), i)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.truncate(4);
    let total: f32 = all.iter().map(|(w, _)| w).sum();
    let (mut joints, mut weights) = ([0; 4], [0.0; 4]);
    for (k, (w, i)) in all.into_iter().enumerate() {
        (joints[k], weights[k]) = (i as u8, w / total);
    }
    (joints, weights)
}

/// The surface of a solid between two corners, by surface nets.
fn mesh(solid: &Solid, low: Vec3, high: Vec3, cell: f32) -> Shape {
    let n = ((high - low) / cell).ceil().as_ivec3() + 1;
    let (nx, ny, nz) = (n.x as usize, n.y as usize, n.z as usize);
    let at = |i: usize, j: usize, k: usize| low + Vec3::new(i as f32, j as f32, k as f32) * cell;
    let index = |i: usize, j: usize, k: usize| (k * ny + j) * nx + i;
    let mut values = vec![0.0; nx * ny * nz];
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                values[index(i, j, k)] = solid(at(i, j, k));
            }
        }
    }
    let mut shape = Shape::default();
    let mut vertex = HashMap::new();
    for k in 0..nz - 1 {
        for j in 0..ny - 1 {
            for i in 0..nx - 1 {
                let corner = |c: usize| (i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1));
                let v: Vec<f32> = (0..8)
                    .map(|c| {
                        let (a, b, d) = corner(c);
                        values[index(a, b, d)]
                    })
                    .collect();
                if v.iter().all(|v| *v < 0.0) || v.iter().all(|v| *v >= 0.0) {
                    continue;
                }
                let (mut sum, mut count) = (Vec3::ZERO, 0.0);
                for a in 0..8_usize {
                    for bit in [1, 2, 4] {
                        let b = a | bit;
                        if b == a || (v[a] < 0.0) == (v[b] < 0.0) {
                            continue;
                        }
                        let f = v[a] / (v[a] - v[b]);
                        let p = |c: usize| {
                            let (x, y, z) = corner(c);
                            at(x, y, z)
                        };
                        sum += p(a).lerp(p(b), f);
                        count += 1.0;
                    }
                }
                let mut p = sum / count;
                let e = cell * 0.25;
                let gradient = |p: Vec3| {
                    Vec3::new(
                        solid(p + Vec3::X * e) - solid(p - Vec3::X * e),
                        solid(p + Vec3::Y * e) - solid(p - Vec3::Y * e),
                        solid(p + Vec3::Z * e) - solid(p - Vec3::Z * e),
                    )
                };
                // Onto the surface itself.
                let g = gradient(p) / (2.0 * e);
                p -= g * (solid(p) / g.length_squared().max(0.1)).clamp(-cell * 0.5, cell * 0.5);
                let n = gradient(p).normalize_or(Vec3::Y);
                vertex.insert((i, j, k), shape.push(p, n, Vec2::ZERO));
            }
        }
    }
    let mut quad = |corners: [(usize, usize, usize); 4], turn: bool| {
        let Some(mut v) = corners.iter().map(|c| vertex.get(c).copied()).collect::<Option<Vec<u32>>>() else { return };
        if turn {
            v.reverse();
        }
        shape.triangles.extend([[v[0], v[1], v[2]], [v[0], v[2], v[3]]]);
    };
    for k in 1..nz - 1 {
        for j in 1..ny - 1 {
            for i in 1..nx - 1 {
                let here = values[index(i, j, k)] < 0.0;
                if here != (values[index(i + 1, j, k)] < 0.0) {
                    quad([(i, j - 1, k - 1), (i, j, k - 1), (i, j, k), (i, j - 1, k)], !here);
                }
                if here != (values[index(i, j + 1, k)] < 0.0) {
                    quad([(i - 1, j, k - 1), (i - 1, j, k), (i, j, k), (i, j, k - 1)], !here);
                }
                if here != (values[index(i, j, k + 1)] < 0.0) {
                    quad([(i - 1, j - 1, k), (i, j - 1, k), (i, j, k), (i - 1, j, k)], !here);
                }
            }
        }
    }
    shape
}

/// Texture coordinates around the bone that each triangle follows, in metres.
fn unrolled(shape: &Shape, follows: &[usize]) -> Shape {
    let mut out = Shape::default();
    let mut known: HashMap<(u32, i32, i32), u32> = HashMap::new();
    for t in &shape.triangles {
        let centre = t.iter().map(|i| shape.positions[*i as usize]).sum::<Vec3>() / 3.0;
        let nearest =
            follows.iter().copied().min_by(|a, b| distance(centre, bone(*a)).total_cmp(&distance(centre, bone(*b))));
        let (a, b) = bone(nearest.unwrap_or(0));
        // Torso and head: about the vertical.
        let upright = matches!(nearest, Some(0..=4));
        let axis = if upright { Vec3::Y } else { (b - a).normalize_or(Vec3::Y) };
        let side = Vec3::Z.cross(axis).normalize_or(Vec3::X);
        let front = axis.cross(side);
        let radius = if upright { 0.16 } else { 0.07 };
        let angle = |p: Vec3| (p - a).dot(side).atan2((p - a).dot(front));
        let middle = angle(centre);
        let corners = t.map(|i| {
            let p = shape.positions[i as usize];
            let turn = (angle(p) - middle + PI).rem_euclid(TAU) - PI + middle;
            let uv = Vec2::new(turn * radius, -p.y);
            let key = (i, (uv.x * 2e3) as i32, (uv.y * 2e3) as i32);
            *known.entry(key).or_insert_with(|| out.push(p, shape.normals[i as usize], uv))
        });
        out.triangles.push(corners);
    }
    out
}

/// The figure's parts as shapes with their bindings, and which look each wears.
pub struct Body(Vec<(Shape, usize)>);

impl Body {
    pub fn new() -> Self {
        let made = parts().into_iter().map(|part| {
            let shape = mesh(&part.solid, Vec3::new(-0.45, -0.06, -0.4), Vec3::new(0.45, 1.95, 0.35), part.cell);
            let mut shape = unrolled(&shape, &part.follows);
            shape.bindings = shape.positions.iter().map(|p| binding(*p, &part.follows)).collect();
            (shape, part.look)
        });
        Self(made.collect())
    }

    /// A figure in the asset: its root node, and the joints.
    pub fn add(&self, glb: &mut Glb, looks: Looks, size: f32) -> (usize, Vec<usize>) {
        let Looks { jacket, trousers, boots, skin, hair, hat, scarf, pack, eyes } = looks;
        let wears = [jacket, trousers, boots, skin, hair, hat, scarf, pack, eyes];
        let parts: Vec<(&Shape, usize)> = self.0.iter().map(|(shape, look)| (shape, wears[*look])).collect();
        let mesh = glb.mesh(&parts);
        let joints: Vec<usize> = (0..COUNT)
            .map(|i| {
                let at = if i == 0 { joint(0) } else { joint(i) - joint(JOINTS[i].0) };
                glb.group(Place::at(at.x, at.y, at.z), &[])
            })
            .collect();
        for i in 1..COUNT {
            glb.adopt(joints[JOINTS[i].0], joints[i]);
        }
        let root = glb.group(Place::at(0.0, 0.0, 0.0).scaled(size), &[joints[0]]);
        let node = glb.node(Place::at(0.0, 0.0, 0.0), mesh);
        let rest: Vec<Mat4> = (0..COUNT).map(|i| Mat4::from_translation(joint(i))).collect();
        glb.skin(node, &joints, &rest);
        (root, joints)
    }
}

/// Turns of all joints at a part of the cycle, and the height of the hips.
fn pose(f: f32) -> ([Quat; COUNT], f32) {
    let a = TAU * f;
    let mut turns = [Quat::IDENTITY; COUNT];
    let x = Quat::from_rotation_x;
    let y = Quat::from_rotation_y;
    let z = Quat::from_rotation_z;
    turns[0] = y(-0.1 * a.sin()) * z(0.045 * a.cos());
    turns[1] = x(0.05) * z(-0.035 * a.cos());
    turns[2] = y(0.2 * a.sin()) * x(0.03 + 0.015 * (2.0 * a).cos());
    turns[3] = y(-0.07 * a.sin()) * x(-0.04);
    turns[4] = y(-0.04 * a.sin()) * x(0.02 * (2.0 * a).sin()) * z(0.03 * a.cos());
    for (leg, arm, side, phase) in [(11, 5, 1.0, 0.0), (14, 8, -1.0, PI)] {
        let b = a + phase;
        let lift = (b - 0.35).cos().max(0.0);
        let thigh = -0.08 - 0.5 * b.sin();
        let knee = 0.14 + 0.95 * lift.powf(1.4);
        turns[leg] = x(thigh) * z(0.02 * side);
        turns[leg + 1] = x(knee);
        let push = (-(b + 0.5).sin()).max(0.0).powi(3);
        turns[leg + 2] = x(-(thigh + knee) * 0.75 + 0.45 * push);
        turns[arm] = z(0.08 * side) * x(0.55 * b.sin() + 0.06);
        turns[arm + 1] = x(-0.42 - 0.28 * (0.5 - 0.5 * b.sin()));
        turns[arm + 2] = x(-0.1);
    }
    turns[17] = x(0.14 + 0.12 * (2.0 * a + 0.6).sin()) * z(0.16 * (a + 0.4).sin());
    turns[18] = x(0.1 + 0.2 * (2.0 * a - 0.5).sin()) * z(0.22 * (a - 0.5).sin());
    // The lower foot stands on the ground.
    let mut lowest = f32::MAX;
    for foot in [13, 16] {
        let (shin, thigh) = (foot - 1, foot - 2);
        let q = [turns[0], turns[0] * turns[thigh], turns[0] * turns[thigh] * turns[shin]];
        let at =
            q[0] * (joint(thigh) - joint(0)) + q[1] * (joint(shin) - joint(thigh)) + q[2] * (joint(foot) - joint(shin));
        let last = q[2] * turns[foot];
        for tip in [Vec3::new(0.0, -0.09, -0.08), Vec3::new(0.0, -0.09, 0.17)] {
            lowest = lowest.min((at + last * tip).y);
        }
    }
    (turns, -lowest)
}

/// The walk, on the spot; `phase` is the part of the cycle at time 0.
pub fn walk(joints: &[usize], phase: f32) -> Vec<Channel> {
    let steps = 30;
    let times: Vec<f32> = (0..=steps).map(|i| CYCLE * i as f32 / steps as f32).collect();
    let poses: Vec<_> = (0..=steps).map(|i| pose(i as f32 / steps as f32 + phase)).collect();
    let mut channels: Vec<Channel> = (0..COUNT)
        .map(|i| Channel {
            node: joints[i],
            path: "rotation",
            times: times.clone(),
            values: Values::Turns(poses.iter().map(|(turns, _)| turns[i].to_array()).collect()),
        })
        .collect();
    channels.push(Channel {
        node: joints[0],
        path: "translation",
        times,
        values: Values::Vectors(
            poses
                .iter()
                .enumerate()
                .map(|(k, (_, y))| {
                    let a = TAU * (k as f32 / steps as f32 + phase);
                    [0.018 * a.cos(), *y, 0.0]
                })
                .collect(),
        ),
    });
    channels
}

/// Metres of a cycle: two steps.
pub fn stride() -> f32 {
    // How far the standing foot moves back while it stands, twice.
    let place = |f: f32| {
        let (turns, _) = pose(f);
        let q = [turns[0] * turns[11], turns[0] * turns[11] * turns[12]];
        (q[0] * (joint(12) - joint(11)) + q[1] * (joint(13) - joint(12))).z
    };
    let all: Vec<f32> = (0..60).map(|i| place(i as f32 / 60.0)).collect();
    2.0 * (all.iter().fold(-9.0_f32, |a, b| a.max(*b)) - all.iter().fold(9.0_f32, |a, b| a.min(*b)))
}
