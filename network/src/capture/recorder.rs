//! The writer on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::error::CaptureError;
use super::frame::CapturedFrame;
use super::writer::Writer;

/// A [`Writer`] behind a queue of a fixed number of frames, which bounds the memory in use.
pub struct Recorder {
    queue: Option<SyncSender<CapturedFrame>>,
    thread: Option<JoinHandle<Result<Writer, CaptureError>>>,
    written: Arc<AtomicUsize>,
}

impl Recorder {
    /// Starts the thread; at most `depth` frames wait.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(mut writer: Writer, depth: usize) -> Result<Self, CaptureError> {
        let (queue, frames) = sync_channel::<CapturedFrame>(depth);
        let written = Arc::new(AtomicUsize::new(writer.frames()));
        let count = Arc::clone(&written);
        let thread = std::thread::Builder::new()
            .name("capture".into())
            .spawn(move || {
                for frame in frames {
                    writer.add(&frame)?;
                    count.store(writer.frames(), Ordering::Relaxed);
                }
                Ok(writer)
            })
            .map_err(|source| CaptureError::Write { path: "capture".into(), source })?;
        Ok(Self { queue: Some(queue), thread: Some(thread), written })
    }

    /// Frames that are in the bundle.
    pub fn written(&self) -> usize {
        self.written.load(Ordering::Relaxed)
    }

    /// Hands a frame over; waits while the queue is full.
    ///
    /// # Errors
    /// The thread has failed; the error is its own.
    pub fn push(&mut self, frame: CapturedFrame) -> Result<(), CaptureError> {
        match &self.queue {
            Some(queue) if queue.send(frame).is_ok() => Ok(()),
            _ => Err(self.failure()),
        }
    }

    /// Writes what waits, then finishes the bundle.
    ///
    /// # Errors
    /// A frame or the manifest could not be written. Frames before it are whole.
    pub fn finish(mut self) -> Result<usize, CaptureError> {
        self.queue = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Ok(writer))) => {
                let frames = writer.frames();
                writer.finish()?;
                Ok(frames)
            }
            Some(Ok(Err(error))) => Err(error),
            Some(Err(_)) | None => Err(CaptureError::Stopped),
        }
    }

    fn failure(&mut self) -> CaptureError {
        self.queue = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => error,
            _ => CaptureError::Stopped,
        }
    }
}

impl Drop for Recorder {
    /// Frames that wait are written; the bundle stays unfinished.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}
