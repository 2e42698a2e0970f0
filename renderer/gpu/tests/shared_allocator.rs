//! A device whose allocator is still shared; in a program of its own, because it stays open.

use gpu::*;

#[test]
fn a_device_is_not_destroyed_under_a_shared_allocator() {
    let instance = Instance::new(&InstanceDesc::default()).unwrap();
    let desc = DeviceDesc { cache: CacheMode::Off, ..DeviceDesc::default() };
    let device = Device::open_with(&instance, &desc).unwrap();
    let allocator = device.allocator();
    drop(device);
    let live: Vec<_> = leak_report().iter().map(ToString::to_string).collect();
    assert!(live.iter().any(|o| o.contains("kept open by its allocator")), "{live:?}");
    drop((allocator, instance));
}
