//! Every call of this layer that can fail is made to fail, one after the other: an error with its message or the right
//! result, nothing left, no word from the validation layer.

use gpu::*;
use std::sync::Arc;
use std::time::Duration;

const SIZE: u64 = 1 << 12;

/// A bit of everything.
fn work() -> Result<()> {
    let validation = std::env::var("NRVIEW_TEST_VALIDATION").as_deref() != Ok("0");
    let instance = Instance::new(&InstanceDesc { validation, surface: None })?;
    let desc = DeviceDesc { cache: CacheMode::Off, ..DeviceDesc::default() };
    let device = Device::open_with(&instance, &desc)?;
    let shader = shaders::shader("test/fill").expect("a shader of the manifest");
    let pipeline = ComputePipeline::new(&device, shader, &[], "fill")?;
    let usage = BufferUsage::STORAGE_BUFFER;
    let buffer = |memory, size| Buffer::new(&device, &BufferDesc { name: "data", size, usage, memory }).map(Arc::new);
    let (data, _large) = (buffer(MemoryKind::Device, SIZE)?, buffer(MemoryKind::Upload, 20 << 20)?);
    let usage = ImageUsage::TRANSFER_DST | ImageUsage::SAMPLED;
    let image = ImageDesc { name: "picture", extent: [16, 16], format: vk::Format::R8G8B8A8_UNORM, usage };
    let _image = Image::new(&device, &image)?;
    let _sampler = Sampler::new(&device, "sampler", Filter::Linear)?;
    let _times = Timestamps::new(&device, "times", 4)?;
    device.upload(&data, 0, &[1; SIZE as usize])?;
    let mut arena = DescriptorArena::new(&device, "sets", 1)?;
    let set = arena.allocate(&pipeline, &[Bind::buffer(0, &data)])?;
    let count = (SIZE / 4) as u32;
    let fill = |cmd: &mut CommandBuffer| {
        cmd.dispatch(&pipeline, &set, bytemuck::bytes_of(&[count, 7]), [count.div_ceil(64), 1, 1]);
    };
    device.run_once("fill", fill)?;
    if device.caps().device_generated_commands {
        let mut generated = CommandBuffer::generated(&device, "generated")?;
        generated.begin()?;
        fill(&mut generated);
        generated.end()?;
        let ticket = device.submit(&[&generated], &[], &[])?;
        device.wait(ticket, Duration::from_secs(60))?;
    }
    let mut commands = CommandBuffer::new(&device, "again")?;
    commands.begin()?;
    commands.compute_barrier();
    commands.end()?;
    let ticket = device.submit(&[&commands], &[], &[])?;
    device.wait(ticket, Duration::from_secs(60))?;
    let bytes = device.download(&data, 0, SIZE)?;
    assert!(bytes != [1; SIZE as usize], "it was filled");
    device.wait_idle()
}

/// What is wrong after a run under a plan, if anything.
fn judge(plan: &str, messages: u64) -> Option<String> {
    faults::set(plan).expect("a plan");
    let result = work();
    let left = leak_report();
    let text = result.as_ref().err().map_or_else(String::new, ToString::to_string);
    let wrong = if faults::struck() == 0 {
        "nothing was made to fail"
    } else if !left.is_empty() {
        "objects are left"
    } else if validation_messages() != messages {
        "the validation layer has complaints"
    } else if result.is_err() && !["; ", ": ", ", "].iter().any(|mark| text.contains(mark)) {
        "the message does not say what to do"
    } else {
        return None;
    };
    Some(format!("{plan}: {wrong}: {text:?} {left:?}"))
}

#[test]
fn every_call_may_fail() {
    faults::set("count").unwrap();
    work().unwrap();
    assert!(leak_report().is_empty());
    let calls: Vec<_> = faults::calls().collect();
    let count = |name: &str| calls.iter().find(|(known, _)| *known == name).map_or(0, |(_, calls)| *calls);
    assert!(count("object") > 30 && count("submit") >= 5 && count("wait") >= 6 && count("memory") >= 2, "{calls:?}");
    let mut plans = Vec::new();
    for place in ["device", "memory", "object", "map", "submit", "wait"] {
        plans.extend((1..=count(place)).map(|call| format!("{place}:{call}")));
    }
    plans.extend((1..=count("memory")).map(|call| format!("memory:{call}+")));
    plans.extend(["object:1+", "map:1+", "submit:1+", "wait:1+", "wait:1+=slow"].map(str::to_owned));
    plans.extend((1..=count("wait")).map(|call| format!("wait:{call}=slow")));
    let messages = validation_messages();
    let wrong: Vec<String> = plans.iter().filter_map(|plan| judge(plan, messages)).collect();
    println!("{} calls made to fail, {} went wrong; a clean run: {calls:?}", plans.len(), wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    // After all of that a device works as before.
    faults::set("count").unwrap();
    work().unwrap();
}
