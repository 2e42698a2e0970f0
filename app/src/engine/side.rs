//! What one side of a comparison shows, and its name on the command line, in settings and in the state document.
//!
//! `off`, `reference:N`, or `network` with changes: `history:on|off`, `route:NAME`, `size:WxH`, `model:NAME`, joined by
//! commas, the model last (a path may hold commas). Without any change it is the network as the other controls set it.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum as _;
use network::geometry::{Extent, Geometry};
use network::model::Source;

use crate::cli::args::{self, RouteArg};

/// Samples of a reference that names none.
pub const DEFAULT_SAMPLES: u32 = 64;

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// The frame without the network.
    Off,
    /// The frame through the network.
    Network(Change),
    /// The same instant without the network, with so many samples a pixel.
    Reference(u32),
}

/// In what a side's network differs from the one that the other controls set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Whether it uses its history.
    pub history: Option<bool>,
    /// What computes it.
    pub route: Option<RouteArg>,
    /// Size of its frame.
    pub size: Option<Extent>,
    /// Its weights.
    pub model: Option<Source>,
}

/// The sides at first: the frame without the network against the frame with it.
pub const DEFAULT: [Side; 2] = [Side::Off, Side::NETWORK];

impl Side {
    /// The network as it is set.
    pub const NETWORK: Self = Self::Network(Change { history: None, route: None, size: None, model: None });

    /// What is computed apart from the network as it is set; `None` where nothing is.
    pub fn change(&self) -> Option<&Change> {
        match self {
            Self::Network(change) if *change != Change::default() => Some(change),
            _ => None,
        }
    }

    /// The side in words, for a label on the picture.
    pub fn label(&self) -> String {
        match self {
            Self::Off => "without network".to_owned(),
            Self::Reference(samples) => format!("reference, {samples} samples"),
            Self::Network(change) => {
                let mut text = "with network".to_owned();
                if let Some(history) = change.history {
                    text += if history { ", history on" } else { ", history off" };
                }
                if let Some(route) = change.route {
                    text += &format!(", route {}", route.resolved());
                }
                if let Some(size) = change.size {
                    text += &format!(", {size}");
                }
                if let Some(model) = &change.model {
                    text += &format!(", model {}", short(&model.to_string()));
                }
                text
            }
        }
    }
}

/// The end of a long path.
fn short(name: &str) -> &str {
    name.trim_end_matches('/').rsplit('/').next().unwrap_or(name)
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = match self {
            Self::Off => return f.write_str("off"),
            Self::Reference(samples) => return write!(f, "reference:{samples}"),
            Self::Network(change) => change,
        };
        f.write_str("network")?;
        if let Some(history) = change.history {
            write!(f, ",history:{}", if history { "on" } else { "off" })?;
        }
        if let Some(route) = change.route.as_ref().and_then(RouteArg::to_possible_value) {
            write!(f, ",route:{}", route.get_name())?;
        }
        if let Some(size) = change.size {
            write!(f, ",size:{size}")?;
        }
        if let Some(model) = &change.model {
            write!(f, ",model:{model}")?;
        }
        Ok(())
    }
}

impl FromStr for Side {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            _ if text == "off" => return Ok(Self::Off),
            _ if text == "reference" => return Ok(Self::Reference(DEFAULT_SAMPLES)),
            Some(("reference", samples)) => return args::samples(samples).map(Self::Reference),
            _ => {}
        }
        let mut change = Change::default();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(model) = rest.strip_prefix("model:") {
                change.model = Some(model.parse().map_err(|error| format!("{error}"))?);
                break;
            }
            let (part, after) = rest.split_once(',').unwrap_or((rest, ""));
            rest = after;
            match part.split_once(':') {
                None if part == "network" => {}
                Some(("history", "on")) => change.history = Some(true),
                Some(("history", "off")) => change.history = Some(false),
                Some(("route", name)) => {
                    let route = RouteArg::from_str(name, false).map_err(|_| {
                        let names: Vec<_> =
                            RouteArg::value_variants().iter().filter_map(RouteArg::to_possible_value).collect();
                        let names: Vec<_> = names.iter().map(clap::builder::PossibleValue::get_name).collect();
                        format!("{} is no route; there are {}", messages::quoted(name), names.join(", "))
                    })?;
                    change.route = Some(route);
                }
                Some(("size", size)) => {
                    let size = Geometry::new(args::size(size)?).map_err(|error| error.to_string())?;
                    change.size = Some(size.valid);
                }
                _ => {
                    return Err(format!(
                        "{} is no side; give off, reference[:SAMPLES], or network with history:on|off, route:NAME, \
                         size:WxH, model:NAME, joined by commas",
                        messages::quoted(text)
                    ));
                }
            }
        }
        if text.is_empty() {
            return Err("a side has a name: off, network or reference".to_owned());
        }
        Ok(Self::Network(change))
    }
}

impl serde::Serialize for Side {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Side {
    /// A side that cannot be understood, as one whose model has been moved, is the network as it is set.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(text.parse().unwrap_or(Self::NETWORK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for name in [
            "off",
            "network",
            "reference:256",
            "network,history:off",
            "network,route:cpu",
            "network,size:640x360",
            "network,history:on,route:exact,size:64x64,model:lively:7",
        ] {
            let side: Side = name.parse().unwrap();
            assert_eq!(side.to_string(), name);
        }
        assert_eq!("reference".parse(), Ok(Side::Reference(DEFAULT_SAMPLES)));
        assert_eq!("history:off".parse::<Side>().unwrap().to_string(), "network,history:off");
        assert_eq!("model:identity".parse::<Side>().unwrap().to_string(), "network,model:identity");
        assert_eq!("model:./a,b/c".parse::<Side>().unwrap().label(), "with network, model c");
    }

    #[test]
    fn nonsense_is_refused_in_a_sentence() {
        for (name, word) in [
            ("", "name"),
            ("on", "no side"),
            ("route:quantum", "no route"),
            ("size:28x28", "refused"),
            ("size:0x5", "range"),
            ("reference:0", "at least 1"),
            ("model:livly", "livly"),
            ("history:maybe", "no side"),
        ] {
            let error = name.parse::<Side>().unwrap_err();
            assert!(error.contains(word) && !error.contains('\n'), "{name}: {error}");
        }
    }

    #[test]
    fn only_a_change_is_computed_apart() {
        assert_eq!(Side::Off.change(), None);
        assert_eq!("network".parse::<Side>().unwrap(), Side::NETWORK);
        assert!(Side::NETWORK.change().is_none() && "history:off".parse::<Side>().unwrap().change().is_some());
    }
}
