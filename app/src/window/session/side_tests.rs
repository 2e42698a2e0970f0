//! What the sides promise, judged by bytes on the test device.

use std::time::Instant;

use gpu::testing::TestDevice;
use network::model::Source;
use renderer::Scene;

use super::*;
use crate::cli::args::RouteArg;
use crate::window::reference::Reference;

const SIZE: Extent = Extent::new(64, 48);
/// Longest time that a frame of a software device may take.
const LIMIT: Duration = Duration::from_secs(300);

/// A still scene without random choices in its view: frames depend on their number alone.
fn settings(sides: [&str; 2]) -> Settings {
    let mut settings = Settings::new(SIZE);
    settings.paused = true;
    settings.path = false;
    settings.sides = sides.map(|name| name.parse().unwrap());
    settings
}

/// Waits until something has happened.
fn until(session: &mut Session, settings: &mut Settings, what: &str, done: impl Fn(&Session) -> bool) -> Result<()> {
    let end = Instant::now() + LIMIT;
    while !done(session) {
        session.advance(settings)?;
        assert!(Instant::now() < end, "{what}: not within {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// The bytes of the left side, the right side and the network as it is set after so many frames, with the sides there from
/// the first.
fn pictures(device: &TestDevice, settings: &mut Settings, frames: u64) -> Result<[Vec<u8>; 3]> {
    let mut session = Session::new(device, Scene::builtin(), SIZE, Some(Source::Starter))?;
    let wanted = settings.sides.clone();
    // Nothing is begun before everything is there: the sides see every frame.
    settings.network = false;
    session.advance(settings)?;
    let ready = |s: &Session| matches!(s.loading, Loading::Ready(_)) && !s.sides.is_reading();
    until(&mut session, settings, "the network is loaded", ready)?;
    settings.network = true;
    until(&mut session, settings, "the sides are there", |s| *s.sides() == wanted)?;
    until(&mut session, settings, "the frames", |s| s.numbers.evaluated >= frames)?;
    assert_eq!(session.numbers.evaluated, frames);
    let shown = session.shown(Picture::Pair);
    let bytes = |picture: &gpu::Buffer| device.download(picture, 0, picture.size());
    let [left, right] = [shown.sides[0].picture, shown.sides[1].picture];
    let set = session.neural().map(Neural::display_neural).unwrap_or(left);
    let all = [bytes(left)?, bytes(right)?, bytes(set)?];
    session.reset();
    until(&mut session, settings, "the frame in work ends", |s| s.job.as_ref().is_none_or(|work| !work.cancelled))?;
    Ok(all)
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn no_side_enters_the_history_of_another() -> Result<()> {
    let device = TestDevice::open()?;
    let [without, other, set] = pictures(&device, &mut settings(["history:off", "model:identity"]), 2)?;
    let [input, with, _] = pictures(&device, &mut settings(["off", "network"]), 2)?;
    // Each alone, as the network that is set.
    let mut alone = settings(["off", "network"]);
    alone.temporal = false;
    assert!(pictures(&device, &mut alone, 2)?[1] == without, "the side without history is that of a run without");
    assert!(with != without && with != input && other != input, "the sides differ");
    assert!(set == with, "the network that is set does not see what is beside it");
    Ok(())
}

/// Draws a live picture as the window does, and gives the bytes of the right side.
fn live(device: &TestDevice, session: &mut Session, settings: &mut Settings) -> Result<(Picture, Vec<u8>)> {
    session.advance(settings)?;
    let picture = session.picture(settings);
    let view = session.live_view(settings, picture)?;
    let mut recorded = Ok(());
    device.run_once("live picture", |cmd| recorded = session.record(cmd, picture, &view, settings))?;
    recorded?;
    session.submitted(picture, view);
    let side = session.shown(picture).sides[1].picture;
    Ok((picture, device.download(side, 0, side.size())?))
}

#[test]
fn off_is_as_if_there_were_no_network() -> Result<()> {
    let device = TestDevice::open()?;
    let mut settings = settings(["off", "network"]);
    // Nothing random: pictures depend on the scene alone.
    (settings.jitter, settings.look.frozen_seed) = (false, true);

    settings.network = false;
    let mut absent = Session::new(&device, Scene::builtin(), SIZE, None)?;
    let (kind, expected) = live(&device, &mut absent, &mut settings)?;
    assert_eq!((kind, absent.numbers.slices), (Picture::Live, 0));
    settings.network = true;
    let refused = absent.advance(&mut settings).unwrap_err().to_string();
    assert!(refused.contains("--no-network") && !settings.network, "{refused}");
    drop(absent);

    settings.network = true;
    let mut session = Session::new(&device, Scene::builtin(), SIZE, Some(Source::Starter))?;
    until(&mut session, &mut settings, "a frame of the network", |s| s.numbers.evaluated == 1)?;
    let side = session.shown(Picture::Pair).sides[1].picture;
    assert!(device.download(side, 0, side.size())? != expected, "the network changes the picture");
    assert!(session.numbers.slices > 0);

    settings.network = false;
    until(&mut session, &mut settings, "what is in work ends", |s| s.job.is_none())?;
    let before = session.numbers.slices;
    for _ in 0..3 {
        let (kind, off) = live(&device, &mut session, &mut settings)?;
        assert_eq!(kind, Picture::Bypass, "the frame passes keep the history primed");
        assert!(off == expected, "switched off, the picture is that of a run without a network");
    }
    assert_eq!(session.numbers.slices, before, "no step of the network was submitted");
    Ok(())
}

#[test]
fn a_reference_gets_better_and_sides_that_cannot_be_are_refused() -> Result<()> {
    let device = TestDevice::open()?;
    let mut settings = settings(["off", "reference:512"]);
    settings.network = false;
    let mut session = Session::new(&device, Scene::builtin(), SIZE, None)?;
    let (_, first) = live(&device, &mut session, &mut settings)?;
    let begun = session.samples().unwrap();
    assert!(begun.done > 0 && begun.done < begun.total, "{begun:?}");
    assert!(session.labels(&settings, Picture::Live)[1].contains("of 512"), "what is incomplete says so");
    until(&mut session, &mut settings, "all samples", |s| s.samples().is_some_and(|now| now.done == now.total))?;
    let (_, whole) = live(&device, &mut session, &mut settings)?;
    assert!(first != whole, "more samples, another picture");
    assert_eq!(session.labels(&settings, Picture::Live)[1], "reference, 512 samples");
    // It is what the same samples in one go give.
    let plain = crate::engine::studio::Plain::new(&session.studio, &session.geometry)?;
    let view = session.live_view(&settings, Picture::Live)?.with_samples(512);
    let of = View { frame: session.sides.reference().and_then(Reference::frame).unwrap(), ..view };
    plain.render(&session.studio, &of, &settings.look.parameters(1.0))?;
    assert!(device.download(plain.display(), 0, plain.display().size())? == whole, "parts add up to the whole");

    // The earlier choice stands.
    let before = session.sides().clone();
    settings.sides[1] = "model:/no/such/model".parse().unwrap();
    let end = Instant::now() + LIMIT;
    let refused = loop {
        match session.advance(&mut settings) {
            Err(error) => break error,
            Ok(_) => assert!(Instant::now() < end, "it is refused"),
        }
    };
    assert!(refused.downcast_ref::<Refused>().is_some_and(|text| text.0.contains("/no/such/model")), "{refused:#}");
    assert_eq!((session.sides(), &settings.sides), (&before, &before));
    Ok(())
}

#[test]
fn the_processor_gives_the_bytes_of_the_device_beside_it_and_alone() -> Result<()> {
    let device = TestDevice::open()?;
    let [beside, right, set] = pictures(&device, &mut settings(["network,route:cpu", "network"]), 1)?;
    assert!(beside == right && right == set, "both routes give the same picture");

    let wish = Wish { route: RouteArg::Cpu, ..Wish::EXACT };
    let mut session = Session::on_route(&device, Scene::builtin(), SIZE, Some(Source::Starter), wish)?;
    let mut alone = settings(["off", "network"]);
    let done = |s: &Session| s.progress().map_or(0.0, |(share, _)| share);
    until(&mut session, &mut alone, "the network is being computed", |s| done(s) > 0.0)?;
    // It is given up at once, and the same frame begins again.
    session.cancel();
    session.number = 0;
    session.advance(&mut alone)?;
    assert!(session.job.as_ref().is_none_or(|work| !work.cancelled) && done(&session) == 0.0);
    until(&mut session, &mut alone, "a frame", |s| s.numbers.timed == 1)?;
    let times = session.numbers.times.unwrap();
    assert!(times.network > 0.0 && times.stages.iter().all(|stage| *stage > 0.0), "{times:?}");
    assert_eq!(session.numbers.slices, 0, "the device computes none of the network");
    let picture = session.neural().map(Neural::display_neural).unwrap();
    assert!(device.download(picture, 0, picture.size())? == set, "the same picture alone");
    // A side of another route than the window's is refused in a sentence.
    alone.sides = ["network", "network,route:exact"].map(|name| name.parse().unwrap());
    let refused = session.advance(&mut alone).unwrap_err().to_string();
    assert!(refused.contains("--route exact"), "{refused}");
    Ok(())
}
