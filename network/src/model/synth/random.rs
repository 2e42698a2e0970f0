//! Random streams and exact rounding to E4M3 and half, as the generator's definition spells them.

/// Increment of SplitMix64.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
/// Sum of four 15-bit digits at the centre of the bell.
const CENTRE: f64 = 65534.0;
/// Deviation of that sum, 32768 / sqrt(3).
const DEVIATION: f64 = 18918.61361860324;
/// Values that [`bell`] takes.
const BELL_VALUES: u32 = 131_069;
/// E4M3 code of the largest legal weight, 9.
pub(super) const LARGEST: u8 = 0x51;

/// Output function of SplitMix64.
fn mix(mut z: u64) -> u64 {
    z ^= z >> 30;
    z = z.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^= z >> 27;
    z = z.wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// FNV-1a over bytes.
fn fnv(parts: [&str; 3]) -> u64 {
    parts
        .iter()
        .flat_map(|part| part.bytes())
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

/// Key of the stream of one field.
pub(super) fn stream_key(seed: u64, record: &str, field: &str) -> u64 {
    mix(mix(seed.wrapping_add(GAMMA)) ^ fnv([record, "/", field]))
}

/// Element `index` of a stream.
pub(super) fn draw(key: u64, index: u64) -> u64 {
    mix(key.wrapping_add((index + 1).wrapping_mul(GAMMA)))
}

/// The bell-shaped integer of a draw, 0..=131068.
pub(super) fn bell(z: u64) -> u32 {
    let digit = |shift: u32| (z >> shift) as u32 & 0x7FFF;
    digit(0) + digit(15) + digit(30) + digit(45)
}

/// The bell value with mean 0 and deviation 1.
pub(super) fn normal(bell: u32) -> f64 {
    (f64::from(bell) - CENTRE) / DEVIATION
}

/// |value| rounded to nearest-even on a binary grid of least exponent `emin`: the code without its sign.
///
/// A value that *is* zero (the centre of the bell) takes the code of 2^-1, not 0: the generator takes the exponent of
/// zero to be -1, and the digests of all its models contain that.
fn round_grid(value: f64, emin: i32, mantissa: i32) -> u32 {
    let magnitude = value.abs();
    // Nonzero values are far from f64's own subnormals, so the exponent field is the exponent.
    let exponent = match magnitude.to_bits() {
        0 => -1,
        bits => ((bits >> 52) as i32 - 1023).max(emin),
    };
    let scale = f64::from_bits(((1023 + mantissa - exponent) as u64) << 52);
    let rounded = (magnitude * scale).round_ties_even() as u32;
    (((exponent - emin) as u32) << mantissa) + rounded
}

/// E4M3 code of a value, magnitude capped at 9; a nonzero value that rounds to zero gives +0.
fn e4m3(value: f64) -> u8 {
    let code = round_grid(value, -6, 3).min(u32::from(LARGEST)) as u8;
    if value < 0.0 && code > 0 { code | 0x80 } else { code }
}

/// Half bits of a value; a nonzero value that rounds to zero gives +0. All uses are far below the half range's end.
pub(super) fn f16_bits(value: f64) -> u16 {
    let code = round_grid(value, -14, 10) as u16;
    if value < 0.0 && code > 0 { code | 0x8000 } else { code }
}

/// The E4M3 code of every bell value times `deviation`.
pub(super) fn weight_table(deviation: f64) -> Vec<u8> {
    (0..BELL_VALUES).map(|s| e4m3(normal(s) * deviation)).collect()
}
