//! The search for the fastest tiles of the multiplies on a device.
//!
//! Every shape of multiply of a plan runs by itself in every variant that can compute it. A variant takes part only when
//! it gives all bytes of the plain form, on operands of a real frame's size and on hostile ones. The variants of a shape
//! and the untuned kernel run in turn, round by round, and a variant wins only when its median is clearly less and it was
//! faster in most rounds. At the end the whole network runs both ways: the heads must be equal, and the whole faster.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gpu::{CommandBuffer, Device, Timestamps};

use super::certify;
use super::fusion::{Fusion, Fusions};
use super::kernels::Kernel;
use super::tuned::{Entry, Table};
use super::variants::{self, Kind, Shape, Variant};
use super::{ExecError, Kernels, Network, NetworkOptions, Weights};
use crate::geometry::Extent;
use crate::hostile::{Filling, Random};
use crate::plan::{Format, OpId, OpKind, Plan, Tensor, TensorId};
use crate::replay::Policy;

/// A winner takes at most this share of the untuned time,
const CLEARLY: f64 = 0.97;
/// and is faster in this share of the rounds.
const MOST_ROUNDS: f64 = 0.75;
/// A sample on a device of its own takes about this long, so that its clock resolves it.
const SAMPLE: Duration = Duration::from_micros(500);
/// How the plain form runs: outputs are filled before it runs, so none may lie where an input is still to be read.
const APART: NetworkOptions =
    NetworkOptions { keep_all: true, unfused: true, step_cost: None, barriers: Policy::Ordered };
/// Elements of hostile contents before they repeat.
const DISTINCT: usize = (1 << 20) + 7;

/// What became of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It gives other bytes than the plain form.
    Differs,
    /// It gives the same bytes, and is not clearly faster.
    Equal,
    /// It is clearly faster, and another one is faster yet.
    Beaten,
    /// It is chosen.
    Chosen,
}

/// A variant that was tried.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// The variant.
    pub variant: &'static Variant,
    /// What became of it.
    pub verdict: Verdict,
    /// Its median time; zero when it was not timed.
    pub nanoseconds: u64,
}

/// What the search found for a shape.
#[derive(Clone, Debug)]
pub struct Found {
    /// The shape.
    pub shape: Shape,
    /// Label of the first multiply of this shape.
    pub label: String,
    /// Multiplies of this shape in a frame.
    pub uses: usize,
    /// The untuned kernel's shader.
    pub untuned: String,
    /// Its median time.
    pub untuned_nanoseconds: u64,
    /// The variants.
    pub trials: Vec<Trial>,
}

impl Found {
    /// The variant that is chosen.
    pub fn chosen(&self) -> Option<&Trial> {
        self.trials.iter().find(|trial| trial.verdict == Verdict::Chosen)
    }
}

/// A frame's work for one shape.
struct Work {
    ops: Range<usize>,
    uses: usize,
}

/// The shapes of a plan's multiplies in a form, and where the first of each is.
fn shapes(plan: &Plan, kernels: &Kernels) -> BTreeMap<Shape, Work> {
    let fusions = Fusions::of(plan, kernels.tiles());
    let mut shapes: BTreeMap<Shape, Work> = BTreeMap::new();
    let mut block_end = 0;
    for (index, op) in plan.ops.iter().enumerate() {
        let (shape, ops) = match (fusions.at(OpId(index as u32)), &op.kind) {
            (Some(fusion @ Fusion::Block(block)), _) => {
                block_end = index + fusion.operations();
                (Shape::of(plan, &block.expand, Kind::Block), index..block_end)
            }
            _ if index < block_end => continue,
            (Some(Fusion::Qkv(gemm, _)), _) => (Shape::of(plan, gemm, Kind::Normalised), index..index + 2),
            (_, OpKind::Gemm(gemm)) => (Shape::of(plan, gemm, Kind::Multiply), index..index + 1),
            _ => continue,
        };
        shapes.entry(shape).and_modify(|work| work.uses += 1).or_insert(Work { ops, uses: 1 });
    }
    shapes
}

/// A plan of some operations alone.
fn alone(plan: &Plan, ops: Range<usize>) -> Plan {
    let ops = plan.ops[ops].to_vec();
    let used: Vec<TensorId> = ops.iter().flat_map(|op| op.kind.inputs().into_iter().chain(op.kind.outputs())).collect();
    let mut tensors = plan.tensors.clone();
    for (id, tensor) in (0..).map(TensorId).zip(&mut tensors) {
        if !used.contains(&id) {
            tensor.extent = Extent::new(4, 4);
        }
    }
    Plan { tensors, ops, ..plan.clone() }
}

/// Hostile contents of a tensor, which repeat when it is large.
fn contents(tensor: &Tensor, filling: Filling, random: &mut Random) -> Vec<u8> {
    let distinct = tensor.elements().min(DISTINCT);
    let bytes = match tensor.format {
        Format::E4m3 => random.codes(distinct, filling),
        Format::Half => crate::hostile::bytes(&random.halves(distinct, filling)),
    };
    bytes.iter().copied().cycle().take(tensor.bytes()).collect()
}

/// The outputs of a network of few operations.
fn outputs(network: &Network) -> Vec<TensorId> {
    let plan = network.plan();
    plan.ops.last().map(|op| op.kind.outputs()).unwrap_or_default()
}

/// Runs a network on what its inputs hold, and gives all bytes of its outputs; none of them is left from before.
fn run(network: &Network) -> Result<Vec<Vec<u8>>, ExecError> {
    network.run_with(&outputs(network), 0xcccc_cccc)?;
    outputs(network).into_iter().map(|id| network.read_tensor(id)).collect()
}

/// A median.
fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Times networks.
struct Stopwatch {
    cmd: CommandBuffer,
    stamps: Timestamps,
}

impl Stopwatch {
    fn new(device: &Arc<Device>) -> Result<Self, ExecError> {
        Ok(Self { cmd: CommandBuffer::new(device, "search")?, stamps: Timestamps::new(device, "search", 2)? })
    }

    /// Seconds of one run, as the mean of several.
    fn time(&mut self, network: &Network, repeat: u32) -> Result<f64, ExecError> {
        let (cmd, device) = (&mut self.cmd, network.kernels().device());
        cmd.begin()?;
        cmd.reset_timestamps(&self.stamps);
        cmd.write_timestamp(&self.stamps, 0);
        for _ in 0..repeat {
            network.record(cmd, 0..network.steps());
        }
        cmd.write_timestamp(&self.stamps, 1);
        cmd.end()?;
        let begun = Instant::now();
        let ticket = device.submit(&[&*cmd], &[], &[])?;
        device.wait(ticket, Duration::from_secs(600))?;
        let host = begun.elapsed().as_secs_f64();
        let read = self.stamps.read()?.filter(|_| self.stamps.supported());
        Ok(read.map_or(host, |stamps| (stamps[1] - stamps[0]) / 1e3) / f64::from(repeat))
    }
}

/// The search on one device.
pub struct Search<'a> {
    /// The untuned kernels.
    kernels: Arc<Kernels>,
    plain: Arc<Kernels>,
    /// The same with every variant that the device runs and that passed the check on small operands.
    all: Kernels,
    weights: &'a Arc<Weights>,
    rounds: usize,
}

impl<'a> Search<'a> {
    /// Makes the pipelines of every variant, and holds each to the plain form on small hostile operands.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(kernels: &Arc<Kernels>, weights: &'a Arc<Weights>) -> Result<Self, ExecError> {
        let kernels = kernels.untuned();
        let plain = kernels.plain()?;
        let wanted = variants::kernels(kernels.tuning(), kernels.device());
        let all = kernels.with_more(&wanted);
        let made: Vec<Kernel> = wanted.into_iter().filter(|&kernel| all.has(kernel)).collect();
        let differences = certify::variants(&plain, &all, &made)?;
        differences.iter().for_each(|difference| tracing::warn!("not tried: {difference}"));
        let sound = made.into_iter().filter(|&kernel| differences.iter().all(|d| d.kernel() != kernel));
        let all = kernels.with_more(&sound.collect::<Vec<_>>());
        let rounds = if kernels.device().caps().is_cpu { 5 } else { 11 };
        Ok(Self { kernels, plain, all, weights, rounds })
    }

    /// Shapes of a plan's multiplies.
    pub fn shapes(&self, plan: &Plan) -> usize {
        shapes(plan, &self.kernels).len()
    }

    /// Tries the variants of every shape of a plan, those that take the most work first, until the time is over.
    /// `told` hears of every shape.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn run(&self, plan: &Plan, until: Instant, told: &mut dyn FnMut(&Found)) -> Result<Vec<Found>, ExecError> {
        let mut shapes: Vec<(Shape, Work)> = shapes(plan, &self.kernels).into_iter().collect();
        shapes.sort_by_key(|(shape, work)| std::cmp::Reverse(shape.macs() * work.uses as u64));
        let mut found = Vec::new();
        for (shape, work) in shapes {
            if Instant::now() >= until {
                break;
            }
            if let Some(one) = self.shape(plan, shape, &work, until)? {
                told(&one);
                found.push(one);
            }
        }
        Ok(found)
    }

    fn table(&self, shape: Shape, variant: &'static Variant) -> Table {
        let mut table = Table::new(self.kernels.device().cache_key(), self.kernels.tuning());
        table.insert(shape, Entry { variant, nanoseconds: 0, untuned_nanoseconds: 0 });
        table
    }

    /// Tries the variants of one shape; `None` when there is none, or no time to time them.
    fn shape(&self, plan: &Plan, shape: Shape, work: &Work, until: Instant) -> Result<Option<Found>, ExecError> {
        let device = self.kernels.device();
        let alone = Arc::new(alone(plan, work.ops.clone()));
        let network = Network::new(device, &self.kernels, self.weights, Arc::clone(&alone), NetworkOptions::default())?;
        let Some(step) = network.steps.first() else { return Ok(None) };
        let class = shape.class(self.kernels.tuning());
        let candidates = variants::candidates(self.kernels.tuning(), &shape, step.kernel, device);
        let candidates = candidates.into_iter().filter(|variant| self.all.has(Kernel::Tuned(class, variant)));
        let mut arms = Vec::new();
        for variant in candidates {
            arms.push((variant, network.with_kernels(&self.all.taking(self.table(shape, variant)))?));
        }
        if arms.is_empty() {
            return Ok(None);
        }
        let mut differs = vec![false; arms.len()];
        let random = &mut Random::new(0x5eed_0000 + shape.macs());
        for filling in [Filling::Wild, Filling::Usual] {
            let made: Vec<TensorId> = alone.ops.iter().flat_map(|op| op.kind.outputs()).collect();
            let read: BTreeSet<TensorId> = alone.ops.iter().flat_map(|op| op.kind.inputs()).collect();
            let inputs: Vec<(TensorId, Vec<u8>)> = read
                .iter()
                .filter(|id| !made.contains(id))
                .map(|&id| (id, contents(alone.tensor(id), filling, random)))
                .collect();
            let write = |network: &Network| inputs.iter().try_for_each(|(id, bytes)| network.write_tensor(*id, bytes));
            let want = if Arc::ptr_eq(&self.plain, &self.kernels) {
                write(&network)?;
                run(&network)?
            } else {
                let plain = Network::new(device, &self.plain, self.weights, Arc::clone(&alone), APART)?;
                write(&plain)?;
                run(&plain)?
            };
            write(&network)?;
            for (place, (_, arm)) in arms.iter().enumerate() {
                differs[place] |= run(arm)? != want;
            }
        }
        let mut watch = Stopwatch::new(device)?;
        // The untuned kernel is the first; those that differ are not timed.
        let timed: Vec<&Network> = std::iter::once(&network)
            .chain(arms.iter().zip(&differs).filter(|(_, differs)| !**differs).map(|((_, arm), _)| arm))
            .collect();
        let once = watch.time(&network, 1)?;
        let repeat =
            if device.caps().is_cpu { 1 } else { (SAMPLE.as_secs_f64() / once).ceil().clamp(1.0, 32.0) as u32 };
        let mut samples = vec![Vec::new(); timed.len()];
        for round in 0..self.rounds {
            if round > 2 && Instant::now() >= until {
                break;
            }
            for turn in 0..timed.len() {
                let place = (turn + round) % timed.len();
                samples[place].push(watch.time(timed[place], repeat)?);
            }
        }
        let untuned = &samples[0];
        let mut rest = samples[1..].iter();
        let mut best: Option<(usize, f64)> = None;
        let mut trials = Vec::new();
        for (place, ((variant, _), differs)) in arms.iter().zip(&differs).enumerate() {
            let mut trial = Trial { variant, verdict: Verdict::Differs, nanoseconds: 0 };
            if !differs && let Some(samples) = rest.next() {
                let middle = median(samples);
                trial.nanoseconds = (middle * 1e9) as u64;
                let wins = clearly_less(samples, untuned);
                trial.verdict = if wins { Verdict::Beaten } else { Verdict::Equal };
                if wins && best.is_none_or(|(_, least)| middle < least) {
                    best = Some((place, middle));
                }
            }
            trials.push(trial);
        }
        if let Some((place, _)) = best {
            trials[place].verdict = Verdict::Chosen;
        }
        Ok(Some(Found {
            shape,
            label: alone.ops[0].label.clone(),
            uses: work.uses,
            untuned: network.step_shader(0).to_owned(),
            untuned_nanoseconds: (median(untuned) * 1e9) as u64,
            trials,
        }))
    }

    /// Runs whole frames without and with a table, in turn.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn whole(&self, plan: &Plan, table: &Table, most: u64, rounds: usize) -> Result<Whole, ExecError> {
        let device = self.kernels.device();
        let (plan, options) = (Arc::new(plan.clone()), NetworkOptions::default());
        let untuned = Network::new(device, &self.kernels, self.weights, Arc::clone(&plan), options)?;
        let tuned = untuned.with_kernels(&self.all.taking(table.clone()))?;
        let random = &mut Random::new(0xf00d);
        let features = contents(plan.tensor(plan.features), Filling::Usual, random);
        let (mut seconds, mut heads) = ([Vec::new(), Vec::new()], Vec::new());
        for round in 0..=rounds {
            for place in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
                let network = [&untuned, &tuned][place];
                network.write_tensor(plan.features, &features)?;
                let begun = Instant::now();
                network.run(most)?;
                // The first round warms up.
                if round > 0 {
                    seconds[place].push(begun.elapsed().as_secs_f64());
                } else {
                    heads.push(network.read_tensor(plan.head)?);
                }
            }
        }
        let faster = clearly_less(&seconds[1], &seconds[0]) || median(&seconds[1]) < median(&seconds[0]);
        let [untuned, tuned] = seconds.map(|samples| median(&samples));
        Ok(Whole { equal: heads[0] == heads[1], faster, untuned, tuned })
    }
}

/// Whole frames without and with a table.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Whether the heads are equal, byte by byte.
    pub equal: bool,
    /// Whether the table makes frames faster.
    pub faster: bool,
    /// Median seconds without it.
    pub untuned: f64,
    /// Median seconds with it.
    pub tuned: f64,
}

/// Whether a variant's samples are clearly less than those of the untuned kernel, round by round and in the middle.
fn clearly_less(samples: &[f64], untuned: &[f64]) -> bool {
    let faster = samples.iter().zip(untuned).filter(|(a, b)| a < b).count();
    median(samples) <= CLEARLY * median(untuned) && faster as f64 >= MOST_ROUNDS * samples.len() as f64
}

#[cfg(test)]
mod tests {
    use gpu::testing::TestDevice;

    use super::super::{Route, Tuning};
    use super::*;
    use crate::geometry::Geometry;
    use crate::model::synth::{self, Preset};

    #[test]
    fn only_clear_winners_win() {
        assert!(clearly_less(&[0.9, 0.9, 0.9, 1.2], &[1.0, 1.0, 1.0, 1.0]));
        assert!(!clearly_less(&[0.98, 0.98, 0.98, 0.98], &[1.0, 1.0, 1.0, 1.0]));
        assert!(!clearly_less(&[0.5, 0.5, 1.5, 1.5], &[1.0, 1.0, 1.0, 1.0]));
        assert!(!clearly_less(&[], &[]));
    }

    #[test]
    fn no_output_of_the_plain_form_lies_where_an_input_is_still_to_be_read() {
        let device = TestDevice::open().unwrap();
        let model = synth::generate(Preset::Lively, 3).unwrap();
        let kernels = Kernels::with_tuning(&device, Route::Exact, Tuning::Tile).unwrap();
        let weights = Weights::upload(&device, &model).unwrap();
        let plan = Plan::new(&Geometry::new(Extent::new(64, 64)).unwrap());
        let overlaps = |ops: Range<usize>, options| {
            let alone = Arc::new(alone(&plan, ops));
            let network = Network::new(&device, &kernels, &weights, Arc::clone(&alone), options).unwrap();
            let slot = |id| network.placement.slot(id);
            let apart = |a: TensorId, b: TensorId| {
                let (a, b) = (slot(a), slot(b));
                a.buffer != b.buffer || a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset
            };
            let inputs: Vec<TensorId> = alone.ops.iter().flat_map(|op| op.kind.inputs()).collect();
            outputs(&network).iter().any(|&to| inputs.iter().any(|&from| from != to && !apart(from, to)))
        };
        let at = |label: &str| plan.ops.iter().position(|op| op.label == label).unwrap();
        let (block, qkv) = (at("b0.expand"), at("b5.qkv"));
        let ranges = [block..block + 6, qkv..qkv + 2];
        assert!(ranges.iter().all(|ops| !overlaps(ops.clone(), APART)));
        // Where memory is shared there is something to keep apart.
        let shared = NetworkOptions { unfused: true, ..NetworkOptions::default() };
        assert!(ranges.iter().any(|ops| overlaps(ops.clone(), shared)));
    }

    #[test]
    fn every_tile_of_every_form_gives_the_bytes_of_the_plain_form() {
        let device = TestDevice::open().unwrap();
        for tuning in [Tuning::of(&device), Tuning::Tile] {
            let kernels = Kernels::with_tuning(&device, Route::Exact, tuning).unwrap();
            let all = variants::kernels(tuning, &device);
            assert!(!all.is_empty());
            let tested = kernels.with_more(&all);
            let plain = kernels.plain().unwrap();
            assert_eq!(certify::variants(&plain, &tested, &all).unwrap(), Vec::new(), "{tuning:?}");
        }
    }

    #[test]
    fn the_tiles_of_the_matrix_form_give_the_bytes_of_the_plain_form_on_plain_arithmetic() {
        let device = TestDevice::open().unwrap();
        let (plain, tested, mut all) = Kernels::model_tiles(&device).unwrap();
        // Partitions are added on halves, which not every device has.
        all.retain(|kernel| !kernel.is_split() || device.caps().float16);
        let there = all.len();
        all.retain(|&kernel| tested.has(kernel));
        // The outputs of the largest tile alone take more shared memory than some devices have.
        assert!(there - all.len() <= 1, "{all:?}");
        assert_eq!(certify::variants(&plain, &tested, &all).unwrap(), Vec::new());
    }

    #[test]
    fn a_search_chooses_among_equals_and_its_table_changes_no_byte() {
        let device = TestDevice::open().unwrap();
        let model = synth::generate(Preset::Lively, 3).unwrap();
        let kernels = Kernels::with_tuning(&device, Route::Exact, Tuning::of(&device)).unwrap();
        let weights = Weights::upload(&device, &model).unwrap();
        let mut plan = Plan::new(&Geometry::new(Extent::new(64, 64)).unwrap());
        plan.ops.truncate(5);
        plan.tensors.iter_mut().for_each(|tensor| tensor.extent = Extent::new(40, 24));
        let search = Search::new(&kernels, &weights).unwrap();
        let mut heard = 0;
        let until = Instant::now() + Duration::from_secs(600);
        let found = search.run(&plan, until, &mut |_| heard += 1).unwrap();
        assert!(!found.is_empty() && heard == found.len());
        for one in &found {
            assert!(!one.trials.is_empty() && one.untuned_nanoseconds > 0);
            assert!(
                one.trials.iter().all(|trial| trial.verdict != Verdict::Differs && trial.nanoseconds > 0),
                "{one:?}"
            );
        }
        // Whatever was the fastest here: a table that takes every variant in turn changes the tape, not the bytes.
        let untuned =
            Network::new(&device, &kernels, &weights, Arc::new(plan.clone()), NetworkOptions::default()).unwrap();
        let output = plan.ops.last().unwrap().kind.outputs()[0];
        let features = contents(plan.tensor(plan.features), Filling::Usual, &mut Random::new(5));
        let head = |network: &Network| {
            network.write_tensor(plan.features, &features).unwrap();
            network.run(u64::MAX).unwrap();
            network.read_tensor(output).unwrap()
        };
        let want = head(&untuned);
        for trial in &found[0].trials {
            let tuned = kernels.with_table(search.table(found[0].shape, trial.variant));
            assert_eq!(tuned.table().map(|table| table.entries().count()), Some(1));
            let network =
                Network::new(&device, &tuned, &weights, Arc::new(plan.clone()), NetworkOptions::default()).unwrap();
            assert!(head(&network) == want, "{:?}", trial.variant);
            use crate::replay::TapeIdentity;
            let differences = TapeIdentity::of(&network.tape());
            assert!(!differences.differences(&TapeIdentity::of(&untuned.tape())).is_empty(), "{:?}", trial.variant);
        }
        // No time, no search.
        assert!(search.run(&plan, Instant::now(), &mut |_| ()).unwrap().is_empty());
    }
}
