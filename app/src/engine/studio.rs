//! The scene's side: what is rendered, and the cheap picture of it without the network.

use std::sync::Arc;

use anyhow::Result;
use gpu::{CommandBuffer, Device};
use network::frame::{Parameters, Passes, Preview};
use network::geometry::Geometry;
use renderer::{GBuffer, Renderer, Scene, View};

/// The scene and the pipelines that draw it; device lifetime.
pub struct Studio {
    /// The device.
    pub device: Arc<Device>,
    /// Draws the scene.
    pub renderer: Renderer,
    /// The passes around the network.
    pub passes: Arc<Passes>,
    /// What is drawn.
    pub scene: Scene,
}

impl Studio {
    /// Prepares the pipelines.
    ///
    /// # Errors
    /// An error of the device.
    pub fn new(device: &Arc<Device>, scene: Scene) -> Result<Self> {
        Self::with_passes(device, scene, Passes::new(device)?)
    }

    /// Prepares the pipelines of a scene beside frame passes that are there already.
    ///
    /// # Errors
    /// The scene does not fit on the device, or an error of the device.
    pub fn with_passes(device: &Arc<Device>, scene: Scene, passes: Arc<Passes>) -> Result<Self> {
        Ok(Self { device: Arc::clone(device), renderer: Renderer::for_scene(device, &scene)?, passes, scene })
    }
}

/// A scene image and its display path, apart from every history; extent lifetime.
pub struct Plain {
    gbuffer: GBuffer,
    preview: Preview,
}

impl Plain {
    /// Buffers for images of one size.
    ///
    /// # Errors
    /// The image is too large for the device.
    pub fn new(studio: &Studio, geometry: &Geometry) -> Result<Self> {
        let gbuffer = GBuffer::new(&studio.device, geometry.valid.width, geometry.valid.height)?;
        let preview = Preview::new(&studio.passes, geometry, gbuffer.color())?;
        Ok(Self { gbuffer, preview })
    }

    /// Bytes of device memory that images of this size take.
    pub fn bytes(geometry: &Geometry) -> u64 {
        GBuffer::bytes(geometry.valid.width, geometry.valid.height) + 12 * geometry.valid.pixels() as u64
    }

    /// Records one image and its display.
    ///
    /// # Errors
    /// The scene is broken.
    pub fn record(&self, studio: &Studio, cmd: &mut CommandBuffer, view: &View, parameters: &Parameters) -> Result<()> {
        studio.renderer.record(cmd, &self.gbuffer, &studio.scene, view)?;
        self.preview.record(cmd, parameters);
        Ok(())
    }

    /// Records one part of an image of many samples, and the display of what there is so far.
    ///
    /// # Errors
    /// The scene is broken.
    pub fn record_part(
        &self,
        studio: &Studio,
        cmd: &mut CommandBuffer,
        view: &View,
        part: u32,
        parameters: &Parameters,
    ) -> Result<()> {
        studio.renderer.record_part(cmd, &self.gbuffer, &studio.scene, view, part)?;
        self.preview.record(cmd, parameters);
        Ok(())
    }

    /// Renders an image of any number of samples in submissions of their own, and waits.
    ///
    /// # Errors
    /// The scene is broken, or an error of the device.
    pub fn render(&self, studio: &Studio, view: &View, parameters: &Parameters) -> Result<()> {
        for part in 0..studio.renderer.parts(&self.gbuffer, view) {
            let mut recorded = Ok(());
            studio.device.run_once("scene", |cmd| {
                recorded = studio.renderer.record_part(cmd, &self.gbuffer, &studio.scene, view, part);
            })?;
            recorded?;
        }
        Ok(studio.device.run_once("preview", |cmd| self.preview.record(cmd, parameters))?)
    }

    /// RGBA8 words of the last image.
    pub fn display(&self) -> &gpu::Buffer {
        self.preview.display()
    }

    /// The scene image.
    pub fn gbuffer(&self) -> &GBuffer {
        &self.gbuffer
    }
}
