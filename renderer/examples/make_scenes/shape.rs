//! Triangle shapes in code.

use crate::noise::Random;
use glam::{Affine3A, Quat, Vec2, Vec3};
use std::f32::consts::{PI, TAU};

/// Triangles with everything that a glTF primitive has. Texture coordinates are in metres unless said otherwise.
#[derive(Clone, Default)]
pub struct Shape {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub uvs: Vec<Vec2>,
    pub colors: Vec<[u8; 4]>,
    pub triangles: Vec<[u32; 3]>,
    pub bindings: Vec<([u8; 4], [f32; 4])>,
    pub targets: Vec<(Vec<Vec3>, Vec<Vec3>)>,
}

impl Shape {
    pub fn push(&mut self, position: Vec3, normal: Vec3, uv: Vec2) -> u32 {
        self.positions.push(position);
        self.normals.push(normal);
        self.uvs.push(uv);
        self.colors.push([255; 4]);
        self.positions.len() as u32 - 1
    }

    /// A flat four-sided face, counter-clockwise, with its texture coordinates.
    pub fn quad(&mut self, corners: [Vec3; 4], uvs: [Vec2; 4]) {
        let n = (corners[1] - corners[0]).cross(corners[3] - corners[0]).normalize_or(Vec3::Y);
        let i: Vec<u32> = corners.into_iter().zip(uvs).map(|(p, uv)| self.push(p, n, uv)).collect();
        self.triangles.extend([[i[0], i[1], i[2]], [i[0], i[2], i[3]]]);
    }

    /// The same moved.
    pub fn moved(&self, by: Affine3A) -> Self {
        let mut out = self.clone();
        let normal = by.matrix3.inverse().transpose();
        out.positions.iter_mut().for_each(|p| *p = by.transform_point3(*p));
        out.normals.iter_mut().for_each(|n| *n = (normal * *n).normalize_or(Vec3::Y));
        out
    }

    pub fn at(&self, x: f32, y: f32, z: f32) -> Self {
        self.moved(Affine3A::from_translation(Vec3::new(x, y, z)))
    }

    pub fn turned(&self, turn: Quat) -> Self {
        self.moved(Affine3A::from_quat(turn))
    }

    /// The same with texture coordinates times a factor.
    pub fn uv(mut self, by: f32) -> Self {
        self.uvs.iter_mut().for_each(|uv| *uv *= by);
        self
    }

    /// The same in a colour (linear).
    pub fn colored(mut self, color: [f32; 3]) -> Self {
        let c = color.map(|v| (v * 255.0).round().clamp(0.0, 255.0) as u8);
        self.colors.iter_mut().for_each(|old| *old = [c[0], c[1], c[2], 255]);
        self
    }

    pub fn add(&mut self, other: &Self) {
        let base = self.positions.len() as u32;
        self.positions.extend(&other.positions);
        self.normals.extend(&other.normals);
        self.uvs.extend(&other.uvs);
        self.colors.extend(&other.colors);
        self.bindings.extend(&other.bindings);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|i| i + base)));
    }

    pub fn with(mut self, other: &Self) -> Self {
        self.add(other);
        self
    }
}

/// A box between two corners.
pub fn block(low: [f32; 3], high: [f32; 3]) -> Shape {
    let (a, b) = (Vec3::from(low), Vec3::from(high));
    let mut shape = Shape::default();
    for axis in 0..3 {
        for side in [false, true] {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let corner = |du: bool, dv: bool| {
                let mut p = Vec3::ZERO;
                p[axis] = if side { b[axis] } else { a[axis] };
                p[u] = if du { b[u] } else { a[u] };
                p[v] = if dv { b[v] } else { a[v] };
                p
            };
            let mut c = [corner(false, false), corner(true, false), corner(true, true), corner(false, true)];
            if !side {
                c.reverse();
            }
            // Upright faces have v along the height.
            let uv = |p: Vec3| match axis {
                0 => Vec2::new(p.z, -p.y),
                1 => Vec2::new(p.x, p.z),
                _ => Vec2::new(p.x, -p.y),
            };
            shape.quad(c, c.map(uv));
        }
    }
    shape
}

/// A box around a centre at the bottom.
pub fn slab(width: f32, height: f32, depth: f32) -> Shape {
    block([-width / 2.0, 0.0, -depth / 2.0], [width / 2.0, height, depth / 2.0])
}

/// A box with edges cut off, so that they catch light.
pub fn chamfered(width: f32, height: f32, depth: f32, cut: f32) -> Shape {
    let h = Vec3::new(width, height, depth) / 2.0;
    let mut shape = Shape::default();
    let inner = h - cut;
    for axis in 0..3 {
        for side in [-1.0_f32, 1.0] {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let corner = |su: f32, sv: f32| {
                let mut p = Vec3::ZERO;
                p[axis] = side * h[axis];
                p[u] = su * inner[u];
                p[v] = sv * inner[v];
                p
            };
            let mut c = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            if side < 0.0 {
                c.reverse();
            }
            let uv = |p: Vec3| match axis {
                0 => Vec2::new(p.z, -p.y),
                1 => Vec2::new(p.x, p.z),
                _ => Vec2::new(p.x, -p.y),
            };
            shape.quad(c, c.map(uv));
        }
    }
    // Edges between the faces of two axes, and the corners.
    for a in 0..3 {
        let b = (a + 1) % 3;
        let c = (a + 2) % 3;
        for sa in [-1.0_f32, 1.0] {
            for sb in [-1.0_f32, 1.0] {
                let point = |on_a: bool, sc: f32| {
                    let mut p = Vec3::ZERO;
                    p[a] = sa * if on_a { h[a] } else { inner[a] };
                    p[b] = sb * if on_a { inner[b] } else { h[b] };
                    p[c] = sc * inner[c];
                    p
                };
                let mut q = [point(true, -1.0), point(false, -1.0), point(false, 1.0), point(true, 1.0)];
                if sa * sb < 0.0 {
                    q.reverse();
                }
                shape.quad(q, q.map(|p| Vec2::new(p.x + p.z, -p.y)));
            }
        }
    }
    for i in 0..8_u32 {
        let s = Vec3::from_array([0, 1, 2].map(|k| if i >> k & 1 == 0 { -1.0 } else { 1.0 }));
        let mut t = [0, 1, 2].map(|k| {
            let mut p = s * inner;
            p[k] = s[k] * h[k];
            p
        });
        if s.x * s.y * s.z < 0.0 {
            t.reverse();
        }
        let n = s.normalize();
        let i: Vec<u32> = t.into_iter().map(|p| shape.push(p, n, Vec2::new(p.x + p.z, -p.y))).collect();
        shape.triangles.push([i[0], i[1], i[2]]);
    }
    shape.at(0.0, h.y, 0.0)
}

/// A profile (radius, height) turned about the y axis. Profile points closer than a hair to a repeated one make a
/// sharp edge.
pub fn lathe(profile: &[[f32; 2]], sides: usize) -> Shape {
    let mut shape = Shape::default();
    let mut along = 0.0;
    for pair in profile.windows(2) {
        let ([r0, y0], [r1, y1]) = (pair[0], pair[1]);
        let length = (r1 - r0).hypot(y1 - y0);
        if length < 1e-6 {
            continue;
        }
        let radius = r0.max(r1).max(1e-3);
        let base = shape.positions.len() as u32;
        for i in 0..=sides {
            let f = i as f32 / sides as f32;
            let (s, c) = (f * TAU).sin_cos();
            let n = Vec3::new((y1 - y0) * c, r0 - r1, (y1 - y0) * s).normalize();
            for ([r, y], v) in [([r0, y0], along), ([r1, y1], along + length)] {
                shape.push(Vec3::new(r * c, y, r * s), n, Vec2::new(f * TAU * radius, -v));
            }
        }
        for i in 0..sides as u32 {
            let [a, b, c, d] = [base + 2 * i, base + 2 * i + 1, base + 2 * i + 2, base + 2 * i + 3];
            shape.triangles.extend([[a, b, d], [a, d, c]]);
        }
        along += length;
    }
    smooth_rings(&mut shape, profile, sides);
    shape
}

/// Averages normals of rings that meet at a shallow angle.
fn smooth_rings(shape: &mut Shape, profile: &[[f32; 2]], sides: usize) {
    let kept: Vec<_> = profile.windows(2).filter(|p| (p[1][0] - p[0][0]).hypot(p[1][1] - p[0][1]) >= 1e-6).collect();
    let ring = 2 * (sides + 1);
    for k in 1..kept.len() {
        for i in 0..=sides {
            let (before, after) = ((k - 1) * ring + 2 * i + 1, k * ring + 2 * i);
            let (a, b) = (shape.normals[before], shape.normals[after]);
            if a.dot(b) > 0.6 && (shape.positions[before] - shape.positions[after]).length() < 1e-5 {
                let n = (a + b).normalize();
                (shape.normals[before], shape.normals[after]) = (n, n);
            }
        }
    }
}

/// A cylinder upright on the origin, with ends.
pub fn cylinder(radius: f32, height: f32, sides: usize) -> Shape {
    lathe(&[[0.0, 0.0], [radius, 0.0], [radius, 0.0], [radius, height], [radius, height], [0.0, height]], sides)
}

/// A ball; texture coordinates go once around, and once from pole to pole.
pub fn ball(radius: f32, rings: usize) -> Shape {
    let mut shape = Shape::default();
    let sides = 2 * rings;
    for j in 0..=rings {
        let (sv, cv) = (PI * j as f32 / rings as f32).sin_cos();
        for i in 0..=sides {
            let (su, cu) = (TAU * i as f32 / sides as f32).sin_cos();
            let n = Vec3::new(sv * cu, cv, sv * su);
            shape.push(n * radius, n, Vec2::new(i as f32 / sides as f32, j as f32 / rings as f32));
        }
    }
    let row = sides as u32 + 1;
    for j in 0..rings as u32 {
        for i in 0..sides as u32 {
            let a = j * row + i;
            let (b, c, d) = (a + 1, a + row, a + row + 1);
            if j > 0 {
                shape.triangles.push([a, b, c]);
            }
            if j + 1 < rings as u32 {
                shape.triangles.push([b, d, c]);
            }
        }
    }
    shape
}

/// A ring about the y axis.
pub fn torus(radius: f32, thickness: f32, sides: usize, around: usize) -> Shape {
    let closed: Vec<Vec3> = (0..=sides)
        .map(|i| {
            let (s, c) = (TAU * i as f32 / sides as f32).sin_cos();
            Vec3::new(radius * c, 0.0, radius * s)
        })
        .collect();
    tube(&closed, |_| thickness, around, true)
}

/// A tube along points, with a radius at each part of its length.
pub fn tube(points: &[Vec3], radius: impl Fn(f32) -> f32, around: usize, closed: bool) -> Shape {
    let mut shape = Shape::default();
    let count = points.len();
    let mut along = 0.0;
    let mut side = Vec3::ZERO;
    for (i, p) in points.iter().enumerate() {
        let before = if i > 0 {
            points[i - 1]
        } else if closed {
            points[count - 2]
        } else {
            *p
        };
        let after = if i + 1 < count {
            points[i + 1]
        } else if closed {
            points[1]
        } else {
            *p
        };
        let forward = (after - before).normalize_or(Vec3::Y);
        if i == 0 {
            side = forward.any_orthonormal_vector();
        }
        side = (side - forward * side.dot(forward)).normalize_or(forward.any_orthonormal_vector());
        let up = forward.cross(side);
        let r = radius(i as f32 / (count - 1) as f32);
        if i > 0 {
            along += (*p - points[i - 1]).length();
        }
        for k in 0..=around {
            let f = k as f32 / around as f32;
            let (s, c) = (f * TAU).sin_cos();
            let n = side * c + up * s;
            shape.push(*p + n * r, n, Vec2::new(f * TAU * r, along));
        }
    }
    let row = around as u32 + 1;
    for j in 0..count as u32 - 1 {
        for i in 0..around as u32 {
            let a = j * row + i;
            shape.triangles.extend([[a, a + 1, a + row], [a + 1, a + row + 1, a + row]]);
        }
    }
    shape
}

/// A grid in the xz plane facing up, with a height at each place.
pub fn terrain(size: f32, cells: usize, height: impl Fn(f32, f32) -> f32) -> Shape {
    let mut shape = Shape::default();
    let step = size / cells as f32;
    let e = step * 0.5;
    for j in 0..=cells {
        for i in 0..=cells {
            let (x, z) = (i as f32 * step - size / 2.0, j as f32 * step - size / 2.0);
            let n = Vec3::new(height(x - e, z) - height(x + e, z), 2.0 * e, height(x, z - e) - height(x, z + e));
            shape.push(Vec3::new(x, height(x, z), z), n.normalize(), Vec2::new(x, z));
        }
    }
    let row = cells as u32 + 1;
    for j in 0..cells as u32 {
        for i in 0..cells as u32 {
            let a = j * row + i;
            shape.triangles.extend([[a, a + row, a + 1], [a + 1, a + row, a + row + 1]]);
        }
    }
    shape
}

/// A wall panel with a round arch: `width` x `height`, with an opening of `radius` whose arch begins at `spring`,
/// centred on x = 0, from z = 0 to `depth`.
pub fn arch(width: f32, height: f32, depth: f32, radius: f32, spring: f32) -> Shape {
    let mut shape = Shape::default();
    let steps = 20;
    let point = |i: usize| {
        let (s, c) = (PI * i as f32 / steps as f32).sin_cos();
        Vec2::new(-radius * c, spring + radius * s)
    };
    let uv = |p: Vec3| Vec2::new(p.x, -p.y);
    for (z, front) in [(depth, true), (0.0, false)] {
        let mut face = |corners: [Vec2; 4]| {
            let mut c = corners.map(|p| Vec3::new(p.x, p.y, z));
            if !front {
                c.reverse();
            }
            shape.quad(c, c.map(uv));
        };
        for i in 0..steps {
            let (a, b) = (point(i), point(i + 1));
            face([a, b, Vec2::new(b.x, height), Vec2::new(a.x, height)]);
        }
        let h = width / 2.0;
        face([Vec2::new(-h, spring), Vec2::new(-radius, spring), Vec2::new(-radius, height), Vec2::new(-h, height)]);
        face([Vec2::new(radius, spring), Vec2::new(h, spring), Vec2::new(h, height), Vec2::new(radius, height)]);
    }
    // The inside of the arch.
    for i in 0..steps {
        let (a, b) = (point(i), point(i + 1));
        let c = [(b, 0.0), (a, 0.0), (a, depth), (b, depth)].map(|(p, z): (Vec2, f32)| Vec3::new(p.x, p.y, z));
        let normal = |p: Vec3| (Vec3::new(0.0, spring, p.z) - p).normalize();
        let arc = |p: Vec3| Vec2::new(p.z, (p.x / radius).clamp(-1.0, 1.0).acos() * radius);
        let k: Vec<u32> = c.into_iter().map(|p| shape.push(p, normal(p), arc(p))).collect();
        shape.triangles.extend([[k[0], k[2], k[1]], [k[0], k[3], k[2]]]);
    }
    let h = width / 2.0;
    for x in [(-h, -radius), (radius, h)] {
        let c = [(x.0, 0.0), (x.1, 0.0), (x.1, depth), (x.0, depth)].map(|(x, z): (f32, f32)| Vec3::new(x, spring, z));
        shape.quad(c, c.map(|p| Vec2::new(p.x, p.z)));
    }
    shape
}

/// A card facing z, its bottom at the origin, the whole picture on it.
pub fn card(width: f32, height: f32) -> Shape {
    let mut shape = Shape::default();
    let x = width / 2.0;
    let corners = [[-x, 0.0], [x, 0.0], [x, height], [-x, height]].map(|[x, y]| Vec3::new(x, y, 0.0));
    shape.quad(corners, [Vec2::new(0.0, 1.0), Vec2::ONE, Vec2::X, Vec2::ZERO]);
    shape
}

/// A crown of leaf cards around a centre: normals point outwards, so that it is lit as one body.
pub fn crown(radius: Vec3, cards: usize, size: f32, random: &mut Random, tint: impl Fn(f32) -> [f32; 3]) -> Shape {
    let mut shape = Shape::default();
    for _ in 0..cards {
        let out = random.direction();
        let depth = random.next().powf(0.35);
        let centre = out * radius * depth;
        let turn = Quat::from_rotation_arc(Vec3::Z, (out + random.direction() * 0.9).normalize())
            * Quat::from_rotation_z(random.next() * TAU);
        let s = size * (0.7 + 0.6 * random.next());
        let mut leaf = card(s, s).at(0.0, -s / 2.0, 0.0).turned(turn).at(centre.x, centre.y, centre.z);
        for n in &mut leaf.normals {
            *n = (out * 1.2 + *n * 0.5).normalize();
        }
        let shade = random.next();
        shape.add(&leaf.colored(tint(shade * (0.4 + 0.6 * depth))));
    }
    shape
}
