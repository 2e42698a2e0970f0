//! Progress lines of long commands, on the error stream of a terminal only.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar over `total` units of work. Hidden where the error stream is not a terminal.
pub fn bar(total: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} % {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
