//! Renders one frame of the built-in scene, or of a glTF file, to PNG files and prints what it costs.
//!
//!     cargo run --release -p renderer --example picture -- OUT [FRAME] [WIDTH] [HEIGHT] [SAMPLES] [FILE] [CAMERA]
//!
//! Writes OUT/noisy.png (one sample), OUT/reference.png and OUT/motion.png.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{codes, psnr};
use gpu::{Device, DeviceSelector, Instance, InstanceDesc, Timestamps};
use renderer::{Effects, GBuffer, Picture, Renderer, Scene, View};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

fn save(path: &Path, picture: &Picture, rgb: &[f32]) -> Result<(), Box<dyn Error>> {
    let bytes = rgb.iter().map(|v| (v * 255.0 + 0.5) as u8).collect();
    let (w, h) = (picture.width as u32, picture.height as u32);
    let image = image::RgbImage::from_raw(w, h, bytes).ok_or("size of the picture")?;
    Ok(image.save(path)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let out = PathBuf::from(arguments.next().ok_or("give a folder to write to")?);
    let mut number =
        |default: u32| -> Result<u32, Box<dyn Error>> { Ok(arguments.next().map_or(Ok(default), |a| a.parse())?) };
    let (frame, width, height, samples) = (number(40)?, number(960)?, number(540)?, number(64)?);
    let (file, camera) = (arguments.next(), arguments.next());
    std::fs::create_dir_all(&out)?;

    let instance = Instance::new(&InstanceDesc::default())?;
    let device = Device::open(&instance, &DeviceSelector::Auto)?;
    let start = Instant::now();
    let mut scene = match file {
        Some(file) => Scene::around(renderer::gltf::load(Path::new(&file), &|_| true)?),
        None => Scene::builtin(),
    };
    println!(
        "scene {} in {:.2?}; cameras: {:?}",
        scene.name,
        start.elapsed(),
        scene.cameras.iter().map(|c| &c.0).collect::<Vec<_>>()
    );
    if let Some(camera) = camera {
        scene = scene.seen_from(&camera).ok_or("no such camera")?;
    }
    let start = Instant::now();
    let renderer = Renderer::for_scene(&device, &scene)?;
    println!("{}: pipelines in {:.2?}", device.caps().name, start.elapsed());
    let target = GBuffer::new(&device, width, height)?;
    let view = View::scripted(&scene, frame, 30.0);

    let none = Effects::NONE;
    for (name, effects) in [
        ("no effects", none),
        ("shadows", Effects { shadows: true, ..none }),
        ("occlusion", Effects { ao: true, ..none }),
        ("reflections", Effects { reflections: true, ..none }),
    ] {
        print!("{name}: ");
        render(&device, &renderer, &target, &scene, &view.with_effects(effects), 9)?;
    }
    let single = render(&device, &renderer, &target, &scene, &view, 25)?;
    let reference = render(&device, &renderer, &target, &scene, &view.with_samples(samples), 1)?;
    let (a, b) = (codes(&single), codes(&reference));
    println!("one sample against {samples}: {:.2} dB", psnr(&a, &b));
    save(&out.join("noisy.png"), &single, &a)?;
    save(&out.join("reference.png"), &reference, &b)?;
    let colours: Vec<f32> = single
        .motion
        .iter()
        .flat_map(|m| {
            let [x, y] = m.map(|m| (0.5 + 20.0 * m.to_f32()).clamp(0.0, 1.0));
            [x, y, 0.5]
        })
        .collect();
    save(&out.join("motion.png"), &single, &colours)
}

fn render(
    device: &Arc<Device>,
    renderer: &Renderer,
    target: &GBuffer,
    scene: &Scene,
    view: &View,
    repeat: u32,
) -> Result<Picture, Box<dyn Error>> {
    let mut times = Vec::new();
    for _ in 0..repeat {
        let time = Timestamps::new(device, "frame", 2)?;
        let mut recorded = Ok(());
        device.run_once("frame", |commands| {
            commands.reset_timestamps(&time);
            commands.write_timestamp(&time, 0);
            recorded = renderer.record(commands, target, scene, view);
            commands.write_timestamp(&time, 1);
        })?;
        recorded?;
        times.extend(time.read()?.and_then(|t| t.get(1).copied()));
    }
    times.sort_by(f64::total_cmp);
    if let (Some(min), Some(max)) = (times.first(), times.last()) {
        let median = times[times.len() / 2];
        println!("{} samples: {min:.3} / {median:.3} / {max:.3} ms on the device", view.samples);
    }
    Ok(target.read()?)
}
