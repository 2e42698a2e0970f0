//! The pipelines of a route.

use std::sync::Arc;

use gpu::{ComputePipeline, Device, PipelineDesc};

use super::ExecError;

/// Which arithmetic executes the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// Bit for bit the contract, on any Vulkan 1.3 device.
    Exact,
}

impl Route {
    /// Name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Route::Exact => "exact",
        }
    }
}

/// Which form of the multiply and attention kernels a device runs. Both give the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tuning {
    /// Workgroups share tiles through shared memory: any device.
    Tile,
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
        if caps.is_cpu && shuffles && matches!(lanes, 4 | 8 | 16) { Tuning::Lanes(lanes) } else { Tuning::Tile }
    }
}

/// A kernel of the exact route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kernel {
    Adapter,
    Gemm,
    NormaliseWindow,
    NormaliseVit,
    WindowAttention,
    VitAttention,
    Pool,
    MergeCode,
    MergeBoth,
    PostBlend,
    Head,
}

impl Kernel {
    const ALL: [Kernel; 11] = [
        Kernel::Adapter,
        Kernel::Gemm,
        Kernel::NormaliseWindow,
        Kernel::NormaliseVit,
        Kernel::WindowAttention,
        Kernel::VitAttention,
        Kernel::Pool,
        Kernel::MergeCode,
        Kernel::MergeBoth,
        Kernel::PostBlend,
        Kernel::Head,
    ];

    fn shader(self, tuning: Tuning) -> String {
        let tuned = |tile: &str, lanes: &str| match tuning {
            Tuning::Tile => format!("network/{tile}"),
            Tuning::Lanes(n) => format!("network/{lanes}{n}"),
        };
        match self {
            Kernel::Gemm => tuned("gemm_tile", "gemm_lanes."),
            Kernel::WindowAttention => tuned("attention_tile.window", "attention_lanes.window"),
            Kernel::VitAttention => tuned("attention_tile.vit", "attention_lanes.vit"),
            Kernel::Adapter => "network/adapter".into(),
            Kernel::NormaliseWindow => "network/normalise.window".into(),
            Kernel::NormaliseVit => "network/normalise.vit".into(),
            Kernel::Pool => "network/pool".into(),
            Kernel::MergeCode => "network/merge.code".into(),
            Kernel::MergeBoth => "network/merge.both".into(),
            Kernel::PostBlend => "network/post_blend".into(),
            Kernel::Head => "network/head".into(),
        }
    }

    /// Whether the kernel's workgroup is one subgroup of exactly the tuned size.
    fn needs_lanes(self) -> bool {
        matches!(self, Kernel::Gemm | Kernel::WindowAttention | Kernel::VitAttention)
    }
}

/// What the dispatches of the tuned kernels cover; the constants of the same names stand in the shaders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiles {
    /// Rows of a multiply's tile.
    pub gemm_rows: u32,
    /// Columns of a multiply's tile; divides 32.
    pub gemm_columns: u32,
    /// Queries of a window a workgroup handles; divides 64.
    pub window_queries: u32,
    /// ViT queries a workgroup handles.
    pub vit_queries: u32,
}

impl Tiles {
    fn of(tuning: Tuning) -> Self {
        match tuning {
            Tuning::Tile => Self { gemm_rows: 64, gemm_columns: 32, window_queries: 64, vit_queries: 64 },
            Tuning::Lanes(n) => Self {
                gemm_rows: 32,
                gemm_columns: n,
                window_queries: if n == 16 { 16 } else { 2 * n },
                vit_queries: n,
            },
        }
    }
}

/// The pipelines of one route on one device; device lifetime.
pub struct Kernels {
    device: Arc<Device>,
    route: Route,
    tuning: Tuning,
    pipelines: Vec<(Kernel, ComputePipeline)>,
}

impl Kernels {
    /// Creates the pipelines in the form that suits the device.
    ///
    /// # Errors
    /// The device lacks something a kernel needs, or pipeline creation fails.
    pub fn new(device: &Arc<Device>, route: Route) -> Result<Arc<Self>, ExecError> {
        Self::with_tuning(device, route, Tuning::of(device))
    }

    /// Creates the pipelines in a given form.
    ///
    /// # Errors
    /// As [`Kernels::new`]; in particular a `Lanes` form that does not match the device's subgroups.
    pub fn with_tuning(device: &Arc<Device>, route: Route, tuning: Tuning) -> Result<Arc<Self>, ExecError> {
        let can_require = device.caps().subgroup.can_require_size;
        let pipelines = Kernel::ALL
            .iter()
            .map(|&kernel| {
                let name = kernel.shader(tuning);
                let shader = shaders::shader(&name).ok_or_else(|| gpu::Error::Unsupported {
                    object: name.clone(),
                    feature: format!("a shader called {name}"),
                    device: device.caps().name.clone(),
                })?;
                let subgroup_size = match tuning {
                    Tuning::Lanes(n) if kernel.needs_lanes() && can_require => Some(n),
                    _ => None,
                };
                let desc = PipelineDesc { name: &name, shader, constants: &[], subgroup_size };
                Ok((kernel, ComputePipeline::with(device, &desc)?))
            })
            .collect::<Result<Vec<_>, gpu::Error>>()?;
        Ok(Arc::new(Self { device: Arc::clone(device), route, tuning, pipelines }))
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

    pub(super) fn tiles(&self) -> Tiles {
        Tiles::of(self.tuning)
    }

    pub(super) fn pipeline(&self, kernel: Kernel) -> &ComputePipeline {
        let entry = self.pipelines.iter().find(|(k, _)| *k == kernel);
        &entry.expect("every kernel has a pipeline").1
    }
}
