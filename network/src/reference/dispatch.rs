//! Runtime choice of the instruction set.
//!
//! The hot loops are plain Rust that the compiler vectorizes. [`dispatch!`] compiles such a function three times, for
//! AVX-512, for AVX2 and for the build's baseline, and picks the best copy that the processor runs. All copies compute the
//! same bits: the loops hold no operation whose result depends on the instruction set.

/// Declares a function with one body per instruction set.
///
/// The body must be reachable by inlining only: everything it calls in a loop is `#[inline(always)]`.
macro_rules! dispatch {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn body($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi2")]
                fn avx512($($arg: $ty),*) $(-> $ret)? {
                    body($($arg),*)
                }
                #[target_feature(enable = "avx2,bmi2")]
                fn avx2($($arg: $ty),*) $(-> $ret)? {
                    body($($arg),*)
                }
                match $crate::reference::dispatch::level() {
                    // SAFETY: `level` found every feature that the copy is compiled for.
                    $crate::reference::dispatch::Level::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::reference::dispatch::Level::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::reference::dispatch::Level::Baseline => {}
                }
            }
            body($($arg),*)
        }
    };
}
pub(super) use dispatch;

/// Instruction sets, the widest first, that the hot loops are compiled for.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// AVX-512 with byte, word, doubleword and short-vector instructions.
    Avx512,
    /// AVX2.
    Avx2,
    /// Whatever the build allows everywhere.
    Baseline,
}

/// The best level that this processor runs.
#[cfg(target_arch = "x86_64")]
pub(super) fn level() -> Level {
    // The detection macro caches its findings.
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq");
    let best = match (avx512, avx2) {
        (true, _) => Level::Avx512,
        (_, true) => Level::Avx2,
        _ => Level::Baseline,
    };
    #[cfg(test)]
    let best = best.max(tests::limit());
    best
}

/// Runs a test once per level that this processor has. Other tests running meanwhile may use the lower level too, which
/// changes nothing but their speed.
#[cfg(test)]
pub(super) use tests::on_every_level;

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "x86_64")]
    mod limited {
        use std::sync::Mutex;
        use std::sync::atomic::{AtomicU8, Ordering};

        use super::super::Level;

        const LEVELS: [Level; 3] = [Level::Avx512, Level::Avx2, Level::Baseline];
        static LIMIT: AtomicU8 = AtomicU8::new(0);
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

        /// The best level allowed now.
        pub fn limit() -> Level {
            LEVELS[LIMIT.load(Ordering::Relaxed) as usize]
        }

        pub fn on_every_level(test: impl Fn()) {
            let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            for index in 0..LEVELS.len() as u8 {
                LIMIT.store(index, Ordering::Relaxed);
                test();
            }
            LIMIT.store(0, Ordering::Relaxed);
        }
    }

    #[cfg(target_arch = "x86_64")]
    pub use limited::{limit, on_every_level};

    #[cfg(not(target_arch = "x86_64"))]
    pub fn on_every_level(test: impl Fn()) {
        test();
    }
}
