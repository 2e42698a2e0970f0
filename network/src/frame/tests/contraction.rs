//! The shaders' arithmetic must not be contracted or reassociated, or devices would disagree.

use std::collections::{HashMap, HashSet};

const OP_NAME: u32 = 5;
const OP_FUNCTION: u32 = 54;
const OP_DECORATE: u32 = 71;
const NO_CONTRACTION: u32 = 42;
/// Float addition, subtraction, multiplication, division, and products of vectors and matrices.
const ARITHMETIC: [u32; 10] = [129, 131, 133, 136, 142, 143, 144, 145, 146, 148];

/// Functions whose arithmetic is not marked, by module.
fn unmarked(spirv: &[u8]) -> HashSet<String> {
    let words: Vec<u32> = spirv.as_chunks::<4>().0.iter().map(|&b| u32::from_le_bytes(b)).collect();
    let (mut names, mut marked) = (HashMap::new(), HashSet::new());
    let (mut function, mut used) = (0, Vec::new());
    let mut at = 5;
    while at < words.len() {
        let (op, length) = (words[at] & 0xffff, (words[at] >> 16) as usize);
        let operands = &words[at + 1..at + length];
        match op {
            OP_NAME => {
                let text: Vec<u8> =
                    operands[1..].iter().flat_map(|w| w.to_le_bytes()).take_while(|&b| b != 0).collect();
                names.insert(operands[0], String::from_utf8_lossy(&text).into_owned());
            }
            OP_DECORATE if operands[1] == NO_CONTRACTION => {
                marked.insert(operands[0]);
            }
            OP_FUNCTION => function = operands[1],
            _ if ARITHMETIC.contains(&op) => used.push((operands[1], function)),
            _ => {}
        }
        at += length;
    }
    assert!(used.len() > 50, "{} operations", used.len());
    used.into_iter().filter(|(id, _)| !marked.contains(id)).map(|(_, function)| names[&function].clone()).collect()
}

#[test]
fn arithmetic_is_precise() {
    let forms = ["portable", "native", "native_model"];
    let stems = ["preprocess", "composite", "bypass", "check_math"];
    for name in stems.iter().flat_map(|stem| forms.map(|form| format!("frame/{stem}.{form}"))) {
        let functions = unmarked(shaders::shader(&name).unwrap().spirv);
        // The conversions to and from half round on the bits and take single operations, where nothing can be contracted.
        let loose: Vec<_> = functions.iter().filter(|f| !f.starts_with("half_")).collect();
        assert!(loose.is_empty(), "{name}: {loose:?}");
    }
}
