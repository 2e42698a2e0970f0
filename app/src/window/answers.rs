//! How soon the window answers: from an event's arrival to the end of the device's work on the frame that shows its
//! effect. An event that came while the program was busy counts from the beginning of that work: it may have waited
//! for so long.

use std::time::{Duration, Instant};

use gpu::{Device, Result, Ticket};

/// A shorter time from one turn of the event loop to the next is no waiting for events.
const WAITING: Duration = Duration::from_millis(1);

/// For so long an event is taken to be about to be answered.
const SOON: Duration = Duration::from_millis(150);

/// Events that wait for their frame. At most one waits and one is on the device; others of the same frames are not
/// measured.
#[derive(Debug)]
pub struct Answers {
    /// When the present turn of the event loop began, and when the one before had ended.
    turn: Instant,
    rested: Instant,
    /// When the events of this turn may have come.
    since: Instant,
    waiting: Option<Heard>,
    drawn: Option<(Heard, Ticket)>,
}

/// An event.
#[derive(Clone, Copy, Debug)]
struct Heard {
    at: Instant,
    /// Whether a frame of the network was in work.
    computing: bool,
}

/// An answer that has been seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Milliseconds that it took.
    pub ms: f64,
    /// Whether a frame of the network was in work when it was asked for.
    pub computing: bool,
}

impl Answers {
    /// Nothing has been heard yet.
    pub fn new(now: Instant) -> Self {
        Self { turn: now, rested: now, since: now, waiting: None, drawn: None }
    }

    /// A turn of the event loop begins.
    pub fn begins(&mut self, now: Instant) {
        // While the loop waits, an event begins the turn.
        self.since = if now.saturating_duration_since(self.rested) > WAITING { now } else { self.turn };
        self.turn = now;
    }

    /// The turn ends: from now on the loop waits, unless it has something to do.
    pub fn ends(&mut self, now: Instant) {
        self.rested = now;
    }

    /// There is an event in this turn.
    pub fn heard(&mut self, computing: bool) {
        self.waiting.get_or_insert(Heard { at: self.since, computing });
    }

    /// A frame that shows the effect of everything heard was submitted.
    pub fn shown(&mut self, ticket: Ticket) {
        if self.drawn.is_none() {
            self.drawn = self.waiting.take().map(|heard| (heard, ticket));
        }
    }

    /// An answer whose frame has run, once.
    ///
    /// # Errors
    /// The device is lost.
    pub fn poll(&mut self, device: &Device) -> Result<Option<Answer>> {
        let Some((heard, ticket)) = self.drawn else { return Ok(None) };
        if !device.is_done(ticket)? {
            return Ok(None);
        }
        self.drawn = None;
        Ok(Some(Answer { ms: heard.at.elapsed().as_secs_f64() * 1000.0, computing: heard.computing }))
    }

    /// Whether somebody waits for an answer that is about to come. A window that is not drawn never answers.
    pub fn owes(&self, now: Instant) -> bool {
        let oldest = self.drawn.map(|(heard, _)| heard).or(self.waiting);
        oldest.is_some_and(|heard| now.saturating_duration_since(heard.at) < SOON)
    }

    /// Whether a frame is on the device whose end is to be measured.
    pub fn is_waiting(&self) -> bool {
        self.drawn.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_counts_from_when_it_may_have_come() {
        let start = Instant::now();
        let after = |ms: u64| start + Duration::from_millis(ms);
        let mut answers = Answers::new(start);
        // The loop waited for ten milliseconds.
        answers.begins(after(10));
        answers.heard(false);
        assert_eq!(answers.waiting.map(|heard| heard.at), Some(after(10)));
        // It was busy up to now: the event may have come at once after the last turn had begun.
        answers.waiting = None;
        answers.ends(after(60));
        answers.begins(after(60));
        answers.heard(true);
        assert_eq!(answers.waiting.map(|heard| (heard.at, heard.computing)), Some((after(10), true)));
        // It is owed, but not for ever.
        assert!(answers.owes(after(60)) && !answers.owes(after(10) + SOON));
    }
}
