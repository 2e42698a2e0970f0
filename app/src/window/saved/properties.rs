//! Settings of chance: what is written is read, and whatever is read is in its ranges.

use proptest::prelude::*;

use super::*;
use crate::window::control;
use crate::window::presets::Preset;

fn settings() -> impl Strategy<Value = Settings> {
    let values = prop::collection::vec((any::<prop::sample::Index>(), 0.0f32..=1.0), 0..20);
    let found = prop::option::of(0.1f32..1e4);
    let parts = (33u32..4096, 33u32..4096, values, any::<[bool; 4]>(), found);
    parts.prop_map(|(width, height, values, [a, b, c, d], found)| {
        let mut settings = Settings::new(Extent::new(width, height));
        settings.look.applied_white = found;
        let controls = control::all();
        for (which, part) in values {
            let control = &controls[which.index(controls.len())];
            let [low, high] = control.ends();
            control.set(&mut settings, low + part * (high - low));
        }
        (settings.overlay, settings.inspector, settings.vsync, settings.temporal) = (a, b, c, d);
        settings
    })
}

proptest! {
    #[test]
    fn settings_and_presets_come_back(settings in settings()) {
        let read = Saved::parse(&Saved::of(&settings).text().unwrap()).unwrap();
        prop_assert_eq!(&read, &Saved::of(&settings));
        prop_assert_eq!(read.size(), Some(settings.size));
        let mut back = Settings::new(settings.size);
        read.apply(&mut back);
        // What is found from the pictures is not a choice.
        back.look.applied_white = settings.look.applied_white;
        prop_assert_eq!(&back, &settings);

        let preset = Preset::parse(&Preset::of(&settings).text().unwrap()).unwrap();
        let mut back = Settings::new(settings.size);
        preset.apply(&mut back);
        for control in control::all() {
            prop_assert_eq!(control.get(&back), control.get(&settings), "{}", control.id);
        }
    }

    #[test]
    fn any_numbers_are_brought_into_their_ranges(tone: f32, white: f32, frames: u32, every: u32) {
        let number = |v: f32| serde_json::to_value(v).unwrap();
        let look = serde_json::json!({ "tone": number(tone), "paper_white": number(white), "reset_every": every });
        let Ok(saved) = Saved::parse(&serde_json::json!({ "look": look, "clip_frames": frames }).to_string()) else {
            // A number that JSON has no form for is written as null.
            prop_assert!(!(tone.is_finite() && white.is_finite()));
            return Ok(());
        };
        let mut settings = Settings::new(Extent::new(64, 64));
        saved.apply(&mut settings);
        prop_assert!(clip::LENGTHS.contains(&settings.clip_frames));
        for control in control::all() {
            prop_assert!(control.takes(control.get(&settings)), "{} is {}", control.id, control.get(&settings));
        }
    }
}
