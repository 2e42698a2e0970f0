//! What the process and its device hold, time after time in the same state, and whether it grows.

use std::fs;

use gpu::Device;
use serde::Serialize;

/// Share of an allocation that only fills up to the next one's alignment, for each allocation; which gap of a block an
/// allocation goes to decides about it.
const PADDING: u64 = 256;
/// Growth of the process's memory that is no trend: what caches, pools and the driver's compiler keep.
const SLACK: u64 = 64 << 20;
/// Files and threads that may come late: the pool of the loader, a log.
const FEW: u64 = 8;
/// Samples before any judgement on what only grows.
const ENOUGH: usize = 8;

/// What is held at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sample {
    /// Seconds since the beginning.
    pub seconds: f64,
    /// Bytes of the process in memory; 0 where the system does not tell.
    pub resident: u64,
    /// Open files.
    pub files: u64,
    /// Threads.
    pub threads: u64,
    /// Bytes of device memory in use.
    pub device: u64,
    /// Allocations of device memory.
    pub allocations: u64,
    /// Bytes of device memory that the allocator holds.
    pub reserved: u64,
    /// Objects of the device that are alive.
    pub objects: u64,
    /// Kind and name of those that the first sample did not have, with a plus, and of those that it alone had, with a minus.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<String>,
    /// Milliseconds of a frame of the network in this state, from its beginning to its end.
    pub frame: f64,
}

impl Sample {
    /// What is held now; `apart` is how the objects differ from those of the first sample.
    pub fn take(device: &Device, seconds: f64, frame: f64, apart: Vec<String>) -> Self {
        gpu::trim_heap();
        let allocations = device.allocations();
        Self {
            seconds,
            resident: resident().unwrap_or(0),
            files: entries("/proc/self/fd"),
            threads: entries("/proc/self/task"),
            device: allocations.iter().map(|(_, bytes)| bytes).sum(),
            allocations: allocations.len() as u64,
            reserved: device.memory_use().reserved,
            objects: device.live_objects().len() as u64,
            apart,
            frame,
        }
    }
}

fn entries(folder: &str) -> u64 {
    fs::read_dir(folder).map_or(0, |entries| entries.count() as u64)
}

/// Bytes of the process in memory.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// What has grown, in words; all samples are of the same state of the program.
///
/// Device memory, allocations and objects must be the same in every sample, the device's memory but for what fills gaps.
/// The process's memory, files and threads may vary: they grow without bound where every one of the last quarter of the
/// samples is above all of the first half, by more than what comes late once.
pub fn grown(samples: &[Sample]) -> Vec<String> {
    let mut found = Vec::new();
    let [first, rest @ ..] = samples else { return found };
    for sample in rest {
        let at = format!("after {:.0} s", sample.seconds);
        if sample.device.abs_diff(first.device) > PADDING * first.allocations {
            found.push(format!("device memory: {} bytes at first, {} {at}", first.device, sample.device));
        }
        if sample.allocations != first.allocations {
            found.push(format!("allocations: {} at first, {} {at}", first.allocations, sample.allocations));
        }
        if sample.objects != first.objects {
            let apart = sample.apart.join(", ");
            found.push(format!("objects of the device: {} at first, {} {at} ({apart})", first.objects, sample.objects));
        }
    }
    found.truncate(12);
    if samples.len() < ENOUGH {
        return found;
    }
    let (early, late) = (&samples[..samples.len() / 2], &samples[samples.len() - samples.len() / 4..]);
    let mut trend = |name: &str, slack: u64, of: fn(&Sample) -> u64| {
        let (most, least) = (early.iter().map(of).max().unwrap_or(0), late.iter().map(of).min().unwrap_or(0));
        if least > most + slack {
            found.push(format!("{name}: at most {most} in the first half, at least {least} at the end"));
        }
    };
    trend("bytes of the process", SLACK, |sample| sample.resident);
    trend("open files", FEW, |sample| sample.files);
    trend("threads", FEW, |sample| sample.threads);
    trend("bytes reserved on the device", SLACK, |sample| sample.reserved);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(change: impl Fn(u64, &mut Sample)) -> Vec<Sample> {
        (0..20)
            .map(|n| {
                let mut sample = Sample {
                    seconds: n as f64,
                    resident: 1 << 30,
                    files: 20,
                    threads: 9,
                    device: 1 << 28,
                    allocations: 50,
                    reserved: 1 << 29,
                    objects: 300,
                    apart: Vec::new(),
                    frame: 5.0,
                };
                change(n, &mut sample);
                sample
            })
            .collect()
    }

    #[test]
    fn what_varies_does_not_grow_and_what_grows_is_named() {
        assert_eq!(grown(&samples(|_, _| {})), Vec::<String>::new());
        assert_eq!(grown(&samples(|n, s| s.resident += (n * 7 % 5) << 26)), Vec::<String>::new());
        assert_eq!(grown(&samples(|n, s| s.device += n % 3 * 100)), Vec::<String>::new());
        assert_eq!(grown(&[]), Vec::<String>::new());
        type Change = fn(u64, &mut Sample);
        let cases: [(&str, Change); 7] = [
            ("device memory", |n, s| s.device += n << 12),
            ("allocations", |n, s| s.allocations += n / 19),
            ("objects", |n, s| s.objects += n / 19),
            ("bytes of the process", |n, s| s.resident += n << 24),
            ("open files", |n, s| s.files += 2 * n),
            ("threads", |n, s| s.threads += 2 * n),
            ("bytes reserved", |n, s| s.reserved += n << 24),
        ];
        for (word, change) in cases {
            let found = grown(&samples(change));
            assert!(!found.is_empty() && found.iter().all(|line| line.contains(word)), "{word}: {found:?}");
        }
    }

    #[test]
    fn the_system_tells() {
        assert!(resident().is_none_or(|bytes| bytes > 1 << 20));
        assert!(entries("/proc/self/task") > 0 || !std::path::Path::new("/proc/self").exists());
    }
}
