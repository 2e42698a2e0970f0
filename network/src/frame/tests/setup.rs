//! Setting up a frame: missing motion, refused buffers, memory.

use gpu::testing::TestDevice;

use super::support::{buffer, same};
use crate::exec::BufferSlice;
use crate::frame::cpu::{CpuFrame, Half4, Head, Source};
use crate::frame::{Frame, FrameInputs, Parameters, Passes, SourceKind};
use crate::geometry::{Extent, Geometry};

#[test]
fn without_motion_the_history_stays_where_it_is() {
    let device = TestDevice::open().unwrap();
    let geometry = Geometry::new(Extent::new(40, 30)).unwrap();
    let pixels = geometry.valid.pixels();
    let field = geometry.field.pixels();
    let passes = Passes::new(&device).unwrap();
    let color = buffer(&device, "color", pixels as u64 * 8);
    let features = buffer(&device, "features", field as u64 * 32);
    let head = buffer(&device, "head", field as u64 * 8);
    let inputs = FrameInputs { color: &color, kind: SourceKind::Scene, motion: None };
    let whole = |buffer| BufferSlice { buffer, offset: 0, range: buffer.size() };
    let mut frame = Frame::new(&passes, &geometry, inputs, whole(&features), whole(&head)).unwrap();

    let scene: Vec<Half4> = (0..pixels).map(|i| [0x2c00 + i as u16; 4]).collect();
    let heads: Vec<Half4> = (0..field).map(|i| [0x3000 + (i % 512) as u16; 4]).collect();
    device.upload(&color, 0, bytemuck::cast_slice(&scene)).unwrap();
    device.upload(&head, 0, bytemuck::cast_slice(&heads)).unwrap();
    let p = Parameters { history_valid: true, ..Parameters::default() };
    let mut twin = CpuFrame::new(&geometry);
    for _ in 0..2 {
        twin.composite(Source::Scene(&scene), &vec![0; pixels], Head::Half(&heads), &p);
        device
            .run_once("frame", |cmd| {
                frame.record_preprocess(cmd, &p);
                frame.record_composite(cmd, &p);
            })
            .unwrap();
        frame.finish_frame();
    }
    let got = device.download(frame.history(), 0, pixels as u64 * 8).unwrap();
    same(&bytemuck::pod_collect_to_vec::<u8, Half4>(&got), twin.history(), "history");
}

#[test]
fn buffers_too_small_for_the_frame_are_refused() {
    let device = TestDevice::open().unwrap();
    let geometry = Geometry::new(Extent::new(40, 30)).unwrap();
    let passes = Passes::new(&device).unwrap();
    let (small, large) = (buffer(&device, "small", 1024), buffer(&device, "large", 4 << 20));
    let whole = |buffer| BufferSlice { buffer, offset: 0, range: buffer.size() };
    let refused = |color, motion, features, head| {
        let inputs = FrameInputs { color, kind: SourceKind::Scene, motion: Some(motion) };
        match Frame::new(&passes, &geometry, inputs, whole(features), whole(head)) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(refused(&large, &large, &large, &large), "");
    assert_eq!(
        refused(&small, &large, &large, &large),
        "the colour buffer has 1024 bytes, a frame of this size needs 9600"
    );
    assert!(refused(&large, &small, &large, &large).starts_with("the motion buffer"));
    assert!(refused(&large, &large, &small, &large).starts_with("the features"));
    assert!(refused(&large, &large, &large, &small).starts_with("the head"));
}

#[test]
fn memory_by_the_pixel() {
    let geometry = Geometry::new(Extent::new(40, 30)).unwrap();
    assert_eq!(Frame::bytes(&geometry, SourceKind::Scene, true), 1200 * 40);
    assert_eq!(Frame::bytes(&geometry, SourceKind::Proxy(geometry.valid), false), 1200 * 36);
}
