//! Times of every pass over the last frames.

use super::series::Series;
use crate::engine::stages;

/// Passes in the order in which a frame goes through them, each with its depth in the list.
fn names() -> impl Iterator<Item = (&'static str, bool)> {
    let stages = stages::NAMES.into_iter().map(|name| (name, true));
    let before = ["scene", "preprocess", "network"].map(|name| (name, false));
    let after = ["composite", "live scene", "present", "overlay", "frame", "cpu", "input", "input, computing"];
    let after = after.map(|name| (name, false));
    before.into_iter().chain(stages).chain(after)
}

/// A series of milliseconds for each pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Passes {
    all: Vec<Pass>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// Whether it is a part of the network.
    pub is_stage: bool,
    /// Its times.
    pub series: Series,
}

impl Default for Passes {
    fn default() -> Self {
        let pass = |(name, is_stage)| Pass { name, is_stage, series: Series::default() };
        Self { all: names().map(pass).collect() }
    }
}

impl serde::Serialize for Passes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The network's "input" is a stage, "input" alone is what a person waits for.
        let key = |pass: &Pass| if pass.is_stage { format!("network {}", pass.name) } else { pass.name.to_owned() };
        serializer.collect_map(self.all.iter().map(|pass| (key(pass), &pass.series)))
    }
}

impl Passes {
    /// All, in order.
    pub fn all(&self) -> &[Pass] {
        &self.all
    }

    /// Those of a name that is no stage.
    pub fn get(&self, name: &str) -> Option<&Series> {
        self.all.iter().find(|pass| !pass.is_stage && pass.name == name).map(|pass| &pass.series)
    }

    /// Adds a time.
    pub fn push(&mut self, name: &str, ms: f64) {
        if let Some(pass) = self.all.iter_mut().find(|pass| !pass.is_stage && pass.name == name) {
            pass.series.push(ms);
        }
    }

    /// Adds the times of the frame with a number, once.
    pub fn extend(&mut self, number: u64, times: &crate::engine::neural::Times) {
        let whole = [("scene", times.scene), ("preprocess", times.preprocess), ("network", times.network)];
        let whole = whole.into_iter().chain([("composite", times.composite)]);
        for (name, ms) in whole {
            if let Some(pass) = self.all.iter_mut().find(|pass| !pass.is_stage && pass.name == name) {
                pass.series.extend(number, Some(ms));
            }
        }
        for (pass, ms) in self.all.iter_mut().filter(|pass| pass.is_stage).zip(times.stages) {
            pass.series.extend(number, Some(ms));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::neural::Times;

    #[test]
    fn times_come_by_pass_and_stage() {
        let mut passes = Passes::default();
        let mut times = Times { network: 9.0, composite: 1.0, ..Times::default() };
        times.stages[6] = 4.0;
        passes.extend(1, &times);
        passes.extend(1, &Times { network: 99.0, ..times });
        passes.push("present", 0.5);
        let p50 = |name: &str| passes.get(name).and_then(Series::summary).map(|summary| summary.p50);
        assert_eq!(
            (p50("network"), p50("composite"), p50("present"), p50("cpu")),
            (Some(9.0), Some(1.0), Some(0.5), None)
        );
        let json = serde_json::to_value(&passes).unwrap_or_default();
        assert_eq!(json["network ViT"]["p99"], 4.0);
        assert!(json["input"].is_null() && !json["network input"].is_null());
    }
}
