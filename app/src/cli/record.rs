//! What a report of a measurement says of its circumstances.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use gpu::Device;
use network::model::Model;
use serde_json::{Value, json};

use crate::engine::playback;

/// Time, program, device and model of a measurement.
pub fn circumstances(device: &Device, model: &Model) -> Value {
    let program = playback::program();
    let clean = program.commit.len() == 40 && program.commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let caps = device.caps();
    json!({
        "time": SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        "program": {
            "version": program.version,
            "commit": program.commit,
            "clean": clean,
            "binary": program.executable,
        },
        "device": caps.name,
        "driver": caps.driver,
        "clocks": clocks(),
        "model": { "name": model.description(), "digest": model.digest() },
        "command": std::env::args().skip(1).collect::<Vec<_>>(),
    })
}

/// The clocks as the vendor's tool tells them, where there is one: Vulkan does not.
fn clocks() -> String {
    let query = ["--query-gpu=clocks.sm,clocks.mem,temperature.gpu", "--format=csv,noheader"];
    let unknown = || "not readable".to_owned();
    match Command::new("nvidia-smi").args(query).output() {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            text.lines().next().map_or_else(unknown, |line| line.trim().to_owned())
        }
        _ => unknown(),
    }
}
