//! What the sides promise, judged by bytes on the test device.

use std::time::Instant;

use gpu::testing::TestDevice;
use network::model::Source;
use renderer::Scene;

use super::*;

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

/// The bytes of the left and the right side after so many frames of the network, with the sides there from the first.
fn pictures(device: &TestDevice, settings: &mut Settings, frames: u64) -> Result<[Vec<u8>; 2]> {
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
    let bytes = |place: usize| device.download(shown.sides[place].picture, 0, shown.sides[place].picture.size());
    let both = [bytes(0)?, bytes(1)?];
    session.reset();
    until(&mut session, settings, "the frame in work ends", |s| s.job.as_ref().is_none_or(|work| !work.cancelled))?;
    Ok(both)
}

#[test]
fn no_side_enters_the_history_of_another() -> Result<()> {
    let device = TestDevice::open()?;
    let [without, other] = pictures(&device, &mut settings(["history:off", "model:identity"]), 2)?;
    let [input, with] = pictures(&device, &mut settings(["off", "network"]), 2)?;
    // Each alone, as the network that is set.
    let mut alone = settings(["off", "network"]);
    alone.temporal = false;
    assert!(pictures(&device, &mut alone, 2)?[1] == without, "the side without history is that of a run without");
    assert!(with != without && with != input && other != input, "the sides differ");
    let [_, both] = pictures(&device, &mut settings(["model:identity", "network"]), 2)?;
    assert!(both == with, "the network that is set does not see what is beside it");
    Ok(())
}
