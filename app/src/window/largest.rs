//! The largest frame that fits on the device, as a share of the view. To know it, the tensors of large frames are placed:
//! a tenth of a second, on a thread of its own.

use std::sync::Arc;
use std::thread::JoinHandle;

use gpu::Device;

use crate::engine::fit;

/// Largest share of the view, in percent, that is offered.
const LARGEST: f32 = 400.0;
/// Views that are remembered: with the panel and without, windowed and in fullscreen.
const REMEMBERED: usize = 4;

/// A view's width and height, and the bytes that the present frame would give back.
type Question = ([u32; 2], u64);

/// What is known, and what is being found out.
#[derive(Default)]
pub struct Largest {
    known: Vec<(Question, f32)>,
    asked: Option<(Question, JoinHandle<f32>)>,
}

impl Largest {
    /// The largest share of a view, in percent, once it is known; never waits.
    pub fn of(&mut self, device: &Arc<Device>, view: [u32; 2], held: u64) -> Option<f32> {
        let question = (view, held);
        if let Some((asked, thread)) = self.asked.take_if(|(_, thread)| thread.is_finished())
            && let Ok(found) = thread.join()
        {
            if self.known.len() == REMEMBERED {
                self.known.remove(0);
            }
            self.known.push((asked, found));
        }
        let known = self.known.iter().find(|(of, _)| *of == question).map(|(_, found)| *found);
        if known.is_none() && self.asked.is_none() {
            let device = Arc::clone(device);
            let find = move || fit::largest_percent(&device, view, LARGEST, held);
            self.asked = Some((question, std::thread::spawn(find)));
        }
        known
    }
}

impl Drop for Largest {
    fn drop(&mut self) {
        // It has the device.
        if let Some((_, thread)) = self.asked.take() {
            _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gpu::testing::TestDevice;

    use super::*;

    #[test]
    fn it_is_found_out_once_and_beside_the_window() -> anyhow::Result<()> {
        let device = TestDevice::open()?;
        let mut largest = Largest::default();
        let wait = |largest: &mut Largest, view: [u32; 2]| {
            assert_eq!(largest.of(&device, view, 0), None);
            loop {
                match largest.of(&device, view, 0) {
                    Some(found) => break found,
                    None => std::thread::sleep(Duration::from_millis(1)),
                }
            }
        };
        assert_eq!(wait(&mut largest, [64, 64]), fit::largest_percent(&device, [64, 64], LARGEST, 0));
        for side in 65..65 + REMEMBERED as u32 {
            wait(&mut largest, [side, 64]);
        }
        assert_eq!(largest.known.len(), REMEMBERED);
        assert!(largest.of(&device, [65, 64], 0).is_some());
        // A view that is asked for and left is no trouble.
        assert_eq!(largest.of(&device, [640, 640], 0), None);
        Ok(())
    }
}
