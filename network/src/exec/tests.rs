//! Every operation on the device against the CPU reference, on small tensors of hostile contents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gpu::testing::TestDevice;

use super::blocks::Bounds;
use super::fusion::Fusions;
use super::kernels::Tiles;
use super::lower::Lowering;
use super::step::Bound;
use super::*;
use crate::geometry::{Extent, Geometry};
use crate::hostile::{Filling, Random};
use crate::model::Model;
use crate::model::synth::{self, Preset};
use crate::plan::{Op, OpId, OpKind, Plan, TensorId};
use crate::reference::{Reference, TensorData};
use crate::replay::Policy;

/// A plan of one operation of `plan`, on a grid of `fine` tokens (and half of that where the operation changes level).
fn alone(plan: &Plan, op: &Op, fine: Extent) -> Plan {
    let coarse = Extent::new(fine.width.div_ceil(2).next_multiple_of(4), fine.height.div_ceil(2).next_multiple_of(4));
    let mut kind = op.kind.clone();
    let halved: Vec<TensorId> = match &mut kind {
        OpKind::Pool(o) => vec![o.output],
        OpKind::Merge(o) => vec![o.low],
        OpKind::PostBlend(o) => vec![o.up],
        OpKind::VitAttention(o) => {
            o.tokens = fine.pixels();
            o.padded = o.tokens.next_multiple_of(64);
            Vec::new()
        }
        _ => Vec::new(),
    };
    let mut tensors = plan.tensors.clone();
    let used: BTreeSet<TensorId> = kind.inputs().into_iter().chain(kind.outputs()).collect();
    for (i, tensor) in tensors.iter_mut().enumerate() {
        let id = TensorId(i as u32);
        tensor.extent = if !used.contains(&id) {
            Extent::new(4, 4)
        } else if halved.contains(&id) {
            coarse
        } else {
            fine
        };
    }
    let op = Op { kind, ..op.clone() };
    Plan { tensors, ops: vec![op], ..plan.clone() }
}

/// What makes two operations run the same code.
fn signature(plan: &Plan, op: &Op) -> String {
    let channels: Vec<_> = op
        .kind
        .inputs()
        .iter()
        .chain(&op.kind.outputs())
        .map(|&id| (plan.tensor(id).channels, plan.tensor(id).format))
        .collect();
    let detail = match &op.kind {
        OpKind::Gemm(o) => {
            format!("{} {} {} {} {}", o.weight.k, o.weight.groups, o.weight.stacked, o.partition, o.silu)
        }
        OpKind::WindowAttention(o) => format!("{}", o.phase),
        OpKind::Normalise(o) => format!("{}", o.vit),
        _ => String::new(),
    };
    format!("{} {channels:?} {detail}", op.kind.name())
}

struct Setup {
    device: TestDevice,
    model: Model,
    plan: Plan,
}

impl Setup {
    fn new(preset: Preset, seed: u64) -> Self {
        let plan = Plan::new(&Geometry::new(Extent::new(64, 64)).unwrap());
        Self { device: TestDevice::open().unwrap(), model: synth::generate(preset, seed).unwrap(), plan }
    }

    /// Runs every distinct operation that `select` takes on the device and on the CPU.
    fn check(
        &self,
        tuning: Tuning,
        fillings: &[Filling],
        options: NetworkOptions,
        select: impl Fn(&Op) -> Option<Extent>,
    ) {
        let kernels = Kernels::with_tuning(&self.device, Route::Exact, tuning).unwrap();
        let weights = Weights::upload(&self.device, &self.model).unwrap();
        let mut seen = BTreeSet::new();
        let mut random = Random::new(0x1234_5678_9abc_def1);
        for op in &self.plan.ops {
            let Some(fine) = select(op) else { continue };
            if !seen.insert(signature(&self.plan, op)) {
                continue;
            }
            let plan = Arc::new(alone(&self.plan, op, fine));
            let reference = Reference::new(&plan, &self.model).unwrap();
            let network = Network::new(&self.device, &kernels, &weights, Arc::clone(&plan), options).unwrap();
            for &filling in fillings {
                let ids = plan.ops[0].kind.inputs();
                let inputs: Vec<TensorData> = ids.iter().map(|&id| random.tensor(plan.tensor(id), filling)).collect();
                for (&id, data) in ids.iter().zip(&inputs) {
                    network.write_tensor(id, &data.to_bytes()).unwrap();
                }
                network.run_op(OpId(0)).unwrap();
                let want = reference.execute_op(OpId(0), &inputs.iter().collect::<Vec<_>>()).unwrap();
                for output in want {
                    let tensor = plan.tensor(output.id);
                    let got = network.read_tensor(output.id).unwrap();
                    let want = output.data.to_bytes();
                    if let Some(at) = (0..want.len()).find(|&i| got[i] != want[i]) {
                        let element = at / tensor.format.bytes();
                        panic!(
                            "{} {filling:?} {}: row {} channel {}: got {:02x}, want {:02x} ({} of {} bytes wrong)",
                            op.label,
                            tensor.label,
                            element / tensor.channels,
                            element % tensor.channels,
                            got[at],
                            want[at],
                            (0..want.len()).filter(|&i| got[i] != want[i]).count(),
                            want.len(),
                        );
                    }
                }
            }
        }
        assert!(!seen.is_empty());
    }
}

/// A grid for an operation: fewer tokens for wider rows.
fn grid(plan: &Plan, op: &Op) -> Extent {
    let widest = op.kind.inputs().iter().chain(&op.kind.outputs()).map(|&id| plan.tensor(id).channels).max();
    match widest.unwrap_or(0) {
        0..=512 => Extent::new(20, 12),
        _ => Extent::new(12, 8),
    }
}

const SEPARATE: NetworkOptions =
    NetworkOptions { keep_all: true, unfused: false, step_cost: None, barriers: Policy::Ordered };

#[test]
fn small_operations_match_the_reference() {
    let setup = Setup::new(Preset::Lively, 3);
    let tuning = Tuning::of(&setup.device);
    let fillings = [Filling::Usual, Filling::Wild, Filling::Sparse];
    setup.check(tuning, &fillings, SEPARATE, |op| (!matches!(op.kind, OpKind::Gemm(_))).then(|| grid(&setup.plan, op)));
}

#[test]
fn multiplies_match_the_reference() {
    let setup = Setup::new(Preset::Lively, 3);
    let tuning = Tuning::of(&setup.device);
    setup.check(tuning, &[Filling::Usual, Filling::Wild, Filling::Sparse], SEPARATE, |op| {
        matches!(op.kind, OpKind::Gemm(_)).then(|| grid(&setup.plan, op))
    });
}

#[test]
fn infinite_accumulators_match_the_reference() {
    let setup = Setup::new(Preset::Hot, 6);
    let tuning = Tuning::of(&setup.device);
    setup.check(tuning, &[Filling::Infinite], SEPARATE, |op| {
        let finite_only = matches!(op.kind, OpKind::Adapter(_) | OpKind::Head(_));
        let small = op.block < 10 || op.block > 60;
        (small && !finite_only).then(|| grid(&setup.plan, op))
    });
}

#[test]
fn split_operations_match_the_reference() {
    // So little work a step that every operation takes several.
    let options = NetworkOptions { step_cost: Some(1), ..NetworkOptions::default() };
    let mut setup = Setup::new(Preset::Lively, 4);
    // NaN codes of both signs among the weights, which the reference reads as zero.
    for (record, offset, code) in [("block5.layer0.layer", 3, 0x7f), ("block31.layer0.layer", 1000, 0xff)] {
        setup.model = setup.model.with_byte(record, offset, code).unwrap();
    }
    let tuning = Tuning::of(&setup.device);
    setup.check(tuning, &[Filling::Usual], options, |op| {
        (op.block < 6 || op.block == 31 || op.block > 65).then_some(Extent::new(28, 20))
    });
}

#[test]
fn the_tile_form_matches_the_reference() {
    let setup = Setup::new(Preset::Lively, 5);
    // Software devices are slow at this form, so a few blocks stand for all: every kernel and every kind of seed.
    setup.check(Tuning::Tile, &[Filling::Wild], SEPARATE, |op| {
        let kinds = match op.kind {
            OpKind::WindowAttention(_) | OpKind::Gemm(_) => matches!(op.block, 0 | 5 | 23 | 39),
            OpKind::VitAttention(_) | OpKind::Adapter(_) | OpKind::Head(_) => true,
            _ => false,
        };
        kinds.then_some(Extent::new(12, 8))
    });
}

#[test]
fn large_frames_stay_within_the_limits_of_any_device() {
    let plan = Plan::new(&Geometry::new(Extent::new(3840, 2160)).unwrap());
    let weights = Weights::placed_only(&plan);
    for tuning in [Tuning::Tile, Tuning::Truncating, Tuning::Matrix, Tuning::Lanes(8)] {
        let bounds = Bounds { binding: 128 << 20, groups: 65535, cost: 1 << 40 };
        let tiles = Tiles::new(tuning);
        let fusions = Fusions::of(&plan, tiles);
        let lowering = Lowering { plan: &plan, weights: &weights, tiles, table: None, fusions: &fusions, bounds };
        for index in 0..plan.ops.len() as u32 {
            let label = &plan.op(OpId(index)).label;
            for step in lowering.steps(OpId(index)).unwrap() {
                assert!(step.groups.iter().all(|&g| (1..=65535).contains(&g)), "{label}: {:?}", step.groups);
                for bound in step.bound {
                    let Bound::Tensor { id, offset, range } = bound else { continue };
                    assert!((1..=128 << 20).contains(&range) && offset % 256 == 0, "{label}: {offset} + {range}");
                    assert!(offset + range <= plan.tensor(id).bytes() as u64, "{label}");
                }
            }
        }
    }
}

#[test]
fn chained_multiplies_match_the_reference() {
    // So little work a step that the pair runs in many blocks, each after the one before has left the scratch buffer.
    let options = NetworkOptions { step_cost: Some(1), ..NetworkOptions::default() };
    let setup = Setup::new(Preset::Lively, 7);
    let kernels = Kernels::with_tuning(&setup.device, Route::Exact, Tuning::of(&setup.device)).unwrap();
    let weights = Weights::upload(&setup.device, &setup.model).unwrap();
    let mut random = Random::new(0x0dd0_5eed);
    for label in ["b1.expand", "b9.expand", "b23.narrow"] {
        let first = setup.plan.ops.iter().position(|op| op.label == label).unwrap();
        let mut plan = alone(&setup.plan, &setup.plan.ops[first], Extent::new(28, 20));
        let both = [first, first + 1].map(|i| setup.plan.ops[i].clone());
        for id in both[1].kind.inputs().into_iter().chain(both[1].kind.outputs()) {
            plan.tensors[id.0 as usize].extent = Extent::new(28, 20);
        }
        plan.ops = both.to_vec();
        let plan = Arc::new(plan);
        let reference = Reference::new(&plan, &setup.model).unwrap();
        let network = Network::new(&setup.device, &kernels, &weights, Arc::clone(&plan), options).unwrap();
        assert!(network.is_covered(OpId(1)) && network.op_steps(OpId(0)).len() > 2, "{label}");
        let between = plan.ops[0].kind.outputs()[0];
        let input_ids: BTreeSet<TensorId> =
            plan.ops.iter().flat_map(|op| op.kind.inputs()).filter(|&id| id != between).collect();
        let mut data: BTreeMap<TensorId, TensorData> =
            input_ids.iter().map(|&id| (id, random.tensor(plan.tensor(id), Filling::Wild))).collect();
        for (&id, content) in &data {
            network.write_tensor(id, &content.to_bytes()).unwrap();
        }
        network.run(u64::MAX).unwrap();
        for op in [OpId(0), OpId(1)] {
            let inputs: Vec<&TensorData> = plan.op(op).kind.inputs().iter().map(|id| &data[id]).collect();
            let outputs = reference.execute_op(op, &inputs).unwrap();
            data.extend(outputs.into_iter().map(|output| (output.id, output.data)));
        }
        for id in plan.ops[1].kind.outputs() {
            assert!(network.read_tensor(id).unwrap() == data[&id].to_bytes(), "{label}: {}", plan.tensor(id).label);
        }
    }
}

#[test]
fn the_fast_forms_match_the_plain_one() {
    // Only on devices that have them; the others must not take them.
    let setup = Setup::new(Preset::Lively, 8);
    let fast = Tuning::fast(&setup.device);
    for &tuning in &fast {
        assert_eq!(Kernels::certify(&setup.device, tuning).unwrap(), Vec::<String>::new(), "{tuning:?}");
        setup.check(tuning, &[Filling::Wild], SEPARATE, |op| Some(grid(&setup.plan, op)));
    }
    let kernels = Kernels::new(&setup.device, Route::Exact).unwrap();
    let plain = matches!(kernels.tuning(), Tuning::Tile | Tuning::Lanes(_));
    assert!(plain || fast.contains(&kernels.tuning()));
}
