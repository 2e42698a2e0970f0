//! Reading files whose sizes and names are not to be trusted.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::error::ModelError;

/// Largest manifest that is read, in bytes.
pub(crate) const MAX_MANIFEST: u64 = 16 << 20;

/// Most bytes of a file's name with its folders in a manifest; messages repeat it.
const LONGEST_NAME: usize = 1000;

/// `base` joined with a relative path from a manifest, or what is wrong with that path.
///
/// Only plain components are accepted, so the result is lexically inside `base`. Symbolic links are followed: they
/// are the user's own.
pub(crate) fn inside(base: &Path, relative: &str) -> Result<PathBuf, &'static str> {
    if relative.is_empty() {
        return Err("its file name is empty");
    }
    if relative.len() > LONGEST_NAME {
        return Err("its file has a name of more than 1000 bytes");
    }
    // What separates parts elsewhere names no file here either.
    if relative.contains(|c: char| matches!(c, '\\' | ':') || c.is_control()) {
        return Err("its file has a character that is not for names (\\, : or a control character)");
    }
    let mut path = base.to_owned();
    for component in Path::new(relative).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir => return Err("its file has a parent component (..)"),
            Component::RootDir | Component::Prefix(_) => {
                return Err("its file is an absolute path");
            }
        }
    }
    if path == base {
        return Err("its file names the directory itself");
    }
    Ok(path)
}

/// Length of a regular file.
pub(crate) fn file_length(path: &Path) -> io::Result<u64> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok(metadata.len())
}

/// Opens a regular file. It is looked at before: opening a pipe waits for its other end.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    file_length(path)?;
    File::open(path)
}

/// The bytes of a regular file of `length` bytes; stops early when it is longer. The caller has bounded `length`.
pub(crate) fn read_exactly(path: &Path, length: u64) -> io::Result<Vec<u8>> {
    let capacity = usize::try_from(length).map_err(|_| io::Error::other("longer than memory"))?;
    let mut bytes = Vec::with_capacity(capacity);
    File::open(path)?.take(length.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(io::Error::other("its length changed while it was read"));
    }
    Ok(bytes)
}

/// The bytes of `manifest.json` in a directory, with the manifest's path.
pub(crate) fn read_manifest(dir: &Path) -> Result<(Vec<u8>, PathBuf), ModelError> {
    if matches!(dir.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound) {
        return Err(ModelError::Missing { path: dir.to_owned() });
    }
    let path = dir.join("manifest.json");
    let fail = |source| ModelError::ReadManifest { path: path.clone(), source };
    let length = file_length(&path).map_err(fail)?;
    if length > MAX_MANIFEST {
        let what = format!("manifest {}", path.display());
        return Err(ModelError::TooLarge { what, found: length, limit: MAX_MANIFEST });
    }
    let text = read_exactly(&path, length).map_err(fail)?;
    Ok((text, path))
}
