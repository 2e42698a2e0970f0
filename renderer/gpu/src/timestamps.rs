//! GPU time.

use crate::device::Device;
use crate::error::Result;
use crate::live::LiveToken;
use crate::retire::Retired;
use ash::vk;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A pool of timestamps, written by [`crate::CommandBuffer::write_timestamp`].
pub struct Timestamps {
    raw: vk::QueryPool,
    count: u32,
    /// One more than the highest index recorded since the last reset.
    used: AtomicU32,
    name: String,
    device: Arc<Device>,
    _live: LiveToken,
}

impl Timestamps {
    /// Creates a pool of `count` timestamps, at least 1.
    ///
    /// # Errors
    /// A Vulkan error of the driver.
    pub fn new(device: &Arc<Device>, name: &str, count: u32) -> Result<Self> {
        let count = count.max(1);
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: plain creation.
        let raw = unsafe { device.ash().create_query_pool(&info, None) }
            .map_err(|code| device.creation_failed("vkCreateQueryPool", name, 0, code))?;
        device.names.set(raw, name);
        let timestamps = Self {
            raw,
            count,
            used: AtomicU32::new(0),
            name: name.to_owned(),
            _live: device.live("Timestamps", name),
            device: Arc::clone(device),
        };
        // Queries must have been reset once before they are read, even if only to find that
        // nothing is there yet.
        device.run_once(name, |cmd| cmd.reset_timestamps(&timestamps))?;
        Ok(timestamps)
    }

    /// The Vulkan handle.
    #[must_use]
    pub fn raw(&self) -> vk::QueryPool {
        self.raw
    }

    /// Number of timestamps.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the queue has timestamps at all; writing is skipped otherwise.
    #[must_use]
    pub fn supported(&self) -> bool {
        self.device.caps().limits.timestamp_bits > 0
    }

    pub(crate) fn forget(&self) {
        self.used.store(0, Ordering::Release);
    }

    pub(crate) fn remember(&self, index: u32) {
        self.used.fetch_max(index + 1, Ordering::AcqRel);
    }

    /// Says that a recording made earlier, which writes timestamps up to `count`, is submitted again.
    pub fn expect(&self, count: u32) {
        if self.supported() {
            self.used.fetch_max(count.min(self.count), Ordering::AcqRel);
        }
    }

    /// Milliseconds from timestamp 0 to each one recorded since the last reset. `None` when some
    /// are not there yet (the submission runs), or the device has no timestamps.
    ///
    /// # Errors
    /// [`crate::Error::DeviceLost`].
    pub fn read(&self) -> Result<Option<Vec<f64>>> {
        let used = self.used.load(Ordering::Acquire) as usize;
        if used == 0 || !self.supported() {
            return Ok(None);
        }
        let mut ticks = vec![0u64; used];
        // SAFETY: the pool is alive and has at least `used` queries.
        let result = unsafe {
            let flags = vk::QueryResultFlags::TYPE_64;
            self.device.ash().get_query_pool_results(self.raw, 0, &mut ticks, flags)
        };
        match result {
            Ok(()) => {
                let limits = &self.device.caps().limits;
                Ok(Some(to_milliseconds(&ticks, limits.timestamp_bits, limits.timestamp_period)))
            }
            Err(vk::Result::NOT_READY) => Ok(None),
            Err(code) => Err(self.device.creation_failed("vkGetQueryPoolResults", &self.name, 0, code)),
        }
    }
}

/// Differences to the first tick, with the wrap at `bits` bits undone; `period` is nanoseconds.
fn to_milliseconds(ticks: &[u64], bits: u32, period: f32) -> Vec<f64> {
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let first = ticks.first().copied().unwrap_or(0);
    let step = f64::from(period) * 1e-6;
    ticks.iter().map(|t| (t.wrapping_sub(first) & mask) as f64 * step).collect()
}

impl Drop for Timestamps {
    fn drop(&mut self) {
        self.device.retire(Retired::QueryPool(self.raw));
    }
}

#[cfg(test)]
mod tests {
    use super::to_milliseconds;

    #[test]
    fn ticks_become_milliseconds_across_a_wrap() {
        assert_eq!(to_milliseconds(&[0, 1_000_000], 64, 1.0), [0.0, 1.0]);
        let top = (1u64 << 36) - 500_000;
        assert_eq!(to_milliseconds(&[top, 500_000], 36, 2.0), [0.0, 2.0]);
        assert!(to_milliseconds(&[], 64, 1.0).is_empty());
    }
}
