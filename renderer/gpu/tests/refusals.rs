//! Mistakes and limits give errors that name the object, and never reach the driver.

use gpu::testing::TestDevice;
use gpu::*;
use std::sync::Arc;

fn buffer(device: &Arc<Device>, name: &str, size: u64) -> Result<Buffer> {
    let usage = BufferUsage::STORAGE_BUFFER;
    Buffer::new(device, &BufferDesc { name, size, usage, memory: MemoryKind::Device })
}

fn fill(device: &Arc<Device>) -> ComputePipeline {
    ComputePipeline::new(device, shaders::shader("test/fill").unwrap(), &[], "fill").unwrap()
}

/// The message of the first mistake made by `f`.
fn mistake(device: &Arc<Device>, f: impl FnOnce(&mut CommandBuffer)) -> String {
    device.run_once("mistake", f).unwrap_err().to_string()
}

#[test]
fn buffers_over_a_limit_are_refused() {
    let device = TestDevice::open().unwrap();
    let limit = device.caps().limits.max_memory_allocation.min(device.caps().limits.max_buffer_size);
    let error = buffer(&device, "too large", limit.saturating_add(4)).err().unwrap();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("too large") && text.contains(&limit.to_string()), "{text}");
    assert!(matches!(buffer(&device, "empty", 0), Err(Error::Usage { .. })));
}

#[test]
fn pipelines_with_bad_constants_are_refused() {
    let device = TestDevice::open().unwrap();
    let shader = shaders::shader("test/fill").unwrap();
    let unknown = ComputePipeline::new(&device, shader, &[(9, 1)], "fill").err().unwrap();
    assert!(unknown.to_string().contains("constant 9"), "{unknown}");
    let huge = ComputePipeline::new(&device, shader, &[(0, 1 << 20)], "fill").err().unwrap();
    assert!(matches!(huge, Error::Limit { limit: _, limit_name: "maxComputeWorkGroupSize", .. }));
    let odd = PipelineDesc { name: "odd", shader, constants: &[], subgroup_size: Some(3) };
    assert!(matches!(ComputePipeline::with(&device, &odd), Err(Error::Unsupported { .. })));
}

#[test]
fn sets_must_match_their_pipeline() {
    let device = TestDevice::open().unwrap();
    let fill = fill(&device);
    let range = device.caps().limits.max_storage_buffer_range;
    let data = buffer(&device, "data", 1024).unwrap();
    let mut arena = DescriptorArena::new(&device, "sets", 1).unwrap();
    let mut refused = |binds: &[Bind<'_>]| arena.allocate(&fill, binds).err().unwrap().to_string();
    assert!(refused(&[]).contains("binding 0 needs 1"));
    assert!(refused(&[Bind::buffer(0, &data), Bind::buffer(0, &data)]).contains("got 2"));
    assert!(refused(&[Bind::buffer(0, &data), Bind::buffer(5, &data)]).contains("no binding 5"));
    assert!(refused(&[Bind::range(0, &data, 1, 16)]).contains("multiple of"));
    assert!(refused(&[Bind::range(0, &data, 0, 2048)]).contains("outside its 1024 bytes"));
    assert!(refused(&[Bind::range(0, &data, 0, 0)]).contains("empty"));
    assert!(refused(&[Bind::range(0, &data, u64::MAX - 15, 16)]).contains("outside"));
    if range < 1 << 40 {
        let text = refused(&[Bind::range(0, &data, 0, range + 1)]);
        assert!(text.contains("maxStorageBufferRange") && text.contains("data"), "{text}");
    }
    let extent = [8, 8];
    let (format, usage) = (vk::Format::R8G8B8A8_UNORM, ImageUsage::STORAGE);
    let image = Image::new(&device, &ImageDesc { name: "image", extent, format, usage }).unwrap();
    assert!(refused(&[Bind::storage_image(0, &image)]).contains("StorageBuffer"));
}

#[test]
fn mistakes_in_recording_come_out_at_the_end() {
    let device = TestDevice::open().unwrap();
    let fill = fill(&device);
    let add = shaders::shader("test/combine.add").unwrap();
    let add = ComputePipeline::new(&device, add, &[], "add").unwrap();
    let data = buffer(&device, "data", 1024).unwrap();
    let mut arena = DescriptorArena::new(&device, "sets", 1).unwrap();
    let set = arena.allocate(&fill, &[Bind::buffer(0, &data)]).unwrap();
    let push = [0u8; 8];
    let text = mistake(&device, |cmd| cmd.dispatch(&fill, &set, &push[..4], [1, 1, 1]));
    assert!(text.contains("8 bytes and 4"), "{text}");
    let text = mistake(&device, |cmd| cmd.dispatch(&add, &set, &push[..4], [1, 1, 1]));
    assert!(text.contains("other bindings"), "{text}");
    let most = device.caps().limits.max_workgroup_count[1];
    let text = mistake(&device, |cmd| cmd.dispatch(&fill, &set, &push, [1, most + 1, 1]));
    assert!(text.contains("maxComputeWorkGroupCount"), "{text}");
    let text = mistake(&device, |cmd| cmd.copy_buffer(&data, 1000, &data, 0, 25));
    assert!(text.contains("\"data\"") && text.contains("1024"), "{text}");
    let text = mistake(&device, |cmd| cmd.fill_buffer(&data, 2, 4, 0));
    assert!(text.contains("whole words"), "{text}");
    let text = mistake(&device, |cmd| cmd.label_end());
    assert!(text.contains("label_begin"), "{text}");
    device.run_once("nothing", |cmd| cmd.dispatch(&fill, &set, &push, [0, 1, 1])).unwrap();
}

#[test]
fn command_buffers_out_of_order_are_refused() {
    let device = TestDevice::open().unwrap();
    let mut cmd = CommandBuffer::new(&device, "early").unwrap();
    assert!(device.submit(&[&cmd], &[], &[]).unwrap_err().to_string().contains("early"));
    assert!(cmd.end().unwrap_err().to_string().contains("begin"));
    cmd.label_begin("outside");
    cmd.begin().unwrap();
    cmd.end().unwrap();
    device.submit(&[&cmd], &[], &[]).unwrap();
}

#[test]
fn unknown_devices_are_refused_with_a_list() {
    let instance = Instance::new(&InstanceDesc::default()).unwrap();
    let error = Device::open(&instance, &DeviceSelector::Name("no such gpu".into())).err().unwrap();
    assert!(error.to_string().contains("no such gpu"), "{error}");
    let error = Device::open(&instance, &DeviceSelector::Index(99)).err().unwrap().to_string();
    assert!(error.contains("position 99") && error.contains("0: "), "{error}");
}
