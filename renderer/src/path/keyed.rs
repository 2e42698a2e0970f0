//! Paths of timed keys: recorded in the viewer, or written by hand.

use super::round::catmull_rom;
use crate::camera::Camera;
use glam::Vec3;

/// One key of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathKey {
    /// Seconds since the path's beginning.
    pub time: f64,
    /// The camera at that instant.
    pub camera: Camera,
    /// Whether the camera jumps here: until this instant it rests at the key before.
    pub cut: bool,
}

/// A path through keys, smooth between cuts (Catmull-Rom with the keys' own times). It begins anew
/// after its last key; that is a cut unless the last key is where the first one is.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedPath {
    keys: Vec<PathKey>,
}

impl KeyedPath {
    /// A path; `None` without keys, or when their times do not ascend from 0.
    #[must_use]
    pub fn new(keys: Vec<PathKey>) -> Option<Self> {
        let ascend = keys.windows(2).all(|w| w[0].time < w[1].time) && keys.iter().all(|k| k.time.is_finite());
        (keys.first()?.time == 0.0 && ascend).then_some(Self { keys })
    }

    /// The keys, by time.
    #[must_use]
    pub fn keys(&self) -> &[PathKey] {
        &self.keys
    }

    /// Seconds from the first key to the last; 0 for a camera that stands still.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.keys[self.keys.len() - 1].time
    }

    fn local(&self, time: f64) -> f64 {
        let seconds = self.seconds();
        if seconds > 0.0 { time.rem_euclid(seconds) } else { 0.0 }
    }

    /// The camera at `time` seconds.
    #[must_use]
    pub fn at(&self, time: f64) -> Camera {
        let t = self.local(time);
        let next = self.keys.partition_point(|k| k.time <= t);
        let index = next.saturating_sub(1);
        let (from, Some(to)) = (&self.keys[index], self.keys.get(next)) else { return self.keys[index].camera };
        if to.cut {
            return from.camera;
        }
        let before = (!from.cut && index > 0).then(|| &self.keys[index - 1]);
        let after = self.keys.get(next + 1).filter(|k| !k.cut);
        let span = to.time - from.time;
        let f = ((t - from.time) / span) as f32;
        let spline = |value: fn(&Camera) -> f32, turns: bool| {
            let near = |v: f32, to: f32| if turns { to + wrapped(v - to) } else { v };
            let b = value(&from.camera);
            let c = near(value(&to.camera), b);
            // Keys at uneven times: the outer points are moved to where they were at even times. Beyond the ends of
            // a shot it goes straight on.
            let outer = |key: Option<&PathKey>, at: f32, other: f32, time: f64| match key {
                Some(key) => at + (near(value(&key.camera), at) - at) * (span / (key.time - time).abs()) as f32,
                None => 2.0 * at - other,
            };
            let points = [outer(before, b, c, from.time), b, c, outer(after, c, b, to.time)];
            catmull_rom(points.map(Vec3::splat), f).x
        };
        Camera {
            position: Vec3::new(
                spline(|c| c.position.x, false),
                spline(|c| c.position.y, false),
                spline(|c| c.position.z, false),
            ),
            yaw: spline(|c| c.yaw, true),
            pitch: spline(|c| c.pitch, false).clamp(-crate::MAX_PITCH, crate::MAX_PITCH),
            fov_y: spline(|c| c.fov_y, false).clamp(0.01, 3.0),
        }
    }

    /// Number of the shot at an instant, and of the round.
    fn shot(&self, time: f64) -> (i64, usize) {
        let t = self.local(time);
        let seconds = self.seconds();
        let round = if seconds > 0.0 { (time / seconds).floor() as i64 } else { 0 };
        let closed = self.keys[0].camera == self.keys[self.keys.len() - 1].camera;
        let shot = self.keys[1..].iter().filter(|k| k.cut && k.time <= t).count();
        (if closed { 0 } else { round }, shot)
    }

    /// Whether the camera jumps between two instants.
    #[must_use]
    pub fn cuts(&self, earlier: f64, later: f64) -> bool {
        self.shot(earlier) != self.shot(later)
    }
}

/// An angle within half a turn of zero.
fn wrapped(angle: f32) -> f32 {
    use std::f32::consts::{PI, TAU};
    (angle + PI).rem_euclid(TAU) - PI
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(time: f64, x: f32, yaw: f32, cut: bool) -> PathKey {
        let camera = Camera { position: Vec3::new(x, 1.0, 0.0), yaw, pitch: 0.0, fov_y: 0.8 };
        PathKey { time, camera, cut }
    }

    fn path() -> KeyedPath {
        let keys = vec![
            key(0.0, 0.0, 6.2, false),
            key(1.0, 1.0, 0.1, false),
            key(3.0, 3.0, 0.2, false),
            key(4.0, 10.0, 1.0, true),
            key(6.0, 12.0, 1.5, false),
        ];
        KeyedPath::new(keys).unwrap()
    }

    #[test]
    fn passes_its_keys_at_a_steady_pace() {
        let path = path();
        for key in path.keys() {
            let camera = path.at(key.time - if key.time == 6.0 { 1e-9 } else { 0.0 });
            assert!((camera.position - key.camera.position).length() < 1e-4, "{}", key.time);
        }
        for i in 0..=30 {
            // One metre a second, whatever the distance of the keys.
            let t = f64::from(i) * 0.1;
            let x = path.at(t).position.x;
            assert!((x - t as f32).abs() < 1e-4, "{x} at {t}");
        }
        let yaw = path.at(0.5).yaw;
        assert!(wrapped(yaw - 0.0).abs() < 0.1, "it turns the short way, {yaw}");
    }

    #[test]
    fn cuts_are_known() {
        let path = path();
        assert_eq!(path.at(3.9).position.x, 3.0, "it rests before a cut");
        assert!(path.cuts(3.9, 4.0) && !path.cuts(3.8, 3.9) && !path.cuts(4.0, 5.9));
        assert!(path.cuts(5.9, 6.0), "it begins anew elsewhere");
        let still = KeyedPath::new(vec![key(0.0, 1.0, 0.0, false)]).unwrap();
        assert!(!still.cuts(0.0, 100.0));
        assert_eq!(still.at(50.0).position.x, 1.0);
        let closed =
            KeyedPath::new(vec![key(0.0, 1.0, 0.0, false), key(1.0, 2.0, 0.0, false), key(2.0, 1.0, 0.0, false)]);
        assert!(!closed.unwrap().cuts(1.9, 2.1));
    }

    #[test]
    fn times_must_ascend() {
        assert!(KeyedPath::new(Vec::new()).is_none());
        assert!(KeyedPath::new(vec![key(1.0, 0.0, 0.0, false)]).is_none());
        assert!(KeyedPath::new(vec![key(0.0, 0.0, 0.0, false), key(0.0, 1.0, 0.0, false)]).is_none());
    }
}
