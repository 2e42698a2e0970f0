//! Choosing a device.

use crate::adapter::AdapterInfo;
use crate::error::{Error, Result};

/// Which device to open.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum DeviceSelector {
    /// The best usable one: discrete, integrated, virtual, CPU; then more memory; then order.
    #[default]
    Auto,
    /// The one at this position of [`crate::Instance::adapters`].
    Index(usize),
    /// The first usable one whose name holds this text, in any case.
    Name(String),
}

impl DeviceSelector {
    /// From the command line: a number, a part of a name, or `auto`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.parse() {
            Ok(index) => Self::Index(index),
            Err(_) if text.is_empty() || text.eq_ignore_ascii_case("auto") => Self::Auto,
            Err(_) => Self::Name(text.to_owned()),
        }
    }

    /// The position of the device chosen from a list.
    pub(crate) fn choose(&self, adapters: &[AdapterInfo]) -> Result<usize> {
        let usable = |a: &&AdapterInfo| a.usable.is_ok();
        let found = match self {
            Self::Auto => adapters.iter().filter(usable).min_by_key(|a| {
                let local = a.capabilities.heaps.iter().filter(|h| h.device_local);
                let memory = local.map(|h| h.size).max().unwrap_or(0);
                (a.kind, u64::MAX - memory, a.index)
            }),
            Self::Index(index) => adapters.get(*index).filter(usable),
            Self::Name(part) => {
                let part = part.to_lowercase();
                adapters.iter().filter(usable).find(|a| a.name.to_lowercase().contains(&part))
            }
        };
        found.map(|a| a.index).ok_or_else(|| Error::NoDevice { detail: self.detail(adapters) })
    }

    fn detail(&self, adapters: &[AdapterInfo]) -> String {
        let wanted = match self {
            Self::Auto => String::new(),
            Self::Index(index) => format!(" at position {index}"),
            Self::Name(name) => format!(" named \"{name}\""),
        };
        if adapters.is_empty() {
            return format!("{wanted} (the drivers offer none)");
        }
        let list: Vec<String> = adapters
            .iter()
            .map(|a| match &a.usable {
                Ok(()) => format!("{}: {}", a.index, a.name),
                Err(reason) => format!("{}: {} cannot be used, {reason}", a.index, a.name),
            })
            .collect();
        format!("{wanted} (found {})", list.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::DeviceKind;
    use crate::capabilities::{Capabilities, MemoryHeap};

    fn adapter(index: usize, name: &str, kind: DeviceKind, gibibytes: u64) -> AdapterInfo {
        let heap = MemoryHeap { size: gibibytes << 30, device_local: true };
        AdapterInfo {
            index,
            name: name.to_owned(),
            kind,
            driver: "driver".to_owned(),
            api_version: "1.3.0".to_owned(),
            capabilities: Capabilities { heaps: vec![heap], ..Capabilities::default() },
            features: Vec::new(),
            usable: Ok(()),
        }
    }

    fn four() -> Vec<AdapterInfo> {
        vec![
            adapter(0, "llvmpipe", DeviceKind::Cpu, 64),
            adapter(1, "Small Card", DeviceKind::Discrete, 8),
            adapter(2, "Large Card", DeviceKind::Discrete, 24),
            adapter(3, "Chip", DeviceKind::Integrated, 32),
        ]
    }

    #[test]
    fn the_best_usable_device_is_chosen() {
        let mut list = four();
        assert_eq!(DeviceSelector::Auto.choose(&list).unwrap(), 2);
        list[2].usable = Err("it lacks maintenance4".to_owned());
        assert_eq!(DeviceSelector::Auto.choose(&list).unwrap(), 1);
        list[1].usable = Err("it has no compute queue".to_owned());
        assert_eq!(DeviceSelector::Auto.choose(&list).unwrap(), 3);
        assert_eq!(DeviceSelector::Auto.choose(&list[..1]).unwrap(), 0);
    }

    #[test]
    fn devices_are_chosen_by_position_or_name() {
        let list = four();
        for (text, index) in [("1", 1), ("large", 2), ("LLVM", 0), ("auto", 2), ("", 2)] {
            assert_eq!(DeviceSelector::parse(text).choose(&list).unwrap(), index, "{text}");
        }
    }

    #[test]
    fn refusals_say_what_was_found() {
        let mut list = four();
        list[1].usable = Err("it lacks maintenance4".to_owned());
        let refused = |text: &str| DeviceSelector::parse(text).choose(&list).unwrap_err().to_string();
        assert!(refused("small").contains("it lacks maintenance4"));
        assert!(refused("1").contains("at position 1"));
        assert!(refused("radeon").contains("named \"radeon\""));
        let none = DeviceSelector::Auto.choose(&[]).unwrap_err().to_string();
        assert!(none.contains("the drivers offer none"), "{none}");
    }
}
