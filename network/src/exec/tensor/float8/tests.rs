//! The check, on the software model of the units.

use gpu::testing::TestDevice;

use super::super::super::Kernels;
use super::super::Operands;
use super::{frames, steps};

#[test]
fn the_model_does_the_step_of_the_contract() {
    let device = TestDevice::open().unwrap();
    let kernels = Kernels::on_model(&device, Operands::Float8, false).unwrap();
    let tally = steps::tally(&kernels, &device).unwrap();
    assert!(tally.agrees(), "{tally}");
    assert!(tally.compared > 45_000, "{tally}");
}

/// Minutes on a small machine.
#[test]
#[ignore = "takes minutes; scripts/test.sh long"]
fn whole_frames_on_the_model_are_exact() {
    let device = TestDevice::open().unwrap();
    let kernels = Kernels::on_model(&device, Operands::Float8, false).unwrap();
    let tally = frames::tally(&kernels, &device, &frames::CASES[..1]).unwrap();
    assert!(tally.agrees(), "{tally}");
}
