//! The side without noise: many samples of one instant, added up in parts while something else is shown or computed.

use std::time::Duration;

use anyhow::Result;
use gpu::{Buffer, CommandBuffer, Ticket};
use network::frame::Parameters;
use network::geometry::Geometry;
use renderer::{GBuffer, View};

use crate::engine::studio::{Plain, Studio};

/// Longest wait for a part that is on the device when another instant begins.
const PATIENCE: Duration = Duration::from_secs(10);

/// A picture of one instant that gets better part by part. Extent lifetime.
pub struct Reference {
    plain: Plain,
    samples: u32,
    commands: CommandBuffer,
    flight: Option<Ticket>,
    /// The instant, and what its display was made with.
    of: Option<(View, Parameters)>,
    parts: u32,
    done: u32,
    /// Whether another instant than this one is shown beside it.
    late: bool,
}

/// How far a reference has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Samples {
    /// Samples a pixel so far.
    pub done: u32,
    /// Samples a pixel wished for.
    pub total: u32,
}

impl Reference {
    /// Buffers for images of a geometry with so many samples a pixel.
    ///
    /// # Errors
    /// The image is too large for the device.
    pub fn new(studio: &Studio, geometry: &Geometry, samples: u32) -> Result<Self> {
        Ok(Self {
            plain: Plain::new(studio, geometry)?,
            samples,
            commands: CommandBuffer::new(&studio.device, "reference")?,
            flight: None,
            of: None,
            parts: 0,
            done: 0,
            late: false,
        })
    }

    /// Samples a pixel wished for.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// How far the picture has come.
    pub fn progress(&self, studio: &Studio) -> Samples {
        let done = self.done.saturating_mul(studio.renderer.samples_per_part(self.plain.gbuffer()));
        Samples { done: done.min(self.samples), total: self.samples }
    }

    /// Noise seed of the instant that is shown.
    #[cfg(test)]
    pub fn frame(&self) -> Option<u32> {
        self.of.as_ref().map(|(view, _)| view.frame)
    }

    /// Whether parts are missing.
    pub fn is_incomplete(&self) -> bool {
        self.done < self.parts
    }

    /// The next view begins anew.
    pub fn forget(&mut self) {
        (self.of, self.parts, self.done) = (None, 0, 0);
    }

    /// Whether the picture is of an earlier instant than the last one asked for.
    pub fn is_late(&self) -> bool {
        self.late
    }

    /// Shows the instant of a view: goes on with it, or begins it and submits its first part at once. Without `patience` it
    /// stays at the earlier instant while a part of that is on the device.
    ///
    /// # Errors
    /// The scene is broken, or an error of the device.
    pub fn follow(&mut self, studio: &Studio, view: &View, parameters: &Parameters, patience: bool) -> Result<()> {
        let parameters = Parameters { seed: 0, history_valid: false, ..*parameters };
        let same = self.of.as_ref().is_some_and(|(of, with)| is_same_instant(of, view) && *with == parameters);
        self.late = false;
        if same {
            return Ok(());
        }
        if let (Some(flight), false) = (self.flight, patience)
            && !studio.device.is_done(flight)?
        {
            self.late = true;
            return Ok(());
        }
        let view = view.with_samples(self.samples);
        self.parts = studio.renderer.parts(self.plain.gbuffer(), &view);
        self.done = 0;
        self.of = Some((view, parameters));
        if let Some(flight) = self.flight.take() {
            studio.device.wait(flight, PATIENCE)?;
        }
        self.submit(studio)
    }

    /// Submits the next part when the last one has run; true when there is a better picture.
    ///
    /// # Errors
    /// The scene is broken, or an error of the device.
    pub fn advance(&mut self, studio: &Studio) -> Result<bool> {
        if !self.is_incomplete() {
            return Ok(false);
        }
        if let Some(flight) = self.flight {
            if !studio.device.is_done(flight)? {
                return Ok(false);
            }
            self.flight = None;
        }
        self.submit(studio)?;
        Ok(true)
    }

    fn submit(&mut self, studio: &Studio) -> Result<()> {
        let Some((view, parameters)) = &self.of else { return Ok(()) };
        self.commands.begin()?;
        self.plain.record_part(studio, &mut self.commands, view, self.done, parameters)?;
        self.commands.end()?;
        self.flight = Some(studio.device.submit(&[&self.commands], &[], &[])?);
        self.done += 1;
        Ok(())
    }

    /// RGBA8 words of the picture so far.
    pub fn display(&self) -> &Buffer {
        self.plain.display()
    }

    /// The scene image so far.
    pub fn gbuffer(&self) -> &GBuffer {
        self.plain.gbuffer()
    }
}

/// Whether two views show the same but for their noise.
fn is_same_instant(a: &View, b: &View) -> bool {
    let effects = |view: &View| (view.effects.shadows, view.effects.ao, view.effects.reflections);
    a.camera == b.camera && a.time == b.time && effects(a) == effects(b)
}
