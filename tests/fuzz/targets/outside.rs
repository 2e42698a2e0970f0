//! Any bytes for the parser that `NRVIEW_FUZZ_TARGET` names.

#![no_main]

use std::cell::OnceCell;

use libfuzzer_sys::fuzz_target;
use outside::{Check, Target, find};

thread_local! {
    static CHECK: OnceCell<Check> = const { OnceCell::new() };
}

fn target() -> Target {
    let name = std::env::var("NRVIEW_FUZZ_TARGET").expect("NRVIEW_FUZZ_TARGET names a target");
    find(&name).unwrap_or_else(|| panic!("{name} is no target"))
}

/// A decoder's panic that its caller catches is no fault; the fuzzer's own hook would end the process at once. What is
/// not caught still ends it.
fn begin() {
    if target().catches {
        std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    }
}

fuzz_target!(init: begin(), |bytes: &[u8]| {
    CHECK.with(|check| check.get_or_init(target().make)(bytes));
});
