//! The picture of the scene as it is now: when one is drawn, of what, and what follows from it.

use anyhow::Result;
use gpu::CommandBuffer;
use renderer::View;

use super::view::{next_view, view_at};
use super::{Picture, Session, blend_scale};
use crate::engine::side;
use crate::window::layout::Compare;
use crate::window::reference::Reference;
use crate::window::settings::Settings;

impl Session {
    /// Whether a live picture has to be drawn: not where the one that is there will do. `whole`: it has to have a frame's
    /// size.
    ///
    /// # Errors
    /// No memory for a smaller picture.
    pub fn wants_live(&mut self, settings: &Settings, picture: Picture, whole: bool) -> Result<bool> {
        if picture != Picture::Live {
            return Ok(picture == Picture::Bypass);
        }
        // How it is seen does not change it.
        let drawn_with =
            Settings { compare: Compare::default(), sides: side::DEFAULT, inspector: false, ..settings.clone() };
        // Without a network it is no stand-in: it is what is looked at.
        let reduce = settings.network && !whole && self.sides.reference().is_none();
        let slow = self.is_slow() || self.job.is_some() || self.live.is_costly();
        // One that waits for its instant begins with a live picture.
        let keep = slow && !self.sides.reference().is_some_and(Reference::is_late);
        self.live.wants(&self.studio, (self.camera, self.time, drawn_with), reduce, keep)
    }

    /// The view of a live picture; takes the time that has passed when nothing else will.
    ///
    /// # Errors
    /// An error of the device.
    pub fn live_view(&mut self, settings: &Settings, picture: Picture) -> Result<View> {
        let mut view = if settings.network && picture == Picture::Live && self.job.is_some() {
            // Time belongs to the frame in work.
            view_at(settings, self.camera, self.time, self.last, self.number)
        } else {
            next_view(
                &self.studio.scene,
                settings,
                &mut self.camera,
                &mut self.time,
                &mut self.pending,
                self.last,
                self.number,
            )
        };
        self.number = self.number.wrapping_add(1);
        self.version += 1;
        if picture == Picture::Live {
            view.previous_camera = view.camera;
            view.previous_time = view.time;
        }
        // A live picture does not wait for the reference of an earlier one.
        self.sides.follow(&self.studio, &view, &settings.look.parameters(1.0), false)?;
        Ok(view)
    }

    /// Records a live picture.
    ///
    /// # Errors
    /// The scene is broken.
    pub fn record(&self, cmd: &mut CommandBuffer, picture: Picture, view: &View, settings: &Settings) -> Result<()> {
        let parameters = settings.look.parameters(blend_scale(&self.loading));
        match (&self.neural, picture) {
            (Some(neural), Picture::Bypass) => neural.record_bypass(&self.studio, cmd, view, &parameters),
            (_, Picture::Live) => self.live.plain().record(&self.studio, cmd, view, &parameters),
            _ => Ok(()),
        }
    }

    /// A live picture was not recorded after all.
    pub fn skipped(&mut self) {
        self.live.forget();
    }

    /// A recorded live picture was submitted.
    pub fn submitted(&mut self, picture: Picture, view: View) {
        if let (Some(neural), Picture::Bypass) = (&mut self.neural, picture) {
            neural.finish_bypass();
            // The networks beside it see nothing of this frame.
            self.sides.reset();
            self.last = Some(view);
            // The pictures of the frame passes are no pair any more.
            self.pair = None;
        }
    }

    /// Whether drawing the scene takes so long that it is felt.
    pub fn is_costly(&self) -> bool {
        self.live.is_costly()
    }

    /// Hears how many seconds of the device a pixel of the live picture took.
    pub fn hear_live(&mut self, cost: f64) {
        self.live.measured(cost);
    }
}
