//! Errors of fixtures.

use std::io;
use std::path::PathBuf;

use crate::geometry::{Extent, GeometryError};

/// Why a fixture cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FixtureError {
    /// The directory holds neither `manifest.json` nor `fixture.json`.
    #[error("{path} is not a fixture: it holds neither manifest.json nor fixture.json", path = .0.display())]
    NotAFixture(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The manifest is not JSON.
    #[error("{path} is not JSON: {problem}", path = path.display(), problem = messages::shortened(problem))]
    NotJson {
        /// The manifest.
        path: PathBuf,
        /// What the parser said.
        problem: String,
    },
    /// The fixture is refused; every problem is listed.
    #[error("fixture {path} is refused:{list}", path = path.display(), list = messages::lines(problems))]
    Invalid {
        /// The fixture's directory.
        path: PathBuf,
        /// All problems.
        problems: Vec<Problem>,
    },
}

/// One thing that is wrong with a fixture (fixtures section 2).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A key is absent.
    #[error("{0} is missing")]
    Missing(String),
    /// A key has a value of the wrong kind.
    #[error("{key} {problem}")]
    Malformed {
        /// The key.
        key: String,
        /// What is wrong.
        problem: String,
    },
    /// The network refuses the size.
    #[error("sourceDimensions: {0}")]
    RefusedSize(GeometryError),
    /// The field is not the one that the geometry rule gives.
    #[error("fixture disagrees with the geometry: {key} is {found}, the rule gives {expected}")]
    Geometry {
        /// The key.
        key: String,
        /// The fixture's size.
        found: Extent,
        /// The rule's size.
        expected: Extent,
    },
    /// Not exactly one of `proxy` and `inputFeatures`.
    #[error("exactly one of proxy and inputFeatures must be given, {0}")]
    Input(&'static str),
    /// `checks` is empty, or has an unknown or repeated entry.
    #[error("checks {0}")]
    Checks(String),
    /// A declared check has no reference.
    #[error("the check {check:?} is declared, but {key} is missing")]
    CheckWithoutReference {
        /// The check.
        check: &'static str,
        /// The absent key.
        key: &'static str,
    },
    /// A reference is there without its check.
    #[error("{key} is given, but the check {check:?} is not declared")]
    ReferenceWithoutCheck {
        /// The check.
        check: &'static str,
        /// The key.
        key: &'static str,
    },
    /// A file cannot be read.
    #[error("{key}: cannot read {path}: {problem}", path = path.display())]
    Unreadable {
        /// What names the file.
        key: String,
        /// The file.
        path: PathBuf,
        /// What the system said.
        problem: String,
    },
    /// A file's size differs from its shape.
    #[error("{key}: {path} has {found} bytes, its shape needs {expected}", path = path.display())]
    FileSize {
        /// What names the file.
        key: String,
        /// The file.
        path: PathBuf,
        /// Bytes in it.
        found: u64,
        /// Bytes of the shape.
        expected: u64,
    },
    /// The content differs from its digest.
    #[error("{key}: SHA-256 mismatch, the data is damaged")]
    Digest {
        /// What names the data.
        key: String,
    },
    /// A boundary is listed twice.
    #[error("boundary {0} is listed twice")]
    BoundaryTwice(String),
    /// A boundary is unknown to the graph.
    #[error("boundary {0} is unknown to the graph")]
    UnknownBoundary(String),
    /// A boundary has another shape than its level.
    #[error("boundary {name} is {found}, its level is {expected}")]
    BoundaryShape {
        /// The boundary.
        name: String,
        /// Shape in the fixture.
        found: String,
        /// Shape of its level.
        expected: String,
    },
    /// A boundary is both compared and omitted.
    #[error("boundary {0} is both compared and omitted")]
    ComparedAndOmitted(String),
    /// A boundary is omitted without a reason.
    #[error("boundary {0} is omitted without a reason")]
    OmittedWithoutReason(String),
    /// A boundary is neither compared nor omitted.
    #[error("boundary {0} is neither compared nor omitted")]
    Uncovered(String),
    /// The output has another size than the source.
    #[error("nativeOutput is {found}, the source is {expected}")]
    OutputSize {
        /// Size of the output.
        found: Extent,
        /// Size of the source.
        expected: Extent,
    },
    /// The output's dtype is neither `f32` nor `u8`.
    #[error("nativeOutput.dtype is {0:?}, only \"f32\" and \"u8\" are known")]
    OutputType(String),
    /// An f32 output needs the proxy.
    #[error("an f32 nativeOutput needs a proxy")]
    OutputWithoutProxy,
}
