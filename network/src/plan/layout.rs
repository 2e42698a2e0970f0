//! Byte offsets of the fields inside one record (weights section 3).

/// Offsets of a window block whose weights all sit in one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockLayout {
    pub w1: usize,
    pub w2: usize,
    /// Third FFN matrix; absent for 32 channels.
    pub w3: Option<usize>,
    /// Decoder entry matrix `[2C x C]` and its merge scale; only in the first block of a decoder stage.
    pub upsample: Option<(usize, usize)>,
    pub ffn_skip: usize,
    pub qkv: usize,
    pub prior: usize,
    pub head_scale: usize,
    pub projection: usize,
    pub attn_skip: usize,
    /// End of `attn_skip`; a transition matrix of an encoder stage begins here.
    pub end: usize,
}

/// Where the parts after `ffn_skip` lie.
struct Attention {
    qkv: usize,
    prior: usize,
    head_scale: usize,
    projection: usize,
    attn_skip: usize,
    end: usize,
}

/// The attention part: qkv, priors, head scales padded to 16 bytes, projection, skip.
fn attention(c: usize, qkv: usize) -> Attention {
    let heads = c / 32;
    let prior = qkv + 3 * c * c;
    let head_scale = prior + heads * 8192;
    let projection = head_scale + (4 * heads).next_multiple_of(16);
    let attn_skip = projection + c * c;
    Attention { qkv, prior, head_scale, projection, attn_skip, end: attn_skip + 2 * c }
}

/// Offsets of w1, w2, w3 and the end of the FFN matrices.
fn ffn(c: usize) -> (usize, usize, Option<usize>, usize) {
    if c == 32 {
        (0, 4096, None, 8192)
    } else {
        let paths = c / 32;
        let w2 = paths * c * 128;
        let w3 = w2 + paths * 128 * 32;
        (0, w2, Some(w3), w3 + c * c)
    }
}

impl BlockLayout {
    fn assemble(c: usize, upsample: Option<(usize, usize)>, ffn_skip: usize, qkv: usize) -> Self {
        let (w1, w2, w3, _) = ffn(c);
        let a = attention(c, qkv);
        Self {
            w1,
            w2,
            w3,
            upsample,
            ffn_skip,
            qkv: a.qkv,
            prior: a.prior,
            head_scale: a.head_scale,
            projection: a.projection,
            attn_skip: a.attn_skip,
            end: a.end,
        }
    }

    /// `fused(C)`: 16 bytes of padding after the FFN matrices and 16 after `ffnSkip`.
    pub fn fused(c: usize) -> Self {
        let ffn_skip = ffn(c).3 + 16;
        Self::assemble(c, None, ffn_skip, ffn_skip + 2 * c + 16)
    }

    /// `up(C)`: first block of a decoder stage; only 32 channels have the two paddings.
    pub fn up(c: usize) -> Self {
        let pad = if c == 32 { 16 } else { 0 };
        let matrix = ffn(c).3;
        let ffn_skip = matrix + 2 * c * c + pad;
        let scale = ffn_skip + 2 * c + pad;
        Self::assemble(c, Some((matrix, scale)), ffn_skip, scale + 2 * c)
    }

    /// Block 0, `pre`: the adapter lies between the FFN matrices and `ffnSkip`.
    pub fn pre() -> Self {
        Self::assemble(32, None, 9232, 9312)
    }

    /// Block 70, `post`: the two blend scales follow `ffnSkip`.
    pub fn post() -> Self {
        Self::assemble(32, None, 8208, 8400)
    }
}

/// Input adapter in block 0.
pub(super) const ADAPTER: usize = 8208;
/// Scale of the upsampled state in block 70.
pub(super) const INPUT_SCALE: usize = 8272;
/// Scale of block 0's output in block 70.
pub(super) const ADAPTER_SCALE: usize = 8336;
/// Head matrix in block 70.
pub(super) const HEAD: usize = 20784;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_match_the_table() {
        let f = BlockLayout::fused(32);
        assert_eq!((f.ffn_skip, f.qkv, f.prior, f.head_scale), (8208, 8288, 11360, 19552));
        assert_eq!((f.projection, f.attn_skip, f.end), (19568, 20592, 20656));
        let f = BlockLayout::fused(64);
        assert_eq!((f.w2, f.w3, f.ffn_skip, f.qkv, f.prior), (16384, Some(24576), 28688, 28832, 41120));
        assert_eq!((f.head_scale, f.projection, f.attn_skip, f.end), (57504, 57520, 61616, 61744));
        let f = BlockLayout::fused(128);
        assert_eq!((f.w2, f.w3, f.ffn_skip, f.qkv, f.prior), (65536, Some(81920), 98320, 98592, 147744));
        assert_eq!((f.head_scale, f.projection, f.attn_skip, f.end), (180512, 180528, 196912, 197168));
        let f = BlockLayout::fused(256);
        assert_eq!((f.w2, f.w3, f.ffn_skip, f.qkv, f.prior), (262144, Some(294912), 360464, 360992, 557600));
        assert_eq!((f.head_scale, f.projection, f.attn_skip, f.end), (623136, 623168, 688704, 689216));
        let u = BlockLayout::up(32);
        assert_eq!((u.upsample, u.ffn_skip, u.qkv), (Some((8192, 10336)), 10256, 10400));
        assert_eq!((u.prior, u.head_scale, u.projection, u.attn_skip, u.end), (13472, 21664, 21680, 22704, 22768));
        let u = BlockLayout::up(64);
        assert_eq!((u.upsample, u.ffn_skip, u.qkv), (Some((28672, 36992)), 36864, 37120));
        assert_eq!((u.prior, u.head_scale, u.projection, u.attn_skip, u.end), (49408, 65792, 65808, 69904, 70032));
        let u = BlockLayout::up(128);
        assert_eq!((u.upsample, u.ffn_skip, u.qkv), (Some((98304, 131328)), 131072, 131584));
        assert_eq!((u.prior, u.head_scale, u.projection, u.attn_skip, u.end), (180736, 213504, 213520, 229904, 230160));
        let u = BlockLayout::up(256);
        assert_eq!((u.upsample, u.ffn_skip, u.qkv), (Some((360448, 492032)), 491520, 492544));
        assert_eq!((u.prior, u.head_scale, u.projection, u.attn_skip, u.end), (689152, 754688, 754720, 820256, 820768));
        let p = BlockLayout::pre();
        assert_eq!((p.qkv, p.prior, p.head_scale, p.projection), (9312, 12384, 20576, 20592));
        assert_eq!((p.attn_skip, p.end), (21616, 21680));
        let p = BlockLayout::post();
        assert_eq!((p.qkv, p.prior, p.head_scale, p.projection), (8400, 11472, 19664, 19680));
        assert_eq!((p.attn_skip, p.end), (20704, 20768));
    }
}
