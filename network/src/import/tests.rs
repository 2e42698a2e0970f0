use std::fs;
use std::path::Path;

use super::*;

const SIZE: Extent = Extent::new(96, 64);
/// How far the pattern moves a frame, in pixels, y down.
const SHIFT: [f32; 2] = [3.0, -2.0];

/// A smooth pattern that has moved `frame` times.
fn color(frame: usize) -> Vec<[f32; 3]> {
    let at = |i: u32| {
        let x = (i % SIZE.width) as f32 - SHIFT[0] * frame as f32;
        let y = (i / SIZE.width) as f32 - SHIFT[1] * frame as f32;
        [0.5 + 0.4 * (x * 0.31).sin(), 0.5 + 0.4 * (y * 0.23 + x * 0.1).cos(), 0.5 + 0.3 * (x * 0.17 - y * 0.29).sin()]
    };
    (0..SIZE.pixels() as u32).map(at).collect()
}

/// Writes two frames and their document; `declare` is the document's motion, `vector` what the files hold.
fn write(folder: &Path, declare: &str, vector: [f32; 2], bottom_first: bool) -> std::path::PathBuf {
    let mut frames = Vec::new();
    for frame in 0..2 {
        let mut rows: Vec<Vec<u8>> = color(frame)
            .chunks(SIZE.width as usize)
            .map(|row| row.iter().flatten().flat_map(|&v| half::from_f32(v).to_le_bytes()).collect())
            .collect();
        if bottom_first {
            rows.reverse();
        }
        fs::write(folder.join(format!("c{frame}")), rows.concat()).unwrap();
        let motion: Vec<u8> = (0..SIZE.pixels()).flat_map(|_| vector).flat_map(f32::to_le_bytes).collect();
        fs::write(folder.join(format!("m{frame}")), motion).unwrap();
        fs::write(folder.join(format!("d{frame}")), vec![0; SIZE.pixels() * 4]).unwrap();
        frames.push(format!(r#"{{"color": "c{frame}", "motion": "m{frame}", "depth": "d{frame}"}}"#));
    }
    let rows = if bottom_first { "bottom-first" } else { "top-first" };
    let text = format!(
        r#"{{"size": [96, 64], "color": {{"format": "f16", "channels": ["R", "G", "B"], "rows": "{rows}"}},
        "motion": {{"format": "f32", "channels": ["X", "Y"], {declare}}},
        "depth": {{"format": "f32", "channels": ["Z"]}}, "frames": [{}]}}"#,
        frames.join(",")
    );
    let path = folder.join("import.json");
    fs::write(&path, text).unwrap();
    path
}

fn verdict(declare: &str, vector: [f32; 2]) -> MotionVerdict {
    let folder = tempfile::tempdir().unwrap();
    let import = Import::open(&write(folder.path(), declare, vector, false)).unwrap();
    let [a, b] = [0, 1].map(|i| import.frame(i).unwrap());
    check_motion(&b, &a, SIZE).unwrap()
}

const PIXELS: &str = r#""direction": "current-to-previous", "unit": "pixels", "y": "down""#;
const UV: &str = r#""direction": "current-to-previous", "unit": "uv", "y": "down""#;
const BACK: [f32; 2] = [-SHIFT[0], -SHIFT[1]];
const BACK_UV: [f32; 2] = [-SHIFT[0] / 96.0, -SHIFT[1] / 64.0];

#[test]
fn right_conventions_pass_in_every_form() {
    let cases = [
        (PIXELS, BACK),
        (UV, BACK_UV),
        (r#""direction": "previous-to-current", "unit": "pixels", "y": "down""#, SHIFT),
        (r#""direction": "current-to-previous", "unit": "pixels", "y": "up""#, [BACK[0], -BACK[1]]),
        (r#""direction": "current-to-previous", "unit": "ndc", "y": "up""#, [2.0 * BACK_UV[0], -2.0 * BACK_UV[1]]),
    ];
    for (declare, vector) in cases {
        let verdict = verdict(declare, vector);
        assert!(verdict.passes && verdict.declared < 0.3 * verdict.still, "{declare}: {verdict:?}");
    }
}

#[test]
fn wrong_conventions_are_caught_and_the_fix_named() {
    let cases = [
        (PIXELS, [BACK[0], -BACK[1]], "the sign of y flipped"),
        (PIXELS, [-BACK[0], BACK[1]], "the sign of x flipped"),
        (PIXELS, SHIFT, "both signs flipped"),
        (UV, [2.0 * BACK_UV[0], 2.0 * BACK_UV[1]], "halved"),
        (r#""direction": "current-to-previous", "unit": "ndc", "y": "down""#, BACK_UV, "doubled"),
        (UV, BACK, "unit pixels"),
        (PIXELS, BACK_UV, "unit uv"),
        (UV, SHIFT, "both signs flipped (the other direction), scaled from pixels"),
    ];
    for (declare, vector, words) in cases {
        let verdict = verdict(declare, vector);
        assert!(!verdict.passes, "{declare} {vector:?}: {verdict:?}");
        let fix = verdict.best.to_string();
        assert!(fix.contains(words), "{declare} {vector:?}: {fix}, not {words}");
    }
}

#[test]
fn values_arrive_in_our_conventions() {
    let folder = tempfile::tempdir().unwrap();
    let import = Import::open(&write(folder.path(), PIXELS, BACK, true)).unwrap();
    let frame = import.frame(1).unwrap();
    let expected = color(1);
    for i in [0, 95, 96, 3000, SIZE.pixels() - 1] {
        assert_eq!(frame.color[i][..3], expected[i].map(half::from_f32), "{i}");
    }
    assert_eq!(frame.motion[7], BACK_UV);
    // The first pixel's vector leads out of the picture.
    assert_eq!(frame.packed_motion(SIZE)[0], 0);
    assert_ne!(frame.packed_motion(SIZE)[SIZE.pixels() / 2 + 48], 0);
    assert!(check_motion(&frame, &frame, SIZE).is_some());
}

#[test]
fn exr_files_are_read_by_channel_name() {
    use exr::prelude::*;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.exr");
    let pattern = color(0);
    let channel = |name: &str, c: usize| {
        AnyChannel::new(name, FlatSamples::F16(pattern.iter().map(|p| f16::from_f32(p[c])).collect()))
    };
    let list: Vec<AnyChannel<FlatSamples>> = vec![
        channel("R", 0),
        channel("G", 1),
        channel("B", 2),
        AnyChannel::new("Z", FlatSamples::F32(vec![2.5; SIZE.pixels()])),
        AnyChannel::new("motion.X", FlatSamples::F32(vec![0.25; SIZE.pixels()])),
        AnyChannel::new("motion.Y", FlatSamples::F32(vec![-0.125; SIZE.pixels()])),
    ];
    let layer = Layer::new(
        (96, 64),
        LayerAttributes::default(),
        Encoding::SMALL_LOSSLESS,
        AnyChannels::sort(list.into_iter().collect()),
    );
    Image::from_layer(layer).write().to_file(&path).unwrap();
    let text = |z: &str, size: &str| {
        format!(
            r#"{{"size": {size}, "color": {{"format": "exr", "channels": ["R", "G", "B"]}},
            "motion": {{"format": "exr", "channels": ["motion.X", "motion.Y"], {UV}}},
            "depth": {{"format": "exr", "channels": ["{z}"]}},
            "frames": [{{"color": "all.exr", "motion": "all.exr", "depth": "all.exr"}}]}}"#
        )
    };
    let document = folder.path().join("import.json");
    fs::write(&document, text("Z", "[96, 64]")).unwrap();
    let frame = Import::open(&document).unwrap().frame(0).unwrap();
    assert_eq!(frame.color[1234][..3], pattern[1234].map(half::from_f32));
    assert_eq!((frame.depth[5], frame.motion[6]), (2.5, [0.25, -0.125]));
    fs::write(&document, text("depth", "[96, 64]")).unwrap();
    let error = Import::open(&document).unwrap().frame(0).unwrap_err().to_string();
    assert!(error.contains("no channel depth") && error.contains("motion.X"), "{error}");
    fs::write(&document, text("Z", "[96, 65]")).unwrap();
    let error = Import::open(&document).unwrap().frame(0).unwrap_err().to_string();
    assert!(error.contains("96x64 pixels instead of 96x65"), "{error}");
}

#[test]
fn exr_files_have_a_bounded_number_of_channels() {
    use exr::prelude::*;
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("import.json");
    fs::write(
        &document,
        format!(
            r#"{{"size": [96, 64], "color": {{"format": "exr", "channels": ["c00", "c01", "c02"]}},
            "motion": {{"format": "exr", "channels": ["c00", "c01"], {UV}}},
            "depth": {{"format": "exr", "channels": ["c03"]}},
            "frames": [{{"color": "all.exr", "motion": "all.exr", "depth": "all.exr"}}]}}"#
        ),
    )
    .unwrap();
    let read = |count: usize| {
        let channel =
            |c: usize| AnyChannel::new(format!("c{c:02}").as_str(), FlatSamples::F32(vec![c as f32; SIZE.pixels()]));
        let channels = AnyChannels::sort((0..count).map(channel).collect());
        let layer = Layer::new((96, 64), LayerAttributes::default(), Encoding::SMALL_LOSSLESS, channels);
        Image::from_layer(layer).write().to_file(folder.path().join("all.exr")).unwrap();
        Import::open(&document).unwrap().frame(0)
    };
    assert_eq!(read(64).unwrap().depth[17], 3.0);
    for count in [65, 400] {
        let error = read(count).unwrap_err().to_string();
        assert!(error.contains(&format!("{count} channels, at most 64")), "{error}");
    }
}

#[test]
fn bad_documents_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), PIXELS, BACK, false);
    let good = fs::read_to_string(&path).unwrap();
    let refused = |from: &str, to: &str| {
        fs::write(&path, good.replace(from, to)).unwrap();
        let error = Import::open(&path).and_then(|import| import.frame(0)).unwrap_err().to_string();
        fs::write(&path, &good).unwrap();
        error
    };
    assert!(refused("\"unit\": \"pixels\"", "\"unit\": \"furlongs\"").contains("furlongs"));
    assert!(refused("\"c0\"", "\"../c0\"").contains("parent component"));
    assert!(refused("\"c0\"", "\"none\"").contains("none"));
    assert!(refused("[96, 64]", "[97, 64]").contains("bytes"));
    assert!(refused("[96, 64]", "[0, 64]").contains("empty"));
    assert!(refused("[\"X\", \"Y\"]", "[\"X\"]").contains("motion has 1 channels"));
    assert!(refused("\"y\": \"down\"", "\"y\": \"down\", \"z\": 1").contains("unknown field"));
}
