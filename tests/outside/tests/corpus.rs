//! The corpus of the fuzzer, and random changes of it, through every parser. The fuzzer itself goes further; this keeps what
//! it found.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use outside::{TARGETS, Target};

/// Changes of each file of the corpus.
const CHANGES: u64 = 200;
/// Most time that the changes of one target take; the rest is left out on a slow machine.
const PATIENCE: Duration = Duration::from_secs(2);
/// Seconds of other changes instead, as long a run as one likes.
const SECONDS: &str = "NRVIEW_FUZZ_SECONDS";

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target)
}

fn files(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = corpus(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Numbers that look random and are always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// A few changes as a fuzzer makes them.
    fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                1 if !bytes.is_empty() => bytes[at] = [0, 0xff, b'9', b'-', b'{', b'"'][self.below(6)],
                2 => bytes.truncate(at),
                3 => bytes.insert(at, b"0129-e.,[]"[self.below(10)]),
                4 => {
                    let end = (at + self.below(20)).min(bytes.len());
                    bytes.drain(at..end);
                }
                _ => {
                    let end = (at + self.below(40)).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, part);
                }
            }
        }
    }
}

/// Says what was read when a parser panics.
struct Shown<'a>(&'a str, &'a str, &'a [u8]);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(target, what, bytes) = self;
            let path = std::env::temp_dir().join(format!("nrview-{target}-failed"));
            _ = std::fs::write(&path, bytes);
            eprintln!("{target}: {what}; the bytes are in {}", path.display());
        }
    }
}

fn replay(target: &Target) {
    let check = (target.make)();
    let run = |what: &str, bytes: &[u8]| {
        let _shown = Shown(target.name, what, bytes);
        check(bytes);
    };
    let files = files(target.name);
    assert!(!files.is_empty(), "{} has no corpus", target.name);
    for (path, bytes) in &files {
        run(&path.display().to_string(), bytes);
    }
    let begun = Instant::now();
    let seconds = std::env::var(SECONDS).ok().and_then(|text| text.parse().ok());
    let patience = seconds.map_or(PATIENCE, Duration::from_secs);
    let mut random = Random(seconds.unwrap_or(7));
    for number in 0..if seconds.is_some() { u64::MAX } else { CHANGES } {
        for (path, whole) in &files {
            let mut bytes = whole.clone();
            random.change(&mut bytes);
            run(&format!("change {number} of {}", path.display()), &bytes);
            if begun.elapsed() > patience {
                return;
            }
        }
    }
}

#[test]
fn every_parser_bears_its_corpus_and_changes_of_it() {
    std::thread::scope(|scope| {
        let threads: Vec<_> = TARGETS
            .chunks(TARGETS.len().div_ceil(2))
            .map(|part| scope.spawn(move || part.iter().for_each(replay)))
            .collect();
        let sound = threads.into_iter().map(std::thread::ScopedJoinHandle::join).filter(Result::is_ok).count();
        assert_eq!(sound, 2, "a parser failed, see above");
    });
}

#[test]
fn every_folder_of_the_corpus_has_a_parser() {
    let mut folders: Vec<String> =
        std::fs::read_dir(corpus("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    folders.sort();
    assert_eq!(folders, TARGETS.map(|target| target.name));
}

/// Writes the seeds that are no text anew: `cargo test --release -p outside --test corpus -- --ignored`.
#[test]
#[ignore = "writes files into the sources"]
fn write_the_seeds() {
    use exr::prelude::*;
    let size = (33, 7);
    let channel = |name: &str, half: bool| {
        let value = |i: usize| (i % 13) as f32 * 0.1;
        let all = 0..size.0 * size.1;
        let samples = if half {
            FlatSamples::F16(all.map(|i| f16::from_f32(value(i))).collect())
        } else {
            FlatSamples::F32(all.map(value).collect())
        };
        AnyChannel::new(name, samples)
    };
    let list = [("R", true), ("G", true), ("B", true), ("X", false), ("Y", false), ("Z", false)];
    for (name, encoding) in [("plain.exr", Encoding::UNCOMPRESSED), ("zip.exr", Encoding::SMALL_LOSSLESS)] {
        let channels = AnyChannels::sort(list.iter().map(|(name, half)| channel(name, *half)).collect());
        let layer = Layer::new(size, LayerAttributes::default(), encoding, channels);
        Image::from_layer(layer).write().to_file(corpus("import-exr").join(name)).unwrap();
    }
    let picture = image::RgbImage::from_fn(40, 33, |x, y| image::Rgb([x as u8 * 6, y as u8 * 7, (x ^ y) as u8]));
    for name in ["small.png", "small.jpg", "small.bmp"] {
        picture.save(corpus("picture").join(name)).unwrap();
    }
}
