//! Whole frames beside the exact route.

use std::sync::Arc;

use gpu::Device;

use super::super::super::{ExecError, Kernels, Network, NetworkOptions, Route, Weights};
use super::super::Groups;
use super::Tally;
use crate::geometry::{Extent, Geometry};
use crate::model::synth::{self, Preset};
use crate::plan::Plan;

/// A frame of random features and a synthetic model.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    preset: Preset,
    size: Extent,
}

/// A usual model, also at a size whose levels are cut by windows and whose ViT has more than one block of keys; one that saturates.
pub const CASES: [Case; 3] = [
    Case { preset: Preset::Lively, size: Extent::new(64, 64) },
    Case { preset: Preset::Lively, size: Extent::new(328, 296) },
    Case { preset: Preset::Hot, size: Extent::new(136, 72) },
];

/// Halves from about -1 to 1.
fn features(count: usize) -> Vec<u8> {
    let mut state = 0x0dd0_5eed_1234_5678u64;
    let mut half = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 40) as u16 & 0x8000) | (0x2800 + (state >> 20) as u16 % 0x1400)
    };
    (0..count).flat_map(|_| half().to_le_bytes()).collect()
}

/// Every byte that both routes publish.
///
/// # Errors
/// Errors of the device.
pub fn tally(kernels: &Arc<Kernels>, device: &Arc<Device>, cases: &[Case]) -> Result<Tally, ExecError> {
    let exact = Kernels::new(device, Route::Exact)?;
    let options = NetworkOptions { keep_all: true, ..NetworkOptions::default() };
    let mut tally = Tally::default();
    for Case { preset, size } in cases {
        let model = synth::generate(*preset, 21)?;
        let weights = Weights::upload(device, &model)?;
        let plan = Arc::new(Plan::new(&Geometry::new(*size).expect("a size the contract accepts")));
        let inside = Groups::of(&plan);
        let network = |kernels| Network::new(device, kernels, &weights, Arc::clone(&plan), options);
        let (want, got) = (network(&exact)?, network(kernels)?);
        let features = features(plan.tensor(plan.features).elements());
        for network in [&want, &got] {
            network.write_tensor(plan.features, &features)?;
            network.run(1 << 34)?;
        }
        for op in &plan.ops {
            for id in op.kind.outputs().into_iter().filter(|&id| !inside.is_dropped(id)) {
                let (want, got) = (want.read_tensor(id)?, got.read_tensor(id)?);
                for (byte, (want, got)) in want.iter().zip(&got).enumerate() {
                    tally.count(want == got, || {
                        let tensor = &plan.tensor(id).label;
                        format!("byte {byte} of {tensor} at {size}, {preset:?}: {got:02x}, should be {want:02x}")
                    });
                }
            }
        }
    }
    Ok(tally)
}
