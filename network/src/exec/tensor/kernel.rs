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
    /// Whether rows of codes go from memory into left operands; of halves alone.
    pub direct: bool,
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
    /// Multiply of many k, 48 x 64 outputs, four parts of K side by side.
    StreamFew,
    /// 96 x 64 outputs, two parts.
    StreamMany,
    /// 128 x 128 outputs, K in one.
    StreamWide,
    /// ViT QKV with normalisation, 32 rows of a head, four parts.
    StreamNorm,
    /// Branches of a 512-channel FFN.
    SplitFfn,
    /// QKV to attention of a 512-channel block, two heads a workgroup.
    Attend,
    /// One head, with rows straight from memory.
    AttendHead,
    /// ViT attention, 64 queries a workgroup.
    VitFew,
    /// 128 queries.
    VitMany,
}

/// k of a chunk of the direct kernels; the order of its channels is [`super::tiles::direct_rows`].
pub const DIRECT_CHUNK: usize = 64;

impl Form {
    /// Whether the form has work for a kernel; no pipeline is made of another.
    pub fn has(self, kernel: TensorKernel) -> bool {
        use TensorKernel::{Attend, AttendHead, GemmNorm, StreamFew, StreamMany, StreamNorm, StreamWide};
        match kernel {
            AttendHead => self.heads_alone(),
            Attend => !self.heads_alone(),
            StreamFew | StreamMany | StreamNorm | StreamWide => self.direct,
            GemmNorm => !self.direct,
            _ => true,
        }
    }

    /// Whether attention of 512 channels takes its rows straight from memory and its operands from registers.
    pub fn heads_alone(self) -> bool {
        self.direct && self.strips
    }

    /// Whether a multiply takes its rows straight from memory: four parts of K need whole chunks.
    pub fn streams(self, k: usize, n: usize) -> bool {
        self.direct && k.is_multiple_of(4 * DIRECT_CHUNK) && (n.is_multiple_of(64) || n.is_multiple_of(96))
    }
}

impl TensorKernel {
    pub const ALL: [Self; 21] = [
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
        Self::StreamFew,
        Self::StreamMany,
        Self::StreamWide,
        Self::StreamNorm,
        Self::SplitFfn,
        Self::Attend,
        Self::AttendHead,
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
            Self::StreamFew => ("stream", "few"),
            Self::StreamMany => ("stream", "many"),
            Self::StreamWide => ("stream", "wide"),
            Self::StreamNorm => ("stream", "norm"),
            Self::SplitFfn => ("split_ffn", ""),
            Self::Attend => ("attend", ""),
            Self::AttendHead => ("attend_strip", ""),
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
            Self::GemmTall | Self::GemmWide | Self::StreamWide => 128,
            Self::GemmHalf => 32,
            Self::GemmNorm | Self::StreamNorm => 96,
            _ => 64,
        }
    }

    /// Rows of a multiply's workgroup.
    pub fn rows(self) -> u64 {
        match self {
            Self::GemmTall | Self::StreamWide => 128,
            Self::StreamMany => 96,
            Self::StreamFew => 48,
            Self::StreamNorm => 32,
            _ => 64,
        }
    }

    /// k of one step of a multiply.
    pub fn chunk(self) -> usize {
        if self == Self::GemmThin { 32 } else { 64 }
    }
}
