//! Value types of the command line, checked while it is parsed.

use std::str::FromStr;

use messages::{quoted, shortened};
use network::frame::Style;
use network::geometry::{Extent, MAX_SIDE};

/// Parses `WIDTHxHEIGHT`, both 1 to [`MAX_SIDE`].
pub fn size(text: &str) -> Result<Extent, String> {
    let form = || format!("{} is not a size; write WIDTHxHEIGHT in pixels, such as 640x360", quoted(text));
    let (width, height) = text.split_once(['x', 'X']).ok_or_else(form)?;
    let side = |side: &str| {
        let value = u64::from_str(side.trim()).map_err(|_| form())?;
        match u32::try_from(value) {
            Ok(value) if (1..=MAX_SIDE).contains(&value) => Ok(value),
            _ => Err(format!("{} is out of range; each side is 1 to {MAX_SIDE} pixels", quoted(text))),
        }
    };
    Ok(Extent::new(side(width)?, side(height)?))
}

/// Parses a finite number that a half can hold.
pub fn finite(text: &str) -> Result<f32, String> {
    let value = f32::from_str(text).map_err(|_| format!("{} is not a number", quoted(text)))?;
    if value.is_finite() && value.abs() <= 65504.0 {
        Ok(value)
    } else {
        Err(format!("{} is not a finite number up to 65504", shortened(text)))
    }
}

/// Parses a count of at least one.
pub fn count(text: &str) -> Result<u32, String> {
    match u32::from_str(text) {
        Ok(value) if value >= 1 => Ok(value),
        Ok(_) => Err("at least 1 is needed".to_owned()),
        Err(_) => Err(format!("{} is not a whole number of at least 1", quoted(text))),
    }
}

/// Parses `FIRST..END`, a range of frames with at least one.
pub fn range(text: &str) -> Result<std::ops::Range<u32>, String> {
    let form = || format!("{} is not a range of frames; write FIRST..END, such as 3..8", quoted(text));
    let (first, end) = text.split_once("..").ok_or_else(form)?;
    let number = |text: &str| u32::from_str(text.trim()).map_err(|_| form());
    let range = number(first)?..number(end)?;
    if range.is_empty() { Err(format!("{} holds no frame", quoted(text))) } else { Ok(range) }
}

/// Parses pixels per degree of visual angle, 1 to 400.
pub fn pixels_per_degree(text: &str) -> Result<f32, String> {
    match finite(text)? {
        value if (1.0..=400.0).contains(&value) => Ok(value),
        value => Err(format!("{value} pixels per degree are out of range; 1 to 400")),
    }
}

/// Parses frames a second, 0.01 to 1000.
pub fn rate(text: &str) -> Result<f64, String> {
    match f64::from_str(text) {
        Ok(value) if (0.01..=1000.0).contains(&value) => Ok(value),
        _ => Err(format!("{} is no number of frames a second from 0.01 to 1000", quoted(text))),
    }
}

/// Parses a count of at least one and at most 4096, the most samples a pixel can accumulate.
pub fn samples(text: &str) -> Result<u32, String> {
    match count(text)? {
        value @ 1..=4096 => Ok(value),
        value => Err(format!("{value} samples are too many; at most 4096")),
    }
}

/// Where the network runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum RouteArg {
    /// The fastest route on a Vulkan device that `--quality` allows.
    #[default]
    Auto,
    /// Portable compute kernels, bit for bit the arithmetic contract.
    Exact,
    /// Matrix units that multiply halves: fast, near the contract, not bit for bit.
    Tensor,
    /// Matrix units that multiply E4M3 codes: bit for bit where the device is found to do the contract's step. Not yet run on
    /// hardware.
    Float8,
    /// The reference interpreter on the CPU: the network needs no device.
    Cpu,
}

/// What `--route auto` may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Quality {
    /// Only routes that give the contract's bits.
    Exact,
    /// Also routes that only come near them; `nrview parity --route tensor` says how near.
    Fast,
}

impl RouteArg {
    /// The route where the scene needs a device in any case.
    pub fn on_device(self) -> Self {
        if self == Self::Cpu { Self::Exact } else { self }
    }

    /// The route where every tensor is to be kept: `auto` takes one that runs single operations.
    pub fn keeping(self, all: bool) -> Self {
        if all && self == Self::Auto { Self::Exact } else { self }
    }

    /// The name in tables and JSON; of `auto`, that of the route that exact quality takes.
    pub fn resolved(self) -> &'static str {
        match self {
            Self::Auto | Self::Exact => "exact",
            Self::Tensor => "tensor",
            Self::Float8 => "float8",
            Self::Cpu => "cpu",
        }
    }
}

/// Parses a style by name or number.
pub fn style(text: &str) -> Result<Style, String> {
    match text {
        "0" | "off" => Ok(Style::Off),
        "1" | "natural" => Ok(Style::Natural),
        "2" | "cinematic" => Ok(Style::Cinematic),
        _ => Err(format!("{} is no style; give off, natural or cinematic (or 0, 1, 2)", quoted(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("640x360"), Ok(Extent::new(640, 360)));
        assert_eq!(size("33X1"), Ok(Extent::new(33, 1)));
        for bad in [
            "",
            "x",
            "640",
            "640x",
            "-1x5",
            "0x0",
            "0x5",
            "5x0",
            "1e3x5",
            "NaNxNaN",
            "99999x1",
            "99999999999999999999x1",
        ] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert!(size("0x5").is_err_and(|m| m.contains("1 to 16384")));
    }

    #[test]
    fn numbers() {
        assert_eq!(finite("-0.5"), Ok(-0.5));
        for bad in ["NaN", "inf", "-inf", "1e9", "", "x"] {
            assert!(finite(bad).is_err(), "{bad}");
        }
        assert!(count("0").is_err() && count("-1").is_err() && count("3") == Ok(3));
        assert!(samples("5000").is_err());
    }

    #[test]
    fn ranges() {
        assert_eq!(range("3..8"), Ok(3..8));
        for bad in ["", "3", "3..", "..8", "8..3", "3..3", "-1..2"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn styles() {
        assert_eq!(style("cinematic"), Ok(Style::Cinematic));
        assert!(style("3").is_err());
    }
}
