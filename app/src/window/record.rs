//! The `C` key: the next frame with everything in it, written off the render thread.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use anyhow::{Context as _, Result};
use gpu::Device;
use network::capture::{CapturedFrame, FrameInfo, ModelName, Pictures, SourceIdentity, Writer};
use network::geometry::Geometry;
use network::model::Source;

use super::News;
use super::loading::Loaded;
use crate::cli::capture::describe;
use crate::engine::neural::{Job, Neural};
use crate::engine::playback::{Keep, header};
use crate::engine::studio::Studio;

/// Captures that may be written at the same time; more are refused, so that memory stays bounded.
const MOST_WRITING: usize = 2;

/// Captures of single frames.
#[derive(Default)]
pub struct Record {
    /// Where captures go.
    folder: PathBuf,
    /// Whether the next finished frame is wanted.
    asked: bool,
    /// Whether a frame that was asked for was given up, which has not been said.
    given_up: bool,
    writing: Vec<Receiver<Result<PathBuf>>>,
}

impl Record {
    /// Captures go into `folder`, which is made when it is needed.
    pub fn into_folder(folder: PathBuf) -> Self {
        Self { folder, asked: false, given_up: false, writing: Vec::new() }
    }

    /// Asks for the next frame that is begun. Says what stands in the way.
    ///
    /// # Errors
    /// The network does not run, captures are being written, or there is no memory.
    pub fn ask(&mut self, neural: Option<&mut Neural>, studio: &Studio) -> Result<()> {
        let neural = neural.context("only frames of the network are captured; switch it on")?;
        if self.asked {
            return Ok(());
        }
        if self.writing.len() >= MOST_WRITING {
            anyhow::bail!("{MOST_WRITING} captures are still being written; wait a moment");
        }
        neural.keep_next(studio)?;
        self.asked = true;
        Ok(())
    }

    /// Takes a finished frame, if it is the one asked for, and hands it to a thread.
    ///
    /// # Errors
    /// An error of the device.
    pub fn finished(&mut self, neural: &mut Neural, studio: &Studio, loaded: &Loaded, job: &Job) -> Result<()> {
        if !self.asked {
            return Ok(());
        }
        let geometry = *neural.frame().geometry();
        let Some(tensors) = neural.recorded(studio, job)? else { return Ok(()) };
        self.asked = false;
        let parameters = job.parameters();
        let mut info = FrameInfo {
            number: parameters.seed,
            reset: !parameters.history_valid,
            parameters: parameters.into(),
            time: None,
            jitter: None,
            camera: None,
            previous_camera: None,
        };
        describe(&mut info, job.view());
        let frame = CapturedFrame { info, tensors };
        let header = window_header(&studio.device, loaded, &geometry, studio.scene.name.to_string());
        let folder = self.folder.clone();
        let (done, receiver) = channel();
        std::thread::Builder::new().name("capture".into()).spawn(move || {
            _ = done.send(write(&folder, &geometry, header, &frame));
        })?;
        self.writing.push(receiver);
        Ok(())
    }

    /// The network was made anew: what was asked for has to be asked for again.
    pub fn forget(&mut self) {
        self.given_up |= self.asked;
        self.asked = false;
    }

    /// What has been written since, or why not.
    pub fn news(&mut self) -> Option<News> {
        let given_up = std::mem::take(&mut self.given_up);
        let mut news = given_up.then(|| Err("the capture was not made: its frame was given up; ask again".to_owned()));
        self.writing.retain(|receiver| match receiver.try_recv() {
            Ok(Ok(path)) => {
                news = Some(Ok(format!("captured to {}", path.display())));
                false
            }
            Ok(Err(error)) => {
                news = Some(Err(format!("the capture failed: {error:#}")));
                false
            }
            Err(TryRecvError::Empty) => true,
            Err(TryRecvError::Disconnected) => false,
        });
        news
    }

    /// Waits for everything that is being written.
    pub fn finish(&mut self) {
        for receiver in self.writing.drain(..) {
            _ = receiver.recv();
        }
    }

    /// Whether something is awaited.
    pub fn is_busy(&self) -> bool {
        self.asked || !self.writing.is_empty()
    }
}

impl Drop for Record {
    /// Captures that are being written are finished before the program ends; one that was asked for and did not come is
    /// said.
    fn drop(&mut self) {
        if self.asked {
            tracing::warn!("the capture was not made: its frame was not finished before the end");
        }
        self.finish();
    }
}

fn window_header(device: &Device, loaded: &Loaded, geometry: &Geometry, scene: String) -> network::capture::Header {
    // Captures are given away: no folders.
    let source =
        loaded.source.parse::<Source>().map_or_else(|_| loaded.description.clone(), |source| source.public_name());
    let model = ModelName { source, digest: loaded.digest.clone() };
    let source = SourceIdentity::Scene { name: scene, seed: None, rate: 0.0 };
    header(Some(device), Some(&loaded.kernels), model, geometry, source, Keep::Nothing)
}

/// Writes a bundle of one frame under a name that is free.
fn write(
    folder: &Path,
    geometry: &Geometry,
    header: network::capture::Header,
    frame: &CapturedFrame,
) -> Result<PathBuf> {
    faults::files::create_dir_all(folder).with_context(|| format!("cannot make the directory {}", folder.display()))?;
    let path = free_name(folder, header.created, frame.info.number);
    let mut writer = Writer::create(&path, geometry, header, Pictures::All)?;
    writer.add(frame)?;
    writer.finish()?;
    Ok(path)
}

fn free_name(folder: &Path, created: u64, frame: u32) -> PathBuf {
    let name = format!("{created}-frame-{frame}");
    let plain = folder.join(&name);
    let numbered = (2..).map(|n: u64| folder.join(format!("{name}-{n}")));
    std::iter::once(plain.clone()).chain(numbered).find(|path| !path.exists()).unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_free() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let first = free_name(folder.path(), 7, 3);
        assert!(first.ends_with("7-frame-3"));
        std::fs::create_dir(&first)?;
        assert!(free_name(folder.path(), 7, 3).ends_with("7-frame-3-2"));
        Ok(())
    }
}
