//! Every control as data: name, range, default, how it is read and set. The overlay, presets, the state file, the demo
//! and the tests read this one list.

use std::ops::RangeInclusive;

use network::frame::{Style, ranges};
use network::geometry::Extent;

use super::exposure;
use super::look::{Look, RESET_EVERY};
use super::settings::Settings;

/// What kind of value a control has. All are read and set as `f32`.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A number, dragged or typed.
    Number {
        /// Both ends, where the effect ends too.
        range: RangeInclusive<f32>,
        /// Equal ratios take equal ways of the slider.
        logarithmic: bool,
        /// Only whole numbers.
        whole: bool,
    },
    /// 0 or 1.
    Switch,
    /// One of some names, by its index.
    Choice(&'static [&'static str]),
}

/// Where a control stands in the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// How the result is shown, and what the network is told.
    Look,
    /// Scene value of display white.
    White,
    /// The history and the noise.
    Time,
    /// The knobs of a custom style.
    Custom,
    /// What the scene is drawn with.
    Scene,
}

/// One control.
#[derive(Clone, Debug)]
pub struct Control {
    /// Its name in files.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// One sentence about its effect.
    pub about: &'static str,
    /// Where it stands.
    pub section: Section,
    /// What values it takes.
    pub kind: Kind,
    /// What of the network's input it feeds as things are; `None` where it feeds none.
    lanes: Option<fn(&Look) -> Vec<&'static str>>,
    /// Whether nothing but the network's input is changed by it.
    pub only_input: bool,
    get: fn(&Settings) -> f32,
    set: fn(&mut Settings, f32),
}

impl Control {
    /// Its value.
    pub fn get(&self, settings: &Settings) -> f32 {
        (self.get)(settings)
    }

    /// Gives it a value, brought into its range; one that is no number does nothing.
    pub fn set(&self, settings: &mut Settings, value: f32) {
        if value.is_finite() {
            (self.set)(settings, self.tamed(value));
        }
    }

    /// Its value at first.
    pub fn default_value(&self) -> f32 {
        self.get(&Settings::new(Extent::new(1, 1)))
    }

    /// Smallest and largest value.
    pub fn ends(&self) -> [f32; 2] {
        match &self.kind {
            Kind::Number { range, .. } => [*range.start(), *range.end()],
            Kind::Switch => [0.0, 1.0],
            Kind::Choice(names) => [0.0, names.len().saturating_sub(1) as f32],
        }
    }

    /// The value in the middle of its way.
    pub fn middle(&self) -> f32 {
        let [low, high] = self.ends();
        match self.kind {
            Kind::Number { logarithmic: true, .. } => (low * high).sqrt(),
            Kind::Number { whole: false, .. } => f32::midpoint(low, high),
            _ => f32::midpoint(low, high).round(),
        }
    }

    /// Whether it can have this value.
    pub fn takes(&self, value: f32) -> bool {
        value.is_finite() && self.tamed(value) == value
    }

    fn tamed(&self, value: f32) -> f32 {
        let [low, high] = self.ends();
        let value = value.clamp(low, high);
        match self.kind {
            Kind::Number { whole: false, .. } => value,
            _ => value.round(),
        }
    }

    /// The network's inputs that it feeds as things are.
    pub fn lanes(&self, settings: &Settings) -> Vec<&'static str> {
        self.lanes.map_or_else(Vec::new, |lanes| lanes(&settings.look))
    }

    /// What a model that ignores some inputs sees of it.
    pub fn seen(&self, settings: &Settings, ignored: &[&str]) -> Seen {
        if self.lanes.is_none() || self.lanes(settings).iter().any(|lane| !ignored.contains(lane)) {
            Seen::Yes
        } else if self.only_input {
            Seen::NoEffect
        } else {
            Seen::Partly
        }
    }

    /// Whether other controls let it have an effect.
    pub fn is_active(&self, settings: &Settings) -> bool {
        let look = &settings.look;
        match self.id {
            "skin" => look.auto_mask && !look.skin_follows,
            "skin-follows" => look.auto_mask,
            "paper-white" => !look.auto_white,
            "white-low" | "white-high" => look.auto_white,
            "custom" => true,
            _ => self.section != Section::Custom || look.custom,
        }
    }
}

/// Whether the loaded model sees a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// It does, or the control is none of its inputs.
    Yes,
    /// It does not; the control has another effect.
    Partly,
    /// It does not, so the control has no effect.
    NoEffect,
}

/// The control of this name.
pub fn find(id: &str) -> Option<Control> {
    all().into_iter().find(|control| control.id == id)
}

/// The controls of a section.
pub fn of(section: Section) -> Vec<Control> {
    all().into_iter().filter(|control| control.section == section).collect()
}

/// Controls of the look back to their defaults: everything but what the scene is drawn with.
pub fn reset_look(settings: &mut Settings) {
    settings.look = Look::default();
}

/// Where the structure goes (frame section 2): lane 12 of a picture without mask, lane 14 of one with, and lane 13 where
/// skin follows it.
fn structure_lanes(look: &Look) -> Vec<&'static str> {
    match (look.auto_mask, look.skin_follows) {
        (false, _) => vec!["structure"],
        (true, false) => vec!["mask"],
        (true, true) => vec!["mask", "skin"],
    }
}

macro_rules! number {
    ($section:ident, $id:literal, $name:literal, $range:expr, $($field:ident).+, $about:literal) => {
        Control {
            id: $id,
            name: $name,
            about: $about,
            section: Section::$section,
            kind: Kind::Number { range: $range, logarithmic: false, whole: false },
            lanes: None,
            only_input: false,
            get: |settings| settings.look.$($field).+,
            set: |settings, value| settings.look.$($field).+ = value,
        }
    };
}

macro_rules! switch {
    ($section:ident, $id:literal, $name:literal, $($field:ident).+, $about:literal) => {
        Control {
            id: $id,
            name: $name,
            about: $about,
            section: Section::$section,
            kind: Kind::Switch,
            lanes: None,
            only_input: false,
            get: |settings| f32::from(u8::from(settings.$($field).+)),
            set: |settings, value| settings.$($field).+ = value >= 0.5,
        }
    };
}

impl Control {
    fn logarithmic(mut self) -> Self {
        if let Kind::Number { logarithmic, .. } = &mut self.kind {
            *logarithmic = true;
        }
        self
    }

    /// It feeds inputs of the network, and changes nothing else when `only_input`.
    fn feeding(self, lanes: fn(&Look) -> Vec<&'static str>, only_input: bool) -> Self {
        Self { lanes: Some(lanes), only_input, ..self }
    }
}

/// Every control, in the order of the overlay.
pub fn all() -> Vec<Control> {
    let style = Control {
        id: "style",
        name: "Style",
        about: "the look of the result, and an input of the network",
        section: Section::Look,
        kind: Kind::Choice(&["off", "natural", "cinematic"]),
        lanes: Some(|_| vec!["style"]),
        only_input: false,
        get: |settings| settings.look.style.id() as f32,
        set: |settings, value| settings.look.style = Style::try_from(value as u32).unwrap_or_default(),
    };
    let reset_every = Control {
        id: "reset-every",
        name: "Reset every",
        about: "frames from one forgetting of the history to the next; 0 is never",
        section: Section::Time,
        kind: Kind::Number {
            range: *RESET_EVERY.start() as f32..=*RESET_EVERY.end() as f32,
            logarithmic: false,
            whole: true,
        },
        lanes: None,
        only_input: false,
        get: |settings| settings.look.reset_every as f32,
        set: |settings, value| settings.look.reset_every = value as u32,
    };
    vec![
        style,
        number!(
            Look,
            "intensity",
            "Intensity",
            ranges::INTENSITY,
            intensity,
            "how much of the network's result is shown"
        ),
        number!(
            Look,
            "color-strength",
            "Colour strength",
            ranges::COLOR_STRENGTH,
            color_strength,
            "how much of its change of colour is shown; its change of brightness stays"
        ),
        number!(Look, "tone", "Tone", ranges::LOCAL_TONE, tone, "an input of the network; scales the styles too")
            .feeding(|_| vec!["tone"], false),
        number!(Look, "structure", "Structure", ranges::LOCAL_STRUCTURE, structure, "an input of the network")
            .feeding(structure_lanes, true),
        switch!(
            Look,
            "skin-follows",
            "Skin follows structure",
            look.skin_follows,
            "the network is told the structure for skin too"
        )
        .feeding(|_| vec!["skin"], true),
        number!(Look, "skin", "Skin", ranges::LOCAL_STRUCTURE, skin, "an input of the network: structure of skin")
            .feeding(|_| vec!["skin"], true),
        switch!(
            Look,
            "auto-mask",
            "Auto mask",
            look.auto_mask,
            "the network finds skin and the rest by itself; off, one structure holds everywhere"
        )
        .feeding(|_| vec!["structure", "skin", "mask"], true),
        number!(
            White,
            "paper-white",
            "Paper white",
            ranges::PAPER_WHITE,
            paper_white,
            "scene value that becomes white in what the network sees"
        )
        .logarithmic(),
        switch!(
            White,
            "auto-white",
            "Auto",
            look.auto_white,
            "paper white follows the scene's brightness, between the two bounds"
        ),
        number!(
            White,
            "white-low",
            "Lowest",
            exposure::BOUNDS,
            white_low,
            "the least that automatic paper white becomes"
        )
        .logarithmic(),
        number!(
            White,
            "white-high",
            "Highest",
            exposure::BOUNDS,
            white_high,
            "the most that automatic paper white becomes"
        )
        .logarithmic(),
        number!(
            Time,
            "history-cap",
            "History cap",
            ranges::BLEND_SCALE,
            blend_cap,
            "largest weight of the history, as a share of the model's own cap"
        ),
        reset_every,
        switch!(
            Time,
            "frozen-noise",
            "Frozen noise",
            look.frozen_seed,
            "every frame has the same noise, in the scene and in the network's input"
        ),
        switch!(
            Custom,
            "custom",
            "In place of the style's look",
            look.custom,
            "the knobs below replace the style's look"
        ),
        number!(Custom, "exposure", "Exposure", ranges::EXPOSURE, knobs.exposure, "brightness in stops"),
        number!(Custom, "contrast", "Contrast", ranges::CONTRAST, knobs.contrast, "towards an S-curve, or flatter"),
        number!(Custom, "gamma", "Gamma", ranges::GAMMA, knobs.gamma, "exponent of the colour").logarithmic(),
        number!(Custom, "saturation", "Saturation", ranges::SATURATION, knobs.saturation, "-1 is grey"),
        number!(Custom, "hue", "Hue", ranges::HUE, knobs.hue, "shift of the hue in turns"),
        number!(Custom, "vibrance", "Vibrance", ranges::VIBRANCE, knobs.vibrance, "exponent of the saturation")
            .logarithmic(),
        number!(Custom, "strength", "Strength", ranges::STRENGTH, knobs.strength, "scales all the other knobs"),
        switch!(
            Scene,
            "jitter",
            "Jitter",
            jitter,
            "samples of successive frames lie at different places of their pixels"
        ),
        switch!(Scene, "shadows", "Shadows", shadows, "shadows of one sample a pixel"),
        switch!(Scene, "occlusion", "Occlusion", occlusion, "ambient occlusion of one sample a pixel"),
        switch!(Scene, "reflections", "Reflections", reflections, "glossy reflections of one sample a pixel"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings::new(Extent::new(64, 64))
    }

    #[test]
    fn every_control_sets_what_it_reads_and_nothing_else() {
        for control in all() {
            let [low, high] = control.ends();
            for value in [low, control.middle(), high] {
                let mut changed = settings();
                control.set(&mut changed, value);
                assert!((control.get(&changed) - value).abs() < 1e-6, "{}", control.id);
                assert!(control.takes(control.get(&changed)), "{}", control.id);
                for other in all().iter().filter(|other| other.id != control.id) {
                    assert_eq!(other.get(&changed), other.get(&settings()), "{} changes {}", control.id, other.id);
                }
            }
            assert!(low < high, "{}", control.id);
            assert!(control.takes(control.default_value()), "{}", control.id);
            let mut wild = settings();
            control.set(&mut wild, f32::NAN);
            assert_eq!(control.get(&wild), control.default_value());
            control.set(&mut wild, 1e9);
            assert_eq!(control.get(&wild), high, "{}", control.id);
        }
    }

    #[test]
    fn what_a_model_ignores_is_known() {
        let mut settings = settings();
        let seen = |id: &str, settings: &Settings, ignored: &[&str]| find(id).map(|c| c.seen(settings, ignored));
        assert_eq!(seen("intensity", &settings, &["tone"]), Some(Seen::Yes));
        assert_eq!(seen("tone", &settings, &["tone"]), Some(Seen::Partly));
        assert_eq!(seen("structure", &settings, &["structure", "mask"]), Some(Seen::Yes));
        assert_eq!(seen("structure", &settings, &["mask", "skin"]), Some(Seen::NoEffect));
        settings.look.auto_mask = false;
        assert_eq!(seen("structure", &settings, &["mask", "skin"]), Some(Seen::Yes));
        assert!(find("skin").is_some_and(|skin| !skin.is_active(&settings)));
    }

    #[test]
    fn ids_and_names_are_unique() {
        let all = all();
        for (index, control) in all.iter().enumerate() {
            assert!(all[..index].iter().all(|other| other.id != control.id && other.name != control.name));
            assert!(find(control.id).is_some());
        }
        let mut settings = settings();
        settings.look.tone = 0.5;
        reset_look(&mut settings);
        assert_eq!(settings.look, Look::default());
    }

    #[test]
    fn the_documentation_names_every_control() {
        let page = include_str!("../../../docs/viewer.md");
        for control in all() {
            assert!(page.contains(control.name), "docs/viewer.md does not tell of {}", control.name);
        }
    }
}
