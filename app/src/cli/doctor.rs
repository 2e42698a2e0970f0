//! `nrview doctor`: the Vulkan devices, what each can run, and what each lacks.

use std::fmt::Write as _;

use gpu::{AdapterInfo, DeviceSelector, Instance, InstanceDesc};
use serde_json::json;

use super::outcome::{CommandResult, Outcome};
use super::{Globals, text};
use crate::engine::{catalog, device};

/// Lists the devices.
pub fn run(globals: &Globals) -> CommandResult {
    let instance = Instance::new(&InstanceDesc { validation: globals.validation, surface: None })?;
    let adapters = instance.adapters()?;
    let selector = device::selector(globals);
    let chosen = gpu::Device::open(&instance, &selector).map(|d| d.caps().device_uuid.clone());
    let mut out = String::new();
    for adapter in &adapters {
        let is_chosen = chosen.as_ref().is_ok_and(|uuid| *uuid == adapter.capabilities.device_uuid);
        describe(&mut out, adapter, is_chosen);
    }
    let _ = writeln!(
        out,
        "route cpu needs no device for the network; drawing the scene (`render`, `capture` of it, the viewer) does"
    );
    let scenes: Vec<String> = catalog::all().into_iter().map(|entry| entry.name).collect();
    let _ = writeln!(out, "scenes: {} (`nrview scenes` tells more)", scenes.join(", "));
    let json = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "scenes": scenes,
        "devices": adapters.iter().map(|adapter| json!({
            "adapter": adapter,
            "routes": { "exact": route(adapter) },
            "chosen": chosen.as_ref().is_ok_and(|uuid| *uuid == adapter.capabilities.device_uuid),
        })).collect::<Vec<_>>(),
        "routes": { "cpu": "usable" },
    });
    match chosen {
        Ok(_) => Ok(Outcome::yes(json, out)),
        // Asked for a device by name or number, or none can be used: the list says why.
        Err(error) if selector == DeviceSelector::Auto && !adapters.is_empty() => {
            let _ = writeln!(out, "{error}");
            Ok(Outcome { json, text: out, holds: false })
        }
        Err(error) => Err(error.into()),
    }
}

fn route(adapter: &AdapterInfo) -> String {
    match &adapter.usable {
        Ok(()) => "usable".to_owned(),
        Err(reason) => reason.clone(),
    }
}

fn describe(out: &mut String, adapter: &AdapterInfo, chosen: bool) {
    let caps = &adapter.capabilities;
    let limits = &caps.limits;
    let memory = caps.heaps.iter().filter(|heap| heap.device_local).map(|heap| heap.size).max().unwrap_or(0);
    let mark = if chosen { "  <- used by default" } else { "" };
    let _ = writeln!(out, "{}: {}{mark}", adapter.index, adapter.name);
    let _ = writeln!(out, "   {:?}, Vulkan {}, {}", adapter.kind, adapter.api_version, adapter.driver);
    let _ = writeln!(
        out,
        "   memory {}; one buffer at most {}; storage range {}; shared memory {}; subgroups of {}",
        text::bytes(memory),
        text::bytes(limits.max_memory_allocation.min(limits.max_buffer_size)),
        text::bytes(limits.max_storage_buffer_range),
        text::bytes(u64::from(limits.max_shared_memory)),
        caps.subgroup.size,
    );
    let _ = writeln!(out, "   route exact: {}", route(adapter));
    for feature in adapter.missing() {
        let weight = if feature.required { "required" } else { "optional" };
        let _ = writeln!(out, "   lacks {} ({weight}): {}", feature.name, feature.without);
    }
}
