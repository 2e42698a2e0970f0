//! Help for GPU tests of every crate.

use crate::debug::validation_messages;
use crate::device::{Device, DeviceDesc};
use crate::instance::{Instance, InstanceDesc};
use crate::select::DeviceSelector;
use crate::{CacheMode, error::Result};
use std::ops::Deref;
use std::sync::Arc;

/// A device for one test, with the validation layer on. When it is dropped, the test fails if the
/// layer has said anything, or if an object of the device is still alive.
///
/// `NRVIEW_TEST_DEVICE` chooses the device (position or part of its name), and
/// `NRVIEW_TEST_VALIDATION=0` does without the layer, for machines that do not have it, and
/// `NRVIEW_TEST_PLAIN=1` without optional extensions, for layers that do not know them.
pub struct TestDevice {
    device: Arc<Device>,
    messages: u64,
}

impl TestDevice {
    /// Opens the device.
    ///
    /// # Errors
    /// See [`Instance::new`] and [`Device::open`].
    pub fn open() -> Result<Self> {
        let messages = validation_messages();
        let validation = std::env::var("NRVIEW_TEST_VALIDATION").as_deref() != Ok("0");
        let instance = Instance::new(&InstanceDesc { validation, surface: None })?;
        let wanted = std::env::var("NRVIEW_TEST_DEVICE").unwrap_or_default();
        let plain = std::env::var("NRVIEW_TEST_PLAIN").as_deref() == Ok("1");
        let selector = DeviceSelector::parse(&wanted);
        let desc = DeviceDesc { selector, cache: CacheMode::Off, plain, robust: true };
        Ok(Self { device: Device::open_with(&instance, &desc)?, messages })
    }
}

impl Deref for TestDevice {
    type Target = Arc<Device>;

    fn deref(&self) -> &Self::Target {
        &self.device
    }
}

impl Drop for TestDevice {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return; // the test has failed already; a second panic would hide why
        }
        let idle = self.device.wait_idle();
        assert!(idle.is_ok(), "the device is not idle at the end of the test: {idle:?}");
        assert_eq!(self.device.leak_report(), None, "objects outlive the test's device");
        assert_eq!(Arc::strong_count(&self.device), 1, "the device outlives the test");
        assert_eq!(validation_messages(), self.messages, "the validation layer has complaints");
    }
}
