//! Nothing grows: sizes and settings that change, cuts of the camera.

use std::time::Duration;

use gpu::CommandBuffer;
use gpu::testing::TestDevice;
use network::model::Source;

use super::view::view_at;
use super::*;
use crate::window::control;

const SIZE: Extent = Extent::new(64, 48);

/// Largest share of an allocation that only fills up to the next one's alignment: it depends on which gap of a
/// block the allocation went to, so that equal objects may differ by it.
const PADDING: u64 = 256;

/// What a device holds.
#[derive(Clone, Debug, PartialEq)]
struct Held {
    /// Name and bytes of every allocation, in order of name and size.
    allocations: Vec<(String, u64)>,
    /// Live objects.
    objects: usize,
}

impl Held {
    fn bytes(&self) -> u64 {
        self.allocations.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Fails unless `before` had the same allocations, of the same sizes up to what fills gaps, and as many objects.
    fn assert_same(&self, before: &Self, when: &str) {
        let names = |held: &Self| held.allocations.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(self), names(before), "{when}");
        assert_eq!(self.objects, before.objects, "{when}");
        for ((name, now), (_, then)) in self.allocations.iter().zip(&before.allocations) {
            assert!(now.abs_diff(*then) < PADDING, "{when}: {name} has {now} bytes, had {then}");
        }
    }
}

fn held(device: &Device) -> Held {
    let mut allocations = device.allocations();
    allocations.sort();
    Held { allocations, objects: device.live_objects().len() }
}

/// A session whose network is prepared and has never run.
fn prepared(device: &Arc<Device>) -> Result<(Session, Settings)> {
    let source: Source = "identity".parse()?;
    let mut session = Session::new(device, Scene::builtin(), SIZE, Some(source))?;
    let mut settings = Settings::new(SIZE);
    while session.neural.is_none() {
        session.prepare(&mut settings)?;
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok((session, settings))
}

/// Draws a live frame, as the window does.
fn draw(session: &mut Session, settings: &mut Settings, cmd: &mut CommandBuffer, seconds: f64) -> Result<()> {
    session.step(settings, &FlyInput::default(), seconds);
    let picture = session.picture(settings);
    let view = session.live_view(settings, picture)?;
    cmd.begin()?;
    session.record(cmd, picture, &view, settings)?;
    cmd.end()?;
    let device = Arc::clone(session.device());
    let ticket = device.submit(&[&*cmd], &[], &[])?;
    session.submitted(picture, view);
    Ok(device.wait(ticket, Duration::from_secs(60))?)
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn changes_leave_the_memory_as_it_was() -> Result<()> {
    let device = TestDevice::open()?;
    let (mut session, mut settings) = prepared(&device)?;
    let before = held(&device);

    // The network and all buffers of the frame's size are made anew each time.
    let sizes = [Extent::new(33, 33), Extent::new(96, 64), Extent::new(80, 120), SIZE];
    let made = gpu::objects_made();
    for number in 0..200 {
        let size = sizes[number % sizes.len()];
        session.resize(size)?;
        session.prepare(&mut settings)?;
        assert!(session.neural.is_some() && session.geometry.valid == size);
        if size == SIZE {
            device.wait_idle()?;
            held(&device).assert_same(&before, &format!("after {} changes of the size", number + 1));
        }
    }
    assert!(gpu::objects_made() - made > 200 * 10, "they really were made anew");

    // With the network off, as frames of all settings are drawn.
    settings.network = false;
    let mut cmd = CommandBuffer::new(&device, "frame")?;
    draw(&mut session, &mut settings, &mut cmd, 0.05)?;
    let (before, made) = (held(&device), gpu::objects_made());
    let controls = control::all();
    for number in 0..200 {
        let control = &controls[number % controls.len()];
        let [low, high] = control.ends();
        control.set(&mut settings, [low, high, control.middle()][number % 3]);
        draw(&mut session, &mut settings, &mut cmd, 0.05)?;
    }
    assert_eq!((held(&device), gpu::objects_made()), (before.clone(), made), "after 200 changes of settings");

    // A cut is a flag of one frame: no object is made, none is waited for.
    session.camera.position.x += 3.0;
    session.camera.yaw += 2.0;
    settings.path = false;
    session.reset();
    assert_eq!(session.history(), 0);
    draw(&mut session, &mut settings, &mut cmd, 0.05)?;
    assert_eq!(session.history(), 1);
    assert_eq!((held(&device), gpu::objects_made()), (before.clone(), made), "after a cut");

    // Switched off for good, the network gives everything back that it had.
    session.unload(&mut settings)?;
    device.wait_idle()?;
    assert!(held(&device).bytes() < before.bytes() - (100 << 20), "the weights alone are 141 MiB");
    drop((session, cmd));
    Ok(())
}

#[test]
fn a_capture_that_another_scene_gives_up_leaves_nothing() -> Result<()> {
    let device = TestDevice::open()?;
    let (mut session, mut settings) = prepared(&device)?;
    let before = held(&device);
    session.capture()?;
    assert_eq!(held(&device).objects, before.objects + 1, "a copy of the features");
    let passes = Arc::clone(session.passes());
    session.set_studio(Studio::with_passes(&device, Scene::builtin(), passes)?)?;
    session.prepare(&mut settings)?;
    device.wait_idle()?;
    held(&device).assert_same(&before, "after another scene");
    assert!(session.capture_news().is_some_and(|news| news.is_err_and(|why| why.contains("given up"))));
    drop(session);
    Ok(())
}

#[test]
fn other_weights_replace_those_in_use_when_they_are_ready() -> Result<()> {
    let device = TestDevice::open()?;
    let (mut session, mut settings) = prepared(&device)?;
    let before = held(&device);
    session.change_model("lively:1".parse()?)?;
    assert!(session.change_model("starter".parse()?).is_err(), "one at a time");
    let digest = |session: &Session| match &session.loading {
        Loading::Ready(loaded) => loaded.digest.clone(),
        _ => String::new(),
    };
    let first = digest(&session);
    while session.is_loading() {
        assert_eq!(digest(&session), first);
        session.prepare(&mut settings)?;
        std::thread::sleep(Duration::from_millis(5));
    }
    session.prepare(&mut settings)?;
    assert!(session.neural.is_some() && digest(&session) != first);
    device.wait_idle()?;
    held(&device).assert_same(&before, "the former weights are gone");
    // Weights that cannot be read leave those in use.
    let second = digest(&session);
    session.change_model(Source::Directory("/no/such/model".into()))?;
    let refused = loop {
        match session.prepare(&mut settings) {
            Ok(()) => std::thread::sleep(Duration::from_millis(5)),
            Err(error) => break error.to_string(),
        }
    };
    assert!(refused.contains("/no/such/model"), "{refused}");
    assert!(digest(&session) == second && session.neural.is_some());
    drop(session);
    Ok(())
}

/// Everything that a frame of the network is made of and makes, but for the network itself, whose head is given.
fn fingerprint(session: &Session, cmd: &mut CommandBuffer, settings: &Settings, reference: &View) -> Result<u64> {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let Some(neural) = &session.neural else { anyhow::bail!("no network") };
    let view = view_at(settings, reference.camera, 1.0, Some(*reference), 7);
    let seed = if settings.look.frozen_seed { FROZEN_SEED } else { 7 };
    let mut parameters = settings.look.parameters(1.0);
    (parameters.seed, parameters.history_valid) = (seed, true);
    let (frame, network) = (neural.frame(), neural.network());
    let parity = frame.clock().parity();
    cmd.begin()?;
    session.studio.renderer.record(cmd, neural.gbuffer(), &session.studio.scene, &view)?;
    frame.record_parameters(cmd, &parameters);
    frame.preprocess(cmd, parity);
    frame.composite(cmd, parity);
    cmd.end()?;
    let device = session.device();
    let ticket = device.submit(&[&*cmd], &[], &[])?;
    device.wait(ticket, Duration::from_secs(60))?;
    let mut hasher = DefaultHasher::new();
    let features = network.features();
    device.download(features.buffer, features.offset, features.range)?.hash(&mut hasher);
    for buffer in [frame.display_neural(), frame.next_history(), neural.gbuffer().color()] {
        device.download(buffer, 0, buffer.size())?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

#[test]
fn every_control_has_an_effect_from_end_to_end() -> Result<()> {
    let device = TestDevice::open()?;
    let (mut session, settings) = prepared(&device)?;
    let mut cmd = CommandBuffer::new(&device, "frame")?;
    if let Some(neural) = &mut session.neural {
        // A head with changes of every sign and weight, in place of one that takes seconds to compute.
        let head = neural.network().head();
        let half = |index: u64| half::f16::from_f32(((index * 7919 % 257) as f32 - 128.0) / 16.0).to_le_bytes();
        let bytes: Vec<u8> = (0..head.range / 2).flat_map(half).collect();
        device.upload(head.buffer, head.offset, &bytes)?;
        neural.finish_bypass();
    }
    let first = view_at(&settings, session.camera, 0.9, None, 6);
    fingerprint(&session, &mut cmd, &settings, &first)?;
    for control in control::all() {
        // It acts on later frames, not on one.
        if control.id == "reset-every" {
            continue;
        }
        let [low, high] = control.ends();
        let mut seen = Vec::new();
        for value in [low, control.middle(), high] {
            let mut settings = settings.clone();
            let look = &mut settings.look;
            look.custom = control.section == control::Section::Custom;
            look.skin_follows = control.id != "skin";
            look.auto_white = matches!(control.id, "white-low" | "white-high");
            control.set(&mut settings, value);
            // What has nothing to scale or to replace has no effect.
            match control.id {
                "strength" | "custom" => settings.look.knobs.exposure = 1.0,
                "skin-follows" => settings.look.skin = 0.5,
                _ => {}
            }
            // A scene so dark or bright that the bound is reached, else one of middle brightness.
            session.exposure.reset();
            session.exposure.measured(match control.id {
                "white-low" => -20.0,
                "white-high" => 20.0,
                _ => 1.0,
            });
            (0..100).for_each(|_| session.step(&mut settings, &FlyInput::default(), 0.1));
            assert_eq!(control.get(&settings), value, "{}", control.id);
            seen.push(fingerprint(&session, &mut cmd, &settings, &first)?);
        }
        match control.kind {
            control::Kind::Switch => assert_ne!(seen[0], seen[2], "{}", control.id),
            _ => {
                assert!(seen[0] != seen[1] && seen[1] != seen[2], "{}: {seen:?}", control.id);
                // Half a turn of the hue is the same in both directions.
                assert!(seen[0] != seen[2] || control.id == "hue", "{}", control.id);
            }
        }
    }
    drop((session, cmd));
    Ok(())
}
