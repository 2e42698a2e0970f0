//! The F2 key: the window's picture without the overlay, written as PNG off the render thread.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::SystemTime;

use anyhow::{Context as _, Result};
use gpu::{Buffer, BufferDesc, BufferUsage, CommandBuffer, Device, ImageRef, MemoryKind};

use crate::cli::write;

/// A picture on its way from the device.
pub struct Snap {
    buffer: Buffer,
    extent: [u32; 2],
}

/// RGBA8 pixels, rows from the top.
pub struct Pixels {
    extent: [u32; 2],
    bytes: Vec<u8>,
}

impl Snap {
    /// Room for a picture.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Arc<Device>, extent: [u32; 2]) -> Result<Self> {
        let size = 4 * u64::from(extent[0]) * u64::from(extent[1]);
        let usage = BufferUsage::STORAGE_BUFFER;
        let desc = BufferDesc { name: "screenshot", size, usage, memory: MemoryKind::Readback };
        Ok(Self { buffer: Buffer::new(device, &desc)?, extent })
    }

    /// Records the copy of a picture that is ready to be copied from.
    pub fn record(&self, cmd: &mut CommandBuffer, picture: ImageRef) {
        cmd.copy_image_to_buffer(picture, &self.buffer, 0);
        cmd.host_read_barrier();
    }

    /// The pixels of a copy that has been waited for.
    pub fn pixels(&self) -> Pixels {
        Pixels { extent: self.extent, bytes: self.buffer.mapped().unwrap_or_default().to_vec() }
    }
}

/// Pictures being written.
#[derive(Default)]
pub struct Screenshots {
    folder: PathBuf,
    writing: Vec<Receiver<Result<PathBuf>>>,
}

impl Screenshots {
    /// Pictures go into `folder`, which is made when it is needed.
    pub fn into_folder(folder: PathBuf) -> Self {
        Self { folder, writing: Vec::new() }
    }

    /// Hands a picture to a thread.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn write(&mut self, pixels: Pixels) -> Result<()> {
        let folder = self.folder.clone();
        let (done, receiver) = channel();
        std::thread::Builder::new().name("screenshot".into()).spawn(move || _ = done.send(save(&folder, &pixels)))?;
        self.writing.push(receiver);
        Ok(())
    }

    /// What has been written since the last call, or why not.
    pub fn news(&mut self) -> Option<String> {
        let mut news = None;
        self.writing.retain(|receiver| match receiver.try_recv() {
            Ok(result) => {
                news = Some(match result {
                    Ok(path) => format!("screenshot: {}", path.display()),
                    Err(error) => format!("the screenshot failed: {error:#}"),
                });
                false
            }
            Err(TryRecvError::Empty) => true,
            Err(TryRecvError::Disconnected) => false,
        });
        news
    }
}

impl Drop for Screenshots {
    /// Pictures that are being written are finished before the program ends.
    fn drop(&mut self) {
        for receiver in self.writing.drain(..) {
            _ = receiver.recv();
        }
    }
}

fn save(folder: &Path, pixels: &Pixels) -> Result<PathBuf> {
    write::make_folder(folder)?;
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let path = free_name(folder, seconds)?;
    let [width, height] = pixels.extent;
    write::write_png(&path, width, height, &pixels.bytes)?;
    Ok(path)
}

/// Takes a name that no file has, so that two pictures of one second do not meet.
fn free_name(folder: &Path, seconds: u64) -> Result<PathBuf> {
    for number in 1.. {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("nrview-{seconds}{suffix}.png"));
        match std::fs::File::create_new(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("cannot write {}", path.display())),
        }
    }
    anyhow::bail!("{} has no name left for a screenshot", folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_one_second_have_names_of_their_own() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let first = free_name(folder.path(), 5)?;
        let second = free_name(folder.path(), 5)?;
        assert!(first.ends_with("nrview-5.png") && second.ends_with("nrview-5-2.png"));
        let saved = save(folder.path(), &Pixels { extent: [1, 2], bytes: vec![1, 2, 3, 255, 4, 5, 6, 255] })?;
        let read = image::open(saved)?.to_rgb8();
        assert_eq!((read.dimensions(), read.get_pixel(0, 1).0), ((1, 2), [4, 5, 6]));
        Ok(())
    }
}
