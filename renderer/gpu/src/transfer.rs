//! Work that is recorded, submitted and waited for at once.

use crate::buffer::{Buffer, BufferDesc, BufferUsage, MemoryKind};
use crate::command::CommandBuffer;
use crate::device::Device;
use crate::error::{Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a staging buffer.
const CHUNK: u64 = 32 << 20;
/// How long one-off work may take; a software device may need minutes for a frame.
const PATIENCE: Duration = Duration::from_secs(600);

impl Device {
    /// Records with `f`, submits, and waits until it has run.
    ///
    /// # Errors
    /// A mistake in recording, [`Error::Timeout`] after ten minutes, [`Error::DeviceLost`].
    pub fn run_once(self: &Arc<Self>, name: &str, f: impl FnOnce(&mut CommandBuffer)) -> Result<()> {
        let mut commands = CommandBuffer::new(self, name)?;
        commands.begin()?;
        f(&mut commands);
        commands.end()?;
        let ticket = self.submit(&[&commands], &[], &[])?;
        self.wait(ticket, PATIENCE)
    }

    /// Writes bytes to a buffer of any kind and waits until they are there. Work submitted before
    /// is ordered before the write, work submitted later after it.
    ///
    /// # Errors
    /// [`Error::Usage`] outside the buffer, and those of [`Device::run_once`].
    pub fn upload(self: &Arc<Self>, buffer: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        let total = bytes.len() as u64;
        buffer.check_range("upload", offset, total)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let mut staging = self.staging(buffer, MemoryKind::Upload, total.min(CHUNK))?;
        let mut at = offset;
        for chunk in bytes.chunks(usize::try_from(CHUNK).unwrap_or(usize::MAX)) {
            let size = chunk.len() as u64;
            match staging.mapped_mut() {
                Some(mapped) => mapped[..chunk.len()].copy_from_slice(chunk),
                None => return Err(Error::usage(staging.name(), "upload memory is not mapped")),
            }
            self.run_once("upload", |cmd| {
                cmd.compute_to_transfer_barrier();
                cmd.transfer_barrier();
                cmd.copy_buffer(&staging, 0, buffer, at, size);
                cmd.transfer_to_compute_barrier();
                cmd.transfer_barrier();
            })?;
            at += size;
        }
        Ok(())
    }

    /// Reads bytes of a buffer of any kind, after all work submitted before.
    ///
    /// # Errors
    /// [`Error::Usage`] outside the buffer, and those of [`Device::run_once`].
    pub fn download(self: &Arc<Self>, buffer: &Buffer, offset: u64, size: u64) -> Result<Vec<u8>> {
        buffer.check_range("download", offset, size)?;
        let mut out = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        if size == 0 {
            return Ok(out);
        }
        let staging = self.staging(buffer, MemoryKind::Readback, size.min(CHUNK))?;
        let mut done = 0;
        while done < size {
            let part = (size - done).min(CHUNK);
            self.run_once("download", |cmd| {
                cmd.compute_to_transfer_barrier();
                cmd.transfer_barrier();
                cmd.copy_buffer(buffer, offset + done, &staging, 0, part);
                cmd.host_read_barrier();
            })?;
            match staging.mapped() {
                Some(mapped) => out.extend_from_slice(&mapped[..usize::try_from(part).unwrap_or(0)]),
                None => return Err(Error::usage(staging.name(), "readback memory is not mapped")),
            }
            done += part;
        }
        Ok(out)
    }

    fn staging(self: &Arc<Self>, buffer: &Buffer, memory: MemoryKind, size: u64) -> Result<Buffer> {
        let name = format!("staging of {}", buffer.name());
        Buffer::new(self, &BufferDesc { name: &name, size, usage: BufferUsage::empty(), memory })
    }
}
