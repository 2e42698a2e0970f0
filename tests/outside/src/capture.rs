//! Captures: documents whose seal is right and whose contents are not.

use std::path::Path;

use network::capture::{
    Capture, CapturedFrame, Check as Checked, Extents, FrameInfo, Header, ModelName, MotionConvention, Pictures,
    Program, RouteIdentity, SourceIdentity, Tensor, Writer, expected, sha256,
};
use network::frame::Parameters;
use network::geometry::{Extent, Geometry};
use serde_json::Value;

use crate::{Check, edit, put, sentence};

/// A capture of the smallest size, one frame.
pub fn small(bundle: &Path) {
    let geometry = Geometry::new(Extent::new(33, 7)).expect("a size");
    let header = Header {
        program: Program {
            name: "nrview".into(),
            version: "0".into(),
            commit: "unknown".into(),
            executable: String::new(),
        },
        created: 1,
        device: None,
        route: RouteIdentity { name: "cpu".into(), operations: [("a".to_owned(), "b".to_owned())].into() },
        shaders: [("a".to_owned(), "b".to_owned())].into(),
        model: ModelName { source: "starter".into(), digest: "0".repeat(64) },
        extents: Extents::of(&geometry),
        source: SourceIdentity::Scene { name: "s".into(), seed: None, rate: 30.0 },
        motion: MotionConvention::default(),
        checks: vec![Checked::Head, Checked::NextHistory],
        all_tensors: false,
    };
    let parameters = Parameters::default();
    let zeros = |want: network::capture::Expected| {
        let length = want.shape.iter().product::<usize>() * want.dtype.bytes();
        Tensor::new(want.name, want.dtype, want.shape, vec![0; length])
    };
    let tensors = expected(&header, &geometry, parameters.history_valid).into_iter().map(zeros).collect();
    let info = FrameInfo {
        number: 0,
        reset: true,
        parameters: (&parameters).into(),
        time: Some(0.5),
        jitter: Some([0.25, -0.5]),
        camera: None,
        previous_camera: None,
    };
    let mut writer = Writer::create(bundle, &geometry, header, Pictures::None).expect("a capture");
    writer.add(&CapturedFrame { info, tensors }).expect("a frame");
    writer.finish().expect("a capture");
}

/// A document without its seal.
fn opened(path: &Path) -> Value {
    let mut value: Value = serde_json::from_slice(&std::fs::read(path).expect("a document")).expect("JSON");
    value.as_object_mut().expect("an object").remove("sha256");
    value
}

/// A document with a right seal, whatever else it says; other bytes as they are.
fn sealed(document: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(document);
    let body = text.trim_end().trim_end_matches('}').trim_end();
    let blank = format!("{body},\n  \"sha256\": \"{}\"\n}}\n", "0".repeat(64));
    let digest = sha256(blank.as_bytes());
    format!("{body},\n  \"sha256\": \"{digest}\"\n}}\n").into_bytes()
}

/// The manifest or a frame's document, by the first byte. Where only the frame is changed, the manifest lists its new
/// digest.
pub fn check() -> Check {
    let root = tempfile::tempdir().expect("a scratch folder");
    let bundle = root.path().join("bundle");
    small(&bundle);
    let paths = [bundle.join("manifest.json"), bundle.join("frames/000000/frame.json")];
    let good = paths.clone().map(|path| opened(&path));
    let whole = paths.clone().map(|path| std::fs::read(path).expect("a document"));
    Box::new(move |bytes| {
        let _ = &root;
        let (which, changes) = bytes.split_first().map_or((0, bytes), |(which, rest)| (usize::from(which % 2), rest));
        let document = sealed(&edit::document(&good[which], changes));
        let digest = document.windows(11).rposition(|part| part == b"\"sha256\": \"").map(|at| at + 11);
        if which == 1 {
            let mut manifest = good[0].clone();
            let digest = digest.and_then(|at| document.get(at..at + 64)).map(String::from_utf8_lossy);
            manifest["frames"][0]["sha256"] = digest.unwrap_or_default().into();
            put(&paths[0], &sealed(manifest.to_string().as_bytes()));
        } else {
            put(&paths[1], &whole[1]);
        }
        put(&paths[which], &document);
        match Capture::open(&bundle) {
            Ok(capture) => {
                for frame in capture.frames() {
                    frame.load().expect("an open capture has its tensors");
                    Parameters::try_from(&frame.info().parameters).expect("its parameters hold");
                }
            }
            Err(error) => sentence(&error.to_string()),
        }
    })
}
