//! Between frames as values and the tensors of a capture.

use anyhow::{Context as _, Result};
use network::capture::{DType, RecordedFrame, Tensor, tensor_name};
use network::frame::Parameters;
use network::frame::cpu::Half4;
use network::geometry::{Extent, Geometry};
use network::plan::Plan;
use network::reference::TensorData;

use super::{Composition, Inputs, NetworkRun, Picture};

/// The tensors of a computed frame.
pub fn tensors(plan: &Plan, inputs: &Inputs, features: Vec<u16>, run: NetworkRun, made: &Composition) -> Vec<Tensor> {
    let Geometry { valid, field, .. } = plan.geometry;
    let shape = |extent: Extent, channels| [extent.height as usize, extent.width as usize, channels];
    let half4 =
        |name: &str, pixels: &[Half4]| Tensor::halves(name, shape(valid, 4), pixels.as_flattened().iter().copied());
    let mut all = Vec::new();
    match &inputs.picture {
        Picture::Scene { color, depth, motion } => {
            all.push(half4("color", color));
            all.push(Tensor::floats("depth", shape(valid, 1), depth.iter().copied()));
            let parts = motion.iter().flat_map(|&word| [word as u16, (word >> 16) as u16]);
            all.push(Tensor::halves("motion", shape(valid, 2), parts));
            all.push(half4("proxy", &made.proxy));
        }
        Picture::Image(pixels) => {
            all.push(Tensor::floats("image", shape(valid, 4), pixels.as_flattened().iter().copied()));
        }
    }
    if let Some(history) = &inputs.history {
        all.push(half4("previous-history", history));
    }
    all.push(Tensor::halves("features", shape(field, 16), features));
    all.push(Tensor::halves("head", shape(field, 4), run.head));
    all.push(half4("next-history", &made.composed.history));
    all.push(half4("published", &made.composed.published));
    all.push(Tensor::words("display-input", shape(valid, 4), &made.composed.display_input));
    all.push(Tensor::words("display", shape(valid, 4), &made.composed.display_neural));
    for (id, data) in run.kept {
        let tensor = plan.tensor(id);
        let dtype = match data {
            TensorData::Codes(_) => DType::E4m3,
            TensorData::Halves(_) => DType::F16,
        };
        all.push(Tensor::new(tensor_name(plan, id), dtype, shape(tensor.extent, tensor.channels), data.to_bytes()));
    }
    all
}

/// What a recorded frame was computed from.
///
/// # Errors
/// A file has changed since the capture was opened.
pub fn inputs_of(frame: &RecordedFrame) -> Result<Inputs> {
    let picture = if frame.has("image") {
        Picture::Image(frame.tensor("image")?.as_floats().as_chunks().0.to_vec())
    } else {
        Picture::Scene {
            color: half4(&frame.tensor("color")?),
            depth: frame.tensor("depth")?.as_floats(),
            motion: frame.tensor("motion")?.as_words(),
        }
    };
    let history = if frame.has("previous-history") { Some(half4(&frame.tensor("previous-history")?)) } else { None };
    let parameters = Parameters::try_from(&frame.info().parameters).context("the recorded parameters are refused")?;
    Ok(Inputs { picture, history, parameters })
}

/// RGBA halves of a tensor.
fn half4(tensor: &Tensor) -> Vec<Half4> {
    tensor.as_halves().as_chunks().0.to_vec()
}
