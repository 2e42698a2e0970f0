//! Progress of long commands, on the error stream: a bar on a terminal, elsewhere a line now and then.

use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Time between two lines where there is no terminal. What is over sooner says nothing.
const EVERY: Duration = Duration::from_secs(15);

/// How far some work is.
pub struct Progress {
    bar: ProgressBar,
    what: &'static str,
    every: Duration,
    /// When the last line was due.
    last: Mutex<Instant>,
}

/// Progress over `total` units of work.
pub fn bar(total: u64, what: &'static str) -> Progress {
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} % {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(250));
    Progress { bar, what, every: EVERY, last: Mutex::new(Instant::now()) }
}

impl Progress {
    /// So many units more are done.
    pub fn inc(&self, units: u64) {
        self.bar.inc(units);
        self.tell();
    }

    /// So many units are done.
    pub fn set_position(&self, units: u64) {
        self.bar.set_position(units);
        self.tell();
    }

    /// There are so many units.
    pub fn set_length(&self, total: u64) {
        self.bar.set_length(total);
    }

    /// The work is over.
    pub fn finish_and_clear(&self) {
        self.bar.finish_and_clear();
    }

    fn tell(&self) {
        if let Some(line) = self.line() {
            // A closed error stream is no reason to stop.
            _ = writeln!(io::stderr(), "{line}");
        }
    }

    /// The line that is due, where the bar cannot be seen.
    fn line(&self) -> Option<String> {
        if !self.bar.is_hidden() {
            return None;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() < self.every {
            return None;
        }
        *last = Instant::now();
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
        Some(format!("{}: {done} of {all}, {} s", self.what, self.bar.elapsed().as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_there_is_a_line_now_and_then() {
        let progress = |bar, every| Progress { bar, what: "frames", every, last: Mutex::new(Instant::now()) };
        let often = progress(ProgressBar::hidden(), Duration::ZERO);
        often.set_length(3);
        often.inc(1);
        assert_eq!(often.line().as_deref(), Some("frames: 1 of 3, 0 s"));
        often.set_position(3);
        assert_eq!(often.line().as_deref(), Some("frames: 3 of 3, 0 s"));
        assert_eq!(progress(ProgressBar::hidden(), EVERY).line(), None);
    }
}
