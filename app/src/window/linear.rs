//! Shift F2: the frame as linear light, in an OpenEXR file, written off the render thread. Read back when the frame is
//! finished and before the next one is begun, from the buffers that it was made in.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use anyhow::{Context as _, Result};
use exr::prelude::{AnyChannel, AnyChannels, Encoding, FlatSamples, Image, Layer, LayerAttributes, WritableImage as _};
use gpu::{Buffer, Device};
use half::f16;
use network::frame::Parameters;
use network::frame::cpu::display;
use network::geometry::Extent;

use super::News;
use super::screenshot::free_name;
use crate::cli::write;
use crate::engine::neural::Neural;

/// Linear pictures asked for and being written.
#[derive(Default)]
pub struct Linear {
    folder: PathBuf,
    asked: bool,
    writing: Vec<Receiver<Result<PathBuf>>>,
}

/// What a file is made of, four halves a pixel.
struct Parts {
    size: Extent,
    scene: Vec<u8>,
    /// Proxy and published code values, with what they were made with.
    neural: Option<(Vec<u8>, Vec<u8>, Parameters)>,
}

impl Linear {
    /// Pictures go into `folder`, which is made when it is needed.
    pub fn into_folder(folder: PathBuf) -> Self {
        Self { folder, asked: false, writing: Vec::new() }
    }

    /// Asks for the next frame.
    pub fn ask(&mut self) {
        self.asked = true;
    }

    /// Whether a frame is wanted.
    pub fn is_asked(&self) -> bool {
        self.asked
    }

    /// Takes a finished frame of the network, if one is asked for, before the next one is begun.
    ///
    /// # Errors
    /// An error of the device.
    pub fn finished(&mut self, device: &Arc<Device>, neural: &Neural, parameters: &Parameters) -> Result<()> {
        if !self.asked {
            return Ok(());
        }
        let frame = neural.frame();
        let read = |buffer: &Buffer| device.download(buffer, 0, buffer.size());
        let Some(proxy) = frame.proxy() else { return Ok(()) };
        let neural_side = (read(proxy)?, read(frame.published())?, *parameters);
        let scene = read(neural.gbuffer().color())?;
        self.write(Parts { size: frame.geometry().valid, scene, neural: Some(neural_side) })
    }

    /// Takes the scene alone, if one is asked for.
    ///
    /// # Errors
    /// An error of the device.
    pub fn scene(&mut self, device: &Arc<Device>, color: &Buffer, size: Extent) -> Result<()> {
        if !self.asked {
            return Ok(());
        }
        let scene = device.download(color, 0, color.size())?;
        self.write(Parts { size, scene, neural: None })
    }

    fn write(&mut self, parts: Parts) -> Result<()> {
        self.asked = false;
        let folder = self.folder.clone();
        let (done, receiver) = channel();
        std::thread::Builder::new().name("linear".into()).spawn(move || _ = done.send(save(&folder, &parts)))?;
        self.writing.push(receiver);
        Ok(())
    }

    /// What has been written since the last call, or why not.
    pub fn news(&mut self) -> Option<News> {
        let mut news = None;
        self.writing.retain(|receiver| match receiver.try_recv() {
            Ok(result) => {
                news = Some(match result {
                    Ok(path) => Ok(format!("linear picture: {}", path.display())),
                    Err(error) => Err(format!("the linear picture failed: {error:#}")),
                });
                false
            }
            Err(TryRecvError::Empty) => true,
            Err(TryRecvError::Disconnected) => false,
        });
        news
    }
}

impl Linear {
    /// Waits for everything that is being written.
    pub fn finish(&mut self) {
        for receiver in self.writing.drain(..) {
            _ = receiver.recv();
        }
    }
}

impl Drop for Linear {
    /// Pictures that are being written are finished before the program ends.
    fn drop(&mut self) {
        self.finish();
        if self.asked {
            tracing::warn!("no linear picture: no frame was finished before the end");
        }
    }
}

/// Three channels of each pixel of four halves.
fn pixels(bytes: &[u8]) -> impl Iterator<Item = [f32; 3]> {
    bytes.as_chunks::<8>().0.iter().map(|&[r0, r1, g0, g1, b0, b1, _, _]| {
        [[r0, r1], [g0, g1], [b0, b1]].map(|half| f16::from_le_bytes(half).to_f32())
    })
}

/// The network's result in linear scene light (frame section 8).
fn result<'a>(parts: &'a Parts) -> Option<impl Iterator<Item = [f32; 3]> + 'a> {
    let (proxy, published, parameters) = parts.neural.as_ref()?;
    let paper = parameters.paper();
    let codes = pixels(proxy).zip(pixels(published));
    let strength = parameters.color_strength;
    let pairs = pixels(&parts.scene).zip(codes);
    Some(pairs.map(move |(scene, (proxy, published))| display::upgrade(scene, proxy, published, paper, strength)))
}

/// One part of half channels: R, G, B is what the window shows, `input.R` and so on the scene without the network.
fn encode(parts: &Parts) -> Result<Vec<u8>> {
    let scene: Vec<[f32; 3]> = pixels(&parts.scene).collect();
    let with: Option<Vec<[f32; 3]>> = result(parts).map(Iterator::collect);
    let mut list = Vec::new();
    let mut add = |prefix: &str, values: &[[f32; 3]]| {
        for (channel, name) in ["R", "G", "B"].into_iter().enumerate() {
            let samples = values.iter().map(|pixel| f16::from_f32(pixel[channel])).collect();
            list.push(AnyChannel::new(format!("{prefix}{name}").as_str(), FlatSamples::F16(samples)));
        }
    };
    add("", with.as_deref().unwrap_or(&scene));
    if with.is_some() {
        add("input.", &scene);
    }
    let attributes = LayerAttributes { software_name: Some("nrview".into()), ..LayerAttributes::default() };
    let size = (parts.size.width as usize, parts.size.height as usize);
    let channels = AnyChannels::sort(list.into_iter().collect());
    let layer = Layer::new(size, attributes, Encoding::SMALL_LOSSLESS, channels);
    let mut out = std::io::Cursor::new(Vec::new());
    Image::from_layer(layer).write().to_buffered(&mut out).context("cannot encode the picture")?;
    Ok(out.into_inner())
}

fn save(folder: &Path, parts: &Parts) -> Result<PathBuf> {
    let bytes = encode(parts)?;
    write::make_folder(folder)?;
    let path = free_name(folder, "exr")?;
    write::write_file(&path, &bytes)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use exr::prelude::{ReadChannels as _, ReadLayers as _};

    fn halves(values: &[[f32; 4]]) -> Vec<u8> {
        values.iter().flatten().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect()
    }

    #[test]
    fn the_file_holds_linear_light_of_both_sides() -> Result<()> {
        let folder = tempfile::tempdir()?;
        // Twice paper white and an eighth of it; the network changed the second pixel alone.
        let scene = halves(&[[4.0, 4.0, 4.0, 1.0], [0.25, 0.25, 0.25, 1.0]]);
        let parameters = Parameters { paper_white: 2.0, ..Parameters::default() };
        let code = |scene: f32| f16::from_bits(network::frame::cpu::proxy::proxy(scene, 2.0)).to_f32();
        let proxy = halves(&[[code(4.0); 4], [code(0.25); 4]]);
        let published = halves(&[[code(4.0); 4], [code(0.5); 4]]);
        let neural = Some((proxy, published, parameters));
        let path = save(folder.path(), &Parts { size: Extent::new(2, 1), scene, neural })?;
        let image = exr::prelude::read()
            .no_deep_data()
            .largest_resolution_level()
            .all_channels()
            .first_valid_layer()
            .all_attributes()
            .from_file(&path)?;
        let channels = &image.layer_data.channel_data.list;
        let names: Vec<String> = channels.iter().map(|channel| channel.name.to_string()).collect();
        assert_eq!(names, ["B", "G", "R", "input.B", "input.G", "input.R"]);
        let value = |name: &str, at: usize| {
            let channel = channels.iter().find(|channel| channel.name == *name);
            channel.map_or(f32::NAN, |channel| channel.sample_data.value_by_flat_index(at).to_f32())
        };
        assert_eq!((value("input.R", 0), value("input.R", 1)), (4.0, 0.25));
        assert!((value("R", 0) - 4.0).abs() < 0.05, "{}", value("R", 0));
        assert!((value("R", 1) - 0.5).abs() < 0.02, "{}", value("R", 1));
        Ok(())
    }
}
