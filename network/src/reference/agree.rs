//! The vector code against the scalar definition, on the processor that runs it.

use super::gemm::{self, Inputs, Skip};
use super::tensor::TensorData;
use crate::hostile::{Filling, Random};
use crate::numerics::{e4m3, multiply, silu};
use crate::plan::{Gemm, MatrixRef, Seed, TensorId, VectorRef};

const ROWS: usize = 48;
const K: usize = 64;
const N: usize = 64;

/// Whether a multiply with a seed, two partitions and SiLU gives the definition's halves and codes, for moderate operands
/// and for codes of nearly every exponent.
pub fn check() -> bool {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    [Filling::Usual, Filling::Finite].into_iter().all(|filling| agrees(filling, &mut random))
}

fn agrees(filling: Filling, random: &mut Random) -> bool {
    let mut codes = |count: usize| random.codes(count, filling);
    let (input, weight, skips) = (codes(ROWS * K), codes(K * N), codes(ROWS * N));
    let scale: Vec<u16> = (0..N).map(|i| [0x3c00, 0xb800, 0x2e66, 0x0123][i % 4]).collect();
    let vector = VectorRef { record: String::new(), offset: 0, len: N };
    let gemm = Gemm {
        input: TensorId(0),
        weight: MatrixRef { record: String::new(), offset: 0, k: K, n: N, groups: 1, stacked: false },
        partition: K / 2,
        seed: Some(Seed { skip: TensorId(1), scale: vector }),
        silu: true,
        out_half: Some(TensorId(2)),
        out_code: Some(TensorId(3)),
    };
    let tensor = TensorData::Codes(skips.clone());
    let skip = Some(Skip { tensor: &tensor, scale: &scale });
    let (halves, published) = gemm::run(&gemm, &Inputs { codes: &input, weight: &weight, skip }, ROWS);
    let (Some(halves), Some(published)) = (halves, published) else {
        return false;
    };
    (0..ROWS * N).all(|at| {
        let (row, column) = (at / N, at % N);
        let weights: Vec<u8> = (0..K).map(|k| weight[k * N + column]).collect();
        let seed = multiply::seed(e4m3::decode(skips[at]), scale[column]);
        let want = multiply::dot(&input[row * K..][..K], &weights, seed, K / 2);
        halves[at] == want && published[at] == e4m3::encode(silu::silu(want))
    })
}

#[cfg(test)]
mod tests {
    use crate::reference::dispatch::on_every_level;

    #[test]
    fn every_copy_agrees_with_the_definition() {
        on_every_level(|| assert!(super::check()));
    }
}
