//! A frame on a test device, with buffers of its own around it.

use std::sync::Arc;

use gpu::testing::TestDevice;
use gpu::{Buffer, BufferDesc, BufferUsage, CommandBuffer, Device, MemoryKind};

use crate::exec::BufferSlice;
use crate::frame::cpu::{Half4, LANES};
use crate::frame::passes::Form;
use crate::frame::{Frame, FrameInputs, Passes, SourceKind, native};
use crate::geometry::Geometry;

/// Deterministic numbers for test inputs.
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let x = self.0 ^ (self.0 >> 29);
        (x.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
    }

    /// Uniform in 0..1.
    pub fn unit(&mut self) -> f32 {
        (self.word() >> 8) as f32 / 16_777_216.0
    }

    /// Uniform in `low..high`.
    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Any f32 of magnitude between 2^-`exponent` and 2^`exponent`, either sign.
    pub fn wide(&mut self, exponent: i32) -> f32 {
        let magnitude = self.range(-exponent as f32, exponent as f32).exp2();
        if self.word() & 1 == 0 { magnitude } else { -magnitude }
    }
}

pub fn buffer(device: &Arc<Device>, name: &str, size: u64) -> Buffer {
    let desc = BufferDesc { name, size, usage: BufferUsage::STORAGE_BUFFER, memory: MemoryKind::Device };
    Buffer::new(device, &desc).unwrap()
}

/// The forms of the passes that the device can run: portable, the model of the native one, and that one itself where the
/// device's instructions give the contract's bits.
pub fn forms(device: &Arc<Device>) -> Vec<Form> {
    let mut forms = vec![Form::Portable, Form::Model];
    match native::difference(device).unwrap() {
        Some(what) => eprintln!("no native form here: {what}"),
        None => forms.push(Form::Native),
    }
    forms
}

/// A frame with its inputs. Dropped before the device it was made on.
pub struct Rig {
    pub device: Arc<Device>,
    pub frame: Frame,
    pub color: Buffer,
    pub motion: Buffer,
    pub features: Buffer,
    pub head: Buffer,
}

impl Rig {
    /// In the form that the device takes. `most` limits the bindings of features and head, so that small frames can be split
    /// like large ones.
    pub fn new(device: &TestDevice, geometry: &Geometry, kind: SourceKind, most: u64) -> Self {
        Self::with(&Passes::new(device).unwrap(), geometry, kind, most)
    }

    /// In a form of the passes.
    pub fn in_form(device: &TestDevice, form: Form, geometry: &Geometry, kind: SourceKind) -> Self {
        Self::with(&Passes::in_form(device, form).unwrap(), geometry, kind, u64::MAX)
    }

    fn with(passes: &Arc<Passes>, geometry: &Geometry, kind: SourceKind, most: u64) -> Self {
        let device = Arc::clone(passes.device());
        let valid = geometry.valid.pixels() as u64;
        let field = geometry.field.pixels() as u64;
        let image = kind.extent(geometry.valid).pixels() as u64;
        let color = buffer(&device, "color", image * kind.pixel_bytes());
        let motion = buffer(&device, "motion", valid * 4);
        // At an offset, as in an arena.
        let features = buffer(&device, "features", field * 32 + 256);
        let head = buffer(&device, "head", field * 8 + 512);
        let inputs = FrameInputs { color: &color, kind, motion: Some(&motion) };
        let features_slice = BufferSlice { buffer: &features, offset: 256, range: field * 32 };
        let head_slice = BufferSlice { buffer: &head, offset: 512, range: field * 8 };
        let frame = Frame::with_range(passes, geometry, inputs, features_slice, head_slice, most).unwrap();
        Self { device, frame, color, motion, features, head }
    }

    pub fn upload<T: bytemuck::Pod>(&self, buffer: &Buffer, offset: u64, data: &[T]) {
        self.device.upload(buffer, offset, bytemuck::cast_slice(data)).unwrap();
    }

    pub fn put_color<T: bytemuck::Pod>(&self, data: &[T]) {
        self.upload(&self.color, 0, data);
    }

    pub fn put_motion(&self, data: &[u32]) {
        self.upload(&self.motion, 0, data);
    }

    pub fn put_head(&self, data: &[Half4]) {
        self.upload(&self.head, 512, data);
    }

    pub fn run(&self, record: impl FnOnce(&Frame, &mut CommandBuffer)) {
        self.device.run_once("frame test", |cmd| record(&self.frame, cmd)).unwrap();
    }

    pub fn read<T: bytemuck::Pod>(&self, buffer: &Buffer) -> Vec<T> {
        let bytes = self.device.download(buffer, 0, buffer.size()).unwrap();
        bytemuck::pod_collect_to_vec(&bytes)
    }

    pub fn read_features(&self) -> Vec<[u16; LANES]> {
        let size = self.features.size() - 256;
        bytemuck::pod_collect_to_vec(&self.device.download(&self.features, 256, size).unwrap())
    }
}

/// Fails with the number of differences and the first of them.
#[track_caller]
pub fn same<T: PartialEq + std::fmt::Debug>(got: &[T], want: &[T], what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    let mut different = got.iter().zip(want).enumerate().filter(|(_, (a, b))| a != b);
    if let Some((i, (a, b))) = different.next() {
        let count = 1 + different.count();
        panic!("{what}: {count} of {} differ, first at {i}: {a:x?} instead of {b:x?}", got.len());
    }
}
