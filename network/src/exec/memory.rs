//! Placement of the activations in device memory.

use crate::geometry::{Extent, Geometry};
use crate::plan::{Arena, Plan, TensorId};

use super::ExecError;
use super::fusion::Fusions;
use super::kernels::{Tiles, Tuning};
use super::lower::CHAIN_BYTES;

/// Alignment of every tensor, which satisfies any device's binding alignment.
const ALIGNMENT: usize = 256;

/// Bytes of the guard words around every range of the arena: nobody writes them, so a kernel that writes outside its
/// tensor is found out.
pub(super) const GUARD: u64 = 256;

/// Bytes of device memory by purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Activations as placed, partial sums included.
    pub arena: u64,
    /// The largest sum of activations that live at once: no placement can be smaller.
    pub bound: u64,
    /// Weights.
    pub weights: u64,
}

/// Where a tensor lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Index of the buffer.
    pub buffer: usize,
    /// First byte in the buffer.
    pub offset: u64,
    /// Bytes of the tensor.
    pub bytes: u64,
}

/// Where every tensor of a plan lies.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    slots: Vec<Slot>,
    /// Bytes of each buffer.
    pub buffers: Vec<u64>,
    /// See [`Memory::bound`].
    pub bound: u64,
    /// Where the guard words lie: index of the buffer and first byte.
    pub guards: Vec<(usize, u64)>,
}

impl Placement {
    /// One buffer in which tensors share bytes when their lives do not overlap, with guard words at both ends.
    pub fn shared(plan: &Plan) -> Self {
        let arena = Arena::new(plan, ALIGNMENT, true);
        let slot = |id: u32| {
            let slot = arena.slot(TensorId(id));
            Slot { buffer: 0, offset: GUARD + slot.offset as u64, bytes: slot.bytes as u64 }
        };
        let slots = (0..plan.tensors.len() as u32).map(slot).collect();
        let end = GUARD + (arena.bytes as u64).next_multiple_of(GUARD);
        Self { slots, buffers: vec![end + GUARD], bound: arena.bound as u64, guards: vec![(0, 0), (0, end)] }
    }

    /// One buffer for what the network reads and gives, with guard words around both; nothing else has any bytes.
    pub fn ends(plan: &Plan) -> Self {
        let mut slots = vec![Slot { buffer: 0, offset: GUARD, bytes: 0 }; plan.tensors.len()];
        let (mut end, mut bound, mut guards) = (GUARD, 0, vec![(0, 0)]);
        for id in [plan.features, plan.head] {
            let bytes = plan.tensor(id).bytes() as u64;
            slots[id.0 as usize] = Slot { buffer: 0, offset: end, bytes };
            bound += bytes;
            end += bytes.next_multiple_of(GUARD);
            guards.push((0, end));
            end += GUARD;
        }
        Self { slots, buffers: vec![end], bound, guards }
    }

    /// Bytes of the arena and the scratch buffer in the form that fuses least, without placing anything for good.
    pub fn predicted(plan: &Plan) -> (u64, u64) {
        let fusions = Fusions::of(plan, Tiles::new(Tuning::Tile));
        let placement = Self::shared(&fusions.memory_plan(plan));
        (placement.bytes() + fusions.largest_between(plan).min(CHAIN_BYTES), placement.bound)
    }

    /// Every tensor has bytes of its own with guard words before and behind it, in as many buffers of at most `most` bytes
    /// as that takes.
    pub fn separate(plan: &Plan, most: u64) -> Self {
        let mut buffers = vec![GUARD];
        let mut slots = Vec::new();
        let mut guards = vec![(0, 0)];
        for tensor in &plan.tensors {
            let size = tensor.bytes().next_multiple_of(ALIGNMENT) as u64;
            let mut used = buffers[buffers.len() - 1];
            if used > GUARD && used + size + GUARD > most {
                guards.push((buffers.len(), 0));
                buffers.push(GUARD);
                used = GUARD;
            }
            let buffer = buffers.len() - 1;
            slots.push(Slot { buffer, offset: used, bytes: tensor.bytes() as u64 });
            guards.push((buffer, used + size));
            buffers[buffer] = used + size + GUARD;
        }
        let bound = Arena::new(plan, ALIGNMENT, true).bound as u64;
        Self { slots, buffers, bound, guards }
    }

    /// Where a tensor lies.
    pub fn slot(&self, id: TensorId) -> Slot {
        self.slots[id.0 as usize]
    }

    /// Bytes of all buffers.
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().sum()
    }
}

/// Refuses a plan whose arena is over a limit, naming a size that fits.
pub(super) fn too_large(plan: &Plan, need: u64, limit: u64, limit_name: &'static str) -> ExecError {
    let valid = plan.geometry.valid;
    ExecError::TooLarge { valid, need, limit, limit_name, fits: largest_that_fits(valid, limit) }
}

/// The largest of sixteen sizes of the same shape whose arena is within `limit`.
fn largest_that_fits(valid: Extent, limit: u64) -> Option<Extent> {
    (1..16).rev().find_map(|sixteenths| {
        let side = |v: u32| (v * sixteenths / 16).max(1);
        let extent = Extent::new(side(valid.width), side(valid.height));
        let plan = Plan::new(&Geometry::new(extent).ok()?);
        (Placement::predicted(&plan).0 <= limit).then_some(extent)
    })
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_fits_is_named() {
        let plan = Plan::new(&Geometry::new(Extent::new(3840, 2160)).unwrap());
        let need = Placement::predicted(&plan).0;
        let error = too_large(&plan, need, need / 3, "maxMemoryAllocationSize").to_string();
        assert!(error.contains("fits") && error.contains("3840x2160"), "{error}");
        let ExecError::TooLarge { fits: Some(fits), .. } = too_large(&plan, need, need / 3, "") else { panic!() };
        let smaller = Plan::new(&Geometry::new(fits).unwrap());
        assert!(Placement::predicted(&smaller).0 <= need / 3);
    }

    #[test]
    fn separate_tensors_do_not_touch() {
        let plan = Plan::new(&Geometry::new(Extent::new(64, 64)).unwrap());
        let placement = Placement::separate(&plan, 64 << 20);
        assert!(placement.buffers.len() > 1 && placement.buffers.iter().all(|&b| b <= 64 << 20));
        let mut ends = vec![0; placement.buffers.len()];
        for id in 0..plan.tensors.len() as u32 {
            let slot = placement.slot(TensorId(id));
            assert!(slot.offset >= ends[slot.buffer]);
            ends[slot.buffer] = slot.offset + slot.bytes;
        }
        // A guard lies right before and right behind every tensor.
        for id in 0..plan.tensors.len() as u32 {
            let slot = placement.slot(TensorId(id));
            let end = slot.offset + slot.bytes.next_multiple_of(GUARD);
            assert!(placement.guards.contains(&(slot.buffer, slot.offset - GUARD)), "{id}");
            assert!(placement.guards.contains(&(slot.buffer, end)), "{id}");
        }
    }
}
