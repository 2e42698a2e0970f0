//! Which route a device takes.

use std::sync::Arc;

use gpu::Device;
use network::exec::{ExecError, Kernels, Route, tensor};

use crate::cli::args::{Quality, RouteArg};

/// The kernels of a route. `auto` is the fastest route of the device at a quality: on matrix units where the device has them and
/// the quality allows what they differ, else exact.
///
/// # Errors
/// The device cannot run the route that was asked for by name; the message says what it lacks.
pub fn kernels(device: &Arc<Device>, route: RouteArg, quality: Quality) -> Result<Arc<Kernels>, ExecError> {
    let wanted = match route {
        RouteArg::Tensor => return Kernels::new(device, Route::Tensor),
        RouteArg::Auto => quality == Quality::Fast,
        RouteArg::Exact | RouteArg::Cpu => false,
    };
    if wanted && tensor::missing(device.caps()).is_none() {
        match Kernels::new(device, Route::Tensor) {
            Ok(kernels) => return Ok(kernels),
            Err(error) => tracing::warn!("the exact route is taken: {error}"),
        }
    }
    Kernels::new(device, Route::Exact)
}
