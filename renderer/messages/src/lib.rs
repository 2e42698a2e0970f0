//! How messages quote what the program was given.
//!
//! A document or an argument may hold a name of any length, and a message that repeats it whole is no sentence any more: it
//! fills the terminal, the log and the report. So whatever is quoted goes through here. It keeps its beginning and its end,
//! because paths differ at the end and parsers tell the place there, and says how long it was. Control characters are
//! written out, so that it stays on its line.

#![forbid(unsafe_code)]

use std::fmt::Display;

/// Most characters of a quoted text.
const QUOTED: usize = 200;
/// Most characters of one line of several.
const LINE: usize = 400;
/// Most lines, or names in a row.
const MANY: usize = 16;
/// Characters that are kept of the end of a text.
const END: usize = 60;

/// A text as it is, at most about 200 characters of it.
#[must_use]
pub fn shortened(text: &(impl Display + ?Sized)) -> String {
    let text = text.to_string();
    cut(&one_line(&text), QUOTED, text.chars().count())
}

/// A text in quotation marks, at most about 200 characters of it.
#[must_use]
pub fn quoted(text: &(impl Display + ?Sized)) -> String {
    let text = text.to_string();
    cut(&format!("{text:?}"), QUOTED, text.chars().count())
}

/// Names in a row; of very many, the first ones and how many more there are.
#[must_use]
pub fn listed(names: impl IntoIterator<Item = impl Display>) -> String {
    let mut names = names.into_iter();
    let first: Vec<String> = names.by_ref().take(MANY).map(|name| shortened(&name)).collect();
    match names.count() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Each thing on an indented line of its own, after a line break; of very many, the first ones and how many more there are.
#[must_use]
pub fn lines(things: impl IntoIterator<Item = impl Display>) -> String {
    let mut things = things.into_iter();
    let line = |thing: String| format!("\n  {}", cut(&one_line(&thing), LINE, thing.chars().count()));
    let first: String = things.by_ref().take(MANY).map(|thing| line(thing.to_string())).collect();
    match things.count() {
        0 => first,
        more => format!("{first}\n  and {more} more"),
    }
}

/// Control characters written out.
fn one_line(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut line, c| {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
        line
    })
}

/// Beginning and end of a text of more than `most` characters, and that it was made of `length`.
fn cut(text: &str, most: usize, length: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let begin: String = text.chars().take(most - END).collect();
    let end: String = text.chars().skip(count - END).collect();
    format!("{begin}\u{2026}{end} ({length} characters)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_as_they_were() {
        assert_eq!(shortened("a \u{e9}"), "a \u{e9}");
        assert_eq!(quoted("a\"b"), r#""a\"b""#);
        assert_eq!(shortened(&"x".repeat(QUOTED)), "x".repeat(QUOTED));
        assert_eq!(listed(["a", "b"]), "a, b");
        assert_eq!(listed(Vec::<String>::new()), "");
        assert_eq!(lines(["a", "b"]), "\n  a\n  b");
    }

    #[test]
    fn long_ones_keep_both_ends_and_tell_their_length() {
        let text = format!("begin{}end", "\u{e9}".repeat(5000));
        let short = shortened(&text);
        assert!(short.starts_with("begin\u{e9}") && short.ends_with("\u{e9}end (5008 characters)"), "{short}");
        assert_eq!(short.chars().count(), QUOTED + 1 + " (5008 characters)".len());
        let quote = quoted(&text);
        assert!(quote.starts_with("\"begin\u{e9}") && quote.ends_with("\u{e9}end\" (5008 characters)"), "{quote}");
    }

    #[test]
    fn one_line_whatever_is_in_it() {
        for text in ["a\nb", "a\r\u{1b}[2Jb", &"\n".repeat(1000), &"\0".repeat(100_000)] {
            for shown in [shortened(text), quoted(text), listed([text; 2]), lines([text])[1..].to_owned()] {
                assert!(!shown.contains(|c: char| c.is_control()), "{shown:?}");
                assert!(shown.chars().count() < 2 * LINE, "{shown}");
            }
        }
    }

    #[test]
    fn many_things_are_counted() {
        let names = listed(0..1000);
        assert!(names.starts_with("0, 1, 2") && names.ends_with("15 and 984 more"), "{names}");
        let all = lines(["x".repeat(100_000)].iter().cycle().take(100_000));
        assert!(all.ends_with("\n  and 99984 more") && all.lines().count() == MANY + 2, "{all}");
        assert!(all.chars().count() < MANY * (LINE + 40), "{}", all.len());
    }
}
