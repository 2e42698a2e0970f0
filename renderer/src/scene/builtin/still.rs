//! What stands still: ground, walls, fence, pedestals, furniture.

use super::{Animation, Builder, Paint, ball, block, column, rod};
use crate::scene::Shape;
use crate::transform::Rigid;
use glam::Vec3;

fn at(x: f32, z: f32, turn: f32) -> Animation {
    Animation::still(Rigid::turned(Vec3::new(x, 0.0, z), turn))
}

pub(super) fn add(build: &mut Builder) {
    build.add("ground", at(0.0, 0.0, 0.0), vec![(Shape::Ground, Paint::Paving)]);
    build.add(
        "brick wall",
        at(-1.2, -8.2, 0.0),
        vec![
            (block([0.0, 1.2, 0.0], [11.0, 2.4, 0.45]), Paint::Brick),
            (block([0.0, 2.48, 0.0], [11.3, 0.16, 0.62]), Paint::Stone),
            (block([-5.6, 1.5, 0.0], [0.7, 3.0, 0.7]), Paint::Plaster),
            (block([5.6, 1.5, 0.0], [0.7, 3.0, 0.7]), Paint::Plaster),
            (ball([-5.6, 3.3, 0.0], 0.32), Paint::Stone),
            (ball([5.6, 3.3, 0.0], 0.32), Paint::Stone),
        ],
    );
    slats(build);
    fence(build);
    build.add(
        "sculpture pedestal",
        at(0.0, -1.6, 0.0),
        vec![
            (column([0.0, 0.0, 0.0], [0.0, 0.14, 0.0], 1.25), Paint::Stone),
            (column([0.0, 0.14, 0.0], [0.0, 0.42, 0.0], 0.8), Paint::Tower),
            (column([0.0, 0.42, 0.0], [0.0, 0.72, 0.0], 0.1), Paint::Brass),
        ],
    );
    build.add(
        "cube pedestal",
        at(-3.3, 1.0, 0.35),
        vec![
            (block([0.0, 0.35, 0.0], [0.9, 0.7, 0.9]), Paint::Tower),
            (block([0.0, 0.73, 0.0], [1.04, 0.08, 1.04]), Paint::Stone),
        ],
    );
    build.add(
        "bench",
        at(2.7, 2.5, -0.35),
        vec![
            (block([0.0, 0.46, 0.0], [1.7, 0.07, 0.52]), Paint::Oak),
            (block([-0.65, 0.21, 0.0], [0.09, 0.43, 0.44]), Paint::Iron),
            (block([0.65, 0.21, 0.0], [0.09, 0.43, 0.44]), Paint::Iron),
            // A book, a box and an apple on it.
            (block([-0.42, 0.525, 0.02], [0.42, 0.06, 0.3]), Paint::Page),
            (block([0.25, 0.62, -0.05], [0.26, 0.25, 0.26]), Paint::FineLines),
            (ball([0.6, 0.575, 0.08], 0.08), Paint::RedGloss),
        ],
    );
    build.add(
        "balls",
        at(0.0, 0.0, 0.0),
        vec![
            (ball([-1.55, 0.42, 2.25], 0.42), Paint::Chrome),
            (ball([-2.25, 0.2, 2.85], 0.2), Paint::RedGloss),
            (ball([-0.95, 0.15, 2.95], 0.15), Paint::BlueGloss),
        ],
    );
    build.add(
        "notice board",
        at(-5.9, 0.2, 0.75),
        vec![
            (block([0.0, 1.35, 0.0], [1.5, 1.0, 0.05]), Paint::Page),
            (block([0.0, 1.88, 0.0], [1.62, 0.07, 0.1]), Paint::DarkWood),
            (block([0.0, 0.82, 0.0], [1.62, 0.07, 0.1]), Paint::DarkWood),
            (block([-0.78, 0.95, 0.0], [0.07, 1.9, 0.1]), Paint::DarkWood),
            (block([0.78, 0.95, 0.0], [0.07, 1.9, 0.1]), Paint::DarkWood),
        ],
    );
    build.add(
        "lantern frame",
        at(4.6, 0.5, -0.5),
        vec![
            (block([0.0, 1.35, 0.0], [0.13, 2.7, 0.13]), Paint::DarkWood),
            (block([-0.55, 2.66, 0.0], [1.3, 0.1, 0.1]), Paint::DarkWood),
            (rod([-0.05, 1.95, 0.0], [-0.62, 2.6, 0.0], 0.035), Paint::DarkWood),
            (block([0.0, 0.08, 0.0], [0.5, 0.16, 0.5]), Paint::Stone),
        ],
    );
    build.add(
        "mill tower",
        at(3.9, -4.0, -0.3),
        vec![
            (column([0.0, 0.0, 0.0], [0.0, 0.3, 0.0], 0.75), Paint::Stone),
            (column([0.0, 0.3, 0.0], [0.0, 3.2, 0.0], 0.32), Paint::Tower),
            (ball([0.0, 3.2, 0.0], 0.34), Paint::Copper),
        ],
    );
    build.add(
        "far houses",
        at(0.0, -26.0, 0.0),
        vec![
            (block([-17.0, 3.5, 0.0], [8.0, 7.0, 5.0]), Paint::Facade),
            (block([-8.5, 5.0, -5.0], [5.0, 10.0, 5.0]), Paint::FacadeWarm),
            (block([1.0, 3.2, -2.0], [8.0, 6.4, 5.0]), Paint::Facade),
            (block([9.5, 6.0, -6.0], [5.5, 12.0, 5.0]), Paint::FacadeWarm),
            (block([18.0, 4.0, 1.0], [8.0, 8.0, 6.0]), Paint::Facade),
        ],
    );
}

/// A screen of thin upright slats.
fn slats(build: &mut Builder) {
    let mut shapes = vec![
        (block([0.0, 2.2, 0.0], [3.2, 0.1, 0.12]), Paint::Oak),
        (block([0.0, 0.2, 0.0], [3.2, 0.1, 0.12]), Paint::Oak),
    ];
    for i in 0..14_u8 {
        let x = -1.52 + 0.234 * f32::from(i);
        shapes.push((block([x, 1.2, 0.0], [0.055, 2.0, 0.08]), Paint::Oak));
    }
    build.add("slat screen", at(6.9, -3.6, -0.95), shapes);
}

/// Wire mesh between iron posts.
fn fence(build: &mut Builder) {
    let mesh =
        |x: f32| Shape::Lattice { centre: Vec3::new(x, 0.85, 0.0), half: [1.35, 0.72], pitch: 0.12, wire: 0.014 };
    let post = |x: f32| rod([x, 0.0, 0.0], [x, 1.75, 0.0], 0.04);
    build.add(
        "fence",
        at(-6.6, -4.0, 1.0),
        vec![
            (mesh(-1.4), Paint::Iron),
            (mesh(1.4), Paint::Iron),
            (post(-2.8), Paint::Iron),
            (post(0.0), Paint::Iron),
            (post(2.8), Paint::Iron),
            (rod([-2.8, 1.6, 0.0], [2.8, 1.6, 0.0], 0.022), Paint::Iron),
        ],
    );
}
