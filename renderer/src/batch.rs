//! Grouping of shapes, so that a ray skips those it comes nowhere near.

use crate::scene::Sphere;
use glam::Vec3;

/// Costs of tests, in any unit: of a bound, of a batch's transform and of a shape.
const BOUND_COST: f32 = 1.0;
const ENTER_COST: f32 = 2.5;
const SHAPE_COST: f32 = 2.5;
/// Radius of the part of a scene that most rays cross, metres.
const SCENE_RADIUS: f32 = 7.0;

/// Expected cost of a batch: a ray meets its bound in proportion to the area that it covers.
fn cost(bound: Sphere, shapes: usize) -> f32 {
    let met = (bound.radius / SCENE_RADIUS).powi(2);
    BOUND_COST + met * (ENTER_COST + SHAPE_COST * shapes as f32)
}

/// Divides shapes with these bounds into batches where that is cheaper for rays. Sorts `items`
/// and gives the lengths of the runs that form the batches.
pub(crate) fn split<T>(items: &mut [T], bound: &impl Fn(&T) -> Sphere) -> Vec<usize> {
    let whole: Vec<Sphere> = items.iter().map(bound).collect();
    let around = Sphere::around(&whole);
    if items.len() < 2 {
        return vec![items.len()];
    }
    let mut best: Option<(f32, usize, Vec3)> = None;
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        let mut sorted = whole.clone();
        sorted.sort_by(|a, b| a.centre.dot(axis).total_cmp(&b.centre.dot(axis)));
        for at in 1..sorted.len() {
            let (low, high) = sorted.split_at(at);
            let sum = cost(Sphere::around(low), low.len()) + cost(Sphere::around(high), high.len());
            if best.is_none_or(|(least, ..)| sum < least) {
                best = Some((sum, at, axis));
            }
        }
    }
    let Some((_, at, axis)) = best.filter(|(sum, ..)| *sum < cost(around, whole.len())) else {
        return vec![items.len()];
    };
    items.sort_by(|a, b| bound(a).centre.dot(axis).total_cmp(&bound(b).centre.dot(axis)));
    let (low, high) = items.split_at_mut(at);
    let mut runs = split(low, bound);
    runs.extend(split(high, bound));
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balls(centres: &[f32]) -> Vec<Sphere> {
        centres.iter().map(|x| Sphere { centre: Vec3::X * *x, radius: 0.5 }).collect()
    }

    fn runs(spheres: &mut [Sphere]) -> Vec<usize> {
        split(spheres, &|s| *s)
    }

    #[test]
    fn far_apart_is_split_and_close_together_is_not() {
        assert_eq!(runs(&mut balls(&[30.0, 0.0, 31.0, 0.5])), [2, 2]);
        assert_eq!(runs(&mut balls(&[0.0, 0.2, 0.4])), [3]);
        assert_eq!(runs(&mut balls(&[0.0])), [1]);
    }

    #[test]
    fn runs_cover_everything_and_neighbours_end_up_together() {
        let mut spheres = balls(&[0.0, 100.0, 1.0, 99.0, 50.0]);
        let runs = runs(&mut spheres);
        assert_eq!(runs.iter().sum::<usize>(), 5);
        let x: Vec<f32> = spheres.iter().map(|s| s.centre.x).collect();
        assert!(x.is_sorted(), "{x:?}");
    }
}
