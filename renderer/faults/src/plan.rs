//! Which calls fail.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

/// A kind of call that can be made to fail; the calls of each are counted for themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Opening the device.
    Device,
    /// Allocating device memory.
    Memory,
    /// Making or recording any object of the device.
    Object,
    /// Mapping device memory.
    Map,
    /// Submitting work.
    Submit,
    /// Waiting for work.
    Wait,
    /// Asking for the window's next image.
    Acquire,
    /// Presenting an image.
    Present,
    /// Making a file or folder.
    Create,
    /// Writing bytes to a file.
    Write,
    /// Giving a file or folder its final name.
    Rename,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// As it commonly does: no memory, a full disk, no permission, a lost device, a swapchain out of date.
    Usual,
    /// The surface is lost.
    Lost,
    /// It works, but the swapchain no longer fits the window.
    Suboptimal,
    /// It takes longer than the caller waits.
    Slow,
}

/// Names of failures that a place has beside the usual one.
type Others = &'static [(&'static str, Failure)];

const PLACES: [(Place, &str, Others); 11] = {
    use Place::*;
    let none: Others = &[];
    let window: Others = &[("lost", Failure::Lost), ("suboptimal", Failure::Suboptimal)];
    [
        (Device, "device", none),
        (Memory, "memory", none),
        (Object, "object", none),
        (Map, "map", none),
        (Submit, "submit", none),
        (Wait, "wait", &[("slow", Failure::Slow)]),
        (Acquire, "acquire", &[window[0], window[1], ("slow", Failure::Slow)]),
        (Present, "present", window),
        (Create, "create", none),
        (Write, "write", none),
        (Rename, "rename", none),
    ]
};

static CALLS: [AtomicU64; PLACES.len()] = [const { AtomicU64::new(0) }; PLACES.len()];
static STRUCK: AtomicU64 = AtomicU64::new(0);
/// The environment's plan.
static PLAN: OnceLock<Option<Vec<Fault>>> = OnceLock::new();
/// The plan that a test has set in its place.
static OTHER: RwLock<Option<&'static [Fault]>> = RwLock::new(None);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fault {
    place: Place,
    /// The first call that fails, from 1.
    first: u64,
    /// Whether all later ones fail too.
    on: bool,
    failure: Failure,
}

fn plan() -> Option<&'static [Fault]> {
    let read = || {
        let text = std::env::var("NRVIEW_FAULT").ok().filter(|text| !text.is_empty())?;
        Some(parse(&text).unwrap_or_else(|problem| {
            eprintln!("nrview: NRVIEW_FAULT is not used: {problem}");
            Vec::new()
        }))
    };
    let other = *OTHER.read().unwrap_or_else(PoisonError::into_inner);
    other.or_else(|| PLAN.get_or_init(read).as_deref())
}

/// Sets the plan of this process in the place of the one before, and begins to count anew; for tests. The functions of a
/// Vulkan instance are replaced only if there is a plan when it is made.
///
/// # Errors
/// The text is no plan.
pub fn set(text: &str) -> Result<(), String> {
    let plan = parse(text)?.leak();
    *OTHER.write().unwrap_or_else(PoisonError::into_inner) = Some(plan);
    CALLS.iter().chain([&STRUCK]).for_each(|count| count.store(0, Ordering::Relaxed));
    Ok(())
}

/// How often each place was reached so far, by its name.
pub fn calls() -> impl Iterator<Item = (&'static str, u64)> {
    PLACES.iter().map(|(place, name, _)| (*name, CALLS[*place as usize].load(Ordering::Relaxed)))
}

/// Whether calls are counted or made to fail at all.
#[must_use]
pub fn active() -> bool {
    plan().is_some()
}

/// Says that a call is about to be made: `Some` when it must fail instead.
#[must_use]
pub fn reached(place: Place) -> Option<Failure> {
    let plan = plan()?;
    let call = CALLS[place as usize].fetch_add(1, Ordering::Relaxed) + 1;
    let hit = |fault: &&Fault| fault.place == place && (call == fault.first || fault.on && call > fault.first);
    let failure = plan.iter().find(hit)?.failure;
    STRUCK.fetch_add(1, Ordering::Relaxed);
    Some(failure)
}

/// Calls made to fail so far.
#[must_use]
pub fn struck() -> u64 {
    STRUCK.load(Ordering::Relaxed)
}

/// How often each place was reached, in one line; `None` without a plan.
#[must_use]
pub fn summary() -> Option<String> {
    plan()?;
    let counts: Vec<String> = calls().map(|(name, calls)| format!("{name}={calls}")).collect();
    Some(format!("faults: struck={} {}", struck(), counts.join(" ")))
}

fn parse(text: &str) -> Result<Vec<Fault>, String> {
    if text == "count" {
        return Ok(Vec::new());
    }
    text.split(',').map(one).collect()
}

fn one(text: &str) -> Result<Fault, String> {
    let no = |what: &str| format!("{} {what}; write PLACE:CALL[+][=FAILURE], such as memory:3", messages::quoted(text));
    let (name, rest) = text.split_once(':').ok_or_else(|| no("names no call"))?;
    let (call, failure) = rest.split_once('=').map_or((rest, None), |(call, failure)| (call, Some(failure)));
    let Some((place, _, failures)) = PLACES.iter().find(|(_, known, _)| *known == name) else {
        let names: Vec<&str> = PLACES.iter().map(|(_, name, _)| *name).collect();
        return Err(no(&format!("names no place ({})", names.join(", "))));
    };
    let failure = match failure {
        None => Failure::Usual,
        Some(wanted) => match failures.iter().find(|(known, _)| *known == wanted) {
            Some((_, failure)) => *failure,
            None => return Err(no("cannot fail so")),
        },
    };
    let number = call.strip_suffix('+').unwrap_or(call);
    match number.parse() {
        Ok(first) if first > 0 => Ok(Fault { place: *place, first, on: call.ends_with('+'), failure }),
        _ => Err(no("has no number of a call, from 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read() {
        let fault = |place, first, on, failure| Fault { place, first, on, failure };
        assert_eq!(parse("count"), Ok(vec![]));
        assert_eq!(
            parse("memory:3,write:2+,acquire:5=lost,wait:1+=slow"),
            Ok(vec![
                fault(Place::Memory, 3, false, Failure::Usual),
                fault(Place::Write, 2, true, Failure::Usual),
                fault(Place::Acquire, 5, false, Failure::Lost),
                fault(Place::Wait, 1, true, Failure::Slow),
            ])
        );
        for bad in ["", "memory", "memory:0", "memory:x", "memori:1", "memory:1=lost", "map:+", "submit:1,"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn places_count_in_their_order() {
        for (at, (place, ..)) in PLACES.iter().enumerate() {
            assert_eq!(*place as usize, at);
        }
    }
}
