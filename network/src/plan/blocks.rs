//! Facts about the 71 blocks: level, channels and kind (network section 3).

/// Where a block works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// The padded field.
    Field,
    /// Pooled level 0..5.
    Pooled(usize),
}

/// How a window block's FFN is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ffn {
    /// Two matrices (network section 4.1).
    Dense,
    /// C/32 paths and a third matrix (network section 4.2).
    Expert,
    /// Eight branches between two 512x512 matrices (network section 4.3).
    Split,
}

/// One run of equal window blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    pub first: u32,
    pub last: u32,
    pub level: Level,
    pub channels: usize,
    pub ffn: Ffn,
}

/// An encoder stage, and whether its last block ends in a pool and a widening matrix.
pub(super) const ENCODER: [Stage; 5] = [
    Stage { first: 1, last: 4, level: Level::Pooled(0), channels: 32, ffn: Ffn::Dense },
    Stage { first: 5, last: 8, level: Level::Pooled(1), channels: 64, ffn: Ffn::Expert },
    Stage { first: 9, last: 14, level: Level::Pooled(2), channels: 128, ffn: Ffn::Expert },
    Stage { first: 15, last: 22, level: Level::Pooled(3), channels: 256, ffn: Ffn::Expert },
    Stage { first: 23, last: 30, level: Level::Pooled(4), channels: 512, ffn: Ffn::Split },
];

/// The decoder stages; block 39 (transition only) precedes the first.
pub(super) const DECODER: [Stage; 5] = [
    Stage { first: 40, last: 47, level: Level::Pooled(4), channels: 512, ffn: Ffn::Split },
    Stage { first: 48, last: 55, level: Level::Pooled(3), channels: 256, ffn: Ffn::Expert },
    Stage { first: 56, last: 61, level: Level::Pooled(2), channels: 128, ffn: Ffn::Expert },
    Stage { first: 62, last: 65, level: Level::Pooled(1), channels: 64, ffn: Ffn::Expert },
    Stage { first: 66, last: 69, level: Level::Pooled(0), channels: 32, ffn: Ffn::Dense },
];

/// The ViT blocks on level 5.
pub(super) const VIT: std::ops::RangeInclusive<u32> = 31..=38;
/// Channels of the ViT.
pub(super) const VIT_CHANNELS: usize = 1024;

/// What the stage of a block is called: its place in the network and its channels.
pub(super) fn stage_name(block: u32) -> String {
    let within = |stages: &[Stage]| stages.iter().find(|s| (s.first..=s.last).contains(&block)).map(|s| s.channels);
    if let Some(channels) = within(&ENCODER) {
        format!("encoder {channels}")
    } else if let Some(channels) = within(&DECODER) {
        format!("decoder {channels}")
    } else if VIT.contains(&block) {
        format!("ViT {VIT_CHANNELS}")
    } else {
        ["entry 32", "exit of the ViT", "exit 32"][usize::from(block > 0) + usize::from(block > *VIT.end() + 1)]
            .to_owned()
    }
}
