//! Tangents where a file has none: along growing u of the texture coordinates.

use super::surface::{Triangle, Vertex};
use glam::{Vec3, Vec4};

/// Sets the tangents of all vertices that these triangles use, from coordinate set `set`.
pub fn generate_tangents(vertices: &mut [Vertex], triangles: &[Triangle], set: usize) {
    let mut sums = vec![(Vec3::ZERO, Vec3::ZERO); vertices.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.corners.map(|i| vertices[i as usize]);
        let (e1, e2) = (b.position - a.position, c.position - a.position);
        let (d1, d2) = (b.uv[set] - a.uv[set], c.uv[set] - a.uv[set]);
        let area = d1.perp_dot(d2);
        if area == 0.0 || !area.is_finite() {
            continue;
        }
        // Weighted by the triangle's area: the division by the area in uv is left out but for its sign.
        let tangent = (e1 * d2.y - e2 * d1.y) * area.signum();
        let bitangent = (e2 * d1.x - e1 * d2.x) * area.signum();
        let size = e1.cross(e2).length();
        for corner in triangle.corners {
            let sum = &mut sums[corner as usize];
            sum.0 += tangent.normalize_or_zero() * size;
            sum.1 += bitangent.normalize_or_zero() * size;
        }
    }
    for triangle in triangles {
        for corner in triangle.corners {
            let vertex = &mut vertices[corner as usize];
            let (tangent, bitangent) = sums[corner as usize];
            let n = vertex.normal;
            let t = (tangent - n * n.dot(tangent)).normalize_or(n.any_orthonormal_vector());
            // glTF: bitangent = cross(normal, tangent) * w, along growing v upwards, that is
            // against growing v of the picture.
            let sign = if n.cross(t).dot(bitangent) > 0.0 { -1.0 } else { 1.0 };
            vertex.tangent = Vec4::from((t, sign));
        }
    }
}
