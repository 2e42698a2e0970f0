//! What moves: sculpture, cube, mill, carousel, lantern, ball, plants.

use super::{Animation, Builder, Paint, ball, band, block, column, rod};
use crate::scene::{Joint, Shape};
use crate::transform::Rigid;
use glam::{Quat, Vec3};
use std::f32::consts::TAU;

fn spin(axis: Vec3, rate: f64, phase: f64) -> Joint {
    Joint::Spin { axis, rate, phase }
}

fn fixed(x: f32, y: f32, z: f32) -> Joint {
    Joint::Fixed(Rigid::at(Vec3::new(x, y, z)))
}

pub(super) fn add(build: &mut Builder) {
    gyroscope(build);
    mill(build);
    carousel(build);
    lantern(build);
    reeds(build);
    build.add(
        "tumbling cube",
        Animation(vec![
            fixed(-3.3, 1.62, 1.0),
            Joint::Slide { reach: Vec3::Y * 0.09, rate: 0.3, phase: 0.0 },
            spin(Vec3::Y, 0.11, 0.06),
            spin(Vec3::X, 0.07, 0.11),
        ]),
        vec![(block([0.0; 3], [0.84; 3]), Paint::Checker)],
    );
    build.add(
        "rolling ball",
        Animation::rolling(Vec3::new(0.0, 0.0, -1.6), 2.45, 0.45, 0.07),
        vec![(ball([0.0; 3], 0.45), Paint::BallStripes)],
    );
    build.add(
        "dumb-bell",
        Animation(vec![
            fixed(2.2, 3.1, -0.6),
            spin(Vec3::Y, 0.09, 0.0),
            fixed(0.5, 0.0, 0.0),
            spin(Vec3::Z, 0.31, 0.0),
        ]),
        vec![
            (rod([-0.42, 0.0, 0.0], [0.42, 0.0, 0.0], 0.025), Paint::Chrome),
            (ball([-0.45, 0.0, 0.0], 0.15), Paint::Teal),
            (ball([0.45, 0.0, 0.0], 0.11), Paint::RedGloss),
        ],
    );
}

/// Three nested rings around a glowing core.
fn gyroscope(build: &mut Builder) {
    let centre = fixed(0.0, 2.05, -1.6);
    build.add("core", Animation(vec![centre]), vec![(ball([0.0; 3], 0.3), Paint::Glow)]);
    build.lamp(Vec3::ZERO, 0.3, Paint::Glow);
    let turns = [spin(Vec3::Y, 0.05, 0.1), spin(Vec3::X, 0.085, 0.05), spin(Vec3::Z, 0.14, 0.2)];
    let rings = [
        ("outer ring", 1.32, 0.085, Paint::Copper, Vec3::Z, Vec3::X),
        ("middle ring", 1.06, 0.07, Paint::Brass, Vec3::Y, Vec3::Z),
        ("inner ring", 0.8, 0.06, Paint::Chrome, Vec3::X, Vec3::Y),
    ];
    for (i, (name, radius, half_width, paint, axis, pivot)) in rings.into_iter().enumerate() {
        let mut chain = vec![centre];
        chain.extend_from_slice(&turns[..=i]);
        let ends = |side: f32| {
            let near = pivot * (side * (radius - 0.22));
            let far = pivot * (side * radius);
            rod(near.to_array(), far.to_array(), 0.022)
        };
        build.add(
            name,
            Animation(chain),
            vec![(band(axis, radius, half_width), paint), (ends(1.0), Paint::Iron), (ends(-1.0), Paint::Iron)],
        );
    }
}

/// Six sails on the tower.
fn mill(build: &mut Builder) {
    let facing = Rigid::turned(Vec3::new(3.78, 3.2, -3.55), -0.3);
    let sail = |i: u8| {
        // Boxes lie along the axes, so each pair of sails is an instance of its own.
        let turned = Quat::from_rotation_z(TAU * f32::from(i) / 6.0);
        Animation(vec![Joint::Fixed(facing), spin(Vec3::Z, -0.12, 0.0), Joint::Fixed(Rigid::new(turned, Vec3::ZERO))])
    };
    for i in 0..3 {
        let cloth = if i == 1 { Paint::Canopy } else { Paint::Cream };
        let wing = |side: f32| {
            [
                (block([0.0, side * 0.98, 0.0], [0.05, 1.5, 0.04]), Paint::DarkWood),
                (block([0.17, side * 1.1, 0.0], [0.3, 1.15, 0.012]), cloth),
            ]
        };
        let mut shapes = Vec::from(wing(1.0));
        shapes.extend(wing(-1.0));
        if i == 0 {
            shapes.push((rod([0.0, 0.0, -0.3], [0.0, 0.0, 0.12], 0.09), Paint::Iron));
        }
        build.add("mill sails", sail(i), shapes);
    }
}

/// A roundabout with poles and toys.
fn carousel(build: &mut Builder) {
    let mut shapes = vec![
        (column([0.0, 0.0, 0.0], [0.0, 0.16, 0.0], 1.5), Paint::Oak),
        (column([0.0, 0.16, 0.0], [0.0, 2.0, 0.0], 0.14), Paint::Brass),
        (column([0.0, 1.9, 0.0], [0.0, 2.16, 0.0], 1.55), Paint::Canopy),
        (column([0.0, 2.16, 0.0], [0.0, 2.42, 0.0], 0.9), Paint::Canopy),
        (ball([0.0, 2.55, 0.0], 0.16), Paint::Brass),
    ];
    let toys = [Paint::RedGloss, Paint::Dots, Paint::Teal, Paint::BlueGloss, Paint::Dots, Paint::Cream];
    for (i, paint) in (0_u8..).zip(toys) {
        let (s, c) = (TAU * f32::from(i) / 6.0).sin_cos();
        let (x, z) = (1.22 * c, 1.22 * s);
        shapes.push((rod([x, 0.1, z], [x, 1.95, z], 0.022), Paint::Chrome));
        let y = 0.75 + 0.28 * f32::from(i % 3);
        shapes.push(if i % 2 == 0 {
            (ball([x, y, z], 0.24), paint)
        } else {
            (block([x, y, z], [0.38, 0.38, 0.38]), paint)
        });
    }
    build.add("carousel", Animation(vec![fixed(-3.9, 0.0, -4.3), spin(Vec3::Y, 0.06, 0.0)]), shapes);
}

/// A lamp that swings on a thin rod.
fn lantern(build: &mut Builder) {
    let hook = Rigid::turned(Vec3::new(4.6, 0.0, 0.5), -0.5).point(Vec3::new(-1.05, 2.62, 0.0));
    let bar = |x: f32, z: f32| rod([x, -1.12, z], [x, -0.74, z], 0.012);
    build.add(
        "lantern",
        Animation(vec![
            Joint::Fixed(Rigid::turned(hook, -0.5)),
            Joint::Swing { axis: Vec3::Z, amplitude: 0.38, rate: 0.4, phase: 0.15 },
            Joint::Swing { axis: Vec3::X, amplitude: 0.16, rate: 0.31, phase: 0.4 },
        ]),
        vec![
            (rod([0.0; 3], [0.0, -0.7, 0.0], 0.012), Paint::Iron),
            (ball([0.0, -0.93, 0.0], 0.13), Paint::Lantern),
            (block([0.0, -0.71, 0.0], [0.38, 0.05, 0.38]), Paint::Iron),
            (block([0.0, -1.14, 0.0], [0.34, 0.05, 0.34]), Paint::Iron),
            (bar(-0.15, -0.15), Paint::Iron),
            (bar(0.15, -0.15), Paint::Iron),
            (bar(-0.15, 0.15), Paint::Iron),
            (bar(0.15, 0.15), Paint::Iron),
        ],
    );
    build.lamp(Vec3::new(0.0, -0.93, 0.0), 0.13, Paint::Lantern);
}

/// Thin reeds in a box, in three bunches that sway by themselves.
fn reeds(build: &mut Builder) {
    let (x, z) = (0.9, 3.9);
    build.add(
        "planter",
        Animation::still(Rigid::turned(Vec3::new(x, 0.0, z), 0.2)),
        vec![
            (block([0.0, 0.2, 0.0], [1.0, 0.4, 0.42]), Paint::Oak),
            (block([0.0, 0.41, 0.0], [1.06, 0.04, 0.48]), Paint::DarkWood),
        ],
    );
    for bunch in 0..3_u8 {
        let b = f32::from(bunch);
        let shapes = (0..6_u8).map(|i| {
            let i = f32::from(i);
            // Spread by the golden angle; no two of the same height or lean.
            let (s, c) = (2.4 * (i + 6.0 * b)).sin_cos();
            let (x, z) = (0.13 * c, 0.1 * s);
            let height = 0.5 + 0.09 * i + 0.07 * b;
            let blade: Shape = rod([x, 0.0, z], [x + 0.16 * c + 0.04 * s, height, z + 0.1 * s], 0.009);
            (blade, Paint::Leaf)
        });
        let swing = |axis, amplitude, rate, phase| Joint::Swing { axis, amplitude, rate, phase };
        build.add(
            "reeds",
            Animation(vec![
                Joint::Fixed(Rigid::turned(Vec3::new(x - 0.3 + 0.3 * b, 0.42, z + 0.06 - 0.06 * b), 0.2)),
                swing(Vec3::Z, 0.11, 0.23 + 0.05 * f64::from(bunch), 0.2 * f64::from(bunch)),
                swing(Vec3::X, 0.05, 0.37, 0.3 * f64::from(bunch)),
            ]),
            shapes.collect(),
        );
    }
}
