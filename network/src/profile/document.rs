//! The profile as a document.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::measure::{Clock, Samples};
use crate::plan::{Cost, OpKind, Plan, largest_cut};

/// First member of every profile, so that other JSON is not mistaken for one.
pub const FORMAT: &str = "nrview profile 1";

/// Why a document is no profile, or two cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// Not this format.
    #[error("it is no profile of this program: {0}; make one with `nrview profile --save FILE`")]
    Format(String),
    /// The sums do not come out.
    #[error("it has been changed or damaged: {0}; make it again with `nrview profile --save FILE`")]
    Inconsistent(String),
    /// Two profiles of other work.
    #[error("the profiles are of different work: A is {a}, B is {b}; profile the same size twice")]
    DifferentWork {
        /// Size and field of the first.
        a: String,
        /// Of the second.
        b: String,
    },
}

/// Least, middle and largest of some values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The middle one, or the mean of the two middle ones.
    pub median: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of some values; zeros where there are none.
    pub fn of(values: &[f64]) -> Self {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.len() {
            0 => return Self::default(),
            count if count % 2 == 1 => values[middle],
            _ => (values[middle - 1] + values[middle]) / 2.0,
        };
        Self { min: values[0], median, max: values[values.len() - 1] }
    }
}

/// Arithmetic and traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Work {
    /// Floating-point operations: two per multiply-accumulate of the matrix products.
    pub flop: u64,
    /// Bytes of activations and weights read, each once.
    pub bytes_read: u64,
    /// The part of them that is weights.
    pub weight_bytes: u64,
    /// Bytes of activations written, each once.
    pub bytes_written: u64,
}

impl From<Cost> for Work {
    fn from(cost: Cost) -> Self {
        Self {
            flop: cost.flop(),
            bytes_read: cost.read_bytes + cost.weight_bytes,
            weight_bytes: cost.weight_bytes,
            bytes_written: cost.written_bytes,
        }
    }
}

impl std::ops::Add for Work {
    type Output = Work;

    fn add(self, other: Work) -> Work {
        // A document of others may claim any numbers.
        Work {
            flop: self.flop.saturating_add(other.flop),
            bytes_read: self.bytes_read.saturating_add(other.bytes_read),
            weight_bytes: self.weight_bytes.saturating_add(other.weight_bytes),
            bytes_written: self.bytes_written.saturating_add(other.bytes_written),
        }
    }
}

/// Work by time, at the median.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rates {
    /// 10^12 floating-point operations a second.
    pub tflops: f64,
    /// 10^9 bytes a second, read and written.
    pub gigabytes: f64,
}

impl Rates {
    fn of(work: &Work, ms: f64) -> Self {
        let per = |value: u64, unit: f64| if ms > 0.0 { value as f64 / (ms / 1e3) / unit } else { 0.0 };
        Self { tflops: per(work.flop, 1e12), gigabytes: per(work.bytes_read + work.bytes_written, 1e9) }
    }
}

/// Operations that run as one: mostly a single one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// Label of the first operation.
    pub label: String,
    /// Labels of the ones behind it that it covers.
    pub covers: Vec<String>,
    /// What it computes, with the sizes of matrices.
    pub kind: String,
    /// Block 0 to 70.
    pub block: u32,
    /// Stage of the block.
    pub stage: String,
    /// The distinct shaders that it runs; empty on the CPU.
    pub kernels: Vec<String>,
    /// Arithmetic and traffic.
    pub work: Work,
    /// Milliseconds over the frames.
    pub ms: Spread,
    /// Part of the time of all frames, 0 to 1.
    pub share: f64,
    /// Work by time.
    pub rates: Rates,
    /// Milliseconds of every frame, in order.
    pub samples: Vec<f64>,
}

/// Operations with something in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// What they have in common.
    pub name: String,
    /// How many entries of [`Profile::operations`].
    pub operations: usize,
    /// Arithmetic and traffic.
    pub work: Work,
    /// Milliseconds over the frames, each frame summed up.
    pub ms: Spread,
    /// Part of the time of all frames, 0 to 1.
    pub share: f64,
    /// Work by time.
    pub rates: Rates,
}

/// Milliseconds of the passes around the network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Passes {
    /// Drawing of the scene.
    pub scene: Spread,
    /// Features and reprojected history.
    pub preprocess: Spread,
    /// Composition and display.
    pub composite: Spread,
}

/// The operation at which most activation bytes live.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cut {
    /// Its label.
    pub operation: String,
    /// The tensors that live then, with their bytes, the largest first.
    pub tensors: Vec<(String, u64)>,
}

impl Cut {
    /// The largest cut of a plan, as its operations run: together or one by one.
    pub fn of(memory_plan: &Plan) -> Self {
        let (op, tensors) = largest_cut(memory_plan);
        let label = |&(id, bytes): &(_, usize)| (memory_plan.tensor(id).label.clone(), bytes as u64);
        Self { operation: memory_plan.op(op).label.clone(), tensors: tensors.iter().map(label).collect() }
    }
}

/// Bytes of memory by purpose. On the CPU the device's purposes are 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Weights as laid out for the route.
    pub weights: u64,
    /// The arena of activations, features and head included, scratch not.
    pub arena: u64,
    /// Least bytes that any placement of the activations takes: the largest sum of tensors that live at once.
    pub bound: u64,
    /// Arena and scratch over the bound; 1 is as good as can be.
    pub arena_to_bound: f64,
    /// Partial sums and what passes between chained multiplies.
    pub scratch: u64,
    /// The network's input, a part of the arena.
    pub features: u64,
    /// Both temporal histories.
    pub histories: u64,
    /// Proxy, published colour, display pictures.
    pub frame_buffers: u64,
    /// The scene's images.
    pub scene: u64,
    /// Everything that the program holds on the device.
    pub all: u64,
    /// Where the bound comes from.
    pub cut: Cut,
}

/// What a profile is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// Version of the program.
    pub version: String,
    /// Name of the route.
    pub route: String,
    /// Form of the kernels, or the instruction set.
    pub form: String,
    /// Name of the device.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// Digest of the weights.
    pub model: String,
    /// Whether operations run together where they can.
    pub fused: bool,
}

/// Where the time of a frame goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// [`FORMAT`].
    pub format: String,
    /// What it is of.
    #[serde(flatten)]
    pub header: Header,
    /// Valid size, `WIDTHxHEIGHT`.
    pub size: String,
    /// Padded size.
    pub field: String,
    /// Measured frames.
    pub frames: usize,
    /// What the times were taken with.
    pub clock: Clock,
    /// Arithmetic and traffic of the network.
    pub work: Work,
    /// Milliseconds of the network.
    pub ms: Spread,
    /// Work by time.
    pub rates: Rates,
    /// The passes around it, where they run on the same device.
    pub passes: Option<Passes>,
    /// Memory by purpose.
    pub memory: Memory,
    /// By stage, in the order of the network.
    pub stages: Vec<Group>,
    /// By block.
    pub blocks: Vec<Group>,
    /// By kind of operation, the longest first.
    pub kinds: Vec<Group>,
    /// Every operation, in order.
    pub operations: Vec<Operation>,
}

impl Profile {
    /// Puts measured times beside the plan's work. `groups` are the runs of operations that go together, in order;
    /// `kernels` names the shaders of the operation with an index.
    pub fn new(
        header: Header,
        plan: &Plan,
        samples: &Samples,
        groups: &[Range<usize>],
        kernels: impl Fn(usize) -> Vec<String>,
        memory: Memory,
        passes: Option<Passes>,
    ) -> Self {
        let all: f64 = samples.per_op.iter().flatten().sum();
        let operations: Vec<Operation> = groups
            .iter()
            .map(|group| {
                let first = &plan.ops[group.start];
                let of = sum(samples.per_op[group.clone()].iter().map(Vec::as_slice));
                let work = plan.group_cost(group.clone()).into();
                let covered = &plan.ops[group.start + 1..group.end];
                let kinds: Vec<String> = plan.ops[group.clone()].iter().map(|op| kind(&op.kind)).collect();
                let ms = Spread::of(&of);
                Operation {
                    label: first.label.clone(),
                    covers: covered.iter().map(|op| op.label.clone()).collect(),
                    kind: kinds.join(" + "),
                    block: first.block,
                    stage: Plan::stage(first.block),
                    kernels: kernels(group.start),
                    work,
                    ms,
                    share: part(&of, all),
                    rates: Rates::of(&work, ms.median),
                    samples: of,
                }
            })
            .collect();
        let totals = sum(operations.iter().map(|op| op.samples.as_slice()));
        let (work, ms) = (total_work(operations.iter().map(|op| op.work)), Spread::of(&totals));
        let mut kinds = gather(&operations, |op| op.kind.clone());
        kinds.sort_by(|a, b| f64::total_cmp(&b.share, &a.share));
        Self {
            format: FORMAT.to_owned(),
            header,
            size: plan.geometry.valid.to_string(),
            field: plan.geometry.field.to_string(),
            frames: totals.len(),
            clock: samples.clock,
            work,
            ms,
            rates: Rates::of(&work, ms.median),
            passes,
            memory,
            stages: gather(&operations, |op| op.stage.clone()),
            blocks: gather(&operations, |op| format!("block {}", op.block)),
            kinds,
            operations,
        }
    }

    /// Reads a profile and checks that its parts make the whole.
    ///
    /// # Errors
    /// [`ProfileError`], which says what is wrong.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| ProfileError::Format(messages::shortened(&error)))?;
        if value["format"] != FORMAT {
            return Err(ProfileError::Format(format!(
                "its format is {}, not {FORMAT:?}",
                messages::shortened(&value["format"])
            )));
        }
        let profile: Self =
            serde_json::from_value(value).map_err(|error| ProfileError::Format(messages::shortened(&error)))?;
        profile.check()?;
        Ok(profile)
    }

    /// Whether the operations make the whole: their work, shares and times, in every grouping.
    ///
    /// # Errors
    /// [`ProfileError::Inconsistent`].
    pub fn check(&self) -> Result<(), ProfileError> {
        let doubt = |what: String| Err(ProfileError::Inconsistent(what));
        if self.operations.is_empty() || self.operations.iter().any(|op| op.samples.len() != self.frames) {
            return doubt("operations without a time in every frame".to_owned());
        }
        if total_work(self.operations.iter().map(|op| op.work)) != self.work {
            return doubt("the operations' work is not the whole".to_owned());
        }
        let totals = sum(self.operations.iter().map(|op| op.samples.as_slice()));
        if !near(Spread::of(&totals).median, self.ms.median) {
            return doubt("the operations' times are not the whole".to_owned());
        }
        let one = |shares: f64| (shares - 1.0).abs() < 1e-6;
        if !one(self.operations.iter().map(|op| op.share).sum()) {
            return doubt("the operations' shares are not the whole".to_owned());
        }
        for (name, groups) in [("stages", &self.stages), ("blocks", &self.blocks), ("kinds", &self.kinds)] {
            let work = total_work(groups.iter().map(|group| group.work));
            if work != self.work || !one(groups.iter().map(|group| group.share).sum()) {
                return doubt(format!("the {name} are not the whole"));
            }
        }
        Ok(())
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs())
}

/// Part of the time of all frames.
fn part(samples: &[f64], all: f64) -> f64 {
    if all > 0.0 { samples.iter().sum::<f64>() / all } else { 0.0 }
}

fn total_work(parts: impl Iterator<Item = Work>) -> Work {
    parts.fold(Work::default(), |a, b| a + b)
}

/// Frame by frame.
fn sum<'a>(series: impl Iterator<Item = &'a [f64]>) -> Vec<f64> {
    series.fold(Vec::new(), |mut total, one| {
        total.resize(total.len().max(one.len()), 0.0);
        total.iter_mut().zip(one).for_each(|(total, ms)| *total += ms);
        total
    })
}

/// Operations by name, in the order in which the names first occur.
fn gather(operations: &[Operation], name: impl Fn(&Operation) -> String) -> Vec<Group> {
    let mut members: BTreeMap<String, Vec<&Operation>> = BTreeMap::new();
    let mut names = Vec::new();
    for op in operations {
        let of = members.entry(name(op)).or_default();
        if of.is_empty() {
            names.push(name(op));
        }
        of.push(op);
    }
    let group = |name: String| {
        let of = &members[&name];
        let ms = Spread::of(&sum(of.iter().map(|op| op.samples.as_slice())));
        let work = total_work(of.iter().map(|op| op.work));
        let share = of.iter().map(|op| op.share).sum();
        Group { name, operations: of.len(), work, ms, share, rates: Rates::of(&work, ms.median) }
    };
    names.into_iter().map(group).collect()
}

/// What an operation computes, with the sizes of its matrices.
fn kind(kind: &OpKind) -> String {
    match kind {
        OpKind::Gemm(o) if o.weight.groups > 1 && !o.weight.stacked => {
            format!("multiply {}x{} {} times", o.weight.k, o.weight.n, o.weight.groups)
        }
        OpKind::Gemm(o) => format!("multiply {}x{}", o.weight.k, o.weight.n * o.weight.groups),
        other => other.name().to_owned(),
    }
}
