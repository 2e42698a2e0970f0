//! The kernels of the matrix-unit routes, on a software model of the units, against the CPU reference.
//!
//! The model of halves sums sixteen products in f32 and rounds to half; the contract truncates every product first. So a result
//! differs by a code now and then. A wrong index, epilogue or fusion differs in most codes and by many. The model of codes
//! does the contract's step, and not a bit may differ.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gpu::testing::TestDevice;

use super::super::kernels::{Kernels, Route};
use super::super::{Network, NetworkOptions, Weights};
use super::groups::Group;
use super::{Groups, Operands};
use crate::geometry::{Extent, Geometry};
use crate::hostile::Random;
use crate::model::Model;
use crate::model::synth::{self, Preset};
use crate::numerics::{e4m3, half};
use crate::plan::{Format, Op, OpId, OpKind, Plan, Tensor, TensorId};
use crate::reference::{Reference, TensorData};
use crate::replay::Policy;

/// Moderate values of both signs, as in a real frame.
fn fill(tensor: &Tensor, random: &mut Random) -> TensorData {
    let count = tensor.elements();
    let mut value = || {
        let r = random.next();
        (r & 0x8000, r >> 16)
    };
    match tensor.format {
        Format::E4m3 => {
            TensorData::Codes((0..count).map(|_| value()).map(|(s, r)| ((s >> 8) + 24 + r % 44) as u8).collect())
        }
        Format::Half => {
            TensorData::Halves((0..count).map(|_| value()).map(|(s, r)| (s + 0x2c00 + r % 0x1400) as u16).collect())
        }
    }
}

/// The operations of one group on a small grid.
fn alone(plan: &Plan, ops: &[Op], fine: Extent) -> Plan {
    let coarse = Extent::new(fine.width.div_ceil(2).next_multiple_of(4), fine.height.div_ceil(2).next_multiple_of(4));
    let mut plan = plan.clone();
    plan.ops = ops.to_vec();
    let mut halved = BTreeSet::new();
    for op in &mut plan.ops {
        match &mut op.kind {
            OpKind::Pool(o) => drop(halved.insert(o.output)),
            OpKind::Merge(o) => drop(halved.insert(o.low)),
            OpKind::PostBlend(o) => drop(halved.insert(o.up)),
            OpKind::VitAttention(o) => (o.tokens, o.padded) = (fine.pixels(), fine.pixels().next_multiple_of(64)),
            _ => {}
        }
    }
    let used: BTreeSet<TensorId> = ops.iter().flat_map(|op| [op.kind.inputs(), op.kind.outputs()].concat()).collect();
    for (i, tensor) in plan.tensors.iter_mut().enumerate() {
        let id = TensorId(i as u32);
        tensor.extent = if !used.contains(&id) {
            Extent::new(4, 4)
        } else if halved.contains(&id) {
            coarse
        } else {
            fine
        };
    }
    plan
}

/// How far results are from the reference's.
#[derive(Debug)]
struct Difference {
    /// Share of elements that differ.
    differ: f64,
    /// Root mean square of the difference, in parts of that of the reference's values.
    error: f64,
}

fn compare(format: Format, got: &[u8], want: &[u8]) -> Difference {
    let values = |bytes: &[u8]| -> Vec<f64> {
        match format {
            Format::E4m3 => bytes.iter().map(|&code| f64::from(e4m3::to_f32(code))).collect(),
            Format::Half => {
                let halves = bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]]));
                halves.map(|bits| f64::from(half::to_f32(bits))).collect()
            }
        }
    };
    let (got, want) = (values(got), values(want));
    let square: f64 = got.iter().zip(&want).map(|(g, w)| (g - w).powi(2)).sum();
    let whole: f64 = want.iter().map(|w| w * w).sum();
    let differ = got.iter().zip(&want).filter(|(g, w)| g != w).count() as f64;
    Difference { differ: differ / want.len() as f64, error: (square / whole).sqrt() }
}

struct Setup {
    kernels: Arc<Kernels>,
    model: Model,
    weights: Arc<Weights>,
    plan: Plan,
    // Last: everything else is gone when it looks for what is left.
    device: TestDevice,
}

impl Setup {
    /// On the units of a device that has them, else on the model of them.
    fn new(preset: Preset, operands: Operands) -> Self {
        let device = TestDevice::open().unwrap();
        let kernels = match (super::missing(device.caps(), operands), operands) {
            (Some(_), _) => Kernels::on_model(&device, operands, operands == Operands::Half),
            (None, Operands::Half) => Kernels::new(&device, Route::Tensor),
            (None, Operands::Float8) => Kernels::new(&device, Route::Float8),
        };
        Self::with(preset, device, kernels.unwrap())
    }

    /// On the model of halves.
    fn modelled(strips: bool) -> Self {
        let device = TestDevice::open().unwrap();
        let kernels = Kernels::on_model(&device, Operands::Half, strips).unwrap();
        Self::with(Preset::Lively, device, kernels)
    }

    fn with(preset: Preset, device: TestDevice, kernels: Arc<Kernels>) -> Self {
        let model = synth::generate(preset, 11).unwrap();
        let plan = Plan::new(&Geometry::new(Extent::new(64, 64)).unwrap());
        let weights = Weights::upload(&device, &model).unwrap();
        Self { kernels, weights, device, model, plan }
    }

    /// Whether every bit must agree.
    fn exact(&self) -> bool {
        self.kernels.route() == Route::Float8
    }

    /// What the group whose first operation has this label publishes on a grid of `fine` tokens.
    fn run(&self, label: &str, fine: Extent, options: NetworkOptions) -> Vec<Published> {
        let groups = Groups::of(&self.plan);
        let first = self.plan.ops.iter().position(|op| op.label == label).unwrap();
        let count =
            (1..).find(|n| first + n >= self.plan.ops.len() || !groups.covers(OpId((first + n) as u32))).unwrap();
        let plan = Arc::new(alone(&self.plan, &self.plan.ops[first..first + count], fine));
        let reference = Reference::new(&plan, &self.model).unwrap();
        let network = Network::new(&self.device, &self.kernels, &self.weights, Arc::clone(&plan), options).unwrap();
        assert!((1..count).all(|op| network.is_covered(OpId(op as u32))), "{label}");
        let mut random = Random::new(0x1234_5678_9abc_def1);
        let mut data = BTreeMap::new();
        let (mut written, mut outputs) = (BTreeSet::new(), BTreeSet::new());
        for (index, op) in plan.ops.iter().enumerate() {
            for id in op.kind.inputs() {
                if !written.contains(&id) && !data.contains_key(&id) {
                    let filling = fill(plan.tensor(id), &mut random);
                    network.write_tensor(id, &filling.to_bytes()).unwrap();
                    data.insert(id, filling);
                }
                outputs.remove(&id);
            }
            let inputs: Vec<&TensorData> = op.kind.inputs().iter().map(|id| &data[id]).collect();
            let results = reference.execute_op(OpId(index as u32), &inputs).unwrap();
            written.extend(results.iter().map(|output| output.id));
            outputs.extend(results.iter().map(|output| output.id));
            data.extend(results.into_iter().map(|output| (output.id, output.data)));
        }
        network.run(u64::MAX).unwrap();
        let kept = plan.ops.iter().flat_map(|op| op.kind.outputs()).filter(|&id| !groups.is_dropped(id));
        outputs.extend(kept);
        if options.step_cost.is_some() {
            let all = || outputs.iter().map(|&id| network.read_tensor(id).unwrap()).collect::<Vec<_>>();
            let once = all();
            network.run(u64::MAX).unwrap();
            assert!(all() == once, "{label}: another run gives other bytes");
        }
        let published = |id: TensorId| Published {
            name: format!("{label} {}", plan.tensor(id).label),
            format: plan.tensor(id).format,
            got: network.read_tensor(id).unwrap(),
            want: data[&id].to_bytes(),
        };
        outputs.into_iter().filter(|&id| !groups.is_dropped(id)).map(published).collect()
    }

    /// Checks a group against the reference.
    fn check(&self, label: &str, fine: Extent, options: NetworkOptions) {
        for Published { name, format, got, want } in self.run(label, fine, options) {
            let found = compare(format, &got, &want);
            if self.exact() {
                assert!(got == want, "{name}: {found:?}");
                continue;
            }
            eprintln!("{name}: {found:?}");
            // A wrong index, epilogue or fusion gives an error of about one.
            let near = found.error < 0.05 && (format == Format::Half || found.differ < 0.35);
            assert!(near, "{name}: {found:?}");
        }
    }
}

/// A tensor as the route published it and as the reference did.
struct Published {
    name: String,
    format: Format,
    got: Vec<u8>,
    want: Vec<u8>,
}

const SEPARATE: NetworkOptions =
    NetworkOptions { keep_all: true, unfused: false, step_cost: None, barriers: Policy::Ordered };

#[test]
fn every_operation_is_in_a_group_of_the_right_kind() {
    let plan = Plan::new(&Geometry::new(Extent::new(1920, 1080)).unwrap());
    let groups = Groups::of(&plan);
    let mut kinds = BTreeMap::new();
    for (op, group) in groups.iter() {
        let kind = match group {
            Group::Block(_) => "block",
            Group::SplitFfn(_) => "split",
            Group::Attend(..) => "attend",
            Group::VitQkv(..) => "vit qkv",
            Group::Vit(_) => "vit",
            Group::Gemm(_) => "gemm",
            Group::Plain => match plan.op(op).kind {
                OpKind::Pool(_) => "pool",
                OpKind::Merge(_) => "merge",
                _ => "other",
            },
        };
        *kinds.entry(kind).or_insert(0) += 1;
    }
    let want = [
        ("attend", 16),
        ("block", 46),
        // Two a 512-channel block, three a ViT block, five transitions each way.
        ("gemm", 2 * 16 + 3 * 8 + 10),
        ("merge", 1),
        ("pool", 1),
        ("split", 16),
        ("vit", 8),
        ("vit qkv", 8),
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), want);
}

#[test]
fn what_a_group_reads_outlives_what_it_writes() {
    let plan = Plan::new(&Geometry::new(Extent::new(64, 64)).unwrap());
    let groups = Groups::of(&plan);
    let memory = groups.memory_plan(&plan);
    let lives = crate::plan::lifetimes(&memory);
    for (id, tensor) in (0..).map(TensorId).zip(&memory.tensors) {
        assert_eq!(tensor.bytes() == 0, groups.is_dropped(id), "{}", tensor.label);
        assert!(!groups.is_dropped(id) || tensor.boundary.is_none(), "{}", tensor.label);
    }
    let firsts: Vec<usize> = groups.iter().map(|(op, _)| op.0 as usize).chain([plan.ops.len()]).collect();
    for pair in firsts.windows(2) {
        let ops = &plan.ops[pair[0]..pair[1]];
        let outputs: BTreeSet<TensorId> = ops.iter().flat_map(|op| op.kind.outputs()).collect();
        for input in ops.iter().flat_map(|op| op.kind.inputs()).filter(|id| !outputs.contains(id)) {
            for output in &outputs {
                let (input, output) = (&lives[input.0 as usize], &lives[output.0 as usize]);
                assert!(input.last >= output.first, "{}", ops[0].label);
            }
        }
    }
}

/// A group of every kind with the tokens of its grid, smaller than its windows fill.
const GROUPS: [(&str, (u32, u32)); 20] = [
    ("b0.adapter", (20, 12)),
    ("b1.expand", (20, 12)),
    ("b4.expand", (20, 12)),
    ("b66.merge", (20, 12)),
    ("b70.blend", (20, 12)),
    ("b14.expand", (12, 12)),
    ("b62.merge", (12, 12)),
    ("b15.expand", (12, 12)),
    ("b23.branch", (12, 12)),
    ("b23.qkv", (12, 12)),
    ("b4.transition", (12, 12)),
    ("b8.transition", (12, 12)),
    ("b66.upsample", (12, 12)),
    // Of those that take their rows straight from memory: 128, 96 and 48 rows a workgroup.
    ("b23.ffn", (20, 20)),
    ("b23.ffn", (12, 12)),
    ("b30.project", (12, 12)),
    ("b31.ffn", (12, 8)),
    ("b31.qkv", (12, 8)),
    ("b31.attention", (12, 8)),
    ("b39.upsample", (12, 8)),
];

fn check_groups(setup: &Setup) {
    for (label, (width, height)) in GROUPS {
        setup.check(label, Extent::new(width, height), SEPARATE);
    }
    // In several dispatches.
    let options = NetworkOptions { step_cost: Some(1), ..SEPARATE };
    for label in ["b0.adapter", "b4.expand", "b70.blend", "b66.upsample"] {
        setup.check(label, Extent::new(20, 28), options);
    }
}

#[test]
fn groups_agree_with_the_reference() {
    check_groups(&Setup::new(Preset::Lively, Operands::Half));
}

#[test]
fn groups_of_codes_are_the_reference_bit_for_bit() {
    check_groups(&Setup::new(Preset::Lively, Operands::Float8));
}

/// Minus zeros, NaN codes in the weights and sums that saturate.
#[test]
fn groups_of_codes_are_exact_on_a_hostile_model() {
    let setup = Setup::new(Preset::Hot, Operands::Float8);
    for label in ["b0.adapter", "b70.blend", "b14.expand", "b23.branch", "b23.qkv", "b31.qkv", "b31.attention"] {
        setup.check(label, Extent::new(8, 8), SEPARATE);
    }
}

/// The kernels for devices on which neither sums nor rows from memory can become left operands in registers: `block` for 32 and 64
/// channels too, `attend`, `gemm` and `vit`.
#[test]
fn groups_without_strips_agree_with_the_reference() {
    let setup = Setup::modelled(false);
    for label in ["b0.adapter", "b4.expand", "b66.merge", "b70.blend"] {
        setup.check(label, Extent::new(20, 12), SEPARATE);
    }
    setup.check("b5.expand", Extent::new(12, 12), SEPARATE);
    for label in ["b23.qkv", "b23.ffn"] {
        setup.check(label, Extent::new(12, 12), SEPARATE);
    }
    for label in ["b31.ffn", "b31.qkv", "b31.attention"] {
        setup.check(label, Extent::new(12, 8), SEPARATE);
    }
}
