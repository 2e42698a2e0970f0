//! The sides that are compared, beside the network as it is set.

use anyhow::Result;

use super::{CPU_STEP, Refused, Session};
use crate::engine::side::Side;
use crate::window::loading::Loading;
use crate::window::reference::Samples;
use crate::window::settings::Settings;
use crate::window::sides::Base;

impl Session {
    /// Left and right as they are shown.
    pub fn sides(&self) -> &[Side; 2] {
        self.sides.shown()
    }

    /// Whether other sides are being prepared.
    pub fn is_preparing_sides(&self) -> bool {
        self.sides.is_preparing()
    }

    /// Whether weights are still being read for a side, wanted or not.
    pub fn is_reading(&self) -> bool {
        self.sides.is_reading()
    }

    /// How far the reference has come, where a side is one.
    pub fn samples(&self) -> Option<Samples> {
        self.sides.samples(&self.studio)
    }

    /// Moves towards the sides that are chosen; what cannot be is refused, and the choice goes back.
    pub(super) fn update_sides(&mut self, settings: &mut Settings) -> Result<()> {
        let main = match (&self.neural, &self.loading) {
            (Some(neural), Loading::Ready(loaded)) => Some((neural, loaded)),
            _ => None,
        };
        let step_cost = self.studio.device.caps().is_cpu.then_some(CPU_STEP);
        let base = Base { studio: &self.studio, main, geometry: &self.geometry, step_cost };
        match self.sides.update(&settings.sides, &base) {
            Ok(None) => Ok(()),
            Ok(Some(changed)) => {
                self.generation += 1;
                self.live.forget();
                if changed.networks {
                    // A frame in work is one of the former sides; the pictures of new networks are not there yet.
                    self.drop_work()?;
                    if !self.sides.lanes().is_empty() {
                        self.pair = None;
                    }
                }
                if let (Some(view), true) = (self.last, self.sides.reference().is_some()) {
                    self.sides.follow(&self.studio, &view, &settings.look.parameters(1.0), true)?;
                }
                Ok(())
            }
            Err(error) if error.downcast_ref::<gpu::Error>().is_some_and(gpu::Error::is_device_lost) => Err(error),
            Err(error) => {
                settings.sides = self.sides.shown().clone();
                anyhow::bail!(Refused(format!("{error:#}")))
            }
        }
    }
}
