//! Window attention (numerics section 9) over all windows and heads of a level.
//!
//! Scores and value sums are computed transposed, `[key][query]` and `[channel][query]`, with the queries in the vector
//! lanes: the softmax then runs on whole lanes, and its weights are already the right operand of the value sum.

use rayon::prelude::*;

use super::dispatch::dispatch;
use super::lanes;
use super::operands::{Columns, Rows, chain};
use super::softmax;
use super::step::WIDTH;
use crate::geometry::{WINDOW_TOKENS, WindowGrid};
use crate::numerics::attention::{HeadRow, untiled};
use crate::numerics::cosine::HEAD;
use crate::numerics::multiply::GROUP13;

/// Columns of one head in a QKV row: queries, keys, values.
const HEAD_COLUMNS: usize = 3 * HEAD;

/// The prior of one head as the transposed scores are seeded: `[query half][physical key][query]`.
pub type Prior = [[[u16; WIDTH]; WINDOW_TOKENS]; 2];

/// Rearranges priors `[head][natural query][physical key]`.
pub fn transpose_priors(priors: &[u16]) -> Vec<Prior> {
    let head = |prior: &[u16; WINDOW_TOKENS * WINDOW_TOKENS]| -> Prior {
        std::array::from_fn(|half| {
            std::array::from_fn(|key| std::array::from_fn(|q| prior[(half * WIDTH + q) * WINDOW_TOKENS + key]))
        })
    };
    priors.as_chunks().0.iter().map(head).collect()
}

/// Attended codes `[row][heads * 32]` from normalised codes `[row][heads * 96]`.
pub fn run(qkv: &[u8], grid: &WindowGrid, priors: &[Prior]) -> Vec<u8> {
    let heads = priors.len();
    let width = grid.extent.width as usize;
    let attended: Vec<[HeadRow; WINDOW_TOKENS]> = (0..grid.count() * heads)
        .into_par_iter()
        .map(|i| {
            let (window, head) = (i / heads, i % heads);
            let mut rows = [[0; HEAD_COLUMNS]; WINDOW_TOKENS];
            for (t, codes) in rows.iter_mut().enumerate() {
                if let Some(row) = grid.row(window, t) {
                    codes.copy_from_slice(&qkv[(row * heads + head) * HEAD_COLUMNS..][..HEAD_COLUMNS]);
                }
            }
            attend(&rows, &priors[head])
        })
        .collect();
    let mut out = vec![0; grid.extent.pixels() * heads * HEAD];
    out.par_chunks_mut(heads * HEAD).enumerate().for_each(|(row, out)| {
        let (window, t) = grid.locate(row % width, row / width);
        for (head, out) in out.as_chunks_mut::<HEAD>().0.iter_mut().enumerate() {
            *out = attended[window * heads + head][t];
        }
    });
    out
}

dispatch! {
    /// `attention::window` of one head: QKV codes of 64 natural tokens, zero outside the level.
    fn attend(tokens: &[[u8; HEAD_COLUMNS]; WINDOW_TOKENS], prior: &Prior) -> [HeadRow; WINDOW_TOKENS] {
        let mut keys = Rows::new(WINDOW_TOKENS, HEAD / GROUP13);
        let mut values = Rows::new(HEAD, WINDOW_TOKENS / GROUP13);
        for p in 0..WINDOW_TOKENS {
            keys.load(p, &tokens[untiled(p)][HEAD..2 * HEAD]);
        }
        for c in 0..HEAD {
            let mut column = [0; WINDOW_TOKENS];
            for (p, code) in column.iter_mut().enumerate() {
                *code = tokens[untiled(p)][2 * HEAD + c];
            }
            values.load(c, &column);
        }
        let mut queries = Columns::new(HEAD / GROUP13);
        let mut weights = Columns::new(WINDOW_TOKENS / GROUP13);
        let mut out = [[0; HEAD]; WINDOW_TOKENS];
        for (half, seeds) in prior.iter().enumerate() {
            let first = half * WIDTH;
            for c in 0..HEAD {
                let mut column = [0; WIDTH];
                for (code, token) in column.iter_mut().zip(&tokens[first..]) {
                    *code = token[c];
                }
                queries.load(c, &column);
            }
            let mut scores = [[0.0; WIDTH]; WINDOW_TOKENS];
            for (row, seeds) in scores.iter_mut().zip(seeds) {
                lanes::map(seeds, row, lanes::from_half);
            }
            chain(&keys, &queries, 0..HEAD / GROUP13, &mut scores);
            for row in &mut scores {
                lanes::apply(row, lanes::exp_window);
            }
            let mut reciprocal = softmax::sum64(&scores);
            lanes::apply(&mut reciprocal, lanes::reciprocal);
            for (p, row) in scores.iter().enumerate() {
                let mut codes = [0; WIDTH];
                for q in 0..WIDTH {
                    codes[q] = lanes::to_code(lanes::mul(row[q], reciprocal[q]));
                }
                weights.load(p, &codes);
            }
            let mut sums = [[0.0; WIDTH]; HEAD];
            chain(&values, &weights, 0..WINDOW_TOKENS / GROUP13, &mut sums);
            for (c, row) in sums.iter().enumerate() {
                let mut codes = [0; WIDTH];
                lanes::map(row, &mut codes, lanes::to_code);
                for (q, code) in codes.into_iter().enumerate() {
                    out[first + q][c] = code;
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Extent, windows};
    use crate::numerics::attention;
    use crate::numerics::vectors::Random;
    use crate::reference::dispatch::on_every_level;

    #[test]
    fn windows_match_the_definition() {
        on_every_level(|| {
            let mut random = Random::new(31);
            let heads = 2;
            for phase in 0..4 {
                let grid = windows(Extent::new(12, 8), phase);
                let qkv: Vec<u8> = (0..grid.extent.pixels() * heads * HEAD_COLUMNS).map(|_| random.code()).collect();
                let priors: Vec<u16> = (0..heads * 4096).map(|_| random.next() as u16 & 0xbfff).collect();
                let out = run(&qkv, &grid, &transpose_priors(&priors));
                for window in 0..grid.count() {
                    for head in 0..heads {
                        let part = |part: usize| -> [HeadRow; 64] {
                            std::array::from_fn(|t| match grid.row(window, t) {
                                Some(row) => qkv[row * heads * 96 + head * 96 + part * 32..][..32].try_into().unwrap(),
                                None => [0; 32],
                            })
                        };
                        let prior: Vec<[u16; 64]> = priors[head * 4096..][..4096].as_chunks().0.to_vec();
                        let want = attention::window(&part(0), &part(1), &part(2), &prior.try_into().unwrap());
                        for (t, want) in want.iter().enumerate() {
                            if let Some(row) = grid.row(window, t) {
                                assert_eq!(&out[row * heads * 32 + head * 32..][..32], want, "phase {phase} token {t}");
                            }
                        }
                    }
                }
            }
        });
    }
}
