//! Triangles to pixels.

use egui::epaint::{ImageData, Primitive, Vertex};
use egui::{Color32, ColorImage, Pos2, Rect, TexturesDelta};

use super::Picture;

/// The font atlas, the only texture that charts use.
#[derive(Default)]
pub struct Atlas {
    image: ColorImage,
}

impl Atlas {
    /// Takes over what a layout made or changed.
    pub fn update(&mut self, mut delta: TexturesDelta) {
        for (_, changes) in delta.set.drain() {
            for change in changes {
                let ImageData::Color(image) = &change.image;
                match change.pos {
                    None => self.image = image.as_ref().clone(),
                    Some([x, y]) => self.patch(image, x, y),
                }
            }
        }
        delta.free.clear();
    }

    fn patch(&mut self, part: &ColorImage, x: usize, y: usize) {
        let width = self.image.size[0];
        for (row, pixels) in part.pixels.chunks_exact(part.size[0].max(1)).enumerate() {
            let at = (y + row) * width + x;
            self.image.pixels[at..at + pixels.len()].copy_from_slice(pixels);
        }
    }

    /// The texel at a place; text lies on whole pixels, so none has to be mixed.
    fn texel(&self, uv: Pos2) -> [f32; 4] {
        let [width, height] = self.image.size;
        if width == 0 || height == 0 {
            return [1.0; 4];
        }
        let place = |share: f32, size: usize| ((share * size as f32) as usize).min(size - 1);
        let texel = self.image.pixels[place(uv.y, height) * width + place(uv.x, width)];
        texel.to_array().map(|v| f32::from(v) / 255.0)
    }
}

/// Fills a picture with tessellated shapes, one point a pixel.
pub fn fill(width: u32, height: u32, back: Color32, shapes: &[egui::ClippedPrimitive], atlas: &Atlas) -> Picture {
    let [r, g, b, _] = back.to_array();
    let mut picture = Picture { width, height, pixels: [r, g, b, 255].repeat((width * height) as usize) };
    for shape in shapes {
        let Primitive::Mesh(mesh) = &shape.primitive else { continue };
        for corners in mesh.indices.as_chunks::<3>().0 {
            let corners = corners.map(|i| mesh.vertices[i as usize]);
            triangle(&mut picture, shape.clip_rect, corners, atlas);
        }
    }
    picture
}

/// Twice the signed area of a triangle.
fn area(a: Pos2, b: Pos2, c: Pos2) -> f32 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

fn triangle(picture: &mut Picture, clip: Rect, mut v: [Vertex; 3], atlas: &Atlas) {
    let mut whole = area(v[0].pos, v[1].pos, v[2].pos);
    if whole < 0.0 {
        v.swap(1, 2);
        whole = -whole;
    }
    if whole <= 0.0 || !whole.is_finite() {
        return;
    }
    let bounds = Rect::from_points(&v.map(|v| v.pos)).intersect(clip);
    let last = |value: f32, size: u32| (value.ceil().max(0.0) as u32).min(size);
    let (left, top) = (bounds.left().floor().max(0.0) as u32, bounds.top().floor().max(0.0) as u32);
    for y in top..last(bounds.bottom(), picture.height) {
        for x in left..last(bounds.right(), picture.width) {
            let p = Pos2::new(x as f32 + 0.5, y as f32 + 0.5);
            if !clip.contains(p) {
                continue;
            }
            let weight = |i: usize| {
                let (a, b) = (v[(i + 1) % 3].pos, v[(i + 2) % 3].pos);
                let w = area(a, b, p);
                // A pixel on an edge belongs to one of the two triangles beside it.
                let owns = (a.y == b.y && a.x < b.x) || a.y > b.y;
                (w > 0.0 || (w == 0.0 && owns)).then_some(w / whole)
            };
            let (Some(w0), Some(w1), Some(w2)) = (weight(0), weight(1), weight(2)) else { continue };
            let mix = |of: fn(&Vertex) -> f32| w0 * of(&v[0]) + w1 * of(&v[1]) + w2 * of(&v[2]);
            let texel = atlas.texel(Pos2::new(mix(|v| v.uv.x), mix(|v| v.uv.y)));
            let color = [0, 1, 2, 3].map(|c| {
                let of = |i: usize| f32::from(v[i].color.to_array()[c]) / 255.0;
                (w0 * of(0) + w1 * of(1) + w2 * of(2)) * texel[c]
            });
            let at = 4 * (y * picture.width + x) as usize;
            for (c, under) in picture.pixels[at..at + 3].iter_mut().enumerate() {
                let value = color[c] + f32::from(*under) / 255.0 * (1.0 - color[3]);
                *under = (value.clamp(0.0, 1.0) * 255.0).round() as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::epaint::Mesh;

    #[test]
    fn two_triangles_make_a_rectangle_without_a_seam() {
        let mut mesh = Mesh::default();
        let half = Color32::from_rgba_premultiplied(100, 0, 0, 128);
        mesh.add_colored_rect(Rect::from_min_max(Pos2::new(2.0, 1.0), Pos2::new(6.0, 5.0)), half);
        let clip = Rect::from_min_max(Pos2::ZERO, Pos2::new(5.0, 8.0));
        let shape = egui::ClippedPrimitive { clip_rect: clip, primitive: Primitive::Mesh(mesh) };
        let picture = fill(8, 8, Color32::BLACK, &[shape], &Atlas::default());
        for (i, pixel) in picture.pixels.as_chunks::<4>().0.iter().enumerate() {
            let (x, y) = (i % 8, i / 8);
            let inside = (2..5).contains(&x) && (1..5).contains(&y);
            assert_eq!(pixel, if inside { &[100, 0, 0, 255] } else { &[0, 0, 0, 255] }, "{x} {y}");
        }
    }
}
