//! What a capture says of the program, the device, the route and the model.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use gpu::Device;
use network::capture::{
    Check, DeviceIdentity, Extents, Header, ModelName, MotionConvention, Program, RouteIdentity, SourceIdentity,
};
use network::exec::Kernels;
use network::geometry::Geometry;
use network::model::{Model, Source};
use network::plan::Plan;

use super::Keep;

/// The header of a capture that begins now. `device` draws the scene or runs the network; `kernels` are absent where the
/// CPU does the latter.
pub fn header(
    device: Option<&Device>,
    kernels: Option<&Kernels>,
    model: ModelName,
    geometry: &Geometry,
    source: SourceIdentity,
    keep: Keep,
) -> Header {
    let form = kernels.map_or_else(
        || "reference".to_owned(),
        |kernels| format!("{} {}", kernels.route().name(), kernels.description()),
    );
    let operations = Plan::new(geometry).ops.iter().map(|op| (op.label.clone(), form.clone())).collect();
    let mut checks = vec![Check::Features, Check::Head, Check::NextHistory, Check::Published, Check::Display];
    if keep != Keep::Nothing {
        checks.insert(1, Check::Boundaries);
    }
    Header {
        program: program(),
        created: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        device: device.map(device_identity),
        route: RouteIdentity { name: kernels.map_or("cpu", |kernels| kernels.route().name()).to_owned(), operations },
        shaders: match device {
            Some(_) => shaders::all().map(|s| (s.name.to_owned(), s.info.spirv_sha256.to_owned())).collect(),
            None => BTreeMap::new(),
        },
        model,
        extents: Extents::of(geometry),
        source,
        motion: MotionConvention::default(),
        checks,
        all_tensors: keep == Keep::All,
    }
}

/// How a capture names a model.
pub fn model_name(source: &Source, model: &Model) -> ModelName {
    ModelName { source: source.public_name(), digest: model.digest().to_owned() }
}

fn device_identity(device: &Device) -> DeviceIdentity {
    let caps = device.caps();
    DeviceIdentity {
        name: caps.name.clone(),
        driver: caps.driver.clone(),
        driver_version: caps.driver_version,
        vendor_id: caps.vendor_id,
        device_id: caps.device_id,
        uuid: caps.device_uuid.clone(),
    }
}

/// What runs: name, version, commit, digest of the executable.
pub fn program() -> Program {
    static EXECUTABLE: OnceLock<String> = OnceLock::new();
    let executable = EXECUTABLE.get_or_init(|| {
        let bytes = std::env::current_exe().and_then(std::fs::read);
        bytes.map_or_else(|_| String::new(), |bytes| network::capture::sha256(&bytes))
    });
    Program {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("NRVIEW_COMMIT").unwrap_or("unknown").to_owned(),
        executable: executable.clone(),
    }
}
