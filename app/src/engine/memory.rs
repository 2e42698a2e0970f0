//! Device memory by what it is for.

use gpu::Device;

/// Purposes in the order of the overlay.
pub const PURPOSES: [&str; 6] = ["weights", "activations", "frame", "scene", "window", "other"];

/// Bytes of this program's objects, and what the driver says there is.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Bytes in use by purpose, as in [`PURPOSES`].
    #[serde(serialize_with = "by_purpose")]
    pub used: [u64; PURPOSES.len()],
    /// All of them.
    pub total: u64,
    /// What the allocator holds, its unused parts included.
    pub reserved: u64,
    /// Bytes that the driver lets this program have in the largest heap of the device's own.
    pub budget: u64,
    /// Bytes of it that this program has, as the driver counts; `None` where the driver does not tell
    /// (VK_EXT_memory_budget), and the budget is the whole heap.
    pub counted: Option<u64>,
}

fn by_purpose<S: serde::Serializer>(used: &[u64; PURPOSES.len()], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(PURPOSES.iter().zip(used))
}

/// What an object is for, by its name.
fn purpose(name: &str) -> usize {
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    if begins(&["network weights"]) {
        0
    } else if begins(&["network "]) {
        1
    } else if begins(&["proxy", "history", "published", "display", "preview", "no motion", "recorded"]) {
        2
    } else if begins(&["scene", "mesh", "texture", "environment", "model"]) {
        3
    } else if begins(&["window", "screenshot", "pixel values", "measured"]) {
        4
    } else {
        5
    }
}

/// Counts everything there is on a device.
pub fn count(device: &Device) -> Memory {
    let mut used = [0; PURPOSES.len()];
    for (name, bytes) in device.allocations() {
        used[purpose(&name)] += bytes;
    }
    let heaps = device.memory_budget();
    let largest = heaps.iter().filter(|heap| heap.device_local).max_by_key(|heap| heap.budget);
    Memory {
        used,
        total: used.iter().sum(),
        reserved: device.memory_use().reserved,
        budget: largest.map_or(0, |heap| heap.budget),
        counted: largest.filter(|_| device.caps().memory_budget).map(|heap| heap.usage),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu::testing::TestDevice;
    use gpu::{Buffer, BufferDesc, BufferUsage, MemoryKind};

    #[test]
    fn every_byte_is_counted_once() -> anyhow::Result<()> {
        let device = TestDevice::open()?;
        let make = |name: &str, size: u64| {
            let desc = BufferDesc { name, size, usage: BufferUsage::STORAGE_BUFFER, memory: MemoryKind::Device };
            Buffer::new(&device, &desc)
        };
        let before = count(&device);
        let _held = [make("network weights 0", 4096)?, make("scene color", 8192)?, make("history 1", 1024)?];
        let after = count(&device);
        let grown = |purpose: usize| after.used[purpose] - before.used[purpose];
        assert_eq!([grown(0), grown(2), grown(3), grown(1)], [4096, 1024, 8192, 0]);
        assert_eq!(after.total, device.memory_use().used);
        assert!(after.budget > after.total);
        Ok(())
    }
}
