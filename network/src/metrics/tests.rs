use super::*;

/// Two procedural pairs of pictures for which the reference implementation of FLIP (NVIDIA's C++, version 1.2) was run.
fn busy(extent: Extent, second: bool) -> Rgb8 {
    picture(extent, |x, y| {
        let mut p = [(x * 7 + y * 3) % 256, (x * y) % 256, (255 + y * 5 - x * 2) % 256];
        if second && x > extent.width / 2 {
            p = [(p[0] + 24).min(255), p[1], p[2] / 2];
        }
        if second && (x / 4 + y / 4) % 5 == 0 {
            p[1] = 255 - p[1];
        }
        p
    })
}

fn soft(extent: Extent, second: bool) -> Rgb8 {
    picture(extent, |x, y| {
        if second && (x, y) == (10, 20) {
            return [255; 3];
        }
        [40 + x * 2, 60 + y * 2 + if second && x >= extent.width / 2 { 12 } else { 0 }, 120 + (x + y) / 2]
    })
}

fn picture(extent: Extent, pixel: impl Fn(u32, u32) -> [u32; 3]) -> Rgb8 {
    let at = |i: u32| pixel(i % extent.width, i / extent.width).map(|v| v as u8);
    Rgb8::new(extent, (0..extent.pixels() as u32).flat_map(at).collect()).unwrap()
}

const SIZE: Extent = Extent::new(64, 48);

#[test]
fn flip_is_that_of_the_reference_implementation() {
    const AT: [usize; 7] = [0, 33, 700, 1290, 1500, 2000, 3071];
    type Pair = (Rgb8, Rgb8);
    let pairs: [Pair; 2] = [(busy(SIZE, false), busy(SIZE, true)), (soft(SIZE, false), soft(SIZE, true))];
    let expected = [
        (0, 67.0, 0.470282, [0.9906475, 0.422333, 0.83202976, 0.078332156, 0.0992207, 0.4488895, 0.5216752]),
        (0, 30.0, 0.442786, [0.98250735, 0.46697375, 0.8243773, 0.000696013, 0.0030344874, 0.4004379, 0.37859833]),
        (1, 67.0, 0.122387, [0.0, 0.18575463, 0.18857607, 0.49224716, 0.025031155, 0.0, 0.26697975]),
        (1, 30.0, 0.116560, [0.0, 0.18648338, 0.18344097, 0.94334626, 0.0016582537, 0.0, 0.2630976]),
    ];
    for (pair, ppd, mean, values) in expected {
        let (a, b) = &pairs[pair];
        let map = flip(a, b, ppd);
        assert!((map.mean() - mean).abs() < 2e-4, "pair {pair} at {ppd}: mean {} for {mean}", map.mean());
        for (i, want) in AT.into_iter().zip(values) {
            let got = map.values[i];
            assert!((got - want).abs() < 2e-3, "pair {pair} at {ppd}, pixel {i}: {got} for {want}");
        }
    }
}

#[test]
fn equal_pictures() {
    let a = busy(SIZE, false);
    let likeness = Likeness::of(&a, &a, DEFAULT_PIXELS_PER_DEGREE).unwrap();
    assert!(likeness.counts.equal());
    assert_eq!(likeness.psnr, f64::INFINITY);
    assert!((likeness.ssim.luma - 1.0).abs() < 1e-9 && (likeness.ssim.rgb - 1.0).abs() < 1e-9);
    assert_eq!((likeness.flip.mean(), likeness.flip.largest()), (0.0, 0.0));
    assert!(heat_map(&likeness.flip).pixels().iter().all(|&p| p == [0, 0, 4]));
}

#[test]
fn counts_are_exact() {
    let a = soft(SIZE, false);
    let mut bytes = a.bytes().to_vec();
    bytes[3 * 64 + 1] += 1;
    bytes[3 * 70 + 2] -= 9;
    let b = Rgb8::new(SIZE, bytes).unwrap();
    let counts = Counts::of(&a, &b);
    assert_eq!((counts.pixels, counts.different_pixels, counts.different_values), (3072, 2, 2));
    assert_eq!((counts.one_code, counts.largest), (1, 9));
    let first = counts.first.unwrap();
    assert_eq!((first.x, first.y, first.a[1] + 1), (0, 1, first.b[1]));
}

#[test]
fn psnr_and_ssim_know_values() {
    assert!(psnr(&[0; 12], &[255; 12]).abs() < 1e-12);
    assert!((psnr(&[10; 12], &[11; 12]) - 48.1308).abs() < 1e-4);
    // Constant pictures differ in luminance alone: (2ab + C1) / (a^2 + b^2 + C1).
    let flat = |v: u32| picture(SIZE, |_, _| [v; 3]);
    let value = ssim(&flat(100), &flat(120));
    let expected = (2.0 * 100.0 * 120.0 + 6.5025) / (100.0f64.powi(2) + 120.0f64.powi(2) + 6.5025);
    assert!((value.luma - expected).abs() < 1e-4 && (value.rgb - expected).abs() < 1e-4, "{value:?} {expected}");
    assert!(ssim(&busy(SIZE, false), &busy(SIZE, true)).luma < 0.9);
}

#[test]
fn percentiles_and_small_pictures() {
    let map = FlipMap { extent: Extent::new(4, 1), values: vec![0.4, 0.1, 0.3, 0.2], pixels_per_degree: 67.0 };
    assert_eq!((map.percentile(0.5), map.percentile(1.0), map.percentile(0.0)), (0.2, 0.4, 0.1));
    let tiny = Extent::new(1, 1);
    let likeness = Likeness::of(&busy(tiny, false), &busy(tiny, true), 67.0).unwrap();
    assert!(likeness.ssim.luma.is_finite() && likeness.flip.mean().is_finite());
    assert!(Rgb8::new(tiny, vec![0; 4]).is_none() && Rgb8::new(Extent::new(0, 5), vec![]).is_none());
    let other = busy(Extent::new(2, 1), false);
    let error = Likeness::of(&busy(tiny, false), &other, 67.0).unwrap_err().to_string();
    assert!(error.contains("1x1") && error.contains("2x1"), "{error}");
}
