//! The contract's temporal loop through the GPU passes.

use gpu::testing::TestDevice;

use super::support::Rig;
use crate::frame::cpu::sampling::Half4;
use crate::frame::cpu::temporal::{Difference, Loop};
use crate::frame::cpu::{CpuFrame, Head, Source};
use crate::frame::{Parameters, SourceKind};
use crate::numerics::half;

fn rgb(pixels: &[Half4]) -> Vec<u16> {
    pixels.iter().flat_map(|p| [p[0], p[1], p[2]]).collect()
}

/// The network publishes halves, and the recorded heads are f32: the GPU is compared bit for bit with its CPU twin on the
/// rounded heads, the twin with the recorded values in its own test, and proxies, lanes and the bypass, which do not
/// depend on the head, directly.
#[test]
fn the_loop_on_its_own_history() {
    let recorded = Loop::load();
    let (valid, field) = (recorded.geometry.valid, recorded.geometry.field);
    let device = TestDevice::open().unwrap();
    let mut rig = Rig::new(&device, &recorded.geometry, SourceKind::SceneF32, u64::MAX);
    let mut twin = CpuFrame::new(&recorded.geometry);
    let (mut proxies, mut next) = (Difference::default(), Difference::default());
    for (i, frame) in recorded.frames.iter().enumerate() {
        if frame.reset {
            rig.frame.reset();
            twin.reset();
        }
        assert_eq!(rig.frame.clock(), twin.clock());
        assert_eq!(rig.frame.clock().history_valid(true), frame.history_valid);
        let head: Vec<Half4> = frame.head.iter().map(|h| h.map(half::from_f32)).collect();
        rig.put_color(&frame.scene);
        rig.put_motion(&frame.motion);
        rig.put_head(&head);
        let p = Parameters { history_valid: true, seed: rig.frame.clock().counter(), ..recorded.parameters };
        let source = Source::SceneF32(&frame.scene);
        let features = twin.preprocess(source, &frame.motion, &p);
        rig.run(|f, cmd| f.record_preprocess(cmd, &p));
        let got = rig.read_features();
        assert!(got == features, "features of frame {i}");
        proxies.add(rgb(&rig.read(rig.frame.proxy().unwrap())), &frame.proxy);
        for y in 0..valid.height as usize {
            for x in 0..valid.width as usize {
                let at = y * valid.width as usize + x;
                let lanes = got[y * field.width as usize + x];
                proxies.add(lanes[4..7].iter().copied(), &frame.lanes[3 * at..3 * at + 3]);
            }
        }
        if frame.network {
            let want = twin.composite(source, &frame.motion, Head::Half(&head), &p);
            rig.run(|f, cmd| f.record_composite(cmd, &p));
            assert!(rig.read::<Half4>(rig.frame.published()) == want.published, "published colour of frame {i}");
            assert!(rig.read::<u32>(rig.frame.display_neural()) == want.display_neural, "display of frame {i}");
            assert!(rig.read::<u32>(rig.frame.display_input()) == want.display_input, "display of frame {i}");
        } else {
            let want = twin.bypass(source, &p);
            rig.run(|f, cmd| f.record_bypass(cmd, &p));
            assert!(rig.read::<u32>(rig.frame.display_neural()) == want, "display of frame {i}");
            assert!(rig.read::<u32>(rig.frame.display_input()) == want, "display of frame {i}");
            next.add(rgb(&rig.read(rig.frame.next_history())), &frame.next);
        }
        rig.frame.finish_frame();
        assert!(rig.read::<Half4>(rig.frame.history()) == twin.history(), "history of frame {i}");
    }
    println!("against the recorded loop: proxies and lanes {proxies:?}, bypassed history {next:?}");
    assert!(proxies.steps <= 2 && proxies.different <= 2, "{proxies:?}");
    assert!(next.steps <= 1 && next.different <= 1, "{next:?}");
}
