//! Ownership, leaks, the cache file, the budget, and what is reported about devices.

use gpu::*;
use std::sync::{Arc, Mutex};

/// The register covers the whole process, so these tests run one at a time.
static ONE: Mutex<()> = Mutex::new(());

fn open(cache: CacheMode) -> (Arc<Instance>, Arc<Device>) {
    let validation = std::env::var("NRVIEW_TEST_VALIDATION").as_deref() != Ok("0");
    let instance = Instance::new(&InstanceDesc { validation, surface: None }).unwrap();
    let desc = DeviceDesc { cache, ..DeviceDesc::default() };
    let device = Device::open_with(&instance, &desc).unwrap();
    (instance, device)
}

fn buffer(device: &Arc<Device>, name: &str) -> Buffer {
    let usage = BufferUsage::STORAGE_BUFFER;
    Buffer::new(device, &BufferDesc { name, size: 64, usage, memory: MemoryKind::Device }).unwrap()
}

#[test]
fn leaks_are_reported_by_name() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    assert_no_leaks();
    let (instance, device) = open(CacheMode::Off);
    assert_eq!(device.leak_report(), None);
    let kept = buffer(&device, "forgotten weights");
    assert!(device.leak_report().unwrap().contains("Buffer \"forgotten weights\""));
    let name = device.caps().name.clone();
    drop((instance, device));
    // The buffer keeps its device, and the device its instance, in spite of the drops.
    let live: Vec<_> = leak_report().iter().map(ToString::to_string).collect();
    assert_eq!(live.len(), 3, "{live:?}");
    assert!(live.contains(&format!("Device \"{name}\"")), "{live:?}");
    assert!(std::panic::catch_unwind(assert_no_leaks).is_err());
    drop(kept);
    assert_no_leaks();
    assert_eq!(validation_messages(), 0);
}

#[test]
fn the_cache_file_is_written_and_read_again() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let folder = tempfile::tempdir().unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().path()).collect::<Vec<_>>();
    for round in 0..2 {
        let (_instance, device) = open(CacheMode::Folder(folder.path().to_owned()));
        let shader = shaders::shader("test/fill").unwrap();
        drop(ComputePipeline::new(&device, shader, &[], "fill").unwrap());
        drop(device);
        assert_eq!(files().len(), 1, "round {round}");
    }
    // A damaged file is ignored and replaced.
    let file = files().remove(0);
    let good = std::fs::read(&file).unwrap();
    std::fs::write(&file, &good[..good.len() / 2]).unwrap();
    drop(open(CacheMode::Folder(folder.path().to_owned())));
    assert_eq!(std::fs::read(&file).unwrap()[..8], good[..8]);
    assert_eq!(validation_messages(), 0);
}

#[test]
fn the_budget_counts_memory() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (_instance, device) = open(CacheMode::Off);
    let heaps = device.memory_budget();
    assert_eq!(heaps.len(), device.caps().heaps.len());
    assert!(heaps.iter().any(|h| h.device_local && h.budget > 0));
    let before = device.memory_use().used;
    let data = buffer(&device, "data");
    let during = device.memory_use();
    assert!(during.used >= before + data.size() && during.reserved >= during.used);
    drop(data);
    assert_eq!(device.memory_use().used, before);
}

#[test]
fn adapters_are_described() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let instance = Instance::new(&InstanceDesc::default()).unwrap();
    let adapters = instance.adapters().unwrap();
    assert!(!adapters.is_empty());
    for (i, adapter) in adapters.iter().enumerate() {
        println!("{adapter:#?}"); // shown with --nocapture
        assert_eq!(adapter.index, i);
        assert!(!adapter.name.is_empty() && !adapter.driver.is_empty());
        if adapter.usable.is_ok() {
            assert!(adapter.missing().all(|f| !f.required && !f.without.is_empty()));
            let limits = &adapter.capabilities.limits;
            assert!(limits.max_storage_buffer_range >= 128 << 20);
            assert!(limits.max_shared_memory >= 16 << 10 && limits.max_invocations >= 128);
            assert!(adapter.capabilities.spirv.contains("StorageBuffer8BitAccess"));
        }
    }
}
