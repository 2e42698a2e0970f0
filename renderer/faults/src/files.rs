//! File operations of the program: as those of the standard library, but for what a plan makes fail.

use crate::plan::{Place, reached};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file being written.
#[derive(Debug)]
pub struct File(fs::File);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if reached(Place::Write).is_some() {
            // A disk that becomes full takes a part first.
            self.0.write_all(&bytes[..bytes.len() / 2])?;
            return Err(ErrorKind::StorageFull.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn permitted(place: Place) -> io::Result<()> {
    match reached(place) {
        Some(_) => Err(ErrorKind::PermissionDenied.into()),
        None => Ok(()),
    }
}

/// Makes a file or empties it.
///
/// # Errors
/// See [`fs::File::create`].
pub fn create(path: &Path) -> io::Result<File> {
    permitted(Place::Create)?;
    fs::File::create(path).map(File)
}

/// Makes a file that is not there.
///
/// # Errors
/// See [`fs::File::create_new`].
pub fn create_new(path: &Path) -> io::Result<File> {
    permitted(Place::Create)?;
    fs::File::create_new(path).map(File)
}

/// Makes a folder.
///
/// # Errors
/// See [`fs::create_dir`].
pub fn create_dir(path: &Path) -> io::Result<()> {
    permitted(Place::Create)?;
    fs::create_dir(path)
}

/// Makes a folder and those above it. One that is there is no failure.
///
/// # Errors
/// See [`fs::create_dir_all`].
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    permitted(Place::Create)?;
    fs::create_dir_all(path)
}

/// Gives a file or folder its final name.
///
/// # Errors
/// See [`fs::rename`].
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    permitted(Place::Rename)?;
    fs::rename(from, to)
}

/// Makes a file of these bytes. For files in a folder that nobody knows yet; others take [`write_whole`].
///
/// # Errors
/// It cannot be made or written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create(path)?.write_all(bytes)
}

/// Makes or replaces a file, or leaves all as it was: the bytes go to a neighbour that then takes the name.
///
/// # Errors
/// It cannot be made or written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let temporary = neighbour(folder);
    let result = write(&temporary, bytes).and_then(|()| rename(&temporary, path));
    result.inspect_err(|_| _ = fs::remove_file(&temporary))
}

/// A name in a folder that no other process or call uses.
#[must_use]
pub fn neighbour(folder: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!(".nrview-{}-{number}.tmp", std::process::id()))
}
