//! The kernels of the matrix-unit routes.

/// What the units multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operands {
    /// Halves, 16 x 16 x 16.
    Half,
    /// E4M3 codes, 16 x 16 x 32.
    Float8,
}

/// A form of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    pub operands: Operands,
    /// Whether a software model takes the place of matrix units.
    pub model: bool,
    /// Whether sums may become left operands in registers; of halves alone.
    pub strips: bool,
}

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

    /// Name of the shader in a form of the route.
    pub fn shader(self, form: Form) -> String {
        let small = if form.strips { "strip" } else { "block" };
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
            Self::VitFew if form.strips => ("vit_strip", "few"),
            Self::VitMany if form.strips => ("vit_strip", "many"),
            Self::VitFew | Self::VitMany => ("vit", ""),
        };
        let parts =
            [(!variant.is_empty(), variant), (form.operands == Operands::Float8, "float8"), (form.model, "model")];
        let parts: Vec<&str> = parts.into_iter().filter(|(has, _)| *has).map(|(_, part)| part).collect();
        let variant = if parts.is_empty() { "device".to_owned() } else { parts.join("_") };
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
