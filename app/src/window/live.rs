//! The live picture: the scene as it is now, without the network and apart from every history. While a frame of the
//! network is computed it is drawn anew only when it would be another one, and on a device that is slow at it smaller as
//! long as it changes.

use std::time::{Duration, Instant};

use anyhow::Result;
use network::geometry::{Extent, Geometry};
use renderer::Camera;

use super::settings::Settings;
use crate::engine::studio::{Plain, Studio};

/// A picture that changes may keep the device busy for so long, in seconds.
const QUICK: f64 = 0.040;
/// By how much a picture that changes may be smaller in each direction.
const DIVISORS: [u32; 3] = [1, 2, 4];
/// Smallest side of a smaller picture; there is no frame below it.
const LEAST: u32 = 33;
/// How long a picture stays the same before it is drawn whole.
const REST: Duration = Duration::from_millis(400);

/// What a live picture shows: where from, the scene's time in seconds, and everything that is drawn with.
pub type Subject = (Camera, f64, Settings);

/// The live picture; extent lifetime.
pub struct Live {
    whole: Plain,
    geometry: Geometry,
    /// Smaller ones, made when they are wanted.
    small: Vec<Small>,
    /// By how much the one that is shown is smaller in each direction.
    divisor: u32,
    /// What the picture that is there shows.
    drawn: Option<Subject>,
    changed: Instant,
    /// Seconds of the device for a pixel, as measured last.
    cost: Option<f64>,
    is_cpu: bool,
}

/// A smaller picture.
struct Small {
    divisor: u32,
    geometry: Geometry,
    plain: Plain,
}

impl Live {
    /// Buffers for pictures of one size.
    ///
    /// # Errors
    /// The picture is too large for the device.
    pub fn new(studio: &Studio, geometry: &Geometry) -> Result<Self> {
        Ok(Self {
            whole: Plain::new(studio, geometry)?,
            geometry: *geometry,
            small: Vec::new(),
            divisor: 1,
            drawn: None,
            changed: Instant::now(),
            cost: None,
            is_cpu: studio.device.caps().is_cpu,
        })
    }

    /// The picture that is shown.
    pub fn plain(&self) -> &Plain {
        self.shown().map_or(&self.whole, |small| &small.plain)
    }

    /// Its size.
    pub fn geometry(&self) -> &Geometry {
        self.shown().map_or(&self.geometry, |small| &small.geometry)
    }

    /// By how much it is smaller in each direction than a frame.
    pub fn divisor(&self) -> u32 {
        self.divisor
    }

    fn shown(&self) -> Option<&Small> {
        self.small.iter().find(|small| small.divisor == self.divisor)
    }

    /// Whether a picture of a frame's size takes long.
    pub fn is_costly(&self) -> bool {
        self.takes(1) > QUICK
    }

    /// Seconds of the device for a picture, as far as is known.
    fn takes(&self, divisor: u32) -> f64 {
        match self.cost {
            Some(cost) => cost * self.geometry.valid.pixels() as f64 / f64::from(divisor * divisor),
            None if self.is_cpu => f64::INFINITY,
            None => 0.0,
        }
    }

    /// Hears how many seconds of the device a pixel took.
    pub fn measured(&mut self, cost: f64) {
        self.cost = Some(cost);
    }

    /// The picture that is there is of no use any more.
    pub fn forget(&mut self) {
        self.drawn = None;
    }

    /// Whether a picture of `subject` has to be drawn, at a size that is chosen here: a smaller one if it may be
    /// (`reduce`) and has just changed. With `keep` the one that is there will do where it is of the same.
    ///
    /// # Errors
    /// No memory for a smaller picture.
    pub fn wants(&mut self, studio: &Studio, subject: Subject, reduce: bool, keep: bool) -> Result<bool> {
        let same = self.drawn.as_ref() == Some(&subject);
        if !same {
            self.changed = Instant::now();
        }
        let divisor = if reduce && self.changed.elapsed() < REST { self.quick() } else { 1 };
        if keep && same && (self.divisor == 1 || divisor > 1) {
            return Ok(false);
        }
        self.take(studio, divisor)?;
        self.drawn = Some(subject);
        Ok(true)
    }

    /// The least divisor at which a picture is drawn quickly; the largest one where none is quick enough.
    fn quick(&self) -> u32 {
        let fits = |divisor: &&u32| **divisor == 1 || self.smaller(**divisor).is_some();
        let mut last = 1;
        for divisor in DIVISORS.iter().filter(fits) {
            last = *divisor;
            if self.takes(last) <= QUICK {
                break;
            }
        }
        last
    }

    /// The geometry of a smaller picture, where there is one.
    fn smaller(&self, divisor: u32) -> Option<Geometry> {
        let Extent { width, height } = self.geometry.valid;
        let extent = Extent::new(width.div_ceil(divisor), height.div_ceil(divisor));
        Geometry::new(extent).ok().filter(|_| extent.width.min(extent.height) >= LEAST)
    }

    /// Shows the picture of a divisor from now on; the whole one where there is none.
    fn take(&mut self, studio: &Studio, divisor: u32) -> Result<()> {
        let divisor = match self.smaller(divisor).filter(|_| divisor > 1) {
            Some(geometry) => {
                if self.small.iter().all(|small| small.divisor != divisor) {
                    self.small.push(Small { divisor, geometry, plain: Plain::new(studio, &geometry)? });
                }
                divisor
            }
            None => 1,
        };
        self.divisor = divisor;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use gpu::testing::TestDevice;
    use renderer::Scene;

    use super::*;

    #[test]
    fn what_changes_is_small_and_what_rests_is_whole() -> Result<()> {
        let device = TestDevice::open()?;
        let studio = Studio::new(&device, Scene::builtin())?;
        let size = Extent::new(130, 140);
        let mut live = Live::new(&studio, &Geometry::new(size)?)?;
        let subject = |time: f64| (studio.scene.path.at(0.0), time, Settings::new(size));
        // Four times as large as is quick: half in each direction.
        live.measured(4.0 * QUICK / size.pixels() as f64);
        assert!(live.wants(&studio, subject(0.0), true, true)?);
        assert_eq!((live.divisor(), live.geometry().valid), (2, Extent::new(65, 70)));
        assert!(!live.wants(&studio, subject(0.0), true, true)?, "it is there");
        live.measured(100.0 * QUICK / size.pixels() as f64);
        assert!(live.wants(&studio, subject(0.1), true, true)?);
        assert_eq!((live.divisor(), live.geometry().valid), (4, Extent::new(33, 35)));
        // At rest it is drawn whole, once; so it is at once where it has to be.
        live.changed -= 2 * REST;
        assert!(live.wants(&studio, subject(0.1), true, true)?);
        assert_eq!((live.divisor(), live.geometry().valid), (1, size));
        assert!(!live.wants(&studio, subject(0.1), true, true)?);
        assert!(live.wants(&studio, subject(0.1), true, false)?, "other noise");
        assert!(live.wants(&studio, subject(0.2), false, true)?);
        assert_eq!(live.divisor(), 1);
        // A quick device draws everything whole, and nothing is smaller than can be seen.
        live.measured(0.5 * QUICK / size.pixels() as f64);
        assert!(live.wants(&studio, subject(0.3), true, true)?);
        assert_eq!(live.divisor(), 1);
        for side in 33..140 {
            let mut tiny = Live::new(&studio, &Geometry::new(Extent::new(side, 64))?)?;
            tiny.measured(1.0);
            assert!(tiny.wants(&studio, subject(0.0), true, true)?);
            assert_eq!(tiny.divisor(), 1, "half of 64 is below the least side");
        }
        device.wait_idle()?;
        drop((live, studio));
        Ok(())
    }
}
