//! The bytes of an asset: its file, and the buffers and pictures that it refers to.

use super::error::{Error, Result};
use std::fs::File;
use std::io::{BufRead, Cursor, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

/// Most bytes of a file and of all buffers.
const FILE_LIMIT: u64 = 2 << 30;

/// The file split into its JSON and its binary chunk.
pub(super) struct Parts {
    pub json: Vec<u8>,
    pub binary: Option<Vec<u8>>,
}

/// Bytes that are read at once, between two questions whether to go on.
const CHUNK: u64 = 4 << 20;

/// Whether to go on; an error is the reason why not.
pub(crate) type GoOn<'a> = &'a dyn Fn() -> Result<()>;

/// Reads a whole file of acceptable size.
pub(crate) fn read_file(path: &Path, go_on: GoOn<'_>) -> Result<Vec<u8>> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    // Looked at before it is opened: opening a pipe waits for its other end.
    let data = std::fs::metadata(path).map_err(failed)?;
    if !data.is_file() {
        return Err(failed(std::io::Error::other("it is not a regular file")));
    }
    let mut file = File::open(path).map_err(failed)?;
    let size = data.len();
    if size > FILE_LIMIT {
        return Err(Error::FileSize { path: path.to_owned(), size, limit: FILE_LIMIT });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    while (bytes.len() as u64) < FILE_LIMIT {
        go_on()?;
        if file.by_ref().take(CHUNK).read_to_end(&mut bytes).map_err(failed)? == 0 {
            break;
        }
    }
    Ok(bytes)
}

/// Bytes that are handed out in small parts, with a question before each whether to go on.
pub(super) struct Asking<'a> {
    bytes: Cursor<&'a [u8]>,
    go_on: GoOn<'a>,
}

impl<'a> Asking<'a> {
    const PART: usize = 64 << 10;

    pub(super) fn new(bytes: &'a [u8], go_on: GoOn<'a>) -> Self {
        Self { bytes: Cursor::new(bytes), go_on }
    }

    fn ask(&self) -> std::io::Result<()> {
        (self.go_on)().map_err(std::io::Error::other)
    }
}

impl Read for Asking<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.ask()?;
        let length = out.len().min(Self::PART);
        self.bytes.read(&mut out[..length])
    }
}

impl BufRead for Asking<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.ask()?;
        let all = self.bytes.fill_buf()?;
        Ok(&all[..all.len().min(Self::PART)])
    }

    fn consume(&mut self, count: usize) {
        self.bytes.consume(count);
    }
}

impl Seek for Asking<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.bytes.seek(to)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes)
}

/// Splits a binary file into its chunks; a text file is all JSON.
pub(super) fn split(path: &Path, bytes: Vec<u8>) -> Result<Parts> {
    if !bytes.starts_with(b"glTF") {
        return Ok(Parts { json: bytes, binary: None });
    }
    let format = |reason: &str| Error::Format { path: path.to_owned(), reason: reason.to_owned() };
    let version = word(&bytes, 4).ok_or_else(|| format("its header is cut off"))?;
    if version != 2 {
        return Err(format(&format!("its container has version {version}, not 2")));
    }
    let length = word(&bytes, 8).ok_or_else(|| format("its header is cut off"))? as usize;
    if length > bytes.len() {
        return Err(format(&format!("it is cut off: {} of {length} bytes are there", bytes.len())));
    }
    let (mut json, mut binary, mut at) = (None, None, 12);
    while at + 8 <= length {
        let (Some(size), Some(kind)) = (word(&bytes, at), word(&bytes, at + 4)) else { break };
        let data = (at + 8)
            .checked_add(size as usize)
            .filter(|&end| end <= length)
            .map(|end| &bytes[at + 8..end])
            .ok_or_else(|| format("a chunk reaches past its end"))?;
        match kind {
            0x4E4F_534A if json.is_none() => json = Some(data.to_vec()),
            0x004E_4942 if binary.is_none() => binary = Some(data.to_vec()),
            _ => {}
        }
        at += 8 + data.len().next_multiple_of(4);
    }
    let json = json.ok_or_else(|| format("it has no JSON chunk"))?;
    Ok(Parts { json, binary })
}

/// Where an asset's references lead.
pub(super) struct Source<'a> {
    /// The asset's folder; none where references to files may not be followed at all.
    pub folder: Option<&'a Path>,
}

impl Source<'_> {
    /// Bytes of a reference: data inside it, or a file in the asset's folder.
    pub(super) fn resolve(&self, uri: &str, go_on: GoOn<'_>) -> Result<Vec<u8>> {
        if let Some(data) = uri.strip_prefix("data:") {
            let bad = || Error::Outside { uri: uri.to_owned() };
            let (kind, text) = data.split_once(',').ok_or_else(bad)?;
            return if kind.ends_with(";base64") { base64(text).ok_or_else(bad) } else { Err(bad()) };
        }
        let folder = self.folder.ok_or_else(|| Error::Outside { uri: uri.to_owned() })?;
        read_file(&inside(folder, uri)?, go_on)
    }
}

/// Most bytes of a name with its folders; messages repeat it.
const LONGEST_NAME: usize = 1000;

/// The path of a file in the folder that a reference names, and no other.
pub(crate) fn inside(folder: &Path, uri: &str) -> Result<PathBuf> {
    let outside = || Error::Outside { uri: uri.to_owned() };
    let name = percent_decoded(uri).ok_or_else(outside)?;
    let relative = Path::new(&name);
    let plain = relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    if name.is_empty()
        || name.len() > LONGEST_NAME
        || name.contains(|c: char| matches!(c, ':' | '\\') || c.is_control())
        || !plain
    {
        return Err(outside());
    }
    let path = folder.join(relative);
    let real = |path: &Path| path.canonicalize().map_err(|source| Error::Read { path: path.to_owned(), source });
    // A link may lead elsewhere.
    if real(&path)?.starts_with(real(folder)?) { Ok(path) } else { Err(outside()) }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next()?, bytes.next()?];
            out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut held, mut bits) = (0_u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((held >> bits) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_comes_back() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9vYmFy", "foobar"), ("Zm9v", "foo")] {
            assert_eq!(base64(text).unwrap(), bytes.as_bytes());
        }
        assert_eq!(base64("Zm9v!"), None);
    }

    #[test]
    fn only_files_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub dir")).unwrap();
        std::fs::write(folder.path().join("sub dir/a.bin"), b"abc").unwrap();
        let resolve = |uri: &str| Source { folder: Some(folder.path()) }.resolve(uri, &|| Ok(()));
        assert_eq!(resolve("sub%20dir/a.bin").unwrap(), b"abc");
        assert_eq!(resolve("data:application/octet-stream;base64,YWJj").unwrap(), b"abc");
        let alone = Source { folder: None }.resolve("sub%20dir/a.bin", &|| Ok(()));
        assert!(matches!(alone, Err(Error::Outside { .. })));
        for uri in ["../x", "sub dir/../../x", "%2e%2e/x", "/etc/passwd", "file:///etc/passwd", "a\\..\\x", "", "%zz"] {
            let error = resolve(uri).unwrap_err();
            assert!(matches!(error, Error::Outside { .. }), "{uri}: {error}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/etc/hostname", folder.path().join("link.bin")).unwrap();
            assert!(resolve("link.bin").is_err());
        }
    }
}
