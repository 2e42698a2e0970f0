//! Which pictures a frame of the window shows, what they are made of, and what they are called.

use network::geometry::Geometry;

use super::Session;
use crate::engine::measure;
use crate::engine::neural::Neural;
use crate::engine::side::Side;
use crate::window::graphics::Shown;
use crate::window::probe::{SideSources, Sources};
use crate::window::reference::{Reference, Samples};
use crate::window::settings::Settings;

/// Which pictures a frame of the window shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// The last frame that went through the network, without and with it.
    Pair,
    /// The live scene through the frame passes, without the network; keeps the history primed.
    Bypass,
    /// The live scene alone.
    Live,
}

impl Session {
    /// What the next drawn frame shows.
    pub fn picture(&self, settings: &Settings) -> Picture {
        if self.shows_pair(settings) {
            Picture::Pair
        } else if !settings.network && self.neural.is_some() && self.job.is_none() {
            Picture::Bypass
        } else {
            Picture::Live
        }
    }

    /// Whether the finished pair is what should be seen, rather than the live scene.
    pub(super) fn shows_pair(&self, settings: &Settings) -> bool {
        let Some(pair) = &self.pair else { return false };
        let left = self.is_slow() && pair.camera != self.camera && !settings.path;
        settings.network && self.neural.is_some() && !left
    }

    /// The pictures to show.
    pub fn shown(&self, picture: Picture) -> Shown<'_> {
        let live = picture == Picture::Live;
        let extent = if live { self.live.geometry().valid } else { self.geometry.valid };
        let original = match (&self.neural, picture) {
            (Some(neural), Picture::Pair | Picture::Bypass) => neural.display_input(),
            _ => self.live.plain().display(),
        };
        Shown {
            sides: [0, 1].map(|place| self.side_sources(&self.sides.shown()[place], picture)),
            original,
            extent,
            generation: 16 * self.generation + 3 * u64::from(self.live.divisor() - 1) + picture as u64,
            version: self.version,
            sources: self.sources(picture),
            pick: None,
            live_pixels: None,
        }
    }

    /// By how much the pictures shown are smaller in each direction than a frame.
    pub fn divisor(&self, picture: Picture) -> u32 {
        if picture == Picture::Live { self.live.divisor() } else { 1 }
    }

    /// The picture of a side, and what it was made of.
    fn side_sources(&self, side: &Side, picture: Picture) -> SideSources<'_> {
        let extent = self.geometry.valid;
        if let (Side::Reference(_), Some(reference)) = (side, self.sides.reference()) {
            let color = Some(reference.gbuffer().color());
            return SideSources {
                picture: reference.display(),
                extent,
                color,
                proxy: None,
                published: None,
                with: None,
            };
        }
        let Some(main) = self.neural.as_ref().filter(|_| picture != Picture::Live) else {
            let color = Some(self.live.plain().gbuffer().color());
            return SideSources {
                picture: self.live.plain().display(),
                extent: self.live.geometry().valid,
                color,
                proxy: None,
                published: None,
                with: None,
            };
        };
        let ahead = picture == Picture::Pair && self.job.as_ref().is_some_and(|work| !work.published);
        let lane = self.sides.lane_of(side).filter(|_| picture == Picture::Pair);
        let neural = lane.map_or(main, |place| &self.sides.lanes()[place].neural);
        // The kept buffers are those of the picture; the frame's own may be those of the next one already.
        let kept = neural.snapshot().filter(|_| picture == Picture::Pair);
        let color = kept.map(|kept| kept.color()).or((!ahead).then(|| neural.gbuffer().color()));
        if *side == Side::Off || picture == Picture::Bypass {
            return SideSources {
                picture: main.display_input(),
                extent,
                color,
                proxy: None,
                published: None,
                with: None,
            };
        }
        SideSources {
            picture: neural.display_neural(),
            extent: neural.frame().geometry().valid,
            color,
            proxy: kept.map(|kept| kept.proxy()),
            published: kept.map(|kept| kept.published()),
            with: kept.and_then(|kept| kept.parameters().copied()),
        }
    }

    /// The buffers behind the pictures, for the inspector and the views: of the right side's network, else of the left
    /// one's, else of the network as it is set.
    fn sources(&self, picture: Picture) -> Sources<'_> {
        let neural = self.neural.as_ref().filter(|_| picture != Picture::Live).map(|main| {
            let lane = self.sides.viewed().filter(|_| picture == Picture::Pair);
            lane.map_or(main, |place| &self.sides.lanes()[place].neural)
        });
        let pair = neural.filter(|_| picture == Picture::Pair);
        if let Some((neural, kept)) = pair.and_then(|neural| Some((neural, neural.snapshot()?))) {
            return Sources {
                geometry: *neural.frame().geometry(),
                color: kept.color(),
                depth: kept.depth(),
                motion: kept.motion(),
                proxy: Some(kept.proxy()),
                features: Some(kept.features()),
                head: Some(kept.head()),
                with: kept.parameters().copied(),
                ahead: false,
            };
        }
        let buffers = neural.map_or(self.live.plain().gbuffer(), Neural::gbuffer);
        Sources {
            geometry: neural.map_or(*self.live.geometry(), |neural| *neural.frame().geometry()),
            color: buffers.color(),
            depth: buffers.depth(),
            motion: buffers.motion(),
            proxy: pair.and_then(|neural| neural.frame().proxy()),
            features: None,
            head: None,
            with: None,
            ahead: pair.is_some() && self.job.as_ref().is_some_and(|work| !work.published),
        }
    }

    /// Geometry of the frames whose buffers the views show.
    pub fn viewed_geometry(&self) -> Geometry {
        let lane = self.sides.viewed().map(|place| &self.sides.lanes()[place].neural);
        lane.map_or(self.geometry, |neural| *neural.frame().geometry())
    }

    /// Whether the pictures of both sides are of what they are called: otherwise one stands in for the other.
    pub fn differs(&self, picture: Picture) -> bool {
        let pair = picture == Picture::Pair;
        self.sides.shown().iter().all(|side| pair || !matches!(side, Side::Network(_)))
    }

    /// What the sides show, in words.
    pub fn labels(&self, settings: &Settings, picture: Picture) -> [String; 2] {
        [0, 1].map(|place| {
            let side = &self.sides.shown()[place];
            match side {
                Side::Off => side.label(),
                Side::Reference(_) if self.sides.reference().is_some_and(Reference::is_late) => {
                    "reference of an earlier instant".to_owned()
                }
                Side::Reference(samples) => match self.samples() {
                    Some(Samples { done, total }) if done < total => format!("reference, {done} of {samples} samples"),
                    _ => side.label(),
                },
                Side::Network(_) if !settings.network => "network is off".to_owned(),
                Side::Network(_) if picture == Picture::Live => "without network, computing".to_owned(),
                Side::Network(_) => side.label(),
            }
        })
    }

    /// The buffers of a picture that are measured.
    pub fn measured(&self, picture: Picture) -> measure::Inputs<'_> {
        let shows = self.neural.as_ref().filter(|_| picture != Picture::Live);
        let buffers = shows.map_or(self.live.plain().gbuffer(), Neural::gbuffer);
        let view = match picture {
            Picture::Pair => self.pair,
            Picture::Bypass => self.last,
            Picture::Live => None,
        };
        measure::Inputs {
            input: shows.map_or(self.live.plain().display(), Neural::display_input),
            neural: shows.filter(|_| picture == Picture::Pair).map(Neural::display_neural),
            color: buffers.color(),
            depth: buffers.depth(),
            motion: buffers.motion(),
            size: shows.map_or(self.live.geometry().valid, |_| self.geometry.valid),
            generation: 8 * self.generation + 2 * u64::from(self.live.divisor() - 1) + u64::from(shows.is_some()),
            moved: view.is_some_and(|view| view.camera != view.previous_camera),
            history: picture == Picture::Pair && self.pair_history,
        }
    }
}
