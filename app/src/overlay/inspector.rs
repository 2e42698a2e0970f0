//! The magnifier: pixels at the pointer as squares, and their values as numbers.

use egui::{Align2, Color32, Grid, Rect, RichText, Sense, Stroke, pos2, vec2};

use crate::window::probe::{Reading, SIDE};

/// Points of a magnified pixel.
const CELL: f32 = 11.0;

/// Shows a reading at the lower right corner of the window; `sides` name left and right.
pub fn show(ui: &egui::Ui, reading: Option<&Reading>, sides: &[String; 2]) {
    egui::Area::new(egui::Id::new("inspector"))
        .anchor(Align2::RIGHT_BOTTOM, vec2(-8.0, -8.0))
        .order(egui::Order::Middle)
        .interactable(false)
        .show(ui.ctx(), |ui| {
            egui::Frame::popup(ui.style()).show(ui, |ui| match reading {
                Some(reading) => content(ui, reading, sides),
                None => _ = ui.label("point at the image"),
            });
        });
}

fn content(ui: &mut egui::Ui, reading: &Reading, sides: &[String; 2]) {
    ui.horizontal(|ui| {
        for (name, cells) in sides.iter().zip([&reading.left, &reading.right]) {
            ui.vertical(|ui| {
                ui.set_max_width(CELL * SIDE as f32);
                ui.add(egui::Label::new(RichText::new(name).small().weak()).truncate());
                patch(ui, cells);
            });
        }
    });
    let codes = |[r, g, b]: [u8; 3]| format!("{r:3} {g:3} {b:3}   #{r:02x}{g:02x}{b:02x}");
    let known = |values: Option<[f32; 3]>| values.map_or_else(|| "-".to_owned(), numbers);
    let [x, y] = reading.pixel;
    let [across, down] = reading.motion;
    let mut rows = vec![
        ("Pixel", format!("{x}, {y}")),
        ("8-bit left", codes(reading.codes[0])),
        ("8-bit right", codes(reading.codes[1])),
        ("Linear left", known(reading.linears[0])),
        ("Linear right", known(reading.linears[1])),
    ];
    for (name, published) in ["Result left", "Result right"].into_iter().zip(reading.published) {
        if published.is_some() {
            rows.push((name, known(published)));
        }
    }
    rows.push(("Linear scene", numbers(reading.linear)));
    if reading.proxy.is_some() {
        rows.push(("Proxy code", known(reading.proxy)));
    }
    let shared = if reading.ahead { "of the frame in work" } else { "of this frame" };
    let depth = if reading.depth > 0.0 { format!("{:.3} m", reading.depth) } else { "no surface".to_owned() };
    rows.extend([("Depth", depth), ("Motion", format!("{across:+.3}, {down:+.3} pixels"))]);
    if let Some(weight) = reading.weight {
        rows.extend([
            ("History", reading.history.map_or_else(|| "none in this frame".to_owned(), numbers)),
            ("Residual", known(reading.residual)),
            ("Blend weight", format!("{weight:.4}")),
            ("Noise", known(reading.noise)),
        ]);
    }
    rows.push(("Scene values", shared.to_owned()));
    Grid::new("reading").num_columns(2).spacing([8.0, 1.0]).show(ui, |ui| {
        for (name, value) in rows {
            ui.label(RichText::new(name).weak());
            ui.label(RichText::new(value).monospace());
            ui.end_row();
        }
    });
}

/// Three numbers of any size, as short as they stay telling.
fn numbers(values: [f32; 3]) -> String {
    values.map(|value| if value.abs() < 100.0 { format!("{value:.4}") } else { format!("{value:.1}") }).join("  ")
}

fn patch(ui: &mut egui::Ui, cells: &[Option<[u8; 3]>]) {
    let (area, _) = ui.allocate_exact_size(vec2(CELL, CELL) * SIDE as f32, Sense::hover());
    let painter = ui.painter();
    let square = |index: usize| {
        let corner = area.min + vec2((index % SIDE) as f32, (index / SIDE) as f32) * CELL;
        Rect::from_min_size(pos2(corner.x, corner.y), vec2(CELL, CELL))
    };
    for (index, cell) in cells.iter().enumerate() {
        if let Some([r, g, b]) = *cell {
            painter.rect_filled(square(index), 0.0, Color32::from_rgb(r, g, b));
        }
    }
    let middle = square(SIDE * SIDE / 2);
    painter.rect_stroke(middle, 0.0, Stroke::new(1.0, Color32::BLACK), egui::StrokeKind::Outside);
    painter.rect_stroke(middle, 0.0, Stroke::new(1.0, Color32::WHITE), egui::StrokeKind::Inside);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_short() {
        assert_eq!(numbers([0.5, 60000.0, -0.25]), "0.5000  60000.0  -0.2500");
    }
}
