//! `nrview doctor`: the Vulkan devices, what each can run, and what each lacks.

use std::fmt::Write as _;

use gpu::{AdapterInfo, DeviceSelector, Instance, InstanceDesc};
use network::exec::tensor::{self, Operands, float8};
use network::exec::{Table, Tuning};
use serde_json::json;

use super::outcome::{CommandResult, Outcome};
use super::{Globals, text};
use crate::engine::{catalog, device, retain};

/// Lists the devices.
pub fn run(globals: &Globals) -> CommandResult {
    let instance = Instance::new(&InstanceDesc { validation: globals.validation, surface: None })?;
    let adapters = instance.adapters()?;
    let selector = device::selector(globals);
    let opened = gpu::Device::open(&instance, &selector);
    let tiles = opened.as_ref().ok().map(|device| Tiles::of(device, globals.untuned));
    let chosen = opened.map(|device| device.caps().device_uuid.clone());
    let mut out = String::new();
    let is_chosen = |adapter: &AdapterInfo| chosen.as_ref().is_ok_and(|uuid| *uuid == adapter.capabilities.device_uuid);
    for adapter in &adapters {
        let is_chosen = is_chosen(adapter);
        describe(&mut out, adapter, is_chosen, tiles.as_ref().filter(|_| is_chosen));
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
            "routes": {
                "exact": route(adapter),
                "tensor": matrix_route(adapter, Operands::Half),
                "float8": matrix_route(adapter, Operands::Float8),
            },
            "tiles": tiles.as_ref().filter(|_| is_chosen(adapter)),
            "replay": {
                "direct": "usable",
                "secondary": "by opting in",
                "primary": "by opting in",
                "generated": generated(adapter),
                "admitted": admitted(adapter),
            },
            "chosen": is_chosen(adapter),
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

/// Which tiles the exact route's multiplies take on the device that is used.
#[derive(Clone, Debug, serde::Serialize)]
struct Tiles {
    /// Identity of the table; none when the usual tiles are taken.
    digest: Option<String>,
    /// Shapes in it.
    shapes: usize,
}

impl Tiles {
    fn of(device: &gpu::Device, untuned: bool) -> Self {
        let table = if untuned { None } else { Table::load(device, Tuning::of(device)) };
        let table = table.filter(|table| !table.is_empty());
        Self { digest: table.as_ref().map(Table::digest), shapes: table.map_or(0, |table| table.entries().count()) }
    }
}

impl std::fmt::Display for Tiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.digest {
            Some(digest) => write!(f, "tuned for {} shapes, table {digest:.12}", self.shapes),
            None => f.write_str("untuned; `nrview tune` looks for faster ones"),
        }
    }
}

fn route(adapter: &AdapterInfo) -> String {
    match &adapter.usable {
        Ok(()) => "usable".to_owned(),
        Err(reason) => reason.clone(),
    }
}

fn matrix_route(adapter: &AdapterInfo, operands: Operands) -> String {
    match (&adapter.usable, tensor::missing(&adapter.capabilities, operands), operands) {
        (Err(reason), ..) => reason.clone(),
        (Ok(()), Some(reason), Operands::Half) => format!("not available: {reason}"),
        (Ok(()), Some(reason), Operands::Float8) => format!("not available: {reason}; not run on hardware yet"),
        (Ok(()), None, Operands::Half) => "usable, not bit-exact".to_owned(),
        (Ok(()), None, Operands::Float8) => match float8::known(&adapter.capabilities) {
            Some(finding) => format!("usable, found here: {finding}"),
            None => "usable, not run on hardware yet; the first use finds out whether it is exact".to_owned(),
        },
    }
}

/// Whether the device can take its dispatches from a stream.
fn generated(adapter: &AdapterInfo) -> &'static str {
    if adapter.capabilities.device_generated_commands {
        "by opting in"
    } else {
        "not available: it has no VK_EXT_device_generated_commands for dispatches"
    }
}

/// Sizes and routes that the registry has for this device and driver.
fn admitted(adapter: &AdapterInfo) -> Vec<String> {
    let rows = retain::registry().map(|registry| registry.rows).unwrap_or_default();
    let caps = &adapter.capabilities;
    let here = rows.into_iter().filter(|row| row.device == caps.name && row.driver == caps.driver);
    here.map(|row| format!("{} in a field of {}, model {:.12}", row.route, row.extent, row.model)).collect()
}

fn replay(adapter: &AdapterInfo) -> String {
    let rows = admitted(adapter);
    let rows = if rows.is_empty() { "none certified here".to_owned() } else { rows.join("; ") };
    let generated = generated(adapter);
    format!("direct; --replay secondary or primary by opting in; {rows}; generated by the device: {generated}")
}

fn describe(out: &mut String, adapter: &AdapterInfo, chosen: bool, tiles: Option<&Tiles>) {
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
    let tiles = tiles.map_or_else(String::new, |tiles| format!("; tiles {tiles}"));
    let _ = writeln!(out, "   route exact: {}{tiles}", route(adapter));
    let _ = writeln!(out, "   route tensor: {}", matrix_route(adapter, Operands::Half));
    let _ = writeln!(out, "   route float8: {}", matrix_route(adapter, Operands::Float8));
    let _ = writeln!(out, "   commands: {}", replay(adapter));
    for feature in adapter.missing() {
        let weight = if feature.required { "required" } else { "optional" };
        let _ = writeln!(out, "   lacks {} ({weight}): {}", feature.name, feature.without);
    }
}
