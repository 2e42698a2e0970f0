//! What is refused is not repeated whole: texts of tens of thousands of characters in every place of every document.
//! The checks themselves bound what a refusal may hold.

use outside::{TARGETS, Target};

/// Characters of a long text.
const LENGTH: usize = 30_000;
/// Documents with a long text somewhere, a target.
const EDITS: u64 = 400;

fn check(target: &Target, inputs: impl IntoIterator<Item = Vec<u8>>) {
    let check = (target.make)();
    for input in inputs {
        check(&input);
    }
}

/// Edits that lead somewhere into the good document and put a long text there: as a value, as the name of a member, or
/// several of them. Of what an edit spells, 247 is a value that is a text, a text that is long, and a member of a new name.
fn edits(form: u8) -> impl Iterator<Item = Vec<u8>> {
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..EDITS).map(move |number| {
        let depth = (number % 7) as u8;
        let path = (0..depth).map(|_| random() | 1).collect::<Vec<_>>();
        let end = [247; 2].repeat(1 + usize::from(random() % 3));
        [vec![form, depth], path, end].concat()
    })
}

#[test]
fn long_texts_in_documents() {
    std::thread::scope(|scope| {
        for part in TARGETS.chunks(TARGETS.len().div_ceil(2)) {
            scope.spawn(move || {
                for target in part {
                    // With the byte that chooses the form of a fixture or the document of a capture, and without.
                    check(target, edits(0).chain(edits(1)).chain(edits(0).map(|edit| edit[1..].to_vec())));
                }
            });
        }
    });
}

#[test]
fn long_texts_as_whole_inputs() {
    let long = "long ".repeat(LENGTH / 5);
    let escapes = "\u{1b}[2J\n".repeat(LENGTH / 5);
    let names = format!("{{\"{long}\":\"{long}\",\"format\":\"{long}\",\"kind\":\"{long}\",\"version\":1}}");
    let many = format!("{{\"checks\":[{}]}}", vec!["\"unknown\""; LENGTH].join(","));
    let texts = [
        long.clone(),
        escapes,
        names,
        many,
        format!("size:{long}"),
        format!("size:{}x7", "9".repeat(LENGTH)),
        format!("route:{long}"),
        format!("model:{long}"),
        format!("model:/{long}"),
        format!("model:lively:{long}"),
        format!("reference:{long}"),
        format!("history:{long}"),
    ];
    for target in &TARGETS {
        check(
            target,
            texts.iter().flat_map(|text| ["", "\0", "\u{1}"].map(|form| format!("{form}{text}").into_bytes())),
        );
    }
}
