//! Every pair of sides from 33 to 4096.

use std::collections::HashSet;

use proptest::prelude::*;
use rayon::prelude::*;

use super::*;

/// What must hold for any field that the network runs on.
fn check(g: &Geometry) {
    let (valid, field) = (g.valid, g.field);
    assert!(field.width >= valid.width.max(MIN_FIELD) && field.height >= valid.height.max(MIN_FIELD), "{g:?}");
    // Padding is bounded: alignment, and the contract's one step more.
    assert!(
        field.width < valid.width.max(MIN_FIELD) + 256 && field.height < valid.height.max(MIN_FIELD) + 128,
        "{g:?}"
    );
    let mut finer = field;
    for level in g.levels {
        assert!(level.width.is_multiple_of(4) && level.height.is_multiple_of(4), "{g:?}");
        assert!(level.width * 2 >= finer.width && level.height * 2 >= finer.height, "{g:?}");
        assert!(level.width * 2 < finer.width + 8 && level.height * 2 < finer.height + 8, "{g:?}");
        finer = level;
    }
    let level0 = g.levels[0];
    assert!(level0.width.is_multiple_of(WINDOW) && level0.height.is_multiple_of(WINDOW), "{g:?}");
    assert_eq!(g.vit_tokens, finer.pixels());
    assert!(
        g.vit_padded >= g.vit_tokens
            && g.vit_padded < g.vit_tokens + VIT_ALIGN
            && g.vit_padded.is_multiple_of(VIT_ALIGN)
    );
}

#[test]
fn every_pair_of_sides_has_a_sound_geometry() {
    let step = if cfg!(miri) { 997 } else { 1 };
    let sides: Vec<u32> = (33..=4096).step_by(step).collect();
    let of_width = |&width: &u32| {
        let mut fields = HashSet::new();
        for &height in &sides {
            let geometry = Geometry::new(Extent::new(width, height)).expect("a size of 33 or more");
            if fields.insert((geometry.field.width, geometry.field.height)) {
                check(&geometry);
            }
            assert!(geometry.field.width >= width && geometry.field.height >= height);
        }
        fields
    };
    let both = |mut a: HashSet<(u32, u32)>, b| {
        a.extend(b);
        a
    };
    // Miri is here for this code, and finds fault with the queues that rayon's threads share.
    let fields = if cfg!(miri) {
        sides.iter().map(of_width).fold(HashSet::new(), both)
    } else {
        sides.par_iter().map(of_width).reduce(HashSet::new, both)
    };
    assert!(fields.len() > 1, "{} fields", fields.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

    #[test]
    fn windows_hold_every_token_once(width in 1u32..40, height in 1u32..40, phase in 0u32..8) {
        let extent = Extent::new(4 * width, 4 * height);
        let grid = windows(extent, phase);
        let (mut inside, all) = (0, extent.pixels());
        for window in 0..grid.count() {
            for token in 0..WINDOW_TOKENS {
                let Some(row) = grid.row(window, token) else { continue };
                prop_assert!(row < all);
                prop_assert_eq!(grid.locate(row % extent.width as usize, row / extent.width as usize), (window, token));
                inside += 1;
            }
        }
        prop_assert_eq!(inside, all);
    }

    #[test]
    fn any_size_is_accepted_or_refused(width: u32, height: u32) {
        // Half of the cases in the range that matters.
        let side = |v: u32| if v & 1 == 0 { v >> 16 } else { v };
        match Geometry::new(Extent::new(side(width), side(height))) {
            Ok(geometry) => check(&geometry),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
