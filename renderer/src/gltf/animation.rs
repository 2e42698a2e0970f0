//! Animations.

use super::accessor::numbers;
use super::error::{Error, Result};
use super::limits::Data;
use crate::mesh::{Interpolation, Model, Property, Track};
use gltf::Document;
use gltf::animation as source;
use gltf::json::validation::Checked;
use std::collections::BTreeSet;

/// Largest value, as for nodes at rest.
const FARTHEST: f32 = 1e12;

/// Adds tracks: the first animation, and of further ones what no earlier one moves. Files with
/// one animation for each object play as a whole that way, files with several for one object
/// play the first.
pub(super) fn add(document: &Document, data: &Data, places: &[Option<usize>], model: &mut Model) -> Result<()> {
    let mut taken: BTreeSet<(usize, u8)> = BTreeSet::new();
    for animation in document.animations() {
        let mut tracks = Vec::new();
        for channel in animation.channels() {
            // From the JSON, as the crate does not check it: other targets are for extensions.
            let json = &document.as_json().animations[animation.index()].channels[channel.index()].target;
            let Some(node) = places.get(json.node.value()).copied().flatten() else { continue };
            let property = match json.path {
                Checked::Valid(source::Property::Translation) => Property::Translation,
                Checked::Valid(source::Property::Rotation) => Property::Rotation,
                Checked::Valid(source::Property::Scale) => Property::Scale,
                Checked::Valid(source::Property::MorphTargetWeights) => Property::Weights,
                Checked::Invalid => continue,
            };
            if !taken.contains(&(node, property as u8)) {
                tracks.push(track(data, &animation, &channel, node, property, model)?);
            }
        }
        let end = tracks.iter().filter_map(|t| t.times.last()).fold(0.0, |a: f64, &b| a.max(f64::from(b)));
        for mut track in tracks {
            track.duration = end;
            taken.insert((track.node, track.property as u8));
            model.tracks.push(track);
        }
    }
    Ok(())
}

fn track(
    data: &Data,
    animation: &gltf::Animation<'_>,
    channel: &source::Channel<'_>,
    node: usize,
    property: Property,
    model: &Model,
) -> Result<Track> {
    let broken = |reason: String| Error::broken("animation", animation.index(), reason);
    let sampler = channel.sampler();
    let interpolation = match sampler.interpolation() {
        source::Interpolation::Step => Interpolation::Step,
        source::Interpolation::Linear => Interpolation::Linear,
        source::Interpolation::CubicSpline => Interpolation::Cubic,
    };
    let times = numbers(data, &sampler.input())?;
    if times.width != 1 || !times.values.is_sorted() {
        return Err(broken("its times do not ascend".to_owned()));
    }
    let width = match property {
        Property::Translation | Property::Scale => 3,
        Property::Rotation => 4,
        Property::Weights => model.nodes[node].weights.len(),
    };
    let values = numbers(data, &sampler.output())?.values;
    let keys = times.values.len() * if interpolation == Interpolation::Cubic { 3 } else { 1 };
    if values.len() != keys * width || width == 0 {
        return Err(broken(format!("it has {} numbers for {keys} values of {width}", values.len())));
    }
    if values.iter().any(|v| v.abs() > FARTHEST) {
        return Err(broken(format!("one of its values is beyond {FARTHEST:e}")));
    }
    Ok(Track { node, property, interpolation, duration: 0.0, times: times.values, values })
}
