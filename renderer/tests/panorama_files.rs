//! Environment pictures: both formats come back, and broken or hostile files are refused with one
//! sentence.

use renderer::panorama::{Error, Panorama};
use std::io::Cursor;
use std::path::Path;

fn read(bytes: &[u8]) -> Result<Panorama, Error> {
    Panorama::from_bytes("sky", Path::new("sky.hdr"), bytes)
}

fn pixels(width: u32) -> Vec<[f32; 3]> {
    (0..width * width / 2).map(|i| [(i % 7) as f32 * 0.5, (i % 11) as f32, 1.0]).collect()
}

fn hdr(width: u32) -> Vec<u8> {
    let rgb: Vec<image::Rgb<f32>> = pixels(width).into_iter().map(image::Rgb).collect();
    let mut bytes = Vec::new();
    image::codecs::hdr::HdrEncoder::new(&mut bytes).encode(&rgb, width as usize, width as usize / 2).unwrap();
    bytes
}

fn exr(width: u32, pixel: impl Fn(usize) -> [f32; 3] + Sync) -> Vec<u8> {
    use exr::prelude::*;
    let size = (width as usize, width as usize / 2);
    let channels = SpecificChannels::rgb(|at: Vec2<usize>| {
        let [r, g, b] = pixel(at.1 * size.0 + at.0);
        (r, g, b)
    });
    let mut bytes = Cursor::new(Vec::new());
    Image::from_channels(size, channels).write().to_buffered(&mut bytes).unwrap();
    bytes.into_inner()
}

#[test]
fn both_formats_come_back() {
    let wanted = pixels(32);
    let sharp = read(&exr(32, |i| wanted[i])).unwrap();
    assert_eq!((sharp.size(), sharp.pixels()), ([32, 16], wanted.as_slice()));
    let rough = read(&hdr(32)).unwrap();
    assert_eq!(rough.size(), [32, 16]);
    let close = |(a, b): (&[f32; 3], &[f32; 3])| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 0.05);
    assert!(rough.pixels().iter().zip(&wanted).all(close));
}

#[track_caller]
fn refused(bytes: &[u8], words: &str) {
    let message = read(bytes).expect_err("it is not refused").to_string();
    assert!(message.contains(words) && message.contains("sky.hdr"), "{message:?} does not say {words:?}");
    assert!(!message.contains('\n') && message.len() < 400, "one sentence: {message}");
}

#[test]
fn other_files_are_refused() {
    refused(b"", "neither");
    refused(b"\x89PNG\r\n\x1a\n", "neither");
    refused(b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 100000 +X 200000\n", "pixels");
    refused(b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 4000 +X 8000\n", "cannot hold");
    refused(b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 0 +X 0\n", "");
    refused(b"#?RADIANCE\nnothing", "broken");
    refused(&exr(32, |i| [if i == 77 { f32::NAN } else { 1.0 }, 0.0, 0.0]), "pixel 13, 2 is not a number");
    let missing = Panorama::load(Path::new("no such file.exr")).unwrap_err().to_string();
    assert!(missing.contains("no such file.exr") && missing.contains("cannot be read"), "{missing}");
    assert!(Panorama::load(Path::new("/")).is_err());
}

#[test]
fn shapes_that_are_no_panoramas_are_refused() {
    let mut bytes = Vec::new();
    image::codecs::hdr::HdrEncoder::new(&mut bytes).encode(&vec![image::Rgb([1.0; 3]); 256], 16, 16).unwrap();
    refused(&bytes, "twice as wide as high");
}

#[test]
fn cuts_and_flipped_bytes_are_survived() {
    for whole in [hdr(32), exr(32, |i| pixels(32)[i])] {
        for length in (0..whole.len() - 8).step_by(97) {
            assert!(read(&whole[..length]).is_err(), "cut at {length} of {}", whole.len());
        }
        for at in (0..whole.len()).step_by(if whole.len() > 4000 { 61 } else { 13 }) {
            let mut bytes = whole.clone();
            bytes[at] ^= [0x01, 0x10, 0x80][at % 3];
            // Whatever comes of it, it is no panic and no picture of impossible values.
            if let Ok(panorama) = read(&bytes) {
                assert!(panorama.pixels().as_flattened().iter().all(|v| (0.0..=60_000.0).contains(v)));
            }
        }
    }
}
