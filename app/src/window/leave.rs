//! Leaving while something is being loaded: a person who closes the window does not wait for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a loading thread may take to notice that it is not wanted, once the window is closed.
const PATIENCE: Duration = Duration::from_millis(600);

static LEAVING: AtomicBool = AtomicBool::new(false);
/// What stopped the viewer, where it was not a person.
static FAILURE: Mutex<Option<String>> = Mutex::new(None);

/// The window is closed because of this: whoever ends the process has to say it.
pub fn because(failure: String) {
    *FAILURE.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
}

/// The window is closed and everything of the person's is saved: from now on nothing is waited for long.
pub fn begin() {
    LEAVING.store(true, Ordering::Relaxed);
}

/// Waits for a thread that was told to stop. It may be inside of a driver that compiles for seconds: once the window is
/// closed the process then ends here, since the device that the thread uses cannot be taken down under it.
pub fn join<T>(thread: JoinHandle<T>) {
    let since = Instant::now();
    while LEAVING.load(Ordering::Relaxed) && !thread.is_finished() {
        if since.elapsed() > PATIENCE {
            if let Some(failure) = FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take() {
                eprintln!("nrview: {failure}");
                gpu::leave_process(2);
            }
            tracing::info!("ended while something was being loaded");
            gpu::leave_process(0);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    _ = thread.join();
}
