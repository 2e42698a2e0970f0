//! What is kept of a frame: captures, linear pictures, the buffers that a view or the inspector shows.

use std::path::PathBuf;

use anyhow::Result;

use super::{Picture, Refused, Session};
use crate::engine::neural::Neural;
use crate::window::News;
use crate::window::layout::CompareMode;
use crate::window::linear::Linear;
use crate::window::record::Record;
use crate::window::settings::Settings;

impl Session {
    /// Captures go into this folder.
    pub fn capture_into(&mut self, folder: PathBuf) {
        self.record = Record::into_folder(folder);
    }

    /// Records the next frame with everything in it.
    ///
    /// # Errors
    /// [`Refused`] when that cannot be done now.
    pub fn capture(&mut self) -> Result<()> {
        let asked = self.record.ask(self.neural.as_mut(), &self.studio);
        asked.map_err(|error| Refused(format!("{error:#}")).into())
    }

    /// Linear pictures go into this folder.
    pub fn linear_into(&mut self, folder: PathBuf) {
        self.linear = Linear::into_folder(folder);
    }

    /// Writes the next frame as linear light.
    pub fn ask_linear(&mut self) {
        self.linear.ask();
    }

    /// What became of linear pictures since the last call.
    pub fn linear_news(&mut self) -> Option<News> {
        self.linear.news()
    }

    /// Writes the live scene as linear light, if that is asked for and no frame of the network will come.
    ///
    /// # Errors
    /// An error of the device.
    pub fn give_linear(&mut self, settings: &Settings, picture: Picture) -> Result<()> {
        if !self.linear.is_asked() || settings.network || picture == Picture::Pair {
            return Ok(());
        }
        let neural = self.neural.as_ref().filter(|_| picture == Picture::Bypass);
        let buffers = neural.map_or(self.live.plain().gbuffer(), Neural::gbuffer);
        self.linear.scene(&self.studio.device, buffers.color(), self.geometry.valid)
    }

    /// Waits for everything that is being written.
    pub fn finish_writing(&mut self) {
        self.record.finish();
        self.linear.finish();
    }

    /// What became of captures since the last call.
    pub fn capture_news(&mut self) -> Option<News> {
        self.record.news()
    }

    /// Keeps the buffers that a view or the inspector shows, and lets go of them when nothing does.
    pub(super) fn keep_buffers(&mut self, settings: &mut Settings) -> Result<()> {
        let Some(neural) = &mut self.neural else { return Ok(()) };
        let view = settings.compare.mode == CompareMode::View;
        let viewed = self.sides.viewed();
        let mut changed = false;
        let mut keep = |neural: &mut Neural, place: Option<usize>| {
            let wanted = settings.inspector || (view && place == viewed);
            changed |= wanted != neural.keeps();
            neural.keep(&self.studio, wanted)
        };
        let mut result = keep(neural, None);
        for (place, lane) in self.sides.lanes_mut().iter_mut().enumerate() {
            result = result.and_then(|()| keep(&mut lane.neural, Some(place)));
        }
        self.generation += u64::from(changed);
        result.or_else(|error| {
            if error.downcast_ref::<gpu::Error>().is_some_and(gpu::Error::is_device_lost) {
                return Err(error);
            }
            settings.inspector = false;
            if view {
                settings.compare.mode = CompareMode::Side;
            }
            anyhow::bail!(Refused(format!("the buffers of a frame cannot be kept: {error:#}")))
        })
    }
}
