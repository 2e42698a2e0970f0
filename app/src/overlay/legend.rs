//! Controls and legends of the views, the difference and FLIP: what a colour means.

use egui::{Align2, Color32, ComboBox, FontId, Mesh, Pos2, Rect, Shape, Slider, pos2, vec2};
use network::metrics::heat_color;

use super::labels::BACK;
use super::{Status, places};
use crate::window::debug_view::{self, DebugView, NEAR, NOISE, ViewSettings};
use crate::window::layout::{Compare, CompareMode, Difference, GAIN};

/// Points of a bar of colours.
const BAR: egui::Vec2 = vec2(220.0, 10.0);
/// Radius of the colour wheel, in points.
const WHEEL: f32 = 34.0;

/// The controls of the difference and of the views, for the panel.
pub fn controls(ui: &mut egui::Ui, compare: &mut Compare) {
    match compare.mode {
        CompareMode::Difference => {
            ui.horizontal(|ui| {
                for kind in Difference::ALL {
                    let choice = ui.selectable_value(&mut compare.difference, kind, kind.label());
                    places::note(ui, &format!("difference.{}", kind.label().to_lowercase()), &choice);
                    choice.on_hover_text("G");
                }
            });
            if compare.difference != Difference::Flip {
                let gain =
                    ui.add(Slider::new(&mut compare.gain, GAIN).logarithmic(true).fixed_decimals(0).text("Gain"));
                places::note(ui, "gain", &gain);
            }
        }
        CompareMode::View => view_controls(ui, &mut compare.view),
        _ => {}
    }
}

fn view_controls(ui: &mut egui::Ui, view: &mut ViewSettings) {
    let list = ComboBox::from_id_salt("view").width(150.0).selected_text(view.kind.label()).show_ui(ui, |ui| {
        for kind in DebugView::ALL {
            let line = ui.selectable_value(&mut view.kind, kind, kind.label());
            places::note(ui, &format!("view.{}", kind.id()), &line);
        }
    });
    places::note(ui, "views", &list.response);
    match view.kind {
        DebugView::Hdr => {
            let exposure = ui.add(Slider::new(&mut view.exposure, debug_view::EXPOSURE).text("Exposure"));
            places::note(ui, "view.exposure", &exposure);
        }
        DebugView::Depth => {
            let far = ui.add(Slider::new(&mut view.far, debug_view::FAR).logarithmic(true).text("Far, m"));
            places::note(ui, "view.far", &far);
        }
        DebugView::Motion => {
            let full = ui.add(Slider::new(&mut view.motion, debug_view::MOTION).logarithmic(true).text("Full, px"));
            places::note(ui, "view.full", &full);
            let arrows = ui.checkbox(&mut view.arrows, "Arrows");
            places::note(ui, "view.arrows", &arrows);
        }
        DebugView::Residual => {
            let gain = ui.add(Slider::new(&mut view.gain, debug_view::RESIDUAL_GAIN).logarithmic(true).text("Gain"));
            places::note(ui, "view.gain", &gain);
        }
        DebugView::Field => {
            ui.horizontal(|ui| {
                ui.label("Level");
                let none = ui.selectable_value(&mut view.level, None, "field");
                places::note(ui, "view.level", &none);
                choices(ui, "view.level", (0..6).map(Some), &mut view.level);
            });
            ui.horizontal(|ui| {
                ui.label("Phase");
                choices(ui, "view.phase", 0..4, &mut view.phase);
            });
        }
        DebugView::Noise => {
            ui.horizontal(|ui| {
                ui.label("Lane");
                choices(ui, "view.lane", 0..3, &mut view.lane);
            });
        }
        DebugView::Proxy | DebugView::History | DebugView::Weight => {}
    }
}

/// Numbers from zero on, of which one is chosen.
fn choices<T: PartialEq>(ui: &mut egui::Ui, name: &str, values: impl Iterator<Item = T>, chosen: &mut T) {
    for (number, value) in values.enumerate() {
        let choice = ui.selectable_value(chosen, value, number.to_string());
        places::note(ui, &format!("{name}.{number}"), &choice);
    }
}

/// What the view is called on the picture.
pub fn view_name(view: &ViewSettings, status: &Status) -> String {
    let name = match view.kind {
        DebugView::Hdr => format!("HDR input, {:+.1} stops", view.exposure),
        DebugView::Proxy => "proxy: what the network sees of the scene".to_owned(),
        DebugView::Depth => "depth".to_owned(),
        DebugView::Motion => "motion to the previous frame".to_owned(),
        DebugView::History => "reprojected history, as the network saw it".to_owned(),
        DebugView::Residual => format!("residual around grey, {:.0} times", view.gain),
        DebugView::Weight => "weight of the history".to_owned(),
        DebugView::Field => match view.level {
            None => format!("padded field, windows of the field, phase {}", view.phase),
            Some(5) => "padded field, tokens of level 5".to_owned(),
            Some(level) => format!("padded field, windows of level {level}, phase {}", view.phase),
        },
        DebugView::Noise => format!("noise lane {}", view.lane),
    };
    match &status.view_missing {
        Some(why) => format!("{name}: {why}"),
        None if status.view_ahead => format!("{name}, of the frame in work"),
        None => name,
    }
}

/// Draws what the colours mean below a label at `at`.
pub fn show(ui: &egui::Ui, compare: &Compare, status: &Status, at: Pos2) {
    let painter = ui.ctx().layer_painter(egui::LayerId::background());
    let heat = |t: f32| {
        let [r, g, b] = heat_color(t);
        Color32::from_rgb(r, g, b)
    };
    let grey = |t: f32| Color32::from_gray((255.0 * t).round() as u8);
    let view = &compare.view;
    match compare.mode {
        CompareMode::Difference if compare.difference == Difference::Flip => {
            bar(&painter, at, heat, &["0: alike".into(), "0.5".into(), "1".into()]);
        }
        CompareMode::Difference if compare.difference == Difference::Signed => {
            let reach = 1.0 / compare.gain;
            bar(&painter, at, grey, &[format!("{:+.3}", -reach), "0".into(), format!("{reach:+.3}")]);
        }
        CompareMode::View if status.view_missing.is_some() => {}
        CompareMode::View => match view.kind {
            DebugView::Depth => {
                let middle = (NEAR * view.far).sqrt();
                let ends = [format!("{:.0} m", view.far), format!("{middle:.1} m"), format!("{NEAR} m")];
                bar(&painter, at, heat, &ends);
            }
            DebugView::Weight => {
                bar(&painter, at, heat, &["0".into(), "0.5".into(), "1".into()]);
                match status.view_weight {
                    Some(cap) if cap > 0.0 => below(&painter, at, &format!("at most {cap:.2}")),
                    Some(_) => below(&painter, at, "no history in this frame"),
                    None => {}
                }
            }
            DebugView::Residual => {
                let reach = 1.0 / view.gain;
                bar(&painter, at, grey, &[format!("{:+.3}", -reach), "0".into(), format!("{reach:+.3}")]);
                below(&painter, at, "of display white");
            }
            DebugView::Noise => bar(&painter, at, grey, &[format!("-{NOISE}"), "0".into(), format!("+{NOISE}")]),
            DebugView::Motion => motion(&painter, at, view),
            DebugView::Hdr | DebugView::Proxy | DebugView::History | DebugView::Field => {}
        },
        _ => {}
    }
}

fn font() -> FontId {
    FontId::proportional(11.0)
}

/// A bar of colours from 0 to 1 with texts at its beginning, its middle and its end.
fn bar(painter: &egui::Painter, at: Pos2, color: impl Fn(f32) -> Color32, texts: &[String; 3]) {
    let area = Rect::from_min_size(at + vec2(8.0, 6.0), BAR);
    painter.rect_filled(Rect::from_min_size(at, BAR + vec2(16.0, 28.0)), 4.0, BACK);
    const STEPS: usize = 64;
    for step in 0..STEPS {
        let side = |step: usize| area.left() + area.width() * step as f32 / STEPS as f32;
        let part = Rect::from_min_max(pos2(side(step), area.top()), pos2(side(step + 1) + 0.5, area.bottom()));
        painter.rect_filled(part, 0.0, color((step as f32 + 0.5) / STEPS as f32));
    }
    let places =
        [(area.left(), Align2::LEFT_TOP), (area.center().x, Align2::CENTER_TOP), (area.right(), Align2::RIGHT_TOP)];
    for ((x, anchor), text) in places.into_iter().zip(texts) {
        painter.text(pos2(x, area.bottom() + 2.0), anchor, text, font(), Color32::WHITE);
    }
}

/// A line below the texts of a bar.
fn below(painter: &egui::Painter, at: Pos2, text: &str) {
    let top = at + vec2(0.0, BAR.y + 28.0);
    painter.rect_filled(Rect::from_min_size(top, vec2(BAR.x + 16.0, 18.0)), 4.0, BACK);
    painter.text(top + vec2(8.0, 1.0), Align2::LEFT_TOP, text, font(), Color32::WHITE);
}

/// The colour wheel of directions, and what is full.
fn motion(painter: &egui::Painter, at: Pos2, view: &ViewSettings) {
    let size = vec2(BAR.x + 40.0, 2.0 * WHEEL + 12.0);
    painter.rect_filled(Rect::from_min_size(at, size), 4.0, BACK);
    let middle = at + vec2(6.0 + WHEEL, 6.0 + WHEEL);
    let mut mesh = Mesh::default();
    mesh.colored_vertex(middle, Color32::BLACK);
    const STEPS: u32 = 48;
    for step in 0..=STEPS {
        let (y, x) = (std::f32::consts::TAU * step as f32 / STEPS as f32).sin_cos();
        mesh.colored_vertex(middle + WHEEL * vec2(x, y), wheel([x, y]));
        if step > 0 {
            mesh.add_triangle(0, step, step + 1);
        }
    }
    painter.add(Shape::mesh(mesh));
    let arrows = if view.arrows { "\nan arrow as long as its cell, too" } else { "" };
    let text =
        format!("from each pixel to its place\nin the previous frame;\nthe rim is {:.2} pixels{arrows}", view.motion);
    painter.text(at + vec2(2.0 * WHEEL + 18.0, 8.0), Align2::LEFT_TOP, text, font(), Color32::WHITE);
}

/// The colour of a motion as in `shaders/glsl/view/colors.glsl`; 1 is full.
fn wheel([x, y]: [f32; 2]) -> Color32 {
    let strength = x.hypot(y).min(1.0);
    let turn = if strength > 0.0 { y.atan2(x) / std::f32::consts::TAU } else { 0.0 };
    let [r, g, b] = [0.0, 2.0 / 3.0, 1.0 / 3.0].map(|shift: f32| {
        let k = (turn + shift).rem_euclid(1.0) * 6.0;
        (255.0 * strength * ((k - 3.0).abs() - 1.0).clamp(0.0, 1.0)).round() as u8
    });
    Color32::from_rgb(r, g, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_have_colours() {
        assert_eq!(wheel([1.0, 0.0]), Color32::from_rgb(255, 0, 0));
        assert_eq!(wheel([0.0, 0.0]), Color32::BLACK);
        assert_eq!(wheel([-3.0, 0.0]), Color32::from_rgb(0, 255, 255));
        let down = wheel([0.0, 0.5]);
        assert!(down.g() > down.r() && down.b() == 0, "{down:?}");
    }
}
