//! The charts of profiles.

use egui::{Align2, Color32, vec2};
use network::profile::{Change, Comparison, Group, Profile, Within};

use super::Picture;
use super::canvas::{Canvas, FAINT, INK, at, draw};
use crate::cli::text;

const WIDTH: f32 = 1280.0;
const MARGIN: f32 = 24.0;
const ROW: f32 = 22.0;
/// Kinds of operations that have a row; the rest is one.
const MOST_KINDS: usize = 16;
/// Operations that have a row in a comparison.
const MOST_CHANGES: usize = 20;

const STAGE: Color32 = Color32::from_rgb(86, 156, 214);
const MEMORY: Color32 = Color32::from_rgb(120, 170, 90);
const BOUND: Color32 = Color32::from_rgb(230, 190, 80);
const GAIN: Color32 = Color32::from_rgb(110, 190, 110);
const LOSS: Color32 = Color32::from_rgb(220, 110, 90);

/// Colours of kinds, told apart in the strip of operations.
const KINDS: [Color32; MOST_KINDS] = [
    Color32::from_rgb(86, 156, 214),
    Color32::from_rgb(230, 150, 70),
    Color32::from_rgb(120, 190, 110),
    Color32::from_rgb(210, 100, 120),
    Color32::from_rgb(160, 130, 210),
    Color32::from_rgb(200, 190, 90),
    Color32::from_rgb(90, 190, 190),
    Color32::from_rgb(190, 130, 90),
    Color32::from_rgb(130, 140, 230),
    Color32::from_rgb(150, 200, 160),
    Color32::from_rgb(220, 150, 200),
    Color32::from_rgb(110, 160, 140),
    Color32::from_rgb(180, 110, 160),
    Color32::from_rgb(160, 170, 100),
    Color32::from_rgb(120, 120, 170),
    Color32::from_rgb(150, 150, 150),
];

fn heading(canvas: &Canvas, y: f32, text: &str) -> f32 {
    canvas.text(at(MARGIN, y), Align2::LEFT_TOP, text, 16.0, INK);
    y + 26.0
}

/// A name, a bar and what it says.
fn bar(canvas: &Canvas, y: f32, name: &str, share: f32, color: Color32, text: &str) {
    const NAME: f32 = 320.0;
    const LENGTH: f32 = 480.0;
    let middle = y + ROW / 2.0;
    canvas.text_within(at(MARGIN, middle), NAME - 12.0, name, 14.0, INK);
    let length = (LENGTH * share.clamp(0.0, 1.0)).max(1.0);
    canvas.rect(at(MARGIN + NAME, y + 3.0), vec2(length, ROW - 6.0), color);
    canvas.text(at(MARGIN + NAME + LENGTH + 16.0, middle), Align2::LEFT_CENTER, text, 13.0, FAINT);
}

fn groups(canvas: &Canvas, mut y: f32, groups: &[&Group], color: impl Fn(usize) -> Color32) -> f32 {
    let most = groups.iter().map(|group| group.share).fold(1e-9, f64::max);
    for (i, group) in groups.iter().enumerate() {
        let text = format!(
            "{:9.3} ms  {:5.1} %   {:7.3} TFLOP/s  {:7.1} GB/s   {} ops",
            group.ms.median,
            100.0 * group.share,
            group.rates.tflops,
            group.rates.gigabytes,
            group.operations
        );
        bar(canvas, y, &group.name, (group.share / most) as f32, color(i), &text);
        y += ROW;
    }
    y + 12.0
}

/// Where the time and the memory of a profile go.
pub fn profile(p: &Profile) -> Picture {
    let kinds: Vec<&Group> = p.kinds.iter().take(MOST_KINDS).collect();
    let memory = memory_rows(p);
    let rows = p.stages.len() + kinds.len() + memory.len();
    let height = 250.0 + ROW * rows as f32;
    draw(WIDTH as u32, height as u32, |canvas| {
        canvas.text(at(MARGIN, 16.0), Align2::LEFT_TOP, &title(p), 20.0, INK);
        canvas.text(at(MARGIN, 44.0), Align2::LEFT_TOP, &subtitle(p), 14.0, FAINT);
        let mut y = heading(canvas, 76.0, "Every operation in order, as long as it takes, in the colour of its kind");
        strip(canvas, y, p);
        y = heading(canvas, y + 38.0, "Stages");
        let stages: Vec<&Group> = p.stages.iter().collect();
        y = groups(canvas, y, &stages, |_| STAGE);
        y = heading(canvas, y, "Kinds of operations");
        y = groups(canvas, y, &kinds, |i| KINDS[i]);
        y = heading(canvas, y, "Memory");
        let most = memory.iter().map(|(_, bytes, _)| *bytes).max().unwrap_or(1).max(1);
        for (name, bytes, color) in &memory {
            let text = format!("{:.1} MiB", *bytes as f64 / f64::from(1 << 20));
            bar(canvas, y, name, *bytes as f32 / most as f32, *color, &text);
            y += ROW;
        }
    })
}

fn title(p: &Profile) -> String {
    let spread = format!("{:.3} to {:.3}", p.ms.min, p.ms.max);
    format!("{} on {}: {:.3} ms ({spread}), {:.3} TFLOP/s", p.size, p.header.device, p.ms.median, p.rates.tflops)
}

fn subtitle(p: &Profile) -> String {
    let h = &p.header;
    format!(
        "route {} ({}), field {}, {:.1} GFLOP, median of {}, {} clock",
        h.route,
        h.form,
        p.field,
        p.work.flop as f64 / 1e9,
        text::counted(p.frames, "frame"),
        format!("{:?}", p.clock).to_lowercase()
    )
}

fn strip(canvas: &Canvas, y: f32, p: &Profile) {
    let width = WIDTH - 2.0 * MARGIN;
    let mut x = MARGIN;
    for op in &p.operations {
        let kind = p.kinds.iter().position(|group| group.name == op.kind).unwrap_or(MOST_KINDS);
        let length = width * op.share as f32;
        canvas.rect(at(x, y), vec2(length, 28.0), KINDS[kind.min(MOST_KINDS - 1)]);
        x += length;
    }
}

fn memory_rows(p: &Profile) -> Vec<(String, u64, Color32)> {
    let m = &p.memory;
    let rows = [
        ("weights".to_owned(), m.weights, MEMORY),
        ("arena of activations".to_owned(), m.arena, MEMORY),
        (format!("its lower bound, live at {}", m.cut.operation), m.bound, BOUND),
        ("scratch".to_owned(), m.scratch, MEMORY),
        ("histories".to_owned(), m.histories, MEMORY),
        ("frame buffers".to_owned(), m.frame_buffers, MEMORY),
        ("scene images".to_owned(), m.scene, MEMORY),
    ];
    rows.into_iter().filter(|(_, bytes, _)| *bytes > 0).collect()
}

/// What changed from A to B.
pub fn changes(a: &Profile, b: &Profile, changes: &Comparison) -> Picture {
    let operations = &changes.operations[..changes.operations.len().min(MOST_CHANGES)];
    let height = 170.0 + ROW * (changes.stages.len() + operations.len()) as f32;
    draw(WIDTH as u32, height as u32, |canvas| {
        let whole = &changes.whole;
        let text = format!(
            "A {:.3} ms, B {:.3} ms: {:+.3} ms, B takes {:.3} of A",
            whole.a.median, whole.b.median, whole.difference, whole.ratio
        );
        canvas.text(at(MARGIN, 16.0), Align2::LEFT_TOP, &text, 20.0, INK);
        canvas.text(at(MARGIN, 42.0), Align2::LEFT_TOP, &format!("A: {}, {}", title(a), subtitle(a)), 12.0, FAINT);
        canvas.text(at(MARGIN, 58.0), Align2::LEFT_TOP, &format!("B: {}, {}", title(b), subtitle(b)), 12.0, FAINT);
        let y = heading(canvas, 86.0, "Stages, the largest change first (green: B is faster; pale: within the spread)");
        let y = change_rows(canvas, y, &changes.stages);
        let y = heading(canvas, y, "Operations");
        change_rows(canvas, y, operations);
    })
}

fn change_rows(canvas: &Canvas, mut y: f32, changes: &[Change]) -> f32 {
    let most = changes.iter().map(|change| change.difference.abs()).fold(1e-9, f64::max);
    for change in changes {
        let color = if change.difference < 0.0 { GAIN } else { LOSS };
        let color = if change.beyond == Within::Spread { color.gamma_multiply(0.4) } else { color };
        let text = format!(
            "{:+9.3} ms   {:9.3} to {:9.3}   ({:.3})",
            change.difference, change.a.median, change.b.median, change.ratio
        );
        bar(canvas, y, &change.name, (change.difference.abs() / most) as f32, color, &text);
        y += ROW;
    }
    y + 12.0
}
