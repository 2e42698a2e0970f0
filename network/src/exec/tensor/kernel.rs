//! The kernels of the route.

/// A kernel on matrix units; the shaders are `network/tensor/*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorKernel {
    /// A window block of so many channels.
    Block32,
    /// Block 0, from the features.
    BlockFirst,
    /// Block 70, from the post blend to the head.
    BlockLast,
    Block64,
    Block128,
    Block256,
    /// Multiply, 128 x 128 outputs a workgroup.
    GemmTall,
    /// 64 x 128 outputs.
    GemmWide,
    /// 64 x 64 outputs.
    GemmNarrow,
    /// 64 x 64 outputs, K of 32.
    GemmThin,
    /// 64 x 32 outputs.
    GemmHalf,
    /// ViT QKV with normalisation, a head a workgroup.
    GemmNorm,
    /// Branches of a 512-channel FFN.
    SplitFfn,
    /// QKV to attention of a 512-channel block.
    Attend,
    /// ViT attention, 64 queries a workgroup.
    VitFew,
    /// 128 queries.
    VitMany,
}

impl TensorKernel {
    pub const ALL: [Self; 16] = [
        Self::Block32,
        Self::BlockFirst,
        Self::BlockLast,
        Self::Block64,
        Self::Block128,
        Self::Block256,
        Self::GemmTall,
        Self::GemmWide,
        Self::GemmNarrow,
        Self::GemmThin,
        Self::GemmHalf,
        Self::GemmNorm,
        Self::SplitFfn,
        Self::Attend,
        Self::VitFew,
        Self::VitMany,
    ];

    /// Name of the shader on matrix units, or of the same one on the software model of them. `strips`: whether sums may become
    /// left operands in registers.
    pub fn shader(self, model: bool, strips: bool) -> String {
        let small = if strips { "strip" } else { "block" };
        let (stem, variant) = match self {
            Self::Block32 => (small, "c32"),
            Self::BlockFirst => (small, "first"),
            Self::BlockLast => (small, "last"),
            Self::Block64 => (small, "c64"),
            Self::Block128 => ("block", "c128"),
            Self::Block256 => ("block", "c256"),
            Self::GemmTall => ("gemm", "tall"),
            Self::GemmWide => ("gemm", "wide"),
            Self::GemmNarrow => ("gemm", "narrow"),
            Self::GemmThin => ("gemm", "thin"),
            Self::GemmHalf => ("gemm", "half"),
            Self::GemmNorm => ("gemm", "norm"),
            Self::SplitFfn => ("split_ffn", ""),
            Self::Attend => ("attend", ""),
            Self::VitFew if strips => ("vit_strip", "few"),
            Self::VitMany if strips => ("vit_strip", "many"),
            Self::VitFew | Self::VitMany => ("vit", ""),
        };
        let variant = match (variant, model) {
            ("", false) => "device".to_owned(),
            ("", true) => "model".to_owned(),
            (name, false) => name.to_owned(),
            (name, true) => format!("{name}_model"),
        };
        format!("network/tensor/{stem}.{variant}")
    }

    /// Columns of a multiply's workgroup.
    pub fn columns(self) -> usize {
        match self {
            Self::GemmTall | Self::GemmWide => 128,
            Self::GemmHalf => 32,
            Self::GemmNorm => 96,
            _ => 64,
        }
    }

    /// Rows of a multiply's workgroup.
    pub fn rows(self) -> u64 {
        if self == Self::GemmTall { 128 } else { 64 }
    }

    /// k of one step of a multiply.
    pub fn chunk(self) -> usize {
        if self == Self::GemmThin { 32 } else { 64 }
    }
}
