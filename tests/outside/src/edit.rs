//! Bytes as changes of a good document.

use serde_json::{Number, Value, json};

/// The document of an input: itself where it begins as JSON does, else the good one with the changes that it spells.
pub fn document(good: &Value, bytes: &[u8]) -> Vec<u8> {
    match bytes.first() {
        Some(b'{' | b'[' | b' ' | b'\n') => bytes.to_vec(),
        _ => edited(good, bytes).to_string().into_bytes(),
    }
}

/// The good document with the changes that the bytes spell.
pub fn edited(good: &Value, bytes: &[u8]) -> Value {
    let mut whole = good.clone();
    let mut input = Input(bytes);
    while let Some(depth) = input.byte() {
        change(&mut whole, depth % 7, &mut input);
    }
    whole
}

/// Lengths from here on spell a text far longer than any message.
const LONG: u8 = 240;

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte().unwrap_or(0))
    }

    fn text(&mut self) -> String {
        let length = self.byte().unwrap_or(0);
        if length >= LONG {
            return "long ".repeat(6000);
        }
        let length = usize::from(length % 40).min(self.0.len());
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }
}

/// What parsers are known to stumble over.
fn interesting(which: u8) -> Value {
    let texts = [
        "",
        ".",
        "..",
        "../x",
        "a/../../x",
        "/etc/hostname",
        "C:\\x",
        "\\\\host\\share\\x",
        "file:///etc/hostname",
        "a\0b",
        "%2e%2e/x",
        "nan",
        "-1",
        "\u{202e}x",
        "stages/",
        "\n\n\n",
    ];
    let numbers = [
        json!(0),
        json!(1),
        json!(-1),
        json!(33),
        json!(4096),
        json!(65536),
        json!(1_u64 << 31),
        json!((1_u64 << 32) - 1),
        json!(1_u64 << 32),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(0.5),
        json!(-0.0),
        json!(1e38),
        json!(1e308),
        json!(5e-324),
    ];
    let others = [
        Value::Null,
        json!(true),
        json!(false),
        json!([]),
        json!({}),
        json!([[]]),
        json!("x".repeat(3000)),
        json!(vec![0; 600]),
    ];
    let which = usize::from(which);
    match which % 3 {
        0 => json!(texts[which / 3 % texts.len()]),
        1 => numbers[which / 3 % numbers.len()].clone(),
        _ => others[which / 3 % others.len()].clone(),
    }
}

/// One change, some levels below `at`.
fn change(at: &mut Value, depth: u8, input: &mut Input<'_>) {
    let count = match &*at {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    if count == 0 || depth == 0 {
        return replace(at, input);
    }
    let index = usize::from(u16::from_le_bytes([input.byte().unwrap_or(0), 0])) % count;
    if depth > 1 {
        let child = match at {
            Value::Array(items) => items.get_mut(index),
            Value::Object(members) => members.values_mut().nth(index),
            _ => None,
        };
        return child.map_or((), |child| change(child, depth - 1, input));
    }
    let kind = input.byte().unwrap_or(0) % 4;
    match at {
        Value::Array(items) => match kind {
            0 => drop(items.remove(index)),
            1 => items.insert(index, items[index].clone()),
            2 => items.swap(index, 0),
            _ => items.truncate(index),
        },
        Value::Object(members) => {
            let Some(key) = members.keys().nth(index).cloned() else { return };
            let value = match kind {
                0 => members.remove(&key),
                _ => members.get(&key).cloned(),
            };
            if kind > 1 {
                _ = members.insert(input.text(), value.unwrap_or_default());
            }
        }
        _ => {}
    }
}

fn replace(at: &mut Value, input: &mut Input<'_>) {
    *at = match input.byte().unwrap_or(0) % 5 {
        0 => interesting(input.byte().unwrap_or(0)),
        1 => json!(i16::from_le_bytes(input.bytes())),
        2 => json!(input.text()),
        3 => Number::from_f64(f64::from(f32::from_le_bytes(input.bytes()))).map_or(Value::Null, Value::Number),
        _ => json!(u64::from_le_bytes(input.bytes())),
    };
}
