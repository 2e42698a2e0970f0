//! What the steps of a network touch, for descriptor sets and for the tape.

use std::collections::HashMap;
use std::sync::Arc;

use gpu::{Bind, BindResource, DescriptorArena, DescriptorSet, Device};
use shaders::spirv::Access;

use super::ExecError;
use super::memory::{GUARD, Placement};
use super::network::{Network, Objects};
use super::recorder::Issue;
use super::step::{Bound, Step};
use crate::frame::dynamic_fields;
use crate::replay::{Binding, Effect, Entry, External, Tape, hazard};

/// A descriptor set for every step.
pub(super) fn sets(
    device: &Arc<Device>,
    steps: &[Step],
    placement: &Placement,
    objects: &Objects,
) -> Result<Vec<DescriptorSet>, ExecError> {
    let mut arena = DescriptorArena::new(device, "network sets", steps.len() as u32)?;
    let set = |step: &Step| {
        let bind = |(binding, bound): (usize, &Bound)| Bind {
            binding: binding as u32,
            resource: resolve(bound, placement, objects),
        };
        let binds: Vec<Bind> = step.bound.iter().enumerate().map(bind).collect();
        Ok(arena.allocate(objects.kernels.pipeline(step.kernel), &binds)?)
    };
    steps.iter().map(set).collect()
}

fn resolve<'a>(bound: &Bound, placement: &Placement, objects: &'a Objects) -> BindResource<'a> {
    match *bound {
        Bound::Tensor { id, offset, range } => {
            let slot = placement.slot(id);
            BindResource::Buffer { buffer: &objects.arenas[slot.buffer], offset: slot.offset + offset, range }
        }
        Bound::Scratch(range) => BindResource::Buffer { buffer: &objects.scratch, offset: GUARD, range },
        Bound::Weight(slice) => {
            let buffer = objects.weights.buffer(slice);
            BindResource::Buffer { buffer, offset: slice.offset, range: slice.bytes }
        }
        Bound::Tiles(slice) => {
            let form = objects.kernels.form().expect("tiles are for matrix units");
            let buffer = objects.weights.tile_buffer(form, slice);
            BindResource::Buffer { buffer, offset: slice.offset, range: slice.bytes }
        }
    }
}

/// What a shader declares to do with its bindings, by number.
fn effects(spirv: &[u8]) -> HashMap<u32, Effect> {
    let words: Vec<u32> = spirv.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    let effect = |access| match access {
        Access::Read => Effect::Read,
        Access::Write => Effect::Write,
        Access::Any => Effect::ReadWrite,
    };
    // A module that cannot be read declares nothing: its effects stay unknown, and unknown effects serialize.
    let accesses = shaders::spirv::accesses(&words).unwrap_or_default();
    accesses.into_iter().map(|(binding, access)| (binding, effect(access))).collect()
}

/// The bindings of one step.
fn bindings(network: &Network, step: &Step, effects: &HashMap<u32, Effect>) -> Vec<Binding> {
    let binding = |(number, bound): (u32, &Bound)| {
        let BindResource::Buffer { buffer, offset, range } = resolve(bound, &network.placement, &network.objects)
        else {
            unreachable!("steps bind buffers alone");
        };
        let effect = effects.get(&number).copied().unwrap_or(Effect::Unknown);
        Binding { number, buffer: buffer.name().to_owned(), offset, range, effect }
    };
    (0..).zip(&step.bound).map(binding).collect()
}

/// The work at both ends of the forward.
fn ends(network: &Network) -> [External; 2] {
    let end = |name, slice: super::BufferSlice<'_>, effect| External {
        name,
        bindings: vec![Binding {
            number: 3,
            buffer: slice.buffer.name().to_owned(),
            offset: slice.offset,
            range: slice.range,
            effect,
        }],
    };
    [end("preprocess", network.features(), Effect::Write), end("composite", network.head(), Effect::Read)]
}

/// What the work before the forward, every step, and the work after it touch.
pub(super) fn touched(network: &Network) -> Vec<Vec<Binding>> {
    let mut known: HashMap<&str, HashMap<u32, Effect>> = HashMap::new();
    let [before, after] = ends(network);
    let mut all = vec![before.bindings];
    for step in &network.steps {
        let shader = network.objects.kernels.pipeline(step.kernel).shader();
        let effects = known.entry(shader.name).or_insert_with(|| effects(shader.spirv));
        all.push(bindings(network, step, effects));
    }
    all.push(after.bindings);
    all
}

/// The entry of a dispatch, without its dependencies.
pub(super) fn entry(network: &Network, issue: &Issue<'_>) -> Entry {
    let step = &network.steps[issue.index];
    let shader = issue.pipeline.shader();
    Entry {
        label: issue.label.to_owned(),
        shader: shader.name.to_owned(),
        digest: shader.info.spirv_sha256.to_owned(),
        entry_point: "main",
        constants: issue.pipeline.constants().to_vec(),
        push: issue.push.to_vec(),
        bindings: bindings(network, step, &effects(shader.spirv)),
        groups: issue.groups,
        workgroup: issue.pipeline.workgroup_size(),
        shared_memory: shader.info.shared_memory_size,
        depends: Vec::new(),
    }
}

/// A tape of entries, with their dependencies.
pub(super) fn tape(network: &Network, entries: Vec<Entry>, barriers: Vec<bool>) -> Tape {
    let geometry = &network.plan().geometry;
    let [before, after] = ends(network);
    let geometry = format!("valid {}, field {}", geometry.valid, geometry.field);
    let dynamic = dynamic_fields();
    let mut tape = Tape { geometry, before, entries, after, dynamic, barriers, instrumented: false };
    let depends: Vec<Vec<u32>> = {
        let actors = tape.actors();
        let before = |position: usize| {
            // Position 0 is the work before the tape, which is no entry.
            hazard::dependencies(&actors, position).into_iter().filter(|&p| p > 0).map(|p| p as u32 - 1).collect()
        };
        (1..=tape.entries.len()).map(before).collect()
    };
    for (entry, depends) in tape.entries.iter_mut().zip(depends) {
        entry.depends = depends;
    }
    tape
}
