//! Where the overlay's parts are on the screen, by name: for the state file, so that whoever drives the window with real
//! events finds them, however the overlay is arranged.

use std::collections::BTreeMap;

use egui::{Context, Id, Rect, Response, Ui};

/// Rectangles in points, of what can be seen of each part.
type Places = BTreeMap<String, Rect>;

fn id() -> Id {
    Id::new("places")
}

/// Forgets the last frame's.
pub fn clear(context: &Context) {
    context.data_mut(|data| data.insert_temp(id(), Places::new()));
}

/// Remembers where something is. What is scrolled out of sight has no place.
pub fn note(ui: &Ui, name: &str, response: &Response) {
    let seen = response.rect.intersect(ui.clip_rect());
    if !seen.is_positive() || seen.area() < 0.6 * response.rect.area() {
        return;
    }
    ui.ctx().data_mut(|data| {
        data.get_temp_mut_or_default::<Places>(id()).insert(name.to_owned(), seen);
    });
}

/// The middle and the size of every part in pixels of the window: x, y, width, height.
pub fn all(context: &Context) -> BTreeMap<String, [i32; 4]> {
    let scale = context.pixels_per_point();
    let pixels = |value: f32| (value * scale).round() as i32;
    let places = context.data(|data| data.get_temp::<Places>(id())).unwrap_or_default();
    let place = |rect: Rect| {
        let middle = rect.center();
        [pixels(middle.x), pixels(middle.y), pixels(rect.width()), pixels(rect.height())]
    };
    places.into_iter().map(|(name, rect)| (name, place(rect))).collect()
}
