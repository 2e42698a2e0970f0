//! The overlay without a window: the real panel with all its parts, laid out and drawn into an image, for its times.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use egui_ash_renderer::{Options, Renderer};
use gpu::{CommandBuffer, CommandPool, Device, Image, ImageDesc, ImageUsage, ImageUse, LoadOp, Timestamps, vk};
use network::geometry::Extent;

use super::graphics::mode;
use super::layout::layout;
use super::overlay_memory::OverlayMemory;
use super::settings::Settings;
use crate::engine::memory;
use crate::engine::neural::Times;
use crate::overlay::{Overlay, PANEL_WIDTH, Status};

/// Format of most windows.
const FORMAT: vk::Format = vk::Format::B8G8R8A8_UNORM;
/// Frames before those that count: glyphs are uploaded, clocks come up.
const WARM_UP: u32 = 30;

/// Milliseconds of each measured frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OverlayTimes {
    /// On the device.
    pub gpu: Vec<f64>,
    /// Layout and tessellation, and recording, on the CPU.
    pub cpu: Vec<f64>,
}

/// A state of the program with something in every line; the numbers change from frame to frame, as they do.
fn status(device: &Device, number: u32) -> Status {
    let mut status = Status {
        device: device.caps().name.clone(),
        model: "starter weights".to_owned(),
        digest: "0123456789abcdef".to_owned(),
        route: "exact".to_owned(),
        size: "1920x1080".to_owned(),
        field: "1920x1152".to_owned(),
        area: [1644, 1080],
        network_ms: Some(120.0 + f64::from(number % 17) / 7.0),
        scene_ms: Some(0.5 + f64::from(number % 13) / 70.0),
        frame_ms: 6.9 + f64::from(number % 11) / 10.0,
        presented: u64::from(number),
        evaluated: u64::from(number),
        memory: memory::count(device),
        largest_percent: 200.0,
        ..Status::default()
    };
    for past in 0..240_u32 {
        let ms = 7.0 + f64::from((past + number) % 19) / 4.0;
        status.passes.extend(u64::from(past) + 1, &Times { network: ms, stages: [ms / 13.0; 13], ..Times::default() });
        ["frame", "cpu", "present", "overlay"].into_iter().for_each(|name| status.passes.push(name, ms));
    }
    status
}

/// Lays out and draws the overlay `frames` times for a window of `extent` pixels.
///
/// # Errors
/// The device cannot draw, or an error of it.
pub fn measure(device: &Arc<Device>, extent: [u32; 2], frames: u32) -> Result<OverlayTimes> {
    let options = Options { in_flight_frames: 1, ..Options::default() };
    let memory = OverlayMemory::new(device);
    let mut gui = Renderer::with_allocator(memory.clone(), device.ash().clone(), mode(FORMAT), options)
        .context("cannot prepare the overlay")?;
    let result = draw_all(device, &mut gui, &memory, extent, frames);
    // The overlay's renderer destroys its pipeline, views and samplers at once.
    device.wait_idle()?;
    result
}

fn draw_all(
    device: &Arc<Device>,
    gui: &mut Renderer<OverlayMemory>,
    memory: &OverlayMemory,
    extent: [u32; 2],
    frames: u32,
) -> Result<OverlayTimes> {
    let pool = CommandPool::new(device, "overlay textures")?;
    let usage = ImageUsage::COLOR_ATTACHMENT | ImageUsage::TRANSFER_DST;
    let image = Image::new(device, &ImageDesc { name: "overlay", extent, format: FORMAT, usage })?;
    let stamps = Timestamps::new(device, "overlay", 2)?;
    let mut cmd = CommandBuffer::new(device, "overlay")?;
    let context = egui::Context::default();
    context.set_theme(egui::Theme::Dark);
    let [width, height] = extent;
    let size = Extent::new(1920, 1080);
    let (mut overlay, mut settings) = (Overlay::default(), Settings::new(size));
    settings.help = true;
    let area = [PANEL_WIDTH as i32, 0, width as i32, height as i32];
    let layout = layout(&settings.compare, area, size);
    let mut times = OverlayTimes::default();
    for number in 0..WARM_UP + frames {
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(width as f32, height as f32));
        let time = Some(f64::from(number) / 60.0);
        let input = egui::RawInput { screen_rect: Some(screen), time, ..egui::RawInput::default() };
        let status = status(device, number);
        let began = Instant::now();
        let output = context.run_ui(input, |ui| overlay.show(ui, &mut settings, &status, &layout, &mut Vec::new()));
        let primitives = context.tessellate(output.shapes, output.pixels_per_point);
        let mut worked = began.elapsed();
        let mut delta = output.textures_delta;
        for (id, changes) in delta.set.drain() {
            for change in changes {
                memory.upload(gui, &pool, id, &change)?;
            }
        }
        delta.free.clear();
        memory.tidy();
        let began = Instant::now();
        let picture = image.reference();
        cmd.begin()?;
        cmd.reset_timestamps(&stamps);
        cmd.image_barrier(picture, ImageUse::Undefined, ImageUse::ColorAttachment);
        cmd.write_timestamp(&stamps, 0);
        cmd.begin_rendering(picture, LoadOp::Load);
        gui.cmd_draw(cmd.raw(), vk::Extent2D { width, height }, output.pixels_per_point, &primitives)
            .context("cannot draw the overlay")?;
        cmd.end_rendering();
        cmd.write_timestamp(&stamps, 1);
        cmd.end()?;
        worked += began.elapsed();
        let ticket = device.submit(&[&cmd], &[], &[])?;
        device.wait(ticket, Duration::from_secs(10))?;
        if number >= WARM_UP {
            times.cpu.push(worked.as_secs_f64() * 1000.0);
            times.gpu.extend(stamps.read()?.and_then(|ms| ms.get(1).copied()));
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu::testing::TestDevice;

    #[test]
    fn the_panel_is_drawn_and_timed() -> Result<()> {
        let device = TestDevice::open()?;
        let times = measure(&device, [1280, 800], 3)?;
        assert_eq!((times.gpu.len(), times.cpu.len()), (3, 3));
        assert!(times.cpu.iter().all(|ms| *ms > 0.0));
        Ok(())
    }
}
