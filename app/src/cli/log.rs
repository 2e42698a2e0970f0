//! Log lines: on the error stream, and the last of them kept for a report.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Lines kept.
const KEPT: usize = 2000;

static LAST: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// Starts logging: warnings by default, `NRVIEW_LOG` overrides `-v`.
pub fn start(verbose: u8) {
    let level = ["warn,nrview=info,winit=error", "info", "debug", "trace"][usize::from(verbose.min(3))];
    let filter = EnvFilter::try_from_env("NRVIEW_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(Tee)
        .with_ansi(coloured(io::IsTerminal::is_terminal(&io::stderr()), std::env::var_os("NO_COLOR").as_deref()))
        .with_target(false)
        .without_time()
        .init();
}

/// Whether lines have colours: on a terminal, unless `NO_COLOR` says something (<https://no-color.org>).
fn coloured(terminal: bool, no_color: Option<&OsStr>) -> bool {
    terminal && no_color.is_none_or(OsStr::is_empty)
}

/// The last lines, without colours.
pub fn last() -> Vec<String> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}

/// Writes to the error stream and keeps a copy.
struct Tee;

impl<'a> MakeWriter<'a> for Tee {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Self
    }
}

impl Write for Tee {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        keep(&String::from_utf8_lossy(bytes));
        // A closed error stream is no reason to stop.
        _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        _ = io::stderr().flush();
        Ok(())
    }
}

fn keep(text: &str) {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    for line in text.lines() {
        if last.len() == KEPT {
            last.pop_front();
        }
        last.push_back(plain(line));
    }
}

/// A line without the colours of a terminal.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            // Colours are ESC [ numbers m.
            rest.by_ref().find(|c| c.is_ascii_alphabetic());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_and_can_be_refused() {
        assert!(coloured(true, None) && coloured(true, Some(OsStr::new(""))));
        assert!(!coloured(true, Some(OsStr::new("1"))) && !coloured(false, None));
    }

    #[test]
    fn the_last_lines_are_kept_without_colours() {
        (0..KEPT + 5).for_each(|line| keep(&format!("\u{1b}[33m WARN\u{1b}[0m line {line}\n")));
        let last = last();
        assert_eq!((last.len(), last[KEPT - 1].as_str()), (KEPT, format!(" WARN line {}", KEPT + 4).as_str()));
    }
}
