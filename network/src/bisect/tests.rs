use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use super::*;
use crate::geometry::{Extent, Geometry};
use crate::model::synth::{self, Preset};
use crate::plan::{OpId, OpKind, Plan, TensorId};
use crate::reference::{Reference, TensorData};

/// Executions of the reference by operation, so that 30 searches cost one run.
struct Memo<'a> {
    reference: &'a Reference,
    known: &'a RefCell<HashMap<OpId, Vec<TensorData>>>,
}

impl Side for Memo<'_> {
    fn name(&self) -> String {
        "reference".into()
    }

    fn execute(&mut self, id: OpId, inputs: &[&TensorData]) -> Result<Vec<Option<TensorData>>, SideError> {
        if let Some(known) = self.known.borrow().get(&id) {
            return Ok(known.iter().cloned().map(Some).collect());
        }
        let outputs = self.reference.execute_op(id, inputs)?.into_iter().map(|output| output.data);
        let outputs: Vec<TensorData> = outputs.collect();
        self.known.borrow_mut().insert(id, outputs.clone());
        Ok(outputs.into_iter().map(Some).collect())
    }
}

/// What is particular about an operation beside its kind.
fn form(kind: &OpKind) -> String {
    match kind {
        OpKind::Gemm(op) => format!(
            "gemm groups {} stacked {} parts {} seed {} silu {} half {} code {}",
            op.weight.groups > 1,
            op.weight.stacked,
            op.partition < op.weight.k,
            op.seed.is_some(),
            op.silu,
            op.out_half.is_some(),
            op.out_code.is_some()
        ),
        OpKind::Normalise(op) => format!("normalise vit {}", op.vit),
        OpKind::WindowAttention(op) => format!("window phase {}", op.phase),
        OpKind::Merge(op) => format!("merge half {}", op.out_half.is_some()),
        other => other.name().to_owned(),
    }
}

fn features(plan: &Plan) -> Vec<u16> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        crate::numerics::half::from_f32((state >> 16) as f32 / 65536.0 - 0.5)
    };
    (0..plan.tensor(plan.features).elements()).map(|_| next()).collect()
}

#[test]
fn a_fault_in_any_operation_is_found_there_with_its_operands() {
    let plan = Plan::new(&Geometry::new(Extent::new(33, 33)).unwrap());
    let model = synth::generate(Preset::Lively, 1).unwrap();
    let reference = Reference::new(&plan, &model).unwrap();
    let features = features(&plan);
    let known = RefCell::new(HashMap::new());
    let memo = || Memo { reference: &reference, known: &known };

    let none = first_difference(&plan, &features, &mut memo(), &mut memo(), |_| {}).unwrap();
    assert!(none.is_none());

    // One operation of every form, then others up to 40.
    let mut chosen: BTreeMap<String, usize> = BTreeMap::new();
    for (i, op) in plan.ops.iter().enumerate() {
        chosen.entry(form(&op.kind)).or_insert(i);
    }
    let kinds: std::collections::BTreeSet<&str> = chosen.values().map(|&i| plan.ops[i].kind.name()).collect();
    assert_eq!(kinds.len(), 9, "every kind: {kinds:?}");
    let more = (0..plan.ops.len()).step_by(plan.ops.len() / 24);
    let ops: std::collections::BTreeSet<usize> = chosen.values().copied().chain(more).collect();
    assert!(ops.len() >= 30, "{}", ops.len());

    for i in ops {
        let op = OpId(i as u32);
        let outputs = plan.op(op).kind.outputs();
        let output = i % outputs.len();
        let elements = plan.tensor(outputs[output]).elements();
        let fault = Fault { op, output, element: elements / 3 + i, bit: 0 };
        let mut faulty = Faulty { side: memo(), faults: vec![fault] };
        let found = first_difference(&plan, &features, &mut faulty, &mut memo(), |_| {}).unwrap().unwrap();
        let label = &plan.op(op).label;
        assert_eq!((found.op, &found.label, found.different), (i, label, 1));
        assert_eq!(found.first.index, fault.element % elements, "{label}");
        assert_eq!(found.first.a ^ found.first.b, 1, "{label}");
        assert!(found.unseen.is_empty());
        let spelled = operands(&plan, &model, op, outputs[output], found.first.index, &found.inputs).unwrap();
        assert_eq!(spelled.result, found.first.b, "{label}: {spelled}");
        let multiplies = matches!(plan.op(op).kind.name(), "gemm" | "adapter" | "head") || label.contains("attention");
        assert!(!multiplies || !spelled.groups.is_empty(), "{label}");
    }
}

#[test]
fn a_recording_of_boundaries_narrows_it_to_a_block() {
    let plan = Plan::new(&Geometry::new(Extent::new(33, 33)).unwrap());
    let model = synth::generate(Preset::Lively, 1).unwrap();
    let reference = Reference::new(&plan, &model).unwrap();
    let features = features(&plan);
    let op = plan.ops.iter().position(|op| op.block == 6 && op.kind.name() == "window-attention").unwrap();
    let fault = Fault { op: OpId(op as u32), output: 0, element: 77, bit: 4 };
    let mut recorded: HashMap<TensorId, TensorData> = HashMap::new();
    let mut side = Faulty { side: ReferenceSide(&reference), faults: vec![fault] };
    walk(&plan, &features, &mut side, |_, id, data| {
        if plan.tensor(id).boundary.is_some() {
            recorded.insert(id, data.clone());
        }
    })
    .unwrap();
    let mut recording = RecordedSide::new(&plan, "capture", |id| Ok(recorded.get(&id).cloned()));
    let found =
        first_difference(&plan, &features, &mut recording, &mut ReferenceSide(&reference), |_| {}).unwrap().unwrap();
    assert_eq!(found.block, 6);
    assert!(found.unseen.contains(&plan.ops[op].label), "{:?}", found.unseen);
    assert!(found.unseen.iter().all(|label| label.starts_with("b6.")), "{:?}", found.unseen);
}
