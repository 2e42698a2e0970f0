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
        "command": std::env::args().skip(1).map(without_folder).collect::<Vec<_>>(),
    })
}

/// An argument without the folder of an absolute path, which is of no use on another machine.
fn without_folder(argument: String) -> String {
    let path = std::path::Path::new(&argument);
    match path.file_name() {
        Some(name) if path.is_absolute() => name.to_string_lossy().into_owned(),
        _ => argument,
    }
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

#[cfg(test)]
mod tests {
    use super::without_folder;

    #[test]
    fn folders_stay_out_of_reports() {
        assert_eq!(without_folder("/home/someone/out".into()), "out");
        assert_eq!(without_folder("out/certify".into()), "out/certify");
        assert_eq!(without_folder("--size".into()), "--size");
    }
}
