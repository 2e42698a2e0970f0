//! Numbers as people read them.

/// A byte count with a binary unit: `128 MiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["B", "KiB", "MiB", "GiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 100.0 && value.fract() > 0.05);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A count of things: `1 frame`, `2 frames`.
pub fn counted(count: impl std::fmt::Display, thing: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// A table with left-aligned columns.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let line: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        out.push_str(line.join("  ").trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_counts() {
        assert_eq!(bytes(20), "20 B");
        assert_eq!(bytes(128 << 20), "128 MiB");
        assert_eq!(bytes(1536 << 20), "1.5 GiB");
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "frame")), ["0 frames", "1 frame", "2 frames"]);
    }

    #[test]
    fn tables_are_aligned() {
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["long".to_owned(), "c".to_owned()]];
        assert_eq!(table(&rows), "a     b\nlong  c\n");
    }
}
