//! The gates about bytes: the direct route against the reference, and all three against each other.

use anyhow::{Context as _, Result, bail};
use network::exec::NetworkOptions;
use network::frame::Parameters;
use network::frame::cpu::Half4;
use network::plan::Plan;
use network::replay::{Gate, GateResult};
use serde_json::json;

use super::Demand;
use super::case::Case;
use super::gates::passed;
use crate::cli::args::RouteArg;
use crate::cli::progress;
use crate::cli::text::counted;
use crate::engine::neural::Neural;
use crate::engine::playback::{Composition, Inputs, Keep, NetworkRun, Picture, Player};
use crate::engine::replayed;
use crate::engine::retain::ReplayArg;

/// Frames of the baseline.
const BASELINE: u32 = 2;

/// A frame of the reference.
struct Reference {
    inputs: Inputs,
    features: Vec<u16>,
    run: NetworkRun,
    made: Composition,
}

/// The reference, with a history of its own.
struct Oracle {
    player: Player,
    history: Option<Vec<Half4>>,
}

impl Oracle {
    fn new(case: &mut Case) -> Result<Self> {
        let (model, geometry) = (case.model.clone(), case.geometry);
        let player = Player::new(&mut case.engines, RouteArg::Cpu, &model, &geometry, true, Keep::Boundaries)?;
        Ok(Self { player, history: None })
    }

    /// Computes the frame whose scene image is in a frame's buffers.
    fn frame(&mut self, case: &Case, neural: &Neural, number: u32) -> Result<Reference> {
        let picture = neural.gbuffer().read()?;
        let word = |[x, y]: [half::f16; 2]| u32::from(x.to_bits()) | u32::from(y.to_bits()) << 16;
        let history = self.history.take();
        let parameters = Parameters { seed: number, history_valid: history.is_some(), ..case.parameters()? };
        let inputs = Inputs {
            picture: Picture::Scene {
                color: picture.color.iter().map(|pixel| pixel.map(|value| value.to_bits())).collect(),
                depth: picture.depth,
                motion: picture.motion.into_iter().map(word).collect(),
            },
            history,
            parameters,
        };
        let features = self.player.features(&inputs)?;
        let run = self.player.network(&features, &[])?;
        let made = self.player.compose(&inputs, &run.head)?;
        self.history = Some(made.composed.history.clone());
        Ok(Reference { inputs, features, run, made })
    }
}

fn bytes(halves: &[u16]) -> Vec<u8> {
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// What a frame of the reference makes of the surfaces of [`Neural::surfaces`]; `written` is the history it writes.
fn surfaces(reference: &Reference, written: usize) -> replayed::Surfaces {
    let composed = &reference.made.composed;
    let mut all = vec![
        ("head".to_owned(), bytes(&reference.run.head)),
        (format!("history {written}"), bytes(composed.history.as_flattened())),
        ("proxy".to_owned(), bytes(reference.made.proxy.as_flattened())),
        ("published".to_owned(), bytes(composed.published.as_flattened())),
        ("display input".to_owned(), words(&composed.display_input)),
        ("display neural".to_owned(), words(&composed.display_neural)),
    ];
    if let Some(history) = &reference.inputs.history {
        all.push((format!("history {}", 1 - written), bytes(history.as_flattened())));
    }
    all
}

/// Surfaces by name, in the order of `like`.
fn pick(all: &replayed::Surfaces, like: &replayed::Surfaces) -> replayed::Surfaces {
    let find = |name: &String| all.iter().find(|(n, _)| n == name).cloned().unwrap_or_else(|| (name.clone(), vec![]));
    like.iter().map(|(name, _)| find(name)).collect()
}

/// The first thing in which a device differs from the reference.
fn against(case: &Case, neural: &Neural, reference: &Reference) -> Result<Option<String>> {
    let written = neural.frame().clock().parity();
    let want = surfaces(reference, written);
    Ok(replayed::difference(&pick(&neural.surfaces(&case.studio)?, &want), &want))
}

/// Features and every boundary of a frame that kept them.
fn boundaries(neural: &Neural, reference: &Reference) -> Result<(usize, Option<String>)> {
    let network = neural.network();
    let plan: &Plan = network.plan();
    let mut got = vec![("features".to_owned(), network.read_tensor(plan.features)?)];
    let mut want = vec![("features".to_owned(), bytes(&reference.features))];
    for (id, data) in &reference.run.kept {
        let name = plan.tensor(*id).boundary.clone().unwrap_or_else(|| plan.tensor(*id).label.clone());
        got.push((name.clone(), network.read_tensor(*id)?));
        want.push((name, data.to_bytes()));
    }
    Ok((want.len(), replayed::difference(&got, &want)))
}

impl Case {
    /// Direct frames against the reference.
    pub fn baseline(&mut self) -> Result<GateResult> {
        let mut oracle = Oracle::new(self)?;
        let mut neural = self.neural(ReplayArg::Direct, NetworkOptions::default())?;
        for number in 0..BASELINE {
            self.frame(&mut neural, number)?;
            let reference = oracle.frame(self, &neural, number)?;
            if let Some(difference) = against(self, &neural, &reference)? {
                bail!("frame {number} of the direct route differs from the reference in {difference}");
            }
        }
        let counts = neural.retain().counts.clone().context("a direct frame's dispatches do not add up")?;
        let finding = format!(
            "{BASELINE} direct frames give the reference's bytes; {} dispatches, all of the forward or named",
            counts.total
        );
        Ok(passed(Gate::Baseline, finding, Vec::new(), json!({ "frames": BASELINE, "counts": counts })))
    }

    /// Direct, retained, retained with every tensor kept, and the reference, frame by frame.
    pub fn shadow(&mut self) -> Result<GateResult> {
        let mut oracle = Oracle::new(self)?;
        let mut retained = self.retained.take().context("no tape was captured")?;
        let mut direct = self.neural(ReplayArg::Direct, NetworkOptions::default())?;
        let kept = NetworkOptions { keep_all: true, ..NetworkOptions::default() };
        let mut kept = self.neural(self.asked, kept)?;
        self.warm(&mut kept)?;
        for neural in [&mut retained, &mut kept] {
            neural.reset();
            neural.retain_mut().begin_span();
        }
        let frames = self.demand.shadow;
        let (mut compared, mut guards) = (0, 0);
        let bar = progress::bar(u64::from(frames), "shadow frames");
        for number in 0..frames {
            self.frame(&mut direct, number)?;
            self.frame(&mut retained, number)?;
            self.frame(&mut kept, number)?;
            let reference = oracle.frame(self, &direct, number)?;
            // What the first frame reads as history is left over from before and is not used.
            let read = format!("history {}", 1 - direct.frame().clock().parity());
            let usable = |all: replayed::Surfaces| -> replayed::Surfaces {
                all.into_iter().filter(|(name, _)| number > 0 || *name != read).collect()
            };
            let ours = usable(direct.surfaces(&self.studio)?);
            for (name, neural) in [("retained", &retained), ("retained with every tensor kept", &kept)] {
                if let Some(difference) = replayed::difference(&ours, &usable(neural.surfaces(&self.studio)?)) {
                    bail!("frame {number}, direct and {name}: {difference}");
                }
                if let Some(difference) = against(self, neural, &reference)? {
                    bail!("frame {number}, {name} and the reference: {difference}");
                }
            }
            if let Some(difference) = against(self, &direct, &reference)? {
                bail!("frame {number}, direct and the reference: {difference}");
            }
            let (count, difference) = boundaries(&kept, &reference)?;
            if let Some(difference) = difference {
                bail!("frame {number}, retained with every tensor kept and the reference: {difference}");
            }
            compared += count + 3 * ours.len();
            for neural in [&direct, &retained, &kept] {
                let (count, damaged) = neural.network().check_guards()?;
                if let Some(place) = damaged.first() {
                    bail!("frame {number}: guard words were written over: {place}");
                }
                guards += count;
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        for (name, neural) in [("retained", &retained), ("retained with every tensor kept", &kept)] {
            let replays = neural.retain().proof(self.identity.as_ref().context("no tape was captured")?).replays;
            anyhow::ensure!(replays == u64::from(frames), "{name}: {replays} of {frames} frames were replays");
        }
        self.retained = Some(retained);
        let finding = format!(
            "{} with history: direct, retained and reference agree bit for bit on {compared} surfaces \
             (features, every boundary, head, both histories, parameters, pictures); {guards} guards are whole",
            counted(frames, "frame")
        );
        let relaxed = self.relaxation("shadow frames", frames, Demand::FULL.shadow);
        let details = json!({ "frames": frames, "surfaces": compared, "guards": guards, "notTheSame": 0 });
        Ok(passed(Gate::ShadowParity, finding, relaxed, details))
    }
}
