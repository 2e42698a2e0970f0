//! Buffers, pipelines, descriptors, command buffers and submissions on a real device.

use gpu::testing::TestDevice;
use gpu::*;
use std::sync::Arc;
use std::time::Duration;

fn buffer(device: &Arc<Device>, name: &str, size: u64) -> Buffer {
    let usage = BufferUsage::STORAGE_BUFFER;
    Buffer::new(device, &BufferDesc { name, size, usage, memory: MemoryKind::Device }).unwrap()
}

fn pipeline(device: &Arc<Device>, shader: &str, constants: &[(u32, u32)]) -> ComputePipeline {
    ComputePipeline::new(device, shaders::shader(shader).unwrap(), constants, shader).unwrap()
}

fn push(words: &[u32]) -> &[u8] {
    bytemuck::cast_slice(words)
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_ne_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn a_dispatch_fills_a_buffer() {
    let device = TestDevice::open().unwrap();
    let fill = pipeline(&device, "test/fill", &[]);
    assert_eq!(fill.workgroup_size(), [64, 1, 1]);
    let data = buffer(&device, "data", 4 * 1000);
    let mut arena = DescriptorArena::new(&device, "sets", 4).unwrap();
    let set = arena.allocate(&fill, &[Bind::buffer(0, &data)]).unwrap();
    let run = |cmd: &mut CommandBuffer| cmd.dispatch(&fill, &set, push(&[1000, 7]), [16, 1, 1]);
    device.run_once("fill", run).unwrap();
    let got = words(&device.download(&data, 0, 4000).unwrap());
    assert_eq!(got, (7..1007).collect::<Vec<u32>>());
}

#[test]
fn a_dispatch_may_begin_anywhere() {
    let device = TestDevice::open().unwrap();
    let shader = shaders::shader("test/fill").unwrap();
    let fill = ComputePipeline::based(&device, shader, &[], "fill").unwrap();
    let data = buffer(&device, "data", 4 * 1000);
    let mut arena = DescriptorArena::new(&device, "sets", 1).unwrap();
    let set = arena.allocate(&fill, &[Bind::buffer(0, &data)]).unwrap();
    device
        .run_once("fill", |cmd| {
            cmd.fill_buffer(&data, 0, 4000, 0);
            cmd.transfer_to_compute_barrier();
            cmd.dispatch_from(&fill, &set, push(&[1000, 7]), [3, 0, 0], [2, 1, 1]);
        })
        .unwrap();
    let got = words(&device.download(&data, 0, 4000).unwrap());
    let wished = |i: u32| if (3 * 64..5 * 64).contains(&i) { i + 7 } else { 0 };
    assert_eq!(got, (0..1000).map(wished).collect::<Vec<u32>>());
    // Another pipeline promises no such thing.
    let plain = pipeline(&device, "test/fill", &[]);
    let refused =
        device.run_once("fill", |cmd| cmd.dispatch_from(&plain, &set, push(&[1000, 7]), [1, 0, 0], [1, 1, 1]));
    assert!(refused.is_err_and(|error| error.to_string().contains("begin anywhere")));
}

#[test]
fn a_specialized_workgroup_size_is_used() {
    let device = TestDevice::open().unwrap();
    let fill = pipeline(&device, "test/fill", &[(0, 16)]);
    assert_eq!(fill.workgroup_size(), [16, 1, 1]);
    let data = buffer(&device, "data", 4 * 64);
    let mut arena = DescriptorArena::new(&device, "sets", 1).unwrap();
    let set = arena.allocate(&fill, &[Bind::buffer(0, &data)]).unwrap();
    device
        .run_once("fill", |cmd| {
            cmd.fill_buffer(&data, 0, 256, 0);
            cmd.transfer_to_compute_barrier();
            cmd.dispatch(&fill, &set, push(&[64, 1]), [2, 1, 1]);
        })
        .unwrap();
    let got = words(&device.download(&data, 0, 256).unwrap());
    assert_eq!(got[..32], (1..33).collect::<Vec<u32>>());
    assert!(got[32..].iter().all(|w| *w == 0), "only two groups of 16 ran");
}

#[test]
fn chained_dispatches_see_each_other_and_copies() {
    let device = TestDevice::open().unwrap();
    let fill = pipeline(&device, "test/fill", &[]);
    let add = pipeline(&device, "test/combine.add", &[]);
    let sub = pipeline(&device, "test/combine.sub", &[]);
    let n = 500u32;
    let [a, sum, difference] = ["a", "sum", "difference"].map(|name| buffer(&device, name, 4 * u64::from(n)));
    let bytes = buffer(&device, "bytes", 500);
    let b: Vec<u8> = (0..500).map(|i| (i * 7 % 251) as u8).collect();
    device.upload(&bytes, 0, &b).unwrap();
    let mut arena = DescriptorArena::new(&device, "sets", 1).unwrap();
    let set0 = arena.allocate(&fill, &[Bind::buffer(0, &a)]).unwrap();
    let binds = |dst| [Bind::buffer(0, &a), Bind::buffer(1, &bytes), Bind::buffer(2, dst)];
    let set1 = arena.allocate(&add, &binds(&sum)).unwrap();
    let set2 = arena.allocate(&sub, &binds(&difference)).unwrap();
    let back = Buffer::new(
        &device,
        &BufferDesc { name: "back", size: 4 * u64::from(n), usage: BufferUsage::empty(), memory: MemoryKind::Readback },
    )
    .unwrap();
    device
        .run_once("chain", |cmd| {
            cmd.label_begin("fill");
            cmd.dispatch(&fill, &set0, push(&[n, 1000]), [8, 1, 1]);
            cmd.label_end();
            cmd.compute_barrier();
            cmd.dispatch(&add, &set1, push(&[n]), [8, 1, 1]);
            cmd.dispatch(&sub, &set2, push(&[n]), [8, 1, 1]);
            cmd.compute_to_transfer_barrier();
            cmd.copy_buffer(&sum, 0, &back, 0, 2000);
            cmd.host_read_barrier();
        })
        .unwrap();
    let expected = |i: usize, sign: i64| (1000 + i as i64 + sign * i64::from(b[i])) as u32;
    let got = words(back.mapped().unwrap());
    assert!((0..500).all(|i| got[i] == expected(i, 1)));
    let got = words(&device.download(&difference, 0, 2000).unwrap());
    assert!((0..500).all(|i| got[i] == expected(i, -1)));
}

#[test]
fn a_recorded_buffer_runs_again_with_other_contents() {
    let device = TestDevice::open().unwrap();
    let fill = pipeline(&device, "test/fill", &[]);
    let data = buffer(&device, "data", 256);
    let mut groups = Buffer::new(
        &device,
        &BufferDesc { name: "groups", size: 12, usage: BufferUsage::INDIRECT_BUFFER, memory: MemoryKind::Upload },
    )
    .unwrap();
    groups.mapped_mut().unwrap().copy_from_slice(push(&[1, 1, 1]));
    let mut arena = DescriptorArena::new(&device, "sets", 1).unwrap();
    let set = arena.allocate(&fill, &[Bind::buffer(0, &data)]).unwrap();
    let mut cmd = CommandBuffer::new(&device, "again").unwrap();
    cmd.begin().unwrap();
    cmd.update_buffer(&data, 0, push(&[9; 64]));
    cmd.transfer_to_compute_barrier();
    cmd.dispatch_indirect(&fill, &set, push(&[64, 3]), &groups, 0);
    cmd.end().unwrap();
    for (count, expected) in [(1u32, 3), (0, 9)] {
        groups.mapped_mut().unwrap().copy_from_slice(push(&[count, 1, 1]));
        let ticket = device.submit(&[&cmd], &[], &[]).unwrap();
        device.wait(ticket, Duration::from_secs(60)).unwrap();
        assert!(device.is_done(ticket).unwrap());
        assert_eq!(words(&device.download(&data, 0, 4).unwrap()), [expected]);
    }
}

#[test]
fn objects_dropped_in_flight_are_destroyed_later() {
    let device = TestDevice::open().unwrap();
    let fill = pipeline(&device, "test/fill", &[]);
    let mut last = None;
    for round in 0..8 {
        let data = buffer(&device, "dropped", 1 << 20);
        let mut arena = DescriptorArena::new(&device, "sets", 1).unwrap();
        let set = arena.allocate(&fill, &[Bind::buffer(0, &data)]).unwrap();
        let mut cmd = CommandBuffer::new(&device, "in flight").unwrap();
        cmd.begin().unwrap();
        cmd.dispatch(&fill, &set, push(&[1 << 18, round]), [4096, 1, 1]);
        cmd.end().unwrap();
        last = Some(device.submit(&[&cmd], &[], &[]).unwrap());
    }
    device.wait(last.unwrap(), Duration::from_secs(60)).unwrap();
}

#[test]
fn pipelines_are_created_on_several_threads() {
    let device = TestDevice::open().unwrap();
    std::thread::scope(|scope| {
        for name in ["test/fill", "test/combine.add", "test/combine.sub", "test/fill"] {
            let device = &device;
            scope.spawn(move || drop(pipeline(device, name, &[])));
        }
    });
    assert!(device.live_objects().is_empty());
}

#[test]
fn large_transfers_go_in_parts() {
    let device = TestDevice::open().unwrap();
    let size = (33 << 20) + 5;
    let data = buffer(&device, "large", size + 3);
    let bytes: Vec<u8> = (0..size).map(|i| (i * 31 % 253) as u8).collect();
    device.upload(&data, 1, &bytes).unwrap();
    assert!(device.download(&data, 1, size).unwrap() == bytes);
    assert!(device.download(&data, 0, 0).unwrap().is_empty());
}

#[test]
fn descriptor_arenas_grow() {
    let device = TestDevice::open().unwrap();
    let add = pipeline(&device, "test/combine.add", &[]);
    let data = buffer(&device, "data", 256);
    let mut arena = DescriptorArena::new(&device, "sets", 2).unwrap();
    let binds = [0, 1, 2].map(|i| Bind::buffer(i, &data));
    let sets: Vec<_> = (0..100).map(|_| arena.allocate(&add, &binds).unwrap()).collect();
    drop(arena); // sets keep their pools
    assert!(device.leak_report().unwrap().contains("DescriptorPool"));
    drop(sets);
}
