//! When the window draws.

use std::time::{Duration, Instant};

/// Shortest time between two frames: displays that do not pace would draw hundreds a second.
const FASTEST: Duration = Duration::from_micros(6900);
/// Time between two frames while nothing changes but the progress of a slow frame: drawing takes time from it. What a
/// person does is drawn at once.
const CALM: Duration = Duration::from_millis(125);
/// How long after an input a person counts as being at the controls.
const ATTENTION: Duration = Duration::from_millis(500);
/// After an answer the work goes on for at least this share of the time that it was held up.
const SHARE: f64 = 0.5;
/// How often a frame in work is looked after.
const POLL: Duration = Duration::from_millis(2);

/// Decides when to draw next.
#[derive(Debug)]
pub struct Pacing {
    drawn: Instant,
    touched: Instant,
    /// When the overlay wants to be drawn again.
    wish: Option<Instant>,
}

impl Pacing {
    /// Draws at once.
    pub fn new(now: Instant) -> Self {
        Self { drawn: now.checked_sub(CALM).unwrap_or(now), touched: now, wish: None }
    }

    /// A person did something.
    pub fn touched(&mut self, now: Instant) {
        self.touched = now;
    }

    /// A frame was drawn; the overlay wants another one after `delay`.
    pub fn drawn(&mut self, now: Instant, delay: Duration) {
        self.drawn = now;
        self.wish = now.checked_add(delay);
    }

    /// Whether a person did something a moment ago.
    pub fn is_attentive(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.touched) < ATTENTION
    }

    /// When the next frame is due. `calm`: nothing changes by itself but the progress of a slow frame. Without `vsync` at
    /// once.
    pub fn due(&self, calm: bool, vsync: bool) -> Instant {
        let fastest = if vsync { FASTEST } else { Duration::ZERO };
        let interval = if calm && self.touched <= self.drawn { CALM } else { fastest };
        let due = self.drawn + interval;
        match self.wish {
            Some(wish) => due.min(wish.max(self.drawn + fastest)),
            None => due,
        }
    }

    /// When to look after a frame in work again.
    pub fn poll(&self, now: Instant) -> Instant {
        now + POLL
    }
}

/// When the work on a slow frame gives way to an answer that is owed. Between two answers it goes on for a while, so that it
/// ends, too, where a hand never rests.
#[derive(Debug)]
pub struct Courtesy {
    /// Since when it gives way.
    since: Option<Instant>,
    /// It does not before.
    next: Instant,
}

impl Courtesy {
    /// Nothing is owed.
    pub fn new(now: Instant) -> Self {
        Self { since: None, next: now }
    }

    /// An answer has been given.
    pub fn answered(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            self.next = now + now.saturating_duration_since(since).mul_f64(SHARE);
        }
    }

    /// Whether the work gives way, when an answer is `owed` or not.
    pub fn gives_way(&mut self, now: Instant, owed: bool) -> bool {
        if !owed {
            self.answered(now);
        } else if now >= self.next {
            self.since.get_or_insert(now);
        }
        self.since.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_gives_way_to_answers_and_is_not_held_up_for_ever() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut courtesy = Courtesy::new(start);
        assert!(!courtesy.gives_way(at(0), false));
        assert!(courtesy.gives_way(at(10), true) && courtesy.gives_way(at(40), true));
        // The next one is owed already.
        courtesy.answered(at(50));
        assert!(!courtesy.gives_way(at(50), true) && !courtesy.gives_way(at(69), true));
        assert!(courtesy.gives_way(at(70), true));
        // It is taken back, or does not come.
        assert!(!courtesy.gives_way(at(90), false));
        assert!(!courtesy.gives_way(at(99), true) && courtesy.gives_way(at(100), true));
    }

    #[test]
    fn slow_frames_are_not_disturbed_and_people_are_heard() {
        let start = Instant::now();
        let mut pacing = Pacing::new(start);
        assert!(pacing.due(false, true) <= start);
        pacing.drawn(start, Duration::MAX);
        assert_eq!(pacing.due(true, true), start + CALM);
        assert_eq!(pacing.due(false, true), start + FASTEST);
        assert_eq!(pacing.due(false, false), start);
        let later = start + Duration::from_secs(2);
        pacing.touched(later);
        assert_eq!(pacing.due(true, true), start + FASTEST, "what a person does is shown");
        pacing.drawn(later, Duration::MAX);
        assert_eq!(pacing.due(true, true), later + CALM, "once");
        assert!(pacing.is_attentive(later));
        pacing.drawn(later, Duration::from_millis(50));
        assert_eq!(pacing.due(true, true), later + Duration::from_millis(50));
    }
}
