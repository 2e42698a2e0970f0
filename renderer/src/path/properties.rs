//! Camera paths of chance: written and read, and usable at every time.

use super::*;
use crate::camera::MAX_PITCH;
use glam::Vec3;
use proptest::prelude::*;

/// Seconds since the key before, position, yaw, pitch, field of view, cut.
type Drawn = (f64, [f32; 3], f32, f32, f32, bool);

fn keys() -> impl Strategy<Value = Vec<PathKey>> {
    let key = (
        0.01f64..10.0,
        [-1e3f32..1e3, -1e3f32..1e3, -1e3f32..1e3],
        -7.0f32..7.0,
        -1.0f32..1.0,
        0.1f32..2.5,
        any::<bool>(),
    );
    prop::collection::vec(key, 1..12).prop_map(|list| {
        let mut time = 0.0;
        let key = |(i, (step, position, yaw, pitch, fov_y, cut)): (usize, Drawn)| {
            time = if i == 0 { 0.0 } else { time + step };
            PathKey { time, camera: Camera { position: Vec3::from(position), yaw, pitch, fov_y }, cut: cut && i > 0 }
        };
        list.into_iter().enumerate().map(key).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn paths_come_back_from_their_documents(keys in keys()) {
        let path = KeyedPath::new(keys).expect("times ascend");
        let text = PathDocument::of(&path).text();
        let CameraPath::Keyed(again) = PathDocument::parse(&text).expect("what is written is read") else {
            return Err(TestCaseError::fail("keys became a round"));
        };
        prop_assert_eq!(path.keys().len(), again.keys().len());
        for (a, b) in path.keys().iter().zip(again.keys()) {
            prop_assert!((a.time - b.time).abs() < 1e-3 && a.cut == b.cut);
            prop_assert!((a.camera.position - b.camera.position).length() < 1e-2);
            prop_assert!((a.camera.axes().forward - b.camera.axes().forward).length() < 1e-3);
            prop_assert!((a.camera.fov_y - b.camera.fov_y).abs() < 1e-3);
        }
        prop_assert_eq!(PathDocument::of(&again).text(), text, "written twice, it is the same");
    }

    #[test]
    fn a_camera_is_sound_at_any_time(keys in keys(), time in prop_oneof![-1e7f64..1e7, 0.0f64..20.0]) {
        let path = KeyedPath::new(keys).expect("times ascend");
        let camera = path.at(time);
        prop_assert!(camera.position.is_finite() && camera.yaw.is_finite());
        prop_assert!(camera.pitch.abs() <= MAX_PITCH && camera.fov_y > 0.0 && camera.fov_y <= 3.0);
        prop_assert_eq!(camera, path.at(time), "a pure function of time");
        prop_assert!(!path.cuts(time, time));
    }
}
