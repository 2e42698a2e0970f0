//! How a device spreads matrices over a subgroup.
//!
//! Loading a weight tile through the matrix operation takes four narrow loads an invocation. With the tile's halves
//! in the order in which the device holds them, one wide load does. Which order that is no specification says, so it is
//! asked of the device: a kernel loads a tile of numbers and every invocation tells which it holds.

use std::sync::Arc;

use gpu::{Bind, Buffer, BufferDesc, BufferUsage, ComputePipeline, DescriptorArena, Device, MemoryKind, PipelineDesc};
use half::f16;

use super::super::ExecError;
use super::tiles::TILE;

/// Rows and columns of a tile.
const SIDE: usize = 16;

/// The order of a tile's halves in memory: which element of the tile stands at each place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragments {
    /// Weight tiles, by elements in columns of sixteen k.
    pub weight: Vec<usize>,
    /// Accumulator tiles, by elements in rows.
    pub sum: Vec<usize>,
    /// Whether sums are spread as left operands are, so that one can become the other in registers, with neighbours of a row
    /// in the halves of a word.
    pub alike: bool,
    /// Whether an invocation holds of left operands what the direct kernels give it (`direct.glsl`).
    pub direct: bool,
}

impl Fragments {
    /// The natural order, as the software model has it.
    pub fn natural() -> Self {
        Self { weight: (0..TILE).collect(), sum: (0..TILE).collect(), alike: true, direct: true }
    }

    /// Asks the device.
    ///
    /// # Errors
    /// Errors of the device; [`ExecError::Unavailable`] when an invocation does not hold eight elements of its own.
    pub fn probe(device: &Arc<Device>) -> Result<Self, ExecError> {
        let name = "network/tensor/fragments";
        let shader = shaders::shader(name).ok_or_else(|| ExecError::MissingShader { shader: name.to_owned() })?;
        let pipeline =
            ComputePipeline::with(device, &PipelineDesc { name, shader, constants: &[], subgroup_size: Some(32) })?;
        let buffer = |name, size| {
            let desc = BufferDesc { name, size, usage: BufferUsage::STORAGE_BUFFER, memory: MemoryKind::Device };
            Buffer::new(device, &desc)
        };
        let (numbers, results) = (buffer("numbers", 2 * TILE as u64)?, buffer("fragments", 4 * (3 * TILE as u64 + 3))?);
        let halves: Vec<u8> = (0..TILE).flat_map(|i| f16::from_f32(i as f32).to_bits().to_le_bytes()).collect();
        device.upload(&numbers, 0, &halves)?;
        device.upload(&results, 0, &vec![0xff; results.size() as usize])?;
        let mut arena = DescriptorArena::new(device, name, 1)?;
        let set = arena.allocate(&pipeline, &[Bind::buffer(0, &numbers), Bind::buffer(1, &results)])?;
        device.run_once(name, |cmd| cmd.dispatch(&pipeline, &set, &[], [1, 1, 1]))?;
        let bytes = device.download(&results, 0, results.size())?;
        let words: Vec<usize> =
            bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize).collect();
        let order = |i: usize| words[i * TILE..(i + 1) * TILE].to_vec();
        let (weight, sum) = (order(0), order(1));
        if words[3 * TILE..] != [8; 3] || !is_permutation(&weight) || !is_permutation(&sum) {
            let reason = "its matrices are not spread as eight elements an invocation".to_owned();
            return Err(ExecError::Unavailable { route: "tensor", device: device.caps().name.clone(), reason });
        }
        let direct = order(2).iter().enumerate().all(|(at, &element)| element == direct_element(at));
        let alike = sum == order(2) && sum.chunks(2).all(|pair| pair[0] / SIDE == pair[1] / SIDE);
        Ok(Self { weight, sum, alike, direct })
    }
}

/// The element of a left operand, by rows, that the direct kernels put in a place of an invocation: four of row `invocation / 4`, in two
/// words eight columns apart, and the same of the row eight below.
fn direct_element(at: usize) -> usize {
    let (invocation, place) = (at / 8, at % 8);
    let row = invocation / 4 + 8 * (place / 4);
    let column = 2 * (invocation % 4) + place % 2 + 8 * (place / 2 % 2);
    row * SIDE + column
}

fn is_permutation(order: &[usize]) -> bool {
    let mut seen = [false; TILE];
    order.iter().all(|&at| at < TILE && !std::mem::replace(&mut seen[at], true))
}

/// Tiles in a device's order.
pub fn spread_tiles(tiles: &mut [u16], order: &[usize]) {
    for tile in tiles.chunks_exact_mut(TILE) {
        let natural: [u16; TILE] = std::array::from_fn(|i| tile[i]);
        tile.iter_mut().zip(order).for_each(|(to, &from)| *to = natural[from]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_that_repeat_an_element_are_none() {
        let mut order = Fragments::natural().weight;
        assert!(is_permutation(&order));
        order[5] = 4;
        assert!(!is_permutation(&order));
        order[5] = TILE;
        assert!(!is_permutation(&order));
    }

    #[test]
    fn the_direct_kernels_fill_a_left_operand() {
        let order: Vec<usize> = (0..TILE).map(direct_element).collect();
        assert!(is_permutation(&order));
        assert_eq!(order[..8], [0, 1, 8, 9, 128, 129, 136, 137]);
    }

    #[test]
    fn tiles_follow_the_order() {
        let order: Vec<usize> = (0..TILE).rev().collect();
        let mut tiles: Vec<u16> = (0..2 * TILE as u16).collect();
        spread_tiles(&mut tiles, &order);
        assert_eq!((tiles[0], tiles[TILE]), (TILE as u16 - 1, 2 * TILE as u16 - 1));
    }
}
