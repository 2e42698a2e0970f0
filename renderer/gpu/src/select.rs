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
