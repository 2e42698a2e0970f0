//! Bounding volume hierarchies: built with the surface area heuristic over binned centres.

use super::bounds::Bounds;
use glam::Vec3;
use rayon::prelude::*;

/// Bins of a split.
const BINS: usize = 12;
/// Items from which the two sides of a split are built on several threads.
const PARALLEL: usize = 8192;
/// Items from which the search for a split itself runs on several threads, in parts of this size.
const PARALLEL_SEARCH: usize = 65536;
/// Costs of visiting a node and of testing an item, in any unit.
const NODE_COST: f32 = 1.0;
const ITEM_COST: f32 = 1.3;

/// Deepest hierarchy of a mesh and of all placements; together the stack of the shaders.
pub(crate) const MESH_DEPTH: u32 = 28;
pub(crate) const TOP_DEPTH: u32 = 19;

/// A node. Children stand beside each other, behind their parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Around everything below.
    pub bounds: Bounds,
    /// First item in the order of the hierarchy, or index of the first child.
    pub link: u32,
    /// Items of a leaf; 0 for an inner node.
    pub count: u32,
    /// Axis of the split of an inner node: the first child is on its lower side.
    pub axis: u32,
}

/// A hierarchy; the first node is the root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bvh {
    /// Nodes.
    pub nodes: Vec<Node>,
}

enum Tree {
    Leaf { bounds: Bounds, first: u32, count: u32 },
    Inner { bounds: Bounds, axis: u32, children: Box<[Tree; 2]> },
}

impl Tree {
    fn bounds(&self) -> Bounds {
        match self {
            Self::Leaf { bounds, .. } | Self::Inner { bounds, .. } => *bounds,
        }
    }
}

impl Bvh {
    /// A hierarchy of items with these bounds, at most `depth` levels below the root, and the
    /// order that the items must be put in. Leaves hold at most `leaf` items. `go_on` is asked
    /// before each larger split, from several threads; when it says no, what comes back holds all
    /// items and is of no use.
    #[must_use]
    pub fn build(items: &[Bounds], leaf: usize, depth: u32, go_on: &(dyn Fn() -> bool + Sync)) -> (Self, Vec<u32>) {
        let mut order: Vec<u32> = (0..items.len() as u32).collect();
        if items.is_empty() {
            return (Self::default(), order);
        }
        let tree = split(&Search { items, leaf: leaf.max(1), go_on }, &mut order, 0, depth);
        let mut nodes = vec![flat(&tree)];
        let mut waiting = vec![(0, &tree)];
        while let Some((at, tree)) = waiting.pop() {
            if let Tree::Inner { children, .. } = tree {
                let first = nodes.len();
                nodes[at].link = first as u32;
                nodes.extend(children.iter().map(flat));
                waiting.extend([(first, &children[0]), (first + 1, &children[1])]);
            }
        }
        (Self { nodes }, order)
    }

    /// The same hierarchy around items that have moved; `bounds` gives an item's new box.
    #[must_use]
    pub fn refit(&self, bounds: impl Fn(u32) -> Bounds) -> Vec<Node> {
        let mut nodes = self.nodes.clone();
        // Children stand behind their parents.
        for i in (0..nodes.len()).rev() {
            let Node { link, count, .. } = nodes[i];
            nodes[i].bounds = if count > 0 {
                (link..link + count).map(&bounds).fold(Bounds::EMPTY, Bounds::union)
            } else {
                nodes[link as usize].bounds.union(nodes[link as usize + 1].bounds)
            };
        }
        nodes
    }
}

fn flat(tree: &Tree) -> Node {
    match *tree {
        Tree::Leaf { bounds, first, count } => Node { bounds, link: first, count, axis: 0 },
        Tree::Inner { bounds, axis, .. } => Node { bounds, link: 0, count: 0, axis },
    }
}

/// Levels that halving `count` items down to single ones takes.
fn levels(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// What all splits of a hierarchy share.
struct Search<'a> {
    items: &'a [Bounds],
    leaf: usize,
    go_on: &'a (dyn Fn() -> bool + Sync),
}

/// Folds over items, in parts on several threads where there are many. Every way of dividing them
/// gives the same: boxes and counts do not depend on the order.
fn gathered<T: Send>(
    order: &[u32],
    empty: impl Fn() -> T + Sync + Send,
    add: impl Fn(T, &u32) -> T + Sync + Send,
    join: impl Fn(T, T) -> T + Sync + Send,
) -> T {
    if order.len() < PARALLEL_SEARCH {
        return order.iter().fold(empty(), add);
    }
    order.par_chunks(PARALLEL_SEARCH / 4).map(|part| part.iter().fold(empty(), &add)).reduce(&empty, join)
}

/// Around items, and around their centres.
fn extent(items: &[Bounds], order: &[u32]) -> (Bounds, Bounds) {
    gathered(
        order,
        || (Bounds::EMPTY, Bounds::EMPTY),
        |(bounds, mut centres), &i| {
            let item = items[i as usize];
            centres.grow(item.centre());
            (bounds.union(item), centres)
        },
        |a, b| (a.0.union(b.0), a.1.union(b.1)),
    )
}

fn split(search: &Search<'_>, order: &mut [u32], first: u32, depth: u32) -> Tree {
    let &Search { items, leaf, go_on } = search;
    let of = |i: u32| items[i as usize];
    let (bounds, centres) = extent(items, order);
    let count = order.len();
    let whole = Tree::Leaf { bounds, first, count: count as u32 };
    if count == 1 || depth == 0 || (count > PARALLEL && !go_on()) {
        return whole;
    }
    let found = best_split(items, order, &bounds, &centres);
    let leaf_cost = ITEM_COST * count as f32;
    let middle = count / 2;
    let (axis, at) = match found {
        // As long as halving what is left stays within the depth.
        Some((axis, cost, plane)) if levels(count) < depth && (cost < leaf_cost || count > leaf) => {
            let (low, scale) = (centres.low[axis], scale(&centres, axis));
            let at = partition(order, |i| bin(of(i).centre()[axis], low, scale) < plane);
            (axis, at)
        }
        _ if count <= leaf => return whole,
        _ => {
            let size = centres.size();
            let axis = if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
            order.select_nth_unstable_by(middle, |&a, &b| of(a).centre()[axis].total_cmp(&of(b).centre()[axis]));
            (axis, middle)
        }
    };
    let (low, high) = order.split_at_mut(at);
    let second = first + at as u32;
    let mut build_low = || split(search, low, first, depth - 1);
    let mut build_high = || split(search, high, second, depth - 1);
    let children = if count > PARALLEL {
        let (low, high) = rayon::join(build_low, build_high);
        [low, high]
    } else {
        [build_low(), build_high()]
    };
    let bounds = children[0].bounds().union(children[1].bounds());
    Tree::Inner { bounds, axis: axis as u32, children: Box::new(children) }
}

fn scale(centres: &Bounds, axis: usize) -> f32 {
    BINS as f32 / centres.size()[axis]
}

fn bin(centre: f32, low: f32, scale: f32) -> usize {
    (((centre - low) * scale) as usize).min(BINS - 1)
}

type Bins = [[(Bounds, u32); BINS]; 3];

/// Boxes and numbers of the items in each bin of each axis.
fn bins(items: &[Bounds], order: &[u32], centres: &Bounds) -> Bins {
    let scales = [0, 1, 2].map(|axis| scale(centres, axis));
    let low = centres.low.to_array();
    gathered(
        order,
        || [[(Bounds::EMPTY, 0); BINS]; 3],
        |mut bins: Bins, &i| {
            let item = items[i as usize];
            let centre = item.centre().to_array();
            for axis in (0..3).filter(|&axis| scales[axis].is_finite()) {
                let bin = &mut bins[axis][bin(centre[axis], low[axis], scales[axis])];
                *bin = (bin.0.union(item), bin.1 + 1);
            }
            bins
        },
        |mut a, b| {
            for (a, b) in a.as_flattened_mut().iter_mut().zip(b.as_flattened()) {
                *a = (a.0.union(b.0), a.1 + b.1);
            }
            a
        },
    )
}

/// The axis, cost and first upper bin of the cheapest split; none when all centres coincide.
fn best_split(items: &[Bounds], order: &[u32], bounds: &Bounds, centres: &Bounds) -> Option<(usize, f32, usize)> {
    let mut best: Option<(usize, f32, usize)> = None;
    for (axis, bins) in bins(items, order, centres).iter().enumerate() {
        if !scale(centres, axis).is_finite() {
            continue;
        }
        let mut above = [0.0; BINS];
        let (mut around, mut count) = (Bounds::EMPTY, 0);
        for b in (1..BINS).rev() {
            around = around.union(bins[b].0);
            count += bins[b].1;
            above[b] = if count == 0 { f32::INFINITY } else { around.area() * count as f32 };
        }
        let (mut around, mut count) = (Bounds::EMPTY, 0);
        for b in 1..BINS {
            around = around.union(bins[b - 1].0);
            count += bins[b - 1].1;
            if count == 0 {
                continue;
            }
            let sum = around.area() * count as f32 + above[b];
            let cost = NODE_COST + ITEM_COST * sum / bounds.area().max(f32::MIN_POSITIVE);
            if cost.is_finite() && best.is_none_or(|(_, least, _)| cost < least) {
                best = Some((axis, cost, b));
            }
        }
    }
    best
}

/// Puts items for which `first` holds in front; their number.
fn partition(order: &mut [u32], first: impl Fn(u32) -> bool) -> usize {
    let mut at = 0;
    for i in 0..order.len() {
        if first(order[i]) {
            order.swap(i, at);
            at += 1;
        }
    }
    at
}

/// A box around three points.
pub(super) fn around(points: [Vec3; 3]) -> Bounds {
    let [a, b, c] = points;
    Bounds { low: a.min(b).min(c), high: a.max(b).max(c) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scattered(count: u32) -> Vec<Bounds> {
        let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0;
        (0..count)
            .map(|i| {
                let low = Vec3::new(noise(3 * i), noise(3 * i + 1), noise(3 * i + 2).powi(4)) * 10.0;
                Bounds { low, high: low + Vec3::splat(0.1 + noise(i)) }
            })
            .collect()
    }

    /// Checks boxes and coverage; the depth.
    fn check(bvh: &Bvh, items: &[Bounds], order: &[u32], leaf: u32) -> u32 {
        let mut seen = vec![0; items.len()];
        let mut deepest = 0;
        let mut waiting = vec![(0_u32, 0)];
        while let Some((at, depth)) = waiting.pop() {
            let node = bvh.nodes[at as usize];
            deepest = deepest.max(depth);
            let within = |b: Bounds| b.low.cmpge(node.bounds.low).all() && b.high.cmple(node.bounds.high).all();
            if node.count > 0 {
                assert!(node.count <= leaf);
                for i in node.link..node.link + node.count {
                    let item = order[i as usize];
                    assert!(within(items[item as usize]));
                    seen[item as usize] += 1;
                }
            } else {
                assert!(node.link > at);
                for child in [node.link, node.link + 1] {
                    assert!(within(bvh.nodes[child as usize].bounds));
                    waiting.push((child, depth + 1));
                }
            }
        }
        assert!(seen.iter().all(|&n| n == 1));
        deepest
    }

    #[test]
    fn every_item_is_in_one_leaf_inside_all_boxes_above() {
        for count in [1, 2, 7, 500, 20_000] {
            let items = scattered(count);
            let (bvh, order) = Bvh::build(&items, 4, MESH_DEPTH, &|| true);
            assert!(check(&bvh, &items, &order, 4) <= MESH_DEPTH);
        }
    }

    #[test]
    fn items_at_one_place_and_tight_depths_are_halved() {
        let items = vec![Bounds { low: Vec3::ZERO, high: Vec3::ONE }; 1000];
        let (bvh, order) = Bvh::build(&items, 1, 10, &|| true);
        assert!(check(&bvh, &items, &order, 1) <= 10);
        let items: Vec<_> = (0..40).map(|i| Bounds { low: Vec3::ZERO, high: Vec3::splat(1.8_f32.powi(i)) }).collect();
        let (bvh, order) = Bvh::build(&items, 1, 6, &|| true);
        assert!(check(&bvh, &items, &order, 1) <= 6);
    }

    #[test]
    fn many_threads_make_the_same_hierarchy_as_one() {
        let items = scattered(200_000);
        let (bvh, order) = Bvh::build(&items, 4, MESH_DEPTH, &|| true);
        check(&bvh, &items, &order, 4);
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(alone.install(|| Bvh::build(&items, 4, MESH_DEPTH, &|| true)), (bvh, order));
    }

    #[test]
    fn refitting_follows_the_items() {
        let items = scattered(300);
        let (bvh, order) = Bvh::build(&items, 4, MESH_DEPTH, &|| true);
        let moved: Vec<_> = items.iter().map(|b| Bounds { low: b.low * 2.0 + 1.0, high: b.high * 2.0 + 1.5 }).collect();
        let nodes = bvh.refit(|i| moved[order[i as usize] as usize]);
        check(&Bvh { nodes }, &moved, &order, 4);
    }
}
