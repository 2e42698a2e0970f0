//! The guard words around every range of the arena and the scratch buffer.

use super::ExecError;
use super::memory::GUARD;
use super::network::Network;

/// What guard words hold.
const WORD: u32 = 0x600d_cafe;

impl Network {
    /// Every guard: index of the arena (one past the last is the scratch buffer) and first byte.
    fn guards(&self) -> Vec<(usize, u64)> {
        let scratch = self.objects.arenas.len();
        let end = self.objects.scratch.size() - GUARD;
        self.placement.guards.iter().copied().chain([(scratch, 0), (scratch, end)]).collect()
    }

    fn guarded(&self, index: usize) -> &gpu::Buffer {
        self.objects.arenas.get(index).unwrap_or(&self.objects.scratch)
    }

    /// Writes all guard words, and waits.
    pub(super) fn write_guards(&self) -> Result<(), ExecError> {
        let guards = self.guards();
        Ok(self.kernels().device().run_once("guards", |cmd| {
            for (index, offset) in &guards {
                cmd.fill_buffer(self.guarded(*index), *offset, GUARD, WORD);
            }
            cmd.transfer_to_compute_barrier();
        })?)
    }

    /// Number of guards, and the places of those that something has written over: empty when all is well.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn check_guards(&self) -> Result<(usize, Vec<String>), ExecError> {
        let guards = self.guards();
        let mut damaged = Vec::new();
        for &(index, offset) in &guards {
            let buffer = self.guarded(index);
            let bytes = self.kernels().device().download(buffer, offset, GUARD)?;
            if let Some(at) = bytes.as_chunks().0.iter().position(|&word: &[u8; 4]| u32::from_le_bytes(word) != WORD) {
                damaged.push(format!("{} byte {}", buffer.name(), offset + 4 * at as u64));
            }
        }
        Ok((guards.len(), damaged))
    }
}
