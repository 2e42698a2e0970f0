//! The network: loaded, exchanged, made for a size, given back.

use std::sync::Arc;

use anyhow::Result;
use network::model::Source;

use super::{CPU_STEP, Refused, Session};
use crate::engine::neural::Neural;
use crate::window::loading::Loading;
use crate::window::settings::Settings;

impl Session {
    /// The network, ready or not.
    pub fn loading(&self) -> &Loading {
        &self.loading
    }

    /// Prepares other weights beside those in use, which stay until the others are ready.
    ///
    /// # Errors
    /// [`Refused`] while a model is being prepared.
    pub fn change_model(&mut self, source: Source) -> Result<()> {
        if self.is_loading() {
            anyhow::bail!(Refused("a model is being prepared; wait a moment".to_owned()));
        }
        let kernels = match &self.loading {
            Loading::Ready(loaded) => Some(Arc::clone(&loaded.kernels)),
            _ => None,
        };
        self.next_model = Some(Loading::start(&self.studio.device, source, kernels, self.wish));
        Ok(())
    }

    /// Whether weights are being prepared.
    pub fn is_loading(&self) -> bool {
        self.next_model.is_some() || matches!(self.loading, Loading::Running(..))
    }

    /// Gives the memory of the network back. It is prepared again when it is switched on.
    ///
    /// # Errors
    /// An error of the device.
    pub fn unload(&mut self, settings: &mut Settings) -> Result<()> {
        settings.network = false;
        if let Loading::Ready(loaded) = &self.loading
            && let Ok(source) = loaded.source.parse()
        {
            self.drop_network()?;
            self.loading = Loading::Idle(source);
        }
        Ok(())
    }

    /// Takes down what belongs to the weights and the size.
    pub(super) fn drop_network(&mut self) -> Result<()> {
        self.job = None;
        self.sides.forget();
        self.neural = None;
        self.record.forget();
        self.studio.device.wait_idle()?;
        (self.last, self.pair) = (None, None);
        self.live.forget();
        self.numbers.duration = None;
        self.generation += 1;
        Ok(())
    }

    /// Takes other weights over when they are ready.
    pub(super) fn poll_next_model(&mut self) -> Result<()> {
        if !self.next_model.as_mut().is_some_and(Loading::poll) {
            return Ok(());
        }
        match self.next_model.take() {
            Some(Loading::Failed(ref reason)) => anyhow::bail!(Refused(format!("the model cannot be used: {reason}"))),
            Some(next) => {
                self.drop_network()?;
                self.loading = next;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Makes what the network needs for the present size when it is first wanted.
    pub(super) fn prepare(&mut self, settings: &mut Settings) -> Result<()> {
        self.poll_next_model()?;
        if let (Loading::Idle(source), true) = (&self.loading, settings.network) {
            self.loading = Loading::start(&self.studio.device, source.clone(), None, self.wish);
        }
        if self.loading.poll()
            && let Loading::Failed(reason) = &self.loading
        {
            settings.network = false;
            anyhow::bail!(Refused(format!("the network cannot be used: {reason}")));
        }
        if let (Loading::Failed(reason), true) = (&self.loading, settings.network) {
            settings.network = false;
            anyhow::bail!(Refused(format!("the network cannot be used: {reason}")));
        }
        if !settings.network && self.job.as_ref().is_some_and(|work| !work.cancelled) {
            self.cancel();
        }
        let Loading::Ready(loaded) = &self.loading else { return Ok(()) };
        if !settings.network || self.neural.is_some() {
            return Ok(());
        }
        let step_cost = self.studio.device.caps().is_cpu.then_some(CPU_STEP);
        match Neural::new(&self.studio, &loaded.kernels, &loaded.weights, &self.geometry, step_cost) {
            Ok(mut neural) => {
                neural.ask_replay(&self.studio, self.replay, &loaded.digest)?;
                self.neural = Some(neural);
                self.pair = None;
                self.generation += 1;
                Ok(())
            }
            Err(error) => {
                settings.network = false;
                if error.downcast_ref::<gpu::Error>().is_some_and(gpu::Error::is_device_lost) {
                    return Err(error);
                }
                anyhow::bail!(Refused(format!("the network cannot run at {}: {error:#}", self.geometry.valid)))
            }
        }
    }
}
