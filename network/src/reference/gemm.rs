//! FP8 multiply (numerics section 3) over all rows of a tensor.

use rayon::prelude::*;

use super::dispatch::dispatch;
use super::lanes;
use super::operands::{Columns, Rows, chain};
use super::step::{Lanes, WIDTH};
use super::tensor::TensorData;
use crate::numerics::multiply::GROUP13;
use crate::plan::Gemm;

/// Rows of one work item: enough to pay for preparing the weights.
const BLOCK_ROWS: usize = 64;

/// Scaled skip of a seeded multiply: the skip tensor and one half per output channel.
#[derive(Clone, Copy)]
pub struct Skip<'a> {
    pub tensor: &'a TensorData,
    pub scale: &'a [u16],
}

/// What one multiply reads.
pub struct Inputs<'a> {
    /// Rows of codes.
    pub codes: &'a [u8],
    /// Codes `[group][k][n]`, or `[k][group * n]` when stacked.
    pub weight: &'a [u8],
    pub skip: Option<Skip<'a>>,
}

/// The matrices of a multiply seen as independent groups of equal shape.
#[derive(Clone, Copy)]
struct Shape {
    k: usize,
    n: usize,
    /// Input and output channels of a whole row.
    channels_in: usize,
    channels_out: usize,
    tiles_per_group: usize,
    tiles: usize,
}

impl Shape {
    fn new(gemm: &Gemm) -> Self {
        let w = &gemm.weight;
        // Stacked matrices share their input: they are one matrix with more columns.
        let (groups, n) = if w.stacked { (1, w.n * w.groups) } else { (w.groups, w.n) };
        let tiles_per_group = n.div_ceil(WIDTH);
        Self {
            k: w.k,
            n,
            channels_in: groups * w.k,
            channels_out: groups * n,
            tiles_per_group,
            tiles: groups * tiles_per_group,
        }
    }

    /// Matrix group and output columns of a tile.
    fn columns(&self, tile: usize) -> (usize, std::ops::Range<usize>) {
        let (group, tile) = (tile / self.tiles_per_group, tile % self.tiles_per_group);
        let first = group * self.n + tile * WIDTH;
        (group, first..first + WIDTH.min(self.n - tile * WIDTH))
    }
}

/// One work item: some tiles of some rows.
struct Item<'a> {
    gemm: &'a Gemm,
    inputs: &'a Inputs<'a>,
    shape: Shape,
    rows: std::ops::Range<usize>,
    tiles: std::ops::Range<usize>,
}

/// Published results of one item: per tile, `[row][WIDTH]`.
struct Part {
    halves: Vec<[u16; WIDTH]>,
    codes: Vec<[u8; WIDTH]>,
}

/// Runs the multiply on `rows` rows; returns the raw halves and the codes, as far as the operation publishes them.
pub fn run(gemm: &Gemm, inputs: &Inputs, rows: usize) -> (Option<Vec<u16>>, Option<Vec<u8>>) {
    let shape = Shape::new(gemm);
    let row_blocks = rows.div_ceil(BLOCK_ROWS);
    // Few rows (the ViT) are spread over the threads by columns.
    let wanted = 4 * rayon::current_num_threads();
    let pieces = wanted.div_ceil(row_blocks).clamp(1, shape.tiles);
    let per_piece = shape.tiles.div_ceil(pieces);
    let pieces = shape.tiles.div_ceil(per_piece);
    let parts: Vec<Part> = (0..row_blocks * pieces)
        .into_par_iter()
        .map(|i| {
            let (block, piece) = (i / pieces, i % pieces);
            let first = block * BLOCK_ROWS;
            item(&Item {
                gemm,
                inputs,
                shape,
                rows: first..(first + BLOCK_ROWS).min(rows),
                tiles: piece * per_piece..((piece + 1) * per_piece).min(shape.tiles),
            })
        })
        .collect();
    let assemble = Assemble { shape, rows, pieces, per_piece };
    let halves = gemm.out_half.map(|_| assemble.run(&parts, |part| &part.halves));
    let codes = gemm.out_code.map(|_| assemble.run(&parts, |part| &part.codes));
    (halves, codes)
}

/// Puts the parts side by side into one tensor.
struct Assemble {
    shape: Shape,
    rows: usize,
    pieces: usize,
    per_piece: usize,
}

impl Assemble {
    fn run<T: Copy + Default + Send + Sync>(
        &self,
        parts: &[Part],
        data: impl Fn(&Part) -> &[[T; WIDTH]] + Sync,
    ) -> Vec<T> {
        let n = self.shape.channels_out;
        let mut out = vec![T::default(); self.rows * n];
        out.par_chunks_mut(BLOCK_ROWS * n).enumerate().for_each(|(block, out)| {
            let rows = out.len() / n;
            for tile in 0..self.shape.tiles {
                let piece = tile / self.per_piece;
                let tiles = data(&parts[block * self.pieces + piece]);
                let tile_rows = &tiles[(tile - piece * self.per_piece) * rows..][..rows];
                let columns = self.shape.columns(tile).1;
                for (row, values) in out.chunks_exact_mut(n).zip(tile_rows) {
                    row[columns.clone()].copy_from_slice(&values[..columns.len()]);
                }
            }
        });
        out
    }
}

dispatch! {
    fn item(item: &Item<'_>) -> Part {
        let Shape { k, n, channels_in, .. } = item.shape;
        let count = item.rows.len();
        let groups = k / GROUP13;
        let mut rows = Rows::new(count, groups);
        let mut columns = Columns::new(groups);
        let mut loaded = None;
        let mut acc: Vec<Lanes> = vec![[0.0; WIDTH]; count];
        let mut total = acc.clone();
        let published = count * item.tiles.len();
        let mut part = Part {
            halves: Vec::with_capacity(if item.gemm.out_half.is_some() { published } else { 0 }),
            codes: Vec::with_capacity(if item.gemm.out_code.is_some() { published } else { 0 }),
        };
        for tile in item.tiles.clone() {
            let (group, outputs) = item.shape.columns(tile);
            if loaded != Some(group) {
                for (r, row) in item.rows.clone().enumerate() {
                    rows.load(r, &item.inputs.codes[row * channels_in + group * k..][..k]);
                }
                loaded = Some(group);
            }
            let weight = &item.inputs.weight[group * k * n..][..k * n];
            let first = outputs.start - group * n;
            for (k, row) in weight.chunks_exact(n).enumerate() {
                let mut codes = [0; WIDTH];
                codes[..outputs.len()].copy_from_slice(&row[first..first + outputs.len()]);
                columns.load(k, &codes);
            }
            // Partition 0 starts from the seed, the others from +0; their results are added as halves, in order.
            seed(item, outputs.clone(), &mut acc);
            let step = item.gemm.partition / GROUP13;
            for start in (0..groups).step_by(step) {
                chain(&rows, &columns, start..start + step, &mut acc);
                if start == 0 {
                    std::mem::swap(&mut total, &mut acc);
                } else {
                    for (total, acc) in total.iter_mut().zip(&acc) {
                        for j in 0..WIDTH {
                            total[j] = lanes::add(total[j], acc[j]);
                        }
                    }
                }
                acc.fill([0.0; WIDTH]);
            }
            if item.gemm.out_half.is_some() {
                for row in &total {
                    let mut halves = [0; WIDTH];
                    lanes::map(row, &mut halves, lanes::to_half);
                    part.halves.push(halves);
                }
            }
            if item.gemm.out_code.is_some() {
                for row in &mut total {
                    if item.gemm.silu {
                        lanes::apply(row, lanes::silu);
                    }
                    let mut codes = [0; WIDTH];
                    lanes::map(row, &mut codes, lanes::to_code);
                    part.codes.push(codes);
                }
            }
        }
        part
    }
}

/// Start values of the first partition: +0 or the scaled skip.
#[inline(always)]
fn seed(item: &Item, columns: std::ops::Range<usize>, acc: &mut [Lanes]) {
    acc.fill([0.0; WIDTH]);
    let Some(Skip { tensor, scale }) = item.inputs.skip else { return };
    let scale = &scale[columns.clone()];
    let n = item.shape.channels_out;
    for (acc, row) in acc.iter_mut().zip(item.rows.clone()) {
        let at = row * n + columns.start..row * n + columns.end;
        match tensor {
            TensorData::Halves(skip) => {
                for ((acc, &skip), &scale) in acc.iter_mut().zip(&skip[at]).zip(scale) {
                    *acc = lanes::mul(lanes::from_half(skip), lanes::from_half(scale));
                }
            }
            TensorData::Codes(skip) => {
                for ((acc, &skip), &scale) in acc.iter_mut().zip(&skip[at]).zip(scale) {
                    *acc = lanes::mul(lanes::from_code(skip), lanes::from_half(scale));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::vectors::Random;
    use crate::numerics::{e4m3, multiply, silu};
    use crate::plan::{MatrixRef, Seed, TensorId, VectorRef};
    use crate::reference::dispatch::on_every_level;

    /// One shape; checks every output against `multiply::dot`.
    struct Case {
        rows: usize,
        k: usize,
        n: usize,
        groups: usize,
        stacked: bool,
        partition: usize,
        silu: bool,
    }

    fn check(case: &Case, half_skip: bool, random: &mut Random) {
        let &Case { rows, k, n, groups, stacked, partition, silu } = case;
        let (channels_in, channels_out) = (if stacked { k } else { k * groups }, n * groups);
        let codes: Vec<u8> = (0..rows * channels_in).map(|_| random.code() & 0xcf).collect();
        let weight: Vec<u8> = (0..k * channels_out).map(|_| random.code() & 0xcf).collect();
        let scale: Vec<u16> = (0..channels_out).map(|_| random.half() & 0xbfff).collect();
        let count = rows * channels_out;
        let tensor = if half_skip {
            TensorData::Halves((0..count).map(|_| random.half() & 0xbfff).collect())
        } else {
            TensorData::Codes((0..count).map(|_| random.code()).collect())
        };
        let gemm = Gemm {
            input: TensorId(0),
            weight: MatrixRef { record: String::new(), offset: 0, k, n, groups, stacked },
            partition,
            seed: Some(Seed {
                skip: TensorId(1),
                scale: VectorRef { record: String::new(), offset: 0, len: channels_out },
            }),
            silu,
            out_half: Some(TensorId(2)),
            out_code: Some(TensorId(3)),
        };
        let skip = Some(Skip { tensor: &tensor, scale: &scale });
        let (halves, published) = run(&gemm, &Inputs { codes: &codes, weight: &weight, skip }, rows);
        let (halves, published) = (halves.unwrap(), published.unwrap());
        for row in 0..rows {
            for out in 0..channels_out {
                let (group, column) = (out / n, out % n);
                let start = row * channels_in + if stacked { 0 } else { group * k };
                let weights: Vec<u8> = (0..k)
                    .map(|i| match stacked {
                        true => weight[i * channels_out + out],
                        false => weight[(group * k + i) * n + column],
                    })
                    .collect();
                let skip = match &tensor {
                    TensorData::Halves(skip) => skip[row * channels_out + out],
                    TensorData::Codes(skip) => e4m3::decode(skip[row * channels_out + out]),
                };
                let seed = multiply::seed(skip, scale[out]);
                let want = multiply::dot(&codes[start..start + k], &weights, seed, partition);
                let at = row * channels_out + out;
                assert_eq!(halves[at], want, "row {row} output {out}");
                assert_eq!(published[at], e4m3::encode(if silu { silu::silu(want) } else { want }));
            }
        }
    }

    #[test]
    fn every_grouping_matches_the_definition() {
        let case = Case { rows: 5, k: 64, n: 96, groups: 1, stacked: false, partition: 64, silu: false };
        on_every_level(|| {
            let mut random = Random::new(81);
            check(&case, true, &mut random);
            check(&Case { rows: 130, n: 16, silu: true, ..case }, false, &mut random);
            check(&Case { groups: 3, n: 32, ..case }, false, &mut random);
            check(&Case { groups: 3, n: 128, stacked: true, silu: true, ..case }, true, &mut random);
            check(&Case { rows: 66, k: 128, n: 48, partition: 32, ..case }, true, &mut random);
        });
    }
}
