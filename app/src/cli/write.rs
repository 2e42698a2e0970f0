//! Output files: checked before long work, written to a neighbour and renamed, so that a failure leaves nothing broken.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use faults::files;

/// A chunk of text of a PNG file, `Software: nrview`: length, kind, text, checksum. A later run knows its pictures by it.
const MARK: &[u8] = b"\0\0\0\x0ftEXtSoftware\0nrview\xbf\x49\xf6\x8c";
/// Where it stands: behind the signature and the header.
const MARK_AT: usize = 8 + 25;
const MARK_END: usize = MARK_AT + MARK.len();

/// Refuses an output file that could not be written, before the work for it begins. Leaves the disk as it was.
pub fn check_file(path: &Path) -> Result<()> {
    let path = &target(path)?;
    let folder = parent(path);
    if !folder.is_dir() {
        bail!("cannot write {}: there is no directory {}; make it first", path.display(), folder.display());
    }
    probe(&folder).with_context(|| format!("cannot write {}", path.display()))
}

/// The same for a picture: what is written is PNG, so another suffix would name what the file is not.
pub fn check_png(path: &Path) -> Result<()> {
    check_file(path)?;
    match path.extension() {
        Some(suffix) if !suffix.eq_ignore_ascii_case("png") => {
            bail!("cannot write {}: pictures are written as PNG; give a name that ends in .png", path.display())
        }
        _ => Ok(()),
    }
}

/// Refuses the name of a picture among others that a command makes: where a file of that name is there which is no picture
/// by this program, it would be lost. With `overwrite` it may be.
pub fn check_own_picture(path: &Path, overwrite: bool) -> Result<()> {
    let path = &target(path)?;
    if overwrite || !path.exists() || is_own_picture(path) {
        return Ok(());
    }
    bail!(
        "cannot write {}: it is there, and not by this program; move it, name another directory, or add --overwrite",
        path.display()
    )
}

/// Whether a file begins as [`write_png`] begins it.
fn is_own_picture(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MARK_END as u64).read_to_end(&mut head));
    read.is_ok() && head.get(MARK_AT..) == Some(MARK)
}

/// Refuses a directory that is to be made but is there and not empty, or cannot be made. Leaves the disk as it was.
pub fn check_fresh_folder(folder: &Path) -> Result<()> {
    if folder.is_file() || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!("cannot write into {}: it exists and is not empty; name a new directory", folder.display());
    }
    check_folder(folder)
}

/// Refuses a directory that cannot be written into or made. Leaves the disk as it was.
pub fn check_folder(folder: &Path) -> Result<()> {
    // The nearest ancestor that is there decides.
    let mut nearest = folder;
    while !nearest.exists() {
        nearest = match nearest.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
    }
    if !nearest.is_dir() {
        bail!("cannot write into {}: {} is not a directory", folder.display(), nearest.display());
    }
    probe(nearest).with_context(|| format!("cannot write into {}", folder.display()))
}

/// Makes an output directory, with its parents.
pub fn make_folder(folder: &Path) -> Result<()> {
    files::create_dir_all(folder).with_context(|| format!("cannot make the directory {}", folder.display()))
}

/// The file that a name stands for: a link is followed, so that it stays a link. Refuses what is there and is no regular
/// file (a directory, a device, a pipe): taking its name would destroy it.
fn target(path: &Path) -> Result<PathBuf> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => bail!("cannot write {}: it is a directory; name a file", path.display()),
        Ok(found) if !found.is_file() => bail!("cannot write {}: it is not a regular file", path.display()),
        Ok(_) => fs::canonicalize(path).with_context(|| format!("cannot write {}", path.display())),
        Err(_) if path.is_symlink() => bail!("cannot write {}: it is a link that leads nowhere", path.display()),
        Err(_) => Ok(path.to_owned()),
    }
}

/// Writes a whole file or nothing: the bytes go to a neighbour that then takes the name.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let path = &target(path)?;
    files::write_whole(path, bytes).with_context(|| {
        format!("cannot write {}; check the directory's permissions and the free space", path.display())
    })
}

/// Writes 8-bit RGB or RGBA pixels as a PNG, rows from the top, with [`MARK`].
pub fn write_png(path: &Path, width: u32, height: u32, pixels: &[u8]) -> Result<()> {
    use image::ImageEncoder as _;
    let color = if pixels.len() as u64 == u64::from(width) * u64::from(height) * 4 {
        image::ExtendedColorType::Rgba8
    } else {
        image::ExtendedColorType::Rgb8
    };
    let mut bytes = Vec::new();
    image::codecs::png::PngEncoder::new(&mut bytes)
        .write_image(pixels, width, height, color)
        .with_context(|| format!("cannot encode {}", path.display()))?;
    bytes.splice(MARK_AT..MARK_AT, MARK.iter().copied());
    write_file(path, &bytes)
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn probe(folder: &Path) -> std::io::Result<()> {
    let file = files::neighbour(folder);
    files::create(&file)?;
    fs::remove_file(&file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_untouched() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("out.bin");
        check_file(&path)?;
        assert!(!path.exists());
        write_file(&path, b"first")?;
        write_file(&path, b"second")?;
        assert_eq!(fs::read(&path)?, b"second");
        assert_eq!(fs::read_dir(folder.path())?.count(), 1);
        Ok(())
    }

    #[test]
    fn a_picture_has_the_suffix_of_what_it_is() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let check = |name: &str| check_png(&folder.path().join(name));
        for name in ["a.png", "a.PNG", "a.b.png", "a"] {
            check(name)?;
        }
        for name in ["a.jpg", "a.png.bmp", "a."] {
            assert!(check(name).is_err_and(|error| error.to_string().contains(".png")), "{name}");
        }
        Ok(())
    }

    #[test]
    fn pictures_of_others_are_not_replaced() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("frame.png");
        check_own_picture(&path, false)?;
        let pixels = [7, 8, 9, 10, 11, 12];
        write_png(&path, 2, 1, &pixels)?;
        assert_eq!(image::open(&path)?.into_rgb8().into_raw(), pixels);
        check_own_picture(&path, false)?;
        // The checksum, as PNG defines it.
        let crc = MARK[4..MARK.len() - 4].iter().fold(!0u32, |crc, &byte| {
            let shift = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            (0..8).fold(crc ^ u32::from(byte), shift)
        });
        assert_eq!(MARK[MARK.len() - 4..], (!crc).to_be_bytes());
        image::RgbImage::from_raw(2, 1, pixels.to_vec()).context("a picture")?.save(&path)?;
        for _ in ["a picture by another program", "an empty file"] {
            assert!(check_own_picture(&path, false).is_err_and(|error| error.to_string().contains("--overwrite")));
            check_own_picture(&path, true)?;
            fs::write(&path, b"")?;
        }
        assert!(check_own_picture(folder.path(), true).is_err());
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_devices_stay_devices() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, b"old")?;
        std::os::unix::fs::symlink(&file, &link)?;
        check_file(&link)?;
        write_file(&link, b"new")?;
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file)?, b"new");
        fs::remove_file(&file)?;
        assert!(check_file(&link).is_err());
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket)?;
        assert!(check_file(&socket).is_err());
        assert!(write_file(&socket, b"new").is_err());
        assert!(!fs::metadata(&socket)?.is_file());
        Ok(())
    }

    #[test]
    fn bad_outputs_are_refused() -> Result<()> {
        let folder = tempfile::tempdir()?;
        assert!(check_file(folder.path()).is_err());
        assert!(check_file(&folder.path().join("no/such/file.png")).is_err());
        let file = folder.path().join("file");
        fs::write(&file, b"")?;
        assert!(check_folder(&file).is_err());
        assert!(check_folder(&file.join("below")).is_err());
        assert!(check_fresh_folder(folder.path()).is_err());
        let fresh = folder.path().join("new/below");
        check_fresh_folder(&fresh)?;
        assert!(!fresh.exists());
        make_folder(&fresh)?;
        check_fresh_folder(&fresh)?;
        Ok(())
    }
}
