//! Documents of chance: written, sealed and read, they say the same.

use proptest::prelude::*;

use super::frame::FrameInfo;
use super::parameters::FrameParameters;
use super::schema::{CameraPose, FrameDocument, TensorEntry};
use super::seal;
use super::tensor::{DType, Tensor};
use crate::frame::{CustomStyle, Parameters, Style, ranges};

fn parameters() -> impl Strategy<Value = Parameters> {
    let custom = (
        ranges::EXPOSURE,
        ranges::CONTRAST,
        ranges::GAMMA,
        ranges::SATURATION,
        ranges::HUE,
        ranges::VIBRANCE,
        ranges::STRENGTH,
    )
        .prop_map(|(exposure, contrast, gamma, saturation, hue, vibrance, strength)| CustomStyle {
            exposure,
            contrast,
            gamma,
            saturation,
            hue,
            vibrance,
            strength,
        });
    let numbers = (
        ranges::PAPER_WHITE,
        ranges::LOCAL_TONE,
        ranges::LOCAL_STRUCTURE,
        ranges::INTENSITY,
        ranges::COLOR_STRENGTH,
        ranges::BLEND_SCALE,
    );
    (any::<(u32, bool, bool)>(), 0u32..3, prop::option::of(custom), numbers).prop_map(
        |((seed, history_valid, auto_mask), style, custom, (paper_white, tone, structure, intensity, color, blend))| {
            Parameters {
                seed,
                history_valid,
                auto_mask,
                paper_white,
                local_tone: tone,
                local_structure: structure,
                style: Style::try_from(style).unwrap_or_default(),
                custom,
                intensity,
                color_strength: color,
                blend_scale: blend,
                ..Parameters::default()
            }
        },
    )
}

fn pose() -> impl Strategy<Value = CameraPose> {
    any::<([f32; 3], f32, f32, f32)>().prop_map(|(position, yaw, pitch, fov_y)| CameraPose {
        position,
        yaw,
        pitch,
        fov_y,
    })
}

fn finite(pose: &CameraPose) -> bool {
    pose.position.iter().chain([&pose.yaw, &pose.pitch, &pose.fov_y]).all(|v| v.is_finite())
}

proptest! {
    #[test]
    fn parameters_come_back_bit_for_bit(parameters in parameters()) {
        let document = FrameParameters::from(&parameters);
        let text = serde_json::to_string(&document).unwrap();
        let read: FrameParameters = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read, document);
        prop_assert_eq!(Parameters::try_from(&read).unwrap(), parameters);
    }

    #[test]
    fn frame_documents_come_back_with_their_seal(
        parameters in parameters(), number: u32, time in prop::option::of(-1e9f64..1e9), camera in pose().prop_filter("JSON has no infinity", finite),
        name in "[ -~]{0,20}", file in ".{0,12}", shape in any::<[usize; 3]>(), bit: prop::sample::Index,
    ) {
        let parameters = FrameParameters::from(&parameters);
        let frame = FrameInfo { number, reset: false, parameters, time, jitter: Some([0.25, -0.5]), camera: Some(camera), previous_camera: None };
        let tensors = vec![TensorEntry { name, file, dtype: DType::F16, shape, sha256: "0".repeat(64) }];
        // Whatever the sides, the bytes of a tensor are counted without overflow.
        let product = shape.iter().try_fold(2u128, |all, side| all.checked_mul(*side as u128)).and_then(|all| u64::try_from(all).ok());
        prop_assert!(tensors[0].bytes().is_none() || tensors[0].bytes() == product);
        let document = FrameDocument { id: "i".into(), previous: String::new(), frame, tensors, pictures: Vec::new(), sha256: String::new() };
        let text = seal::seal(&document).unwrap();
        prop_assert!(seal::intact(text.as_bytes()));
        let read: FrameDocument = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read.sha256.clone(), seal::digest_of(&text));
        prop_assert_eq!(FrameDocument { sha256: String::new(), ..read }, document);
        let mut damaged = text.into_bytes();
        let at = bit.index(damaged.len() * 8);
        damaged[at / 8] ^= 1 << (at % 8);
        prop_assert!(!seal::intact(&damaged), "bit {} is not noticed", at);
    }

    #[test]
    fn tensors_keep_their_elements(halves in prop::collection::vec(any::<u16>(), 1..200)) {
        let tensor = Tensor::halves("t", [1, 1, halves.len()], halves.iter().copied());
        prop_assert!(tensor.whole());
        prop_assert_eq!(tensor.as_halves(), halves);
    }
}
