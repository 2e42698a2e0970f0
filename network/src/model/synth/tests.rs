//! Digests of the public generator for a spread of presets and seeds.

use super::*;

/// preset, seed, digest, as `synth_model.py --digest-only` prints them.
const DIGESTS: &str = include_str!("../../../tests/vectors/synth_digests.txt");

#[test]
fn models_equal_the_public_generator() {
    let mut lines = 0;
    for line in DIGESTS.lines().filter(|line| !line.starts_with('#')) {
        let [preset, seed, digest] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let model = generate(Preset::from_name(preset).unwrap(), seed.parse().unwrap()).unwrap();
        assert_eq!(model.digest(), digest, "{preset} {seed}");
        lines += 1;
    }
    assert_eq!(lines, 14);
}

#[test]
fn presets_have_names() {
    for preset in Preset::ALL {
        assert_eq!(Preset::from_name(preset.name()), Some(preset));
    }
    assert_eq!(Preset::from_name("Lively"), None);
}

#[test]
fn rounding_follows_the_definition() {
    assert_eq!(random::f16_bits(1.0), 0x3C00);
    assert_eq!(random::f16_bits(-1.5), 0xBE00);
    assert_eq!(random::f16_bits(2f64.powi(-24)), 1);
    assert_eq!(random::f16_bits(-(2f64.powi(-26))), 0, "a value that rounds to zero has no sign");
    assert_eq!(random::f16_bits(1.0 + 2f64.powi(-11)), 0x3C00, "ties go to the even code");
    assert_eq!(random::f16_bits(2047.5), 0x6800, "rounding up may carry into the exponent");
    assert_eq!(random::f16_bits(0.0), 0x3400, "the generator's code for the centre of the bell");
    let table = random::weight_table(100.0);
    assert_eq!((table[0], table[131_068]), (0xD1, 0x51), "magnitudes are capped at 9");
}
