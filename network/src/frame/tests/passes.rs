//! Each pass on random and on awkward inputs, bit for bit against its CPU twin.

use gpu::testing::TestDevice;

use super::support::{Random, Rig, forms, same};
use crate::frame::cpu::sampling::{Half4, pack_motion};
use crate::frame::cpu::{CpuFrame, Head, Source, compose_frame, preprocess};
use crate::frame::{CustomStyle, Parameters, SourceKind, Style};
use crate::geometry::{Extent, Geometry};
use crate::numerics::half;

/// Inputs of one frame of a scene.
struct Inputs {
    scene: Vec<Half4>,
    motion: Vec<u32>,
    head: Vec<Half4>,
}

impl Inputs {
    /// Bright, dark, negative, infinite and NaN light; motion that stays, leaves, or is no number; heads of all sizes.
    fn random(geometry: &Geometry, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let r = &mut random;
        let light = |r: &mut Random| match r.word() % 16 {
            0 => 0x7c00,
            1 => 0xfc00,
            2 => 0x7e01,
            3 => half::from_f32(-r.unit()),
            4 => half::from_f32(r.wide(16).abs()),
            5 => 0x8000,
            _ => half::from_f32(r.unit() * r.unit() * 2.0),
        };
        let scene = (0..geometry.valid.pixels()).map(|_| [light(r), light(r), light(r), 0x3c00]).collect();
        let motion = (0..geometry.valid.pixels())
            .map(|_| match r.word() % 8 {
                0 => 0,
                1 => r.word(),
                2 => pack_motion([r.range(-1.5, 1.5), r.range(-1.5, 1.5)]),
                _ => pack_motion([r.range(-0.1, 0.1), r.range(-0.1, 0.1)]),
            })
            .collect();
        let value = |r: &mut Random| match r.word() % 64 {
            0 => 0x7c00,
            1 => 0xfc00,
            _ => half::from_f32(r.range(-3.0, 3.0)),
        };
        let head = (0..geometry.field.pixels()).map(|_| [value(r), value(r), value(r), value(r)]).collect();
        Self { scene, motion, head }
    }
}

/// Runs `frames` frames on the GPU and on the CPU and compares everything they leave behind.
fn compare(rig: &mut Rig, geometry: &Geometry, seed: u64, parameters: &[Parameters]) {
    let mut twin = CpuFrame::new(geometry);
    for (i, p) in parameters.iter().enumerate() {
        let inputs = Inputs::random(geometry, seed + i as u64);
        rig.put_color(&inputs.scene);
        rig.put_motion(&inputs.motion);
        rig.put_head(&inputs.head);
        let source = Source::Scene(&inputs.scene);
        let features = twin.preprocess(source, &inputs.motion, p);
        let want = twin.composite(source, &inputs.motion, Head::Half(&inputs.head), p);
        rig.run(|f, cmd| {
            f.record_preprocess(cmd, p);
            f.record_composite(cmd, p);
        });
        let what = format!("{} frame {i}", geometry.valid);
        same(&rig.read_features(), &features, &format!("features of {what}"));
        same(&rig.read(rig.frame.next_history()), &want.history, &format!("history of {what}"));
        same(&rig.read(rig.frame.published()), &want.published, &format!("published colour of {what}"));
        same(&rig.read(rig.frame.display_input()), &want.display_input, &format!("display of {what}"));
        same(&rig.read(rig.frame.display_neural()), &want.display_neural, &format!("neural display of {what}"));
        rig.frame.finish_frame();
    }
}

fn temporal(seed: u32) -> Parameters {
    Parameters { seed, history_valid: true, blend_scale: 0.9375, ..Parameters::default() }
}

#[test]
fn sizes_from_one_row_to_more_than_the_smallest_field() {
    let device = TestDevice::open().unwrap();
    for form in forms(&device) {
        for (width, height) in [(64, 64), (33, 1), (100, 2), (161, 97), (457, 41), (322, 330)] {
            let geometry = Geometry::new(Extent::new(width, height)).unwrap();
            let mut rig = Rig::in_form(&device, form, &geometry, SourceKind::Scene);
            let seed = u64::from(width * height);
            compare(&mut rig, &geometry, seed, &[temporal(width), temporal(height), temporal(u32::MAX)]);
        }
    }
}

#[test]
fn bindings_smaller_than_the_frame() {
    let device = TestDevice::open().unwrap();
    let geometry = Geometry::new(Extent::new(161, 97)).unwrap();
    // 32 rows of features, and 96 rows of the head, so that its last band has one row.
    let most = 32 * 32 * u64::from(geometry.field.width);
    for most in [1, most, 3 * most / 4 - 1] {
        let mut rig = Rig::new(&device, &geometry, SourceKind::Scene, most);
        compare(&mut rig, &geometry, 5, &[temporal(1), temporal(2)]);
    }
}

#[test]
fn styles_and_intensities() {
    let device = TestDevice::open().unwrap();
    let geometry = Geometry::new(Extent::new(120, 90)).unwrap();
    let base = Parameters { paper_white: 1.7, ..temporal(3) };
    let custom = CustomStyle {
        exposure: 0.4,
        contrast: 0.6,
        gamma: 0.8,
        saturation: 0.3,
        hue: 0.2,
        vibrance: 1.4,
        strength: 1.2,
    };
    let all = [
        Parameters { style: Style::Natural, local_tone: 0.7, ..base },
        Parameters { style: Style::Cinematic, auto_mask: false, local_structure: 0.3, ..base },
        Parameters { custom: Some(custom), ..base },
        Parameters {
            custom: Some(CustomStyle { hue: -0.5, contrast: -2.0, gamma: 9.0, ..custom }),
            intensity: 0.6,
            ..base
        },
        Parameters { intensity: 0.5, color_strength: 0.0, ..base },
        Parameters { intensity: 0.0, paper_white: 0.0, ..base },
        Parameters { history_valid: false, color_strength: 0.5, ..base },
    ];
    for form in forms(&device) {
        compare(&mut Rig::in_form(&device, form, &geometry, SourceKind::Scene), &geometry, 11, &all);
    }
}

#[test]
fn network_off_primes_the_history() {
    let device = TestDevice::open().unwrap();
    let geometry = Geometry::new(Extent::new(97, 51)).unwrap();
    for form in forms(&device) {
        primes_the_history(&mut Rig::in_form(&device, form, &geometry, SourceKind::Scene), &geometry);
    }
}

fn primes_the_history(rig: &mut Rig, geometry: &Geometry) {
    let mut twin = CpuFrame::new(geometry);
    let p = temporal(0);
    for seed in 0..3 {
        let inputs = Inputs::random(geometry, seed);
        rig.put_color(&inputs.scene);
        rig.run(|f, cmd| f.record_bypass(cmd, &p));
        let shown = twin.bypass(Source::Scene(&inputs.scene), &p);
        assert!(rig.read::<u32>(rig.frame.display_input()) == shown);
        assert!(rig.read::<u32>(rig.frame.display_neural()) == shown);
        rig.frame.finish_frame();
        assert!(rig.read::<Half4>(rig.frame.history()) == twin.history());
    }
    // Switching on: a still image's lanes 7 to 9 are its own colour, so nothing flashes.
    let inputs = Inputs::random(geometry, 2);
    rig.put_motion(&vec![0; geometry.valid.pixels()]);
    rig.put_color(&inputs.scene);
    rig.run(|f, cmd| f.record_preprocess(cmd, &p));
    let features = rig.read_features();
    assert!(features.iter().all(|lanes| {
        lanes[4..7].iter().zip(&lanes[7..10]).all(|(&a, &b)| (half::to_f32(a) - half::to_f32(b)).abs() < 1e-4)
    }));
    assert!(features == twin.preprocess(Source::Scene(&inputs.scene), &vec![0; geometry.valid.pixels()], &p));
}

#[test]
fn a_reset_uses_no_history_and_allocates_nothing() {
    let device = TestDevice::open().unwrap();
    let geometry = Geometry::new(Extent::new(64, 40)).unwrap();
    let mut rig = Rig::new(&device, &geometry, SourceKind::Scene, u64::MAX);
    let inputs = Inputs::random(&geometry, 9);
    rig.put_color(&inputs.scene);
    rig.put_motion(&inputs.motion);
    rig.put_head(&inputs.head);
    let p = temporal(4);
    let run = |rig: &mut Rig| {
        rig.run(|f, cmd| {
            f.record_preprocess(cmd, &p);
            f.record_composite(cmd, &p);
        });
        rig.frame.finish_frame();
        (rig.read_features(), rig.read::<Half4>(rig.frame.published()))
    };
    let first = run(&mut rig);
    let objects = device.live_objects().len();
    let second = run(&mut rig);
    assert!(first != second, "the history has an effect");
    rig.frame.reset();
    assert!(run(&mut rig) == first, "after a reset the frame is a first frame");
    assert_eq!(device.live_objects().len(), objects);

    // A recorded history can take the place of one's own.
    rig.frame.reset();
    let history: Vec<Half4> = vec![[0x3800, 0x3400, 0x3000, 0x3c00]; geometry.valid.pixels()];
    rig.frame.upload_history(bytemuck::cast_slice(&history)).unwrap();
    let third = run(&mut rig);
    assert!(third != first && third != second);
    assert!(rig.frame.upload_history(&[0; 8]).unwrap_err().to_string().contains("8 bytes"));
}

#[test]
fn an_image_is_its_own_proxy() {
    let device = TestDevice::open().unwrap();
    let geometry = Geometry::new(Extent::new(75, 60)).unwrap();
    let p = Parameters { seed: 12, ..Parameters::image() };
    // The same size, and a source that is scaled to the valid rectangle.
    let extents = [geometry.valid, Extent::new(40, 130)];
    for (form, extent) in forms(&device).into_iter().flat_map(|form| extents.map(|extent| (form, extent))) {
        let mut random = Random::new(21);
        let pixels: Vec<[f32; 4]> =
            (0..extent.pixels()).map(|_| [(); 4].map(|()| (random.word() % 256) as f32 / 255.0)).collect();
        let source = Source::Proxy(&pixels, extent);
        let head = Inputs::random(&geometry, 3).head;
        let rig = Rig::in_form(&device, form, &geometry, SourceKind::Proxy(extent));
        rig.put_color(&pixels);
        rig.put_head(&head);
        rig.run(|f, cmd| {
            f.record_preprocess(cmd, &p);
            f.record_composite(cmd, &p);
        });
        assert!(rig.read_features() == preprocess(&geometry, source, None, &p));
        let want = compose_frame(&geometry, source, Head::Half(&head), None, &p);
        assert!(rig.read::<Half4>(rig.frame.published()) == want.published);
        assert!(rig.read::<Half4>(rig.frame.next_history()) == want.history);
        assert!(rig.read::<u32>(rig.frame.display_input()) == want.display_input);
        assert!(rig.read::<u32>(rig.frame.display_neural()) == want.display_neural);
        assert!(rig.frame.proxy().is_none());
        rig.run(|f, cmd| f.record_bypass(cmd, &p));
        assert!(rig.read::<u32>(rig.frame.display_neural()) == want.display_input);
    }
}
