//! Images, samplers, blits, drawing and timestamps.

use gpu::testing::TestDevice;
use gpu::*;
use std::sync::Arc;

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

fn image(device: &Arc<Device>, name: &str, extent: [u32; 2]) -> Image {
    let usage = ImageUsage::TRANSFER_SRC
        | ImageUsage::TRANSFER_DST
        | ImageUsage::STORAGE
        | ImageUsage::SAMPLED
        | ImageUsage::COLOR_ATTACHMENT;
    Image::new(device, &ImageDesc { name, extent, format: FORMAT, usage }).unwrap()
}

fn buffer(device: &Arc<Device>, name: &str, size: u64, memory: MemoryKind) -> Buffer {
    let usage = BufferUsage::STORAGE_BUFFER;
    Buffer::new(device, &BufferDesc { name, size, usage, memory }).unwrap()
}

#[test]
fn pixels_survive_buffer_image_blit_buffer() {
    let device = TestDevice::open().unwrap();
    let small = image(&device, "small", [4, 2]);
    let large = image(&device, "large", [8, 4]);
    let mut upload = buffer(&device, "upload", 4 * 8, MemoryKind::Upload);
    let pixels: Vec<u8> = (0..32).map(|i| i * 8).collect();
    upload.mapped_mut().unwrap().copy_from_slice(&pixels);
    let back = buffer(&device, "back", 4 * 32, MemoryKind::Readback);
    device
        .run_once("blit", |cmd| {
            let (a, b) = (small.reference(), large.reference());
            cmd.image_barrier(a, ImageUse::Undefined, ImageUse::TransferDst);
            cmd.copy_buffer_to_image(&upload, 0, a);
            cmd.image_barrier(a, ImageUse::TransferDst, ImageUse::TransferSrc);
            cmd.image_barrier(b, ImageUse::Undefined, ImageUse::TransferDst);
            cmd.blit(a, Rect::of(a), b, Rect::of(b), Filter::Nearest);
            cmd.image_barrier(b, ImageUse::TransferDst, ImageUse::TransferSrc);
            cmd.copy_image_to_buffer(b, &back, 0);
            cmd.host_read_barrier();
        })
        .unwrap();
    let got = back.mapped().unwrap();
    for y in 0..4 {
        for x in 0..8 {
            let (from, to) = ((y / 2 * 4 + x / 2) * 4, (y * 8 + x) * 4);
            assert_eq!(got[to..to + 4], pixels[from..from + 4], "pixel {x},{y}");
        }
    }
}

#[test]
fn clears_and_rendering_reach_the_image() {
    let device = TestDevice::open().unwrap();
    let target = image(&device, "target", [16, 16]);
    let back = buffer(&device, "back", 4 * 256, MemoryKind::Readback);
    let gray = |value: f32| [value, value, value, 1.0];
    let read = |record: &dyn Fn(&mut CommandBuffer) -> ImageUse| {
        device
            .run_once("draw", |cmd| {
                let last = record(cmd);
                cmd.image_barrier(target.reference(), last, ImageUse::TransferSrc);
                cmd.copy_image_to_buffer(target.reference(), &back, 0);
                cmd.host_read_barrier();
            })
            .unwrap();
        back.mapped().unwrap()[..4].to_vec()
    };
    let cleared = read(&|cmd| {
        cmd.image_barrier(target.reference(), ImageUse::Undefined, ImageUse::TransferDst);
        cmd.clear_image(target.reference(), gray(0.0));
        ImageUse::TransferDst
    });
    assert_eq!(cleared, [0, 0, 0, 255]);
    let drawn = read(&|cmd| {
        cmd.image_barrier(target.reference(), ImageUse::Undefined, ImageUse::ColorAttachment);
        cmd.begin_rendering(target.reference(), LoadOp::Clear(gray(1.0)));
        cmd.end_rendering();
        ImageUse::ColorAttachment
    });
    assert_eq!(drawn, [255; 4]);
}

#[test]
fn images_that_cannot_be_are_refused() {
    let device = TestDevice::open().unwrap();
    let usage = ImageUsage::SAMPLED;
    let desc = ImageDesc { name: "wide", extent: [1, 1], format: FORMAT, usage };
    let most = device.caps().limits.max_image_dimension;
    let refused = |desc: ImageDesc<'_>| Image::new(&device, &desc).err().unwrap();
    let wide = refused(ImageDesc { extent: [most + 1, 1], ..desc });
    assert!(matches!(wide, Error::Limit { limit_name: "maxImageDimension2D", .. }), "{wide}");
    assert!(matches!(refused(ImageDesc { extent: [0, 4], ..desc }), Error::Usage { .. }));
    let depth = ImageDesc { format: vk::Format::D32_SFLOAT, ..desc };
    assert!(refused(depth).to_string().contains("D32_SFLOAT as color image"));
    // Block-compressed formats are never drawn to or written by shaders.
    let storage = ImageUsage::STORAGE;
    let packed = ImageDesc { format: vk::Format::BC1_RGB_UNORM_BLOCK, usage: storage, ..desc };
    assert!(refused(packed).to_string().contains("as storage image"));
}

#[test]
fn blits_and_copies_stay_inside() {
    let device = TestDevice::open().unwrap();
    let a = image(&device, "a", [8, 8]);
    let data = buffer(&device, "data", 128, MemoryKind::Device);
    let outside = Rect { offset: [1, 0], extent: [8, 8] };
    let text = device
        .run_once("blit", |cmd| {
            let r = a.reference();
            cmd.blit(r, outside, r, Rect::of(r), Filter::Linear);
        })
        .unwrap_err()
        .to_string();
    assert!(text.contains("leaves"), "{text}");
    let text =
        device.run_once("copy", |cmd| cmd.copy_buffer_to_image(&data, 0, a.reference())).unwrap_err().to_string();
    assert!(text.contains("256 bytes") && text.contains("128"), "{text}");
}

#[test]
fn timestamps_grow() {
    let device = TestDevice::open().unwrap();
    let times = Timestamps::new(&device, "times", 4).unwrap();
    assert_eq!(times.read().unwrap(), None);
    let data = buffer(&device, "data", 1 << 20, MemoryKind::Device);
    device
        .run_once("timed", |cmd| {
            cmd.reset_timestamps(&times);
            cmd.write_timestamp(&times, 0);
            cmd.fill_buffer(&data, 0, 1 << 20, 5);
            cmd.write_timestamp(&times, 1);
        })
        .unwrap();
    if times.supported() {
        let got = times.read().unwrap().unwrap();
        assert_eq!(got.len(), 2);
        assert!(got[0] == 0.0 && got[1] >= 0.0 && got[1] < 60_000.0, "{got:?}");
    }
    let text = device.run_once("late", |cmd| cmd.write_timestamp(&times, 4)).unwrap_err();
    assert!(text.to_string().contains("times"), "{text}");
}

#[test]
fn samplers_are_made() {
    let device = TestDevice::open().unwrap();
    for filter in [Filter::Nearest, Filter::Linear] {
        let sampler = Sampler::new(&device, "sampler", filter).unwrap();
        assert_ne!(sampler.raw(), vk::Sampler::null());
    }
}
