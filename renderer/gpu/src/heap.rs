//! Giving unused memory of the heap back to the system.

/// Gives what was freed on the heap back to the system where the C library can do that, so that the memory of the process
/// is what it uses. For measurements.
pub fn trim_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            /// glibc: releases free memory at the top of the heap and whole free pages within.
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: it may be called at any time, from any thread.
        _ = unsafe { malloc_trim(0) };
    }
}
