//! A control: without it, "no messages" could mean that the layer is not there.

use gpu::testing::TestDevice;
use gpu::*;

/// In a test program of its own, because messages are counted for the whole process.
#[test]
fn a_missing_barrier_and_a_misuse_are_noticed() {
    if std::env::var("NRVIEW_TEST_VALIDATION").as_deref() == Ok("0") {
        eprintln!("no validation layer on this machine, by its own word");
        return;
    }
    let device = TestDevice::open().unwrap();
    let name = "hazard";
    let usage = BufferUsage::STORAGE_BUFFER;
    let desc = BufferDesc { name, size: 4096, usage, memory: MemoryKind::Device };
    let data = Buffer::new(&device, &desc).unwrap();
    assert_eq!(validation_messages(), 0);
    device
        .run_once("write after write", |cmd| {
            cmd.fill_buffer(&data, 0, 4096, 1);
            cmd.fill_buffer(&data, 0, 4096, 2);
        })
        .unwrap();
    let after_hazard = validation_messages();
    assert!(after_hazard > 0, "synchronization validation is off");
    // Bytes of a usage the buffer lacks: plain validation. (Not a storage buffer.)
    let desc = BufferDesc { usage: BufferUsage::UNIFORM_BUFFER, ..desc };
    let uniform = Buffer::new(&device, &desc).unwrap();
    let shader = shaders::shader("test/fill").unwrap();
    let fill = ComputePipeline::new(&device, shader, &[], "fill").unwrap();
    let mut arena = DescriptorArena::new(&device, "sets", 1).unwrap();
    let set = arena.allocate(&fill, &[Bind::buffer(0, &uniform)]).unwrap();
    assert!(validation_messages() > after_hazard, "validation is off");
    drop((set, arena, fill, uniform, data));
    // The guard must fail the test for these messages.
    let guard = std::panic::AssertUnwindSafe(device);
    let panicked = std::panic::catch_unwind(move || drop(guard));
    assert!(panicked.is_err(), "the test device ignores messages");
}
