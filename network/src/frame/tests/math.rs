//! The functions of `math.glsl` give the CPU's bits.

use gpu::testing::TestDevice;
use gpu::{Bind, ComputePipeline, DescriptorArena};

use super::support::{Random, buffer, forms};
use crate::frame::cpu::math;
use crate::frame::passes::Form;

/// The test shader in a form.
const fn check(form: Form) -> &'static str {
    match form {
        Form::Portable => "frame/check_math.portable",
        Form::Model => "frame/check_math.native_model",
        Form::Native => "frame/check_math.native",
    }
}

/// Function number in the test shader and its CPU twin.
type Function = (u32, &'static str, fn([f32; 4]) -> [f32; 2]);

const FUNCTIONS: [Function; 9] = [
    (0, "fma", |v| [v[0].mul_add(v[1], v[2]), 0.0]),
    (1, "div", |v| [v[0] / v[1], 0.0]),
    (2, "sqrt", |v| [v[0].sqrt(), 0.0]),
    (3, "log2", |v| [math::log2(v[0]), 0.0]),
    (4, "log2_precise", |v| [math::log2_precise(v[0]), 0.0]),
    (5, "exp2", |v| [math::exp2(v[0]), 0.0]),
    (6, "circle", |v| math::circle(v[0]).into()),
    (7, "pow", |v| [math::pow(v[0], v[1]), 0.0]),
    (8, "cube_root", |v| [math::cube_root(v[0]), 0.0]),
];

/// Operands that a function is made for.
fn operands(function: u32, random: &mut Random) -> [f32; 4] {
    match function {
        0 => {
            let (a, b) = (random.wide(20), random.wide(20));
            // Often close to the product, so that most of it cancels.
            let c = if random.word() & 1 == 0 { random.wide(40) } else { -(a * b) * random.range(0.999, 1.001) };
            [a, b, c, 0.0]
        }
        1 | 8 => [random.wide(40), random.wide(40), 0.0, 0.0],
        2 | 3 => [random.wide(60).abs(), 0.0, 0.0, 0.0],
        4 => [1.0 - random.unit(), 0.0, 0.0, 0.0],
        5 => [random.range(-130.0, 130.0), 0.0, 0.0, 0.0],
        6 => [random.unit() * std::f32::consts::TAU, 0.0, 0.0, 0.0],
        _ => [random.unit(), random.range(0.3, 4.0), 0.0, 0.0],
    }
}

/// Operands at the edges of each function.
const EDGES: [[f32; 4]; 10] = [
    [0.0, 1.0, 0.0, 0.0],
    [1.0, 1.0, -1.0, 0.0],
    [1.0, 3.0, 2.0, 0.0],
    [0.5, 0.125, -0.0625, 0.0],
    [4.0, 2.0, -8.0, 0.0],
    [0.25, 0.41666666, 1.0, 0.0],
    [0.999_999_94, 1.000_000_1, -1.0, 0.0],
    [1.000_000_1, 0.999_999_94, -1.0, 0.0],
    [1.5, 0.75, 1e-30, 0.0],
    [0.71, 1.41, 1e30, 0.0],
];

#[test]
fn functions_have_the_bits_of_the_cpu() {
    const COUNT: usize = 1 << 18;
    let device = TestDevice::open().unwrap();
    let input = buffer(&device, "operands", 16 * COUNT as u64);
    let output = buffer(&device, "results", 8 * COUNT as u64);
    let mut arena = DescriptorArena::new(&device, "math", 27).unwrap();
    let mut random = Random::new(7);
    let cases = forms(&device).into_iter().flat_map(|form| FUNCTIONS.map(|function| (form, function)));
    for (form, (number, name, twin)) in cases {
        let shader = shaders::shader(check(form)).unwrap();
        let mut list: Vec<[f32; 4]> = EDGES.to_vec();
        list.resize_with(COUNT, || operands(number, &mut random));
        if number == 4 {
            list.iter_mut().for_each(|v| v[0] = v[0].clamp(1e-7, 1.0));
        }
        device.upload(&input, 0, bytemuck::cast_slice(&list)).unwrap();
        let pipeline = ComputePipeline::new(&device, shader, &[(0, number)], name).unwrap();
        let set = arena.allocate(&pipeline, &[Bind::buffer(0, &input), Bind::buffer(1, &output)]).unwrap();
        device
            .run_once(name, |cmd| {
                cmd.dispatch(&pipeline, &set, bytemuck::bytes_of(&(COUNT as u32)), [(COUNT / 64) as u32, 1, 1]);
            })
            .unwrap();
        let got: Vec<[f32; 2]> = bytemuck::pod_collect_to_vec(&device.download(&output, 0, 8 * COUNT as u64).unwrap());
        let different = list.iter().zip(&got).filter(|(v, got)| twin(**v).map(f32::to_bits) != got.map(f32::to_bits));
        let first = different.clone().next().map(|(v, got)| (*v, *got, twin(*v)));
        assert_eq!(first, None, "{form:?}: {name}: {} of {COUNT} differ", different.count());
    }
}
