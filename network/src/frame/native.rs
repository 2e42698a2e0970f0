//! Which form of the frame passes a device takes: the native one where its own instructions give the contract's bits.
//!
//! No specification promises that `fma()` is rounded once, or that a conversion to half rounds to nearest even, and division
//! and square root may be off by a few units. Correct results by integers take many times the instructions. So a device is
//! asked: fused sums, corrected quotients and roots, and conversions, on operands where a wrong rounding shows.

use std::sync::Arc;

use gpu::{Bind, Buffer, BufferDesc, BufferUsage, ComputePipeline, DescriptorArena, Device, MemoryKind};

use super::FrameError;
use super::passes::Form;
use crate::hostile::Random;
use crate::numerics::half;

const SHADER: &str = "frame/native";
/// Operands, one for each half.
const COUNT: usize = 1 << 16;
/// What the shader computes of an operand.
const RESULTS: [&str; 6] = ["fma", "division", "square root", "rounding to half", "bits of a half", "value of a half"];

/// The form that the passes take on this device. Devices that are CPUs keep the portable one, whose loops stay loops: their
/// drivers take long over unrolled ones.
pub(super) fn form(device: &Arc<Device>) -> Result<Form, FrameError> {
    if device.caps().is_cpu {
        return Ok(Form::Portable);
    }
    let Some(what) = difference(device)? else { return Ok(Form::Native) };
    tracing::warn!("frame passes in the portable form: {what}");
    Ok(Form::Portable)
}

/// The first result of each kind that is not the contract's.
pub(super) fn difference(device: &Arc<Device>) -> Result<Option<String>, FrameError> {
    let operands = operands();
    let buffer = |name, size: usize| {
        let usage = BufferUsage::STORAGE_BUFFER;
        Buffer::new(device, &BufferDesc { name, size: size as u64, usage, memory: MemoryKind::Device })
    };
    let input = buffer("native operands", size_of_val(&operands[..]))?;
    let output = buffer("native results", 4 * RESULTS.len() * COUNT)?;
    device.upload(&input, 0, bytemuck::cast_slice(&operands))?;
    let shader = shaders::shader(SHADER).ok_or(FrameError::Shader { name: SHADER })?;
    let pipeline = ComputePipeline::new(device, shader, &[], SHADER)?;
    let mut arena = DescriptorArena::new(device, "native", 1)?;
    let set = arena.allocate(&pipeline, &[Bind::buffer(0, &input), Bind::buffer(1, &output)])?;
    device.run_once("native", |cmd| {
        cmd.dispatch(&pipeline, &set, bytemuck::bytes_of(&(COUNT as u32)), [(COUNT / 64) as u32, 1, 1]);
    })?;
    let bytes = device.download(&output, 0, output.size())?;
    let got: Vec<[u32; RESULTS.len()]> = bytemuck::pod_collect_to_vec(&bytes);
    let want: Vec<_> = (0u16..=u16::MAX).zip(&operands).map(|(h, &operand)| expected(operand, h)).collect();
    let first = |k: usize| {
        let differs = |i: &usize| got[*i][k] != want[*i][k] && !(is_nan(got[*i][k]) && is_nan(want[*i][k]));
        let i = (0..COUNT).find(differs)?;
        let (name, operand) = (RESULTS[k], operands[i]);
        Some(format!("{name} of {operand:?}, {i:#x} is {:#x}, not {:#x}", got[i][k], want[i][k]))
    };
    let all: Vec<String> = (0..RESULTS.len()).filter_map(first).collect();
    Ok((!all.is_empty()).then(|| all.join("; ")))
}

fn is_nan(bits: u32) -> bool {
    f32::from_bits(bits).is_nan()
}

fn expected([a, b, c, d]: [f32; 4], h: u16) -> [u32; RESULTS.len()] {
    let held = half::from_f32(d);
    let values = [a.mul_add(b, c), a / b, a.abs().sqrt(), half::to_f32(held)].map(f32::to_bits);
    [values[0], values[1], values[2], values[3], u32::from(held), half::to_f32(h).to_bits()]
}

/// Operands of `a * b + c`, `a / b` and the root of `a`, and one close to the middle between two halves.
fn operands() -> Vec<[f32; 4]> {
    let mut random = Random::new(31);
    let mut next = || random.next();
    let near = |v: f32, units: u32| f32::from_bits(v.to_bits().wrapping_add(units % 3).wrapping_sub(1));
    // Any significand, exponents -20 to 19.
    let wide = |r: u32, s: u32| f32::from_bits((r & 0x807f_ffff) | (107 + s % 40) << 23);
    let mut list = Vec::with_capacity(COUNT);
    for i in 0..COUNT as u32 {
        let (q, b) = (wide(next(), next()), wide(next(), next()));
        // Dividends whose quotient lies close to the middle of two floats, or to a float.
        let middle = f64::from(q) * if next() & 1 == 0 { 1.0 } else { 1.0 + f64::from(f32::EPSILON) / 2.0 };
        let a = match i % 4 {
            0 => wide(next(), next()),
            1 => near(b * b, next()),
            _ => near((middle * f64::from(b)) as f32, next()),
        };
        let c = match next() % 4 {
            0 => wide(next(), next()),
            1 => 0.0,
            _ => near(-(a * b), next()),
        };
        let (low, sign) = (i as u16 & 0x7fff, if i & 0x8000 == 0 { 1.0 } else { -1.0 });
        // Beyond the largest half, up to what rounds to infinity.
        let high = if low >= 0x7bff { 65536.0 } else { half::to_f32(low + 1) };
        let middle = f32::midpoint(if low > 0x7bff { 65504.0 } else { half::to_f32(low) }, high);
        list.push([a, b, c, sign * near(middle, next())]);
    }
    list
}

#[cfg(test)]
mod tests {
    use gpu::testing::TestDevice;

    use super::*;

    #[test]
    fn a_wrong_rounding_is_found_among_the_operands() {
        let operands = operands();
        let wrong = |f: &dyn Fn([f32; 4]) -> bool| operands.iter().filter(|v| f(**v)).count();
        // Sums rounded twice, and quotients and roots that are products with a reciprocal.
        assert!(wrong(&|[a, b, c, _]| a * b + c != a.mul_add(b, c)) > COUNT / 8);
        assert!(wrong(&|[a, b, ..]| a * (1.0 / b) != a / b) > COUNT / 8);
        assert!(wrong(&|[a, ..]| a.abs() * (1.0 / a.abs().sqrt()) != a.abs().sqrt()) > COUNT / 16);
        assert!(wrong(&|[.., d]| half::from_f32_truncated(d) != half::from_f32(d)) > COUNT / 4);
        assert_eq!(operands.len(), COUNT);
    }

    #[test]
    fn a_cpu_keeps_the_portable_form() {
        let device = TestDevice::open().unwrap();
        let native = !device.caps().is_cpu && difference(&device).unwrap().is_none();
        assert_eq!(form(&device).unwrap(), if native { Form::Native } else { Form::Portable });
    }
}
