//! The registry of what was certified: exact rows, no wildcards.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::ReplayRoute;
use super::identity::TapeIdentity;

/// What runs, as far as admission is concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// Name of the device.
    pub device: String,
    /// Name and version of the driver.
    pub driver: String,
    /// Digest of the weights.
    pub model: String,
    /// Class of sizes: the field that a frame is padded to, `WIDTHxHEIGHT`.
    pub extent: String,
}

/// One certified case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Row {
    /// Name of the device.
    pub device: String,
    /// Name and version of the driver.
    pub driver: String,
    /// Digest of the weights.
    pub model: String,
    /// Field, `WIDTHxHEIGHT`.
    pub extent: String,
    /// The route that was certified.
    pub route: ReplayRoute,
    /// Digest of the tape's identity.
    pub tape: String,
    /// SHA-256 of the certification report.
    pub report: String,
}

/// Why no row admits a frame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// No row comes near.
    #[error("no registry row is for device {device}; name the route to opt in")]
    UnknownDevice {
        /// The device.
        device: String,
    },
    /// The nearest row differs.
    #[error(
        "no registry row admits this: {field} is {}, the nearest row has {}",
        messages::shortened(got),
        messages::shortened(want)
    )]
    Mismatch {
        /// The first field that differs.
        field: &'static str,
        /// What runs.
        got: String,
        /// What was certified.
        want: String,
    },
}

/// All certified cases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Registry {
    /// The rows.
    pub rows: Vec<Row>,
}

impl Registry {
    /// Reads a registry. Every field of a row must say something definite.
    ///
    /// # Errors
    /// The text is no registry, a field is missing, unknown, empty or a wildcard, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let registry: Self =
            serde_json::from_str(text).map_err(|error| format!("admissions: {}", messages::shortened(&error)))?;
        for (i, row) in registry.rows.iter().enumerate() {
            let named = [
                ("device", &row.device),
                ("driver", &row.driver),
                ("model", &row.model),
                ("extent", &row.extent),
                ("tape", &row.tape),
                ("report", &row.report),
            ];
            for (name, value) in named {
                if value.is_empty() || value.contains('*') || value.eq_ignore_ascii_case("any") {
                    return Err(format!("admissions: row {i}: {name} {} is not exact", messages::quoted(value)));
                }
            }
            if !row.route.is_retained() {
                return Err(format!("admissions: row {i}: the direct route needs no row"));
            }
        }
        Ok(registry)
    }

    /// Whether a row admits a subject on a route. Without an identity the tape is not compared yet.
    ///
    /// # Errors
    /// [`Refusal`] with the first field in which the nearest row differs.
    pub fn admit(&self, subject: &Subject, route: ReplayRoute, identity: Option<&TapeIdentity>) -> Result<(), Refusal> {
        let tape = identity.map(TapeIdentity::digest);
        let mut nearest: Option<(usize, Refusal)> = None;
        for row in &self.rows {
            let fields = [
                ("device", subject.device.as_str(), row.device.as_str()),
                ("driver", &subject.driver, &row.driver),
                ("model", &subject.model, &row.model),
                ("extent class", &subject.extent, &row.extent),
                ("route", route.name(), row.route.name()),
                ("tape", tape.as_deref().unwrap_or(&row.tape), &row.tape),
            ];
            let Some(at) = fields.iter().position(|(_, got, want)| got != want) else { return Ok(()) };
            let (field, got, want) = fields[at];
            if at > 0 && nearest.as_ref().is_none_or(|(depth, _)| at > *depth) {
                let refusal = Refusal::Mismatch { field, got: got.to_owned(), want: want.to_owned() };
                nearest = Some((at, refusal));
            }
        }
        Err(nearest.map_or(Refusal::UnknownDevice { device: subject.device.clone() }, |(_, refusal)| refusal))
    }

    /// The retained route that some row has for a subject, if any.
    pub fn route_for(&self, subject: &Subject) -> Option<ReplayRoute> {
        self.rows.iter().map(|row| row.route).find(|&route| self.admit(subject, route, None).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::super::identity::tests::tape;
    use super::*;

    pub(crate) fn case() -> (Registry, Subject, TapeIdentity) {
        let identity = TapeIdentity::of(&tape());
        let subject = Subject {
            device: "Device A".into(),
            driver: "driver 1.2".into(),
            model: "ab".repeat(32),
            extent: "384x192".into(),
        };
        let row = Row {
            device: subject.device.clone(),
            driver: subject.driver.clone(),
            model: subject.model.clone(),
            extent: subject.extent.clone(),
            route: ReplayRoute::Primary,
            tape: identity.digest(),
            report: "cd".repeat(32),
        };
        (Registry { rows: vec![row] }, subject, identity)
    }

    #[test]
    fn any_mismatch_is_refused_by_name() {
        let (registry, subject, identity) = case();
        let admit = |s: &Subject, route, i: &TapeIdentity| registry.admit(s, route, Some(i));
        assert_eq!(admit(&subject, ReplayRoute::Primary, &identity), Ok(()));
        assert_eq!(registry.route_for(&subject), Some(ReplayRoute::Primary));
        let other = |change: fn(&mut Subject)| {
            let mut other = subject.clone();
            change(&mut other);
            admit(&other, ReplayRoute::Primary, &identity).unwrap_err().to_string()
        };
        assert!(other(|s| s.device.push('!')).contains("no registry row is for device Device A!"));
        assert!(other(|s| s.driver = "driver 1.3".into()).contains("driver is driver 1.3"));
        assert!(other(|s| s.model = "00".repeat(32)).contains("model is 00"));
        assert!(other(|s| s.extent = "1920x1088".into()).contains("extent class is 1920x1088"));
        let route = admit(&subject, ReplayRoute::Secondary, &identity).unwrap_err().to_string();
        assert!(route.contains("route is secondary, the nearest row has primary"), "{route}");
        let moved = TapeIdentity { dispatches: 3, ..identity.clone() };
        assert!(admit(&subject, ReplayRoute::Primary, &moved).unwrap_err().to_string().contains("tape is "));
        assert!(Registry::default().admit(&subject, ReplayRoute::Primary, None).is_err());
    }

    #[test]
    fn rows_are_exact() {
        let (registry, ..) = case();
        let text = serde_json::to_string(&registry).unwrap();
        assert_eq!(Registry::parse(&text), Ok(registry));
        for (from, to) in [("Device A", "*"), ("driver 1.2", ""), ("384x192", "any"), ("\"primary\"", "\"direct\"")] {
            assert!(Registry::parse(&text.replace(from, to)).is_err(), "{from} -> {to}");
        }
        assert!(Registry::parse(&text.replace("\"tape\"", "\"tapes\"")).is_err());
    }
}
