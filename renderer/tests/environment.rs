//! Image-based light on the device, under the validation layer.

use glam::Vec3;
use gpu::testing::TestDevice;
use renderer::panorama::Panorama;
use renderer::scene::{Animation, Instance, Material, Primitive, Shape, Sphere};
use renderer::{Camera, Effects, Environment, GBuffer, Picture, Renderer, Rigid, Scene, View};
use std::sync::Arc;

const SIDE: u32 = 32;

/// Dropped from top to bottom: the device comes last.
struct Stage {
    renderer: Renderer,
    target: GBuffer,
    device: TestDevice,
}

impl Stage {
    fn new(scene: &Scene) -> Self {
        let device = TestDevice::open().unwrap();
        let renderer = Renderer::for_scene(&device, scene).unwrap();
        Self { renderer, target: GBuffer::new(&device, SIDE, SIDE).unwrap(), device }
    }

    fn try_render(&self, scene: &Scene, view: &View) -> renderer::Result<Picture> {
        let mut recorded = Ok(());
        let record = |commands: &mut gpu::CommandBuffer| {
            recorded = self.renderer.record(commands, &self.target, scene, view);
        };
        self.device.run_once("frame", record)?;
        recorded?;
        self.target.read()
    }

    fn render(&self, scene: &Scene, view: &View) -> Picture {
        self.try_render(scene, view).unwrap()
    }
}

fn view(from: Vec3, to: Vec3) -> View {
    let camera = Camera::looking_at(from, to, 0.6);
    View {
        camera,
        previous_camera: camera,
        time: 0.0,
        previous_time: 0.0,
        jitter: [0.0; 2],
        frame: 0,
        samples: 1,
        effects: Effects::NONE,
    }
}

/// One thing of one material in the light of a panorama and nothing else.
fn scene(shape: Shape, material: Material, panorama: Panorama) -> Scene {
    let thing = Instance {
        name: "thing",
        animation: Animation::still(Rigid::IDENTITY),
        primitives: vec![Primitive { shape, material: 0 }],
    };
    let scene = Scene { instances: vec![thing], materials: vec![material], ..Scene::empty() };
    scene.surrounded_by(Environment::panorama(Arc::new(panorama)))
}

fn ball() -> Shape {
    Shape::Sphere(Sphere { centre: Vec3::ZERO, radius: 1.0 })
}

fn plain(albedo: f32) -> Material {
    Material { reflectance: 0.0, roughness: 1.0, ..Material::matte(Vec3::splat(albedo)) }
}

/// A panorama by direction.
fn painted(width: u32, paint: impl Fn(Vec3) -> Vec3) -> Panorama {
    let height = width / 2;
    let pixel = |i: u32| {
        let around = ((i % width) as f32 + 0.5) / width as f32 * std::f32::consts::TAU - std::f32::consts::PI;
        let down = ((i / width) as f32 + 0.5) / height as f32 * std::f32::consts::PI;
        paint(Vec3::new(down.sin() * around.sin(), down.cos(), -down.sin() * around.cos())).to_array()
    };
    Panorama::new("painted", width, height, (0..width * height).map(pixel).collect()).unwrap()
}

fn mean(picture: &Picture, of: impl Fn(usize) -> bool) -> Vec3 {
    let all: Vec<Vec3> =
        (0..picture.color.len()).filter(|&i| of(i)).map(|i| Vec3::from(picture.rgb(i).map(f32::from))).collect();
    assert!(!all.is_empty());
    all.iter().sum::<Vec3>() / all.len() as f32
}

#[test]
fn even_light_lights_evenly_and_exposure_scales_it() {
    let grey = |_: Vec3| Vec3::splat(0.8);
    let mut matte = scene(ball(), plain(0.5), painted(64, grey));
    let stage = Stage::new(&matte);
    let view = view(Vec3::new(0.0, 0.0, 5.0), Vec3::ZERO);
    let picture = stage.render(&matte, &view);
    for i in 0..picture.color.len() {
        let wanted = if picture.id[i] == 0 { 0.8 } else { 0.4 };
        assert!(picture.rgb(i).iter().all(|c| (c - wanted).abs() < 0.004), "pixel {i}: {:?}", picture.rgb(i));
    }
    matte.exposure = 1.0;
    let brighter = stage.render(&matte, &view);
    matte.exposure = 0.0;
    matte.environment.as_mut().unwrap().intensity = 2.0;
    let stronger = stage.render(&matte, &view);
    for other in [brighter, stronger] {
        assert!((0..other.color.len()).all(|i| (other.rgb(i)[0] - 2.0 * picture.rgb(i)[0]).abs() < 0.002));
    }
    // A white metal gives back what it gets, whatever its roughness, and whether a ray looks or not.
    for roughness in [0.0, 0.3, 0.6, 1.0] {
        matte.materials[0] = Material { base: Vec3::ONE, metallic: 1.0, roughness, ..plain(1.0) };
        matte.environment.as_mut().unwrap().intensity = 1.0;
        for effects in [Effects::NONE, Effects { reflections: true, ..Effects::NONE }] {
            let metal = stage.render(&matte, &view.with_effects(effects));
            let found = mean(&metal, |i| metal.id[i] != 0);
            assert!((found - 0.8).abs().max_element() < 0.01, "roughness {roughness}, {effects:?}: {found}");
        }
    }
}

#[test]
fn a_panorama_lies_as_told_and_turns() {
    // Red ahead (-z), green at the right (+x), blue behind, white at the left, dark below.
    let paint = |d: Vec3| {
        let side = if d.x.abs() > d.z.abs() {
            if d.x > 0.0 { Vec3::Y } else { Vec3::ONE }
        } else if d.z < 0.0 {
            Vec3::X
        } else {
            Vec3::Z
        };
        if d.y < 0.0 { 0.1 * side } else { side }
    };
    let mut scene = scene(ball(), plain(0.5), painted(256, paint));
    let stage = Stage::new(&scene);
    let look = |scene: &Scene, to: Vec3| {
        let from = Vec3::new(0.0, 50.0, 0.0);
        let picture = stage.render(scene, &view(from, from + to + Vec3::Y));
        mean(&picture, |_| true)
    };
    let all = [(Vec3::NEG_Z, Vec3::X), (Vec3::X, Vec3::Y), (Vec3::Z, Vec3::Z), (Vec3::NEG_X, Vec3::ONE)];
    for (to, wanted) in all {
        assert!((look(&scene, to) - wanted).abs().max_element() < 0.02, "{to}: {}", look(&scene, to));
    }
    // A quarter turn against the clock, seen from above: what was ahead is at the left.
    scene.environment.as_mut().unwrap().rotation = std::f32::consts::FRAC_PI_2;
    assert!((look(&scene, Vec3::NEG_X) - Vec3::X).abs().max_element() < 0.02, "{}", look(&scene, Vec3::NEG_X));
    assert!((look(&scene, Vec3::NEG_Z) - Vec3::Y).abs().max_element() < 0.02);
    // And a matte ball is lit from there.
    let picture = stage.render(&scene, &view(Vec3::new(-5.0, 0.0, 0.0), Vec3::ZERO));
    let lit = mean(&picture, |i| picture.id[i] != 0);
    assert!(lit.x > 1.5 * lit.y && lit.x > 2.0 * lit.z, "{lit}");
}

#[test]
fn a_bright_part_throws_shadows_and_no_light_is_lost() {
    let sun = Vec3::new(0.6, 0.7, 0.3).normalize();
    let paint = |d: Vec3| if d.dot(sun) > 0.999 { Vec3::splat(400.0) } else { Vec3::splat(0.3) };
    let panorama = painted(512, paint);
    assert!(!panorama.bright().is_empty());
    // What falls on the ground, half of which it reflects.
    let row = |y: u32| std::f32::consts::PI * (y as f32 + 0.5) / 256.0;
    let falls = |(i, pixel): (u32, &[f32; 3])| {
        let down = row(i / 512);
        pixel[0] * down.cos().max(0.0) * down.sin() * (std::f32::consts::PI / 256.0).powi(2) / std::f32::consts::PI
    };
    let wanted = 0.5 * (0..).zip(panorama.pixels()).map(falls).sum::<f32>();
    let mut ground = scene(Shape::Ground, plain(0.5), panorama);
    let stage = Stage::new(&ground);
    let down = view(Vec3::new(0.0, 6.0, 0.1), Vec3::ZERO);
    let calm = mean(&stage.render(&ground, &down), |_| true);
    assert!((calm.x - wanted).abs() < 0.03 * wanted, "{calm} for {wanted}");
    let shadows = Effects { shadows: true, ..Effects::NONE };
    let sampled = mean(&stage.render(&ground, &down.with_samples(16).with_effects(shadows)), |_| true);
    assert!((sampled.x - calm.x).abs() < 0.02 * calm.x, "{sampled} against {calm}");
    // A ball over the ground throws a shadow away from the sun, in which only the sky is left.
    let ball =
        Primitive { shape: Shape::Sphere(Sphere { centre: Vec3::new(0.0, 1.0, 0.0), radius: 0.6 }), material: 0 };
    ground.instances[0].primitives.push(ball);
    let behind = -sun / sun.y + Vec3::Y;
    let from = Vec3::new(behind.x, 3.0, behind.z - 1.5);
    let picture = stage.render(&ground, &view(from, behind).with_samples(16).with_effects(shadows));
    let middle = (SIDE / 2 * SIDE + SIDE / 2) as usize;
    assert!((picture.rgb(middle)[0] - 0.15).abs() < 0.02, "{:?}", picture.rgb(middle));
}

#[test]
fn the_sky_takes_the_same_path_and_other_surroundings_are_refused() {
    let sky = Scene { environment: Some(Environment::SKY), ..scene(ball(), plain(0.5), painted(64, |_| Vec3::ONE)) };
    let sky = Scene { sun: Scene::empty().sun, ..sky };
    let mut stage = Stage::new(&sky);
    let view = view(Vec3::new(0.0, 0.0, 5.0), Vec3::ZERO);
    let picture = stage.render(&sky, &view);
    assert!(picture == stage.render(&sky, &view), "the same bytes again");
    let row = |y: u32| mean(&picture, |i| picture.id[i] != 0 && i as u32 / SIDE == y);
    assert!(row(10).length() > 1.2 * row(22).length(), "light comes from above: {} and {}", row(10), row(22));
    assert!(picture.rgb(0)[2] > picture.rgb(0)[0], "the sky is blue");

    let other = scene(ball(), plain(0.5), painted(64, |_| Vec3::X));
    assert!(stage.try_render(&other, &view).unwrap_err().to_string().contains("another environment"));
    stage.renderer.surround(&stage.device, &other).unwrap();
    assert!((stage.render(&other, &view).rgb(0)[0] - 1.0).abs() < 1e-3);
    // Without an environment, the smooth sky is there as before.
    let none = Scene { environment: None, ..other };
    assert_ne!(stage.render(&none, &view).rgb(0), [1.0, 0.0, 0.0]);
}

#[test]
fn other_scenes_at_the_same_size_leave_nothing_behind() {
    let scenes = [0.2, 0.8].map(|light| scene(ball(), plain(0.5), painted(16, |_| Vec3::splat(light))));
    let mut stage = Stage::new(&scenes[0]);
    let look = view(Vec3::new(0.0, 0.0, 4.0), Vec3::ZERO);
    let mut alive = Vec::new();
    for turn in 0..6 {
        let scene = &scenes[turn % 2];
        stage.renderer = Renderer::for_scene(&stage.device, scene).unwrap();
        for samples in [1, 4] {
            stage.render(scene, &View { samples, ..look });
        }
        alive.push(stage.device.live_objects().len());
    }
    assert!(alive.iter().all(|&count| count == alive[0]), "{alive:?}");
}
