//! The tape of a whole network: what the recorder writes down, and the barriers it needs.

use std::sync::Arc;

use gpu::testing::TestDevice;

use super::*;
use crate::geometry::{Extent, Geometry};
use crate::model::synth::{self, Preset};
use crate::plan::Plan;
use crate::replay::{Binding, Effect, Lowering, Policy, TapeIdentity, hazard, lowering};

fn network(device: &TestDevice, tuning: Tuning, size: Extent, barriers: Policy) -> Network {
    let model = synth::generate(Preset::Lively, 3).unwrap();
    let kernels = Kernels::with_tuning(device, Route::Exact, tuning).unwrap();
    let weights = Weights::upload(device, &model).unwrap();
    let plan = Arc::new(Plan::new(&Geometry::new(size).unwrap()));
    let options = NetworkOptions { barriers, ..NetworkOptions::default() };
    Network::new(device, &kernels, &weights, plan, options).unwrap()
}

#[test]
fn a_tape_has_every_step_and_every_barrier_it_needs() {
    let device = TestDevice::open().unwrap();
    for tuning in [Tuning::of(&device), Tuning::Tile] {
        let network = network(&device, tuning, Extent::new(64, 64), Policy::Ordered);
        let tape = network.tape();
        assert_eq!(tape.dispatches(), network.steps());
        assert!(tape.dispatches() > 200, "{}", tape.dispatches());
        let effects = tape.entries.iter().flat_map(|entry| &entry.bindings).map(|binding| binding.effect);
        assert!(effects.into_iter().all(|effect| effect != Effect::Unknown), "{tuning:?}");
        let actors = tape.actors();
        assert_eq!(Lowering::validate(&actors, &tape.barriers), Ok(()));
        // No barrier that a hazard needs can go without being noticed.
        let needed = hazard::needed(&actors);
        let count = needed.iter().filter(|barrier| **barrier).count();
        assert!(count > 150, "{count} of {}", needed.len());
        for at in (0..needed.len()).filter(|&at| needed[at]) {
            let mut fewer = needed.clone();
            fewer[at] = false;
            let open = Lowering::validate(&actors, &fewer).unwrap_err();
            assert!(!open[0].describe(&tape).is_empty());
        }
        // Every position is argued for, and the entry after the features reads them.
        let arguments = lowering::arguments(&tape);
        assert_eq!(arguments.len(), tape.dispatches() + 1);
        assert!(arguments[0].barrier && arguments[0].reason.contains("after preprocess: write-read"), "{arguments:?}");
        assert!(tape.entries[1..].iter().all(|entry| !entry.depends.is_empty()));
    }
}

#[test]
fn the_needed_policy_has_fewer_barriers_and_leaves_nothing_open() {
    let device = TestDevice::open().unwrap();
    let tuning = Tuning::of(&device);
    let count = |policy| {
        let tape = network(&device, tuning, Extent::new(64, 64), policy).tape();
        assert_eq!(Lowering::validate(&tape.actors(), &tape.barriers), Ok(()));
        tape.barriers.iter().filter(|barrier| **barrier).count()
    };
    let (ordered, needed) = (count(Policy::Ordered), count(Policy::Needed));
    assert!(needed < ordered, "{needed} of {ordered}");
}

#[test]
fn a_tape_is_the_same_tape_every_time() {
    let device = TestDevice::open().unwrap();
    let tuning = Tuning::of(&device);
    let one = network(&device, tuning, Extent::new(64, 64), Policy::Ordered);
    let two = network(&device, tuning, Extent::new(64, 64), Policy::Ordered);
    let identity = TapeIdentity::of(&one.tape());
    assert_eq!(identity, TapeIdentity::of(&one.tape()));
    assert_eq!(identity.differences(&TapeIdentity::of(&two.tape())), Vec::<&str>::new());
    let larger = network(&device, tuning, Extent::new(96, 64), Policy::Ordered);
    let differences = identity.differences(&TapeIdentity::of(&larger.tape()));
    assert!(differences.contains(&"geometry") && differences.contains(&"sequence"), "{differences:?}");
}

#[test]
fn a_write_outside_the_tensors_damages_a_guard() {
    let device = TestDevice::open().unwrap();
    let network = network(&device, Tuning::of(&device), Extent::new(64, 64), Policy::Ordered);
    let (guards, damaged) = network.check_guards().unwrap();
    assert!(guards >= 4 && damaged.is_empty(), "{guards} {damaged:?}");
    let [first, ..] = network.objects.arenas.as_slice() else { panic!() };
    device.upload(first, 8, &[1, 2, 3, 4]).unwrap();
    assert_eq!(network.check_guards().unwrap().1, ["network activations 0 byte 8"]);
}

#[test]
fn bindings_that_alias_bytes_are_told_apart_by_them() {
    let binding = |offset, range| Binding { number: 0, buffer: "a".into(), offset, range, effect: Effect::Read };
    assert!(binding(0, 10).overlaps(&binding(9, 1)) && !binding(0, 10).overlaps(&binding(10, 1)));
    assert!(binding(0, 10).covers(&binding(3, 7)) && !binding(0, 10).covers(&binding(3, 8)));
}
