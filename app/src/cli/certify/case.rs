//! What is certified: device, model, scene, size, route.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use network::exec::{Kernels, NetworkOptions, Weights};
use network::frame::Parameters;
use network::geometry::Geometry;
use network::model::{Model, Source};
use network::replay::admission::Subject;
use network::replay::controller::State;
use network::replay::{ReplayRoute, TapeIdentity};
use renderer::{Scene, View};

use super::{CertifyArgs, Demand};
use crate::cli::Globals;
use crate::cli::args::RouteArg;
use crate::engine::neural::{Neural, Times};
use crate::engine::pace::Pace;
use crate::engine::retain::{self, ReplayArg};
use crate::engine::studio::Studio;
use crate::engine::{Engines, fit, model};

/// Frames within which a route must be ready.
const MOST_WARM: u32 = 8;

/// Everything that the gates share.
pub struct Case {
    pub globals: Globals,
    pub engines: Engines,
    pub studio: Studio,
    pub kernels: Arc<Kernels>,
    pub weights: Arc<Weights>,
    pub source: Source,
    pub model: Model,
    pub geometry: Geometry,
    pub route: ReplayRoute,
    pub asked: ReplayArg,
    pub demand: Demand,
    pub relaxed: bool,
    pub bench: Option<PathBuf>,
    pub subject: Subject,
    /// The route under test, once it is ready.
    pub retained: Option<Neural>,
    /// The tape under test.
    pub identity: Option<TapeIdentity>,
}

impl Case {
    pub fn new(globals: &Globals, args: &CertifyArgs) -> Result<Self> {
        let source = model::source(globals)?;
        let mut engines = Engines::new(globals, RouteArg::Exact)?;
        let model = engines.model(&source)?;
        let (device, kernels, weights) = engines.parts(&model)?;
        let geometry = fit::check(&device, args.size, 0)?;
        let studio = Studio::new(&device, Scene::builtin())?;
        let subject = retain::subject(&device, model.digest(), geometry.field);
        let route = args.to.route();
        let asked = route.into();
        Ok(Self {
            globals: globals.clone(),
            engines,
            studio,
            kernels,
            weights,
            source,
            model,
            geometry,
            route,
            asked,
            demand: if args.relaxed { Demand::RELAXED } else { Demand::FULL },
            relaxed: args.relaxed,
            bench: args.bench.clone(),
            subject,
            retained: None,
            identity: None,
        })
    }

    /// What a person would have to relax for a demand to be met with less.
    pub fn relaxation(&self, what: &str, asked: u32, full: u32) -> Vec<String> {
        if asked < full { vec![format!("{asked} {what} instead of {full}")] } else { Vec::new() }
    }

    /// The view and the parameters of a frame by number.
    pub fn view(&self, number: u32) -> View {
        View::scripted(&self.studio.scene, number, 30.0)
    }

    /// Frame parameters.
    ///
    /// # Errors
    /// The model has no blend scale.
    pub fn parameters(&self) -> Result<Parameters> {
        Ok(Parameters { blend_scale: self.model.blend_scale()?.to_f32(), ..Parameters::default() })
    }

    /// Frames of the case's size on a route.
    ///
    /// # Errors
    /// They do not fit on the device.
    pub fn neural(&self, asked: ReplayArg, options: NetworkOptions) -> Result<Neural> {
        let mut neural = Neural::with_options(&self.studio, &self.kernels, &self.weights, &self.geometry, options)?;
        neural.ask_replay(&self.studio, asked, self.model.digest())?;
        Ok(neural)
    }

    /// Computes one frame as one submission. The seed is the frame's number.
    ///
    /// # Errors
    /// The frame fails.
    pub fn frame(&self, neural: &mut Neural, number: u32) -> Result<Times> {
        let job = neural.begin(self.view(number), self.parameters()?, true).with_seed(number);
        neural.finish(&self.studio, job, &mut Pace::unsliced())
    }

    /// Runs frames until a route is ready, an even number of them, so that the parity is as at the beginning.
    ///
    /// # Errors
    /// It does not become ready; the message says where it stands.
    pub fn warm(&self, neural: &mut Neural) -> Result<u32> {
        for number in 0..MOST_WARM {
            self.frame(neural, number)?;
            if *neural.retain().controller.state() == State::Ready && number % 2 == 1 {
                return Ok(number + 1);
            }
        }
        bail!("the route is not ready after {MOST_WARM} frames: {}", neural.retain().controller.state())
    }
}
