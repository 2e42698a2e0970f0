//! The name of a tape: what must be the same for it to be the same tape.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::tape::Tape;
use crate::capture::sha256;

/// Identity of a tape. Stable across frames, parities and processes; two that differ say in which field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TapeIdentity {
    /// Number of dispatches.
    pub dispatches: usize,
    /// Number of distinct kernels.
    pub kernels: usize,
    /// SHA-256 of the ordered entries: shader digests, constants, push constants, bindings, grids, and of the barriers.
    pub sequence: String,
    /// SHA-256 of the distinct shaders' names and digests.
    pub artifacts: String,
    /// Valid size and field.
    pub geometry: String,
    /// SHA-256 of the dynamic fields: names, types, places.
    pub dynamic: String,
    /// Whether timestamps stand between the entries: such a tape is no evidence.
    pub instrumented: bool,
}

impl TapeIdentity {
    /// The identity of a tape.
    pub fn of(tape: &Tape) -> Self {
        let kernels: BTreeSet<(&str, &str)> =
            tape.entries.iter().map(|entry| (entry.shader.as_str(), entry.digest.as_str())).collect();
        // Debug forms of plain data: every field, in order, with its name.
        let sequence = format!("{:?} {:?} {:?} {:?}", tape.before, tape.entries, tape.after, tape.barriers);
        Self {
            dispatches: tape.entries.len(),
            kernels: kernels.len(),
            sequence: sha256(format!("{sequence} {}", tape.instrumented).as_bytes()),
            artifacts: sha256(format!("{kernels:?}").as_bytes()),
            geometry: tape.geometry.clone(),
            dynamic: sha256(format!("{:?}", tape.dynamic).as_bytes()),
            instrumented: tape.instrumented,
        }
    }

    /// One digest over all fields.
    pub fn digest(&self) -> String {
        sha256(format!("{self:?}").as_bytes())
    }

    /// Every field in which two identities differ, by name; empty when they are the same.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let fields = [
            ("geometry", self.geometry == other.geometry),
            ("dispatches", self.dispatches == other.dispatches),
            ("kernels", self.kernels == other.kernels),
            ("artifacts", self.artifacts == other.artifacts),
            ("sequence", self.sequence == other.sequence),
            ("dynamic", self.dynamic == other.dynamic),
            ("instrumented", self.instrumented == other.instrumented),
        ];
        fields.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::tape::{Binding, DynamicField, Effect, Entry, External};
    use super::*;

    /// A tape of two dispatches.
    pub(crate) fn tape() -> Tape {
        let binding = |number, offset, effect| Binding {
            number,
            buffer: "network activations 0".into(),
            offset,
            range: 256,
            effect,
        };
        let entry = |label: &str, from: u64, to: u64| Entry {
            label: label.into(),
            shader: "network/pool".into(),
            digest: "11".repeat(32),
            entry_point: "main",
            constants: vec![],
            push: vec![1, 0, 0, 0],
            bindings: vec![binding(0, from, Effect::Read), binding(1, to, Effect::Write)],
            groups: [4, 1, 1],
            workgroup: [64, 1, 1],
            shared_memory: 0,
            depends: vec![],
        };
        Tape {
            geometry: "valid 64x64, field 64x64".into(),
            before: External { name: "preprocess", bindings: vec![binding(3, 0, Effect::Write)] },
            entries: vec![entry("b0.pool", 0, 256), entry("b1.pool", 256, 512)],
            after: External { name: "composite", bindings: vec![binding(3, 512, Effect::Read)] },
            dynamic: vec![DynamicField { name: "seed", kind: "u32, any", offset: Some(0), bytes: 4 }],
            barriers: vec![true; 3],
            instrumented: false,
        }
    }

    #[test]
    fn every_change_of_a_tape_has_a_name() {
        let one = TapeIdentity::of(&tape());
        assert_eq!(one, TapeIdentity::of(&tape()));
        assert_eq!(one.differences(&one), Vec::<&str>::new());
        let changed = |change: fn(&mut Tape)| {
            let mut other = tape();
            change(&mut other);
            let other = TapeIdentity::of(&other);
            assert_ne!(one.digest(), other.digest());
            one.differences(&other)
        };
        assert_eq!(changed(|t| t.entries[0].push[0] = 2), ["sequence"]);
        assert_eq!(changed(|t| t.entries[1].groups[0] += 1), ["sequence"]);
        assert_eq!(changed(|t| t.entries[0].bindings[0].offset = 1024), ["sequence"]);
        assert_eq!(changed(|t| t.entries[0].constants.push((0, 1))), ["sequence"]);
        assert_eq!(changed(|t| t.barriers[1] = false), ["sequence"]);
        assert_eq!(changed(|t| t.entries.swap(0, 1)), ["sequence"]);
        assert_eq!(
            changed(|t| t.entries.iter_mut().for_each(|entry| entry.digest = "22".repeat(32))),
            ["artifacts", "sequence"]
        );
        assert_eq!(changed(|t| t.geometry.push('!')), ["geometry"]);
        assert_eq!(changed(|t| t.dynamic.clear()), ["dynamic"]);
        assert_eq!(changed(|t| t.instrumented = true), ["sequence", "instrumented"]);
        assert!(changed(|t| drop(t.entries.pop())).contains(&"dispatches"));
    }
}
