//! Recording the camera's way: keys while a person flies, a file when they are done.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use renderer::{Camera, KeyedPath, PathDocument, PathKey};

use crate::cli::write;

/// Seconds from key to key: few enough to be edited by hand, and smooth in between.
const STEP: f64 = 0.25;
/// Longest recording, seconds.
const LONGEST: f64 = 1800.0;

/// The camera's way since the recording began.
#[derive(Debug, Default)]
pub struct Flight {
    keys: Vec<PathKey>,
    elapsed: f64,
    /// The last camera, which ends the recording.
    last: Option<(f64, Camera)>,
    /// The camera has jumped since the last key.
    cut: bool,
}

impl Flight {
    /// Seconds recorded.
    pub fn seconds(&self) -> f64 {
        self.elapsed
    }

    /// Whether nothing more is taken.
    pub fn is_full(&self) -> bool {
        self.elapsed >= LONGEST
    }

    /// The camera jumped: the next key is a cut. Where it was until now becomes a key, too, so that the
    /// way up to the cut is whole.
    pub fn jump(&mut self) {
        self.end();
        self.cut = !self.keys.is_empty();
    }

    /// A key for the last camera, if it is not one.
    fn end(&mut self) {
        if let Some((time, camera)) = self.last
            && self.keys.last().is_some_and(|key| time > key.time)
        {
            self.keys.push(PathKey { time, camera, cut: false });
        }
    }

    /// The camera, `seconds` after the last call.
    pub fn follow(&mut self, camera: Camera, seconds: f64) {
        if !self.keys.is_empty() {
            self.elapsed += seconds;
        }
        self.last = Some((self.elapsed, camera));
        let due = self.keys.last().is_none_or(|key| self.elapsed - key.time >= STEP);
        if due || (self.cut && self.keys.last().is_some_and(|key| self.elapsed > key.time)) {
            self.keys.push(PathKey { time: self.elapsed, camera, cut: std::mem::take(&mut self.cut) });
        }
    }

    /// The path; `None` when there is nothing to play.
    pub fn path(mut self) -> Option<KeyedPath> {
        self.end();
        self.keys.dedup_by(|later, earlier| later.time <= earlier.time);
        if self.keys.len() < 2 { None } else { KeyedPath::new(self.keys) }
    }
}

/// Writes a path into a folder under the next free name, and returns the name.
///
/// # Errors
/// It cannot be written.
pub fn save(folder: &Path, path: &KeyedPath) -> Result<PathBuf> {
    write::make_folder(folder)?;
    for number in 1..10_000 {
        let file = folder.join(format!("path-{number:03}.json"));
        if !file.exists() {
            write::write_file(&file, PathDocument::of(path).text().as_bytes())?;
            return Ok(file);
        }
    }
    bail!("{} has no free name for a camera path; move some of them away", folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use renderer::folder::load_path;

    fn camera(x: f32) -> Camera {
        Camera::looking_at([x, 1.0, 0.0].into(), [x, 1.0, -1.0].into(), 0.8)
    }

    #[test]
    fn what_was_flown_is_played() -> Result<()> {
        let mut flight = Flight::default();
        for step in 0..=60 {
            flight.follow(camera(step as f32 / 30.0), 1.0 / 30.0);
        }
        flight.jump();
        for step in 0..=30 {
            flight.follow(camera(50.0 + step as f32 / 30.0), 1.0 / 30.0);
        }
        let Some(path) = flight.path() else { bail!("a path") };
        assert!(path.keys().len() < 20, "few keys: {}", path.keys().len());
        let folder = tempfile::tempdir()?;
        let file = save(folder.path(), &path)?;
        assert_ne!(save(folder.path(), &path)?, file, "nothing is overwritten");
        let read = load_path(&file)?;
        for step in 0..60 {
            let time = f64::from(step) / 30.0;
            let x = read.at(time).position.x;
            assert!((f64::from(x) - time).abs() < 0.01, "{x} at {time}");
        }
        assert!(read.cuts(2.0, 2.1) && !read.cuts(0.5, 1.9));
        assert!(read.at(2.5).position.x > 50.0);
        Ok(())
    }

    #[test]
    fn nothing_flown_is_no_path() {
        let mut flight = Flight::default();
        assert!(Flight::default().path().is_none());
        flight.follow(camera(0.0), 0.1);
        assert!(flight.path().is_none());
    }
}
