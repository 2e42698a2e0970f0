//! What is computed for the sides of a comparison beside the network as it is set: networks of their own with histories of
//! their own, and the reference. Allocated only while chosen.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use gpu::Device;
use network::exec::{Kernels, Route, Weights};
use network::frame::Parameters;
use network::geometry::Geometry;
use network::model::Source;
use renderer::View;

use super::loading::{Loaded, Model, ModelLoading};
use super::reference::{Reference, Samples};
use crate::cli::args::RouteArg;
use crate::engine::fit;
use crate::engine::neural::Neural;
use crate::engine::side::{self, Change, Side};
use crate::engine::studio::Studio;

/// A network beside the one that is set, of one side or both.
pub struct Lane {
    /// In what it differs.
    pub change: Change,
    /// Its buffers and its history.
    pub neural: Neural,
    /// Cap of the history's weight of its model.
    pub blend_scale: f32,
}

/// The sides shown, what is computed for them, and what is being prepared for others.
pub struct Sides {
    shown: [Side; 2],
    lanes: Vec<Lane>,
    reference: Option<Reference>,
    /// Sides that wait for their weights, or for the network.
    wanted: Option<[Side; 2]>,
    /// Weights of models that the shown and the wanted sides name.
    models: Vec<(Source, ModelLoading)>,
}

/// Other sides are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Whether networks have come or gone: frames in work are of the former ones.
    pub networks: bool,
}

/// What the sides stand on.
pub struct Base<'a> {
    /// The scene.
    pub studio: &'a Studio,
    /// The network as it is set, when it is there.
    pub main: Option<(&'a Neural, &'a Loaded)>,
    /// Size of the frame.
    pub geometry: &'a Geometry,
    /// Wish for the largest step of a network.
    pub step_cost: Option<u64>,
}

impl Default for Sides {
    fn default() -> Self {
        Self { shown: side::DEFAULT, lanes: Vec::new(), reference: None, wanted: None, models: Vec::new() }
    }
}

impl Sides {
    /// Left and right as they are shown.
    pub fn shown(&self) -> &[Side; 2] {
        &self.shown
    }

    /// Whether other sides than those shown are being prepared.
    pub fn is_preparing(&self) -> bool {
        self.wanted.is_some()
    }

    /// The networks beside the one that is set.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The same, to be moved on.
    pub fn lanes_mut(&mut self) -> &mut [Lane] {
        &mut self.lanes
    }

    /// Place of the lane of a side.
    pub fn lane_of(&self, side: &Side) -> Option<usize> {
        let change = side.change()?;
        self.lanes.iter().position(|lane| lane.change == *change)
    }

    /// Place of the lane whose buffers the views show: the right side's, else the left one's. `None` is the network as it is
    /// set.
    pub fn viewed(&self) -> Option<usize> {
        let of = self.shown.iter().rev().find(|side| matches!(side, Side::Network(_)))?;
        self.lane_of(of)
    }

    /// Frees everything of the frame's size: it has changed, or the scene has.
    pub fn forget(&mut self) {
        self.lanes.clear();
        self.reference = None;
        self.wanted = None;
        self.shown = side::DEFAULT;
    }

    /// Another scene is shown: histories and the reference are of the former one. What has its buffers stays.
    pub fn leave_scene(&mut self) {
        self.reset();
        if let Some(reference) = &mut self.reference {
            reference.forget();
        }
    }

    /// Whether weights of a side are still being read.
    pub fn is_reading(&self) -> bool {
        self.models.iter().any(|(_, loading)| loading.ready().is_none())
    }

    /// Every lane forgets its history.
    pub fn reset(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.neural.reset());
    }

    /// Moves towards `wanted` without waiting. Says what has changed when other sides are shown from now on.
    ///
    /// # Errors
    /// A side cannot be; the ones before stay.
    pub fn update(&mut self, wanted: &[Side; 2], base: &Base<'_>) -> Result<Option<Changed>> {
        self.wanted = (*wanted != self.shown).then(|| wanted.clone());
        if self.wanted.is_none() {
            self.sweep();
            return Ok(None);
        }
        let result = self.prepare(wanted, base);
        if !matches!(result, Ok(None)) {
            self.wanted = None;
            self.sweep();
        }
        result
    }

    /// Lets go of weights that no side names, unless they are still being read: that would have to be waited for.
    fn sweep(&mut self) {
        let sides = [&self.shown].into_iter().chain(&self.wanted).flatten();
        let named: Vec<_> = sides.filter_map(|side| side.change()?.model.as_ref()).collect();
        self.models.retain(|(source, loading)| named.contains(&source) || loading.is_running());
    }

    /// Nothing while something is awaited.
    fn prepare(&mut self, wanted: &[Side; 2], base: &Base<'_>) -> Result<Option<Changed>> {
        if let Some((_, loaded)) = base.main {
            let routes = wanted.iter().filter_map(|side| side.change()?.route);
            routes.into_iter().try_for_each(|route| check_route(route, loaded.kernels.route()))?;
        }
        let mut ready = true;
        for source in wanted.iter().filter_map(|side| side.change()?.model.as_ref()) {
            ready &= self.model(&base.studio.device, source)?;
        }
        let networks = wanted.iter().any(|side| side.change().is_some());
        if !ready || (networks && base.main.is_none()) {
            return Ok(None);
        }
        let mut made = Vec::new();
        for change in wanted.iter().filter_map(Side::change) {
            let there = self.lanes.iter().chain(&made).any(|lane: &Lane| lane.change == *change);
            if let (false, Some((main, loaded))) = (there, base.main) {
                made.push(self.lane(change, base, main, loaded)?);
            }
        }
        let samples = wanted.iter().find_map(|side| match side {
            Side::Reference(samples) => Some(*samples),
            _ => None,
        });
        let same = |reference: &Reference| Some(reference.samples()) == samples;
        if !self.reference.as_ref().is_some_and(same) {
            self.reference = None;
            self.reference = samples.map(|samples| Reference::new(base.studio, base.geometry, samples)).transpose()?;
        }
        // What is no longer wanted is freed now that nothing can fail.
        let before = self.lanes.len();
        self.lanes.retain(|lane| wanted.iter().any(|side| side.change() == Some(&lane.change)));
        let changed = Changed { networks: before != self.lanes.len() || !made.is_empty() };
        self.lanes.append(&mut made);
        self.shown = wanted.clone();
        Ok(Some(changed))
    }

    /// Whether a model's weights are on the device; they are fetched otherwise.
    fn model(&mut self, device: &Arc<Device>, source: &Source) -> Result<bool> {
        let place = match self.models.iter().position(|(of, _)| of == source) {
            Some(place) => place,
            None => {
                self.models.push((source.clone(), ModelLoading::start(device, source.clone())));
                self.models.len() - 1
            }
        };
        match self.models[place].1.poll() {
            Ok(model) => Ok(model.is_some()),
            Err(error) => {
                let error = anyhow!("the model {source} cannot be a side: {error:#}");
                self.models.remove(place);
                Err(error)
            }
        }
    }

    fn lane(&self, change: &Change, base: &Base<'_>, main: &Neural, loaded: &Loaded) -> Result<Lane> {
        let named = change.model.as_ref();
        let model = named.and_then(|source| self.models.iter().find(|(of, _)| of == source)?.1.ready());
        let (weights, blend_scale): (&Arc<Weights>, f32) = match model {
            Some(Model { weights, blend_scale, .. }) => (weights, *blend_scale),
            None => (&loaded.weights, loaded.blend_scale),
        };
        // The processor computes beside any device: it takes no kernels, and the model that the weights are of.
        let own = change.route != Some(RouteArg::Cpu);
        let kernels = if own { Arc::clone(&loaded.kernels) } else { Kernels::new(&base.studio.device, Route::Cpu)? };
        let (studio, step_cost) = (base.studio, base.step_cost);
        let size = change.size.unwrap_or(base.geometry.valid);
        let geometry = fit::check(&studio.device, size, 0)?;
        let neural = if size == base.geometry.valid {
            Neural::beside(studio, &kernels, weights, step_cost, main)
        } else {
            Neural::new(studio, &kernels, weights, &geometry, step_cost)
        };
        Ok(Lane { change: change.clone(), neural: neural?, blend_scale })
    }

    /// The reference goes on with the instant of a view, or begins it; what is on the device of another instant is waited for
    /// with `patience` only.
    ///
    /// # Errors
    /// An error of the device.
    pub fn follow(&mut self, studio: &Studio, view: &View, parameters: &Parameters, patience: bool) -> Result<()> {
        self.reference.as_mut().map_or(Ok(()), |reference| reference.follow(studio, view, parameters, patience))
    }

    /// Moves the reference on; true when its picture is another one.
    ///
    /// # Errors
    /// An error of the device.
    pub fn refine(&mut self, studio: &Studio) -> Result<bool> {
        self.reference.as_mut().map_or(Ok(false), |reference| reference.advance(studio))
    }

    /// Whether the reference has parts left.
    pub fn is_refining(&self) -> bool {
        self.reference.as_ref().is_some_and(Reference::is_incomplete)
    }

    /// How far the reference has come, where a side is one.
    pub fn samples(&self, studio: &Studio) -> Option<Samples> {
        self.reference.as_ref().map(|reference| reference.progress(studio))
    }

    /// The reference.
    pub fn reference(&self) -> Option<&Reference> {
        self.reference.as_ref()
    }
}

/// Refuses a side's route that the window cannot take beside its own.
fn check_route(route: RouteArg, own: Route) -> Result<()> {
    match (route, own) {
        (RouteArg::Auto | RouteArg::Cpu, _)
        | (RouteArg::Exact, Route::Exact)
        | (RouteArg::Tensor, Route::Tensor)
        | (RouteArg::Float8, Route::Float8) => Ok(()),
        (RouteArg::Exact | RouteArg::Tensor | RouteArg::Float8, _) => {
            let (name, own) = (route.resolved(), own.name());
            Err(anyhow!(
                "a side is computed on the window's own route, {own}, or on cpu; start the viewer with --route {name}"
            ))
        }
    }
}
