//! Which route a device takes.

use std::sync::Arc;

use gpu::{Capabilities, Device};
use network::exec::tensor::{self, Operands};
use network::exec::{ExecError, Kernels, Route};
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

/// The routes that `auto` takes at a quality, the fastest first; the device may still turn out not to have them.
fn candidates(caps: &Capabilities, quality: Quality) -> Vec<Route> {
    let has = |operands| tensor::missing(caps, operands).is_none();
    let float8 = has(Operands::Float8).then_some(Route::Float8);
    let tensor = (quality == Quality::Fast && has(Operands::Half)).then_some(Route::Tensor);
    float8.into_iter().chain(tensor).chain([Route::Exact]).collect()
}

/// The kernels of a route. `auto` is the fastest route of the device at a quality: on matrix units that multiply codes where they are
/// found to give the contract's bits, on those that multiply halves where the quality allows what they differ, else exact.
///
/// # Errors
/// The device cannot run the route that was asked for by name; the message says what it lacks.
pub fn kernels(device: &Arc<Device>, wish: Wish) -> Result<Arc<Kernels>, ExecError> {
    let routes = match wish.route {
        RouteArg::Tensor => vec![Route::Tensor],
        RouteArg::Float8 => vec![Route::Float8],
        RouteArg::Cpu => vec![Route::Cpu],
        RouteArg::Exact => vec![Route::Exact],
        RouteArg::Auto => candidates(device.caps(), wish.quality),
    };
    let (last, first) = routes.split_last().expect("there is a route for every wish");
    for &route in first {
        match Kernels::new(device, route) {
            Ok(kernels) if route != Route::Float8 || kernels.is_exact() => return Ok(kernels),
            Ok(kernels) => warn(&kernels),
            Err(error) => tracing::warn!("route {} is not taken: {error}", route.name()),
        }
    }
    let tuned = *last == Route::Exact && wish.tuned;
    let kernels = if tuned { Kernels::tuned(device, *last)? } else { Kernels::new(device, *last)? };
    warn(&kernels);
    Ok(kernels)
}

/// Says so where route `float8` was found not to be exact.
fn warn(kernels: &Kernels) {
    if let Some(finding) = kernels.finding().filter(|finding| !finding.exact()) {
        tracing::warn!("route float8 on {}: {finding}", kernels.device().caps().name);
    }
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
        Route::Float8 if kernels.is_exact() => "8-bit matrix units, found exact on this device",
        Route::Float8 => "8-bit matrix units, found not exact on this device; --route exact",
        Route::Cpu if route == RouteArg::Auto => {
            "bit for bit the contract; the Vulkan device is a CPU, on which the processor's own code is faster"
        }
        Route::Cpu => "bit for bit the contract, on the processor",
    };
    format!("{what} ({})", kernels.description())
}

#[cfg(test)]
mod tests {
    use gpu::{ComponentType, CooperativeMatrixShape, MatrixScope};

    use super::*;

    fn device(shapes: &[(u32, ComponentType)]) -> Capabilities {
        let shape = |&(k, operand): &(u32, ComponentType)| CooperativeMatrixShape {
            m: 16,
            n: 16,
            k,
            a: operand,
            b: operand,
            c: ComponentType::F16,
            result: ComponentType::F16,
            saturating: false,
            scope: MatrixScope::Subgroup,
        };
        let mut caps = Capabilities {
            float16: true,
            memory_model: true,
            float8: true,
            float8_cooperative_matrix: true,
            cooperative_matrix: shapes.iter().map(shape).collect(),
            ..Capabilities::default()
        };
        caps.subgroup.can_require_size = true;
        (caps.subgroup.min_size, caps.subgroup.max_size) = (32, 32);
        caps.subgroup.operations = vec!["shuffle"];
        (caps.limits.max_shared_memory, caps.limits.max_invocations) = (49152, 1024);
        caps
    }

    #[test]
    fn the_fastest_route_of_a_quality_comes_first() {
        let half = (16, ComponentType::F16);
        let code = (32, ComponentType::E4M3);
        let of = |shapes: &[_], quality| candidates(&device(shapes), quality);
        assert_eq!(of(&[], Quality::Exact), [Route::Exact]);
        assert_eq!(of(&[], Quality::Fast), [Route::Exact]);
        assert_eq!(of(&[half], Quality::Exact), [Route::Exact]);
        assert_eq!(of(&[half], Quality::Fast), [Route::Tensor, Route::Exact]);
        assert_eq!(of(&[half, code], Quality::Exact), [Route::Float8, Route::Exact]);
        assert_eq!(of(&[half, code], Quality::Fast), [Route::Float8, Route::Tensor, Route::Exact]);
        assert_eq!(of(&[code], Quality::Fast), [Route::Float8, Route::Exact]);
    }
}
