//! The F2 key: the window's picture without the overlay, written as PNG off the render thread. Clips take their frames
//! the same way, and the demo its pictures of the whole window.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::SystemTime;

use anyhow::{Context as _, Result};
use gpu::{Buffer, BufferDesc, BufferUsage, CommandBuffer, Device, ImageRef, MemoryKind, vk};

use super::News;
use crate::cli::write;

/// What a picture is read back for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A screenshot without the overlay, under a new name.
    Screenshot,
    /// A frame of a clip, without the overlay.
    Clip,
    /// The whole window with the overlay, into this file.
    Window(PathBuf),
}

/// A picture on its way from the device.
pub struct Snap {
    buffer: Buffer,
    extent: [u32; 2],
    /// What it is for.
    pub purpose: Purpose,
    /// Whether blue comes first.
    bgr: bool,
}

/// RGBA8 pixels, rows from the top.
pub struct Pixels {
    /// Width and height.
    pub extent: [u32; 2],
    /// Four bytes a pixel.
    pub bytes: Vec<u8>,
    /// What they are for.
    pub purpose: Purpose,
}

impl Pixels {
    /// Those of a clip.
    #[cfg(test)]
    pub fn new(extent: [u32; 2], bytes: Vec<u8>) -> Self {
        Self { extent, bytes, purpose: Purpose::Clip }
    }
}

impl Snap {
    /// Room for a picture.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Arc<Device>, extent: [u32; 2], purpose: Purpose) -> Result<Self> {
        let size = 4 * u64::from(extent[0]) * u64::from(extent[1]);
        let usage = BufferUsage::STORAGE_BUFFER;
        let desc = BufferDesc { name: "screenshot", size, usage, memory: MemoryKind::Readback };
        Ok(Self { buffer: Buffer::new(device, &desc)?, extent, purpose, bgr: false })
    }

    /// Whether it is of the window with the overlay.
    pub fn is_whole(&self) -> bool {
        matches!(self.purpose, Purpose::Window(_))
    }

    /// Records the copy of a picture that is ready to be copied from.
    pub fn record(&mut self, cmd: &mut CommandBuffer, picture: ImageRef) {
        self.bgr = picture.format == vk::Format::B8G8R8A8_UNORM;
        cmd.copy_image_to_buffer(picture, &self.buffer, 0);
        cmd.host_read_barrier();
    }

    /// The pixels of a copy that has been waited for.
    pub fn pixels(self) -> Pixels {
        let mut bytes = self.buffer.mapped().unwrap_or_default().to_vec();
        if self.bgr {
            bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|pixel| pixel.swap(0, 2));
        }
        // What lies under the picture does not shine through it.
        bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|pixel| pixel[3] = 255);
        Pixels { extent: self.extent, bytes, purpose: self.purpose }
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

    /// Whether something is being written.
    pub fn is_busy(&self) -> bool {
        !self.writing.is_empty()
    }

    /// What has been written since the last call, or why not.
    pub fn news(&mut self) -> Option<News> {
        let mut news = None;
        self.writing.retain(|receiver| match receiver.try_recv() {
            Ok(result) => {
                news = Some(match result {
                    Ok(path) => Ok(format!("screenshot: {}", path.display())),
                    Err(error) => Err(format!("the screenshot failed: {error:#}")),
                });
                false
            }
            Err(TryRecvError::Empty) => true,
            Err(TryRecvError::Disconnected) => false,
        });
        news
    }
}

impl Screenshots {
    /// Waits for everything that is being written.
    pub fn finish(&mut self) {
        for receiver in self.writing.drain(..) {
            _ = receiver.recv();
        }
    }
}

impl Drop for Screenshots {
    /// Pictures that are being written are finished before the program ends.
    fn drop(&mut self) {
        self.finish();
    }
}

fn save(folder: &Path, pixels: &Pixels) -> Result<PathBuf> {
    write::make_folder(folder)?;
    let path = match &pixels.purpose {
        Purpose::Window(path) => path.clone(),
        Purpose::Screenshot | Purpose::Clip => free_name(folder, "png")?,
    };
    let [width, height] = pixels.extent;
    let written = write::write_png(&path, width, height, &pixels.bytes);
    if written.is_err() && pixels.purpose == Purpose::Screenshot {
        // The name was taken by an empty file.
        _ = std::fs::remove_file(&path);
    }
    written.map(|()| path)
}

/// Takes a name that no file has, so that two pictures of one second do not meet.
pub(super) fn free_name(folder: &Path, ending: &str) -> Result<PathBuf> {
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    name_at(folder, seconds, ending)
}

fn name_at(folder: &Path, seconds: u64, ending: &str) -> Result<PathBuf> {
    for number in 1.. {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("nrview-{seconds}{suffix}.{ending}"));
        match faults::files::create_new(&path) {
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
        let first = name_at(folder.path(), 5, "png")?;
        let second = name_at(folder.path(), 5, "png")?;
        assert!(first.ends_with("nrview-5.png") && second.ends_with("nrview-5-2.png"));
        let saved = save(
            folder.path(),
            &Pixels { purpose: Purpose::Screenshot, ..Pixels::new([1, 2], vec![1, 2, 3, 255, 4, 5, 6, 255]) },
        )?;
        let read = image::open(saved)?.to_rgb8();
        assert_eq!((read.dimensions(), read.get_pixel(0, 1).0), ((1, 2), [4, 5, 6]));
        Ok(())
    }
}
