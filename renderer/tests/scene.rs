//! The built-in scene on the device, under the validation layer.

mod common;

use common::{codes, psnr};
use gpu::testing::TestDevice;
use renderer::{Band, Compared, Effects, GBuffer, Picture, Renderer, Scene, View, check_motion};

const WIDTH: u32 = 192;
const HEIGHT: u32 = 108;

/// A device with what one size of frame needs. Fields drop in order: the device comes last.
struct Stage {
    renderer: Renderer,
    target: GBuffer,
    scene: Scene,
    device: TestDevice,
}

impl Stage {
    fn new() -> Self {
        Self::sized(WIDTH, HEIGHT)
    }

    fn sized(width: u32, height: u32) -> Self {
        let device = TestDevice::open().unwrap();
        Self {
            renderer: Renderer::new(&device).unwrap(),
            target: GBuffer::new(&device, width, height).unwrap(),
            scene: Scene::builtin(),
            device,
        }
    }

    fn render(&self, view: &View) -> Picture {
        let mut recorded = Ok(());
        self.device
            .run_once("frame", |commands| {
                recorded = self.renderer.record(commands, &self.target, &self.scene, view);
            })
            .unwrap();
        recorded.unwrap();
        self.target.read().unwrap()
    }

    fn view(&self, frame: u32) -> View {
        View::scripted(&self.scene, frame, 30.0)
    }
}

#[test]
fn the_same_frame_is_the_same_bytes() {
    let stage = Stage::new();
    let view = stage.view(40);
    let first = stage.render(&view);
    let other = stage.render(&stage.view(41));
    let again = stage.render(&view);
    assert!(first == again, "a frame depends on what was rendered before it");
    assert!(first.color != other.color);
}

#[test]
fn seed_and_frame_number_change_the_noise_and_nothing_else() {
    let mut stage = Stage::new();
    let view = stage.view(40);
    let a = stage.render(&view);
    let b = stage.render(&View { frame: 41, ..view });
    stage.scene = stage.scene.clone().with_seed(7);
    let c = stage.render(&view);
    for other in [&b, &c] {
        assert_ne!(a.color, other.color);
        assert!(a.depth == other.depth && a.motion == other.motion && a.id == other.id);
    }
    let quiet = stage.render(&view.with_effects(Effects::NONE));
    let quiet_later = stage.render(&View { frame: 41, ..view }.with_effects(Effects::NONE));
    assert_eq!(quiet.color, quiet_later.color, "without effects there is no noise");
}

#[test]
fn every_value_is_finite_and_in_range() {
    let stage = Stage::new();
    for frame in [0, 40, 333, 700] {
        let picture = stage.render(&stage.view(frame));
        for (i, color) in picture.color.iter().enumerate() {
            let [r, g, b, a] = color.map(|c| c.to_f32());
            assert!([r, g, b].iter().all(|c| (0.0..=60_000.0).contains(c)), "pixel {i}: {color:?}");
            assert_eq!(a, 1.0);
            let (depth, id, motion) = (picture.depth[i], picture.id[i], picture.motion[i]);
            assert_eq!(depth > 0.0, id != 0, "pixel {i}: depth {depth}, object {id}");
            assert!((0.0..=400.0).contains(&depth), "pixel {i}: depth {depth}");
            assert!(id as usize <= stage.scene.instances.len());
            let [x, y] = motion.map(|m| m.to_f32());
            assert!(x.abs() <= 1.0 && y.abs() <= 1.0, "pixel {i}: motion {motion:?}");
            if id == 0 {
                assert_eq!([x, y], [0.0, 0.0], "the sky has no motion");
            }
        }
    }
}

#[test]
fn light_goes_beyond_display_white_and_the_frame_is_varied() {
    let stage = Stage::new();
    let picture = stage.render(&stage.view(40));
    let brightest = (0..picture.color.len()).flat_map(|i| picture.rgb(i)).fold(0.0, f32::max);
    assert!(brightest > 4.0, "the lamps are HDR: {brightest}");
    let mut ids = picture.id.clone();
    ids.sort_unstable();
    ids.dedup();
    assert!(ids.len() > 16, "only {} objects in view", ids.len());
    let mean = codes(&picture).iter().sum::<f32>() / (3 * picture.color.len()) as f32;
    assert!((0.3..0.7).contains(&mean), "mean code {mean}");
}

#[test]
fn depth_and_motion_agree_with_the_camera_on_the_cpu() {
    let stage = Stage::new();
    let view = View { previous_camera: stage.scene.path.at(0.9), ..stage.view(40) };
    let picture = stage.render(&View { jitter: [0.0; 2], ..view });
    let aspect = WIDTH as f32 / HEIGHT as f32;
    let (now, before) = (stage.scene.poses(view.time), stage.scene.poses(view.previous_time));
    let mut checked = 0;
    for (i, &id) in picture.id.iter().enumerate() {
        let Some(object) = (id as usize).checked_sub(1) else { continue };
        let pixel = [i as u32 % WIDTH, i as u32 / WIDTH];
        let uv = glam::Vec2::new((pixel[0] as f32 + 0.5) / WIDTH as f32, (pixel[1] as f32 + 0.5) / HEIGHT as f32);
        let world = view.camera.position + view.camera.ray(uv, aspect) * picture.depth[i];
        let earlier = before[object].point(now[object].inverse_point(world));
        let Some((was, _)) = view.previous_camera.project(earlier, aspect) else { continue };
        let [x, y] = picture.motion[i].map(|m| m.to_f32());
        let inside = |v: f32| (0.002..0.998).contains(&v);
        if inside(was.x) && inside(was.y) {
            // Halves have 11 bits.
            let allowed = 2e-4 + (was - uv).length() * 1e-3;
            let error = (was - uv - glam::Vec2::new(x, y)).length();
            assert!(error < allowed, "pixel {pixel:?} of object {id}: off by {error}");
            checked += 1;
        } else if !(-0.002..1.002).contains(&was.x) || !(-0.002..1.002).contains(&was.y) {
            assert_eq!([x, y], [0.0, 0.0], "pixel {pixel:?} came from outside the image");
        }
    }
    assert!(checked > 8000, "only {checked} pixels checked");
}

#[test]
fn nothing_moves_without_a_predecessor() {
    let stage = Stage::new();
    let picture = stage.render(&stage.view(0));
    let largest = picture.motion.iter().flatten().map(|m| m.to_f32().abs()).fold(0.0, f32::max);
    assert!(largest < 1e-6, "motion of {largest} in the first frame");
}

/// Two instants a quarter of a second apart, so that things move by several pixels.
fn pair(stage: &Stage, moving_camera: bool) -> (Picture, Picture) {
    let calm = |view: View| View { jitter: [0.0; 2], ..view.with_samples(8).with_effects(Effects::NONE) };
    let (t0, t1) = (5.0, 5.25);
    let (c0, c1) = (stage.scene.path.at(t0), stage.scene.path.at(t1));
    let c1 = if moving_camera { c1 } else { c0 };
    let base = calm(stage.view(40));
    let previous = View { camera: c0, previous_camera: c0, time: t0, previous_time: t0, ..base };
    let current = View { camera: c1, previous_camera: c0, time: t1, previous_time: t0, ..base };
    (stage.render(&current), stage.render(&previous))
}

#[test]
fn motion_explains_the_change_under_a_moving_camera() {
    let stage = Stage::sized(480, 270);
    let (current, previous) = pair(&stage, true);
    let check = check_motion(&current, &previous, Compared::Surfaces).unwrap();
    println!("moving camera: {check:?}");
    assert!(check.passes(1.0 / 3.0), "{check:?}");
}

#[test]
fn motion_explains_moving_objects_under_a_still_camera() {
    let stage = Stage::sized(480, 270);
    let (current, previous) = pair(&stage, false);
    let check = check_motion(&current, &previous, Compared::Moving).unwrap();
    println!("still camera: {check:?}");
    assert!(check.passes(1.0 / 3.0), "{check:?}");
}

#[test]
fn many_samples_converge() {
    let stage = Stage::sized(96, 54);
    let view = stage.view(40);
    let reference = codes(&stage.render(&view.with_samples(128)));
    let quality = [1, 4, 16].map(|n| {
        // Other random numbers than the reference's.
        let view = View { frame: view.frame + 1000, ..view };
        psnr(&codes(&stage.render(&view.with_samples(n))), &reference)
    });
    println!("1, 4, 16 samples against 128: {quality:.2?} dB");
    assert!((19.0..27.0).contains(&quality[0]), "one sample is a usual noisy frame: {quality:?}");
    assert!(quality.windows(2).all(|w| w[1] > w[0] + 3.0), "{quality:?}");
}

#[test]
fn parts_make_the_same_frame_as_one_recording() {
    let stage = Stage::sized(480, 270);
    let view = stage.view(40).with_samples(5);
    let parts = stage.renderer.parts(&stage.target, &view);
    let whole = stage.render(&view);
    for part in 0..parts {
        let mut recorded = Ok(());
        let Stage { renderer, target, scene, .. } = &stage;
        let record = |commands: &mut gpu::CommandBuffer| {
            recorded = renderer.record_part(commands, target, scene, &view, part);
        };
        stage.device.run_once("part", record).unwrap();
        recorded.unwrap();
    }
    assert!(whole == stage.target.read().unwrap(), "{parts} parts");
}

#[test]
fn bands_make_the_same_frame_as_one_recording() {
    let stage = Stage::sized(101, 67);
    let [view, other] = [stage.view(40), stage.view(90)];
    let whole = stage.render(&view);
    for of in [2, 5, 16] {
        // Nothing of the picture is there yet.
        assert!(stage.render(&other) != whole);
        for number in 0..of {
            let mut recorded = Ok(());
            let Stage { renderer, target, scene, .. } = &stage;
            let record = |commands: &mut gpu::CommandBuffer| {
                recorded = renderer.record_band(commands, target, scene, &view, Band { number, of });
            };
            stage.device.run_once("band", record).unwrap();
            recorded.unwrap();
            let so_far = stage.target.read().unwrap();
            assert_eq!(so_far == whole, number + 1 == of, "band {number} of {of}");
        }
    }
}

#[test]
fn odd_sizes_work_and_no_pixels_are_refused() {
    let stage = Stage::sized(33, 17);
    let picture = stage.render(&stage.view(3));
    assert_eq!(picture.color.len(), 33 * 17);
    assert!(picture.id.iter().any(|&id| id != 0));
    let error = GBuffer::new(&stage.device, 0, 17).err().map(|e| e.to_string());
    assert!(error.is_some_and(|e| e.contains("0 x 17")));
}
