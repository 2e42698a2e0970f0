//! The pipelines of a route.

use std::collections::HashMap;
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
    /// Multiply with N not a multiple of 64.
    GemmNarrow,
    /// Multiply with N a multiple of 64.
    GemmWide,
    /// Multiply with a partitioned K.
    GemmParts,
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
    const ALL: [Kernel; 13] = [
        Kernel::Adapter,
        Kernel::GemmNarrow,
        Kernel::GemmWide,
        Kernel::GemmParts,
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
            Kernel::GemmNarrow => tuned("gemm_tile.narrow", "gemm_lanes."),
            Kernel::GemmWide => tuned("gemm_tile.wide", "gemm_lanes."),
            Kernel::GemmParts => tuned("gemm_tile.parts", "gemm_lanes."),
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

    /// The multiply for a matrix of `n` columns.
    pub fn gemm(n: usize, partitioned: bool) -> Self {
        match (partitioned, n.is_multiple_of(64)) {
            (true, _) => Kernel::GemmParts,
            (false, true) => Kernel::GemmWide,
            (false, false) => Kernel::GemmNarrow,
        }
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

    /// Rows and columns of a multiply; the columns divide N.
    pub fn gemm(self, kernel: Kernel) -> (u32, u32) {
        match (self.tuning, kernel) {
            (Tuning::Lanes(n), _) => (32, n),
            (Tuning::Tile, Kernel::GemmNarrow) => (128, 32),
            (Tuning::Tile, _) => (64, 64),
        }
    }

    /// Queries of a window; divides 64.
    pub fn window_queries(self) -> u32 {
        match self.tuning {
            Tuning::Lanes(16) => 16,
            Tuning::Lanes(n) => 2 * n,
            Tuning::Tile => 64,
        }
    }

    /// Queries of the ViT.
    pub fn vit_queries(self) -> u32 {
        match self.tuning {
            Tuning::Lanes(n) => n,
            Tuning::Tile => 64,
        }
    }
}

/// The pipelines of one route on one device; device lifetime.
pub struct Kernels {
    device: Arc<Device>,
    route: Route,
    tuning: Tuning,
    pipelines: HashMap<Kernel, Arc<ComputePipeline>>,
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
        // Kernels of one form share a pipeline.
        let mut by_shader: HashMap<String, Arc<ComputePipeline>> = HashMap::new();
        let mut pipelines = HashMap::new();
        for kernel in Kernel::ALL {
            let name = kernel.shader(tuning);
            let pipeline = match by_shader.get(&name) {
                Some(pipeline) => Arc::clone(pipeline),
                None => Arc::new(Self::pipeline_of(device, &name, tuning)?),
            };
            by_shader.insert(name, Arc::clone(&pipeline));
            pipelines.insert(kernel, pipeline);
        }
        Ok(Arc::new(Self { device: Arc::clone(device), route, tuning, pipelines }))
    }

    fn pipeline_of(device: &Arc<Device>, name: &str, tuning: Tuning) -> Result<ComputePipeline, ExecError> {
        let shader = shaders::shader(name).ok_or_else(|| ExecError::MissingShader { shader: name.to_owned() })?;
        let subgroup_size = match tuning {
            // These kernels' workgroup is one subgroup of exactly the tuned size.
            Tuning::Lanes(n) if name.contains("_lanes") && device.caps().subgroup.can_require_size => Some(n),
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

    pub(super) fn tiles(&self) -> Tiles {
        Tiles::new(self.tuning)
    }

    pub(super) fn pipeline(&self, kernel: Kernel) -> &ComputePipeline {
        &self.pipelines[&kernel]
    }
}
