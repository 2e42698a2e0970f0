//! The six frames of the contract's temporal loop, for the CPU's and the GPU's passes.

use serde_json::Value;

use super::sampling::{Half4, motion_uv, pack_motion};
use super::vectors::{load, numbers, steps};
use crate::frame::Parameters;
use crate::geometry::{Extent, Geometry};
use crate::numerics::half;

/// The recorded loop.
pub struct Loop {
    /// Geometry of its 20x14 image.
    pub geometry: Geometry,
    /// Parameters without the frame's own.
    pub parameters: Parameters,
    /// Its frames.
    pub frames: Vec<Frame>,
}

/// One recorded frame.
pub struct Frame {
    /// Whether the network runs.
    pub network: bool,
    /// Whether a reset comes before the frame.
    pub reset: bool,
    /// Whether the frame may use the history.
    pub history_valid: bool,
    /// Linear scene colour.
    pub scene: Vec<[f32; 4]>,
    /// Packed motion, from the recorded velocity.
    pub motion: Vec<u32>,
    /// The motion that is expected, x and y.
    pub motion_uv: Vec<f32>,
    /// Head, on the field.
    pub head: Vec<[f32; 4]>,
    /// Expected proxy, RGB.
    pub proxy: Vec<u16>,
    /// Expected lanes 4 to 6 of the valid pixels.
    pub lanes: Vec<u16>,
    /// Expected history sample, RGB.
    pub sample: Option<Vec<f64>>,
    /// Expected next history, RGB.
    pub next: Vec<u16>,
}

/// How far a run is from the recorded values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// Values compared.
    pub compared: usize,
    /// Values that differ.
    pub different: usize,
    /// The largest difference in half steps.
    pub steps: u32,
}

impl Difference {
    /// Adds a comparison.
    pub fn add(&mut self, got: impl IntoIterator<Item = u16>, want: &[u16]) {
        let mut count = 0;
        for (a, &b) in got.into_iter().zip(want) {
            count += 1;
            self.different += usize::from(a != b);
            self.steps = self.steps.max(steps(a, b));
        }
        assert_eq!(count, want.len());
        self.compared += count;
    }
}

impl Loop {
    /// The contract's loop.
    pub fn load() -> Self {
        let v = load("temporal");
        let size = |key: &str| v[key].as_u64().unwrap() as u32;
        let geometry = Geometry::new(Extent::new(size("width"), size("height"))).unwrap();
        let number = |key: &str| v[key].as_f64().unwrap() as f32;
        Self {
            parameters: Parameters {
                paper_white: number("paperWhite"),
                blend_scale: number("blendScale"),
                ..Parameters::default()
            },
            frames: v["frames"].as_array().unwrap().iter().map(|f| Frame::read(f, &geometry)).collect(),
            geometry,
        }
    }
}

impl Frame {
    fn read(f: &Value, geometry: &Geometry) -> Self {
        let valid = geometry.valid;
        let expect = &f["expect"];
        let halves = |v: &Value| numbers(v).into_iter().map(|n| n as u16).collect();
        let velocity = numbers(&f["velocityNdc"]);
        let motion = numbers(&f["objectId"])
            .into_iter()
            .enumerate()
            .map(|(i, id)| {
                pack_motion(motion_uv(
                    [i as u32 % valid.width, i as u32 / valid.width],
                    valid,
                    id as u32,
                    0.0,
                    [velocity[2 * i] as f32, velocity[2 * i + 1] as f32],
                ))
            })
            .collect();
        let mut head = vec![[0.0; 4]; geometry.field.pixels()];
        for (i, h) in numbers(&f["head"]).as_chunks::<4>().0.iter().enumerate() {
            let (x, y) = (i % valid.width as usize, i / valid.width as usize);
            head[y * geometry.field.width as usize + x] = h.map(|v| v as f32);
        }
        Self {
            network: f["networkOn"].as_bool().unwrap(),
            reset: f["reset"].as_bool().unwrap(),
            history_valid: f["historyValid"].as_bool().unwrap(),
            scene: numbers(&f["scene"])
                .as_chunks::<3>()
                .0
                .iter()
                .map(|c| [c[0] as f32, c[1] as f32, c[2] as f32, 1.0])
                .collect(),
            motion,
            motion_uv: numbers(&expect["motionUv"]).into_iter().map(|v| v as f32).collect(),
            head,
            proxy: halves(&expect["proxyBits"]),
            lanes: halves(&expect["lanes4to6Bits"]),
            sample: (!expect["historySample"].is_null()).then(|| numbers(&expect["historySample"])),
            next: halves(&expect["nextHistoryBits"]),
        }
    }
}

mod tests {
    use super::*;
    use crate::frame::cpu::sampling::unpack_motion;
    use crate::frame::cpu::{CpuFrame, Head, History, Source};

    fn rgb(pixels: &[Half4]) -> Vec<u16> {
        pixels.iter().flat_map(|p| [p[0], p[1], p[2]]).collect()
    }

    /// The recorded history of the previous frame, as the vectors ask for.
    fn recorded_history(frame: &Frame) -> Vec<Half4> {
        frame.next.as_chunks::<3>().0.iter().map(|&[r, g, b]| [r, g, b, 0x3c00]).collect()
    }

    #[test]
    fn each_frame_from_the_recorded_history() {
        let recorded = Loop::load();
        let valid = recorded.geometry.valid;
        let mut previous: Option<Vec<Half4>> = None;
        let (mut proxies, mut next) = (Difference::default(), Difference::default());
        let mut worst = 0f64;
        for frame in &recorded.frames {
            let source = Source::SceneF32(&frame.scene);
            let uv = frame.motion.iter().flat_map(|&m| unpack_motion(m));
            assert!(uv.eq(frame.motion_uv.iter().copied()));
            let p = Parameters { history_valid: frame.history_valid, ..recorded.parameters };
            let history = previous.as_deref().map(|color| History { extent: valid, color, motion: &frame.motion });
            let features = super::super::preprocess(&recorded.geometry, source, history, &p);
            for i in 0..frame.motion.len() {
                let (x, y) = (i as u32 % valid.width, i as u32 / valid.width);
                let lanes = features[(y * recorded.geometry.field.width + x) as usize];
                proxies.add(source.proxy(x, y, valid, p.paper()).map(half::from_f32), &frame.proxy[3 * i..3 * i + 3]);
                proxies.add(lanes[4..7].iter().copied(), &frame.lanes[3 * i..3 * i + 3]);
                if let (Some(want), Some(history)) = (&frame.sample, history) {
                    for (got, want) in history.sample(x, y).iter().zip(&want[3 * i..]) {
                        worst = worst.max((f64::from(*got) - want).abs());
                    }
                }
            }
            if frame.network {
                let composed =
                    super::super::compose_frame(&recorded.geometry, source, Head::F32(&frame.head), history, &p);
                next.add(rgb(&composed.history), &frame.next);
                assert_eq!(composed.published, composed.history);
            }
            previous = Some(recorded_history(frame));
        }
        println!("history samples {worst:e}, proxies and lanes {proxies:?}, next {next:?}");
        assert!(worst < 1e-5, "history samples differ by {worst}");
        assert!(proxies.steps <= 2 && proxies.different <= 2, "{proxies:?}");
        assert!(next.steps <= 1 && next.different <= 8, "{next:?}");
    }

    #[test]
    fn the_whole_loop_on_its_own_history() {
        let recorded = Loop::load();
        let mut own = CpuFrame::new(&recorded.geometry);
        let mut next = Difference::default();
        for frame in &recorded.frames {
            if frame.reset {
                own.reset();
            }
            assert_eq!(own.clock().history_valid(true), frame.history_valid);
            let p = Parameters { history_valid: true, ..recorded.parameters };
            let source = Source::SceneF32(&frame.scene);
            if frame.network {
                own.composite(source, &frame.motion, Head::F32(&frame.head), &p);
            } else {
                own.bypass(source, &p);
            }
            next.add(rgb(own.history()), &frame.next);
        }
        println!("next histories {next:?}");
        assert!(next.steps <= 2 && next.different <= 16, "{next:?}");
    }
}
