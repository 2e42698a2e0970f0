//! Global attention of the ViT (numerics section 10) for any number of tokens.
//!
//! Keys are streamed in blocks of 64: their scores, exponentials, block sum and weights, and then the next four groups of
//! the one unbroken chain of the value sum. Nothing grows with the number of tokens. As in window attention, everything
//! is transposed with the queries in the vector lanes.

use rayon::prelude::*;

use super::dispatch::dispatch;
use super::lanes;
use super::operands::{Columns, Rows, chain};
use super::softmax;
use super::step::{Lanes, WIDTH};
use crate::numerics::attention::HeadRow;
use crate::numerics::cosine::HEAD;
use crate::numerics::exponential::exp_vit;
use crate::numerics::half;
use crate::numerics::multiply::GROUP13;

/// Keys of one block.
const BLOCK: usize = 64;

/// Attended codes `[token][heads * 32]` from normalised codes `[token][heads * 96]`.
pub fn run(qkv: &[u8], tokens: usize, heads: usize) -> Vec<u8> {
    let blocks = tokens.div_ceil(WIDTH);
    let attended: Vec<[HeadRow; WIDTH]> = (0..heads * blocks)
        .into_par_iter()
        .map(|i| attend(&Head { qkv, tokens, heads, head: i / blocks }, i % blocks * WIDTH))
        .collect();
    let mut out = vec![0; tokens * heads * HEAD];
    out.par_chunks_mut(heads * HEAD).enumerate().for_each(|(t, out)| {
        for (head, out) in out.as_chunks_mut::<HEAD>().0.iter_mut().enumerate() {
            *out = attended[head * blocks + t / WIDTH][t % WIDTH];
        }
    });
    out
}

/// One head of all tokens.
struct Head<'a> {
    qkv: &'a [u8],
    tokens: usize,
    heads: usize,
    head: usize,
}

impl Head<'_> {
    /// Codes of part 0 (query), 1 (key) or 2 (value) of a token; zero past the last one.
    #[inline(always)]
    fn row(&self, token: usize, part: usize) -> HeadRow {
        if token >= self.tokens {
            return [0; HEAD];
        }
        let at = ((token * self.heads + self.head) * 3 + part) * HEAD;
        let mut row = [0; HEAD];
        row.copy_from_slice(&self.qkv[at..at + HEAD]);
        row
    }
}

dispatch! {
    /// `attention::vit` for the [`WIDTH`] queries from `first` on.
    fn attend(head: &Head<'_>, first: usize) -> [HeadRow; WIDTH] {
        let padded = head.tokens.next_multiple_of(BLOCK);
        let mut queries = Columns::new(HEAD / GROUP13);
        let mut columns = [[0; WIDTH]; HEAD];
        for q in 0..WIDTH {
            let row = head.row(first + q, 0);
            for (column, code) in columns.iter_mut().zip(row) {
                column[q] = code;
            }
        }
        for (c, column) in columns.iter().enumerate() {
            queries.load(c, column);
        }
        let mut keys = Rows::new(BLOCK, HEAD / GROUP13);
        let mut values = Rows::new(HEAD, BLOCK / GROUP13);
        let mut weights = Columns::new(BLOCK / GROUP13);
        let mut total: Lanes = [0.0; WIDTH];
        let mut sums = [[0.0; WIDTH]; HEAD];
        for block in (0..padded).step_by(BLOCK) {
            let mut columns = [[0; BLOCK]; HEAD];
            for t in 0..BLOCK {
                keys.load(t, &head.row(block + t, 1));
                let value = head.row(block + t, 2);
                for (column, code) in columns.iter_mut().zip(value) {
                    column[t] = code;
                }
            }
            for (c, column) in columns.iter().enumerate() {
                values.load(c, column);
            }
            let mut scores = [[0.0; WIDTH]; BLOCK];
            chain(&keys, &queries, 0..HEAD / GROUP13, &mut scores);
            for (t, row) in scores.iter_mut().enumerate() {
                lanes::apply(row, lanes::exp_vit);
                let mut codes = [0; WIDTH];
                lanes::map(row, &mut codes, lanes::to_code);
                weights.load(t, &codes);
            }
            total = softmax::add(&total, &softmax::sum64(&scores));
            chain(&values, &weights, 0..BLOCK / GROUP13, &mut sums);
        }
        let padding = padded - head.tokens;
        if padding > 0 {
            let correction = lanes::round(half::to_f32(exp_vit(0)) * padding as f32);
            lanes::apply(&mut total, |total| lanes::add(total, -correction));
        }
        lanes::apply(&mut total, lanes::reciprocal);
        let mut out = [[0; HEAD]; WIDTH];
        for (c, sums) in sums.iter().enumerate() {
            for q in 0..WIDTH {
                out[q][c] = lanes::to_code(lanes::mul(sums[q], total[q]));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::attention;
    use crate::numerics::vectors::Random;
    use crate::reference::dispatch::on_every_level;

    #[test]
    fn any_number_of_tokens_matches_the_definition() {
        on_every_level(|| {
            let mut random = Random::new(41);
            let heads = 2;
            for tokens in [1, 31, 64, 70, 130, 192] {
                let qkv: Vec<u8> = (0..tokens * heads * 96).map(|_| random.code() & 0xbf).collect();
                let out = run(&qkv, tokens, heads);
                for head in 0..heads {
                    let part = |part: usize| -> Vec<HeadRow> {
                        let at = |t: usize| (t * heads + head) * 96 + part * 32;
                        (0..tokens).map(|t| qkv[at(t)..][..32].try_into().unwrap()).collect()
                    };
                    let want = attention::vit(&part(0), &part(1), &part(2));
                    for (t, want) in want.iter().enumerate() {
                        assert_eq!(&out[(t * heads + head) * 32..][..32], want, "{tokens} tokens, token {t}");
                    }
                }
            }
        });
    }
}
