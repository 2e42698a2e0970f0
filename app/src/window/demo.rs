//! `--demo`: a scripted tour through every mode and control, which ends by itself. Its steps come from the same lists as
//! the overlay's.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use network::geometry::Extent;

use super::control::{self, Section};
use super::debug_view::DebugView;
use super::layout::{CompareMode, Difference, Line};
use super::settings::{Action, Settings};
use super::zoom::Zoom;

/// Longest wait for a frame from the network, on a device that is slow beyond patience.
const PATIENCE: Duration = Duration::from_secs(120);
/// Frames to be drawn before a change is sure to be seen.
const DRAWN: u64 = 2;

/// What a step waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// The change is drawn.
    Drawn,
    /// A frame that was begun after the change went through the network.
    Evaluated,
    /// The buffers of a frame are there.
    Viewed,
}

/// One step: what is done, under which name its picture is kept.
pub struct Step {
    /// Name of the picture.
    pub name: String,
    until: Until,
    change: Change,
}

type Change = Box<dyn Fn(&mut Settings) -> Vec<Action>>;

/// What the demo needs to know in each frame.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Frames presented.
    pub presented: u64,
    /// Frames that went through the network.
    pub evaluated: u64,
    /// Whether the picture is one from the network, or the network is off.
    pub complete: bool,
    /// Whether the view has something to show, or never will.
    pub viewed: bool,
    /// Whether pictures are being written.
    pub writing: bool,
    /// Whether something is being loaded.
    pub loading: bool,
}

/// Where the tour is.
pub struct Demo {
    steps: Vec<Step>,
    next: usize,
    stage: Stage,
    since: Instant,
    presented: u64,
    evaluated: u64,
    /// Shortest duration of a step.
    pace: Duration,
    /// Where pictures go, if they are wanted.
    pictures: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Change,
    Wait,
    Picture,
    End,
}

fn step(name: impl Into<String>, change: impl Fn(&mut Settings) + 'static) -> Step {
    let change = move |settings: &mut Settings| {
        change(settings);
        Vec::new()
    };
    Step { name: name.into(), until: Until::Drawn, change: Box::new(change) }
}

fn act(name: &str, action: Action) -> Step {
    Step { name: name.into(), until: Until::Drawn, change: Box::new(move |_| vec![action.clone()]) }
}

impl Step {
    fn evaluated(self) -> Self {
        Self { until: Until::Evaluated, ..self }
    }
}

/// The tour of a window whose frame has a size.
pub fn steps(size: Extent) -> Vec<Step> {
    let mode = |mode: CompareMode| {
        move |settings: &mut Settings| {
            settings.compare.mode = mode;
        }
    };
    let mut steps = vec![
        step("start", |settings| {
            settings.paused = true;
            settings.hint = true;
            settings.compare.mode = CompareMode::Side;
        })
        .evaluated(),
        step("help", |settings| (settings.hint, settings.help) = (false, true)),
        step("help-closed", |settings| settings.help = false),
    ];
    for one in CompareMode::ALL {
        steps.push(step(format!("mode-{}", one.label().to_lowercase().replace(' ', "-")), mode(one)));
    }
    steps.extend([
        step("wipe-left", |settings| {
            (settings.compare.mode, settings.compare.wipe) = (CompareMode::Wipe, 0.2);
        }),
        step("wipe-right", |settings| settings.compare.wipe = 0.8),
        step("wipe-horizontal", |settings| (settings.compare.line, settings.compare.wipe) = (Line::Horizontal, 0.5)),
        step("wipe-vertical", |settings| settings.compare.line = Line::Vertical),
    ]);
    for difference in Difference::ALL {
        steps.push(step(format!("difference-{}", difference.label().to_lowercase()), move |settings| {
            (settings.compare.mode, settings.compare.difference) = (CompareMode::Difference, difference);
        }));
    }
    steps.extend([
        step("difference-gain", |settings| {
            (settings.compare.difference, settings.compare.gain) = (Difference::Absolute, 64.0);
        }),
        step("zoom", |settings| {
            settings.compare.mode = CompareMode::Side;
            settings.compare.zoom = Zoom { scale: Some(6.0), center: [0.4, 0.6] };
        }),
        step("one-to-one", |settings| settings.compare.zoom.scale = Some(1.0)),
        step("fit", |settings| settings.compare.zoom = Zoom::FIT),
        step("inspector", |settings| settings.inspector = true),
        step("inspector-closed", |settings| settings.inspector = false),
    ]);
    for view in DebugView::ALL {
        let name = format!("view-{}", view.label().to_lowercase().replace(' ', "-"));
        let show = step(name, move |settings| {
            (settings.compare.mode, settings.compare.view.kind) = (CompareMode::View, view);
        });
        steps.push(Step { until: Until::Viewed, ..show });
    }
    steps.push(step("views-left", |settings| settings.compare.mode = CompareMode::Side));
    for control in control::all() {
        let [low, high] = control.ends();
        let enabler = enabler(&control);
        for (end, value) in [("low", low), ("middle", control.middle()), ("high", high)] {
            let (control, enabler) = (control.clone(), enabler.clone());
            steps.push(step(format!("{}-{end}", control.id), move |settings| {
                for (id, value) in &enabler {
                    if let Some(other) = control::find(id) {
                        other.set(settings, *value);
                    }
                }
                control.set(settings, value);
            }));
        }
        steps.push(step(format!("{}-default", control.id), |settings| {
            control::reset_look(settings);
            control::of(Section::Scene).iter().for_each(|one| one.set(settings, one.default_value()));
        }));
    }
    let smaller = Extent::new((size.width / 2).max(33), (size.height / 2).max(16));
    steps.extend([
        step("network-off", |settings| settings.network = false),
        step("network-on", |settings| settings.network = true).evaluated(),
        step("history-off", |settings| settings.temporal = false),
        step("history-on", |settings| settings.temporal = true),
        act("history-reset", Action::ResetHistory),
        act("step", Action::Step),
        act("size-smaller", Action::Resize(smaller)),
        act("size-back", Action::Resize(size)),
        step("overlay-off", |settings| settings.overlay = false),
        step("overlay-on", |settings| settings.overlay = true),
        step("end", |settings| (settings.paused, settings.compare.mode) = (false, CompareMode::Side)).evaluated(),
    ]);
    steps
}

/// What has to be set for a control to have an effect.
fn enabler(control: &control::Control) -> Vec<(&'static str, f32)> {
    match control.id {
        "skin" => vec![("skin-follows", 0.0)],
        "white-low" | "white-high" => vec![("auto-white", 1.0)],
        "custom" => Vec::new(),
        _ if control.section == Section::Custom => vec![("custom", 1.0)],
        _ => Vec::new(),
    }
}

impl Demo {
    /// A tour at a pace, with pictures in a folder.
    pub fn new(size: Extent, pace: Duration, pictures: Option<&Path>) -> Self {
        Self {
            steps: steps(size),
            next: 0,
            stage: Stage::Change,
            since: Instant::now(),
            presented: 0,
            evaluated: 0,
            pace,
            pictures: pictures.map(Path::to_owned),
        }
    }

    /// Number of the step and of all steps, and the step's name.
    pub fn place(&self) -> (usize, usize, &str) {
        let name = self.steps.get(self.next).map_or("", |step| step.name.as_str());
        (self.next, self.steps.len(), name)
    }

    /// The tour after a drawn frame: what is asked for, and the picture that is wanted.
    pub fn turn(&mut self, settings: &mut Settings, now: &Now) -> (Vec<Action>, Option<PathBuf>) {
        let Some(step) = self.steps.get(self.next) else {
            let ended = self.stage != Stage::End && !now.writing;
            self.stage = if ended { Stage::End } else { self.stage };
            return (if ended { vec![Action::Quit] } else { Vec::new() }, None);
        };
        match self.stage {
            Stage::Change => {
                (self.presented, self.evaluated, self.since) = (now.presented, now.evaluated, Instant::now());
                self.stage = Stage::Wait;
                return ((step.change)(settings), None);
            }
            Stage::Wait => {
                let drawn = now.presented >= self.presented + DRAWN && !now.loading;
                let done = match step.until {
                    Until::Drawn => drawn,
                    Until::Viewed => drawn && now.viewed,
                    Until::Evaluated => drawn && now.complete && (!settings.network || now.evaluated > self.evaluated),
                };
                if done && self.since.elapsed() >= self.pace || self.since.elapsed() > PATIENCE {
                    self.stage = Stage::Picture;
                    let name = format!("{:03}-{}.png", self.next + 1, step.name);
                    return (Vec::new(), self.pictures.as_ref().map(|folder| folder.join(name)));
                }
            }
            Stage::Picture if !now.writing && now.presented > self.presented + DRAWN => {
                self.next += 1;
                self.stage = Stage::Change;
            }
            Stage::Picture | Stage::End => {}
        }
        (Vec::new(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tour_goes_through_every_mode_and_control_and_ends() {
        let size = Extent::new(64, 64);
        let mut settings = Settings::new(size);
        let mut demo = Demo::new(size, Duration::ZERO, None);
        let mut now = Now { presented: 0, evaluated: 0, complete: true, viewed: true, writing: false, loading: false };
        let (mut modes, mut moved, mut quit) = (Vec::new(), std::collections::BTreeSet::new(), false);
        for _ in 0..20_000 {
            let before = settings.clone();
            let (actions, _) = demo.turn(&mut settings, &now);
            quit |= actions.contains(&Action::Quit);
            now.presented += 1;
            now.evaluated += 1;
            if !modes.contains(&settings.compare.mode) {
                modes.push(settings.compare.mode);
            }
            let changed = control::all().into_iter().filter(|one| one.get(&before) != one.get(&settings));
            moved.extend(changed.map(|one| one.id));
            if quit {
                break;
            }
        }
        assert!(quit, "it ends by itself");
        assert!(CompareMode::ALL.iter().all(|mode| modes.contains(mode)));
        assert_eq!(moved.len(), control::all().len(), "{moved:?}");
        assert_eq!(settings.look, super::super::look::Look::default());
        let steps = steps(size);
        for (index, step) in steps.iter().enumerate() {
            assert!(steps[..index].iter().all(|other| other.name != step.name), "{} is there twice", step.name);
        }
    }
}
