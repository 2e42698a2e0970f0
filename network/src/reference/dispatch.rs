//! Runtime choice of the instruction set.
//!
//! The hot loops are plain Rust that the compiler vectorizes. [`dispatch!`] compiles such a function once for each
//! instruction set, and picks the best copy that the processor runs: AVX-512, AVX2 or the build's baseline on x86-64, NEON
//! or the baseline on AArch64 (where the usual targets have NEON in the baseline already), the baseline anywhere else. All
//! copies compute the same bits: the loops hold no operation whose result depends on the instruction set.

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
                    _ => {}
                }
            }
            #[cfg(target_arch = "aarch64")]
            {
                #[target_feature(enable = "neon")]
                fn neon($($arg: $ty),*) $(-> $ret)? {
                    body($($arg),*)
                }
                if $crate::reference::dispatch::level() == $crate::reference::dispatch::Level::Neon {
                    // SAFETY: `level` found the feature that the copy is compiled for.
                    return unsafe { neon($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}
pub(super) use dispatch;

/// Instruction sets that the hot loops are compiled for, the widest of each architecture first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// AVX-512 with byte, word, doubleword and short-vector instructions.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// Whatever the build allows everywhere.
    Baseline,
}

impl Level {
    /// Every level of the architecture that is compiled for, the widest first.
    const ALL: &[Level] = &[
        #[cfg(target_arch = "x86_64")]
        Level::Avx512,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2,
        #[cfg(target_arch = "aarch64")]
        Level::Neon,
        Level::Baseline,
    ];

    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "AVX-512",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "AVX2",
            #[cfg(target_arch = "aarch64")]
            Level::Neon => "NEON",
            Level::Baseline => "baseline",
        }
    }

    /// Whether this processor runs it. The detection macros cache their findings.
    fn is_there(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                Level::Avx2.is_there()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2"),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            Level::Baseline => true,
        }
    }
}

/// The best level that this processor runs.
pub(super) fn level() -> Level {
    let best = Level::ALL.iter().copied().find(|level| level.is_there()).unwrap_or(Level::Baseline);
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
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Level;

    static LIMIT: AtomicUsize = AtomicUsize::new(0);
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// The best level allowed now.
    pub fn limit() -> Level {
        Level::ALL[LIMIT.load(Ordering::Relaxed)]
    }

    pub fn on_every_level(test: impl Fn()) {
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for (index, level) in Level::ALL.iter().enumerate().filter(|(_, level)| level.is_there()) {
            LIMIT.store(index, Ordering::Relaxed);
            assert_eq!(super::level(), *level);
            test();
        }
        LIMIT.store(0, Ordering::Relaxed);
    }

    #[test]
    fn the_level_is_one_that_the_processor_has() {
        on_every_level(|| assert!(limit().is_there()));
        assert!(Level::ALL.is_sorted() && Level::ALL.ends_with(&[Level::Baseline]));
        #[cfg(target_arch = "aarch64")]
        assert_eq!(Level::ALL[0].name(), "NEON");
    }
}
