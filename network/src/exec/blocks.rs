//! Splitting the rows of an operation over several dispatches.

use std::ops::Range;

/// What bounds the units (rows, lines or window rows) of one dispatch.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Bytes that one storage binding may cover.
    pub binding: u64,
    /// Workgroups in one dimension.
    pub groups: u64,
    /// Work of one dispatch, in multiply-accumulates.
    pub cost: u64,
}

/// How an operation may be split.
pub(super) struct Split {
    /// Units in total.
    pub units: u64,
    /// Blocks start at multiples of this, which keeps binding offsets aligned to 256 bytes.
    pub align: u64,
    /// Bytes of one unit in the widest tensor.
    pub bytes: u64,
    /// Units per workgroup in the dimension that counts units; 0 when none does.
    pub per_group: u64,
    /// Work of one unit.
    pub cost: u64,
}

impl Split {
    /// Equal blocks within the bounds; `None` when the smallest block is too large for a binding.
    pub fn blocks(&self, bounds: &Bounds) -> Option<Vec<Range<u64>>> {
        let by_bytes = bounds.binding / self.bytes.max(1);
        let by_groups = bounds.groups.saturating_mul(if self.per_group == 0 { u64::MAX } else { self.per_group });
        let by_cost = bounds.cost / self.cost.max(1);
        let align = self.align.min(self.units.max(1));
        if by_bytes < align {
            return None;
        }
        // The cost is a wish, the others are limits.
        let most = by_bytes.min(by_groups).min(by_cost.max(align)).min(self.units.max(1));
        let count = self.units.div_ceil((most / align).max(1) * align);
        let size = self.units.div_ceil(count.max(1)).next_multiple_of(self.align);
        Some((0..count).map(|i| i * size..((i + 1) * size).min(self.units)).filter(|r| !r.is_empty()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_everything_in_order_and_stay_within_bounds() {
        for units in [1, 63, 64, 65, 1000, 8_355_840] {
            for (binding, groups, cost) in [(1 << 27, 65535, 1 << 40), (1 << 20, 100, 1 << 20), (1 << 14, 65535, 1)] {
                let split = Split { units, align: 64, bytes: 128, per_group: 32, cost: 4096 };
                let blocks = split.blocks(&Bounds { binding, groups, cost }).unwrap();
                let mut next = 0;
                for block in &blocks {
                    assert_eq!(block.start, next);
                    assert_eq!(block.start % 64, 0);
                    let size = block.end - block.start;
                    assert!(size * 128 <= binding && size.div_ceil(32) <= groups, "{units}: {block:?}");
                    next = block.end;
                }
                assert_eq!(next, units);
            }
        }
    }

    #[test]
    fn a_block_that_fits_no_binding_is_refused() {
        let split = Split { units: 128, align: 64, bytes: 1 << 20, per_group: 0, cost: 1 };
        assert!(split.blocks(&Bounds { binding: 1 << 20, groups: 65535, cost: 1 << 30 }).is_none());
    }
}
