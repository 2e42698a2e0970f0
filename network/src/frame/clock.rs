//! Frame counter, history validity and parity (frame section 5).

/// Which of the two history images a frame reads and writes, and whether what it reads means anything.
///
/// Two histories alternate: a frame of parity `p` reads `history[p]` and writes `history[1 - p]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameClock {
    counter: u32,
    since_reset: u32,
}

impl FrameClock {
    /// Number of frames finished so far; the default noise seed. Not changed by a reset; wraps.
    pub const fn counter(&self) -> u32 {
        self.counter
    }

    /// Frames finished since the last reset.
    pub const fn since_reset(&self) -> u32 {
        self.since_reset
    }

    /// The history that this frame reads, 0 or 1. It writes the other.
    pub const fn parity(&self) -> usize {
        (self.counter & 1) as usize
    }

    /// Whether this frame may use the history, given whether temporal history is enabled.
    pub const fn history_valid(&self, temporal: bool) -> bool {
        temporal && self.since_reset > 0
    }

    /// The next frame starts without history. A resize and a change of model are resets too.
    pub const fn reset(&mut self) {
        self.since_reset = 0;
    }

    /// The frame's history has been written, with the network or without.
    pub const fn finish_frame(&mut self) {
        self.counter = self.counter.wrapping_add(1);
        self.since_reset = self.since_reset.saturating_add(1);
    }

    /// States that `history[parity]` has been written by other means, as when a recorded frame is replayed.
    pub(super) const fn prime(&mut self) {
        if self.since_reset == 0 {
            self.since_reset = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FrameClock;

    #[test]
    fn a_reset_invalidates_one_frame_and_keeps_seed_and_parity() {
        let mut clock = FrameClock::default();
        assert!(!clock.history_valid(true));
        clock.finish_frame();
        assert!(clock.history_valid(true) && !clock.history_valid(false));
        assert_eq!((clock.counter(), clock.parity()), (1, 1));
        clock.reset();
        assert!(!clock.history_valid(true));
        assert_eq!((clock.counter(), clock.parity()), (1, 1));
        clock.finish_frame();
        assert!(clock.history_valid(true));
        assert_eq!((clock.counter(), clock.parity()), (2, 0));
    }

    #[test]
    fn counters_wrap_and_saturate() {
        let mut clock = FrameClock { counter: u32::MAX, since_reset: u32::MAX };
        clock.finish_frame();
        assert_eq!((clock.counter(), clock.since_reset()), (0, u32::MAX));
        clock.reset();
        clock.prime();
        assert!(clock.history_valid(true));
    }
}
