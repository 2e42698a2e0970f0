//! `nrview compare`: two pictures, two captures or two folders: how alike are they?

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use network::capture::{Capture, DType, RecordedFrame};
use network::geometry::Extent;
use network::metrics::{DEFAULT_PIXELS_PER_DEGREE, Likeness, Rgb8, heat_map};
use network::parity::Comparison;
use serde_json::{Value, json};

use super::checks::compare_tensors;
use super::outcome::{CommandResult, Outcome};
use super::picture::{self, Picture};
use super::{Globals, args, progress, report, write};

/// Arguments of `nrview compare`.
#[derive(Clone, Debug, clap::Args)]
pub struct CompareArgs {
    /// The reference: a picture, a capture, or a folder of pictures.
    #[arg(value_name = "A")]
    a: PathBuf,
    /// What is compared with it, of the same kind.
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Pixels per degree of visual angle for FLIP; the default is a 0.7 m wide 3840-pixel display at 0.7 m.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PIXELS_PER_DEGREE, value_parser = args::pixels_per_degree)]
    ppd: f32,
    /// Write heat maps, report.json and a report.html that stands alone into this folder, a new or empty one.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// One pair.
pub struct Pair {
    /// What it is called.
    pub name: String,
    /// The reference.
    pub a: Rgb8,
    /// The other.
    pub b: Rgb8,
    /// What was measured.
    pub likeness: Likeness,
    /// Tensors of a captured frame that differ, and how many are equal.
    tensors: Option<(Vec<Comparison>, usize)>,
}

impl Pair {
    /// The pair, measured.
    fn new(name: String, a: Rgb8, b: Rgb8, ppd: f32) -> Result<Self> {
        let likeness = Likeness::of(&a, &b, ppd).with_context(|| name.clone())?;
        Ok(Self { name, a, b, likeness, tensors: None })
    }

    /// Whether nothing differs.
    pub fn equal(&self) -> bool {
        self.likeness.counts.equal() && self.tensors.as_ref().is_none_or(|(different, _)| different.is_empty())
    }

    /// A line for people.
    pub fn line(&self) -> String {
        let Likeness { counts, psnr, ssim, flip } = &self.likeness;
        let mut line = if counts.equal() {
            "equal pictures".to_owned()
        } else {
            format!(
                "{} of {} pixels differ (at most {} codes), PSNR {psnr:.2} dB, SSIM {:.5} (RGB {:.5}), FLIP mean {:.5} p95 {:.4} p99 {:.4} max {:.4}",
                counts.different_pixels,
                counts.pixels,
                counts.largest,
                ssim.luma,
                ssim.rgb,
                flip.mean(),
                flip.percentile(0.95),
                flip.percentile(0.99),
                flip.largest(),
            )
        };
        if let Some((different, equal)) = &self.tensors {
            line.push_str(&format!("; {equal} tensors equal, {} differ", different.len()));
            for comparison in different.iter().take(6) {
                line.push_str(&format!("\n    {}", comparison.to_string().replace('\n', "\n    ")));
            }
        }
        line
    }

    /// The numbers for programs. JSON has no infinity: the PSNR of equal pictures is null.
    pub fn json(&self) -> Value {
        let Likeness { counts, psnr, ssim, flip } = &self.likeness;
        json!({
            "name": self.name,
            "equal": self.equal(),
            "width": self.a.extent().width,
            "height": self.a.extent().height,
            "counts": counts,
            "psnrDb": psnr.is_finite().then_some(psnr),
            "ssim": ssim,
            "flip": {
                "pixelsPerDegree": flip.pixels_per_degree,
                "mean": flip.mean(),
                "median": flip.percentile(0.5),
                "p95": flip.percentile(0.95),
                "p99": flip.percentile(0.99),
                "max": flip.largest(),
            },
            "tensors": self.tensors.as_ref().map(|(different, equal)| json!({ "equal": equal, "different": different })),
        })
    }
}

/// Compares and reports.
pub fn run(_: &Globals, args: &CompareArgs) -> CommandResult {
    if let Some(out) = &args.out {
        write::check_fresh_folder(out)?;
    }
    let captures = (Capture::is_one(&args.a), Capture::is_one(&args.b));
    let mut alone = Vec::new();
    let pairs = match (captures, args.a.is_dir(), args.b.is_dir()) {
        ((true, true), ..) => capture_pairs(args, &mut alone)?,
        ((false, false), true, true) => folder_pairs(args, &mut alone)?,
        ((false, false), false, false) => {
            let name = args.b.file_name().map_or_else(|| "picture".into(), |name| name.to_string_lossy().into_owned());
            vec![Pair::new(name, read(&args.a)?, read(&args.b)?, args.ppd)?]
        }
        _ => bail!(
            "{} and {} are of different kinds; give two pictures, two captures or two folders",
            args.a.display(),
            args.b.display()
        ),
    };
    let holds = alone.is_empty() && pairs.iter().all(Pair::equal);
    let mut text = String::new();
    for pair in &pairs {
        text.push_str(&format!("{}: {}\n", pair.name, pair.line()));
    }
    for name in &alone {
        text.push_str(&format!("{name}: only on one side\n"));
    }
    let mut json = json!({
        "a": args.a,
        "b": args.b,
        "equal": holds,
        "pixelsPerDegree": args.ppd,
        "pairs": pairs.iter().map(Pair::json).collect::<Vec<_>>(),
        "onlyOnOneSide": alone,
    });
    if let Some(out) = &args.out {
        let files = save(out, args, &pairs, &json)?;
        text.push_str(&format!("{}\n", files.last().map_or(out.as_path(), PathBuf::as_path).display()));
        json["files"] = json!(files);
    }
    Ok(Outcome { json, text, holds })
}

/// Heat maps, the numbers, and the page.
fn save(out: &Path, args: &CompareArgs, pairs: &[Pair], json: &Value) -> Result<Vec<PathBuf>> {
    write::make_folder(out)?;
    let mut files = Vec::new();
    for (i, pair) in pairs.iter().enumerate() {
        let path = out.join(format!("heat-{i:04}.png"));
        let Extent { width, height } = pair.a.extent();
        write::write_png(&path, width, height, heat_map(&pair.likeness.flip).bytes())?;
        files.push(path);
    }
    let numbers = out.join("report.json");
    write::write_file(&numbers, format!("{json:#}\n").as_bytes())?;
    files.push(numbers);
    let page = out.join("report.html");
    write::write_file(&page, report::html(&args.a, &args.b, args.ppd, pairs)?.as_bytes())?;
    files.push(page);
    Ok(files)
}

/// The frames that both captures have.
fn capture_pairs(args: &CompareArgs, alone: &mut Vec<String>) -> Result<Vec<Pair>> {
    let (a, b) = (Capture::open(&args.a)?, Capture::open(&args.b)?);
    let numbers =
        |capture: &Capture| capture.frames().iter().map(|frame| frame.info().number).collect::<BTreeSet<u32>>();
    let (in_a, in_b) = (numbers(&a), numbers(&b));
    alone.extend(in_a.symmetric_difference(&in_b).map(|number| format!("frame {number}")));
    let bar = progress::bar(in_a.intersection(&in_b).count() as u64, "frames");
    let mut pairs = Vec::new();
    for number in in_a.intersection(&in_b) {
        let find = |capture: &'_ Capture| {
            capture.frames().iter().find(|frame| frame.info().number == *number).cloned().context("no such frame")
        };
        let (fa, fb) = (find(&a)?, find(&b)?);
        let mut pair = Pair::new(format!("frame {number}"), presented(&fa)?, presented(&fb)?, args.ppd)?;
        pair.tensors = Some(compare_all(&fa, &fb)?);
        pairs.push(pair);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if pairs.is_empty() {
        bail!("the captures have no frame in common");
    }
    Ok(pairs)
}

fn presented(frame: &RecordedFrame) -> Result<Rgb8> {
    let tensor = frame.tensor("display")?;
    let extent = Extent::new(u32::try_from(tensor.shape[1])?, u32::try_from(tensor.shape[0])?);
    Rgb8::from_rgba(extent, &tensor.bytes).context("an empty picture")
}

/// Tensors that both frames have: those that differ, and the number of equal ones.
fn compare_all(a: &RecordedFrame, b: &RecordedFrame) -> Result<(Vec<Comparison>, usize)> {
    let (mut different, mut equal) = (Vec::new(), 0);
    for name in a.names().filter(|name| b.has(name)) {
        let (ta, tb) = (a.tensor(name)?, b.tensor(name)?);
        if ta.shape != tb.shape || ta.dtype != tb.dtype {
            bail!("tensor {name} has shape {:?} in one capture and {:?} in the other", ta.shape, tb.shape);
        }
        // 8-bit pictures are compared without their alpha.
        if ta.bytes == tb.bytes || (ta.dtype == DType::U8 && compare_tensors(&tb, &ta)?.verdict.passes()) {
            equal += 1;
        } else {
            different.push(compare_tensors(&tb, &ta)?);
        }
    }
    Ok((different, equal))
}

/// Pictures of the same name in both folders.
fn folder_pairs(args: &CompareArgs, alone: &mut Vec<String>) -> Result<Vec<Pair>> {
    let (in_a, in_b) = (pictures(&args.a)?, pictures(&args.b)?);
    alone.extend(in_a.symmetric_difference(&in_b).cloned());
    let mut pairs = Vec::new();
    for name in in_a.intersection(&in_b) {
        pairs.push(Pair::new(name.clone(), read(&args.a.join(name))?, read(&args.b.join(name))?, args.ppd)?);
    }
    if pairs.is_empty() {
        bail!("{} and {} have no picture of the same name", args.a.display(), args.b.display());
    }
    Ok(pairs)
}

/// Names of the pictures in a folder.
fn pictures(folder: &Path) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let lower = name.to_lowercase();
        if [".png", ".jpg", ".jpeg", ".bmp"].iter().any(|end| lower.ends_with(end)) {
            names.insert(name);
        }
    }
    Ok(names)
}

/// An 8-bit picture of any size.
fn read(path: &Path) -> Result<Rgb8> {
    let name = path.display();
    let Picture { extent, rgb } = picture::read_any(path)?;
    Rgb8::new(extent, rgb).with_context(|| format!("{name} is an empty picture"))
}
