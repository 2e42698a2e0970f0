//! Motion and history: reprojection reads no pixel outside, keeps what is constant, and finds what moved.

use proptest::prelude::*;

use super::sampling::{Half4, History, mirror, motion_uv, pack_motion, resized, unpack_motion, weights};
use crate::geometry::Extent;
use crate::numerics::half;

const CASES: u32 = if cfg!(miri) { 4 } else { 512 };

fn smooth(extent: Extent, slope: [f32; 2]) -> Vec<Half4> {
    let value = |i: u32| {
        let (x, y) = (i % extent.width, i / extent.width);
        half::from_f32((x as f32 + 0.5) * slope[0] + (y as f32 + 0.5) * slope[1])
    };
    (0..extent.pixels() as u32).map(|i| [value(i), value(i), value(i), 0x3c00]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn any_motion_reads_inside_and_keeps_what_is_constant(w in 1u32..40, h in 1u32..40, motion: u32, level in 0u16..0x4000) {
        let extent = Extent::new(w, h);
        let color = vec![[level, level, level, 0x3c00]; extent.pixels()];
        let history = History { extent, color: &color, motion: &vec![motion; extent.pixels()] };
        let want = half::to_f32(level);
        for (x, y) in [(0, 0), (w - 1, h - 1), (w / 2, h / 3)] {
            for got in history.sample(x, y) {
                prop_assert!((got - want).abs() <= 1e-5 * want.abs().max(1e-3), "{} instead of {}", got, want);
            }
        }
    }

    #[test]
    fn a_slope_is_found_where_it_moved(dx in -6i32..=6, dy in -6i32..=6, sx in 0.0f32..0.02, sy in 0.0f32..0.02) {
        let extent = Extent::new(32, 32);
        let color = smooth(extent, [sx, sy]);
        let uv = [dx as f32 / 32.0, dy as f32 / 32.0];
        let history = History { extent, color: &color, motion: &vec![pack_motion(uv); extent.pixels()] };
        // Far from the border: the previous place, whole pixels away.
        let (x, y) = (16u32, 15u32);
        let there = color[((y as i32 + dy) * 32 + x as i32 + dx) as usize];
        for (got, want) in history.sample(x, y).into_iter().zip(there) {
            prop_assert!((got - half::to_f32(want)).abs() < 2e-3, "{} instead of {}", got, half::to_f32(want));
        }
    }

    #[test]
    fn motion_that_is_kept_leads_inside(w in 1u32..5000, h in 1u32..5000, px: u32, py: u32, vx in -3.0f32..3.0, vy in -3.0f32..3.0, object in 0u32..2) {
        let extent = Extent::new(w, h);
        let (x, y) = (px % w, py % h);
        let [u, v] = motion_uv([x, y], extent, object, 0.0, [vx, vy]);
        if [u, v] != [0.0, 0.0] {
            prop_assert!(object != 0);
            let place = [(x as f32 + 0.5) / w as f32 + u, (y as f32 + 0.5) / h as f32 + v];
            prop_assert!(place.iter().all(|p| (-1e-5..=1.00001).contains(p)), "{:?}", place);
            // From y up to y down, from two to one.
            prop_assert_eq!([u, v], [0.5 * vx, -0.5 * vy]);
        }
    }

    #[test]
    fn packed_motion_comes_back(bits: u32) {
        let uv = unpack_motion(bits);
        prop_assert!(uv.iter().all(|v| v.is_finite()));
        prop_assert_eq!(unpack_motion(pack_motion(uv)), uv);
    }

    #[test]
    fn weights_sum_to_one_and_borders_stay_inside(f in 0.0f32..=1.0, i: u32, n in 1u32..5000, valid in 1u32..5000) {
        let sum: f32 = weights(f).iter().sum();
        prop_assert!((sum - 1.0).abs() < 1e-6, "{}", sum);
        prop_assert!(mirror(i % (8 * n), n) < n);
        prop_assert!(resized(i % valid, valid, n) < n);
    }
}
