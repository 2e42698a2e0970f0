//! Submitting work and waiting for it.

use crate::command::CommandBuffer;
use crate::device::Device;
use crate::error::{Error, Result};
use ash::vk;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

/// Names one submission. Later submissions compare greater, and finish later.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ticket(pub(crate) u64);

/// A binary semaphore a submission waits for; comes from [`crate::Frame`].
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    pub(crate) semaphore: vk::Semaphore,
    pub(crate) stages: vk::PipelineStageFlags2,
}

/// A binary semaphore a submission signals; comes from [`crate::Frame`].
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    pub(crate) semaphore: vk::Semaphore,
}

/// The queue and what it is busy with.
pub(crate) struct QueueState {
    pub(crate) raw: vk::Queue,
    /// Value of the timeline semaphore that the last submission signals.
    pub(crate) last: u64,
    /// Submissions not known to have finished, with a label for the error message.
    pending: VecDeque<(u64, String)>,
}

impl QueueState {
    pub(crate) fn new(raw: vk::Queue) -> Self {
        Self { raw, last: 0, pending: VecDeque::new() }
    }
}

impl Device {
    pub(crate) fn queue_state(&self) -> MutexGuard<'_, QueueState> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Submits recorded command buffers in order. Everything submitted before on this device
    /// starts before (barriers order the memory).
    ///
    /// # Errors
    /// [`Error::Usage`] when a buffer is not recorded or still runs, [`Error::DeviceLost`].
    pub fn submit(&self, commands: &[&CommandBuffer], waits: &[Wait], signals: &[Signal]) -> Result<Ticket> {
        let mut infos = Vec::with_capacity(commands.len());
        for buffer in commands {
            buffer.check_submittable()?;
            infos.push(vk::CommandBufferSubmitInfo::default().command_buffer(buffer.raw()));
        }
        let waits: Vec<_> = waits
            .iter()
            .map(|w| vk::SemaphoreSubmitInfo::default().semaphore(w.semaphore).stage_mask(w.stages))
            .collect();
        let all = vk::PipelineStageFlags2::ALL_COMMANDS;
        let mut signals: Vec<_> =
            signals.iter().map(|s| vk::SemaphoreSubmitInfo::default().semaphore(s.semaphore).stage_mask(all)).collect();
        let mut queue = self.queue_state();
        let value = queue.last + 1;
        signals.push(vk::SemaphoreSubmitInfo::default().semaphore(self.timeline).value(value).stage_mask(all));
        let info = vk::SubmitInfo2::default()
            .command_buffer_infos(&infos)
            .wait_semaphore_infos(&waits)
            .signal_semaphore_infos(&signals);
        // The label must be there before the call: a lost device is often noticed by it.
        let label = commands.iter().map(|c| c.describe()).collect::<Vec<_>>().join(", ");
        queue.pending.push_back((value, label));
        if self.lost.load(Ordering::Acquire) {
            let last_label = oldest(&queue.pending);
            queue.pending.pop_back();
            return Err(Error::DeviceLost { last_label });
        }
        // SAFETY: the queue is locked; the command buffers are recorded and not pending; the
        // semaphores belong to this device and live at least as long as their swapchain.
        let result = unsafe { self.ash().queue_submit2(queue.raw, &[info], vk::Fence::null()) };
        if let Err(code) = result {
            let lost = self.failed(&mut queue, "vkQueueSubmit2", code);
            queue.pending.pop_back();
            return Err(lost);
        }
        queue.last = value;
        drop(queue);
        for buffer in commands {
            buffer.submitted(value);
        }
        self.collect();
        Ok(Ticket(value))
    }

    /// The last submission so far.
    #[must_use]
    pub fn last_ticket(&self) -> Ticket {
        Ticket(self.queue_state().last)
    }

    /// Whether a submission has finished.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn is_done(&self, ticket: Ticket) -> Result<bool> {
        Ok(self.completed()? >= ticket.0)
    }

    /// Waits until a submission has finished.
    ///
    /// # Errors
    /// [`Error::Timeout`] when it takes longer than `timeout`, [`Error::DeviceLost`].
    pub fn wait(&self, ticket: Ticket, timeout: Duration) -> Result<()> {
        let semaphores = [self.timeline];
        let values = [ticket.0];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        if self.lost.load(Ordering::Acquire) {
            return Err(Error::DeviceLost { last_label: self.oldest_label() });
        }
        // SAFETY: the semaphore is this device's own timeline.
        match unsafe { self.ash().wait_semaphores(&info, nanoseconds) } {
            Ok(()) => {
                self.collect();
                Ok(())
            }
            Err(vk::Result::TIMEOUT) => Err(Error::Timeout {
                what: label_of(&self.queue_state().pending, ticket.0),
                seconds: timeout.as_secs_f64(),
            }),
            Err(code) => Err(self.failed(&mut self.queue_state(), "vkWaitSemaphores", code)),
        }
    }

    /// Waits until everything submitted has finished, presents included.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn wait_idle(&self) -> Result<()> {
        let mut queue = self.queue_state();
        // SAFETY: the queue is locked.
        if let Err(code) = unsafe { self.ash().queue_wait_idle(queue.raw) } {
            return Err(self.failed(&mut queue, "vkQueueWaitIdle", code));
        }
        drop(queue);
        self.collect();
        Ok(())
    }

    /// Runs `f` with the queue locked, for code that submits by itself (the overlay renderer's
    /// texture uploads). `f` must not use other functions of this device that submit or wait, nor make or drop objects of
    /// it: both may want the queue.
    pub fn with_queue<R>(&self, f: impl FnOnce(vk::Queue) -> R) -> R {
        let queue = self.queue_state();
        f(queue.raw)
    }

    /// Value the timeline has reached.
    pub(crate) fn completed(&self) -> Result<u64> {
        if self.lost.load(Ordering::Acquire) {
            return Err(Error::DeviceLost { last_label: self.oldest_label() });
        }
        // SAFETY: the semaphore is this device's own timeline.
        unsafe { self.ash().get_semaphore_counter_value(self.timeline) }
            .map_err(|code| self.failed(&mut self.queue_state(), "vkGetSemaphoreCounterValue", code))
    }

    /// Destroys dropped objects whose work has finished.
    pub(crate) fn collect(&self) {
        let Ok(done) = self.completed() else { return };
        let mut queue = self.queue_state();
        while queue.pending.front().is_some_and(|(value, _)| *value <= done) {
            queue.pending.pop_front();
        }
        drop(queue);
        self.bin.empty(done, self.ash(), &self.allocator);
    }

    fn oldest_label(&self) -> String {
        oldest(&self.queue_state().pending)
    }

    /// The error for a failed call on the queue; remembers a lost device.
    pub(crate) fn failed(&self, queue: &mut QueueState, what: &str, code: vk::Result) -> Error {
        match code {
            vk::Result::ERROR_DEVICE_LOST => {
                self.lost.store(true, Ordering::Release);
                Error::DeviceLost { last_label: oldest(&queue.pending) }
            }
            code => Error::vulkan(what, code),
        }
    }
}

fn oldest(pending: &VecDeque<(u64, String)>) -> String {
    pending.front().map_or_else(|| "nothing".to_owned(), |(_, label)| label.clone())
}

fn label_of(pending: &VecDeque<(u64, String)>, value: u64) -> String {
    let found = pending.iter().find(|(v, _)| *v >= value);
    found.map_or_else(|| format!("submission {value}"), |(_, label)| label.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_device_is_blamed_on_the_oldest_unfinished_submission() {
        let pending = VecDeque::from([(4, "frame 4: block 12".to_owned()), (5, "frame 5".to_owned())]);
        assert_eq!(oldest(&pending), "frame 4: block 12");
        assert_eq!(label_of(&pending, 5), "frame 5");
        assert_eq!(label_of(&pending, 9), "submission 9");
    }
}
