//! The F3 key: a number of frames, one after the other, into a folder of PNG files, or through ffmpeg into one file where
//! that is on the PATH. The pictures are those of the window before the overlay, as a screenshot's.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, channel, sync_channel};
use std::time::SystemTime;

use anyhow::{Context as _, Result, bail, ensure};

use super::News;
use super::screenshot::Pixels;
use crate::cli::write;

/// Frames that may wait for the writer: beyond that, drawing waits, so that memory stays bounded and no frame is lost.
const QUEUE: usize = 4;
/// Frames a second of the clip, and of the scene's time while it is recorded.
pub const RATE: u32 = 30;
/// Numbers of frames that a clip may have.
pub const LENGTHS: std::ops::RangeInclusive<u32> = 1..=3600;

/// A clip being recorded or written.
pub struct Clip {
    frames: Option<SyncSender<Pixels>>,
    done: Receiver<Result<Written>>,
    extent: Option<[u32; 2]>,
    total: u32,
    taken: u32,
    video: bool,
}

/// What became of a clip.
struct Written {
    path: PathBuf,
    frames: u32,
}

/// How far a clip has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Progress {
    /// Frames taken.
    pub taken: u32,
    /// Frames wanted.
    pub total: u32,
    /// Whether only the writer has still to do.
    pub writing: bool,
}

impl Clip {
    /// Begins a clip of `total` frames in `folder`, through `ffmpeg` if one is given.
    ///
    /// # Errors
    /// The folder cannot be written to, or no thread can be started.
    pub fn start(folder: &Path, total: u32, ffmpeg: Option<PathBuf>) -> Result<Self> {
        write::make_folder(folder)?;
        let (frames, incoming) = sync_channel(QUEUE);
        let (finished, done) = channel();
        let video = ffmpeg.is_some();
        let path = free_name(folder, if video { ".mp4" } else { "" })?;
        std::thread::Builder::new().name("clip".into()).spawn(move || {
            let written = match ffmpeg {
                Some(program) => encode(&program, &path, &incoming),
                None => number(&path, &incoming),
            };
            // Whoever still sends frames is not kept waiting by a writer that has failed.
            drop(incoming);
            _ = finished.send(written.map(|frames| Written { path, frames }));
        })?;
        Ok(Self { frames: Some(frames), done, extent: None, total, taken: 0, video })
    }

    /// Whether another frame is wanted.
    pub fn wants(&self) -> bool {
        self.frames.is_some()
    }

    /// Takes a frame; waits while the writer is behind. After the last one, or one of another size, only the writer works
    /// on.
    pub fn take(&mut self, pixels: Pixels) {
        let Some(frames) = &self.frames else { return };
        let extent = *self.extent.get_or_insert(pixels.extent);
        if extent != pixels.extent || frames.send(pixels).is_err() {
            self.end();
            return;
        }
        self.taken += 1;
        if self.taken == self.total {
            self.end();
        }
    }

    /// No more frames: what was taken is written.
    pub fn end(&mut self) {
        self.frames = None;
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        Progress { taken: self.taken, total: self.total, writing: self.frames.is_none() }
    }

    /// What became of it, once, when everything is written.
    pub fn news(&mut self) -> Option<News> {
        match self.done.try_recv() {
            Ok(result) => Some(self.told(result)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err("the clip failed".to_owned())),
        }
    }

    /// Ends it and waits for the writer.
    pub fn finish(mut self) -> News {
        self.end();
        match self.done.recv() {
            Ok(result) => self.told(result),
            Err(_) => Err("the clip failed".to_owned()),
        }
    }

    fn told(&self, result: Result<Written>) -> News {
        match result {
            Ok(Written { path, frames }) => {
                let short = if frames < self.total { format!(" of {}", self.total) } else { String::new() };
                let form = if self.video { "" } else { " PNG files" };
                Ok(format!("clip of {frames}{short} frames:{form} {}", path.display()))
            }
            Err(error) => Err(format!("the clip failed: {error:#}")),
        }
    }
}

/// ffmpeg, where the PATH has it.
pub fn ffmpeg() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("ffmpeg")).find(|file| file.is_file())
}

/// Writes frames as numbered files into a new folder.
fn number(folder: &Path, frames: &Receiver<Pixels>) -> Result<u32> {
    write::make_folder(folder)?;
    let mut count = 0;
    for Pixels { extent: [width, height], bytes, .. } in frames {
        count += 1;
        write::write_png(&folder.join(format!("frame-{count:05}.png")), width, height, &bytes)?;
    }
    Ok(count)
}

/// Sends frames through ffmpeg.
fn encode(program: &Path, path: &Path, frames: &Receiver<Pixels>) -> Result<u32> {
    let Ok(first) = frames.recv() else { return Ok(0) };
    let [width, height] = first.extent;
    let mut child = Command::new(program)
        .args(["-hide_banner", "-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format", "rgba"])
        .args(["-video_size", &format!("{width}x{height}"), "-framerate", &RATE.to_string(), "-i", "-"])
        // Players want even sides.
        .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"])
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} does not start", program.display()))?;
    let mut stdin = child.stdin.take().context("ffmpeg has no input")?;
    let mut count = 0;
    let mut sent = Ok(());
    for pixels in std::iter::once(first).chain(frames) {
        sent = stdin.write_all(&pixels.bytes);
        if sent.is_err() {
            break;
        }
        count += 1;
    }
    drop(stdin);
    let output = child.wait_with_output()?;
    if !output.status.success() || sent.is_err() {
        let text = String::from_utf8_lossy(&output.stderr);
        bail!("ffmpeg: {}", text.lines().last().unwrap_or("it ended early without a word"));
    }
    Ok(count)
}

/// A name that nothing has.
fn free_name(folder: &Path, end: &str) -> Result<PathBuf> {
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let name = |number: u32| folder.join(format!("clip-{seconds}-{number}{end}"));
    let found = (1..10_000).map(name).find(|path| !path.exists());
    ensure!(found.is_some(), "{} has no name left for a clip", folder.display());
    found.context("no name")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(value: u8) -> Pixels {
        Pixels::new([2, 1], vec![value, 0, 0, 255, 0, value, 0, 255])
    }

    #[test]
    fn frames_become_numbered_files() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let mut clip = Clip::start(folder.path(), 6, None)?;
        for value in 0..6 {
            assert!(clip.wants());
            clip.take(frame(value));
        }
        assert!(!clip.wants());
        assert_eq!(clip.progress(), Progress { taken: 6, total: 6, writing: true });
        let told = clip.finish().unwrap();
        assert!(told.starts_with("clip of 6 frames: PNG files"), "{told}");
        let path = told.rsplit(' ').next().unwrap_or_default();
        let last = image::open(Path::new(path).join("frame-00006.png"))?.to_rgb8();
        assert_eq!(last.get_pixel(0, 0).0, [5, 0, 0]);
        Ok(())
    }

    #[test]
    fn a_clip_that_is_ended_keeps_what_it_has() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let mut clip = Clip::start(folder.path(), 100, None)?;
        clip.take(frame(1));
        clip.take(Pixels::new([1, 1], vec![0; 4]));
        assert!(!clip.wants(), "another size ends it");
        assert!(clip.finish().is_ok_and(|told| told.starts_with("clip of 1 of 100 frames")));
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn frames_go_through_ffmpeg() -> Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir()?;
        let program = folder.path().join("ffmpeg");
        let stand_in = |text: &str| -> Result<()> {
            std::fs::write(&program, format!("#!/bin/sh\n{text}\n"))?;
            Ok(std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?)
        };
        // Stands in for ffmpeg: keeps what it is given in the file named last.
        stand_in("for last; do :; done; cat > \"$last\"")?;
        let mut clip = Clip::start(folder.path(), 3, Some(program.clone()))?;
        (1..=3).for_each(|value| clip.take(frame(value)));
        let told = clip.finish().unwrap();
        assert!(told.starts_with("clip of 3 frames: "), "{told}");
        let bytes = std::fs::read(told.rsplit(' ').next().unwrap_or_default())?;
        assert_eq!((bytes.len(), bytes[0], bytes[16]), (24, 1, 3));
        stand_in("echo 'no encoder here' >&2; exit 1")?;
        let mut clip = Clip::start(folder.path(), 3, Some(program))?;
        (1..=3).for_each(|value| clip.take(frame(value)));
        assert_eq!(clip.finish(), Err("the clip failed: ffmpeg: no encoder here".to_owned()));
        Ok(())
    }
}
