//! Who is alive: a register of every object, for the leak report.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One object that has not been destroyed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LiveObject {
    /// Type of the object: `Buffer`, `Device` and so on.
    pub kind: &'static str,
    /// Its debug name.
    pub name: String,
}

impl fmt::Display for LiveObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\"", self.kind, self.name)
    }
}

struct Entry {
    scope: u64,
    object: LiveObject,
}

static NEXT: AtomicU64 = AtomicU64::new(1);
static REGISTER: Mutex<BTreeMap<u64, Entry>> = Mutex::new(BTreeMap::new());

fn register() -> MutexGuard<'static, BTreeMap<u64, Entry>> {
    // The map is valid after any panic: each operation on it is one call.
    REGISTER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number no scope or object has had before.
pub(crate) fn unique() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Objects (and devices) made so far in this process, alive or not. It does not grow while nothing is made.
#[must_use]
pub fn objects_made() -> u64 {
    NEXT.load(Ordering::Relaxed)
}

/// Registers an object for as long as it lives.
#[derive(Debug)]
pub(crate) struct LiveToken {
    id: u64,
}

impl LiveToken {
    /// `scope` is the device's number, so that devices can be told apart.
    pub(crate) fn new(scope: u64, kind: &'static str, name: &str) -> Self {
        let id = unique();
        let object = LiveObject { kind, name: name.to_owned() };
        register().insert(id, Entry { scope, object });
        Self { id }
    }
}

impl Drop for LiveToken {
    fn drop(&mut self) {
        register().remove(&self.id);
    }
}

/// Objects of one scope, oldest first.
pub(crate) fn of_scope(scope: u64) -> Vec<LiveObject> {
    let register = register();
    register.values().filter(|e| e.scope == scope).map(|e| e.object.clone()).collect()
}

/// Every object of every device and instance that is alive in this process, oldest first. Empty
/// at a clean exit.
#[must_use]
pub fn leak_report() -> Vec<LiveObject> {
    register().values().map(|entry| entry.object.clone()).collect()
}

/// Panics with the list when anything is alive. For the end of a program or test that has
/// dropped all it had.
///
/// # Panics
/// When an object is alive.
pub fn assert_no_leaks() {
    let live = leak_report();
    assert!(live.is_empty(), "objects never destroyed: {}", list(&live));
}

/// The objects in one line, at most 16 of them.
pub(crate) fn list(objects: &[LiveObject]) -> String {
    let mut names: Vec<String> = objects.iter().take(16).map(ToString::to_string).collect();
    if objects.len() > names.len() {
        names.push(format!("and {} more", objects.len() - names.len()));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_register_and_leave() {
        let scope = unique();
        let a = LiveToken::new(scope, "Buffer", "a");
        let b = LiveToken::new(scope, "Image", "b");
        assert_eq!(list(&of_scope(scope)), "Buffer \"a\", Image \"b\"");
        drop(a);
        assert_eq!(of_scope(scope).len(), 1);
        assert!(leak_report().iter().any(|o| o.name == "b"));
        drop(b);
        assert!(of_scope(scope).is_empty());
    }

    #[test]
    fn long_lists_are_cut() {
        let object = LiveObject { kind: "Buffer", name: "x".into() };
        assert!(list(&vec![object; 20]).ends_with("and 4 more"));
    }
}
