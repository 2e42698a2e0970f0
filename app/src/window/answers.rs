//! How soon the window answers: from an event's arrival to the end of the device's work on the frame that shows its
//! effect.

use std::time::Instant;

use gpu::{Device, Result, Ticket};

/// Events that wait for their frame. At most one waits and one is on the device; others of the same frames are not
/// measured.
#[derive(Debug, Default)]
pub struct Answers {
    waiting: Option<Instant>,
    drawn: Option<(Instant, Ticket)>,
}

impl Answers {
    /// An event has arrived.
    pub fn heard(&mut self, now: Instant) {
        self.waiting.get_or_insert(now);
    }

    /// A frame that shows the effect of everything heard was submitted.
    pub fn shown(&mut self, ticket: Ticket) {
        if self.drawn.is_none() {
            self.drawn = self.waiting.take().map(|since| (since, ticket));
        }
    }

    /// Milliseconds of an answer whose frame has run, once.
    ///
    /// # Errors
    /// The device is lost.
    pub fn poll(&mut self, device: &Device) -> Result<Option<f64>> {
        let Some((since, ticket)) = self.drawn else { return Ok(None) };
        if !device.is_done(ticket)? {
            return Ok(None);
        }
        self.drawn = None;
        Ok(Some(since.elapsed().as_secs_f64() * 1000.0))
    }

    /// Whether a frame is on the device whose end is to be measured.
    pub fn is_waiting(&self) -> bool {
        self.drawn.is_some()
    }
}
