//! The route's kernels, on a software model of the matrix units, against the CPU reference.
//!
//! The model sums sixteen products in f32 and rounds to half; the contract truncates every product first. So a result
//! differs by a code now and then. A wrong index, epilogue or fusion differs in most codes and by many.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gpu::testing::TestDevice;

use super::super::kernels::Kernels;
use super::super::{Network, NetworkOptions, Weights};
use super::Groups;
use super::groups::Group;
use crate::geometry::{Extent, Geometry};
use crate::model::Model;
use crate::model::synth::{self, Preset};
use crate::numerics::{e4m3, half};
use crate::plan::{Format, Op, OpId, OpKind, Plan, Tensor, TensorId};
use crate::reference::{Reference, TensorData};
use crate::replay::Policy;

/// xorshift64*
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }
}

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
    fn new(preset: Preset) -> Self {
        let device = TestDevice::open().unwrap();
        let model = synth::generate(preset, 11).unwrap();
        let plan = Plan::new(&Geometry::new(Extent::new(64, 64)).unwrap());
        let kernels = if super::missing(device.caps()).is_none() {
            Kernels::new(&device, super::super::Route::Tensor)
        } else {
            Kernels::tensor_model(&device)
        };
        let weights = Weights::upload(&device, &model).unwrap();
        Self { kernels: kernels.unwrap(), weights, device, model, plan }
    }

    /// The group whose first operation has this label, on a grid of `fine` tokens.
    fn check(&self, label: &str, fine: Extent, options: NetworkOptions) {
        let groups = Groups::of(&self.plan);
        let first = self.plan.ops.iter().position(|op| op.label == label).unwrap();
        let count =
            (1..).find(|n| first + n >= self.plan.ops.len() || !groups.covers(OpId((first + n) as u32))).unwrap();
        let plan = Arc::new(alone(&self.plan, &self.plan.ops[first..first + count], fine));
        let reference = Reference::new(&plan, &self.model).unwrap();
        let network = Network::new(&self.device, &self.kernels, &self.weights, Arc::clone(&plan), options).unwrap();
        assert!((1..count).all(|op| network.is_covered(OpId(op as u32))), "{label}");
        let mut random = Random(0x1234_5678_9abc_def1);
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
        for id in outputs.into_iter().filter(|&id| !groups.is_dropped(id)) {
            let tensor = plan.tensor(id);
            let found = compare(tensor.format, &network.read_tensor(id).unwrap(), &data[&id].to_bytes());
            eprintln!("{label} {}: {found:?}", tensor.label);
            // A wrong index, epilogue or fusion gives an error of about one.
            assert!(
                found.error < 0.05 && (tensor.format == Format::Half || found.differ < 0.35),
                "{label} {}",
                tensor.label
            );
        }
    }
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

#[test]
fn groups_agree_with_the_reference() {
    let setup = Setup::new(Preset::Lively);
    for label in ["b0.adapter", "b1.expand", "b4.expand", "b66.merge", "b70.blend"] {
        setup.check(label, Extent::new(20, 12), SEPARATE);
    }
    for label in ["b14.expand", "b62.merge", "b15.expand", "b23.branch", "b23.qkv"] {
        setup.check(label, Extent::new(12, 12), SEPARATE);
    }
    for label in ["b4.transition", "b8.transition", "b66.upsample", "b23.ffn", "b30.project"] {
        setup.check(label, Extent::new(12, 12), SEPARATE);
    }
    for label in ["b31.ffn", "b31.qkv", "b31.attention", "b39.upsample"] {
        setup.check(label, Extent::new(12, 8), SEPARATE);
    }
    // In several dispatches.
    let options = NetworkOptions { step_cost: Some(1), ..SEPARATE };
    for label in ["b0.adapter", "b4.expand", "b70.blend", "b66.upsample"] {
        setup.check(label, Extent::new(20, 28), options);
    }
}
