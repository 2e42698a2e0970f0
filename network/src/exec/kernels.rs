//! The pipelines of a route.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use gpu::{ComponentType, ComputePipeline, Device, MatrixScope, PipelineDesc};

use super::tensor::{self, Form, Fragments, Operands, TensorKernel, float8};
use super::tuned::Table;
use super::variants::{Class, Variant};
use super::{ExecError, certify};

/// Which arithmetic executes the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// Bit for bit the contract, on any Vulkan 1.3 device.
    Exact,
    /// Matrix units that multiply halves: the sums differ from the contract's.
    Tensor,
    /// Matrix units that multiply E4M3 codes: the contract bit for bit where the units do its step, which
    /// [`tensor::float8`] finds out.
    Float8,
    /// Bit for bit the contract on the processor ([`Reference`](crate::reference::Reference)): the device runs none of
    /// the network, and holds its features and its head alone.
    Cpu,
}

impl Route {
    /// Name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Route::Exact => "exact",
            Route::Tensor => "tensor",
            Route::Float8 => "float8",
            Route::Cpu => "cpu",
        }
    }
}

/// Which form of the multiply and attention kernels a device runs. All give the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tuning {
    /// Workgroups share tiles through shared memory: any device.
    Tile,
    /// Tiles on GPUs that round f32 toward zero on demand and compute in halves: fewer instructions a product.
    Truncating,
    /// Matrix units that add halves in f32 and truncate where the contract does: products and truncation in one
    /// instruction.
    Matrix,
    /// A workgroup is one subgroup of this many invocations that shares operands by shuffles: devices that run a
    /// subgroup as one CPU vector.
    Lanes(u32),
}

impl Tuning {
    /// The form that suits the device.
    pub fn of(device: &Device) -> Self {
        let caps = device.caps();
        let lanes = caps.subgroup.size;
        let shuffles = caps.subgroup.operations.contains(&"shuffle");
        if caps.is_cpu && shuffles && matches!(lanes, 4 | 8 | 16) {
            Tuning::Lanes(lanes)
        } else {
            Self::fast(device).first().copied().unwrap_or(Tuning::Tile)
        }
    }

    /// The forms that the device may run after a check, the fastest first.
    pub fn fast(device: &Device) -> Vec<Self> {
        let matrix = Self::matrix_fits(device).then_some(Tuning::Matrix);
        let truncating = Self::truncating_fits(device).then_some(Tuning::Truncating);
        matrix.into_iter().chain(truncating).collect()
    }

    /// Whether the device can run the kernels for matrix units at all.
    pub fn matrix_fits(device: &Device) -> bool {
        let caps = device.caps();
        let has = |operand, sum| {
            caps.cooperative_matrix.iter().any(|s| {
                (s.m, s.n, s.k) == (16, 16, 16)
                    && s.scope == MatrixScope::Subgroup
                    && (s.a, s.b, s.c, s.result) == (operand, operand, sum, sum)
            })
        };
        Self::truncating_fits(device)
            && caps.limits.max_shared_memory >= MATRIX_SHARED
            && caps.bfloat16_cooperative_matrix
            && caps.memory_model
            && (caps.subgroup.can_require_size || caps.subgroup.size == MATRIX_SUBGROUP)
            && (caps.subgroup.min_size..=caps.subgroup.max_size).contains(&MATRIX_SUBGROUP)
            && has(ComponentType::F16, ComponentType::F32)
            && has(ComponentType::F16, ComponentType::F16)
            && has(ComponentType::Bf16, ComponentType::F32)
    }

    /// Whether the device can run the truncating kernels at all.
    pub fn truncating_fits(device: &Device) -> bool {
        let caps = device.caps();
        caps.rounding_mode_rtz_f32
            && caps.float16
            && caps.limits.max_shared_memory >= TRUNCATING_SHARED
            && caps.limits.max_invocations >= 256
    }
}

/// Fewer tiles of 64 x 64 than this leave part of a large device idle; smaller ones are taken then.
const FEW_TILES: u64 = 528;
/// With up to so many k at a time, the matrix form waits less when it takes them by sixteen; so `nrview tune` on an H200.
const BRIEF: usize = 256;
/// Up to so many k, a multiply of few tiles is quicker in tiles of 32 x 32 (same source),
const TINY: usize = 512;
/// or in any depth when there are fewer tiles of 32 x 64 than this.
const FEW_SMALL_TILES: u64 = 352;
/// Fewer QKV tiles of 64 x 64 than this are halved.
const FEW_QKV_TILES: u64 = 200;
/// Invocations that share a matrix.
const MATRIX_SUBGROUP: u32 = 32;
/// Bytes of shared memory that the kernels for matrix units take.
const MATRIX_SHARED: u32 = 40 << 10;
/// Bytes of shared memory that the truncating kernels take.
const TRUNCATING_SHARED: u32 = 24 << 10;

/// A kernel of the exact route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kernel {
    Adapter,
    /// Multiply with N not a multiple of 64.
    GemmNarrow,
    /// Multiply with N a multiple of 64.
    GemmWide,
    /// As [`Kernel::GemmWide`], for small K.
    GemmBrief,
    /// As [`Kernel::GemmWide`], for few rows.
    GemmSmall,
    /// As [`Kernel::GemmSmall`], for small K.
    GemmTiny,
    /// Multiply with a partitioned K.
    GemmParts,
    /// One partition of K a workgroup layer.
    GemmSplit,
    /// As [`Kernel::GemmSplit`], for few rows.
    GemmSplitSmall,
    /// As [`Kernel::GemmSplitSmall`], for fewer yet.
    GemmSplitTiny,
    /// The sum of the partitions.
    GemmJoin,
    /// QKV multiply and window normalisation, N not a multiple of 64.
    QkvNarrow,
    /// QKV multiply and window normalisation, N a multiple of 64.
    QkvWide,
    /// As [`Kernel::QkvWide`], for small K.
    QkvBrief,
    /// As [`Kernel::QkvWide`], for few rows.
    QkvSmall,
    NormaliseWindow,
    NormaliseVit,
    WindowAttention,
    VitAttention,
    /// A whole block of 32 channels, two windows a workgroup.
    Block,
    Pool,
    MergeCode,
    MergeBoth,
    PostBlend,
    Head,
    /// A multiply with another tile.
    Tuned(Class, &'static Variant),
    /// One of the tensor route's own.
    Tensor(TensorKernel),
}

impl Kernel {
    const ALL: [Kernel; 25] = [
        Kernel::Adapter,
        Kernel::GemmNarrow,
        Kernel::GemmWide,
        Kernel::GemmBrief,
        Kernel::GemmSmall,
        Kernel::GemmTiny,
        Kernel::GemmParts,
        Kernel::GemmSplit,
        Kernel::GemmSplitSmall,
        Kernel::GemmSplitTiny,
        Kernel::GemmJoin,
        Kernel::QkvNarrow,
        Kernel::QkvWide,
        Kernel::QkvBrief,
        Kernel::QkvSmall,
        Kernel::NormaliseWindow,
        Kernel::NormaliseVit,
        Kernel::WindowAttention,
        Kernel::VitAttention,
        Kernel::Block,
        Kernel::Pool,
        Kernel::MergeCode,
        Kernel::MergeBoth,
        Kernel::PostBlend,
        Kernel::Head,
    ];

    /// The shader of a form; `None` where the form does without this kernel.
    pub fn shader(self, tuning: Tuning) -> Option<String> {
        let on_cpu = matches!(tuning, Tuning::Lanes(_));
        let tuned = |tile: &str, lanes: &str, truncating: &str, matrix: &str| match tuning {
            Tuning::Tile => (!tile.is_empty()).then(|| format!("network/{tile}")),
            Tuning::Truncating => (!truncating.is_empty()).then(|| format!("network/{truncating}")),
            Tuning::Matrix => (!matrix.is_empty()).then(|| format!("network/{matrix}")),
            Tuning::Lanes(n) => (!lanes.is_empty()).then(|| format!("network/{lanes}{n}")),
        };
        match self {
            Kernel::GemmNarrow => tuned("gemm_tile.narrow", "gemm_lanes.", "gemm_rtz.narrow", "gemm_matrix.tiny"),
            Kernel::GemmWide => tuned("gemm_tile.wide", "gemm_lanes.", "gemm_rtz.wide", "gemm_matrix.wide"),
            Kernel::GemmBrief => tuned("", "", "", "gemm_matrix.single"),
            Kernel::GemmSmall => tuned("", "", "", "gemm_matrix.small"),
            Kernel::GemmTiny => tuned("", "", "", "gemm_matrix.tiny"),
            Kernel::GemmParts => tuned("gemm_tile.parts", "gemm_lanes.", "", ""),
            Kernel::GemmSplit => tuned("", "", "gemm_rtz.split", "gemm_matrix.split"),
            Kernel::GemmSplitSmall => tuned("", "", "", "gemm_matrix.split_small"),
            Kernel::GemmSplitTiny => tuned("", "", "", "gemm_matrix.split_tiny"),
            Kernel::GemmJoin => tuned("", "", "gemm_join.device", "gemm_join.device"),
            Kernel::QkvNarrow => tuned("", "", "gemm_rtz.norm_narrow", "gemm_matrix.norm_narrow"),
            Kernel::QkvWide => tuned("", "", "gemm_rtz.norm_wide", "gemm_matrix.norm_wide"),
            Kernel::QkvBrief => tuned("", "", "", "gemm_matrix.norm_single"),
            Kernel::QkvSmall => tuned("", "", "", "gemm_matrix.norm_small"),
            Kernel::WindowAttention => tuned(
                "attention_tile.window",
                "attention_lanes.window",
                "attention_rtz.window",
                "attention_matrix.window",
            ),
            Kernel::VitAttention => {
                tuned("attention_tile.vit", "attention_lanes.vit", "attention_rtz.vit", "attention_matrix.vit")
            }
            Kernel::Block => tuned("", "", "", "block_matrix.twin"),
            Kernel::Adapter => Some(format!("network/adapter.{}", if on_cpu { "quad" } else { "row" })),
            Kernel::NormaliseWindow => Some("network/normalise.window".into()),
            Kernel::NormaliseVit => Some("network/normalise.vit".into()),
            Kernel::Pool => Some("network/pool".into()),
            Kernel::MergeCode => Some("network/merge.code".into()),
            Kernel::MergeBoth => Some("network/merge.both".into()),
            Kernel::PostBlend => Some("network/post_blend".into()),
            Kernel::Head => Some(format!("network/head.{}", if on_cpu { "plain" } else { "decoded" })),
            Kernel::Tuned(class, variant) => variant.shader(class).map(str::to_owned),
            Kernel::Tensor(_) => None,
        }
    }

    /// Whether a workgroup computes one partition of K, and [`Kernel::GemmJoin`] adds them.
    pub fn is_split(self) -> bool {
        matches!(
            self,
            Kernel::GemmSplit | Kernel::GemmSplitSmall | Kernel::GemmSplitTiny | Kernel::Tuned(Class::Split, _)
        )
    }
}

/// What a workgroup of the tuned kernels covers; the shaders say the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiles {
    tuning: Tuning,
}

impl Tiles {
    pub fn new(tuning: Tuning) -> Self {
        Self { tuning }
    }

    /// The multiply of `rows` rows with matrices of `k` rows and `n` columns, `channels` of all and `parts` partitions.
    pub fn gemm(self, rows: u64, (k, n): (usize, usize), channels: usize, parts: usize) -> Kernel {
        let (columns, matrix) = (channels * parts, self.tuning == Tuning::Matrix);
        let few = matrix && tiles(rows, columns, 64) < FEW_TILES;
        let fewer = few && tiles(rows, columns, 32) < FEW_SMALL_TILES;
        match (parts > 1, n.is_multiple_of(64)) {
            (true, _) if fewer => Kernel::GemmSplitTiny,
            (true, _) if few => Kernel::GemmSplitSmall,
            (true, _) if self.fuses() => Kernel::GemmSplit,
            (true, _) => Kernel::GemmParts,
            (false, false) => Kernel::GemmNarrow,
            (false, true) if few && k <= TINY => Kernel::GemmTiny,
            (false, true) if few => Kernel::GemmSmall,
            (false, true) if matrix && k <= BRIEF => Kernel::GemmBrief,
            (false, true) => Kernel::GemmWide,
        }
    }

    /// The multiply of `k` rows and `n` columns with the window normalisation behind it, if there is one.
    pub fn qkv(self, rows: u64, (k, n): (usize, usize)) -> Option<Kernel> {
        let matrix = self.tuning == Tuning::Matrix;
        let kernel = match n.is_multiple_of(64) {
            true if matrix && tiles(rows, n, 64) < FEW_QKV_TILES => Kernel::QkvSmall,
            true if matrix && k <= BRIEF => Kernel::QkvBrief,
            true => Kernel::QkvWide,
            false => Kernel::QkvNarrow,
        };
        self.fuses().then_some(kernel)
    }

    /// Whether whole blocks of 32 channels run in one kernel.
    pub fn blocks(self) -> bool {
        self.tuning == Tuning::Matrix
    }

    /// Whether the form has the kernels that fuse.
    fn fuses(self) -> bool {
        matches!(self.tuning, Tuning::Truncating | Tuning::Matrix)
    }

    /// Rows and columns of a multiply; the columns divide N.
    pub fn gemm_tile(self, kernel: Kernel) -> (u32, u32) {
        match (self.tuning, kernel) {
            (_, Kernel::Tuned(_, variant)) => variant.tile,
            (Tuning::Lanes(n), _) => (32, n),
            (Tuning::Matrix, Kernel::GemmNarrow) => (32, 32),
            (_, Kernel::GemmTiny | Kernel::GemmSplitTiny) => (32, 32),
            (_, Kernel::GemmNarrow | Kernel::QkvNarrow) => (128, 32),
            (_, Kernel::GemmSmall | Kernel::GemmSplitSmall | Kernel::QkvSmall) => (32, 64),
            (_, _) => (64, 64),
        }
    }

    /// Invocations for a row of the adapter.
    pub fn adapter_parts(self) -> u64 {
        if matches!(self.tuning, Tuning::Lanes(_)) { 8 } else { 1 }
    }

    /// Windows side by side of a block's workgroup.
    pub fn block_windows(self, kernel: Kernel) -> u32 {
        match kernel {
            Kernel::Tuned(_, variant) => variant.tile.0,
            _ => 2,
        }
    }

    /// Queries of a window; divides 64.
    pub fn window_queries(self) -> u32 {
        match self.tuning {
            Tuning::Lanes(16) => 16,
            Tuning::Lanes(n) => 2 * n,
            _ => 64,
        }
    }

    /// Queries of the ViT.
    pub fn vit_queries(self) -> u32 {
        match self.tuning {
            Tuning::Lanes(n) => n,
            _ => 64,
        }
    }
}

/// Tiles of so many rows and 64 columns.
fn tiles(rows: u64, columns: usize, height: u64) -> u64 {
    rows.div_ceil(height).saturating_mul(columns as u64 / 64)
}

/// The pipelines of one route on one device; device lifetime.
pub struct Kernels {
    device: Arc<Device>,
    route: Route,
    tuning: Tuning,
    /// The form of the kernels on matrix units, and how the device spreads matrices.
    matrices: Option<(Form, Fragments)>,
    /// What was found of route `float8` here; on that route.
    finding: OnceLock<float8::Finding>,
    /// Which multiplies take other tiles.
    table: Option<Arc<Table>>,
    pipelines: HashMap<Kernel, Arc<ComputePipeline>>,
}

impl Kernels {
    /// Creates the pipelines in the form that suits the device. A fast form is taken only when it gives the bytes
    /// of the plain one on this device and driver, operand by operand; otherwise the reason is logged.
    ///
    /// # Errors
    /// The device lacks something a kernel needs, or pipeline creation fails.
    pub fn new(device: &Arc<Device>, route: Route) -> Result<Arc<Self>, ExecError> {
        match route {
            Route::Exact => {}
            Route::Tensor => return Ok(Arc::new(Self::on_units(device, route, Operands::Half)?)),
            Route::Float8 => {
                let kernels = Arc::new(Self::on_units(device, route, Operands::Float8)?);
                let finding = float8::finding(&kernels, device)?;
                kernels.finding.get_or_init(|| finding);
                return Ok(kernels);
            }
            Route::Cpu => return Ok(Arc::new(Self::bare(device, route, Tuning::Tile))),
        }
        let tuning = Tuning::of(device);
        if matches!(tuning, Tuning::Lanes(_)) {
            return Self::with_tuning(device, route, tuning);
        }
        let plain = Self::with_tuning(device, route, Tuning::Tile)?;
        for tuning in Tuning::fast(device) {
            let doubt = match Self::with_tuning(device, route, tuning) {
                Ok(kernels) => match certify::compare(&plain, &kernels) {
                    Ok(None) => return Ok(kernels),
                    Ok(Some(difference)) => difference.to_string(),
                    Err(error) => error.to_string(),
                },
                Err(error) => error.to_string(),
            };
            tracing::warn!("{}: the {tuning:?} kernels are not used: {doubt}", device.caps().name);
        }
        Ok(plain)
    }

    /// Where the kernels of a form differ from the plain ones on this device, in words; empty when they may be used.
    ///
    /// # Errors
    /// As [`Kernels::new`].
    pub fn certify(device: &Arc<Device>, tuning: Tuning) -> Result<Vec<String>, ExecError> {
        let plain = Self::with_tuning(device, Route::Exact, Tuning::Tile)?;
        let fast = Self::with_tuning(device, Route::Exact, tuning)?;
        Ok(certify::differences(&plain, &fast)?.iter().map(ToString::to_string).collect())
    }

    /// Creates the pipelines in a given form.
    ///
    /// # Errors
    /// As [`Kernels::new`]; in particular a `Lanes` form that does not match the device's subgroups.
    pub fn with_tuning(device: &Arc<Device>, route: Route, tuning: Tuning) -> Result<Arc<Self>, ExecError> {
        Ok(Arc::new(Self::in_form(device, route, tuning)?))
    }

    fn in_form(device: &Arc<Device>, route: Route, tuning: Tuning) -> Result<Self, ExecError> {
        let mut kernels = Self::bare(device, route, tuning);
        Kernel::ALL.into_iter().try_for_each(|kernel| kernels.add(kernel))?;
        Ok(kernels)
    }

    /// No pipelines.
    fn bare(device: &Arc<Device>, route: Route, tuning: Tuning) -> Self {
        let (device, pipelines) = (Arc::clone(device), HashMap::new());
        Self { device, route, tuning, matrices: None, finding: OnceLock::new(), table: None, pipelines }
    }

    /// Creates the pipeline of a kernel, where the form has it. Kernels of one form share a pipeline.
    fn add(&mut self, kernel: Kernel) -> Result<(), ExecError> {
        let Some(name) = kernel.shader(self.tuning) else { return Ok(()) };
        let same = self.pipelines.values().find(|pipeline| pipeline.shader().name == name);
        let pipeline = match same {
            Some(pipeline) => Arc::clone(pipeline),
            None => Arc::new(Self::pipeline_of(&self.device, &name, self.tuning)?),
        };
        self.pipelines.insert(kernel, pipeline);
        Ok(())
    }

    /// The same with the pipelines of other kernels as well, without those that the device refuses. No step takes them
    /// unless a table says so.
    pub(super) fn with_more(&self, more: &[Kernel]) -> Self {
        let mut kernels = self.copy();
        for &kernel in more {
            if let Err(error) = kernels.add(kernel) {
                tracing::warn!("{}: {kernel:?} cannot be used: {error}", self.device.caps().name);
            }
        }
        kernels
    }

    fn copy(&self) -> Self {
        let Self { ref device, route, tuning, ref matrices, ref finding, ref table, ref pipelines } = *self;
        Self {
            device: Arc::clone(device),
            route,
            tuning,
            matrices: matrices.clone(),
            finding: finding.clone(),
            table: table.clone(),
            pipelines: pipelines.clone(),
        }
    }

    /// The kernels that others of this form are held to.
    pub(super) fn plain(self: &Arc<Self>) -> Result<Arc<Self>, ExecError> {
        match self.tuning {
            Tuning::Tile | Tuning::Lanes(_) => Ok(Arc::clone(self)),
            Tuning::Truncating | Tuning::Matrix => Self::with_tuning(&self.device, Route::Exact, Tuning::Tile),
        }
    }

    /// Whether there is a pipeline for a kernel.
    pub(super) fn has(&self, kernel: Kernel) -> bool {
        self.pipelines.contains_key(&kernel)
    }

    /// The same with the tiles that a table of this device chooses. Each of its kernels is first held to the plain form,
    /// operand by operand; if one differs, or cannot be made, the table is not used and the reason is logged.
    pub fn with_table(self: &Arc<Self>, table: Table) -> Arc<Self> {
        if table.is_empty() {
            return self.untuned();
        }
        let wanted = table.kernels();
        let doubt = || -> Result<Result<Self, String>, ExecError> {
            let mut kernels = self.with_more(&wanted);
            if let Some(kernel) = wanted.iter().find(|&&kernel| !kernels.has(kernel)) {
                return Ok(Err(format!("{kernel:?} cannot be made")));
            }
            if let Some(difference) = certify::variants(&*self.plain()?, &kernels, &wanted)?.first() {
                return Ok(Err(difference.to_string()));
            }
            kernels.table = Some(Arc::new(table));
            Ok(Ok(kernels))
        };
        let doubt = match doubt() {
            Ok(Ok(kernels)) => return Arc::new(kernels),
            Ok(Err(doubt)) => doubt,
            Err(error) => error.to_string(),
        };
        tracing::warn!("{}: the tuned tiles are not used: {doubt}", self.device.caps().name);
        Arc::clone(self)
    }

    /// As [`Kernels::new`], with the tiles that were found the fastest on this device and driver, if any were.
    ///
    /// # Errors
    /// As [`Kernels::new`].
    pub fn tuned(device: &Arc<Device>, route: Route) -> Result<Arc<Self>, ExecError> {
        let kernels = Self::new(device, route)?;
        Ok(match (route, Table::load(device, kernels.tuning)) {
            (Route::Exact, Some(table)) => kernels.with_table(table),
            _ => kernels,
        })
    }

    /// The same with the tiles of a table, unchecked: for the search, which checks every byte.
    pub(super) fn taking(&self, table: Table) -> Arc<Self> {
        let mut kernels = self.copy();
        kernels.table = Some(Arc::new(table));
        Arc::new(kernels)
    }

    /// The same without a table.
    pub fn untuned(self: &Arc<Self>) -> Arc<Self> {
        match self.table {
            None => Arc::clone(self),
            Some(_) => Arc::new(Self { table: None, ..self.copy() }),
        }
    }

    /// The table of tiles in use.
    pub fn table(&self) -> Option<&Table> {
        self.table.as_deref()
    }

    /// Form and table in words: what computes, and whether it was tuned.
    pub fn description(&self) -> String {
        let form = format!("{:?}", self.tuning).to_lowercase();
        match &self.table {
            _ if self.route == Route::Cpu => crate::reference::instruction_set().to_owned(),
            _ if self.matrices.is_some() => form,
            Some(table) => format!("{form}, tuned {:.12}", table.digest()),
            None => format!("{form}, untuned"),
        }
    }

    /// The tiles of the matrix form on plain arithmetic, beside the plain kernels.
    #[cfg(test)]
    pub(super) fn model_tiles(device: &Arc<Device>) -> Result<(Arc<Self>, Self, Vec<Kernel>), ExecError> {
        // Of the fast forms none is plain arithmetic, and not every one has all kernels.
        let kernels = Self::with_tuning(device, Route::Exact, Tuning::Tile)?;
        let all: Vec<Kernel> = super::variants::MODELS
            .iter()
            .flat_map(|variant| variant.classes().map(move |class| Kernel::Tuned(class, variant)))
            .collect();
        let mut tested = kernels.with_more(&all);
        if device.caps().float16 {
            let join = Self::pipeline_of(device, "network/gemm_join.model", Tuning::Tile)?;
            tested.pipelines.insert(Kernel::GemmJoin, Arc::new(join));
        }
        Ok((kernels, tested, all))
    }

    /// The kernels of a matrix-unit route.
    fn on_units(device: &Arc<Device>, route: Route, operands: Operands) -> Result<Self, ExecError> {
        if let Some(reason) = tensor::missing(device.caps(), operands) {
            let device = device.caps().name.clone();
            return Err(ExecError::Unavailable { route: route.name(), device, reason });
        }
        let order = match operands {
            Operands::Half => Fragments::probe(device)?,
            Operands::Float8 => Fragments::natural(),
        };
        let strips = operands == Operands::Half && order.alike;
        let direct = operands == Operands::Half && order.direct;
        Self::on_matrices(device, route, Form { operands, model: false, strips, direct }, order)
    }

    /// The kernels of a matrix-unit route on a software model of the units, for devices without them.
    #[cfg(test)]
    pub(super) fn on_model(device: &Arc<Device>, operands: Operands, strips: bool) -> Result<Arc<Self>, ExecError> {
        let route = match operands {
            Operands::Half => Route::Tensor,
            Operands::Float8 => Route::Float8,
        };
        let form = Form { operands, model: true, strips, direct: strips };
        Ok(Arc::new(Self::on_matrices(device, route, form, Fragments::natural())?))
    }

    /// With those of the exact route that they share.
    fn on_matrices(device: &Arc<Device>, route: Route, form: Form, order: Fragments) -> Result<Self, ExecError> {
        let shared = [Kernel::Pool, Kernel::MergeCode, Kernel::GemmJoin];
        // The join in halves, which the model's devices may lack, is in the truncating form.
        let shared = shared.iter().filter(|&&kernel| !(form.model && kernel == Kernel::GemmJoin));
        let mut pipelines = HashMap::new();
        for &kernel in shared {
            let name = kernel.shader(Tuning::Truncating).expect("a kernel of this form");
            pipelines.insert(kernel, Arc::new(Self::pipeline_of(device, &name, Tuning::Tile)?));
        }
        for kernel in TensorKernel::ALL.into_iter().filter(|kernel| form.has(*kernel)) {
            let name = kernel.shader(form);
            let shader = shaders::shader(&name).ok_or_else(|| ExecError::MissingShader { shader: name.clone() })?;
            let desc = PipelineDesc { name: &name, shader, constants: &[], subgroup_size: (!form.model).then_some(32) };
            pipelines.insert(Kernel::Tensor(kernel), Arc::new(ComputePipeline::with(device, &desc)?));
        }
        Ok(Self { pipelines, matrices: Some((form, order)), ..Self::bare(device, route, Tuning::Tile) })
    }

    fn pipeline_of(device: &Arc<Device>, name: &str, tuning: Tuning) -> Result<ComputePipeline, ExecError> {
        let shader = shaders::shader(name).ok_or_else(|| ExecError::MissingShader { shader: name.to_owned() })?;
        let subgroup_size = match tuning {
            // These kernels' workgroup is one subgroup of exactly the tuned size.
            Tuning::Lanes(n) if name.contains("_lanes") && device.caps().subgroup.can_require_size => Some(n),
            Tuning::Matrix if name.contains("_matrix") && device.caps().subgroup.can_require_size => {
                Some(MATRIX_SUBGROUP)
            }
            _ => None,
        };
        Ok(ComputePipeline::with(device, &PipelineDesc { name, shader, constants: &[], subgroup_size })?)
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The route.
    pub fn route(&self) -> Route {
        self.route
    }

    /// The form of the kernels.
    pub fn tuning(&self) -> Tuning {
        self.tuning
    }

    /// Whether the route gives the contract's bits here.
    pub fn is_exact(&self) -> bool {
        match self.route {
            Route::Exact | Route::Cpu => true,
            Route::Tensor => false,
            Route::Float8 => self.finding.get().is_some_and(float8::Finding::exact),
        }
    }

    /// What was found of route `float8` on this device and driver; on that route.
    pub fn finding(&self) -> Option<&float8::Finding> {
        self.finding.get()
    }

    /// The form of the kernels on matrix units; on their routes.
    pub(super) fn form(&self) -> Option<Form> {
        self.matrices.as_ref().map(|(form, _)| *form)
    }

    /// How the device spreads matrices; on the routes of matrix units.
    pub(super) fn fragments(&self) -> Option<&Fragments> {
        self.matrices.as_ref().map(|(_, order)| order)
    }

    /// What a workgroup covers.
    pub(super) fn tiles(&self) -> Tiles {
        Tiles::new(self.tuning)
    }

    pub(super) fn pipeline(&self, kernel: Kernel) -> &ComputePipeline {
        &self.pipelines[&kernel]
    }
}
