//! What the program measures, as lines and as a table of times.

use egui::{CollapsingHeader, Color32, Grid, RichText};

use super::{Status, places};
use crate::engine::measure::Doubt;
use crate::engine::memory::PURPOSES;
use crate::engine::retain::Replay;

/// Width of the plot of frame times, in points.
const PLOT_WIDTH: f32 = 244.0;
/// Colour of what looks broken.
const AMBER: Color32 = Color32::from_rgb(255, 190, 70);

/// A line: name, value, and whether it looks broken.
type Row = (&'static str, String, bool);

fn mib(bytes: u64) -> String {
    format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))
}

fn rows(status: &Status) -> Vec<Row> {
    let ms = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.2} ms"));
    let plain = |name, value| (name, value, false);
    let mut rows = vec![
        plain("Network", ms(status.network_ms)),
        plain("Scene", format!("{}, motion in it", ms(status.scene_ms))),
        plain("Present", format!("{:.2} ms, overlay {:.2} ms", status.present_ms, status.overlay_ms)),
        plain("Frame", format!("{:.1} ms, CPU {:.1} ms", status.frame_ms, status.cpu_ms)),
        plain("Evaluated", format!("{} of {} presented", status.evaluated, status.presented)),
        plain("Effect", effect(status)),
        plain("History", format!("{} frames", status.history)),
        plain("Answer", answer(status)),
    ];
    if let Some(probes) = &status.probes {
        let broken = |doubt| status.doubts.contains(&doubt);
        let depth = probes.depth.map_or_else(|| "none".to_owned(), |[near, far]| format!("{near:.2} to {far:.1} m"));
        let history =
            if probes.history { format!("{:.0} % without", 100.0 * probes.unusable) } else { "not used".to_owned() };
        rows.extend([
            ("Motion", format!("{:.0} % of pixels", 100.0 * probes.motion), broken(Doubt::Motion)),
            ("Depth", format!("{depth}, {:.0} %", 100.0 * probes.surfaces), broken(Doubt::Depth)),
            ("Not a number", format!("{} pixels", probes.nan), broken(Doubt::Nan)),
            ("Usable history", history, broken(Doubt::History)),
        ]);
    }
    rows.extend([
        plain("Size", format!("{}, field {}", status.size, status.field)),
        plain("Work", status.gflop.map_or_else(|| "-".to_owned(), |work| format!("{work:.0} GFLOP a frame"))),
        plain("Memory", memory(status)),
        plain("Route", format!("{} ({} asked): {}", status.route, status.route_asked, status.route_why)),
        plain("Commands", status.replay.as_ref().map_or_else(|| "-".to_owned(), Replay::text)),
        plain("Model", status.model.clone()),
        plain("Digest", status.digest.clone()),
        plain("Device", status.device.clone()),
    ]);
    rows
}

fn effect(status: &Status) -> String {
    match &status.effect {
        Some(effect) => {
            format!("{:.1} % of pixels, mean {:.2}, most {}", 100.0 * effect.changed, effect.mean, effect.largest)
        }
        None => "no frame with network".to_owned(),
    }
}

/// How soon the window answers to a person.
fn answer(status: &Status) -> String {
    match status.passes.get("input").and_then(super::series::Series::summary) {
        Some(times) => format!("{:.0} ms p50, {:.0} ms p95", times.p50, times.p95),
        None => "nothing asked yet".to_owned(),
    }
}

fn memory(status: &Status) -> String {
    let memory = &status.memory;
    format!("{} of {}", mib(memory.total), mib(memory.budget))
}

/// Lines that are always there; what looks broken joins them.
const BRIEF: usize = 6;

/// One line a number.
pub fn lines(ui: &mut egui::Ui, status: &Status) {
    let rows = rows(status);
    let (brief, more) = rows.split_at(BRIEF.min(rows.len()));
    let broken = more.iter().filter(|(_, _, broken)| *broken);
    table(ui, "numbers", brief.iter().chain(broken));
    let header = CollapsingHeader::new("More numbers").default_open(false).show(ui, |ui| {
        table(ui, "more numbers", more.iter());
    });
    places::note(ui, "numbers.header", &header.header_response);
    let header = CollapsingHeader::new("Memory by purpose").default_open(false).show(ui, |ui| {
        Grid::new("memory").num_columns(2).spacing([8.0, 2.0]).show(ui, |ui| {
            for (purpose, bytes) in PURPOSES.iter().zip(status.memory.used) {
                ui.label(RichText::new(*purpose).weak());
                ui.label(mib(bytes));
                ui.end_row();
            }
            ui.label(RichText::new("held for more").weak());
            ui.label(mib(status.memory.reserved.saturating_sub(status.memory.total)));
            ui.end_row();
            ui.label(RichText::new("driver counts").weak());
            ui.label(status.memory.counted.map_or_else(|| "not told".to_owned(), mib));
            ui.end_row();
        });
    });
    places::note(ui, "memory.header", &header.header_response);
}

fn table<'a>(ui: &mut egui::Ui, id: &str, rows: impl Iterator<Item = &'a Row>) {
    Grid::new(id).num_columns(2).spacing([8.0, 2.0]).show(ui, |ui| {
        for (name, value, broken) in rows {
            ui.label(RichText::new(*name).weak());
            let text = RichText::new(value.as_str());
            let text = if *broken { text.color(AMBER) } else { text };
            let label = ui.add(egui::Label::new(text).truncate()).on_hover_text(value);
            places::note(ui, &format!("number.{name}"), &label);
            ui.end_row();
        }
    });
}

/// How the times of the last frames are spread, and the frame times as a line.
pub fn times(ui: &mut egui::Ui, status: &Status) {
    let header = CollapsingHeader::new("Times").default_open(false).show(ui, |ui| {
        if let Some(frames) = status.passes.get("frame") {
            frames.plot(ui, PLOT_WIDTH);
        }
        let small = |text: String| RichText::new(text).small();
        Grid::new("times").num_columns(5).spacing([7.0, 1.0]).striped(true).show(ui, |ui| {
            for title in ["ms", "min", "p50", "p95", "p99"] {
                ui.label(small(title.to_owned()).weak());
            }
            ui.end_row();
            for pass in status.passes.all() {
                let Some(summary) = pass.series.summary() else { continue };
                let indent = if pass.is_stage { "  " } else { "" };
                ui.label(small(format!("{indent}{}", pass.name)));
                for value in [summary.min, summary.p50, summary.p95, summary.p99] {
                    ui.label(small(short(value)).monospace());
                }
                ui.end_row();
            }
        });
    });
    places::note(ui, "times.header", &header.header_response);
}

/// A number in at most five characters.
fn short(value: f32) -> String {
    match value {
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}
