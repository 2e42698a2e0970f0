//! Cameras that move by themselves: closed rounds, and paths of timed keys.

mod document;
mod keyed;
#[cfg(test)]
mod properties;
mod round;

pub use document::{FORMAT as PATH_FORMAT, PathDocument};
pub(crate) use document::{KeyDocument, path_of};
pub use keyed::{KeyedPath, PathKey};
pub use round::{CameraKey, Round};

use crate::camera::Camera;

/// A camera as a pure function of time: the same time gives the same camera.
#[derive(Clone, Debug, PartialEq)]
pub enum CameraPath {
    /// A smooth loop.
    Round(Round),
    /// Timed keys, with cuts.
    Keyed(KeyedPath),
}

impl CameraPath {
    /// The camera at `time` seconds, which may be of any sign and size.
    #[must_use]
    pub fn at(&self, time: f64) -> Camera {
        match self {
            Self::Round(round) => round.at(time),
            Self::Keyed(path) => path.at(time),
        }
    }

    /// Whether the camera jumps between two instants, so that the later one has no predecessor.
    #[must_use]
    pub fn cuts(&self, earlier: f64, later: f64) -> bool {
        match self {
            Self::Round(_) => false,
            Self::Keyed(path) => path.cuts(earlier, later),
        }
    }

    /// Seconds after which it begins anew.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        match self {
            Self::Round(round) => round.seconds,
            Self::Keyed(path) => path.seconds(),
        }
    }

    /// Some places that the camera comes through.
    pub fn positions(&self) -> impl Iterator<Item = glam::Vec3> + '_ {
        let (round, keyed) = match self {
            Self::Round(round) => (Some(round), None),
            Self::Keyed(path) => (None, Some(path)),
        };
        let round = round.into_iter().flat_map(|r| r.keys.iter().map(|k| k.position));
        round.chain(keyed.into_iter().flat_map(|p| p.keys().iter().map(|k| k.camera.position)))
    }
}
