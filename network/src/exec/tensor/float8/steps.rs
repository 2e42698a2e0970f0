//! The step by itself: sixteen rows times sixteen columns of 32 codes, into sums of every kind.

use std::sync::Arc;

use gpu::{Bind, Buffer, BufferDesc, BufferUsage, ComputePipeline, DescriptorArena, Device, MemoryKind, PipelineDesc};
use serde::Deserialize;

use super::super::super::{ExecError, Kernels};
use super::super::Form;
use super::Tally;
use crate::hostile::Random;
use crate::numerics::multiply::group13;

/// The contract's vectors.
const VECTORS: &str = include_str!("../../../../tests/vectors/f13_step.json");
/// Products of random operands, each 256 sums.
const RANDOM: usize = 192;
/// Bytes of a workgroup's memory in the software model.
const MODEL_MEMORY: usize = 48 << 10;

/// The shader in a form of the route.
pub fn shader(form: Form) -> String {
    format!("network/tensor/f13_step.float8{}", if form.model { "_model" } else { "" })
}

/// One multiplication: rows, columns and sums.
struct Case {
    rows: [[u8; 32]; 16],
    columns: [[u8; 32]; 16],
    sums: [u16; 256],
    /// Results that the vectors name, by row; the same column.
    known: [Option<u16>; 16],
}

impl Case {
    fn empty() -> Self {
        Self { rows: [[0; 32]; 16], columns: [[0; 32]; 16], sums: [0; 256], known: [None; 16] }
    }

    fn want(&self, row: usize, column: usize) -> u16 {
        let (a, b) = (self.rows[row].as_chunks::<16>().0, self.columns[column].as_chunks::<16>().0);
        let half = group13(&a[0], &b[0], self.sums[16 * row + column]);
        group13(&a[1], &b[1], half)
    }
}

#[derive(Deserialize)]
struct Vector {
    a: Vec<String>,
    b: Vec<String>,
    acc: String,
    out: String,
}

#[derive(Deserialize)]
struct Vectors {
    groups: Vec<Vector>,
    k32: Vec<Vector>,
}

fn number(text: &str) -> u16 {
    u16::from_str_radix(text.trim_start_matches("0x"), 16).expect("the vectors are hexadecimal")
}

/// The vectors on the diagonals of multiplications; a vector of one group is followed by a group of zeros, which leaves a
/// sum as it is but for a zero's sign.
fn vectors() -> Vec<Case> {
    let all: Vectors = serde_json::from_str(VECTORS).expect("the vectors are a document of their kind");
    let all: Vec<Vector> = all.groups.into_iter().chain(all.k32).collect();
    let case = |some: &[Vector]| {
        let mut case = Case::empty();
        for (row, vector) in some.iter().enumerate() {
            for (to, from) in [(&mut case.rows[row], &vector.a), (&mut case.columns[row], &vector.b)] {
                to.iter_mut().zip(from).for_each(|(to, code)| *to = number(code) as u8);
            }
            case.sums[17 * row] = number(&vector.acc);
            case.known[row] = Some(number(&vector.out));
        }
        case
    };
    all.chunks(16).map(case).collect()
}

/// Operands of the check.
struct Source(Random);

impl Source {
    /// A code that is no NaN: moderate, any, or mostly a zero of either sign.
    fn code(&mut self, kind: usize) -> u8 {
        let r = self.0.next();
        let magnitude = match kind {
            0 => 24 + (r >> 8) % 44,
            1 => (r >> 8) % 0x7f,
            _ if r.is_multiple_of(7) => (r >> 8) % 0x7f,
            _ => 0,
        };
        (r >> 24) as u8 & 0x80 | magnitude as u8
    }

    /// Any half but NaN.
    fn half(&mut self) -> u16 {
        let h = self.0.next() as u16;
        if h & 0x7fff > 0x7c00 { h & 0xfc00 } else { h }
    }
}

fn random() -> Vec<Case> {
    let random = &mut Source(Random::new(0x9e37_79b9_7f4a_7c15));
    let case = |index: usize| {
        let mut case = Case::empty();
        // The same kind on both sides, or one of each.
        let (a, b) = (index % 3, index / 3 % 3);
        case.rows.as_flattened_mut().iter_mut().for_each(|code| *code = random.code(a));
        case.columns.as_flattened_mut().iter_mut().for_each(|code| *code = random.code(b));
        match index % 4 {
            // All 65536 halves but NaN over 256 cases of this kind, and some every time.
            0 => case.sums.iter_mut().for_each(|sum| *sum = random.half()),
            // Sums about as large as the products.
            1 => case.sums.iter_mut().for_each(|sum| *sum = random.half() & 0xbfff),
            2 => case.sums.iter_mut().for_each(|sum| *sum = random.half() & 0x83ff),
            _ => {}
        }
        case
    };
    (0..RANDOM).map(case).collect()
}

/// Every sum of every case, beside the contract's.
///
/// # Errors
/// Errors of the device.
pub fn tally(kernels: &Kernels, device: &Arc<Device>) -> Result<Tally, ExecError> {
    let form = kernels.form().expect("a route of matrix units");
    let cases: Vec<Case> = vectors().into_iter().chain(random()).collect();
    let results = run(device, form, &cases)?;
    let mut tally = Tally::default();
    for (index, (case, got)) in cases.iter().zip(results.as_chunks::<256>().0).enumerate() {
        for (at, &got) in got.iter().enumerate() {
            let (row, column) = (at / 16, at % 16);
            let want = case.known[row].filter(|_| row == column).unwrap_or_else(|| case.want(row, column));
            // A NaN, which no frame has, need only stay one.
            let nan = |half: u16| half & 0x7fff > 0x7c00;
            tally.count(got == want || (nan(got) && nan(want)), || {
                format!("sum {row},{column} of case {index}: {got:04x}, should be {want:04x}")
            });
        }
    }
    Ok(tally)
}

fn run(device: &Arc<Device>, form: Form, cases: &[Case]) -> Result<Vec<u16>, ExecError> {
    let name = shader(form);
    let shader = shaders::shader(&name).ok_or_else(|| ExecError::MissingShader { shader: name.clone() })?;
    let subgroup_size = (!form.model).then_some(32);
    let pipeline = ComputePipeline::with(device, &PipelineDesc { name: &name, shader, constants: &[], subgroup_size })?;
    let codes = |side: fn(&Case) -> &[[u8; 32]; 16]| -> Vec<u8> {
        cases.iter().flat_map(|case| side(case).as_flattened().iter().copied()).collect()
    };
    let halves: Vec<u8> = cases.iter().flat_map(|case| case.sums).flat_map(u16::to_le_bytes).collect();
    let results = vec![0xcc; halves.len()];
    let mut contents = vec![codes(|case| &case.rows), codes(|case| &case.columns), halves, results];
    if form.model {
        contents.push(vec![0; cases.len() * MODEL_MEMORY]);
    }
    let mut buffers = Vec::new();
    for bytes in &contents {
        let desc = BufferDesc {
            name: "float8 steps",
            size: bytes.len() as u64,
            usage: BufferUsage::STORAGE_BUFFER,
            memory: MemoryKind::Device,
        };
        let buffer = Buffer::new(device, &desc)?;
        device.upload(&buffer, 0, bytes)?;
        buffers.push(buffer);
    }
    let binds: Vec<Bind> = (0..).zip(&buffers).map(|(binding, buffer)| Bind::buffer(binding, buffer)).collect();
    let mut arena = DescriptorArena::new(device, &name, 1)?;
    let set = arena.allocate(&pipeline, &binds)?;
    let groups = [cases.len() as u32, 1, 1];
    device.run_once(&name, |cmd| cmd.dispatch(&pipeline, &set, bytemuck::bytes_of(&0u32), groups))?;
    let bytes = device.download(&buffers[3], 0, buffers[3].size())?;
    Ok(bytes.as_chunks().0.iter().map(|&half| u16::from_le_bytes(half)).collect())
}
