use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::*;
use crate::frame::Parameters;
use crate::geometry::{Extent, Geometry};

fn header(geometry: &Geometry) -> Header {
    Header {
        program: Program {
            name: "nrview".into(),
            version: "0".into(),
            commit: "unknown".into(),
            executable: String::new(),
        },
        created: 1,
        device: None,
        route: RouteIdentity { name: "cpu".into(), operations: BTreeMap::new() },
        shaders: BTreeMap::new(),
        model: ModelName { source: "starter".into(), digest: "0".repeat(64) },
        extents: Extents::of(geometry),
        source: SourceIdentity::Scene { name: "test".into(), seed: None, rate: 30.0 },
        motion: MotionConvention::default(),
        checks: vec![Check::Head, Check::NextHistory],
        all_tensors: false,
    }
}

fn frame(geometry: &Geometry, number: u32) -> CapturedFrame {
    let parameters = Parameters { seed: number, history_valid: number > 0, local_tone: 0.1, ..Parameters::default() };
    let tensors = expected(&header(geometry), geometry, parameters.history_valid)
        .into_iter()
        .map(|want| {
            let bytes = want.shape.iter().product::<usize>() * want.dtype.bytes();
            let fill = (0..bytes).map(|i| ((i * 31 + number as usize) % 59) as u8).collect();
            Tensor::new(want.name, want.dtype, want.shape, fill)
        })
        .collect();
    let info = FrameInfo {
        number,
        reset: number == 0,
        parameters: (&parameters).into(),
        time: Some(0.5),
        jitter: Some([0.25, -0.5]),
        camera: None,
        previous_camera: None,
    };
    CapturedFrame { info, tensors }
}

fn geometry() -> Geometry {
    Geometry::new(Extent::new(33, 7)).unwrap()
}

fn record(directory: &Path, frames: std::ops::Range<u32>) {
    let geometry = geometry();
    let mut writer = Writer::create(directory, &geometry, header(&geometry), Pictures::All).unwrap();
    for number in frames {
        writer.add(&frame(&geometry, number)).unwrap();
    }
    writer.finish().unwrap();
}

fn refusal(directory: &Path) -> String {
    Capture::open(directory).unwrap_err().to_string()
}

fn files(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle");
    record(&bundle, 0..3);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside the bundle");
    let capture = Capture::open(&bundle).unwrap();
    assert!(capture.finished());
    assert_eq!(capture.frames().len(), 3);
    for (number, recorded) in capture.frames().iter().enumerate() {
        assert_eq!(recorded.load().unwrap(), frame(&geometry(), number as u32));
        let parameters = Parameters::try_from(&recorded.info().parameters).unwrap();
        assert_eq!((parameters.seed, parameters.local_tone), (number as u32, 0.1));
    }
    assert!(capture.frames()[0].tensor("previous-history").is_err());
}

#[test]
fn every_changed_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle");
    record(&bundle, 0..2);
    let all = files(&bundle);
    assert_eq!(all.len(), 1 + 2 + 2 * 13 + 1, "{all:?}");
    for path in all {
        let name = path.strip_prefix(&bundle).unwrap().display().to_string();
        let bytes = fs::read(&path).unwrap();
        for at in [0, bytes.len() / 2, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            fs::write(&path, changed).unwrap();
            let message = refusal(&bundle);
            assert!(message.contains(&name), "{name} at {at}: {message}");
        }
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert!(refusal(&bundle).contains(&name), "{name} truncated");
        fs::remove_file(&path).unwrap();
        assert!(refusal(&bundle).contains(&name), "{name} missing");
        let other = path.with_file_name("renamed.bin");
        fs::write(&other, &bytes).unwrap();
        let message = refusal(&bundle);
        let document = name.ends_with(".json");
        assert!(document || message.contains("renamed.bin is not part"), "{name} renamed: {message}");
        fs::rename(&other, &path).unwrap();
    }
    Capture::open(&bundle).unwrap();
}

#[test]
fn frames_cannot_be_taken_out_or_exchanged() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    record(&a, 0..3);
    record(&b, 0..3);
    let place = |bundle: &Path, n: u32| bundle.join(format!("frames/{n:06}"));
    let away = folder.path().join("away");
    for n in 0..3 {
        fs::rename(place(&a, n), &away).unwrap();
        assert!(refusal(&a).contains(&format!("frames/{n:06} is missing")));
        fs::rename(place(&b, n), place(&a, n)).unwrap();
        assert!(refusal(&a).contains("belongs to another capture"));
        fs::rename(place(&a, n), place(&b, n)).unwrap();
        fs::rename(&away, place(&a, n)).unwrap();
    }
    fs::rename(place(&a, 2), place(&a, 7)).unwrap();
    let message = refusal(&a);
    assert!(message.contains("frames/000002 is missing") && message.contains("frames/000007"), "{message}");
    fs::rename(place(&a, 7), place(&a, 2)).unwrap();
    fs::write(a.join("notes.txt"), "x").unwrap();
    assert!(refusal(&a).contains("notes.txt is not part"));
    fs::create_dir(folder.path().join("none")).unwrap();
    assert!(refusal(&folder.path().join("none")).contains("not a capture"));
}

#[test]
fn an_interrupted_capture_is_whole_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle");
    let geometry = geometry();
    let mut writer = Writer::create(&bundle, &geometry, header(&geometry), Pictures::None).unwrap();
    writer.add(&frame(&geometry, 0)).unwrap();
    // What a program that is killed in the middle of a frame leaves.
    std::mem::forget(writer);
    let partial = folder.path().join(".bundle.partial");
    fs::create_dir(&partial).unwrap();
    fs::write(partial.join("head.bin"), [0; 5]).unwrap();
    let capture = Capture::open(&bundle).unwrap();
    assert!(!capture.finished());
    assert_eq!(capture.frames().len(), 1);

    let mut other = header(&geometry);
    other.model.digest = "1".repeat(64);
    let error = Writer::resume(&bundle, &geometry, other, Pictures::None).err().unwrap().to_string();
    assert!(error.contains("another model"), "{error}");
    let later = Header { created: 99, ..header(&geometry) };
    let (mut writer, so_far) = Writer::resume(&bundle, &geometry, later, Pictures::None).unwrap();
    assert_eq!((writer.frames(), so_far.frames().len()), (1, 1));
    assert!(writer.add(&frame(&geometry, 2)).unwrap_err().to_string().contains("last frame has number 0"));
    writer.add(&frame(&geometry, 1)).unwrap();
    writer.finish().unwrap();
    assert!(!partial.exists());
    let capture = Capture::open(&bundle).unwrap();
    assert!(capture.finished() && capture.frames().len() == 2 && capture.header().created == 1);
}

#[test]
fn frames_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle");
    let geometry = geometry();
    let mut writer = Writer::create(&bundle, &geometry, header(&geometry), Pictures::None).unwrap();
    let mut missing = frame(&geometry, 0);
    missing.tensors.retain(|tensor| tensor.name != "head");
    assert!(writer.add(&missing).unwrap_err().to_string().contains("no tensor head"));
    let mut short = frame(&geometry, 0);
    short.tensors[0].bytes.pop();
    assert!(writer.add(&short).unwrap_err().to_string().contains("color"));
    let mut extra = frame(&geometry, 0);
    extra.tensors.push(Tensor::new("other", DType::U8, [1, 1, 1], vec![0]));
    assert!(writer.add(&extra).unwrap_err().to_string().contains("takes no tensor other"));
    assert!(Writer::create(&bundle, &geometry, header(&geometry), Pictures::None).is_err(), "not empty");
    assert_eq!(Capture::open(&bundle).unwrap().frames().len(), 0);
}

#[test]
fn the_recorder_reports_its_failure_and_keeps_whole_frames() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle");
    let geometry = geometry();
    let writer = Writer::create(&bundle, &geometry, header(&geometry), Pictures::None).unwrap();
    let mut recorder = Recorder::start(writer, 2).unwrap();
    recorder.push(frame(&geometry, 0)).unwrap();
    recorder.push(frame(&geometry, 5)).unwrap();
    let error = (0..100).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        recorder.push(frame(&geometry, 6)).err()
    });
    assert!(error.unwrap().to_string().contains("frame 5"));
    drop(recorder);
    assert_eq!(Capture::open(&bundle).unwrap().frames().len(), 1);

    let again = folder.path().join("again");
    let writer = Writer::create(&again, &geometry, header(&geometry), Pictures::Png).unwrap();
    let mut recorder = Recorder::start(writer, 1).unwrap();
    for number in 0..4 {
        recorder.push(frame(&geometry, number)).unwrap();
    }
    assert_eq!(recorder.finish().unwrap(), 4);
    assert_eq!(Capture::open(&again).unwrap().frames().len(), 4);
}

#[test]
fn exr_and_png_hold_the_values() {
    use exr::prelude::*;
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("bundle");
    record(&bundle, 0..1);
    let image = read_all_flat_layers_from_file(bundle.join("frames/000000/frame.exr")).unwrap();
    assert_eq!(image.layer_data.len(), 1, "one part");
    let layer = &image.layer_data[0];
    assert_eq!((layer.size.0, layer.size.1), (33, 7));
    let frame = frame(&geometry(), 0);
    let color = frame.tensor("color").unwrap();
    let find = |name: &str| layer.channel_data.list.iter().find(|c| c.name.to_string() == name).unwrap();
    for (c, name) in ["R", "G", "B", "A"].iter().enumerate() {
        let FlatSamples::F32(values) = &find(name).sample_data else { panic!("one sample type") };
        assert!(values.iter().enumerate().all(|(i, v)| v.to_bits() == color.value(4 * i + c).to_bits()), "{name}");
    }
    for name in ["Z", "motion.X", "motion.Y", "proxy.R", "next.G", "nr.B"] {
        assert!(matches!(find(name).sample_data, FlatSamples::F32(_)), "{name}");
    }
    let png = fs::read(bundle.join("frames/000000/display.png")).unwrap();
    assert!(png.windows(4).any(|w| w == b"sRGB"));
    let decoded = image::load_from_memory(&png).unwrap().into_rgb8();
    let display = frame.tensor("display").unwrap();
    assert!(decoded.pixels().enumerate().all(|(i, p)| p.0 == display.bytes[4 * i..4 * i + 3]));
}
