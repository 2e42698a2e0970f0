//! Variants of the multiply kernels: other tiles that give the same bytes. Which is the fastest depends on the device and
//! on the shape of the multiply; [`tune`](super::tune) finds out.

use std::fmt;

use gpu::Device;
use serde::{Deserialize, Serialize};

use super::kernels::{Kernel, Tuning};
use crate::plan::{Gemm, Plan};

/// What a multiply kernel does besides multiplying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Class {
    /// Nothing; K is not partitioned.
    Plain,
    /// It adds the partitions of K itself.
    Parts,
    /// It computes one partition of K a workgroup layer.
    Split,
    /// Window normalisation of QKV rows.
    Normalised,
    /// All that a block of 32 channels does.
    Block,
}

/// What a shape is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A multiply.
    Multiply,
    /// A QKV multiply with the window normalisation behind it.
    Normalised,
    /// A whole block of 32 channels.
    Block,
}

/// Another tile of a form's multiply kernels.
#[derive(PartialEq, Eq, Hash)]
pub struct Variant {
    /// Name within its form.
    pub name: &'static str,
    /// The form it belongs to.
    pub(super) form: Tuning,
    /// Rows and columns of a workgroup; of a block, windows side by side and below each other.
    pub(super) tile: (u32, u32),
    /// It takes so many k at a time.
    step: usize,
    /// Its shaders.
    shaders: &'static [(Class, &'static str)],
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Variant {
    /// The shader of a class, if it has that.
    pub(super) fn shader(&self, class: Class) -> Option<&'static str> {
        self.shaders.iter().find(|(of, _)| *of == class).map(|(_, name)| *name)
    }

    /// The classes that it has.
    pub(super) fn classes(&self) -> impl Iterator<Item = Class> {
        self.shaders.iter().map(|(class, _)| *class)
    }

    /// Whether it can compute a shape.
    pub(super) fn computes(&self, shape: &Shape) -> bool {
        let (columns, step) = (self.tile.1 as usize, self.step);
        self.shader(shape.class(self.form)).is_some()
            && shape.n.is_multiple_of(columns)
            && shape.partition.is_multiple_of(step)
    }

    /// The k that it takes at a time.
    pub(super) fn step(&self) -> usize {
        self.step
    }

    /// Whether a device has the shared memory and the invocations for a class.
    fn runs_on(&self, class: Class, device: &Device) -> bool {
        let limits = &device.caps().limits;
        self.shader(class).and_then(shaders::shader).is_some_and(|shader| {
            shader.info.shared_memory_size <= limits.max_shared_memory
                && shader.info.workgroup_size.iter().product::<u32>() <= limits.max_invocations
        })
    }
}

/// What decides how fast a multiply is in which variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Shape {
    /// Rows of the whole tensor.
    pub rows: u64,
    /// Depth of one matrix.
    pub k: usize,
    /// Columns of one matrix.
    pub n: usize,
    /// Matrices side by side, each with an input of its own.
    pub groups: usize,
    /// Partition of the depth.
    pub partition: usize,
    /// What it is of.
    pub kind: Kind,
}

impl Shape {
    pub(super) fn of(plan: &Plan, gemm: &Gemm, kind: Kind) -> Self {
        let weight = &gemm.weight;
        let (groups, n) = if weight.stacked { (1, weight.n * weight.groups) } else { (weight.groups, weight.n) };
        let rows = plan.tensor(gemm.input).rows() as u64;
        Self { rows, k: weight.k, n, groups, partition: gemm.partition, kind }
    }

    /// The class of kernel that computes it in a form.
    pub(super) fn class(&self, form: Tuning) -> Class {
        match (self.kind, self.partition < self.k, form) {
            (Kind::Block, ..) => Class::Block,
            (Kind::Normalised, ..) => Class::Normalised,
            (_, false, _) => Class::Plain,
            (_, true, Tuning::Matrix | Tuning::Truncating) => Class::Split,
            (_, true, Tuning::Tile | Tuning::Lanes(_)) => Class::Parts,
        }
    }

    /// Multiply-accumulates, of a block those of its first multiply.
    pub fn macs(&self) -> u64 {
        self.rows * (self.k * self.n * self.groups) as u64
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, k, n, groups, partition, kind } = self;
        write!(f, "{rows} rows, {k}x{n}")?;
        if *groups > 1 {
            write!(f, ", {groups} matrices")?;
        }
        if partition < k {
            write!(f, ", partitions of {partition}")?;
        }
        f.write_str(match kind {
            Kind::Multiply => "",
            Kind::Normalised => ", normalised",
            Kind::Block => ", a whole block",
        })
    }
}

/// The variants of a form that can compute a shape on a device, without the one that it takes untuned.
pub(super) fn candidates(form: Tuning, shape: &Shape, untuned: Kernel, device: &Device) -> Vec<&'static Variant> {
    let class = shape.class(form);
    let fits = |variant: &&Variant| {
        variant.form == form
            && variant.computes(shape)
            && variant.runs_on(class, device)
            && variant.shader(class) != untuned.shader(form).as_deref()
    };
    ALL.iter().filter(fits).collect()
}

/// Every kernel of every variant of a form that a device runs.
pub(super) fn kernels(form: Tuning, device: &Device) -> Vec<Kernel> {
    let of = |variant: &'static Variant| {
        let classes = variant.classes().filter(|&class| variant.runs_on(class, device));
        classes.map(move |class| Kernel::Tuned(class, variant)).collect::<Vec<_>>()
    };
    ALL.iter().filter(|variant| variant.form == form).flat_map(of).collect()
}

/// The variant of a form with a name.
pub(super) fn named(form: Tuning, name: &str) -> Option<&'static Variant> {
    ALL.iter().find(|variant| variant.form == form && variant.name == name)
}

macro_rules! matrix {
    ($name:literal, $rows:literal x $columns:literal, $step:literal $(, $class:ident $shader:literal)+) => {
        Variant {
            name: $name,
            form: Tuning::Matrix,
            tile: ($rows, $columns),
            step: $step,
            shaders: &[$((Class::$class, concat!("network/gemm_matrix.", $shader))),+],
        }
    };
}

macro_rules! block {
    ($name:literal, $windows:literal, $shader:literal) => {
        Variant {
            name: $name,
            form: Tuning::Matrix,
            tile: ($windows, 1),
            step: 32,
            shaders: &[(Class::Block, concat!("network/block_matrix.", $shader))],
        }
    };
}

macro_rules! tile {
    ($name:literal, $rows:literal x $columns:literal) => {
        Variant {
            name: $name,
            form: Tuning::Tile,
            tile: ($rows, $columns),
            step: 16,
            shaders: &[(Class::Plain, concat!("network/gemm_tile.", $name))],
        }
    };
}

macro_rules! lanes {
    ($lanes:literal, $name:literal, $rows:literal) => {
        Variant {
            name: $name,
            form: Tuning::Lanes($lanes),
            tile: ($rows, $lanes),
            step: 16,
            shaders: &[
                (Class::Plain, concat!("network/gemm_lanes.", $lanes, "_", $name)),
                (Class::Parts, concat!("network/gemm_lanes.", $lanes, "_", $name)),
            ],
        }
    };
}

/// Every variant of every form.
pub(super) static ALL: &[Variant] = &[
    matrix!("wide", 64 x 64, 32, Plain "wide", Split "split", Normalised "norm_wide"),
    matrix!("small", 32 x 64, 32, Plain "small", Split "split_small", Normalised "norm_small"),
    matrix!("narrow", 128 x 32, 32, Plain "narrow", Normalised "norm_narrow"),
    matrix!("single", 64 x 64, 16, Plain "single", Normalised "norm_single"),
    matrix!("rolled", 64 x 64, 32, Plain "rolled", Split "split_rolled", Normalised "norm_rolled"),
    matrix!("deep", 64 x 64, 64, Plain "deep", Normalised "norm_deep"),
    matrix!("short", 32 x 64, 32, Plain "short", Split "split_short", Normalised "norm_short"),
    matrix!("tiny", 32 x 32, 32, Plain "tiny", Split "split_tiny"),
    matrix!("tall", 128 x 64, 32, Plain "tall", Split "split_tall", Normalised "norm_tall"),
    matrix!("tallroll", 128 x 64, 32, Plain "tallroll", Normalised "norm_tallroll"),
    matrix!("broad", 64 x 128, 32, Plain "broad", Normalised "norm_broad"),
    matrix!("heavy", 64 x 128, 32, Plain "heavy"),
    matrix!("square", 128 x 128, 16, Plain "square"),
    block!("lone", 1, "single"),
    block!("pair", 1, "pair"),
    block!("twin", 2, "twin"),
    block!("twinpair", 2, "twinpair"),
    tile!("narrow", 128 x 32),
    tile!("low", 32 x 64),
    tile!("flat", 64 x 32),
    tile!("tall", 128 x 64),
    lanes!(4, "rows8", 8),
    lanes!(4, "rows16", 16),
    lanes!(8, "rows8", 8),
    lanes!(8, "rows16", 16),
    lanes!(16, "rows16", 16),
    lanes!(8, "even16", 16),
    lanes!(8, "even32", 32),
    lanes!(16, "even32", 32),
];

/// The tiles of the matrix form on plain arithmetic, which any device runs.
#[cfg(test)]
pub(super) static MODELS: &[Variant] = &[
    matrix!("wide", 64 x 64, 32, Plain "model_wide"),
    matrix!("small", 32 x 64, 32, Plain "model_small", Normalised "model_norm_small"),
    matrix!("narrow", 128 x 32, 32, Plain "model_narrow", Normalised "model_norm_narrow"),
    matrix!("single", 64 x 64, 16, Plain "model_single"),
    matrix!("deep", 64 x 64, 64, Plain "model_deep"),
    matrix!("tiny", 32 x 32, 32, Plain "model_tiny", Split "model_split_tiny"),
    matrix!("tall", 128 x 64, 32, Plain "model_tall", Split "model_split_tall", Normalised "model_norm_tall"),
    matrix!("broad", 64 x 128, 32, Plain "model_broad", Normalised "model_norm_broad"),
    matrix!("heavy", 64 x 128, 32, Plain "model_heavy"),
    matrix!("square", 128 x 128, 16, Plain "model_square"),
    block!("single", 1, "model_single"),
    block!("pair", 1, "model_pair"),
    block!("twin", 2, "model_twin"),
    block!("twinpair", 2, "model_twinpair"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_have_names_and_shaders_that_cover_their_tiles() {
        for (i, variant) in ALL.iter().enumerate() {
            assert_eq!(ALL.iter().position(|v| v.form == variant.form && v.name == variant.name), Some(i));
        }
        for variant in ALL.iter().chain(MODELS) {
            for class in variant.classes() {
                let name = variant.shader(class).unwrap();
                let shader = shaders::shader(name).unwrap_or_else(|| panic!("{name}"));
                assert!(shader.info.shared_memory_size <= 48 << 10, "{name}");
                let columns = variant.tile.1;
                assert!(class != Class::Normalised || columns % 32 == 0, "{name}");
            }
        }
    }
}
