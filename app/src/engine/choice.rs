//! Which route a device takes.

use std::sync::Arc;

use gpu::Device;
use network::exec::{ExecError, Kernels, Route, tensor};
use network::reference;

use crate::cli::Globals;
use crate::cli::args::{Quality, RouteArg};

/// What is to compute the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The route, or `auto`.
    pub route: RouteArg,
    /// What `auto` may take.
    pub quality: Quality,
    /// Whether the exact route takes the tiles that were found the fastest on this device.
    pub tuned: bool,
}

impl Wish {
    /// The exact route.
    pub const EXACT: Self = Self { route: RouteArg::Exact, quality: Quality::Exact, tuned: true };

    /// What the command line asks for.
    pub fn new(globals: &Globals, route: RouteArg) -> Self {
        Self { route, quality: globals.quality.unwrap_or(Quality::Exact), tuned: !globals.untuned }
    }
}

/// The kernels of a route. `auto` is the fastest route of the device at a quality: on matrix units where the device has them and
/// the quality allows what they differ, else exact.
///
/// # Errors
/// The device cannot run the route that was asked for by name; the message says what it lacks.
pub fn kernels(device: &Arc<Device>, wish: Wish) -> Result<Arc<Kernels>, ExecError> {
    let wanted = match wish.route {
        RouteArg::Tensor => return Kernels::new(device, Route::Tensor),
        RouteArg::Cpu => return Kernels::new(device, Route::Cpu),
        RouteArg::Auto => wish.quality == Quality::Fast,
        RouteArg::Exact => false,
    };
    if wanted && tensor::missing(device.caps()).is_none() {
        match Kernels::new(device, Route::Tensor) {
            Ok(kernels) => return Ok(kernels),
            Err(error) => tracing::warn!("the exact route is taken: {error}"),
        }
    }
    if wish.tuned { Kernels::tuned(device, Route::Exact) } else { Kernels::new(device, Route::Exact) }
}

/// The same for frames that somebody waits for in a window. There `auto` on a device that is a CPU is the route `cpu` where
/// this processor has vectors of its own code: both give the contract's bits, and the device takes about three times as long
/// (docs/performance.md), because it cannot round toward zero and knows no shorter form.
///
/// # Errors
/// As for [`kernels`].
pub fn live(device: &Arc<Device>, wish: Wish) -> Result<Arc<Kernels>, ExecError> {
    let on_cpu = device.caps().is_cpu && wish.route == RouteArg::Auto;
    let route = if on_cpu && has_vectors() && reference::agrees() { RouteArg::Cpu } else { wish.route };
    kernels(device, Wish { route, ..wish })
}

/// Whether the reference runs in wide vectors here.
fn has_vectors() -> bool {
    matches!(reference::instruction_set(), "AVX-512" | "AVX2")
}

/// Why a route computes the network, for people.
pub fn why(kernels: &Kernels, route: RouteArg) -> String {
    let what = match kernels.route() {
        Route::Exact => "bit for bit the contract",
        Route::Tensor => "matrix units, near the contract but not exact; --quality exact or --route exact",
        Route::Cpu if route == RouteArg::Auto => {
            "bit for bit the contract; the Vulkan device is a CPU, on which the processor's own code is faster"
        }
        Route::Cpu => "bit for bit the contract, on the processor",
    };
    format!("{what} ({})", kernels.description())
}
