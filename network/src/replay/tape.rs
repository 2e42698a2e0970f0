//! The ordered, typed record of a forward.

use serde::Serialize;

/// What a dispatch does with the bytes of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// Reads alone, as the shader declares.
    Read,
    /// Writes alone, as the shader declares.
    Write,
    /// Both, or the shader does not say: it is ordered against everything that touches the bytes.
    ReadWrite,
    /// Not known at all: it is ordered against everything.
    Unknown,
}

/// One descriptor binding of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Binding {
    /// Binding number in the shader.
    pub number: u32,
    /// Name of the buffer, the same in every process: the identity of what is bound.
    pub buffer: String,
    /// First byte in the buffer.
    pub offset: u64,
    /// Bytes.
    pub range: u64,
    /// What happens to them.
    pub effect: Effect,
}

impl Binding {
    /// Whether two bindings touch a common byte.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.buffer == other.buffer
            && self.offset < other.offset + other.range
            && other.offset < self.offset + self.range
    }

    /// Whether every byte of `other` lies in this one.
    pub fn covers(&self, other: &Self) -> bool {
        self.buffer == other.buffer
            && self.offset <= other.offset
            && other.offset + other.range <= self.offset + self.range
    }
}

/// One dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The operation it belongs to.
    pub label: String,
    /// Name of the shader.
    pub shader: String,
    /// SHA-256 of its SPIR-V.
    pub digest: String,
    /// Entry point.
    pub entry_point: &'static str,
    /// Specialization constants, id and bits.
    pub constants: Vec<(u32, u32)>,
    /// The exact push constant bytes: immutable.
    pub push: Vec<u8>,
    /// Descriptor bindings by number.
    pub bindings: Vec<Binding>,
    /// Workgroups.
    pub groups: [u32; 3],
    /// Invocations of a workgroup.
    pub workgroup: [u32; 3],
    /// Bytes of shared memory.
    pub shared_memory: u32,
    /// Earlier entries that it must come after, nearest first.
    pub depends: Vec<u32>,
}

/// A named piece of work at one end of the tape that touches the tape's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct External {
    /// Its name.
    pub name: &'static str,
    /// What it touches.
    pub bindings: Vec<Binding>,
}

/// A field that may change between replays: it lives in a buffer that replays read. Everything else is immutable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DynamicField {
    /// Its name.
    pub name: &'static str,
    /// Its type and bounds in words.
    pub kind: &'static str,
    /// First byte in the parameter buffer; `None` where it selects the recording instead.
    pub offset: Option<u32>,
    /// Bytes.
    pub bytes: u32,
}

/// The record of one forward.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tape {
    /// `valid WxH, field WxH`.
    pub geometry: String,
    /// The work before it: writes the features.
    pub before: External,
    /// The dispatches, in order.
    pub entries: Vec<Entry>,
    /// The work after it: reads the head.
    pub after: External,
    /// What may change between replays.
    pub dynamic: Vec<DynamicField>,
    /// Whether a barrier stands before the entry of the same index; one more for the work after.
    pub barriers: Vec<bool>,
    /// Whether something that is not part of the forward (a timestamp) stands between the entries: such a tape attributes
    /// time and proves nothing.
    pub instrumented: bool,
}

impl Tape {
    /// Number of dispatches.
    pub fn dispatches(&self) -> usize {
        self.entries.len()
    }

    /// What every position of the tape touches: the work before it, the entries, the work after it.
    pub fn actors(&self) -> Vec<&[Binding]> {
        let mut actors = vec![self.before.bindings.as_slice()];
        actors.extend(self.entries.iter().map(|entry| entry.bindings.as_slice()));
        actors.push(&self.after.bindings);
        actors
    }

    /// Name of a position of [`Tape::actors`].
    pub fn actor_name(&self, position: usize) -> String {
        match position {
            0 => self.before.name.to_owned(),
            p if p <= self.entries.len() => format!("{} {}", p - 1, self.entries[p - 1].label),
            _ => self.after.name.to_owned(),
        }
    }
}
