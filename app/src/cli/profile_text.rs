//! Profiles as people read them.

use std::fmt::Write as _;

use network::profile::{Change, Comparison, Group, Profile, Rates, Spread, Within, Work};

use super::profile::By;
use super::text;

/// Operations that a comparison lists.
const MOST_CHANGES: usize = 16;

/// A profile: the whole, what it consists of, and memory.
pub fn profile(p: &Profile, by: By) -> String {
    let h = &p.header;
    let frames = text::counted(p.frames, "frame");
    let mut out = format!("{}, route {} ({}), {} (field {}), {frames}\n", h.device, h.route, h.form, p.size, p.field);
    let mut rows = vec![head("part")];
    rows.push(row("network", p.operations.len(), &p.work, &p.ms, 1.0, &p.rates));
    match by {
        By::Stage => {
            rows.extend(p.stages.iter().map(group));
            rows.push(Vec::new());
            rows.push(head("kind of operation"));
            rows.extend(p.kinds.iter().map(group));
        }
        By::Block => rows.extend(p.blocks.iter().map(group)),
        By::Operation => rows.extend(p.operations.iter().map(|op| {
            let name = [std::slice::from_ref(&op.label), &op.covers].concat().join(" + ");
            row(&name, 1 + op.covers.len(), &op.work, &op.ms, op.share, &op.rates)
        })),
    }
    out.push_str(&text::table(&rows));
    if let Some(passes) = &p.passes {
        let one = |name, ms: &Spread| format!("{name} {:.3} ms", ms.median);
        let parts =
            [one("scene", &passes.scene), one("preprocess", &passes.preprocess), one("composite", &passes.composite)];
        let _ = writeln!(out, "\naround the network: {}", parts.join(", "));
    }
    out.push_str(&memory(p));
    out
}

fn head(name: &str) -> Vec<String> {
    [name, "ops", "ms: median", "min", "max", "share", "GFLOP", "TFLOP/s", "MB read", "written", "GB/s"]
        .map(str::to_owned)
        .to_vec()
}

fn group(g: &Group) -> Vec<String> {
    row(&g.name, g.operations, &g.work, &g.ms, g.share, &g.rates)
}

fn row(name: &str, count: usize, work: &Work, ms: &Spread, share: f64, rates: &Rates) -> Vec<String> {
    vec![
        name.to_owned(),
        count.to_string(),
        format!("{:.3}", ms.median),
        format!("{:.3}", ms.min),
        format!("{:.3}", ms.max),
        format!("{:.1} %", 100.0 * share),
        format!("{:.2}", work.flop as f64 / 1e9),
        format!("{:.3}", rates.tflops),
        format!("{:.1}", work.bytes_read as f64 / 1e6),
        format!("{:.1}", work.bytes_written as f64 / 1e6),
        format!("{:.1}", rates.gigabytes),
    ]
}

fn memory(p: &Profile) -> String {
    let m = &p.memory;
    let mut out = String::from("\nmemory\n");
    let mut rows = Vec::new();
    let mut add = |name: &str, bytes: u64, note: String| {
        if bytes > 0 {
            rows.push(vec![format!("  {name}"), text::bytes(bytes), note]);
        }
    };
    add("weights", m.weights, String::new());
    add("arena", m.arena, format!("features of {} in it", text::bytes(m.features)));
    add("scratch", m.scratch, String::new());
    add("lower bound", m.bound, bound_note(p));
    add("histories", m.histories, String::new());
    add("frame buffers", m.frame_buffers, "proxy, published colour, displays".to_owned());
    add("scene images", m.scene, String::new());
    add("all on the device", m.all, String::new());
    out.push_str(&text::table(&rows));
    out
}

/// Where the bound comes from, and how near the arena is to it.
fn bound_note(p: &Profile) -> String {
    let cut = &p.memory.cut;
    let largest: Vec<String> =
        cut.tensors.iter().take(4).map(|(label, bytes)| format!("{label} {}", text::bytes(*bytes))).collect();
    let more = if cut.tensors.len() > 4 { format!(" and {} more", cut.tensors.len() - 4) } else { String::new() };
    let ratio = if p.memory.arena_to_bound > 0.0 {
        format!("arena and scratch are {:.3} times it; ", p.memory.arena_to_bound)
    } else {
        String::new()
    };
    format!("{ratio}live at {}: {}{more}", cut.operation, largest.join(", "))
}

/// What changed from A to B.
pub fn changes(a: &Profile, b: &Profile, changes: &Comparison) -> String {
    let of = |p: &Profile| {
        let h = &p.header;
        format!("{}, route {} ({}), {}", h.device, h.route, h.form, text::counted(p.frames, "frame"))
    };
    let mut out = format!("{} (field {})\nA: {}\nB: {}\n", a.size, a.field, of(a), of(b));
    let mut rows = vec![change_head("part"), change(&changes.whole)];
    rows.extend(changes.stages.iter().map(change));
    rows.push(Vec::new());
    rows.push(change_head("operation"));
    rows.extend(changes.operations.iter().take(MOST_CHANGES).map(change));
    out.push_str(&text::table(&rows));
    let rest = changes.operations.len().saturating_sub(MOST_CHANGES);
    if rest > 0 {
        let sum: f64 = changes.operations[MOST_CHANGES..].iter().map(|change| change.difference).sum();
        let _ = writeln!(out, "{rest} more operations: {sum:+.3} ms in all");
    }
    out
}

fn change_head(name: &str) -> Vec<String> {
    [name, "B less A, ms", "A ms", "B ms", "B / A", ""].map(str::to_owned).to_vec()
}

fn change(change: &Change) -> Vec<String> {
    let beyond = match change.beyond {
        Within::Spread => "within the spread",
        Within::Beyond if change.difference < 0.0 => "B is faster",
        Within::Beyond => "B is slower",
    };
    vec![
        change.name.clone(),
        format!("{:+.3}", change.difference),
        format!("{:.3}", change.a.median),
        format!("{:.3}", change.b.median),
        format!("{:.3}", change.ratio),
        beyond.to_owned(),
    ]
}
