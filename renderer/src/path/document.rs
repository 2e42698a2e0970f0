//! Camera paths as JSON.

use super::{CameraPath, KeyedPath, PathKey};
use crate::camera::{Camera, MAX_PITCH};
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// The `format` of a path file.
pub const FORMAT: &str = "nrview-camera-path";
/// The version that is read and written.
const VERSION: u32 = 1;
/// Most keys of a path.
const KEYS: usize = 100_000;
/// Largest distance from the origin, metres.
const FAR: f32 = 1e6;

/// A file with one camera path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathDocument {
    format: String,
    version: u32,
    keys: Vec<KeyDocument>,
}

/// A key, in the units of people: metres, seconds, degrees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyDocument {
    /// Seconds since the beginning; 0 at first.
    #[serde(default)]
    time: f64,
    /// Place of the camera.
    position: [f32; 3],
    /// The point in the middle of the picture; or yaw and pitch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<[f32; 3]>,
    /// Turn to the right from -z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    yaw: Option<f32>,
    /// Turn upwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pitch: Option<f32>,
    /// Vertical field of view; that of the key before without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fov: Option<f32>,
    /// The camera jumps here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

/// Keys as a path. The error says which key is wrong, and why.
pub(crate) fn path_of(keys: &[KeyDocument]) -> Result<CameraPath, String> {
    if keys.is_empty() {
        return Err("a path needs at least one key".to_owned());
    }
    if keys.len() > KEYS {
        return Err(format!("it has {} keys, and at most {KEYS} are read", keys.len()));
    }
    let mut made = Vec::with_capacity(keys.len());
    let mut fov = 45.0;
    for (i, key) in keys.iter().enumerate() {
        fov = key.fov.unwrap_or(fov);
        let camera = key.camera(fov).map_err(|reason| format!("key {i}: {reason}"))?;
        if !(0.0..=1e6).contains(&key.time) || (i == 0) != (key.time == 0.0) {
            return Err(format!("key {i}: the times must ascend from 0, and {} does not", key.time));
        }
        made.push(PathKey { time: key.time, camera, cut: key.cut && i > 0 });
    }
    KeyedPath::new(made).map(CameraPath::Keyed).ok_or_else(|| "the times of the keys must ascend from 0".to_owned())
}

impl KeyDocument {
    fn camera(&self, fov: f32) -> Result<Camera, String> {
        let point = |name: &str, p: [f32; 3]| {
            let good = p.iter().all(|v| v.abs() <= FAR);
            if good { Ok(Vec3::from(p)) } else { Err(format!("{name} {p:?} is farther than {FAR} m")) }
        };
        let position = point("position", self.position)?;
        if !(1.0..=150.0).contains(&fov) {
            return Err(format!("fov {fov} is not within 1 to 150 degrees"));
        }
        let fov_y = fov.to_radians();
        match (self.target, self.yaw, self.pitch) {
            (Some(target), None, None) => {
                let target = point("target", target)?;
                if (target - position).length() < 1e-6 {
                    return Err("target and position are the same".to_owned());
                }
                Ok(Camera::looking_at(position, target, fov_y))
            }
            (None, Some(yaw), pitch) => {
                let pitch = pitch.unwrap_or(0.0);
                if yaw.abs() > 1e4 || pitch.abs() > 90.0 {
                    return Err(format!("yaw {yaw} or pitch {pitch} is out of range"));
                }
                let pitch = pitch.to_radians().clamp(-MAX_PITCH, MAX_PITCH);
                Ok(Camera { position, yaw: yaw.to_radians(), pitch, fov_y })
            }
            _ => Err("give either a target, or a yaw and a pitch".to_owned()),
        }
    }
}

impl PathDocument {
    /// A recorded path.
    #[must_use]
    pub fn of(path: &KeyedPath) -> Self {
        // Tenths of a millimetre, and of a pixel at any size: readable, and no more than that.
        let round = |v: f32| (f64::from(v) * 1e4).round() as f32 / 1e4;
        let key = |k: &PathKey| KeyDocument {
            time: (k.time * 1e4).round() / 1e4,
            position: k.camera.position.to_array().map(round),
            target: None,
            yaw: Some(round(k.camera.yaw.to_degrees())),
            pitch: Some(round(k.camera.pitch.to_degrees())),
            fov: Some(round(k.camera.fov_y.to_degrees())),
            cut: k.cut,
        };
        Self { format: FORMAT.to_owned(), version: VERSION, keys: path.keys().iter().map(key).collect() }
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// One sentence about what is wrong with it.
    pub fn parse(text: &str) -> Result<CameraPath, String> {
        let document: Self = serde_json::from_str(text).map_err(|error| messages::shortened(&error))?;
        if document.format != FORMAT || document.version != VERSION {
            let (format, version) = (messages::quoted(&document.format), document.version);
            return Err(format!("its format is {format}, version {version}, not {FORMAT:?}, version {VERSION}"));
        }
        path_of(&document.keys)
    }

    /// The text of a file.
    #[must_use]
    pub fn text(&self) -> String {
        let head = format!("{{\n  \"format\": \"{FORMAT}\",\n  \"version\": {VERSION},\n  \"keys\": [\n");
        // A key a line, so that a person can edit them.
        let keys: Vec<String> =
            self.keys.iter().map(|k| format!("    {}", serde_json::to_string(k).unwrap_or_default())).collect();
        format!("{head}{}\n  ]\n}}\n", keys.join(",\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(keys: &str) -> String {
        format!(r#"{{"format": "nrview-camera-path", "version": 1, "keys": [{keys}]}}"#)
    }

    #[test]
    fn what_is_written_is_read() {
        let keys = r#"{"position": [1, 2, 3], "target": [0, 0, 0]},
            {"time": 1.5, "position": [4, 2, 3], "yaw": 90, "pitch": -10, "fov": 30, "cut": true}"#;
        let CameraPath::Keyed(path) = PathDocument::parse(&text(keys)).unwrap() else { panic!("keys") };
        assert_eq!(path.keys().len(), 2);
        assert!(path.keys()[1].cut && (path.keys()[1].camera.axes().forward.x - 0.9848).abs() < 1e-3);
        let written = PathDocument::of(&path).text();
        let CameraPath::Keyed(again) = PathDocument::parse(&written).unwrap() else { panic!("keys") };
        for (a, b) in path.keys().iter().zip(again.keys()) {
            assert!((a.camera.position - b.camera.position).length() < 1e-3);
            assert!((a.camera.axes().forward - b.camera.axes().forward).length() < 1e-4);
        }
        assert_eq!(PathDocument::of(&again).text(), written, "written twice, it is the same");
    }

    #[test]
    fn refusals_say_why() {
        for (keys, words) in [
            ("", "at least one key"),
            (r#"{"position": [1, 2, 3]}"#, "either a target"),
            (r#"{"position": [1, 2, 3], "target": [1, 2, 3]}"#, "the same"),
            (r#"{"position": [1, 2, 3], "yaw": 0, "fov": 0}"#, "fov 0"),
            (r#"{"position": [1, 2, 3], "yaw": 0, "speed": 1}"#, "speed"),
            (r#"{"position": [1e30, 2, 3], "yaw": 0}"#, "farther"),
            (r#"{"position": [1, 2, 3], "yaw": 0, "time": 1}"#, "ascend"),
            (r#"{"position": [1, 2, 3], "yaw": 0}, {"time": 0, "position": [1, 2, 3], "yaw": 0}"#, "ascend"),
        ] {
            let reason = PathDocument::parse(&text(keys)).unwrap_err();
            assert!(reason.contains(words), "{keys}: {reason}");
        }
        assert!(PathDocument::parse("{}").is_err());
    }
}
