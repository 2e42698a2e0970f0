//! A plan on a device, ready to be recorded.

use std::ops::Range;
use std::sync::Arc;

use gpu::{Buffer, BufferDesc, BufferUsage, CommandBuffer, DescriptorSet, Device, DeviceKind, MemoryKind};

use super::ExecError;
use super::blocks::Bounds;
use super::describe;
use super::fusion::Fusions;
use super::kernels::{Kernels, Route};
use super::lower;
use super::memory::{self, GUARD, Memory, Placement};
use super::recorder::{Issue, Sink};
use super::step::{Bound, Step};
use super::tensor::{self, Groups};
use super::weights::Weights;
use crate::plan::{OpId, Plan, TensorId};
use crate::replay::{Lowering, Policy};

/// Part of a storage buffer.
#[derive(Clone, Copy)]
pub struct BufferSlice<'a> {
    /// The buffer.
    pub buffer: &'a Buffer,
    /// First byte, a multiple of 256.
    pub offset: u64,
    /// Bytes.
    pub range: u64,
}

/// How a network is set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkOptions {
    /// Every tensor keeps bytes of its own, so that all can be read after a frame. Costs several times the memory.
    pub keep_all: bool,
    /// Every operation runs by itself; otherwise kernels run several together where they can. Fusions are off with
    /// `keep_all`, because a fused kernel leaves out the tensors in between.
    pub unfused: bool,
    /// Wish for the largest step, in multiply-accumulates; `None` chooses by the kind of device.
    pub step_cost: Option<u64>,
    /// How barriers between the steps are chosen.
    pub barriers: Policy,
}

/// A plan on a device: memory, descriptor sets and the list of steps; extent lifetime.
pub struct Network {
    pub(super) plan: Arc<Plan>,
    pub(super) placement: Placement,
    fusions: Fusions,
    /// What runs together on the tensor route.
    groups: Option<Groups>,
    pub(super) steps: Vec<Step>,
    /// First step of every operation, and one past the last.
    first_step: Vec<usize>,
    /// Whether a barrier stands before a step; one more for what reads the head.
    pub(super) barriers: Vec<bool>,
    bounds: Bounds,
    policy: Policy,
    pub(super) objects: Arc<Objects>,
}

/// Everything that recorded commands of a network refer to. Whoever replays them keeps it alive, and so do the steps.
pub struct Objects {
    pub(super) sets: Vec<DescriptorSet>,
    pub(super) arenas: Vec<Arc<Buffer>>,
    /// Partial sums of the operation that runs, with guard words at both ends.
    pub(super) scratch: Arc<Buffer>,
    pub(super) kernels: Arc<Kernels>,
    pub(super) weights: Arc<Weights>,
}

/// About a fifth of a second on a CPU, a few milliseconds on anything else.
fn default_step_cost(kind: DeviceKind) -> u64 {
    match kind {
        DeviceKind::Discrete => 1 << 36,
        DeviceKind::Cpu => 1 << 29,
        _ => 1 << 31,
    }
}

/// The steps of every operation, and the first of each, and one past the last.
fn lowered(
    plan: &Plan,
    kernels: &Kernels,
    weights: &Weights,
    fusions: &Fusions,
    groups: Option<&Groups>,
    bounds: Bounds,
) -> Result<(Vec<Step>, Vec<usize>), ExecError> {
    let (tiles, table) = (kernels.tiles(), kernels.table());
    let lowering = lower::Lowering { plan, weights, tiles, table, fusions, bounds };
    let (mut steps, mut first_step) = (Vec::new(), vec![0]);
    if kernels.route() == Route::Cpu {
        return Ok((steps, vec![0; plan.ops.len() + 1]));
    }
    let tiles = match kernels.form().zip(kernels.fragments()) {
        Some((form, order)) => Some((form, weights.tiles(kernels.device(), form, order)?)),
        None => None,
    };
    for index in 0..plan.ops.len() {
        let op = OpId(index as u32);
        steps.extend(match groups.zip(tiles) {
            Some((groups, (form, weights))) => {
                tensor::Lowering { plan, weights, groups, exact: &lowering, form }.steps(op)?
            }
            None => lowering.steps(op)?,
        });
        first_step.push(steps.len());
    }
    Ok((steps, first_step))
}

impl Network {
    /// Allocates the activations and prepares every dispatch.
    ///
    /// # Errors
    /// [`ExecError::TooLarge`], naming a size that fits, when the activations exceed the device's limits or free memory;
    /// other errors of the device.
    pub fn new(
        device: &Arc<Device>,
        kernels: &Arc<Kernels>,
        weights: &Arc<Weights>,
        plan: Arc<Plan>,
        options: NetworkOptions,
    ) -> Result<Self, ExecError> {
        let limits = &device.caps().limits;
        let most = limits.max_memory_allocation.min(limits.max_buffer_size);
        let groups = kernels.form().map(|_| Groups::of(&plan));
        let on_host = kernels.route() == Route::Cpu;
        let fused = !options.keep_all && !options.unfused && groups.is_none() && !on_host;
        let fusions = if fused { Fusions::of(&plan, kernels.tiles()) } else { Fusions::default() };
        let placement = if on_host {
            Placement::ends(&plan)
        } else if options.keep_all {
            Placement::separate(&plan, most)
        } else {
            Placement::shared(&groups.as_ref().map_or_else(|| fusions.memory_plan(&plan), |g| g.memory_plan(&plan)))
        };
        if placement.buffers.iter().any(|&bytes| bytes > most) {
            return Err(memory::too_large(&plan, placement.bytes(), most, "maxMemoryAllocationSize"));
        }
        let bounds = Bounds {
            binding: limits.max_storage_buffer_range,
            groups: u64::from(limits.max_workgroup_count[1]),
            cost: options.step_cost.unwrap_or_else(|| default_step_cost(device.caps().kind)),
        };
        let (steps, first_step) = lowered(&plan, kernels, weights, &fusions, groups.as_ref(), bounds)?;
        let arenas = placement
            .buffers
            .iter()
            .enumerate()
            .map(|(i, &size)| {
                let desc = BufferDesc {
                    name: &format!("network activations {i}"),
                    size,
                    usage: BufferUsage::STORAGE_BUFFER,
                    memory: MemoryKind::Device,
                };
                Buffer::new(device, &desc).map(Arc::new).map_err(|error| match error {
                    gpu::Error::OutOfMemory { available, .. } if !options.keep_all => {
                        memory::too_large(&plan, size, available, "free memory")
                    }
                    error => error.into(),
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let scratch = steps.iter().flat_map(|step| &step.bound).filter_map(|bound| match bound {
            Bound::Scratch(bytes) => Some(*bytes),
            _ => None,
        });
        let desc = BufferDesc {
            name: "network scratch",
            size: scratch.max().unwrap_or(0).max(256).next_multiple_of(GUARD) + 2 * GUARD,
            usage: BufferUsage::STORAGE_BUFFER,
            memory: MemoryKind::Device,
        };
        let scratch = Arc::new(Buffer::new(device, &desc)?);
        let mut objects =
            Objects { sets: Vec::new(), arenas, scratch, kernels: Arc::clone(kernels), weights: Arc::clone(weights) };
        objects.sets = describe::sets(device, &steps, &placement, &objects)?;
        let mut network = Self {
            plan,
            placement,
            fusions,
            groups,
            steps,
            first_step,
            barriers: Vec::new(),
            bounds,
            policy: options.barriers,
            objects: Arc::new(objects),
        };
        network.barriers = network.choose_barriers();
        network.write_guards()?;
        Ok(network)
    }

    /// The same network on the same memory with other kernels of the same form. The two run one after the other.
    pub(super) fn with_kernels(&self, kernels: &Arc<Kernels>) -> Result<Self, ExecError> {
        let weights = &self.objects.weights;
        let (steps, first_step) =
            lowered(&self.plan, kernels, weights, &self.fusions, self.groups.as_ref(), self.bounds)?;
        let mut objects = Objects {
            sets: Vec::new(),
            arenas: self.objects.arenas.clone(),
            scratch: Arc::clone(&self.objects.scratch),
            kernels: Arc::clone(kernels),
            weights: Arc::clone(weights),
        };
        objects.sets = describe::sets(kernels.device(), &steps, &self.placement, &objects)?;
        let mut network = Self {
            plan: Arc::clone(&self.plan),
            placement: self.placement.clone(),
            fusions: self.fusions.clone(),
            groups: self.groups.clone(),
            steps,
            first_step,
            barriers: Vec::new(),
            bounds: self.bounds,
            policy: self.policy,
            objects: Arc::new(objects),
        };
        network.barriers = network.choose_barriers();
        Ok(network)
    }

    /// Where barriers stand; what the kernels declare to touch has the last word.
    fn choose_barriers(&self) -> Vec<bool> {
        let touched = describe::touched(self);
        let actors: Vec<_> = touched.iter().map(Vec::as_slice).collect();
        let first = |(i, step): (usize, &Step)| step.after || self.first_step[step.op.0 as usize] == i;
        let mut ordered: Vec<bool> = self.steps.iter().enumerate().map(first).collect();
        ordered.push(true);
        Lowering::choose(self.policy, &actors, &ordered).barriers
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The kernels.
    pub fn kernels(&self) -> &Arc<Kernels> {
        &self.objects.kernels
    }

    /// Where the features go: halves `[field rows][16]`. To be written before every frame.
    pub fn features(&self) -> BufferSlice<'_> {
        self.tensor(self.plan.features)
    }

    /// Where the head is after a frame: halves `[field rows][4]`.
    pub fn head(&self) -> BufferSlice<'_> {
        self.tensor(self.plan.head)
    }

    fn tensor(&self, id: TensorId) -> BufferSlice<'_> {
        let slot = self.placement.slot(id);
        BufferSlice { buffer: &self.objects.arenas[slot.buffer], offset: slot.offset, range: slot.bytes }
    }

    /// Number of steps of a frame.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Whether the operation before this one does its work: this one then has no steps.
    pub fn is_covered(&self, op: OpId) -> bool {
        self.groups.as_ref().map_or_else(|| self.fusions.covers(op), |groups| groups.covers(op))
    }

    /// Work of one step in multiply-accumulates, elementwise steps included by what they take.
    ///
    /// # Panics
    /// If there is no such step.
    pub fn step_cost(&self, step: usize) -> u64 {
        self.steps[step].cost
    }

    /// The operation a step belongs to.
    ///
    /// # Panics
    /// If there is no such step.
    pub fn step_op(&self, step: usize) -> OpId {
        self.steps[step].op
    }

    /// The steps of one operation.
    ///
    /// # Panics
    /// If the plan has no such operation.
    pub fn op_steps(&self, op: OpId) -> Range<usize> {
        self.first_step[op.0 as usize]..self.first_step[op.0 as usize + 1]
    }

    /// All steps in runs of at most `most` multiply-accumulates (or one step), for devices on which a whole frame takes
    /// too long for one submission.
    pub fn slices(&self, most: u64) -> Vec<Range<usize>> {
        let mut slices: Vec<Range<usize>> = Vec::new();
        let mut sum = 0;
        for (i, step) in self.steps.iter().enumerate() {
            match slices.last_mut() {
                Some(slice) if sum + step.cost <= most => {
                    slice.end = i + 1;
                    sum += step.cost;
                }
                _ => {
                    slices.push(i..i + 1);
                    sum = step.cost;
                }
            }
        }
        slices
    }

    /// Records steps, each under its operation's label. Ranges of one frame are to be submitted in order; features must
    /// have been written by an earlier dispatch or transfer with a barrier of its own where it was a transfer. After the
    /// last step a barrier makes the head visible to dispatches.
    pub fn record(&self, cmd: &mut CommandBuffer, range: Range<usize>) {
        self.issue(cmd, range);
    }

    /// The one path through which the forward issues work, whoever takes it.
    pub(super) fn issue(&self, sink: &mut impl Sink, range: Range<usize>) {
        for index in range {
            let step = &self.steps[index];
            if self.barriers[index] {
                sink.barrier();
            }
            sink.dispatch(&Issue {
                index,
                label: &self.plan.op(step.op).label,
                pipeline: self.objects.kernels.pipeline(step.kernel),
                set: &self.objects.sets[index],
                push: bytemuck::cast_slice(&step.push),
                groups: step.groups,
            });
            if index + 1 == self.steps.len() && self.barriers[index + 1] {
                sink.barrier();
            }
        }
    }

    /// What recorded commands refer to: whoever replays them holds it.
    pub fn objects(&self) -> Arc<Objects> {
        Arc::clone(&self.objects)
    }

    /// Runs one operation on what its input tensors hold now, and waits.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn run_op(&self, op: OpId) -> Result<(), ExecError> {
        let label = &self.plan.op(op).label;
        Ok(self.objects.kernels.device().run_once(label, |cmd| self.record(cmd, self.op_steps(op)))?)
    }

    /// Runs everything once and waits, after filling some tensors with a word.
    pub(super) fn run_with(&self, tensors: &[TensorId], word: u32) -> Result<(), ExecError> {
        Ok(self.objects.kernels.device().run_once("network", |cmd| {
            for &id in tensors {
                let slice = self.tensor(id);
                cmd.fill_buffer(slice.buffer, slice.offset, slice.range, word);
            }
            cmd.transfer_to_compute_barrier();
            self.record(cmd, 0..self.steps());
        })?)
    }

    /// Runs a whole frame on the features that are there, in submissions of at most `most` multiply-accumulates, and
    /// waits.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn run(&self, most: u64) -> Result<(), ExecError> {
        for slice in self.slices(most) {
            self.objects.kernels.device().run_once("network", |cmd| self.record(cmd, slice))?;
        }
        Ok(())
    }

    /// The bytes of a tensor, halves little-endian. Without `keep_all` other tensors may have overwritten them.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn read_tensor(&self, id: TensorId) -> Result<Vec<u8>, ExecError> {
        let slice = self.tensor(id);
        Ok(self.objects.kernels.device().download(slice.buffer, slice.offset, slice.range)?)
    }

    /// Writes the bytes of a tensor, halves little-endian.
    ///
    /// # Errors
    /// The wrong number of bytes, or errors of the device.
    pub fn write_tensor(&self, id: TensorId, bytes: &[u8]) -> Result<(), ExecError> {
        let tensor = self.plan.tensor(id);
        let (expected, got) = (tensor.bytes(), bytes.len());
        if expected != got {
            return Err(ExecError::TensorSize { tensor: tensor.label.clone(), expected, got });
        }
        let slice = self.tensor(id);
        Ok(self.objects.kernels.device().upload(slice.buffer, slice.offset, bytes)?)
    }

    /// Device memory in use.
    pub fn memory(&self) -> Memory {
        let arena = self.placement.bytes() + self.objects.scratch.size();
        Memory { arena, bound: self.placement.bound, weights: self.objects.weights.bytes() }
    }

    /// Bytes of the scratch buffer, a part of [`Memory::arena`]: partial sums, and what passes between chained multiplies.
    pub fn scratch(&self) -> u64 {
        self.objects.scratch.size()
    }

    /// The plan as far as memory is concerned: without the tensors that pass between operations that run together.
    pub fn memory_plan(&self) -> Plan {
        self.groups.as_ref().map_or_else(|| self.fusions.memory_plan(&self.plan), |g| g.memory_plan(&self.plan))
    }

    /// Name of the shader that a step runs.
    ///
    /// # Panics
    /// If there is no such step.
    pub fn step_shader(&self, step: usize) -> &'static str {
        self.objects.kernels.pipeline(self.steps[step].kernel).shader().name
    }

    /// The operations in runs that go together: an operation and those behind it that it covers.
    pub fn op_groups(&self) -> Vec<Range<usize>> {
        let ops = self.plan.ops.len();
        let starts = (0..ops).filter(|&op| !self.is_covered(OpId(op as u32)));
        let mut groups: Vec<Range<usize>> = starts.map(|start| start..ops).collect();
        for i in 1..groups.len() {
            groups[i - 1].end = groups[i].start;
        }
        groups
    }

    /// Device memory a plan would take at most, without allocating it; `weights` is 0.
    pub fn predict(plan: &Plan, keep_all: bool) -> Memory {
        let (arena, bound) = if keep_all {
            let placement = Placement::separate(plan, u64::MAX);
            (placement.bytes(), placement.bound)
        } else {
            Placement::predicted(plan)
        };
        Memory { arena, bound, weights: 0 }
    }
}
