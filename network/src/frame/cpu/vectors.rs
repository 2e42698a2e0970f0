//! Reading the contract's vectors in tests.

use serde_json::Value;

/// A vector file by its stem.
pub fn load(stem: &str) -> Value {
    let text = match stem {
        "noise" => include_str!("../../../tests/vectors/noise.json"),
        "frame" => include_str!("../../../tests/vectors/frame.json"),
        "temporal" => include_str!("../../../tests/vectors/temporal.json"),
        _ => panic!("no vector file {stem}"),
    };
    serde_json::from_str(text).unwrap()
}

/// A number given as hexadecimal text.
pub fn bits(v: &Value) -> u32 {
    let text = v.as_str().unwrap();
    u32::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

/// An f32 given by its bits.
pub fn float(v: &Value) -> f32 {
    f32::from_bits(bits(v))
}

/// A list of numbers; "inf", "-inf" and "nan" are text.
pub fn numbers(v: &Value) -> Vec<f64> {
    let number = |n: &Value| match n.as_str() {
        Some(text) => text.parse().unwrap(),
        None => n.as_f64().unwrap(),
    };
    v.as_array().unwrap().iter().map(number).collect()
}

/// Distance of two halves in half steps, across zero too.
pub fn steps(a: u16, b: u16) -> u32 {
    let order = |h: u16| {
        let magnitude = i32::from(h & 0x7fff);
        if h & 0x8000 == 0 { magnitude } else { -magnitude }
    };
    order(a).abs_diff(order(b))
}
