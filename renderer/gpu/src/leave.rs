//! Ending the process at once.

use std::ffi::c_int;

unsafe extern "C" {
    /// POSIX: ends the process without running the handlers of `atexit`.
    fn _exit(status: c_int) -> !;
}

/// Ends the process with an exit status, without taking anything down: for the one case that another thread is inside of
/// the driver and cannot be stopped. `std::process::exit` would run the driver's own exit handlers under that thread.
pub fn leave_process(status: i32) -> ! {
    // SAFETY: it takes any status and does not return.
    unsafe { _exit(status) }
}
