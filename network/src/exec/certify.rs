//! Whether the truncating kernels give the bytes of the plain ones on this device and driver.
//!
//! They rely on float controls and on the device's own half arithmetic, which no specification pins down to the bit. Every
//! kernel therefore runs once on small hostile operands (all codes, infinities, subnormals, zeros of both signs, NaN codes,
//! every half as a sum) beside its plain form, before anything depends on it.

use std::fmt;
use std::sync::Arc;

use gpu::{Bind, Buffer, BufferDesc, BufferUsage, CommandBuffer, DescriptorArena, MemoryKind};

use super::ExecError;
use super::kernels::{Kernel, Kernels, Tuning};
use super::variants::Class;
use crate::hostile::{Filling, Random, bytes};

/// The first byte in which two forms differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    kernel: Kernel,
    case: usize,
    output: usize,
    byte: usize,
    got: u8,
    want: u8,
}

impl Difference {
    /// The kernel that differs.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, case, output, byte, got, want } = self;
        write!(f, "{kernel:?} case {case}: byte {byte} of output {output} is {got:02x}, should be {want:02x}")
    }
}

/// One dispatch of a case: kernel, buffers by binding, push constants, workgroups.
type Dispatch = (Kernel, Vec<usize>, Vec<u32>, [u32; 3]);

/// Buffers of a case (contents of inputs, sizes of outputs) and what either form dispatches on them.
struct Case {
    kernel: Kernel,
    inputs: Vec<Vec<u8>>,
    /// Bytes of the buffers behind the inputs.
    outputs: Vec<usize>,
    /// Outputs that are compared; the others are scratch.
    compared: usize,
    plain: Vec<Dispatch>,
    truncating: Vec<Dispatch>,
}

impl Case {
    fn run(&self, kernels: &Kernels, dispatches: &[Dispatch]) -> Result<Vec<Vec<u8>>, ExecError> {
        let device = kernels.device();
        let buffer = |size: usize| {
            let desc = BufferDesc {
                name: "certification",
                size: size as u64,
                usage: BufferUsage::STORAGE_BUFFER,
                memory: MemoryKind::Device,
            };
            Buffer::new(device, &desc)
        };
        let mut buffers = Vec::new();
        for bytes in self.inputs.iter().cloned().chain(self.outputs.iter().map(|&size| vec![0xcc; size])) {
            let to = buffer(bytes.len())?;
            device.upload(&to, 0, &bytes)?;
            buffers.push(to);
        }
        let mut arena = DescriptorArena::new(device, "certification", dispatches.len() as u32)?;
        let mut sets = Vec::new();
        for (kernel, bound, ..) in dispatches {
            let binds: Vec<Bind> = (0..).zip(bound).map(|(binding, &b)| Bind::buffer(binding, &buffers[b])).collect();
            sets.push(arena.allocate(kernels.pipeline(*kernel), &binds)?);
        }
        device.run_once("certification", |cmd: &mut CommandBuffer| {
            for ((kernel, _, push, groups), set) in dispatches.iter().zip(&sets) {
                cmd.dispatch(kernels.pipeline(*kernel), set, bytemuck::cast_slice(push), *groups);
                cmd.compute_barrier();
            }
        })?;
        let first = self.inputs.len();
        let read = |i: usize| Ok(device.download(&buffers[first + i], 0, self.outputs[i] as u64)?);
        (0..self.compared).map(read).collect()
    }
}

/// A multiply of `rows` rows; `flags` as in the shaders.
struct Multiply {
    kernel: Kernel,
    rows: usize,
    k: usize,
    n: usize,
    groups: usize,
    partition: usize,
    flags: u32,
    codes: Filling,
}

const SILU: u32 = 1;
const SEED_CODE: u32 = 2;
const SEED_HALF: u32 = 4;
const BOTH: u32 = 8 | 16;

impl Multiply {
    fn case(&self, plain: &Kernels, truncating: &Kernels, random: &mut Random) -> Case {
        let Self { kernel, rows, k, n, groups, partition, flags, codes } = *self;
        let (channels, parts) = (n * groups, k / partition);
        let seeds = if flags & SEED_CODE != 0 {
            random.codes(rows * channels, Filling::Wild)
        } else {
            bytes(&random.every_half(rows * channels))
        };
        // Scales that keep every half, and some that do not.
        let scales = (0..channels).flat_map(|c| [0x3c00u16, 0x3c00, 0xb800, 0x0123][c % 4].to_le_bytes()).collect();
        let inputs = vec![random.codes(rows * k * groups, codes), random.weights(k * channels, codes), scales, seeds];
        let push = |n: usize| {
            let input = k * groups / 16;
            let group = if groups > 1 { k / 16 } else { 0 };
            [rows, k / 16, n, channels, input, group, partition / 16, flags as usize].map(|v| v as u32).to_vec()
        };
        let bound = vec![0, 1, 2, 3, 4, 5];
        let layers = |kernels: &Kernels, kernel: Kernel, layers: usize| {
            let (tile_rows, tile_columns) = kernels.tiles().gemm_tile(kernel);
            [channels as u32 / tile_columns, (rows as u32).div_ceil(tile_rows), layers as u32]
        };
        let like = match kernel {
            Kernel::GemmSplit | Kernel::GemmSplitSmall | Kernel::GemmSplitTiny => Kernel::GemmParts,
            Kernel::GemmBrief | Kernel::GemmSmall | Kernel::GemmTiny => Kernel::GemmWide,
            Kernel::Tuned(Class::Split | Class::Parts, _) => Kernel::GemmParts,
            Kernel::Tuned(..) if n.is_multiple_of(64) => Kernel::GemmWide,
            Kernel::Tuned(..) => Kernel::GemmNarrow,
            other => other,
        };
        let reference = vec![(like, bound.clone(), push(n), layers(plain, like, 1))];
        let groups = layers(truncating, kernel, parts);
        let tested = if kernel.is_split() {
            let join = [(rows * channels / 4).div_ceil(64) as u32, 1, 1];
            vec![
                (kernel, vec![0, 1, 2, 3, 6, 5], push(n), groups),
                (Kernel::GemmJoin, vec![6, 1, 2, 3, 4, 5], push(parts), join),
            ]
        } else {
            vec![(kernel, bound, push(n), groups)]
        };
        let outputs = vec![rows * channels * 2, rows * channels, rows * channels * 2 * parts];
        Case { kernel, inputs, outputs, compared: 2, plain: reference, truncating: tested }
    }

    /// A QKV multiply with the normalisation behind it.
    fn normalised(&self, plain: &Kernels, truncating: &Kernels, random: &mut Random) -> Case {
        let Self { rows, n, kernel, .. } = *self;
        let like = if n.is_multiple_of(64) { Kernel::GemmWide } else { Kernel::GemmNarrow };
        let mut case = Multiply { kernel: like, flags: 8, ..*self }.case(plain, truncating, random);
        let heads = n / 96;
        case.inputs[2] = (0..heads).flat_map(|h| [0x3c00u32, 0x2e66, 0x4500][h % 3].to_le_bytes()).collect();
        // The plain codes go where the multiply's codes would; its raw halves are the third output.
        case.plain[0].1 = vec![0, 1, 3, 3, 6, 6];
        let threads = (rows * heads).div_ceil(64) as u32;
        case.plain.push((Kernel::NormaliseWindow, vec![6, 2, 5], vec![rows as u32, heads as u32], [threads, 1, 1]));
        let (tile_rows, tile_columns) = truncating.tiles().gemm_tile(kernel);
        let groups = [n as u32 / tile_columns, (rows as u32).div_ceil(tile_rows), 1];
        let mut push = case.truncating[0].2.clone();
        push[7] = 16;
        case.truncating = vec![(kernel, vec![0, 1, 2, 3, 5, 5], push, groups)];
        case.kernel = kernel;
        case
    }
}

fn attention(window: bool, codes: Filling, random: &mut Random) -> Case {
    const HEADS: usize = 3;
    const WIDTH: usize = 20;
    const HEIGHT: usize = 12;
    let tokens = WIDTH * HEIGHT;
    let rows = random.codes(tokens * HEADS * 96, codes);
    let (heads, width, height) = (HEADS as u32, WIDTH as u32, HEIGHT as u32);
    let (kernel, inputs, bound, push, groups) = if window {
        let prior = bytes(&random.every_half(HEADS * 4096));
        let push = vec![heads, 1, width, height, 0, 0];
        (Kernel::WindowAttention, vec![rows, prior], vec![0, 2, 1], push, [3 * heads, 2, 1])
    } else {
        let groups = (tokens as u32).div_ceil(64);
        let push = vec![heads, tokens as u32, groups * 64, 0];
        (Kernel::VitAttention, vec![rows], vec![0, 1], push, [groups, heads, 1])
    };
    let dispatch = vec![(kernel, bound, push, groups)];
    let outputs = vec![tokens * HEADS * 32];
    Case { kernel, inputs, outputs, compared: 1, plain: dispatch.clone(), truncating: dispatch }
}

/// A block of 32 channels beside its operations one by one.
fn block(
    kernel: Kernel,
    (phase, seed_codes, codes): (u32, bool, Filling),
    (plain, tested): (&Kernels, &Kernels),
    random: &mut Random,
) -> Case {
    const WIDTH: usize = 20;
    const HEIGHT: usize = 12;
    let tokens = WIDTH * HEIGHT;
    let scales = || (0..32).flat_map(|c| [0x3c00u16, 0x3a00, 0xb800, 0x0123][c % 4].to_le_bytes()).collect();
    let skip =
        if seed_codes { random.codes(tokens * 32, Filling::Wild) } else { bytes(&random.every_half(tokens * 32)) };
    let inputs = vec![
        random.codes(tokens * 32, codes),
        random.weights(32 * 128, codes),
        random.weights(128 * 32, codes),
        random.weights(32 * 96, codes),
        random.weights(32 * 32, codes),
        scales(),
        scales(),
        0x3c66u32.to_le_bytes().to_vec(),
        bytes(&random.every_half(4096)),
        skip,
    ];
    // Half and code of the block; then hidden channels, half and code of the FFN, raw and normalised QKV, attended.
    let outputs = [64, 32, 128, 64, 32, 192, 96, 32].map(|bytes| tokens * bytes).to_vec();
    let [half, code, hidden, ffn_half, ffn, raw, qkv, attended] = [10, 11, 12, 13, 14, 15, 16, 17];
    let (rows, width, height) = (tokens as u32, WIDTH as u32, HEIGHT as u32);
    let push = |k: u32, n: u32, flags| vec![rows, k / 16, n, n, k / 16, 0, k / 16, flags];
    let multiply = |kernel, bound: [usize; 6], k: u32, n: u32, flags| {
        let (tile_rows, tile_columns) = plain.tiles().gemm_tile(kernel);
        (kernel, bound.to_vec(), push(k, n, flags), [n / tile_columns, rows.div_ceil(tile_rows), 1])
    };
    // 20 x 12 tokens, shifted or not.
    let (columns, lines) = (3, 2);
    let windows = [columns * (64 / plain.tiles().window_queries()), lines, 1];
    let seed = if seed_codes { SEED_CODE } else { SEED_HALF };
    let (wide, narrow) = (Kernel::GemmWide, Kernel::GemmNarrow);
    let plain = vec![
        multiply(wide, [0, 1, 5, 9, raw, hidden], 32, 128, SILU | 16),
        multiply(narrow, [hidden, 2, 5, 9, ffn_half, ffn], 128, 32, seed | BOTH),
        multiply(narrow, [ffn, 3, 5, 9, raw, qkv], 32, 96, 8),
        (Kernel::NormaliseWindow, vec![raw, 7, qkv], vec![rows, 1], [rows.div_ceil(64), 1, 1]),
        (Kernel::WindowAttention, vec![qkv, attended, 8], vec![1, phase, width, height, 0, 0], windows),
        multiply(narrow, [attended, 4, 6, ffn_half, half, code], 32, 32, SEED_HALF | BOTH),
    ];
    let bound = vec![0, code, 8, 1, 2, 3, 4, 5, 6, 7, 9, half];
    let across = columns.div_ceil(tested.tiles().block_windows(kernel));
    let fused = vec![(kernel, bound, vec![1, phase, width, height, 0, 0, seed | BOTH], [across, lines, 1])];
    Case { kernel, inputs, outputs, compared: 2, plain, truncating: fused }
}

/// Every case, for kernels of either form.
fn cases(plain: &Kernels, truncating: &Kernels) -> Vec<Case> {
    let random = &mut Random::new(0x9e37_79b9_7f4a_7c15);
    let all = [Filling::Usual, Filling::Wild, Filling::Sparse];
    let mut cases = Vec::new();
    let shape =
        |kernel, n, groups, flags, codes| Multiply { kernel, rows: 300, k: 64, n, groups, partition: 64, flags, codes };
    for codes in all {
        for multiply in [
            shape(Kernel::GemmNarrow, 96, 1, BOTH, codes),
            shape(Kernel::GemmNarrow, 32, 2, SEED_HALF | BOTH, codes),
            shape(Kernel::GemmWide, 128, 1, SEED_CODE | SILU | BOTH, codes),
            shape(Kernel::GemmWide, 64, 2, SEED_HALF | BOTH, codes),
            Multiply { k: 128, partition: 64, ..shape(Kernel::GemmSplit, 64, 1, SEED_CODE | SILU | BOTH, codes) },
            Multiply { k: 32, partition: 32, ..shape(Kernel::GemmNarrow, 32, 1, BOTH, codes) },
        ] {
            cases.push(multiply.case(plain, truncating, random));
        }
        cases.push(shape(Kernel::QkvNarrow, 96, 1, 0, codes).normalised(plain, truncating, random));
        cases.push(shape(Kernel::QkvWide, 192, 1, 0, codes).normalised(plain, truncating, random));
        if truncating.tuning() == Tuning::Matrix {
            for multiply in [
                shape(Kernel::GemmSmall, 64, 2, SEED_HALF | SILU | BOTH, codes),
                shape(Kernel::GemmBrief, 64, 2, SEED_HALF | SILU | BOTH, codes),
                shape(Kernel::GemmTiny, 64, 2, SEED_CODE | BOTH, codes),
                Multiply { k: 128, partition: 64, ..shape(Kernel::GemmSplitSmall, 64, 1, SEED_CODE | BOTH, codes) },
                Multiply { k: 128, partition: 64, ..shape(Kernel::GemmSplitTiny, 64, 1, SEED_HALF | BOTH, codes) },
            ] {
                cases.push(multiply.case(plain, truncating, random));
            }
            for kernel in [Kernel::QkvSmall, Kernel::QkvBrief] {
                cases.push(shape(kernel, 192, 1, 0, codes).normalised(plain, truncating, random));
            }
            for (phase, seed_codes) in [(0, true), (1, false), (2, true), (3, false)] {
                cases.push(block(Kernel::Block, (phase, seed_codes, codes), (plain, truncating), random));
            }
        }
        cases.push(attention(true, codes, random));
        cases.push(attention(false, codes, random));
    }
    // Every half as a sum, published in each way, and added in the join.
    for (kernel, flags) in [
        (Kernel::GemmWide, SEED_HALF | SILU | BOTH),
        (Kernel::GemmNarrow, SEED_HALF | BOTH),
        (Kernel::GemmSplit, SEED_HALF | SILU | BOTH),
    ] {
        let (n, rows) = if kernel == Kernel::GemmNarrow { (32, 4096) } else { (64, 4096) };
        let k = if kernel == Kernel::GemmSplit { 64 } else { 32 };
        let multiply = Multiply { kernel, rows, k, n, groups: 1, partition: 32, flags, codes: Filling::Zero };
        cases.push(multiply.case(plain, truncating, random));
    }
    cases
}

/// Cases of a multiply with another tile.
fn variant_cases(kernel: Kernel, plain: &Kernels, tested: &Kernels) -> Vec<Case> {
    let Kernel::Tuned(class, variant) = kernel else { return Vec::new() };
    let random = &mut Random::new(0x0123_4567_89ab_cdef);
    let columns = variant.tile.1 as usize;
    let depth = 2 * variant.step().max(32);
    let shape = |n, groups, flags, codes| {
        let parts = if matches!(class, Class::Split | Class::Parts) { 2 } else { 1 };
        // A whole tile and a part of one.
        Multiply {
            kernel,
            rows: variant.tile.0 as usize + 44,
            k: depth,
            n,
            groups,
            partition: depth / parts,
            flags,
            codes,
        }
    };
    let mut cases = Vec::new();
    for codes in [Filling::Usual, Filling::Wild, Filling::Sparse] {
        if class == Class::Block {
            for (phase, seed_codes) in [(0, true), (1, false), (2, true), (3, false)] {
                cases.push(block(kernel, (phase, seed_codes, codes), (plain, tested), random));
            }
            continue;
        }
        if class == Class::Normalised {
            // Whole heads, and whole tiles.
            let n = (1..).map(|i| 96 * i).find(|n| n % columns == 0).unwrap_or(96);
            cases.push(shape(n, 1, 0, codes).normalised(plain, tested, random));
            continue;
        }
        let n = columns.max(64);
        for multiply in [
            shape(n, 1, SEED_CODE | SILU | BOTH, codes),
            shape(n, 2, SEED_HALF | BOTH, codes),
            Multiply { rows: 64, ..shape(2 * n, 1, BOTH, codes) },
        ] {
            cases.push(multiply.case(plain, tested, random));
        }
    }
    if !matches!(class, Class::Normalised | Class::Block) {
        let multiply = Multiply { rows: 1024, ..shape(columns.max(64), 1, SEED_HALF | SILU | BOTH, Filling::Zero) };
        cases.push(multiply.case(plain, tested, random));
    }
    cases
}

/// The first difference between the two forms, if there is any.
pub(super) fn compare(plain: &Arc<Kernels>, truncating: &Arc<Kernels>) -> Result<Option<Difference>, ExecError> {
    Ok(differences(plain, truncating)?.into_iter().next())
}

/// The first difference of every case that has one.
pub(super) fn differences(plain: &Kernels, truncating: &Kernels) -> Result<Vec<Difference>, ExecError> {
    compared(plain, truncating, &cases(plain, truncating))
}

/// The same for multiplies with other tiles.
pub(super) fn variants(plain: &Kernels, tested: &Kernels, kernels: &[Kernel]) -> Result<Vec<Difference>, ExecError> {
    let cases: Vec<Case> = kernels.iter().flat_map(|&kernel| variant_cases(kernel, plain, tested)).collect();
    compared(plain, tested, &cases)
}

fn compared(plain: &Kernels, tested: &Kernels, cases: &[Case]) -> Result<Vec<Difference>, ExecError> {
    let mut found = Vec::new();
    for (case, shape) in cases.iter().enumerate() {
        let (want, got) = (shape.run(plain, &shape.plain)?, shape.run(tested, &shape.truncating)?);
        for (output, (want, got)) in want.iter().zip(&got).enumerate() {
            if let Some(byte) = (0..want.len()).find(|&i| want[i] != got[i]) {
                let kernel = shape.kernel;
                found.push(Difference { kernel, case, output, byte, got: got[byte], want: want[byte] });
                break;
            }
        }
    }
    Ok(found)
}
